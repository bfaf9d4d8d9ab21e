//! The changes of one step, as the tracker sees them.

use std::collections::BTreeMap;

use crate::context::documents::Key;

/// The changes of one step: documents, clusters, exchanges. Everything that is not named is unchanged, so a step costs what
/// changed in it.
///
/// A file whose key is [put](Self::put) is shown as a whole, and the entry of its symbols is hidden meanwhile. So a file is
/// selected by putting it, and deselected by removing it.
///
/// ```
/// use columnar::documents::{Key, Kind};
/// use columnar::tiers::Step;
///
/// let step = Step::new()
///     .put(Key::new(Kind::Symbol, "src/lib.rs")?, 60)
///     .references(&Key::new(Kind::Symbol, "src/lib.rs")?, 7)
///     .remove(Key::new(Kind::File, "src/old.rs")?)
///     .exchange(3, 250);
/// assert_ne!(step, Step::new());
/// # Ok::<(), columnar::documents::KeyError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Step {
    /// The tokens of documents that were put; `None` for those that were removed.
    pub(super) documents: BTreeMap<Key, Option<u32>>,
    pub(super) clusters: BTreeMap<Key, u32>,
    pub(super) references: BTreeMap<Key, u32>,
    /// As for documents.
    pub(super) exchanges: BTreeMap<usize, Option<u32>>,
    pub(super) legend: bool,
}

impl Step {
    /// A step in which nothing changed.
    pub fn new() -> Self {
        Self::default()
    }

    /// A document that is new at this step, or whose text changed. `tokens` is the size of its rendered text.
    ///
    /// A text that did not change is not put: a put of a known document is a change.
    pub fn put(mut self, key: Key, tokens: usize) -> Self {
        self.documents.insert(key, Some(clamped(tokens)));
        self
    }

    /// A document that is gone, or a file that is no longer selected.
    pub fn remove(mut self, key: Key) -> Self {
        self.documents.insert(key, None);
        self
    }

    /// The cluster of an entry: files in one cluster refer to each other. It matters in the step with the first symbols.
    pub fn cluster(mut self, key: &Key, cluster: u32) -> Self {
        self.clusters.insert(key.clone(), cluster);
        self
    }

    /// The number of files that refer to the file of an entry. It matters in the step with the first symbols, if there are
    /// no clusters.
    pub fn references(mut self, key: &Key, count: u32) -> Self {
        self.references.insert(key.clone(), count);
        self
    }

    /// The exchange of a step, once its text is final: a window that still changes it keeps it away from the tracker.
    ///
    /// Exchanges come in the order of steps. One that is not newer than all before it is ignored.
    pub fn exchange(mut self, step: usize, tokens: usize) -> Self {
        self.exchanges.insert(step, Some(clamped(tokens)));
        self
    }

    /// An exchange that is gone, as when your own program shortens the history. A [budget](crate::budget) of a flow removes
    /// none: an exchange that it omits is still in its tier.
    pub fn remove_exchange(mut self, step: usize) -> Self {
        self.exchanges.insert(step, None);
        self
    }

    /// The legend in the system text is new, changed or gone.
    pub fn legend(mut self) -> Self {
        self.legend = true;
        self
    }
}

/// Sums of tokens fit into 64 bits for every counter.
pub(super) fn clamped(tokens: usize) -> u32 {
    u32::try_from(tokens).unwrap_or(u32::MAX)
}
