//! A part of a log: texts that stand together in a turn, and how a model reads them.

use crate::context::budget::FixedText;
use crate::context::documents::{FencedText, Key, Kind, push_items, push_lines};
use crate::history::Value;

/// The name of a text in a log.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DocumentName {
    Legend,
    Tree,
    Document(Key),
}

impl From<DocumentName> for FixedText {
    fn from(name: DocumentName) -> Self {
        match name {
            DocumentName::Legend => Self::Legend,
            DocumentName::Tree => Self::Tree,
            DocumentName::Document(key) => Self::Document(key),
        }
    }
}

/// Texts that stand together in the turn of one step, and the names of the texts that ended there.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogPart {
    pub(super) texts: Vec<LogText>,
    pub(super) removed: Vec<DocumentName>,
}

/// A text in a log.
#[derive(Clone, Debug)]
pub(super) struct LogText {
    pub(super) name: DocumentName,
    pub(super) value: Value,
    pub(super) form: LogTextKind,
    /// The step of the last change.
    pub(super) since: usize,
    /// The tokens of an edit that the document has not grown by.
    pub(super) excess: usize,
}

/// What a text means for the texts before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LogTextKind {
    /// No part before has a text of this name.
    New,
    /// The text replaces one in a part before.
    Replacement,
    /// The text is a diff of one in a part before.
    Edit,
}

/// The titles of texts by name and form, in the order of a part.
const TITLES: [[&str; 3]; 5] = [
    ["# Legend", "# Legend (replaces the one above)", "# Legend (changes the one above)"],
    ["# File Tree", "# File Tree (replaces the one above)", "# File Tree (changes the one above)"],
    ["# Symbols", "# Symbols (each replaces its text above)", "# Symbols (each changes its text above)"],
    ["# Files", "# Files (each replaces its text above)", "# Files (each changes its text above)"],
    ["# URLs", "# URLs (each replaces its text above)", "# URLs (each changes its text above)"],
];

impl LogText {
    pub(super) fn new(name: DocumentName, value: Value, form: LogTextKind, since: usize) -> Self {
        Self { name, value, form, since, excess: 0 }
    }

    /// About the tokens of the text with the fence and the path, and with the title of a change. Sizes are compared with one
    /// another alone, so no counter is called.
    pub(super) fn tokens(&self) -> usize {
        let path = self.path().map_or(0, str::len);
        // The documents of a request would have a title in any case.
        let title = if self.form == LogTextKind::New { 0 } else { self.title().len() };
        (self.value.len() + path + 2 * "\n```\n".len() + title).div_ceil(4)
    }

    fn path(&self) -> Option<&str> {
        match &self.name {
            DocumentName::Document(key) => Some(key.path()),
            _ => None,
        }
    }

    fn title(&self) -> &'static str {
        let titles = TITLES.get(self.kind());
        titles.and_then(|titles| titles.get(self.form as usize)).copied().unwrap_or_default()
    }

    /// The number of the titles in [`TITLES`].
    fn kind(&self) -> usize {
        match &self.name {
            DocumentName::Legend => 0,
            DocumentName::Tree => 1,
            DocumentName::Document(key) => match key.kind() {
                Kind::Symbol => 2,
                Kind::File => 3,
                Kind::Url => 4,
            },
        }
    }
}

impl From<LogText> for LogPart {
    fn from(text: LogText) -> Self {
        Self { texts: vec![text], removed: Vec::new() }
    }
}

impl LogPart {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.removed.is_empty()
    }

    /// The part in the order of the text: by title, and under each title the texts that are unchanged for longest first.
    pub(super) fn sorted(mut self) -> Self {
        self.texts.sort_by_cached_key(|it| (it.kind(), it.form, it.since, it.name.clone()));
        self.removed.sort();
        self
    }

    /// About the tokens of the texts.
    pub(super) fn tokens(&self) -> usize {
        self.texts.iter().map(LogText::tokens).sum()
    }

    /// The text that a model reads.
    pub(crate) fn text(&self) -> String {
        let mut shown = String::new();
        for (number, titles) in TITLES.iter().enumerate() {
            for (form, title) in
                [LogTextKind::New, LogTextKind::Replacement, LogTextKind::Edit].iter().zip(titles)
            {
                let texts = self.texts.iter().filter(|it| it.kind() == number && it.form == *form);
                let texts = texts.map(|it| FencedText { path: it.path(), text: &it.value });
                push_items(&mut shown, title, texts);
            }
        }
        let removed = self.removed.iter().map(|name| match name {
            DocumentName::Document(key) => format!("{} {}", key.kind(), key.path()),
            other => FixedText::from(other.clone()).to_string(),
        });
        push_lines(&mut shown, "# Removed", removed);
        shown
    }
}
