//! Standard output and standard error, whose texts control no terminal.

use std::error::Error;
use std::io::{self, IsTerminal, Write};
use std::iter;

use columnar::terminal::printable;

/// Standard output.
pub(crate) struct Output {
    out: io::StdoutLock<'static>,
    is_terminal: bool,
}

impl Output {
    pub(crate) fn new() -> Self {
        let out = io::stdout();
        Self { is_terminal: out.is_terminal(), out: out.lock() }
    }

    /// Prints a line, whose texts are escaped where they would control a terminal.
    pub(crate) fn line(&mut self, line: impl std::fmt::Display) -> io::Result<()> {
        writeln!(self.out, "{}", printable(line))
    }

    /// Prints a stored text, byte for byte for a file or another program.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        if self.is_terminal {
            return self.line(text.trim_end_matches('\n'));
        }
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }
}

/// A program reads lines as they were written, and a terminal shows them as they are.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_terminal {
            let text = String::from_utf8_lossy(bytes);
            self.out.write_all(printable(text).as_bytes())?;
            return Ok(bytes.len());
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Prints an error with its causes.
pub(crate) fn complain(error: &(dyn Error + 'static)) {
    let mut message = error.to_string();
    for cause in chain(error).skip(1) {
        let text = cause.to_string();
        // Most errors have the text of their cause.
        if !message.contains(&text) {
            message = format!("{message}: {text}");
        }
    }
    // Nobody is there to hear of it if this fails.
    let _ = writeln!(io::stderr(), "columnar: {}", printable(message));
}

/// Whether the reader of the output is gone.
pub(crate) fn is_closed_pipe(error: &(dyn Error + 'static)) -> bool {
    let mut errors = chain(error).filter_map(|error| error.downcast_ref::<io::Error>());
    errors.any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The error and its causes.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    iter::successors(Some(error), |error: &&'e (dyn Error + 'static)| (*error).source())
}
