//! The command line and the reports.

use std::ffi::OsString;
use std::io::Write;
use std::time::Duration;

use columnar::BoxError;

use crate::Shop;

pub(crate) const HELP: &str = "\
A thousand messages to a shop, and four columns that are computed from them.

usage: backfill [OPTIONS]

options:
  --rows N       the number of messages; the default is 1000
  --pace MS      the pause of the offline model before each word; the default is 1
  --interrupt N  drop the run after N values and continue with a second one
  --help         print this

Ctrl-C interrupts at any time. Progress goes to standard error: bars at a terminal,
a line every five seconds elsewhere. The results go to standard output.

environment:
  COLUMNAR_MODEL the model, such as openai/gpt-5.4-mini (needs the feature providers);
                 the default is an offline stand-in
";

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Help,
    Run(Options),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) rows: usize,
    pub(crate) pace: Duration,
    /// The number of values after which the first run is dropped.
    pub(crate) interrupt: Option<usize>,
}

impl Default for Options {
    fn default() -> Self {
        Self { rows: 1000, pace: Duration::from_millis(1), interrupt: None }
    }
}

impl Options {
    /// Parses the arguments; an error lists the possible ones.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, String> {
        let mut options = Self::default();
        let mut arguments = arguments.into_iter().map(|argument| argument.to_string_lossy().into_owned());
        while let Some(argument) = arguments.next() {
            let (flag, attached) = match argument.split_once('=') {
                Some((flag, value)) => (flag, Some(value.to_owned())),
                None => (argument.as_str(), None),
            };
            // Lazily, because only some options take the next argument as a value.
            let mut number = || whole_number(flag, attached.clone().or_else(|| arguments.next()));
            match flag {
                "--rows" => options.rows = number()?,
                "--pace" => options.pace = Duration::from_millis(number()? as u64),
                "--interrupt" => options.interrupt = Some(number()?),
                "--help" | "-h" => return Ok(Command::Help),
                _ => return Err(unknown(&argument)),
            }
        }
        Ok(Command::Run(options))
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

/// The number of rows that are printed.
const PRINTED: usize = 8;

/// The state after an interruption.
pub(crate) fn interrupted(inbox: &Shop, calls: usize) -> String {
    let (progress, missing) = (inbox.progress(), inbox.forecast());
    format!(
        "\nInterrupted. {} values are stored, and none of them is computed again.\n\
         {progress}; {calls} calls were made.\n\
         The next run computes {} cells: {} calls, with those that were cut off.\n\
         (Values are in memory, so the next run must be one of this process.)\n",
        progress.done, missing.cells, missing.calls,
    )
}

/// The first rows, and the number of complete steps.
pub(crate) fn results(out: &mut impl Write, inbox: &Shop) -> Result<(), BoxError> {
    writeln!(out, "{}", inbox.table().steps(..PRINTED))?;
    writeln!(out, "… {} steps are complete", inbox.steps())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &str) -> Result<Command, String> {
        Options::parse(arguments.split_whitespace().map(OsString::from))
    }

    #[test]
    fn options_come_in_any_order() {
        let expected = Options { rows: 20, pace: Duration::ZERO, interrupt: Some(5) };
        assert_eq!(parse("--pace=0 --interrupt 5 --rows 20"), Ok(Command::Run(expected)));
        assert_eq!(parse(""), Ok(Command::Run(Options::default())));
        assert_eq!(parse("--rows 1 --help"), Ok(Command::Help));
    }

    #[test]
    fn the_error_for_a_wrong_option_lists_the_possible_ones() {
        for (option, answer) in [
            ("--nonesuch", "possible are --rows N"),
            ("a.txt", "no option `a.txt`"),
            ("--rows", "--rows needs a number"),
            ("--pace -1", "not `-1`"),
        ] {
            let error = parse(option).expect_err(option);
            assert!(error.contains(answer), "{option}: {error}");
        }
    }
}
