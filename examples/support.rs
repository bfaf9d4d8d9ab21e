//! Helpers of the examples: arguments, standard output, the name of the model, the lines of a person, the documents and
//! the tiers of a request, and the exit code.

mod arguments;
mod lines;
mod shown;
mod tiers;

use std::io::{self, Write};
use std::path::{self, Path};
use std::process::ExitCode;

use columnar::BoxError;
use columnar::model::{self, Offline};
use columnar::terminal::{self, WrapWriter};

pub use arguments::Arguments;
pub use columnar::terminal::printable;
pub use lines::Lines;
pub use shown::{Document, documents};
pub use tiers::{pace, show_marks, show_tiers};

/// The spaces before a line that continues a broken one.
const INDENT: usize = 4;

/// The model that the environment names, for the first line of the output.
///
/// # Errors
///
/// An unknown model, or a model without a key, before any request is sent.
pub fn model() -> Result<String, BoxError> {
    let model = model::from_env()?;
    model.ready()?;
    Ok(describe(model.name()))
}

/// A model's name; the offline model's name explains how to get another one.
pub fn describe(name: &str) -> String {
    match name {
        Offline::NAME => format!("{name}, without intelligence; {} names a real one", model::VARIABLE),
        _ => printable(name),
    }
}

/// Standard output, whose lines break between words at the width of the terminal.
pub fn stdout() -> WrapWriter<impl Write> {
    WrapWriter::new(anstream::stdout(), terminal::width()).indent(INDENT)
}

/// Checks that the folder of a chat is not inside the folder that the chat shows.
///
/// # Errors
///
/// The folder of the chat is inside, so the files of the chat would be documents.
pub fn check_outside(chat: &Path, root: &Path) -> Result<(), BoxError> {
    // The nearest folder that exists: the store makes the others.
    let nearest = path::absolute(chat)?.ancestors().find_map(|folder| folder.canonicalize().ok());
    if nearest.is_some_and(|folder| folder.starts_with(root)) {
        let (chat, root) = (chat.display(), root.display());
        let fault = format!("{chat} is inside {root}, so its files would be documents: choose another");
        return Err(fault.into());
    }
    Ok(())
}

/// Prints an error and returns the exit code. A closed pipe, as in `example | head`, is no error.
pub fn exit_code(result: Result<(), BoxError>) -> ExitCode {
    match result {
        Err(error) if !is_closed_pipe(&error) => {
            let mut out = WrapWriter::new(anstream::stderr(), terminal::width()).indent(INDENT);
            // Where the error cannot be written, the exit code tells of it.
            let _ = writeln!(out, "error: {}", printable(error));
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
