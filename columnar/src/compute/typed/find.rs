//! Finds the JSON in a complete reply.
//!
//! Models without structured output put thoughts, a fence or sentences around the JSON. The following is tried in this
//! order: the reply as a whole, the fence whose content matches the type, and the list or object that matches. Two
//! different ones are refused. Each byte is parsed a fixed number of times, in any reply.

use std::borrow::Cow;

use memchr::memchr2;
use serde::de::IgnoredAny;
use serde_json::{Deserializer, Error, Value as Json, from_str};

use super::column_type::{MismatchKind, TypeSpec};
use crate::compute::thoughts::{CLOSING, OPENING};

/// The reason why a reply has no value: the kind, and for the model the words of the parser, which may quote the reply.
#[derive(Debug)]
pub(super) struct Unread {
    pub(super) kind: MismatchKind,
    pub(super) detail: Option<String>,
}

impl From<Error> for Unread {
    fn from(error: Error) -> Self {
        Self { kind: MismatchKind::of(&error), detail: Some(error.to_string()) }
    }
}

impl From<MismatchKind> for Unread {
    fn from(kind: MismatchKind) -> Self {
        Self { kind, detail: None }
    }
}

/// The JSON of the type in a reply.
pub(super) fn find<'r>(reply: &'r str, spec: &TypeSpec) -> Result<Cow<'r, str>, Unread> {
    let text = without_thoughts(reply).trim();
    let error = match (spec.check)(text) {
        Ok(()) => return Ok(text.into()),
        Err(error) => error,
    };
    let mut fenced = fences(text).filter_map(|text| read(text, spec));
    if let Some(value) = word(text, spec).or_else(|| fenced.next()) {
        return if fenced.all(|other| other == value) {
            Ok(value)
        } else {
            Err(MismatchKind::SeveralValues.into())
        };
    }
    // Other JSON than a list or an object, such as a string with brackets.
    if from_str::<IgnoredAny>(text).is_ok() {
        return Err(error.into());
    }
    if let Some(found) = in_prose(text, spec) {
        return found.map(Cow::from);
    }
    let mut values = Deserializer::from_str(text).into_iter::<IgnoredAny>();
    Err(match values.next() {
        Some(Ok(_)) => MismatchKind::SeveralValues.into(),
        Some(Err(end)) if end.is_eof() => error.into(),
        _ => MismatchKind::NoJson.into(),
    })
}

fn without_thoughts(reply: &str) -> &str {
    let thoughts = reply.trim_start().strip_prefix(OPENING);
    thoughts.map_or(reply, |thoughts| thoughts.split_once(CLOSING).map_or("", |(_, rest)| rest))
}

/// A text that is JSON of the type, or a bare word of the type.
fn read<'r>(text: &'r str, spec: &TypeSpec) -> Option<Cow<'r, str>> {
    (spec.check)(text).is_ok().then_some(text.into()).or_else(|| word(text, spec))
}

/// A text without quotes, if the type has such a string but not any string: a variant of an enum, or a date.
fn word<'r>(text: &str, spec: &TypeSpec) -> Option<Cow<'r, str>> {
    let quoted = Json::from(text).to_string();
    ((spec.check)(&quoted).is_ok() && (spec.check)("\"\\u0000\"").is_err()).then_some(quoted.into())
}

/// The contents of all fences that are closed. A line of valid JSON never begins a fence.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    let mut begin = None;
    let mut end = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let start = end;
        end += line.len();
        let line = line.trim();
        match begin {
            None if line.starts_with("```") => begin = Some(end),
            Some(from) if line.starts_with("```") && line.bytes().all(|byte| byte == b'`') => {
                begin = None;
                return text.get(from..start).map(str::trim);
            }
            _ => {}
        }
        None
    })
}

/// The only list or object that matches the type, or the error of the list or object that is nearest to the type;
/// `None` without any.
fn in_prose<'r>(text: &'r str, spec: &TypeSpec) -> Option<Result<&'r str, Unread>> {
    let mut value = None;
    let mut mismatch = None;
    let mut broken = None;
    let mut position = 0;
    while let Some(found) = memchr2(b'{', b'[', text.as_bytes().get(position..)?) {
        let rest = text.get(position + found..)?;
        let mut values = Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        let parsed = values.next()?;
        let json = parsed.is_ok().then(|| rest.get(..values.byte_offset())).flatten();
        // No bracket before the end of an error is tried: that bracket is inside of what failed, perhaps in a string.
        position +=
            found + json.map_or_else(|| parsed.err().map_or(1, |error| end_of(&error, rest)), str::len);
        if !rest.starts_with(|opening| spec.openings.contains(opening)) {
            continue;
        }
        match json.map(|json| (json, (spec.check)(json))) {
            Some((json, Ok(()))) if value.is_none_or(|value| value == json) => value = Some(json),
            Some((_, Err(error))) if mismatch.is_none() => mismatch = Some(Unread::from(error)),
            // Two that match, or two that do not.
            Some((_, Ok(()))) => return Some(Err(MismatchKind::SeveralValues.into())),
            Some(_) => mismatch = Some(MismatchKind::SeveralValues.into()),
            None => broken = broken.or_else(|| (spec.check)(rest).err().map(Unread::from)),
        }
    }
    value.map(Ok).or_else(|| mismatch.or(broken).map(Err))
}

/// The byte at which an error was found, at least one.
fn end_of(error: &Error, text: &str) -> usize {
    let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
    let end = lines.map(str::len).sum::<usize>() + error.column();
    // The byte that was not expected may begin JSON.
    end.saturating_sub(1).max(1)
}

#[cfg(test)]
mod tests {
    #![allow(dead_code, reason = "the fields are only deserialized")]

    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::compute::ColumnType;

    #[derive(Deserialize, JsonSchema)]
    struct Score {
        stars: u8,
    }

    #[derive(Deserialize, JsonSchema)]
    enum Mood {
        Positive,
        #[serde(rename = "so so")]
        Mixed,
    }

    /// The value in a reply, or the kind of the error.
    fn value<T: ColumnType>(reply: &str) -> Result<String, MismatchKind> {
        find(reply, &TypeSpec::of::<T>()).map(Cow::into_owned).map_err(|unread| unread.kind)
    }

    const FOUR: &str = "{\"stars\":4}";

    #[test]
    fn json_is_found_in_thoughts_fences_and_sentences() {
        // Each of these replies was refused, because of brackets outside of the JSON.
        for reply in [
            "{J}\n\nNote [1]: see {x}",
            "As [1] says: {J}",
            "By the interval [0, 1) it is {J}, {really}.",
            "Score {stars}:\n\n```json\n{J}\n```\n\nSee [2] and {\"stars\":5}",
            "```\n{J}\n```",
            "```json {J} ```",
            "```rust\nfn a() {}\n```\n```json\n{J}\n```",
            "<think>{\"stars\":5} or [1]? ```</think>\n{J}",
            "\n<think>\n</think>\n\nSo: {J}",
            "First {J}, and again {J}.",
        ] {
            assert_eq!(value::<Score>(&reply.replace("{J}", FOUR)).as_deref(), Ok(FOUR), "{reply}");
        }
        assert_eq!(value::<Vec<u8>>("{x} is [1]").as_deref(), Ok("[1]"));
        assert_eq!(value::<Vec<u8>>("By [7]:\n```\n[1]\n```").as_deref(), Ok("[1]"));
        assert_eq!(value::<String>(" \"{}\" ").as_deref(), Ok("\"{}\""));
    }

    #[test]
    fn a_word_of_an_enum_needs_no_quotes() {
        // Small models reply with the word alone, which is no JSON, and were refused.
        for reply in
            ["Positive", " Positive\n", "\"Positive\"", "```\nPositive\n```", "<think>so so</think>Positive"]
        {
            assert_eq!(value::<Mood>(reply).as_deref(), Ok("\"Positive\""), "{reply}");
            assert_eq!(value::<Option<Mood>>(reply).as_deref(), Ok("\"Positive\""), "{reply}");
        }
        assert_eq!(value::<Mood>("so so").as_deref(), Ok("\"so so\""));
        for reply in ["positive", "Positive.", "It is Positive", ""] {
            assert_eq!(value::<Mood>(reply), Err(MismatchKind::NoJson), "{reply}");
        }
        // Any text is a string, also a refusal.
        assert_eq!(value::<String>("I would rather not."), Err(MismatchKind::NoJson));
        assert_eq!(value::<u8>("\"4\"").ok(), None);
    }

    #[test]
    fn none_and_several_values_are_refused() {
        for nothing in ["", " ", "I do not know.", "```\n```", "truly", "<think>{J}", "[see] it"] {
            assert_eq!(value::<Score>(&nothing.replace("{J}", FOUR)), Err(MismatchKind::NoJson), "{nothing}");
        }
        for more in [
            "{} {}",
            "{\"stars\":1} or {\"stars\":2}",
            "4 of 5",
            "```\n{\"stars\":1}\n```\n```\n{\"stars\":2}\n```",
        ] {
            assert_eq!(value::<Score>(more), Err(MismatchKind::SeveralValues), "{more}");
        }
        assert_eq!(value::<Vec<u8>>("[1] or [2]"), Err(MismatchKind::SeveralValues));
        // An object in a list is not the value: there may be more such objects.
        assert!(value::<Score>("[{\"stars\":1}]").is_err());
        assert!(value::<Score>("[{\"stars\":1}, {\"sta").is_err());
    }

    #[test]
    fn the_time_is_linear_in_the_reply() {
        // Parsing again from each bracket would take minutes.
        for part in ["[", "{\"a\":", "[\"", "{x} ", "[1,", "```\n", "\"[", "[{}, "] {
            let reply = part.repeat(50_000);
            assert!(value::<Score>(&reply).is_err());
            assert!(value::<Vec<u8>>(&reply).is_err());
        }
    }
}
