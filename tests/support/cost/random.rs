//! Deterministic random numbers.

use fastrand::Rng;

/// A generator of random numbers with a seed.
#[derive(Clone, Debug)]
pub struct Random(Rng);

impl Random {
    /// A generator with this seed.
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// A number from `least` on and below `below`.
    pub fn between(&mut self, least: f64, below: f64) -> f64 {
        least + (below - least) * self.0.f64()
    }

    /// A number from `least` to `most`.
    pub fn count(&mut self, least: usize, most: usize) -> usize {
        self.0.usize(least..=most)
    }

    /// One of these.
    ///
    /// # Panics
    ///
    /// If there are none.
    pub fn one_of<'i, T>(&mut self, items: &'i [T]) -> &'i T {
        self.0.choice(items).expect("there are some")
    }

    /// Whether an event of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.0.f64() < probability
    }

    /// A log-normal number, by the method of Box and Muller.
    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        // `f64` returns less than 1, so the logarithm is finite.
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.0.f64()).cos();
        median * (sigma * normal).exp()
    }

    /// A unique text of about one of these lengths, in tokens.
    pub fn text(&mut self, lengths: &[usize]) -> String {
        let tokens = self.0.choice(lengths).copied().unwrap_or(1);
        let tokens = self.0.usize(tokens - tokens / 4..=tokens + tokens / 4);
        self.text_of(tokens)
    }

    /// A unique text of this number of tokens, or of four.
    pub fn text_of(&mut self, tokens: usize) -> String {
        // `Estimate` counts a token for four bytes: the number is 4 tokens, and each word is one.
        format!("{:016x}{}", self.0.u64(..), " and".repeat(tokens.saturating_sub(4)))
    }

    /// A unique line of this number of bytes, of which the last one ends the line.
    pub fn line(&mut self, bytes: usize) -> String {
        format!("{:0width$x}\n", self.0.u64(..), width = bytes - 1)
    }
}
