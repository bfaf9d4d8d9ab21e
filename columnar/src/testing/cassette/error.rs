//! What goes wrong with a cassette.

use std::io;
use std::path::{Path, PathBuf};

use crate::model::Refused;

/// Why a request is not answered. Where a recording is missing it shows text of both requests: it is written for a
/// test, of which both are a part.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("there is no cassette `{}`; `COLUMNAR_RECORD=missing` records one", path.display())]
    Absent { path: PathBuf, source: Refused },
    #[error("the cassette `{}` cannot be read or written: {what}", path.display())]
    Io { path: PathBuf, what: String },
    #[error(
        "the cassette `{}` is damaged: {what}; take it from version control, or record it anew with `COLUMNAR_RECORD=all`",
        path.display()
    )]
    Damaged { path: PathBuf, what: String },
    #[error(
        "the cassette `{}` is damaged: it holds two recordings of the same request; put their replies into one",
        path.display()
    )]
    Twice { path: PathBuf },
    #[error(
        "the cassette `{}` is of version {found}, and this library reads version {known}: record it anew with `COLUMNAR_RECORD=all`",
        path.display()
    )]
    Version { path: PathBuf, found: u64, known: u64 },
    #[error(
        "the cassette `{}` was changed by somebody else while it was recorded: let all who record into it share one `Cassette`, or give each a file",
        path.display()
    )]
    Changed { path: PathBuf },
    #[error(
        "the cassette `{}` holds recordings of {models}: say which of them is asked, with `Cassette::of`",
        path.display()
    )]
    Ambiguous { path: PathBuf, models: String },
    #[error("`COLUMNAR_RECORD` is {found:?}; possible are `missing` and `all`")]
    UnknownRecord { found: String },
    #[error("there is no model to record from: {what}")]
    NoModel { what: String },
    #[error("the cassette `{}` holds no reply {text}\n{way_out}", path.display())]
    Missed { path: PathBuf, text: String, way_out: &'static str, source: Refused },
}

impl Fault {
    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self::Io { path: path.to_owned(), what: error.to_string() }
    }
}
