//! The time from one request of a column to the next.

use std::time::Duration;

use super::mark::Lifetime;

/// The time until a column usually makes the next request. This time decides which prefixes are worth caching, and for how
/// long.
///
/// By default the time is learnt from the pauses between the requests of a column. A program that knows the time before
/// the first pause states the time, which stands above what is learnt.
///
/// ```
/// use columnar::cache::Pace;
///
/// assert_eq!(Pace::default(), Pace::learnt());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    rhythm: Rhythm,
    /// Whether no request follows.
    pub(super) is_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rhythm {
    /// The lifetime that was learnt.
    Learnt(Option<Lifetime>),
    Every(Duration),
    /// With this median.
    Think(Duration),
}

impl Default for Rhythm {
    fn default() -> Self {
        Self::Learnt(Some(Lifetime::Short))
    }
}

/// The probability that a think time is at most 1, 2, 4, … times the median. Think times are assumed to be log-normal
/// with a sigma of 1.3.
const WITHIN: [f64; 9] = [0.5, 0.7031, 0.8569, 0.9452, 0.9835, 0.9962, 0.9993, 0.9999, 1.0];

impl Pace {
    /// The time is learnt from the pauses of the column, see [`LearntLifetime`](super::LearntLifetime). This is the default.
    pub const fn learnt() -> Self {
        Self::of_lifetime(Some(Lifetime::Short))
    }

    /// The pace of a column that has learnt this lifetime.
    pub(super) const fn of_lifetime(lifetime: Option<Lifetime>) -> Self {
        Self { rhythm: Rhythm::Learnt(lifetime), is_last: false }
    }

    /// The next request follows at once, as in a run over many steps.
    pub const fn batch() -> Self {
        Self::every(Duration::ZERO)
    }

    /// The next request follows after this time, as with steps that a timer pushes.
    pub const fn every(gap: Duration) -> Self {
        Self { rhythm: Rhythm::Every(gap), is_last: false }
    }

    /// The next request follows after a person's think time: sooner than `median` half of the time, and now and then many
    /// times later.
    pub const fn think(median: Duration) -> Self {
        Self { rhythm: Rhythm::Think(median), is_last: false }
    }

    /// No request follows: this is the last step of a conversation, or the last row. Cached prefixes are still read,
    /// and no new prefix is paid for.
    ///
    /// ```
    /// use columnar::cache::Pace;
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let review = flow! {
    ///     source chapter;
    ///     column notes(chapter, self) = prompt("Take notes.");
    /// };
    /// for (chapter, is_last) in [("Once upon a time …", false), ("… ever after.", true)] {
    ///     if is_last {
    ///         review.set_pace(Pace::batch().last());
    ///     }
    ///     review.chapter.push(chapter).await?;
    ///     review.run().await?;
    /// }
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub const fn last(self) -> Self {
        Self { is_last: true, ..self }
    }

    /// Whether no time is stated.
    pub(crate) fn is_learnt(self) -> bool {
        matches!(self.rhythm, Rhythm::Learnt(_))
    }

    /// The probability that the next request follows within this lifetime, which takes this time; exact to 0.03.
    pub(super) fn chance(self, lifetime: Lifetime, within: Duration) -> f64 {
        let median = match self.rhythm {
            Rhythm::Learnt(learnt) => return if learnt == Some(lifetime) { 1.0 } else { 0.0 },
            Rhythm::Every(gap) => return if gap <= within { 1.0 } else { 0.0 },
            Rhythm::Think(Duration::ZERO) => return 1.0,
            Rhythm::Think(median) => median,
        };
        // For a time of zero `1.0 / ratio` is infinite, and `at_most` returns 1 for that.
        let ratio = within.as_secs_f64() / median.as_secs_f64();
        // Twice the median is as likely as half the median.
        if ratio < 1.0 { 1.0 - at_most(1.0 / ratio) } else { at_most(ratio) }
    }
}

/// The probability of a time of at most `ratio` medians, linear between powers of two.
fn at_most(mut ratio: f64) -> f64 {
    for (low, high) in WITHIN.iter().zip(WITHIN.iter().skip(1)) {
        if ratio < 2.0 {
            return low + (high - low) * (ratio - 1.0);
        }
        ratio /= 2.0;
    }
    1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn secs(secs: u64) -> Duration {
        Duration::from_secs(secs)
    }

    /// The normal distribution, by adding up the density.
    fn normal(x: f64) -> f64 {
        let density = |at: f64| (-at * at / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let width = x / 1000.0;
        0.5 + (0..1000).map(|at| density(width * (f64::from(at) + 0.5)) * width).sum::<f64>()
    }

    #[test]
    fn a_regular_pace_is_certain() {
        assert_eq!(Pace::batch().chance(Lifetime::Short, secs(0)).to_bits(), 1.0_f64.to_bits());
        assert_eq!(Pace::every(secs(300)).chance(Lifetime::Short, secs(300)).to_bits(), 1.0_f64.to_bits());
        assert_eq!(Pace::every(secs(301)).chance(Lifetime::Short, secs(300)).to_bits(), 0.0_f64.to_bits());
        assert_eq!(Pace::think(secs(0)).chance(Lifetime::Short, secs(0)).to_bits(), 1.0_f64.to_bits());
    }

    #[test]
    fn thinking_is_log_normal() {
        for within in [1, 3, 10, 40, 74, 75, 90, 200, 300, 900, 3600, 100_000] {
            let chance = Pace::think(secs(75)).chance(Lifetime::Short, secs(within));
            let exact = normal((secs(within).as_secs_f64() / 75.0).ln() / 1.3);
            assert!((chance - exact).abs() < 0.03, "{within} s: {chance} for {exact}");
        }
        let never = Pace::think(secs(75)).chance(Lifetime::Short, secs(0));
        assert!(never < 1e-9, "{never}");
    }
}
