//! The tiers and their thresholds.

use std::fmt;
use std::ops::{Index, IndexMut};

/// A part of a request, by how long its items have not changed. Tiers are ordered as in the request: the most stable one
/// is the first.
///
/// | tier | N on entry | leaves at N | cached |
/// |---|---|---|---|
/// | `L0` | 12 | never | yes |
/// | `L1` | 9 | 12 | yes |
/// | `L2` | 6 | 9 | yes |
/// | `L3` | 3 | 6 | yes |
/// | `Active` | 0 | 3 | no |
///
/// The enum is closed: a provider takes four marks, so there are four cached tiers.
///
/// ```
/// use columnar::tiers::Tier;
///
/// assert!(Tier::L0 < Tier::L3 && Tier::L3 < Tier::Active);
/// assert_eq!(Tier::L2.above(), Some(Tier::L1));
/// assert_eq!((Tier::L2.entry(), Tier::L2.leaves_at()), (6, Some(9)));
/// assert_eq!(Tier::Active.to_string(), "active");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Behind the instruction, in the system text.
    L0,
    /// The second tier.
    L1,
    /// The third tier.
    L2,
    /// The tier for items that leave `Active`.
    L3,
    /// The end of the request, which is never cached: items that changed lately.
    Active,
}

impl Tier {
    /// All tiers, in order.
    pub const ALL: [Self; 5] = [Self::L0, Self::L1, Self::L2, Self::L3, Self::Active];

    /// The tiers that are cached, in order.
    pub const CACHED: [Self; 4] = [Self::L0, Self::L1, Self::L2, Self::L3];

    /// The N of an item when it enters.
    pub const fn entry(self) -> u32 {
        match self {
            Self::L0 => 12,
            Self::L1 => 9,
            Self::L2 => 6,
            Self::L3 => 3,
            Self::Active => 0,
        }
    }

    /// The N at which an item leaves for the tier above; `None` if it never does. It is also the highest N in this tier.
    pub const fn leaves_at(self) -> Option<u32> {
        match self.above() {
            Some(above) => Some(above.entry()),
            None => None,
        }
    }

    /// Whether a provider caches this tier.
    pub const fn is_cached(self) -> bool {
        !matches!(self, Self::Active)
    }

    /// The next more stable tier.
    pub const fn above(self) -> Option<Self> {
        match self {
            Self::L0 => None,
            Self::L1 => Some(Self::L0),
            Self::L2 => Some(Self::L1),
            Self::L3 => Some(Self::L2),
            Self::Active => Some(Self::L3),
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::L0 => "L0",
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::L3 => "L3",
            Self::Active => "active",
        })
    }
}

/// A value for each tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PerTier<T>([T; 5]);

impl<T> Index<Tier> for PerTier<T> {
    type Output = T;

    fn index(&self, tier: Tier) -> &T {
        self.0.get(tier as usize).expect("there is a value for each tier")
    }
}

impl<T> IndexMut<Tier> for PerTier<T> {
    fn index_mut(&mut self, tier: Tier) -> &mut T {
        self.0.get_mut(tier as usize).expect("there is a value for each tier")
    }
}
