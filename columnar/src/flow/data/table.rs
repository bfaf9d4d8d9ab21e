//! Structs that are read from tables of data. This code replaces serde's derive, because all mistakes of a file are told at
//! once, with their positions, in words that need no knowledge of Rust.

use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, Error};

use super::entry::{FileEntry, FromEntry, Reading};
use crate::declare::FileOrigin;
use crate::declare::error::{excerpt, lines, list, nearest};

/// A struct whose fields are the keys of a table.
pub(super) trait DataTable: Default {
    const KEYS: &'static [&'static str];
    /// A key that each table has. It names a column, and the table keeps the mistakes in it.
    const REQUIRED: Option<&'static str> = None;

    /// Reads the value of a known key.
    fn set(&mut self, key: &str, entry: &FileEntry<'_>, reading: &mut Reading<'_>);

    fn file_mut(&mut self) -> &mut InData;

    /// The table for which a text is short.
    fn of_text(_: String) -> Option<Self> {
        None
    }

    /// The table for which a number is short.
    fn of_number(_: usize) -> Option<Self> {
        None
    }
}

/// The place of a table in a file. Two tables with the same keys are equal, wherever they are.
#[derive(Clone, Debug, Default)]
pub(super) struct InData(pub(super) Arc<FileOrigin>);

impl PartialEq for InData {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Declares a struct that is read from a table and written as a table. A field with the default value is not written.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $Table:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $Type:ty,)*
        }
        $(required: $required:literal;)?
        $(text: |$text:ident| $of_text:expr;)?
        $(number: |$number:ident| $of_number:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $Table {
            $($(#[$field_meta])* pub $field: $Type,)*
            file: $crate::data::table::InData,
        }

        impl $crate::data::table::DataTable for $Table {
            const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];
            $(const REQUIRED: Option<&'static str> = Some($required);)?

            fn set(
                &mut self,
                key: &str,
                entry: &$crate::data::entry::FileEntry<'_>,
                reading: &mut $crate::data::entry::Reading<'_>,
            ) {
                match key {
                    $(stringify!($field) => {
                        if let Some(value) = reading.value(format!("`{key}`"), entry) {
                            self.$field = value;
                        }
                    })*
                    _ => unreachable!("the reader passes known keys alone"),
                }
            }

            fn file_mut(&mut self) -> &mut $crate::data::table::InData {
                &mut self.file
            }

            $(fn of_text($text: String) -> Option<Self> {
                Some($of_text)
            })?

            $(fn of_number($number: usize) -> Option<Self> {
                Some($of_number)
            })?
        }

        impl<'de> serde::Deserialize<'de> for $Table {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::data::table::deserialize(deserializer)
            }
        }

        impl serde::Serialize for $Table {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $(if self.$field != <$Type>::default() {
                    map.serialize_entry(stringify!($field), &self.$field)?;
                })*
                map.end()
            }
        }
    };
}

pub(super) use table;

/// Reads a table from a format that tells no positions.
pub(super) fn deserialize<'de, T: FromEntry + Default, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let entry = FileEntry::deserialize(deserializer)?;
    let mut reading = Reading::default();
    let table = reading.value("the declaration".to_owned(), &entry).unwrap_or_default();
    if reading.mistakes.is_empty() { Ok(table) } else { Err(D::Error::custom(lines(&reading.mistakes))) }
}

impl<T: DataTable> FromEntry for T {
    fn words() -> String {
        let short = match (T::of_text(String::new()), T::of_number(0)) {
            (Some(_), _) => "a text, or ",
            (_, Some(_)) => "a whole number above 0, or ",
            _ => "",
        };
        format!("{short}a table with the keys {}", list(T::KEYS))
    }

    fn from_entry(entry: &FileEntry<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        match entry {
            FileEntry::Table(entries) => Some(table_of(entries, reading)),
            FileEntry::Text(text) => {
                let mut table = T::of_text(text.as_ref().to_owned())?;
                *table.file_mut() =
                    InData(Arc::new(FileOrigin { position: reading.position, ..FileOrigin::default() }));
                Some(table)
            }
            FileEntry::Whole(number) => T::of_number(usize::try_from(*number).ok()?),
            _ => None,
        }
    }
}

/// Reads a table key by key. A key that is wrong has the default value.
fn table_of<T: DataTable>(entries: &[(FileEntry<'_>, FileEntry<'_>)], reading: &mut Reading<'_>) -> T {
    let known = reading.mistakes.len();
    let around = reading.position;
    let mut table = T::default();
    let mut keys = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (written, value) in entries {
        let text = written.key();
        reading.position = reading.position_of(written).or(around);
        match T::KEYS.iter().find(|key| **key == text) {
            None => reading.mistake(unknown_key(&text, T::KEYS)),
            Some(key) if seen.contains(key) => {
                reading.mistake(format!("`{key}` is there twice: drop one of the two"));
            }
            Some(key) => {
                seen.push(key);
                keys.extend(reading.position.map(|position| (*key, position)));
                table.set(key, value, reading);
            }
        }
    }
    let required = keys.iter().find(|(key, _)| Some(*key) == T::REQUIRED);
    let position = required
        .or(keys.iter().min_by_key(|(_, position)| *position))
        .map(|(_, position)| *position)
        .or(around);
    reading.position = position;
    if let Some(missing) = T::REQUIRED.filter(|required| !seen.contains(required)) {
        reading.mistake(format!("the key `{missing}` is missing"));
    }
    reading.position = around;
    let keeps_mistakes = reading.has_positions() && T::REQUIRED.is_some();
    let mistakes = if keeps_mistakes { reading.mistakes.split_off(known) } else { Vec::new() };
    *table.file_mut() = InData(Arc::new(FileOrigin { position, keys, mistakes }));
    table
}

fn unknown_key(key: &str, known: &[&str]) -> String {
    match nearest(key, known) {
        Some(near) => format!("unknown key {}; did you mean `{near}`?", excerpt(key)),
        None => format!("unknown key {}; possible are {}", excerpt(key), list(known)),
    }
}
