//! Helpers of the examples: arguments, text for a terminal, the name of the model, the lines of a person, the documents and
//! the tiers of a request, and the exit code.

mod arguments;
mod lines;
mod shown;
mod tiers;

use std::fmt::Display;
use std::io;
use std::path::{self, Path};
use std::process::ExitCode;

use columnar::BoxError;
use columnar::model::{self, Offline};

pub use arguments::Arguments;
pub use lines::Lines;
pub use shown::{Document, documents};
pub use tiers::{pace, show_marks, show_tiers};

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

/// A text of a model, a file or a person for output to people. `�` replaces the characters that could control a
/// terminal or turn the direction of the text; line breaks and tabs stay.
///
/// Libraries that strip escape sequences leave the control characters beyond ASCII, the marks of direction and a lone
/// carriage return, so all characters are looked at here. Without the first character an escape sequence is text.
pub fn printable(text: impl Display) -> String {
    let text = text.to_string().replace("\r\n", "\n");
    text.chars().map(|c| if c != '\n' && is_control(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether the character is invisible and changes the text around. A tab, and the joiners inside of words and emoji,
/// are no such characters.
pub fn is_control(c: char) -> bool {
    match c {
        '\t' => false,
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'
        | '\u{feff}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
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
            anstream::eprintln!("error: {}", printable(error));
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

    /// A reply or a file could clear the screen, rename the window or hide a line: all characters were printed
    /// unchanged.
    #[test]
    fn x6_a_text_cannot_control_the_terminal() {
        for (text, shown) in [
            ("one\n\ttwo, äöü 漢字 👩\u{200d}🚀", "one\n\ttwo, äöü 漢字 👩\u{200d}🚀"),
            ("\u{1b}[2J\u{1b}]0;title\u{7}", "\u{fffd}[2J\u{fffd}]0;title\u{fffd}"),
            ("paid\rfree\r\n", "paid\u{fffd}free\n"),
            (
                "\u{9b}31m \u{202e}txt\u{2066}.\u{200b}\u{8}",
                "\u{fffd}31m \u{fffd}txt\u{fffd}.\u{fffd}\u{fffd}",
            ),
        ] {
            assert_eq!(printable(text), shown);
        }
        assert_eq!(describe("openai/\u{1b}c"), "openai/\u{fffd}c");
    }

    #[test]
    fn only_a_closed_pipe_is_no_error() {
        assert!(is_closed_pipe(&io::Error::from(io::ErrorKind::BrokenPipe).into()));
        assert!(!is_closed_pipe(&io::Error::from(io::ErrorKind::NotFound).into()));
        assert!(!is_closed_pipe(&"the pipe is broken".into()));
    }
}
