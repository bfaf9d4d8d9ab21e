//! A chat with four computed columns: topics, a running summary, a critique of it, and the assistant.
//!
//! ```text
//! cargo run --example chat                               type messages; Ctrl-D alone plays an included conversation
//! cargo run --example chat -- FILE                       a transcript, one message per line
//! cargo run --example chat -- --messages critique FILE   and the messages array that a column received
//! ```

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use columnar::BoxError;
use columnar::prelude::*;
use columnar::terminal::{ValueStream, WrapWriter};
use columnar_examples::{exit_code, printable};

flow! {
    /// A chat that tracks topics and keeps a running summary.
    pub struct Chat {
        /// What the person typed.
        source user;

        column topics(user.latest)        = prompt("Extract the main topics as a comma-separated list.");
        column summary(user, self.latest) = prompt("Update the running summary with the latest message.");
        column critique(summary.latest.as("digest"), user.latest) = prompt("Identify weak reasoning.");
        column assistant(user, self)      = prompt("You are a helpful assistant.");
    }
}

const HELP: &str = "\
usage: chat [--messages COLUMN] [FILE]
FILE has one message per line; blank lines and lines that begin with # are skipped. Without FILE, messages
are read from standard input. If there are none, an included conversation is played.

--messages COLUMN prints the messages array that COLUMN received, after each step; it may be repeated.
COLUMNAR_MODEL names the model, such as openai/gpt-5.4-mini (with `--features providers`); the default is offline.
";

/// A part of a real conversation. The first lines name the source.
const INCLUDED: &str = include_str!("apollo13.txt");

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(columnar_examples::stdout()).await)
}

async fn start(mut out: WrapWriter<impl Write>) -> Result<(), BoxError> {
    let Some(options) = Options::parse(std::env::args_os().skip(1))? else {
        return Ok(out.write_all(HELP.as_bytes())?);
    };
    writeln!(out, "model: {}", columnar_examples::model()?)?;
    let mut session = Session { chat: Chat::new(), out, messages: options.messages };
    if let Some(path) = options.file {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| format!("cannot open {name}: {error}"))?;
        return session.play(&name, BufReader::new(file)).await;
    }
    if io::stdin().is_terminal() {
        writeln!(session.out, "Ctrl-D ends the chat; alone, it plays an included conversation.")?;
    }
    session.play("stdin", io::stdin().lock()).await?;
    if session.chat.user.is_empty() {
        writeln!(session.out, "input: the included conversation, apollo13.txt")?;
        session.play("apollo13.txt", INCLUDED.as_bytes()).await?;
    }
    Ok(())
}

/// A chat, the output, and the columns whose messages arrays are printed.
pub(crate) struct Session<W: Write> {
    pub(crate) chat: Chat,
    pub(crate) out: WrapWriter<W>,
    pub(crate) messages: Vec<&'static str>,
}

impl<W: Write> Session<W> {
    /// Pushes each line as a message and prints its step.
    pub(crate) async fn play(&mut self, name: &str, input: impl BufRead) -> Result<(), BoxError> {
        let is_typed = name == "stdin" && io::stdin().is_terminal();
        let mut lines = (1..).zip(input.lines());
        loop {
            let label = label(&format!("user {}", self.chat.user.len()), Style::new().bold());
            if is_typed {
                // Past the output, whose lines would count what the person types.
                anstream::print!("\n{label}");
                // Standard output is flushed at a line break, and the label has none.
                io::stdout().flush()?;
            }
            let Some((number, line)) = lines.next() else { break };
            let line = line.map_err(|error| format!("{name}, line {number}: {error}"))?;
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            // A terminal shows the typed line itself.
            if !is_typed {
                writeln!(self.out)?;
                block(&mut self.out, &label, &line)?;
            }
            self.step(line).await?;
        }
        if is_typed {
            writeln!(self.out)?;
        }
        Ok(())
    }

    async fn step(&mut self, message: String) -> Result<(), BoxError> {
        let step = self.chat.user.push(message).await?;
        let mut run = self.chat.run();
        let label_of = |column: &ChatColumn, step| label(&format!("{column} {step}"), style(*column));
        let mut values = ValueStream::new().label(label_of);
        while let Some(event) = run.next().await {
            // The pieces of a cell may be printed already when the cell fails, and none of the pieces is stored.
            if event.is_err() {
                write!(self.out, " … (not stored)")?;
                self.out.end_block()?;
            }
            values.show(&mut self.out, &event?)?;
        }
        for column in &self.messages {
            writeln!(self.out, "{column} {step} received:")?;
            for (role, content) in &self.chat.messages(column, step)? {
                block(&mut self.out, &label(role.as_str(), Style::new().dimmed()), &content)?;
            }
        }
        Ok(())
    }
}

/// Prints a text beside a label.
fn block(out: &mut WrapWriter<impl Write>, label: &str, text: &str) -> io::Result<()> {
    out.begin_block(label)?;
    write!(out, "{}", printable(text))?;
    out.end_block()
}

pub(crate) fn style(column: ChatColumn) -> Style {
    match column {
        ChatColumn::Topics => AnsiColor::Yellow.on_default(),
        ChatColumn::Summary => AnsiColor::Blue.on_default(),
        ChatColumn::Critique => AnsiColor::Magenta.on_default(),
        ChatColumn::Assistant => AnsiColor::Green.on_default(),
    }
}

pub(crate) fn label(name: &str, style: Style) -> String {
    format!("{style}{name:<12} │{style:#} ")
}

#[derive(Default)]
struct Options {
    messages: Vec<&'static str>,
    file: Option<PathBuf>,
}

impl Options {
    /// `None` asks for help.
    fn parse(mut arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--help") => return Ok(None),
                Some("--messages") => options.messages.push(column(&arguments.next().unwrap_or_default())?),
                Some(option) if option.starts_with('-') => {
                    return Err(format!(
                        "no option `{option}`; possible are FILE, --messages COLUMN, --help"
                    ));
                }
                _ if options.file.is_some() => return Err("there can be one FILE only".into()),
                _ => options.file = Some(argument.into()),
            }
        }
        Ok(Some(options))
    }
}

fn column(name: &OsStr) -> Result<&'static str, String> {
    let columns: Vec<_> = Chat::ORDER.iter().copied().filter(|column| *column != "user").collect();
    let found = columns.iter().copied().find(|column| *column == name);
    found.ok_or_else(|| format!("no column `{}`; possible are {}", name.display(), columns.join(", ")))
}

#[cfg(test)]
mod tests {
    use columnar::model::Offline;

    use super::*;

    /// The chat over some lines, and the output at a width.
    async fn played(lines: &[u8], width: Option<usize>) -> (Chat, String, Result<(), BoxError>) {
        let mut out = anstream::StripStream::new(Vec::new());
        let (chat, played) = {
            let chat = Chat::new();
            chat.set_model(Offline::new());
            let messages = vec!["critique", "assistant"];
            let mut session = Session { chat, out: WrapWriter::new(&mut out, width), messages };
            let played = session.play("a.txt", lines).await;
            (session.chat, played)
        };
        (chat, String::from_utf8(out.into_inner()).expect("text was written"), played)
    }

    #[tokio::test]
    async fn every_message_is_a_step_and_a_broken_line_is_named() {
        let lines = [INCLUDED.as_bytes(), b"# a\n\n\x1b1\r\nthr\xe9e\n"].concat();
        let (chat, text, played) = played(&lines, None).await;
        assert_eq!(chat.steps(), 24);
        let error = played.expect_err("the last line").to_string();
        let count = lines.split(|byte| *byte == b'\n').count() - 1;
        assert!(error.starts_with(&format!("a.txt, line {count}: ")), "{error}");
        for line in ["user 23      │ \\u{1b}1", "critique 23 received:", "user         │ <digest>"] {
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
    }

    /// A typed tag gave the topic `lt`, from the entity in place of the bracket, and long lines lost the gutter.
    #[tokio::test]
    async fn a_typed_tag_is_no_topic_and_long_lines_keep_the_gutter() {
        for width in [80, 120] {
            let typed = format!("</user>\n{}\n", "Everybody should rewrite the backend in Rust, ".repeat(9));
            let (chat, text, played) = played(typed.as_bytes(), Some(width)).await;
            played.expect("it is UTF-8");
            assert_eq!(chat.topics.get(0).as_deref(), Some("user"));
            let lines: Vec<&str> = text.lines().filter(|line| line.contains('│')).collect();
            assert!(
                lines.len() > 30 && lines.iter().any(|line| line.starts_with("             │ ")),
                "{text}"
            );
            assert!(
                lines.iter().all(|line| line.chars().count() <= width && line.find('│') == Some(13)),
                "{text}"
            );
            assert!(text.lines().all(|line| line.contains('│') || !line.contains("backend")), "{text}");
        }
    }
}
