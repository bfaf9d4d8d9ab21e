//! A position in a file, as errors show it.

use std::fmt;

/// A position in a file. Both numbers are counted from 1, and the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct FilePosition {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl FilePosition {
    pub(crate) const fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

impl fmt::Display for FilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
