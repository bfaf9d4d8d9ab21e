//! What stands around the values of a view, in a message and in its JSON. Made once, with the schema.

use alloc::borrow::Cow;
use alloc::format;

use super::part::SEPARATOR;
use crate::name::Name;
use crate::tokens::Counter;

/// What stands around each value of a view.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The separator, which is for a value that joins others in a message, and the tag.
    opening: Cow<'static, str>,
    closing: Cow<'static, str>,
    json: Json,
}

#[derive(Clone, Debug)]
struct Json {
    first: Cow<'static, str>,
    begins: Cow<'static, str>,
    joins: Cow<'static, str>,
    closing: Cow<'static, str>,
}

/// Where a value stands in an array of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing stands before it.
    First,
    /// It begins another message.
    Begins,
    /// It follows another value of the same message.
    Joins,
}

/// Around what the column said itself, which has no tag. An array that would begin with it is led by a
/// message of the user.
pub(super) static OWN: Frame = Frame {
    opening: Cow::Borrowed(SEPARATOR),
    closing: Cow::Borrowed(""),
    json: Json {
        first: Cow::Borrowed(r#"[{"role":"user","content":"<elided/>"},{"role":"assistant","content":""#),
        begins: Cow::Borrowed(r#""},{"role":"assistant","content":""#),
        joins: Cow::Borrowed(r"\n\n"),
        closing: Cow::Borrowed(""),
    },
};

/// Around what stands for turns that are left out.
pub(super) static MARKER: Frame = Frame {
    opening: Cow::Borrowed(SEPARATOR),
    closing: Cow::Borrowed(""),
    json: Json {
        first: Cow::Borrowed(r#"[{"role":"user","content":""#),
        begins: Cow::Borrowed(r#""},{"role":"user","content":""#),
        joins: Cow::Borrowed(r"\n\n"),
        closing: Cow::Borrowed(""),
    },
};

/// Ends the JSON of the last message, and the array.
pub(super) const JSON_END: &str = r#""}]"#;

impl Frame {
    /// Around the values of an input.
    pub(crate) fn new(tag: &Name) -> Self {
        Self {
            opening: format!("{SEPARATOR}<{tag}>\n").into(),
            closing: format!("\n</{tag}>").into(),
            json: Json {
                first: format!(r#"[{{"role":"user","content":"<{tag}>\n"#).into(),
                begins: format!(r#""}},{{"role":"user","content":"<{tag}>\n"#).into(),
                joins: format!(r"\n\n<{tag}>\n").into(),
                closing: format!(r"\n</{tag}>").into(),
            },
        }
    }

    /// What stands before a value.
    #[inline]
    pub(super) fn opening(&self, place: Place) -> &str {
        let skipped = if place == Place::Joins { 0 } else { SEPARATOR.len() };
        self.opening.get(skipped..).unwrap_or_default()
    }

    /// What stands behind a value.
    #[inline]
    pub(super) fn closing(&self) -> &str {
        &self.closing
    }

    /// The tokens of what stands around a value, whose own are counted apart.
    pub(crate) fn tokens(&self, counter: &dyn Counter) -> usize {
        counter.count(&[self.opening(Place::First), self.closing(), SEPARATOR].concat())
    }

    /// What stands in JSON between a value and the one before.
    #[inline]
    pub(super) fn json_opening(&self, place: Place) -> &str {
        match place {
            Place::First => &self.json.first,
            Place::Begins => &self.json.begins,
            Place::Joins => &self.json.joins,
        }
    }

    /// What stands in JSON behind a value.
    #[inline]
    pub(super) fn json_closing(&self) -> &str {
        &self.json.closing
    }

    /// The most bytes that stand around a value in JSON.
    pub(super) fn json_len(&self) -> usize {
        self.json.begins.len() + self.json.closing.len()
    }
}
