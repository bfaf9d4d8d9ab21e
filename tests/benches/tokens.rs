//! The error of the default estimate of tokens against the exact count of a tokenizer, by kind of text, and their speed. A
//! quarter of the characters, which is a common estimate, is the baseline.
//!
//! `cargo fetch` first, for the sources of crates that samples come from.

use std::hint::black_box;
use std::time::Duration;

use columnar::tokens::{Counter, Estimate, Exact};
use columnar_tests::corpus::{Corpus, KINDS};
use columnar_tests::figures::{Contender, figure, ratio, self_timed_medians, timed};

const ROUNDS: usize = 9;

fn main() {
    let corpus = Corpus::new();
    for file in &corpus.missing {
        println!("MISSING {file}: run `cargo fetch`; the figures lack it");
    }
    let unpacking = timed(|| drop(black_box(format!("{:?}", Exact::o200k()))));
    let exact = Exact::o200k();
    figure("exact.first_ms", unpacking.as_secs_f64() * 1e3, "ms");
    for kind in KINDS {
        let texts: Vec<_> = corpus.texts(kind).map(|text| (text, exact.count(text))).collect();
        let [characters, estimate] = [("characters", &Characters as &dyn Counter), ("estimate", &Estimate)]
            .map(|(name, counter)| {
                let error = Error::of(counter, &texts);
                figure(&format!("{name}.{kind}.bias_percent"), error.bias * 100.0, "%");
                figure(&format!("{name}.{kind}.p95_percent"), error.p95 * 100.0, "%");
                figure(&format!("{name}.{kind}.lowest_percent"), error.lowest * 100.0, "%");
                error.p95
            });
        println!("ratio {kind}.p95_over_characters = {:.3} ({} texts)", estimate / characters, texts.len());
    }
    speed(&corpus);
}

/// A quarter of the characters, rounded up.
struct Characters;

impl Counter for Characters {
    fn count(&self, text: &str) -> usize {
        text.chars().count().div_ceil(4)
    }
}

/// The relative errors of a counter: 0.1 is ten percent too much.
struct Error {
    /// For all texts together.
    bias: f64,
    /// The absolute error that 95 of 100 texts do not exceed.
    p95: f64,
    /// The lowest error of a text.
    lowest: f64,
}

impl Error {
    fn of(counter: &dyn Counter, texts: &[(&str, usize)]) -> Self {
        let counted: Vec<_> = texts.iter().map(|(text, exact)| (counter.count(text), *exact)).collect();
        let (all, exactly) = counted.iter().fold((0, 0), |(all, exactly), (a, b)| (all + a, exactly + b));
        let errors = counted.iter().map(|(count, exact)| ratio(*count, *exact) - 1.0);
        let lowest = errors.clone().fold(f64::INFINITY, f64::min);
        let mut sizes: Vec<f64> = errors.map(f64::abs).collect();
        sizes.sort_by(f64::total_cmp);
        let p95 = sizes.get((sizes.len() * 95).div_ceil(100).saturating_sub(1)).copied();
        Self { bias: ratio(all, exactly) - 1.0, p95: p95.unwrap_or(f64::NAN), lowest }
    }
}

/// The throughput of the counters.
fn speed(corpus: &Corpus) {
    let exact = Exact::o200k();
    let counters = [("characters", &Characters as &dyn Counter), ("estimate", &Estimate), ("exact", &exact)];
    for kind in ["prose", "code", "cjk", "base64"] {
        let mut texts: Vec<_> = corpus.texts(kind).collect();
        let other = texts.split_off(texts.len() / 2).join("\n");
        let text = texts.join("\n");
        let mut contenders = counters.map(|(_, counter)| -> Contender<'_> {
            Box::new(|| timed_on_new_thread(|| count(counter, &other), || count(counter, &text)))
        });
        for ((name, _), time) in counters.into_iter().zip(self_timed_medians(ROUNDS, &mut contenders)) {
            let rate = ratio(text.len(), 1_000_000) / time.as_secs_f64();
            figure(&format!("{name}.{kind}_mb_per_s"), rate, "MB/s");
        }
    }
}

/// Times the work on a new thread after other text: the tokenizer caches pieces by thread.
fn timed_on_new_thread(before: impl FnOnce() + Send, work: impl FnOnce() + Send) -> Duration {
    let measured = || {
        before();
        timed(work)
    };
    std::thread::scope(|scope| scope.spawn(measured).join().unwrap_or_default())
}

fn count(counter: &dyn Counter, text: &str) {
    black_box(counter.count(black_box(text)));
}
