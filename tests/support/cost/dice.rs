//! Randomness that is the same every time.

use fastrand::Rng;

/// A source of numbers that begins with a seed.
#[derive(Clone, Debug)]
pub struct Dice(Rng);

impl Dice {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// From `least` on and below `below`.
    pub fn between(&mut self, least: f64, below: f64) -> f64 {
        least + (below - least) * self.0.f64()
    }

    /// From `least` to `most`.
    pub fn count(&mut self, least: usize, most: usize) -> usize {
        self.0.usize(least..=most)
    }

    /// Whether something of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.0.f64() < probability
    }

    /// A number whose logarithm is normal, by the method of Box and Muller.
    pub fn log_normal(&mut self, median: f64, sigma: f64) -> f64 {
        let radius = (-2.0 * (1.0 - self.0.f64()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.0.f64()).cos();
        median * (sigma * normal).exp()
    }

    /// A text of so many tokens, about one of these lengths, and unlike any other.
    pub fn text(&mut self, lengths: &[usize]) -> String {
        let tokens = self.0.choice(lengths).copied().unwrap_or(1);
        let tokens = self.0.usize(tokens - tokens / 4..=tokens + tokens / 4);
        format!("{:016x}{}", self.0.u64(..), " and".repeat(tokens.saturating_sub(4)))
    }
}
