//! Why the program ends early.

use std::fmt;
use std::io;

use crate::transcript::Unreadable;

#[derive(Debug)]
pub(crate) enum Failure {
    Usage(String),
    Model(columnar::BoxError),
    Open { name: String, error: io::Error },
    Input(Unreadable),
    Run(columnar::Error),
    Output(io::Error),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(problem) => write!(f, "{problem}"),
            Self::Model(error) => write!(f, "{error}"),
            Self::Open { name, error } => write!(f, "cannot open {name}: {error}"),
            Self::Input(error) => write!(f, "{error}"),
            Self::Run(error) => write!(f, "{error}"),
            Self::Output(error) => write!(f, "cannot write: {error}"),
        }
    }
}

impl From<Unreadable> for Failure {
    fn from(error: Unreadable) -> Self {
        Self::Input(error)
    }
}

impl From<columnar::Error> for Failure {
    fn from(error: columnar::Error) -> Self {
        Self::Run(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
