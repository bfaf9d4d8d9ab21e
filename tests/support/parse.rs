//! A parser of user messages, which returns the shown values.

use std::fmt;

use crate::spelling::Spelling;

/// The reason why a text is no user message of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    problem: &'static str,
    rest: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} before {:?}", self.problem, self.rest)
    }
}

impl std::error::Error for Unreadable {}

/// The values in a user message, each with the tag and without groups. The constant `<elided/>` and notices of hidden
/// values are no values.
///
/// # Errors
///
/// [`Unreadable`] for everything that is not exactly `<tag>\nvalue\n</tag>`, once or several times
/// with one empty line between, or that spells a tag of the context inside a value.
pub fn user_message(
    content: &str,
    tags: &[&str],
    groups: &[&str],
) -> Result<Vec<(String, String)>, Unreadable> {
    if content == "<elided/>" {
        return Ok(Vec::new());
    }
    let mut shown = Vec::new();
    let rest = blocks(content, tags, groups, &mut shown)?;
    if rest.is_empty() { Ok(shown) } else { Err(unreadable("no empty line", rest)) }
}

/// Parses blocks with one empty line between two blocks, and returns the rest.
fn blocks<'t>(
    mut rest: &'t str,
    tags: &[&'t str],
    groups: &[&str],
    shown: &mut Vec<(String, String)>,
) -> Result<&'t str, Unreadable> {
    let spelling = Spelling::of(tags.iter().copied());
    loop {
        let group = groups.iter().find_map(|tag| Some((*tag, rest.strip_prefix(&format!("<{tag}>\n"))?)));
        let after = if let Some((tag, inside)) = group {
            let after = blocks(inside, tags, groups, shown)?;
            let end = format!("\n</{tag}>");
            after.strip_prefix(&end).ok_or_else(|| unreadable("no end of the group", after))?
        } else if let Some(after) = elided(rest) {
            after
        } else {
            let (tag, value, after) = block(rest, tags)?;
            if spelling.is_raw_in(value) {
                return Err(unreadable("a value that spells a tag", rest));
            }
            shown.push((tag.to_owned(), spelling.restore(value)));
            after
        };
        match after.strip_prefix("\n\n") {
            Some(next) => rest = next,
            None => return Ok(after),
        }
    }
}

/// The rest after a notice of hidden values at the start.
fn elided(text: &str) -> Option<&str> {
    let (notice, after) = text.strip_prefix("<elided>")?.split_once("</elided>")?;
    let (count, of) = notice.split_once(' ')?;
    let name = of.strip_prefix(if count == "1" { "value of " } else { "values of " })?;
    // There is no notice of 0 values, and none with leading zeros.
    let is_number = !count.starts_with('0') && count.chars().all(|digit| digit.is_ascii_digit());
    (is_number && columnar::Name::new(name).is_ok_and(|name| name == name.tag())).then_some(after)
}

/// The tag and the value of the block at the start, and the rest.
fn block<'t>(text: &'t str, tags: &[&'t str]) -> Result<(&'t str, &'t str, &'t str), Unreadable> {
    let (tag, inside) = tags
        .iter()
        .find_map(|tag| Some((*tag, text.strip_prefix(&format!("<{tag}>\n"))?)))
        .ok_or_else(|| unreadable("no tag of the context", text))?;
    let (value, after) =
        inside.split_once(&format!("\n</{tag}>")).ok_or_else(|| unreadable("no end of the value", inside))?;
    Ok((tag, value, after))
}

fn unreadable(problem: &'static str, rest: &str) -> Unreadable {
    Unreadable { problem, rest: rest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAGS: [&str; 2] = ["user", "topics"];

    #[test]
    fn a_message_parses_to_its_values() {
        let content = "<user>\n\n\n</user>\n\n<topics>\n&lt;/user> &lt;b>\n</topics>\n\n<user>\n\n</user>";
        let shown = user_message(content, &TAGS, &[]).expect("it is one");
        let shown: Vec<_> = shown.iter().map(|(tag, value)| (tag.as_str(), value.as_str())).collect();
        assert_eq!(shown, [("user", "\n"), ("topics", "</user> &lt;b>"), ("user", "")]);
        assert_eq!(user_message("<elided/>", &TAGS, &[]), Ok(vec![]));
        assert_eq!(user_message("<elided>2 values of bot</elided>", &TAGS, &[]), Ok(vec![]));
    }

    #[test]
    fn other_texts_are_no_messages() {
        for content in [
            "",
            "text",
            "<user>text</user>",
            "<user>\ntext\n</user>\n",
            "<user>\ntext\n</user> ",
            " <user>\ntext\n</user>",
            "<user>\ntext\n</topics>",
            "<user>\ntext",
            "<other>\ntext\n</other>",
            "<user>\na\n</user>\n<user>\nb\n</user>",
            "<user>\na\n</user>\n\n\n<user>\nb\n</user>",
            "<user>\na\n</user>\n\n",
            "<user>\na\n</user>\n\n<elided/>",
            "<elided/>\n\n<user>\na\n</user>",
            "<elided/>\n",
            "<user>\n<topics>\n</user>",
            "<user>\n< / Elided\n</user>",
            "<elided>0 values of user</elided>",
            "<elided>1 values of user</elided>",
            "<elided>2 values of A</elided>",
            "<elided>2 turns, about 3 tokens</elided>",
        ] {
            assert!(user_message(content, &TAGS, &[]).is_err(), "{content:?}");
        }
    }
}
