//! The lines that a person types, or that come from a pipe.

use std::io::{self, BufRead, IsTerminal, Split, StdinLock, Write};

use columnar::BoxError;

use crate::printable;

/// The lines of standard input that are not blank. A terminal shows the typed line itself; the lines of a pipe are
/// printed.
#[derive(Debug)]
pub struct Lines {
    input: Split<StdinLock<'static>>,
    is_typed: bool,
    /// The number of lines so far.
    pub count: usize,
}

impl Lines {
    /// The lines of standard input.
    pub fn from_stdin() -> Self {
        Self { input: io::stdin().lock().split(b'\n'), is_typed: io::stdin().is_terminal(), count: 0 }
    }

    /// The next line; `None` at the end.
    ///
    /// # Errors
    ///
    /// The errors of the input and of the output.
    pub fn next(&mut self, out: &mut impl Write) -> Result<Option<String>, BoxError> {
        loop {
            if self.is_typed {
                // Past the output, whose lines would count what the person types.
                let mut terminal = io::stdout();
                write!(terminal, "\n> ")?;
                terminal.flush()?;
            }
            let Some(line) = self.input.next() else { break };
            let line = line.map_err(|error| format!("stdin: {error}"))?;
            let Ok(line) = String::from_utf8(line) else {
                self.count += 1;
                writeln!(out, "the line is not UTF-8: type it again")?;
                continue;
            };
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            self.count += 1;
            if !self.is_typed {
                writeln!(out, "\n> {}", printable(line))?;
            }
            return Ok(Some(line.to_owned()));
        }
        if self.is_typed {
            writeln!(out)?;
        }
        Ok(None)
    }
}
