//! The entries of a file of any format, and the reading of them, which goes on after a mistake.
//!
//! serde tells no positions. A format lends the texts that it need not change, keys above all, so the address of such a text
//! tells where the text is in the file. An entry without a text of its own has the position of its key.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use crate::declare::error::excerpt;
use crate::declare::{FilePosition, SchemaError};

/// The entries of a file, as a format passes them to [`Declaration::read`](super::Declaration::read).
#[derive(Debug)]
pub struct FileEntries<'t>(pub(super) FileEntry<'t>);

impl<'de> Deserialize<'de> for FileEntries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        FileEntry::deserialize(deserializer).map(Self)
    }
}

/// An entry of a file.
#[derive(Debug)]
pub(super) enum FileEntry<'t> {
    Table(Vec<(FileEntry<'t>, FileEntry<'t>)>),
    List(Vec<FileEntry<'t>>),
    Text(Cow<'t, str>),
    Whole(i128),
    Number(f64),
    Switch(bool),
    Empty,
}

impl FileEntry<'_> {
    /// The entry as a message shows it.
    fn found(&self) -> String {
        match self {
            Self::Table(_) => "a table".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Text(text) => format!("the text {}", excerpt(text)),
            Self::Whole(number) => format!("the number `{number}`"),
            Self::Number(number) => format!("the number `{number}`"),
            Self::Switch(is_on) => format!("`{is_on}`"),
            Self::Empty => "empty".to_owned(),
        }
    }

    /// The text of a key.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Text(text) => text.as_ref().to_owned(),
            other => other.found(),
        }
    }
}

impl<'de> Deserialize<'de> for FileEntry<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EntryVisitor)
    }
}

/// A key, which some formats lend only where a text is asked for.
struct EntryKey<'t>(FileEntry<'t>);

impl<'de> Deserialize<'de> for EntryKey<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(EntryVisitor).map(Self)
    }
}

struct EntryVisitor;

macro_rules! visits {
    ($($visit:ident: $Type:ty, $value:ident => $entry:expr;)*) => {$(
        fn $visit<E>(self, $value: $Type) -> Result<FileEntry<'de>, E> {
            Ok($entry)
        }
    )*};
}

impl<'de> Visitor<'de> for EntryVisitor {
    type Value = FileEntry<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table, a list, a text, a number, `true` or `false`")
    }

    visits! {
        visit_bool: bool, is_on => FileEntry::Switch(is_on);
        visit_i64: i64, number => FileEntry::Whole(number.into());
        visit_u64: u64, number => FileEntry::Whole(number.into());
        visit_i128: i128, number => FileEntry::Whole(number);
        visit_u128: u128, number => FileEntry::Whole(number.try_into().unwrap_or(i128::MAX));
        visit_f64: f64, number => FileEntry::Number(number);
        visit_str: &str, text => FileEntry::Text(Cow::Owned(text.to_owned()));
        visit_borrowed_str: &'de str, text => FileEntry::Text(Cow::Borrowed(text));
    }

    fn visit_unit<E>(self) -> Result<FileEntry<'de>, E> {
        Ok(FileEntry::Empty)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FileEntry<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            entries.push(entry);
        }
        Ok(FileEntry::List(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<FileEntry<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some(EntryKey(key)) = table.next_key()? {
            entries.push((key, table.next_value()?));
        }
        Ok(FileEntry::Table(entries))
    }
}

/// A value of a declaration, as a file has it.
pub(super) trait FromEntry: Sized {
    /// What a person writes there.
    fn words() -> String;

    /// The value; `None` if the entry is of another kind.
    fn from_entry(entry: &FileEntry<'_>, reading: &mut Reading<'_>) -> Option<Self>;
}

macro_rules! from_entries {
    ($($Type:ty: $words:literal, $($entry:pat => $value:expr),*;)*) => {$(
        impl FromEntry for $Type {
            fn words() -> String {
                $words.to_owned()
            }

            fn from_entry(entry: &FileEntry<'_>, _: &mut Reading<'_>) -> Option<Self> {
                match entry {
                    $($entry => $value,)*
                    _ => None,
                }
            }
        }
    )*};
}

from_entries! {
    String: "a text", FileEntry::Text(text) => Some(text.as_ref().to_owned());
    bool: "`true` or `false`", FileEntry::Switch(is_on) => Some(*is_on);
    usize: "a whole number, 0 or more", FileEntry::Whole(number) => (*number).try_into().ok();
    u64: "a whole number, 0 or more", FileEntry::Whole(number) => (*number).try_into().ok();
    // All of these settings count something that there is.
    u32: "a whole number above 0", FileEntry::Whole(number) => (*number).try_into().ok();
    // A setting has few digits, and more are printed and read again.
    f64: "a number", FileEntry::Number(number) => Some(*number), FileEntry::Whole(number) => number.to_string().parse().ok();
}

impl<T: FromEntry> FromEntry for Option<T> {
    fn words() -> String {
        T::words()
    }

    fn from_entry(entry: &FileEntry<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if matches!(entry, FileEntry::Empty) { Some(None) } else { T::from_entry(entry, reading).map(Some) }
    }
}

impl<T: FromEntry> FromEntry for Vec<T> {
    fn words() -> String {
        format!("a list in which each entry is {}", T::words())
    }

    fn from_entry(entry: &FileEntry<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        let FileEntry::List(entries) = entry else { return None };
        let read =
            entries.iter().enumerate().map(|(at, entry)| reading.value(format!("entry {}", at + 1), entry));
        Some(read.collect::<Vec<Option<T>>>().into_iter().flatten().collect())
    }
}

/// The state of reading a file: the place of the current entry, and the mistakes so far.
#[derive(Default)]
pub(super) struct Reading<'t> {
    /// The text of the file; `None` if only its entries are known.
    text: Option<&'t str>,
    /// The starts of the lines.
    lines: Vec<usize>,
    /// The last position that was asked for, with its offset: the next one of a long line is counted from there.
    last: Option<(usize, FilePosition)>,
    pub(super) position: Option<FilePosition>,
    /// The names of the current entry and of those around it.
    path: Vec<String>,
    pub(super) mistakes: Vec<SchemaError>,
}

impl<'t> Reading<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = [0].into_iter().chain(ends.map(|(at, _)| at + 1)).collect();
        Self { text: Some(text), lines, ..Self::default() }
    }

    pub(super) fn has_positions(&self) -> bool {
        self.text.is_some()
    }

    /// The position of a text that the format lent.
    pub(super) fn position_of(&mut self, entry: &FileEntry<'_>) -> Option<FilePosition> {
        let FileEntry::Text(Cow::Borrowed(lent)) = entry else { return None };
        let text = self.text?;
        let offset = lent.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
        let line = self.lines.partition_point(|start| *start <= offset);
        let first = (*self.lines.get(line.checked_sub(1)?)?, FilePosition::new(line, 1));
        let (start, known) =
            self.last.filter(|(last, known)| known.line == line && *last <= offset).unwrap_or(first);
        let position = FilePosition::new(line, known.column + text.get(start..offset)?.chars().count());
        self.last = Some((offset, position));
        Some(position)
    }

    /// The value of an entry. An entry of another kind is a mistake.
    pub(super) fn value<T: FromEntry>(&mut self, name: String, entry: &FileEntry<'_>) -> Option<T> {
        self.path.push(name);
        let around = self.position;
        self.position = self.position_of(entry).or(around);
        let value = T::from_entry(entry, self);
        if value.is_none() {
            // The number of an entry says nothing without its list.
            let named = if self.path.last().is_some_and(|name| name.starts_with("entry")) { 2 } else { 1 };
            let around = self.path.len().saturating_sub(named);
            let name = self.names(around..self.path.len());
            self.report(format!("{name} is {}: write {}", entry.found(), T::words()), around);
        }
        self.position = around;
        self.path.pop();
        value
    }

    /// Reports a mistake in the current table.
    pub(super) fn mistake(&mut self, mistake: String) {
        self.report(mistake, self.path.len());
    }

    /// Reports a mistake at its position, or with the names of this number of entries around it.
    fn report(&mut self, mut mistake: String, around: usize) {
        // The first name is the one of the whole file.
        if self.position.is_none() && around > 1 {
            mistake = format!("{mistake} ({})", self.names(1..around));
        }
        let error = SchemaError::BadEntry { mistake };
        self.mistakes.push(match self.position {
            Some(position) => SchemaError::InFile { position, error: Box::new(error) },
            None => error,
        });
    }

    /// The names of these entries, the innermost first.
    fn names(&self, of: Range<usize>) -> String {
        let names = self.path.get(of).unwrap_or_default();
        names.iter().rev().map(String::as_str).collect::<Vec<_>>().join(" of ")
    }
}
