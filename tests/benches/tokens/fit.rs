//! Least squares: what each class of characters must cost so that estimates come near to exact counts.

// The classes are no part of the API of the library, so their files are taken as they are.
#[path = "../../../columnar/src/tokens/classes/tally.rs"]
mod tally;
#[path = "../../../columnar/src/tokens/classes/weights.rs"]
mod weights;

use columnar::tokens::Counter;
use columnar_tests::corpus::{Corpus, KINDS};
use columnar_tests::figures::ratio;

use self::tally::{Class, tally};
use self::weights::WEIGHTS;

/// Keeps a class that hardly ever occurs near to nothing.
const RIDGE: f64 = 1e-6;

/// How often each weight is set right given the others. They stand still long before.
const ROUNDS: usize = 20_000;

/// Prints the weights that fit best, as the lines of the source, and whether they stand there.
pub(crate) fn print(corpus: &Corpus, exact: &impl Counter) {
    let mut changed = 0;
    for ((class, stands), weight) in WEIGHTS.into_iter().zip(fit(corpus, exact)) {
        let weight = thousandths(weight);
        println!("    (Class::{class:?}, {weight}),");
        changed += usize::from(weight != stands);
    }
    println!(
        "{changed} of {} weights differ from those in columnar/src/tokens/classes/weights.rs",
        Class::COUNT
    );
}

/// Each kind of text weighs the same, and in it each sample, whatever its length: errors are relative.
fn fit(corpus: &Corpus, exact: &impl Counter) -> [f64; Class::COUNT] {
    let mut rows = Vec::new();
    for kind in KINDS {
        let samples: Vec<_> = corpus.fitted(kind).map(|text| (tally(text), exact.count(text))).collect();
        for (counts, exact) in &samples {
            let share = 1.0 / ratio(samples.len(), 1).sqrt();
            rows.push((counts.map(|count| ratio(count, *exact) * share), share));
        }
    }
    least_squares(&rows)
}

/// The weights of at least 0 with the least sum of squares, by descent along one coordinate after the other.
fn least_squares(rows: &[([f64; Class::COUNT], f64)]) -> [f64; Class::COUNT] {
    let mut products = [[0.0; Class::COUNT]; Class::COUNT];
    let mut targets = [0.0; Class::COUNT];
    for (counts, exact) in rows {
        for ((line, target), count) in products.iter_mut().zip(&mut targets).zip(counts) {
            *target += count * exact;
            line.iter_mut().zip(counts).for_each(|(product, other)| *product += count * other);
        }
    }
    let mut weights = [0.0_f64; Class::COUNT];
    for _ in 0..ROUNDS {
        for (at, (line, target)) in products.iter().zip(targets).enumerate() {
            let all: f64 = line.iter().zip(&weights).map(|(product, weight)| product * weight).sum();
            if let (Some(own), Some(weight)) = (line.get(at), weights.get_mut(at)) {
                let others = all - own * *weight;
                *weight = ((target - others) / (own + RIDGE)).max(0.0);
            }
        }
    }
    weights
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "weights are small and not negative"
)]
fn thousandths(weight: f64) -> usize {
    (weight * 1000.0).round() as usize
}
