//! What a person can say at the prompt.

use crate::ChatColumn;
use crate::columns;

pub(crate) const HINT: &str = "\
Type a message and press Enter; an empty line plays an included conversation.
/messages COLUMN shows what a column saw in the last step; /quit or Ctrl-D ends.
";

/// A line of the person, understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command<'l> {
    Say(&'l str),
    PlayIncluded,
    Messages(ChatColumn),
    Help,
    Quit,
}

impl<'l> Command<'l> {
    /// Understands a line, or tells what is possible.
    pub(crate) fn parse(line: &'l str) -> Result<Self, String> {
        let Some(command) = line.trim().strip_prefix('/') else {
            return Ok(if line.trim().is_empty() { Self::PlayIncluded } else { Self::Say(line) });
        };
        let (verb, column) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        match (verb, column.trim()) {
            ("messages", "") => Err(format!("/messages needs a column; {}", columns::possible())),
            ("messages", column) => columns::named(column).map(Self::Messages),
            ("help", "") => Ok(Self::Help),
            ("quit", "") => Ok(Self::Quit),
            _ => Err("no such command; possible are /messages COLUMN, /help and /quit".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_unless_it_begins_with_a_slash() {
        assert_eq!(Command::parse("hello /quit"), Ok(Command::Say("hello /quit")));
        assert_eq!(Command::parse("  "), Ok(Command::PlayIncluded));
        assert_eq!(Command::parse("/quit "), Ok(Command::Quit));
        assert_eq!(Command::parse("/help"), Ok(Command::Help));
        assert_eq!(Command::parse("/messages  topics"), Ok(Command::Messages(ChatColumn::Topics)));
    }

    #[test]
    fn what_is_not_understood_is_answered_with_what_is_possible() {
        for line in ["/messages", "/messages nonesuch", "/messages topics summary"] {
            assert!(Command::parse(line).expect_err(line).contains("`topics`, `summary`"), "{line}");
        }
        assert!(Command::parse("/exit").expect_err("unknown").ends_with("/help and /quit"));
    }
}
