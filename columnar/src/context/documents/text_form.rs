//! The text of an update, as a store holds it and as a plain view shows it to a model.
//!
//! ```text
//! update     = "No document changed." | section { empty section }
//! section    = title empty ( fenced | item { empty item } | line { break line } )
//! item       = path break fenced
//! fenced     = fence break text break fence
//! empty      = break break
//! ```
//!
//! The sections are in the order of [`SECTIONS`], documents in the order of the keys, and each number has one form.
//! [`render`] makes the fences.
//!
//! The text of an update can be read in one way, line by line:
//! - A line is a title at the start, and wherever an empty line follows it. A fence follows a path, also the path
//!   `# Files`, and no path is empty or begins like a fence.
//! - A fence ends at the first run of backticks that is as long as the first line, because the text has none.
//! - An empty line ends a section of lines, and no line of it is empty. A line is read from the end or up to the first
//!   space, because a path may contain everything else.
//!
//! Each of these is checked. So a text that is read is the text that would be written.

use super::error::{TextFault, UpdateError, UpdateFault};
use super::key::{Key, Kind};
use super::place::{LogPlace, number};
use super::render::{self, FencedText};
use super::update::{Cluster, DocumentChange, PutDocument, Update};
use super::urls::MOST_URLS;
use crate::history::Value;

/// A section of an update.
#[derive(Clone, Copy)]
enum UpdateSection {
    Legend,
    Tree,
    Documents(Kind),
    References,
    Removed,
    LaidAnew,
}

/// The sections in order, with the titles.
const SECTIONS: [(&str, UpdateSection); 8] = [
    ("# Legend", UpdateSection::Legend),
    ("# File Tree", UpdateSection::Tree),
    ("# Symbols", UpdateSection::Documents(Kind::Symbol)),
    ("# References", UpdateSection::References),
    ("# Files", UpdateSection::Documents(Kind::File)),
    ("# URLs", UpdateSection::Documents(Kind::Url)),
    ("# Removed", UpdateSection::Removed),
    ("# Laid Anew", UpdateSection::LaidAnew),
];

/// The line up to the place from which on documents are laid anew.
const LAID_ANEW: &str = "from ";

/// The text of an update that changes nothing.
const NOTHING: &str = "No document changed.";

impl Update {
    /// The update as text: the value of a source of documents. A view of the source shows it to the model.
    ///
    /// The sections are in this order, and each is there only if it has something: `# Legend`, `# File Tree`, `# Symbols`,
    /// `# References` with the clusters, `# Files`, `# URLs`, `# Removed` and `# Laid Anew`.
    ///
    /// ```
    /// use columnar::documents::{Kind, Update};
    ///
    /// let update = Update::new()
    ///     .symbol("src/lib.rs", "f answer u8")
    ///     .cluster(0, 2)
    ///     .file("notes.md", "Run `cargo run`.\n")
    ///     .file("run.md", "```\ncargo run\n```")
    ///     .remove(Kind::File, "src/main.rs");
    /// let text = update.to_text()?;
    /// let lines = [
    ///     "# Symbols",
    ///     "",
    ///     "src/lib.rs",
    ///     "```",
    ///     "f answer u8",
    ///     "```",
    ///     "",
    ///     "# References",
    ///     "",
    ///     "src/lib.rs: cluster 0, 2 references",
    ///     "",
    ///     "# Files",
    ///     "",
    ///     "notes.md",
    ///     "```",
    ///     "Run `cargo run`.",
    ///     "", // the line break at the end of the file
    ///     "```",
    ///     "",
    ///     "run.md",
    ///     "````",
    ///     "```",
    ///     "cargo run",
    ///     "```",
    ///     "````",
    ///     "",
    ///     "# Removed",
    ///     "",
    ///     "file src/main.rs",
    /// ];
    /// assert_eq!(text, lines.join("\n"));
    /// assert_eq!(Update::parse(text)?, update);
    /// assert_eq!(Update::new().to_text()?, "No document changed.");
    /// # Ok::<(), columnar::documents::UpdateError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`UpdateError`] with all faults of the calls that made the update.
    pub fn to_text(&self) -> Result<Value, UpdateError> {
        UpdateError::check(self.faults())?;
        if self.is_empty() {
            return Ok(NOTHING.into());
        }
        let mut text = String::new();
        for (title, section) in SECTIONS {
            self.write(title, section, &mut text);
        }
        Ok(text.into())
    }

    /// Reads the text of an update. The texts of the documents are slices of it.
    ///
    /// # Errors
    ///
    /// [`UpdateError`] with the position of the first line that is damaged, or for a value with attachments.
    pub fn parse(text: impl Into<Value>) -> Result<Self, UpdateError> {
        let text = text.into();
        if !text.attachments().is_empty() {
            return Err(UpdateError::one(UpdateFault::Attachments));
        }
        if text == NOTHING {
            return Ok(Self::new());
        }
        let mut parser = UpdateParser { text: &text, at: 0, next: Some(0), last: None, update: Self::new() };
        match parser.sections() {
            Ok(()) => Ok(parser.update),
            Err(fault) => Err(UpdateError::one(UpdateFault::Text { at: parser.at, fault })),
        }
    }

    /// Adds a section, if there is something in it.
    fn write(&self, title: &str, section: UpdateSection, text: &mut String) {
        match section {
            UpdateSection::Legend => render::push_items(text, title, alone(self.legend.as_ref())),
            UpdateSection::Tree => render::push_items(text, title, alone(self.tree.as_ref())),
            UpdateSection::Documents(kind) => render::push_items(text, title, self.items(kind)),
            UpdateSection::References => render::push_lines(text, title, self.references()),
            UpdateSection::Removed => render::push_lines(text, title, self.removed()),
            UpdateSection::LaidAnew => {
                render::push_lines(text, title, self.laid_anew.map(|place| format!("{LAID_ANEW}{place}")));
            }
        }
    }

    fn puts(&self) -> impl Iterator<Item = (&Key, &PutDocument)> {
        self.documents.iter().filter_map(|(key, change)| match change {
            DocumentChange::Put(document) => Some((key, document)),
            DocumentChange::Remove => None,
        })
    }

    fn items(&self, kind: Kind) -> impl Iterator<Item = FencedText<'_>> {
        let puts = self.puts().filter(move |(key, _)| key.kind() == kind);
        puts.map(|(key, document)| FencedText { path: Some(key.path()), text: &document.text })
    }

    fn references(&self) -> impl Iterator<Item = String> {
        self.puts().filter_map(|(key, document)| {
            let Cluster { id, references } = document.cluster?;
            Some(format!("{}: cluster {id}, {references} {}", key.path(), noun(references)))
        })
    }

    fn removed(&self) -> impl Iterator<Item = String> {
        let removed = self.documents.iter().filter(|(_, change)| **change == DocumentChange::Remove);
        removed.map(|(key, _)| format!("{} {}", key.kind(), key.path()))
    }
}

/// The only item of a section.
fn alone(text: Option<&Value>) -> Option<FencedText<'_>> {
    text.map(|text| FencedText { path: None, text })
}

const fn noun(references: u32) -> &'static str {
    if references == 1 { "reference" } else { "references" }
}

/// Reads an update from the text, line by line.
struct UpdateParser<'t> {
    text: &'t Value,
    /// The position of the line that was read last, for errors.
    at: usize,
    /// The position of the next line; `None` after the last one.
    next: Option<usize>,
    /// The key before, in the same section.
    last: Option<Key>,
    update: Update,
}

impl<'t> UpdateParser<'t> {
    fn sections(&mut self) -> Result<(), TextFault> {
        let mut sections = SECTIONS.into_iter();
        loop {
            let line = self.line().ok_or(TextFault::Title)?;
            // Those before it may not follow any more.
            let (_, section) = sections.find(|(title, _)| *title == line).ok_or(TextFault::Title)?;
            if !self.empty_line()? {
                return Err(TextFault::Title);
            }
            self.last = None;
            let is_followed = match section {
                UpdateSection::Legend => {
                    self.update.legend = Some(self.fenced()?);
                    self.empty_line()?
                }
                UpdateSection::Tree => {
                    self.update.tree = Some(self.fenced()?);
                    self.empty_line()?
                }
                UpdateSection::Documents(kind) => self.items(kind)?,
                UpdateSection::References => self.lines(Self::reference)?,
                UpdateSection::Removed => self.lines(Self::removal)?,
                UpdateSection::LaidAnew => self.lines(Self::first_laid_anew)?,
            };
            if !is_followed {
                return Ok(());
            }
        }
    }

    /// The items of a section. Returns whether a section follows.
    fn items(&mut self, kind: Kind) -> Result<bool, TextFault> {
        loop {
            self.item(kind)?;
            if !self.empty_line()? {
                return Ok(false);
            }
            if self.is_before_title() {
                return Ok(true);
            }
        }
    }

    fn item(&mut self, kind: Kind) -> Result<(), TextFault> {
        let path = self.line().ok_or(TextFault::Line)?;
        let key = self.key(kind, path)?;
        let keys = self.update.documents.keys();
        // URLs are the last kind.
        if keys.rev().take_while(|key| key.kind() == Kind::Url).count() == MOST_URLS {
            return Err(TextFault::Urls);
        }
        let text = self.fenced()?;
        self.update.documents.insert(key, DocumentChange::Put(PutDocument { text, cluster: None }));
        Ok(())
    }

    /// The lines of a section. Returns whether a section follows.
    fn lines(
        &mut self,
        read: impl Fn(&mut Self, &'t str) -> Result<(), TextFault>,
    ) -> Result<bool, TextFault> {
        loop {
            let line = self.line().ok_or(TextFault::Line)?;
            read(self, line)?;
            if self.rest().is_none_or(is_empty_line) {
                return self.empty_line();
            }
        }
    }

    fn reference(&mut self, line: &str) -> Result<(), TextFault> {
        let (path, cluster) = reference(line).ok_or(TextFault::Line)?;
        let key = self.key(Kind::Symbol, path)?;
        let Some(DocumentChange::Put(document)) = self.update.documents.get_mut(&key) else {
            return Err(TextFault::Line);
        };
        document.cluster = Some(cluster);
        Ok(())
    }

    fn removal(&mut self, line: &str) -> Result<(), TextFault> {
        let (kind, path) = line.split_once(' ').ok_or(TextFault::Line)?;
        let mut kinds = [Kind::Symbol, Kind::File].into_iter();
        let kind = kinds.find(|known| known.as_str() == kind).ok_or(TextFault::Line)?;
        let key = self.key(kind, path)?;
        let before = self.update.documents.insert(key, DocumentChange::Remove);
        before.map_or(Ok(()), |_| Err(TextFault::Order))
    }

    fn first_laid_anew(&mut self, line: &str) -> Result<(), TextFault> {
        let place = line.strip_prefix(LAID_ANEW).and_then(LogPlace::parse).ok_or(TextFault::Line)?;
        self.update.laid_anew.replace(place).map_or(Ok(()), |_| Err(TextFault::Line))
    }

    /// A key in the normal form, after the one before.
    fn key(&mut self, kind: Kind, path: &str) -> Result<Key, TextFault> {
        let key = Key::new(kind, path).ok().filter(|key| key.path() == path).ok_or(TextFault::Key)?;
        let last = self.last.replace(key.clone());
        if last.is_some_and(|last| last >= key) { Err(TextFault::Order) } else { Ok(key) }
    }

    /// The text in the fence that is next.
    fn fenced(&mut self) -> Result<Value, TextFault> {
        let start = self.next.ok_or(TextFault::Fence)?;
        self.at = start;
        let (text, end) = self.rest().and_then(render::fenced).ok_or(TextFault::Fence)?;
        self.end_line(start + end);
        self.text.slice(start + text.start..start + text.end).ok_or(TextFault::Fence)
    }

    /// Reads the empty line before an item or a section. Returns `false` at the end.
    fn empty_line(&mut self) -> Result<bool, TextFault> {
        match self.line() {
            None => Ok(false),
            Some("") if self.next.is_some() => Ok(true),
            Some(_) => Err(TextFault::Line),
        }
    }

    /// Whether an empty line follows the next one.
    fn is_before_title(&self) -> bool {
        let lines = self.rest().and_then(|rest| rest.split_once('\n'));
        lines.is_some_and(|(_, after)| is_empty_line(after))
    }

    /// The next line, without the end.
    fn line(&mut self) -> Option<&'t str> {
        let at = self.next?;
        let rest = self.rest()?;
        let line = rest.split_once('\n').map_or(rest, |(line, _)| line);
        self.at = at;
        self.end_line(at + line.len());
        Some(line)
    }

    /// The text from the next line on.
    fn rest(&self) -> Option<&'t str> {
        self.text.get(self.next?..)
    }

    /// Goes on after a line that ends at a position.
    fn end_line(&mut self, end: usize) {
        self.next = (end < self.text.len()).then_some(end + 1);
    }
}

/// Whether the first line of a text is empty.
fn is_empty_line(text: &str) -> bool {
    text.is_empty() || text.starts_with('\n')
}

/// The path and the cluster in a line. Read from the end, because a path may contain everything that follows it.
fn reference(line: &str) -> Option<(&str, Cluster)> {
    let (path, cluster) = line.rsplit_once(": cluster ")?;
    let (id, references) = cluster.split_once(", ")?;
    let (references, word) = references.split_once(' ')?;
    let cluster = Cluster { id: number(id)?, references: number(references)? };
    (word == noun(cluster.references)).then_some((path, cluster))
}
