//! What the command line asks for.

use std::ffi::OsString;
use std::time::Duration;

pub(crate) const HELP: &str = "\
A thousand messages to a shop, and a few columns that are made of each.

usage: backfill [OPTIONS]

options:
  --rows N       so many messages; 1000 unless told otherwise
  --pace MS      the offline model thinks so long before each word; 1 unless told otherwise
  --interrupt N  drop the run after N values and go on with a second one
  --help         print this

Ctrl-C interrupts at any time. Progress goes to standard error: bars at a terminal,
plain lines now and then elsewhere. The results go to standard output.

environment:
  COLUMNAR_MODEL the model that answers, such as openai/gpt-4o-mini (needs the
                 feature genai); without it an offline stand-in does
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Request {
    Help,
    Run(Options),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) rows: usize,
    pub(crate) pace: Duration,
    /// After how many values the first run is dropped.
    pub(crate) interrupt: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { rows: 1000, pace: Duration::from_millis(1), interrupt: None }
    }
}

impl Options {
    /// Understands the arguments, or tells what is possible.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, String> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        while let Some(argument) = arguments.next() {
            let (flag, attached) = match argument.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            let mut number = || whole_number(flag, attached.clone().or_else(|| arguments.next()));
            match flag {
                "--rows" => options.rows = number()?,
                "--pace" => options.pace = Duration::from_millis(number()? as u64),
                "--interrupt" => options.interrupt = Some(number()?),
                "--help" | "-h" => return Ok(Request::Help),
                _ => return Err(unknown(&argument)),
            }
        }
        Ok(Request::Run(options))
    }
}

fn whole_number(flag: &str, value: Option<String>) -> Result<usize, String> {
    let value = value.ok_or_else(|| format!("{flag} needs a number"))?;
    value.parse().map_err(|_| format!("{flag} needs a number, not `{}`", value.escape_debug()))
}

fn unknown(argument: &str) -> String {
    let argument = argument.escape_debug();
    format!("no option `{argument}`; possible are --rows N, --pace MS, --interrupt N, --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Request, String> {
        Options::parse(arguments.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_come_in_any_order() {
        let wanted = Options { rows: 20, pace: Duration::ZERO, interrupt: Some(5) };
        assert_eq!(parse("--pace=0 --interrupt 5 --rows 20"), Ok(Request::Run(wanted)));
        assert_eq!(parse(""), Ok(Request::Run(Options::default())));
        assert_eq!(parse("--rows 1 --help"), Ok(Request::Help));
    }

    #[test]
    fn what_is_not_understood_is_answered_with_what_is_possible() {
        for (given, answer) in [
            ("--nonesuch", "possible are --rows N"),
            ("a.txt", "no option `a.txt`"),
            ("--rows", "--rows needs a number"),
            ("--pace -1", "not `-1`"),
        ] {
            let error = parse(given).expect_err(given);
            assert!(error.contains(answer), "{given}: {error}");
        }
    }
}
