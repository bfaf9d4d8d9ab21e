//! The text of an update, as a store holds it.
//!
//! ```text
//! documents 1
//! legend, 7 bytes:
//! f: fn
//! tree, 10 bytes:
//! src/lib.rs
//! symbol src/lib.rs, 11 bytes, cluster 0, 2 references:
//! f answer u8
//! file src/lib.rs, 30 bytes:
//! pub fn answer() -> u8 { 42 }
//!
//! removed file src/main.rs
//! ```
//!
//! Each text is as long as its line says, and a line break follows it. Paths have no line breaks. So texts need no
//! escaping, and are slices of the whole. Documents are in the order of their keys, and each number has one form: an
//! update has one text, and a text that is read is the text that would be written.

use std::fmt::{self, Write};
use std::str::FromStr;

use super::error::{TextFault, UpdateError, UpdateFault};
use super::key::{Key, Kind};
use super::update::{Change, Cluster, Document, Update};
use super::urls::MOST_URLS;
use crate::history::Value;

const TITLE: &str = "documents ";
const VERSION: u32 = 1;
const REMOVED: &str = "removed ";

impl Update {
    /// The update as text: the value of a source of documents.
    ///
    /// ```
    /// use columnar::documents::{Kind, Update};
    ///
    /// let update = Update::new().file("a.txt", "one").remove(Kind::File, "b.txt");
    /// let text = update.to_text()?;
    /// assert_eq!(text, "documents 1\nfile a.txt, 3 bytes:\none\nremoved file b.txt\n");
    /// assert_eq!(Update::parse(text)?, update);
    /// # Ok::<(), columnar::documents::UpdateError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UpdateError`] with all faults of the calls that made the update.
    pub fn to_text(&self) -> Result<Value, UpdateError> {
        self.check()?;
        let mut text = String::with_capacity(self.capacity());
        // A `String` takes everything.
        let _ = self.write(&mut text);
        Ok(text.into())
    }

    /// Reads the text of an update. The texts of its documents are slices of it.
    ///
    /// # Errors
    ///
    /// [`UpdateError`] with the position of the first line that is damaged.
    pub fn parse(text: impl Into<Value>) -> Result<Self, UpdateError> {
        let text = text.into();
        let mut parser = Parser { text: &text, at: 0, update: Self::new(), pages: 0 };
        match parser.version() {
            Some(VERSION) => {}
            Some(found) => return Err(UpdateError::one(UpdateFault::Version { found, known: VERSION })),
            None => return Err(UpdateError::one(UpdateFault::Text { at: 0, fault: TextFault::Title })),
        }
        while parser.at < text.len() {
            let at = parser.at;
            parser.entry().map_err(|fault| UpdateError::one(UpdateFault::Text { at, fault }))?;
        }
        Ok(parser.update)
    }

    fn write(&self, f: &mut String) -> fmt::Result {
        writeln!(f, "{TITLE}{VERSION}")?;
        for (name, text) in [("legend", &self.legend), ("tree", &self.tree)] {
            if let Some(text) = text {
                writeln!(f, "{name}, {} bytes:\n{text}", text.len())?;
            }
        }
        for (key, change) in &self.documents {
            let (kind, path) = (key.kind(), key.path());
            let Change::Put(document) = change else {
                writeln!(f, "{REMOVED}{kind} {path}")?;
                continue;
            };
            write!(f, "{kind} {path}, {} bytes", document.text.len())?;
            if let Some(Cluster { id, references }) = document.cluster {
                write!(f, ", cluster {id}, {references} references")?;
            }
            writeln!(f, ":\n{}", document.text)?;
        }
        Ok(())
    }

    /// About the length of the text.
    fn capacity(&self) -> usize {
        let documents = self.documents.iter().map(|(key, change)| match change {
            Change::Put(document) => key.path().len() + document.text.len() + 64,
            Change::Remove => key.path().len() + 16,
        });
        let alone = [&self.legend, &self.tree].into_iter().flatten().map(|text| text.len() + 32);
        documents.chain(alone).sum::<usize>() + 16
    }
}

/// Reads an update from its text, line by line.
struct Parser<'t> {
    text: &'t Value,
    /// The position of the next line.
    at: usize,
    update: Update,
    pages: usize,
}

impl<'t> Parser<'t> {
    /// The version in the first line.
    fn version(&mut self) -> Option<u32> {
        number(self.line()?.strip_prefix(TITLE)?)
    }

    /// A document, the legend or the tree.
    fn entry(&mut self) -> Result<(), TextFault> {
        let line = self.line().ok_or(TextFault::Line)?;
        if let Some(name) = line.strip_prefix(REMOVED) {
            let key = key(name)?;
            return if key.kind() == Kind::Url {
                Err(TextFault::Page)
            } else {
                self.change(key, Change::Remove)
            };
        }
        let (name, bytes, cluster) = put(line).ok_or(TextFault::Line)?;
        let text = self.text_of(bytes).ok_or(TextFault::Length(bytes))?;
        let Update { legend, tree, documents, .. } = &mut self.update;
        let (slot, is_ordered) = match name {
            "legend" => (legend, tree.is_none() && documents.is_empty()),
            "tree" => (tree, documents.is_empty()),
            name => {
                let key = key(name)?;
                let is_symbol = key.kind() == Kind::Symbol;
                let document = Document { text, cluster };
                return if cluster.is_some() && !is_symbol {
                    Err(TextFault::Line)
                } else {
                    self.change(key, Change::Put(document))
                };
            }
        };
        match (cluster, is_ordered && slot.is_none()) {
            (Some(_), _) => Err(TextFault::Line),
            (None, false) => Err(TextFault::Order),
            (None, true) => {
                *slot = Some(text);
                Ok(())
            }
        }
    }

    /// Adds the change of a document after those before it.
    fn change(&mut self, key: Key, change: Change) -> Result<(), TextFault> {
        if self.update.documents.last_key_value().is_some_and(|(last, _)| *last >= key) {
            return Err(TextFault::Order);
        }
        self.pages += usize::from(key.kind() == Kind::Url);
        if self.pages > MOST_URLS {
            return Err(TextFault::Urls);
        }
        self.update.documents.insert(key, change);
        Ok(())
    }

    /// The next line, without its end.
    fn line(&mut self) -> Option<&'t str> {
        let (line, _) = self.text.get(self.at..)?.split_once('\n')?;
        self.at += line.len() + 1;
        Some(line)
    }

    /// The next text, which has a line break after it.
    fn text_of(&mut self, bytes: usize) -> Option<Value> {
        let end = self.at.checked_add(bytes)?;
        let text = self.text.slice(self.at..end)?;
        self.text.get(end..)?.strip_prefix('\n')?;
        self.at = end + 1;
        Some(text)
    }
}

/// The name in the line of a put document, the length of its text, and its cluster. Read from the end, because a path may
/// contain everything that follows it.
fn put(line: &str) -> Option<(&str, usize, Option<Cluster>)> {
    let fields = line.strip_suffix(':')?;
    let (fields, cluster) = match fields.strip_suffix(" references") {
        Some(fields) => {
            let (fields, references) = fields.rsplit_once(", ")?;
            let (fields, id) = fields.rsplit_once(", cluster ")?;
            (fields, Some(Cluster { id: number(id)?, references: number(references)? }))
        }
        None => (fields, None),
    };
    let (name, bytes) = fields.strip_suffix(" bytes")?.rsplit_once(", ")?;
    Some((name, number(bytes)?, cluster))
}

/// A key in its normal form.
fn key(name: &str) -> Result<Key, TextFault> {
    let (kind, path) = name.split_once(' ').ok_or(TextFault::Line)?;
    let kinds = [Kind::Symbol, Kind::File, Kind::Url];
    let kind = kinds.into_iter().find(|known| known.as_str() == kind).ok_or(TextFault::Line)?;
    Key::new(kind, path).ok().filter(|key| key.path() == path).ok_or(TextFault::Key)
}

/// A number in its only form: digits without a sign or leading zeros.
fn number<N: FromStr>(text: &str) -> Option<N> {
    let is_normal = text == "0" || !text.starts_with(['0', '+', '-']);
    text.parse().ok().filter(|_| is_normal)
}
