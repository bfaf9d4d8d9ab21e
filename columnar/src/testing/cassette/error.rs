//! The errors of a cassette.

use std::io;
use std::path::{Path, PathBuf};

use crate::declare::error::shown;
use crate::model::Refused;

/// The reason why a request has no reply. The error of a missing recording quotes both requests, since the reader is
/// the author of the test.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum CassetteError {
    #[error("there is no cassette `{}`; `COLUMNAR_RECORD=missing` records one", shown(path))]
    NoFile { path: PathBuf, source: Refused },
    // The reason is a text: each request gets a clone of the error, and `io::Error` has no clone.
    #[error("the cassette `{}` cannot be read or written: {reason}", shown(path))]
    Io { path: PathBuf, reason: String },
    #[error(
        "the cassette `{}` is damaged: {reason}; take it from version control, or record it again with `COLUMNAR_RECORD=all`",
        shown(path)
    )]
    Damaged { path: PathBuf, reason: String },
    #[error(
        "the cassette `{}` is damaged: it holds two recordings of the same request; put their replies into one",
        shown(path)
    )]
    Duplicate { path: PathBuf },
    #[error(
        "the cassette `{}` is of version {found}, and this library reads versions up to {known}: record it again with `COLUMNAR_RECORD=all`",
        shown(path)
    )]
    Version { path: PathBuf, found: u64, known: u64 },
    #[error(
        "the cassette `{}` was changed by another writer while it was recorded: share one `Cassette`, or use a file for each",
        shown(path)
    )]
    Changed { path: PathBuf },
    #[error(
        "the cassette `{}` holds recordings of {models}: choose one of them with `Cassette::by_name`",
        shown(path)
    )]
    Ambiguous { path: PathBuf, models: String },
    #[error("`COLUMNAR_RECORD` is {found:?}; possible are `missing` and `all`")]
    UnknownRecord { found: String },
    #[error("there is no model to record from: {reason}")]
    NoModel { reason: String },
    #[error("the cassette `{}` holds no reply {description}\n{hint}", shown(path))]
    Unrecorded { path: PathBuf, description: String, hint: &'static str, source: Refused },
}

impl CassetteError {
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io { path: path.to_owned(), reason: error.to_string() }
    }
}
