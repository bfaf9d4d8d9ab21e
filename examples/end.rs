//! How a program ends.

use std::io;
use std::process::ExitCode;

/// Says what went wrong, if something did. Who reads the output may have seen enough, as in
/// `example | head`, and that is no error.
pub(crate) fn of(result: Result<(), columnar::BoxError>) -> ExitCode {
    match result {
        Err(error) if !is_closed_pipe(&error) => {
            anstream::eprintln!("error: {error}");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

fn is_closed_pipe(error: &columnar::BoxError) -> bool {
    error.downcast_ref().is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_pipe_is_no_error_and_all_else_is() {
        assert!(is_closed_pipe(&io::Error::from(io::ErrorKind::BrokenPipe).into()));
        assert!(!is_closed_pipe(&io::Error::from(io::ErrorKind::NotFound).into()));
        assert!(!is_closed_pipe(&"the pipe is broken".into()));
    }
}
