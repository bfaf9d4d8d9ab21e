//! What receipts show about the time for which a provider keeps a prefix, where that differs from the documentation.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use super::mark::Lifetime;
use crate::model::registry::{CachePolicy, Write};

/// The lifetimes of a model as the receipts of this process show them. A line of text for people.
///
/// ```
/// use columnar::cache::observed;
///
/// assert_eq!(observed("anthropic/claude-sonnet-5-5").to_string(), "nothing but what is documented");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedLifetimes {
    /// Prefixes with the short lifetime.
    pub short: Sightings,
    /// Prefixes with the long lifetime.
    pub long: Sightings,
}

/// Requests that repeated a prefix that the request before had written or read: whether each was billed as a read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sightings {
    /// The number of reads within the documented lifetime.
    pub reads: u32,
    /// The number of requests within the documented lifetime that did not read the prefix.
    pub misses: u32,
    /// The shortest pause before one of these.
    pub shortest_miss: Option<Duration>,
    /// The number of reads after the documented lifetime.
    pub late_reads: u32,
    /// The longest pause before one of these.
    pub longest_read: Option<Duration>,
    /// The number of requests after the documented lifetime that did not read the prefix.
    pub late_misses: u32,
}

/// What the receipts of this process have shown about the lifetimes of a model.
pub fn observed(model: &str) -> ObservedLifetimes {
    OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner).get(model).copied().unwrap_or_default()
}

static OF_PROCESS: LazyLock<Mutex<BTreeMap<Box<str>, ObservedLifetimes>>> = LazyLock::new(Mutex::default);

/// A request repeated a prefix of this lifetime after a pause.
pub(crate) fn observe(model: &str, lifetime: Lifetime, pause: Duration, is_read: bool) {
    let Some(write) = CachePolicy::by_model(model).write(lifetime) else { return };
    let mut all = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
    let of_model = all.entry(model.into()).or_default();
    let sightings = match lifetime {
        Lifetime::Short => &mut of_model.short,
        Lifetime::Long => &mut of_model.long,
    };
    sightings.add(write.lifetime, pause, is_read);
}

impl ObservedLifetimes {
    /// The policy with the lifetimes that were observed more often than not.
    #[must_use]
    pub fn correct(&self, policy: &CachePolicy) -> CachePolicy {
        let mut policy = policy.clone();
        policy.short = self.short.correct(policy.short);
        policy.long = policy.long.map(|long| self.long.correct(long));
        policy
    }
}

impl Sightings {
    fn add(&mut self, documented: Duration, pause: Duration, is_read: bool) {
        let count = match (pause <= documented, is_read) {
            (true, true) => &mut self.reads,
            (true, false) => &mut self.misses,
            (false, true) => &mut self.late_reads,
            (false, false) => &mut self.late_misses,
        };
        *count = count.saturating_add(1);
        if is_read && pause > documented {
            self.longest_read = self.longest_read.max(Some(pause));
        }
        if !is_read && pause <= documented {
            self.shortest_miss = Some(self.shortest_miss.map_or(pause, |shortest| shortest.min(pause)));
        }
    }

    /// The lifetime ends before the shortest pause that was too long, or with the longest one that was not.
    fn correct(&self, documented: Write) -> Write {
        let lifetime = if self.misses > self.reads {
            self.shortest_miss.map(|miss| miss.saturating_sub(Duration::from_millis(1)))
        } else {
            self.longest_read.filter(|_| self.late_reads > self.late_misses)
        };
        Write { lifetime: lifetime.unwrap_or(documented.lifetime), ..documented }
    }
}

impl fmt::Display for ObservedLifetimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (lifetime, of) in [(Lifetime::Short, &self.short), (Lifetime::Long, &self.long)] {
            if let Some(miss) = of.shortest_miss {
                let all = of.misses.saturating_add(of.reads);
                write!(
                    f,
                    "{separator}{lifetime} lifetime: {} of {all} reads in time were missed, ",
                    of.misses
                )?;
                write!(f, "the earliest after {} s", miss.as_secs())?;
                separator = "; ";
            }
            if let Some(read) = of.longest_read {
                let all = of.late_misses.saturating_add(of.late_reads);
                write!(f, "{separator}{lifetime} lifetime: {} of {all} reads came late, ", of.late_reads)?;
                write!(f, "the latest after {} s", read.as_secs())?;
                separator = "; ";
            }
        }
        if separator.is_empty() { f.pad("nothing but what is documented") } else { Ok(()) }
    }
}
