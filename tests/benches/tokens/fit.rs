//! Fits the weights of `Classes` to exact counts by least squares.

// The classes are not public, so their file is included.
#[path = "../../../columnar/src/history/tokens/classes/tally.rs"]
mod tally;

use columnar::tokens::Counter;
use columnar_tests::corpus::{Corpus, KINDS};
use columnar_tests::figures::ratio;

use self::tally::{Class, WEIGHTS, tally};

/// Keeps the weight of a rare class near 0.
const RIDGE: f64 = 1e-6;

/// The rounds of the descent. The weights converge long before.
const ROUNDS: usize = 20_000;

/// Prints the fitted weights as lines of the source, and the number that differs from it.
pub(crate) fn print(corpus: &Corpus, exact: &impl Counter) {
    let mut changed = 0;
    for ((class, current), weight) in WEIGHTS.into_iter().zip(fit(corpus, exact)) {
        let weight = thousandths(weight);
        println!("    (Class::{class:?}, {weight}),");
        changed += usize::from(weight != current);
    }
    println!(
        "{changed} of {} weights differ from those in columnar/src/history/tokens/classes/tally.rs",
        Class::COUNT
    );
}

/// All kinds of text have the same weight, and within a kind all samples, whatever their length: errors are relative.
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

/// The non-negative weights with the least sum of squares, by coordinate descent.
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
            if let (Some(square), Some(weight)) = (line.get(at), weights.get_mut(at)) {
                let others = all - square * *weight;
                *weight = ((target - others) / (square + RIDGE)).max(0.0);
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
