//! The entry of a column in a file, so that a mistake is told with its line.

use std::mem;

use super::file_position::FilePosition;
use super::schema_error::SchemaError;

/// The entry of a column in a file. The default is the one of a column that the program declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct FileOrigin {
    pub(crate) position: Option<FilePosition>,
    /// The keys of the entry.
    pub(crate) keys: Vec<(&'static str, FilePosition)>,
    /// The mistakes in the entry itself, with their positions.
    pub(crate) mistakes: Vec<SchemaError>,
}

impl FileOrigin {
    /// Whether this is an entry that names no column.
    pub(crate) fn is_nameless(&self, name: &str) -> bool {
        name.is_empty() && !self.mistakes.is_empty()
    }

    pub(crate) fn key(&self, key: &str) -> Option<FilePosition> {
        self.keys.iter().find(|(known, _)| *known == key).map(|(_, position)| *position)
    }

    /// Tells the positions of these errors of the column.
    pub(crate) fn place(&self, errors: &mut [SchemaError]) {
        for error in errors.iter_mut().filter(|error| error.position().is_none()) {
            let setting = match error {
                SchemaError::BadStep { error, .. } => error.setting(),
                _ => None,
            };
            if let Some(position) = setting.and_then(|setting| self.key(setting)).or(self.position) {
                let inner = Box::new(mem::replace(error, SchemaError::NoSource));
                *error = SchemaError::InFile { position, error: inner };
            }
        }
    }

    /// Drops the errors of a column that its mistakes may have caused: what could not be read seems to be missing.
    pub(crate) fn drop_consequences(&self, errors: &mut Vec<SchemaError>, first: usize) {
        if !self.mistakes.is_empty() {
            let own = errors.split_off(first);
            errors.extend(own.into_iter().filter(|error| !error.is_of_absence()));
        }
    }
}
