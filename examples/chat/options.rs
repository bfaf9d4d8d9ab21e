//! What the command line asks for.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::{ChatColumn, columns};

pub(crate) const HELP: &str = "\
A chat with topics, a running summary, a critique and an assistant, each a column.

usage: chat [OPTIONS] [FILE]

FILE is a transcript in UTF-8, one message per line; blank lines and lines that
begin with # are skipped. Without FILE the messages come from standard input: at
a terminal you type them. If there is nothing, an included conversation is played.

options:
  --messages COLUMN  after each step, print the messages array that COLUMN saw;
                     topics, summary, critique or assistant; may be repeated
  --json             print these arrays as JSON, each on one line of its own
  --steps N          stop after N messages
  --help             print this

environment:
  COLUMNAR_MODEL     the model that answers, such as openai/gpt-4o-mini (needs the
                     feature genai); without it an offline stand-in does
  COLUMNS            the width at which long texts wrap; export it from your shell
  NO_COLOR           no colours
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    Chat(Options),
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) file: Option<PathBuf>,
    /// The columns whose messages are printed after each step.
    pub(crate) messages: Vec<ChatColumn>,
    pub(crate) json: bool,
    pub(crate) steps: Option<usize>,
}

impl Options {
    /// Understands the arguments, or tells what is possible.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, String> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            let (flag, attached) = match text.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (text.as_str(), None),
            };
            let next = || arguments.next().map(|value| value.to_string_lossy().into_owned());
            match (flag, &attached) {
                ("--messages", _) => {
                    let name = attached
                        .or_else(next)
                        .ok_or_else(|| format!("--messages needs a column; {}", columns::possible()))?;
                    options.messages.push(columns::named(&name)?);
                }
                ("--steps", _) => options.steps = Some(steps(attached.or_else(next))?),
                ("--json", None) => options.json = true,
                ("--help" | "-h", None) => return Ok(Request::Help),
                _ if text.starts_with('-') => return Err(unknown(&text)),
                _ if options.file.is_some() => {
                    return Err(format!("one FILE at a time; `{text}` is another"));
                }
                _ => options.file = Some(argument.into()),
            }
        }
        if options.json && options.messages.is_empty() {
            return Err("--json prints what --messages COLUMN asks for, so it needs that too".into());
        }
        Ok(Request::Chat(options))
    }
}

fn steps(value: Option<String>) -> Result<usize, String> {
    let value = value.ok_or("--steps needs a number")?;
    value.parse().map_err(|_| format!("--steps needs a number, not `{}`", value.escape_debug()))
}

fn unknown(argument: &str) -> String {
    let argument = argument.escape_debug();
    format!("no option `{argument}`; possible are FILE, --messages COLUMN, --json, --steps N, --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Request, String> {
        Options::parse(arguments.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_come_in_any_order() {
        let wanted = Options {
            file: Some("a=b.txt".into()),
            messages: vec![ChatColumn::Topics, ChatColumn::Assistant],
            json: true,
            steps: Some(2),
        };
        let given = parse("--messages topics a=b.txt --json --messages=assistant --steps 2");
        assert_eq!(given, Ok(Request::Chat(wanted)));
        assert_eq!(parse(""), Ok(Request::Chat(Options::default())));
        assert_eq!(parse("--steps 1 --help"), Ok(Request::Help));
    }

    #[test]
    fn what_is_not_understood_is_answered_with_what_is_possible() {
        for (given, answer) in [
            ("--nonesuch", "possible are FILE, --messages COLUMN"),
            ("--json=yes", "no option `--json=yes`"),
            ("--messages", "possible are `topics`"),
            ("--messages topic", "possible are `topics`"),
            ("--steps", "needs a number"),
            ("--steps -1", "not `-1`"),
            ("--json", "--messages COLUMN"),
            ("a b", "`b` is another"),
        ] {
            let error = parse(given).expect_err(given);
            assert!(error.contains(answer), "{given}: {error}");
        }
    }
}
