//! What one step changes in a set of documents.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use super::error::UpdateFault;
use super::key::{Key, Kind};
use super::place::LogPlace;
use super::urls::MOST_URLS;
use crate::history::Value;

/// The documents that a step puts and removes. Everything else stays as it was.
///
/// Each call takes a path in any form. The faults of all calls are reported at once, when the update is applied or
/// written. The order of the calls does not matter, except that a cluster follows the symbols.
///
/// ```
/// use columnar::documents::{Documents, Key, Kind, Update};
///
/// let scanned = Update::new()
///     .tree("src/lib.rs\nsrc/main.rs")
///     .symbol("src/lib.rs", "fn answer() -> u8")
///     .cluster(0, 1)
///     .symbol("src/main.rs", "fn main()")
///     .cluster(0, 0)
///     .file("src/main.rs", "fn main() {\n    println!(\"{}\", lib::answer());\n}\n");
/// let (documents, changes) = Documents::new().apply(&scanned)?;
/// assert_eq!(changes.added().len(), 3);
///
/// let (documents, changes) = documents.apply(&Update::new().remove(Kind::File, "src/main.rs"))?;
/// assert_eq!(changes.removed(), [Key::new(Kind::File, "src/main.rs")?]);
/// assert_eq!(documents.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Update {
    pub(super) tree: Option<Value>,
    pub(super) legend: Option<Value>,
    pub(super) documents: BTreeMap<Key, DocumentChange>,
    /// The place from which on documents are laid anew.
    pub(super) laid_anew: Option<LogPlace>,
    faults: Vec<UpdateFault>,
    /// The number of documents so far, also of faulty ones.
    number: usize,
    /// The document to which a cluster would belong.
    last: Last,
}

/// The change of one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum DocumentChange {
    Put(PutDocument),
    Remove,
}

/// The text of a document, and the cluster if it is the symbols of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PutDocument {
    pub(super) text: Value,
    pub(super) cluster: Option<Cluster>,
}

/// The place of a file among the references between files. It decides where the symbols begin, and is never shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Files that refer to each other have the same number.
    pub id: u32,
    /// The number of files that refer to this one.
    pub references: u32,
}

/// The document of the latest call.
#[derive(Clone, Debug, Default)]
enum Last {
    /// A document that has no cluster.
    #[default]
    Other,
    Symbol(Key),
    /// One with a fault, which is reported already.
    Faulty,
}

impl Update {
    /// An update that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file. While it is there, the symbols of the same path are not shown.
    #[must_use]
    pub fn file(self, path: impl AsRef<str>, text: impl Into<Value>) -> Self {
        self.put(Kind::File, path.as_ref(), text.into())
    }

    /// Puts the symbols of a file.
    #[must_use]
    pub fn symbol(self, path: impl AsRef<str>, text: impl Into<Value>) -> Self {
        self.put(Kind::Symbol, path.as_ref(), text.into())
    }

    /// The cluster of the symbols that were put just before, and the number of files that refer to theirs.
    #[must_use]
    pub fn cluster(mut self, id: u32, references: u32) -> Self {
        let document = match &self.last {
            Last::Symbol(key) => self.documents.get_mut(key),
            Last::Faulty => return self,
            Last::Other => None,
        };
        match document {
            Some(DocumentChange::Put(document)) => document.cluster = Some(Cluster { id, references }),
            _ => self.faults.push(UpdateFault::Cluster { number: self.number }),
        }
        self
    }

    /// Puts a page. It is shown at this step alone; at most three are.
    #[must_use]
    pub fn url(self, url: impl AsRef<str>, text: impl Into<Value>) -> Self {
        self.put(Kind::Url, url.as_ref(), text.into())
    }

    /// Replaces the tree of files. An empty text removes it.
    #[must_use]
    pub fn tree(mut self, text: impl Into<Value>) -> Self {
        if self.tree.replace(text.into()).is_some() {
            self.faults.push(UpdateFault::RepeatedTree);
        }
        self
    }

    /// Replaces the legend of the symbols. An empty text removes it.
    #[must_use]
    pub fn legend(mut self, text: impl Into<Value>) -> Self {
        if self.legend.replace(text.into()).is_some() {
            self.faults.push(UpdateFault::RepeatedLegend);
        }
        self
    }

    /// Removes a file, or the symbols of one. It must be there when the update is applied.
    #[must_use]
    pub fn remove(mut self, kind: Kind, path: impl AsRef<str>) -> Self {
        self.last = Last::Other;
        match self.key(kind, path.as_ref()) {
            Some(key) if kind == Kind::Url => self.faults.push(UpdateFault::Page(key)),
            Some(key) => self.change(key, DocumentChange::Remove),
            None => {}
        }
        self
    }

    /// Lays all documents anew in [compacted](crate::flow::Handle::compacted) views: requests from this step on show each
    /// document once, after the turns so far. A flow decides this by itself, by the prices of the model; a program may know
    /// better, for example that nobody has used the flow for hours.
    ///
    /// ```
    /// use columnar::documents::Update;
    ///
    /// assert_eq!(Update::new().laid_anew().to_text()?, "# Laid Anew\n\nfrom step 0");
    /// # Ok::<(), columnar::documents::UpdateError>(())
    /// ```
    #[must_use]
    pub fn laid_anew(self) -> Self {
        self.laid_anew_from(LogPlace::default())
    }

    /// Lays the documents anew that stand at a place or behind it.
    #[must_use]
    pub(crate) fn laid_anew_from(self, place: LogPlace) -> Self {
        Self { laid_anew: Some(place), ..self }
    }

    /// The place from which on documents are laid anew, if any are.
    pub(crate) fn first_laid_anew(&self) -> Option<LogPlace> {
        self.laid_anew
    }

    /// Whether the update changes nothing and has no fault.
    pub fn is_empty(&self) -> bool {
        self.tree.is_none()
            && self.legend.is_none()
            && self.documents.is_empty()
            && self.laid_anew.is_none()
            && self.faults.is_empty()
    }

    fn put(mut self, kind: Kind, path: &str, text: Value) -> Self {
        let faults = self.faults.len();
        let key = self.key(kind, path);
        let symbol = key.clone().filter(|_| kind == Kind::Symbol);
        if let Some(key) = key {
            self.change(key, DocumentChange::Put(PutDocument { text, cluster: None }));
        }
        self.last = match symbol {
            _ if self.faults.len() > faults => Last::Faulty,
            Some(key) => Last::Symbol(key),
            None => Last::Other,
        };
        self
    }

    fn key(&mut self, kind: Kind, path: &str) -> Option<Key> {
        self.number += 1;
        let number = self.number;
        Key::new(kind, path).map_err(|error| self.faults.push(UpdateFault::Key { number, error })).ok()
    }

    fn change(&mut self, key: Key, change: DocumentChange) {
        match self.documents.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(change);
            }
            Entry::Occupied(entry) => self.faults.push(UpdateFault::Repeated(entry.key().clone())),
        }
    }

    /// The faults of the calls, and of the update as a whole.
    pub(super) fn faults(&self) -> Vec<UpdateFault> {
        let mut faults = self.faults.clone();
        // URLs are the last kind.
        let pages = self.documents.keys().rev().take_while(|key| key.kind() == Kind::Url).count();
        if pages > MOST_URLS {
            faults.push(UpdateFault::Urls(pages));
        }
        faults
    }
}

impl PartialEq for Update {
    fn eq(&self, other: &Self) -> bool {
        (&self.tree, &self.legend, &self.documents, self.laid_anew, &self.faults)
            == (&other.tree, &other.legend, &other.documents, other.laid_anew, &other.faults)
    }
}

impl Eq for Update {}

/// Names and lengths, and no length for a removal. The texts would fill a screen.
impl fmt::Debug for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let alone = [("legend", &self.legend), ("tree", &self.tree)];
        let alone = alone.iter().filter_map(|(name, text)| Some((name, text.as_ref()?.len())));
        let documents = self.documents.iter().map(|(key, change)| match change {
            DocumentChange::Put(document) => (key, Some(document.text.len())),
            DocumentChange::Remove => (key, None),
        });
        let faults = self.faults.iter().map(|fault| ("fault", fault));
        let laid_anew = self.laid_anew.map(|place| ("laid anew from", place));
        f.debug_map().entries(alone).entries(documents).entries(laid_anew).entries(faults).finish()
    }
}
