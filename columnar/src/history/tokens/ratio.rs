//! The ratio of two counts of tokens.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU64;

/// The ratio of actual tokens to counted tokens.
///
/// A ratio is an exact fraction, so products are the same on every machine. A ratio prints with three decimals.
///
/// ```
/// use columnar::tokens::Ratio;
///
/// let ratio = Ratio::new(1270, 1000).ok_or("nothing was counted")?;
/// assert_eq!(ratio.apply(200), 254);
/// assert_eq!(ratio.to_string(), "1.270");
/// assert!(ratio > Ratio::percent(125));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    pub(super) reported: u64,
    counted: NonZeroU64,
}

impl Ratio {
    /// The ratio of `reported` tokens to `counted` ones; `None` if `counted` is 0.
    pub const fn new(reported: u64, counted: u64) -> Option<Self> {
        match NonZeroU64::new(counted) {
            Some(counted) => Some(Self { reported, counted }),
            None => None,
        }
    }

    /// The ratio of `tokens` to each hundred counted tokens.
    pub const fn percent(tokens: u32) -> Self {
        const HUNDRED: NonZeroU64 = NonZeroU64::new(100).expect("it is not 0");
        Self { reported: tokens as u64, counted: HUNDRED }
    }

    /// A count times the ratio, rounded to the nearest; never 0 if the count is not.
    pub fn apply(self, counted: usize) -> usize {
        let scaled =
            (counted as u128 * u128::from(self.reported)).saturating_add(u128::from(self.counted()) / 2);
        let rounded = scaled / u128::from(self.counted());
        usize::try_from(rounded).unwrap_or(usize::MAX).max(usize::from(counted > 0))
    }

    pub(super) fn counted(self) -> u64 {
        self.counted.get()
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Self) -> Ordering {
        // Cross products: as floating-point numbers, different ratios of large counts could be equal.
        let [own, others] = [(self, other), (other, self)]
            .map(|(one, by)| u128::from(one.reported) * u128::from(by.counted()));
        own.cmp(&others)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ratio {}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = u128::from(self.counted());
        let thousandths = (u128::from(self.reported) * 1000 + counted / 2) / counted;
        write!(f, "{}.{:03}", thousandths / 1000, thousandths % 1000)
    }
}
