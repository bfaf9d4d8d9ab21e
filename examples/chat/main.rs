//! A chat with four columns beside the person's: topics, a running summary, a critique of it, and
//! the assistant. It shows a flow declared with `flow!`, the events of a run as they stream, and
//! the messages array that each column saw.
//!
//! ```text
//! cargo run --example chat                    type messages; without a terminal, an included conversation
//! cargo run --example chat -- FILE            a transcript, one message per line
//! some program | cargo run --example chat     the same from a pipe
//! cargo run --example chat -- --help          the options
//! ```
//!
//! The offline model answers unless the environment names another:
//!
//! ```text
//! COLUMNAR_MODEL=openai/gpt-4o-mini cargo run --example chat --features genai
//! ```

#[path = "../answering.rs"]
mod answering;
mod columns;
mod command;
mod failure;
mod line;
mod options;
mod screen;
mod session;
mod transcript;

use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use columnar::prelude::*;

use failure::Failure;
use options::{Options, Request};
use screen::Screen;
use session::Session;
use transcript::Transcript;

flow! {
    /// A chat that tracks topics and keeps a running summary.
    pub struct Chat {
        /// What the person typed.
        source user;

        column topics(user.latest)                  = prompt("Extract the main topics as a comma-separated list.");
        column summary(user, self.latest)           = prompt("Update the running summary with the latest message.");
        column critique(summary.latest.as("digest"), user.latest) = prompt("Identify weak reasoning.");
        column assistant(user, self)                = prompt("You are a helpful assistant.");
    }
}

/// A part of the real one; its first lines say which.
const INCLUDED: &str = include_str!("apollo13.txt");

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match start().await {
        Ok(()) => ExitCode::SUCCESS,
        // Who reads the output has seen enough, as in `chat | head`.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            anstream::eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

async fn start() -> Result<(), Failure> {
    let mut out = anstream::stdout();
    let options = match Options::parse(std::env::args_os().skip(1)).map_err(Failure::Usage)? {
        Request::Help => return Ok(out.write_all(options::HELP.as_bytes())?),
        Request::Chat(options) => options,
    };
    let model = answering::model().map_err(Failure::Model)?;
    let input = options.file.as_deref().map(open).transpose()?;

    writeln!(out, "model: {model}")?;
    let mut session = Session::new(Screen::new(out, screen::width()), options);
    match input {
        Some(file) => session.play(file).await,
        None => from_stdin(&mut session).await,
    }
}

async fn from_stdin<W: Write>(session: &mut Session<W>) -> Result<(), Failure> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        return session.converse(Transcript::new("stdin", stdin), included()).await;
    }
    // A pipe that cannot be read says why when the transcript reads it again.
    if stdin.fill_buf().is_ok_and(<[u8]>::is_empty) {
        return session.play(included()).await;
    }
    session.play(Transcript::new("stdin", stdin)).await
}

fn open(path: &Path) -> Result<Transcript<BufReader<File>>, Failure> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok(Transcript::new(name, BufReader::new(file))),
        Err(error) => Err(Failure::Open { name, error }),
    }
}

fn included() -> Transcript<&'static [u8]> {
    Transcript::new("the included conversation, apollo13.txt", INCLUDED.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_included_conversation_is_sound_and_says_where_it_comes_from() {
        let messages: Vec<_> = included().collect::<Result<_, _>>().expect("it is UTF-8");
        assert_eq!(messages.len(), 23);
        assert!(messages.iter().all(|message| message.contains(": ")));
        assert!(INCLUDED.starts_with("# Apollo 13") && INCLUDED.contains("# Source: NASA"));
    }
}
