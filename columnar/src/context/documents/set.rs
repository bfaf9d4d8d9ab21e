//! The documents of one step.

use std::fmt;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::error::{UpdateError, UpdateFault};
use super::key::{Key, Kind};
use super::update::{Cluster, DocumentChange, PutDocument, Update};
use crate::history::Value;

/// The documents of one step, by key. An [`Update`] leads from one step to the next.
///
/// The set is persistent: a clone copies nothing, and an update of k among n documents costs O(k log n) time and memory.
/// So each step may have its own set, and forks share the sets of the past. The texts are slices of the updates that put
/// them.
///
/// A page is in the set only at the step that puts it.
///
/// ```
/// use columnar::documents::{Documents, Key, Kind, Update};
///
/// let update = Update::new().file("a.rs", "fn a() {}").url("https://example.org", "A page.");
/// let (first, _) = Documents::new().apply(&update)?;
/// let (second, changes) = first.apply(&Update::new().file("a.rs", "fn a() {}"))?;
/// assert!(changes.is_empty());
///
/// let keys = |documents: &Documents| documents.iter().map(|(key, _)| key.to_string()).collect::<Vec<_>>();
/// assert_eq!(keys(&first), ["file:a.rs", "url:https://example.org"]);
/// assert_eq!(keys(&second), ["file:a.rs"]);
/// assert_eq!(second.get(&Key::new(Kind::File, "a.rs")?).map(|text| text.len()), Some(9));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Documents {
    /// Symbols and files.
    kept: RedBlackTreeMapSync<Key, PutDocument>,
    pages: Arc<[(Key, Value)]>,
    tree: Option<Value>,
    legend: Option<Value>,
}

impl Documents {
    /// No documents.
    pub fn new() -> Self {
        Self::default()
    }

    /// The documents after an update, and what it changed.
    ///
    /// # Errors
    ///
    /// [`UpdateError`] with all faults of the update, and with the removals of documents that are not there.
    pub fn apply(&self, update: &Update) -> Result<(Self, Changes), UpdateError> {
        let mut faults = update.faults();
        let removed = update.documents.iter().filter(|(_, change)| **change == DocumentChange::Remove);
        let missing = removed.filter(|(key, _)| !self.kept.contains_key(key));
        faults.extend(missing.map(|(key, _)| UpdateFault::Missing(key.clone())));
        UpdateError::check(faults)?;
        let mut next = self.clone();
        let tree = replace(&mut next.tree, update.tree.as_ref());
        let legend = replace(&mut next.legend, update.legend.as_ref());
        let mut changes = Changes { tree, legend, ..Changes::default() };
        let mut pages = Vec::new();
        for (key, change) in &update.documents {
            match change {
                DocumentChange::Put(document) if key.kind() == Kind::Url => {
                    pages.push((key.clone(), document.text.clone()));
                }
                DocumentChange::Put(document) => next.put(key, document, &mut changes),
                DocumentChange::Remove => {
                    next.kept.remove_mut(key);
                    changes.removed.push(key.clone());
                }
            }
        }
        next.pages = pages.into();
        Ok((next, changes))
    }

    fn put(&mut self, key: &Key, document: &PutDocument, changes: &mut Changes) {
        match self.kept.get(key) {
            None => changes.added.push(key.clone()),
            Some(present) if present.text != document.text => changes.changed.push(key.clone()),
            Some(present) if present.cluster == document.cluster => return,
            Some(_) => {}
        }
        self.kept.insert_mut(key.clone(), document.clone());
    }

    /// The number of documents.
    pub fn len(&self) -> usize {
        self.kept.size() + self.pages.len()
    }

    /// Whether there is no document. There may be a tree and a legend.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text of a document.
    pub fn get(&self, key: &Key) -> Option<&Value> {
        match key.kind() {
            Kind::Url => self.pages.iter().find(|(page, _)| page == key).map(|(_, text)| text),
            Kind::Symbol | Kind::File => self.kept.get(key).map(|document| &document.text),
        }
    }

    /// Whether a context shows the document: it is there, and if it is the symbols of a file, the file is not.
    pub fn is_shown(&self, key: &Key) -> bool {
        self.get(key).is_some() && (key.kind() != Kind::Symbol || !self.kept.contains_key(&key.of_file()))
    }

    /// All documents in the order of the keys: symbols, files and pages, each by path.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Value)> {
        let kept = self.kept.iter().map(|(key, document)| (key, &document.text));
        kept.chain(self.pages())
    }

    /// The pages of the step.
    pub(crate) fn pages(&self) -> impl Iterator<Item = (&Key, &Value)> {
        self.pages.iter().map(|(key, text)| (key, text))
    }

    /// The tree of files.
    pub const fn tree(&self) -> Option<&Value> {
        self.tree.as_ref()
    }

    /// The legend of the symbols.
    pub const fn legend(&self) -> Option<&Value> {
        self.legend.as_ref()
    }

    /// The cluster of the symbols of a file.
    pub fn cluster(&self, key: &Key) -> Option<Cluster> {
        self.kept.get(key)?.cluster
    }
}

/// Names and lengths. The texts would fill a screen.
impl fmt::Debug for Documents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = [("legend", &self.legend), ("tree", &self.tree)];
        let alone = alone.iter().filter_map(|(name, text)| Some((name, text.as_ref()?.len())));
        f.debug_map().entries(alone).entries(self.iter().map(|(key, text)| (key, text.len()))).finish()
    }
}

/// Replaces a text, and returns whether that changed it. An empty text is none.
fn replace(present: &mut Option<Value>, put: Option<&Value>) -> bool {
    let Some(put) = put else { return false };
    let next = Some(put).filter(|text| !text.is_empty());
    if present.as_ref() == next {
        return false;
    }
    *present = next.cloned();
    true
}

/// What an update changed in a set of documents, by comparison of bytes. A document that was put with the text that it
/// had is not changed, and pages are no part of it, because each is shown once.
///
/// ```
/// use columnar::documents::{Documents, Update};
///
/// let (documents, _) = Documents::new().apply(&Update::new().file("a.rs", "1").file("b.rs", "2"))?;
/// let (_, changes) = documents.apply(&Update::new().file("a.rs", "1").file("b.rs", "3"))?;
/// assert_eq!(changes.changed().len(), 1);
/// assert_eq!(changes.changed()[0].path(), "b.rs");
/// # Ok::<(), columnar::documents::UpdateError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    added: Vec<Key>,
    changed: Vec<Key>,
    removed: Vec<Key>,
    tree: bool,
    legend: bool,
}

impl Changes {
    /// The documents that were not there before, in the order of the keys.
    pub fn added(&self) -> &[Key] {
        &self.added
    }

    /// The documents with another text than before, in the order of the keys.
    pub fn changed(&self) -> &[Key] {
        &self.changed
    }

    /// The documents that are gone, in the order of the keys.
    pub fn removed(&self) -> &[Key] {
        &self.removed
    }

    /// Whether the tree of files has another text.
    pub const fn tree(&self) -> bool {
        self.tree
    }

    /// Whether the legend has another text.
    pub const fn legend(&self) -> bool {
        self.legend
    }

    /// The documents that were added, changed or removed.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &Key> {
        [&self.added, &self.changed, &self.removed].into_iter().flatten()
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
