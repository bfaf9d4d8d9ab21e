//! Helpers of the examples: the name of the model, and the exit code.

use std::io;
use std::process::ExitCode;

use columnar::BoxError;
use columnar::model::{self, Offline};

/// The model that the environment names, for the first line of the output.
///
/// # Errors
///
/// An unknown model, or one without its key, before any request is sent.
pub fn model() -> Result<String, BoxError> {
    let model = model::from_env()?;
    model.ready()?;
    Ok(describe(model.name()))
}

/// A model's name; the offline model's name explains how to get another one.
pub fn describe(name: &str) -> String {
    match name {
        Offline::NAME => format!("{name}, without intelligence; {} names a real one", model::VARIABLE),
        _ => name.to_owned(),
    }
}

/// Prints an error and returns the exit code. A closed pipe, as in `example | head`, is no error.
pub fn exit_code(result: Result<(), BoxError>) -> ExitCode {
    match result {
        Err(error) if !is_closed_pipe(&error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn is_closed_pipe(error: &BoxError) -> bool {
    error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_pipe_is_no_error() {
        assert!(is_closed_pipe(&io::Error::from(io::ErrorKind::BrokenPipe).into()));
        assert!(!is_closed_pipe(&io::Error::from(io::ErrorKind::NotFound).into()));
        assert!(!is_closed_pipe(&"the pipe is broken".into()));
    }
}
