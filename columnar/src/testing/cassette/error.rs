//! The errors of a cassette.

use std::fmt::Display;
use std::io;
use std::path::Path;

use crate::declare::error::shown;
use crate::model::Refused;

/// The reason why a request has no reply. Each request gets a clone. The error of a missing recording quotes both requests,
/// since the reader is the author of the test.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct CassetteError {
    message: String,
    /// Set where another attempt would fail in the same way.
    source: Option<Refused>,
}

impl CassetteError {
    pub(super) fn new(message: String) -> Self {
        Self { message, source: None }
    }

    /// An error of the cassette in a file.
    pub(super) fn of(path: &Path, reason: impl Display) -> Self {
        Self::new(format!("the cassette `{}` {reason}", shown(path)))
    }

    pub(super) fn io(path: &Path, error: &io::Error) -> Self {
        Self::of(path, format_args!("cannot be read or written: {error}"))
    }

    pub(super) fn no_model(reason: &str) -> Self {
        Self::new(format!("there is no model to record from: {reason}"))
    }

    pub(super) fn refused(self) -> Self {
        Self { source: Some(Refused), ..self }
    }
}
