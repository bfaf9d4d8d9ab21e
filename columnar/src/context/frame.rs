//! What stands around the values of a view, in a message and in its JSON. Made once, with the schema.

use std::borrow::Cow;

use super::part::{Role, SEPARATOR};
use crate::declare::Name;
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
    /// Between two values of the same view that one message shows.
    again: Cow<'static, str>,
    /// Between a value and what the column said itself.
    answered: Cow<'static, str>,
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
        begins: Cow::Borrowed(ANSWER),
        joins: Cow::Borrowed(r"\n\n"),
        closing: Cow::Borrowed(""),
        again: Cow::Borrowed(r"\n\n"),
        answered: Cow::Borrowed(r"\n\n"),
    },
};

/// Around what stands for turns that are left out, or for values that a view hides.
pub(super) static MARKER: Frame = Frame {
    opening: Cow::Borrowed(SEPARATOR),
    closing: Cow::Borrowed(""),
    json: Json {
        first: Cow::Borrowed(r#"[{"role":"user","content":""#),
        begins: Cow::Borrowed(r#""},{"role":"user","content":""#),
        joins: Cow::Borrowed(r"\n\n"),
        closing: Cow::Borrowed(""),
        again: Cow::Borrowed(r"\n\n"),
        answered: Cow::Borrowed(ANSWER),
    },
};

/// Begins the JSON of a message of the column behind another.
const ANSWER: &str = r#""},{"role":"assistant","content":""#;

/// Ends the JSON of the last message, and the array.
pub(super) const JSON_END: &str = r#""}]"#;

/// What stands around the values of an input: a frame for each number of groups that may begin and end with
/// one, and for what is said before one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frames {
    depth: usize,
    tagged: Vec<Frame>,
    /// For what is said, by how many groups begin with it: one or more.
    untagged: Vec<Frame>,
}

impl Frames {
    /// For an input with this tag, in groups with these tags, the outermost first.
    pub(crate) fn new(tag: &Name, groups: &[Name]) -> Self {
        let depth = groups.len();
        let innermost = |count: usize| groups.get(depth - count..).unwrap_or_default();
        let tagged = (0..=depth).flat_map(|opened| {
            (0..=depth).map(move |closed| Frame::new(Some(tag), innermost(opened), innermost(closed)))
        });
        let untagged = (1..=depth).map(|opened| Frame::new(None, innermost(opened), &[]));
        Self { depth, tagged: tagged.collect(), untagged: untagged.collect() }
    }

    /// The frame of a value before which so many groups are open, and so many behind it.
    #[inline]
    pub(super) fn between(&self, before: usize, behind: usize) -> &Frame {
        let (opened, closed) = (self.depth - before, self.depth - behind);
        match self.tagged.get(opened * (self.depth + 1) + closed) {
            Some(frame) => frame,
            None => unreachable!("there is a frame for each"),
        }
    }

    /// The frame of what is said before a value, before which so many groups are open.
    pub(super) fn untagged(&self, before: usize) -> &Frame {
        let opened = self.depth - before;
        opened.checked_sub(1).and_then(|at| self.untagged.get(at)).unwrap_or(&MARKER)
    }

    /// How many groups one of these frames begins.
    pub(super) fn opened_by(&self, frame: &Frame) -> usize {
        let place = |frames: &[Frame]| frames.iter().position(|candidate| std::ptr::eq(candidate, frame));
        let untagged = || place(&self.untagged).map(|at| at + 1);
        place(&self.tagged).map(|at| at / (self.depth + 1)).or_else(untagged).unwrap_or(0)
    }

    /// The frame of the tag alone, if it has not to open or to close anything.
    pub(crate) fn plain(&self) -> &Frame {
        self.between(self.depth, self.depth)
    }

    /// The most bytes that stand around a value in JSON.
    pub(super) fn json_len(&self) -> usize {
        self.between(0, 0).json_len()
    }
}

impl Frame {
    /// Around a value of an input, or what is said before it without a tag: before it groups begin, and behind it
    /// they end.
    fn new(tag: Option<&Name>, opened: &[Name], closed: &[Name]) -> Self {
        let tags = |tags: &[Name], before: &str, behind: &str| {
            tags.iter().map(|tag| [before, tag.as_str(), behind].concat()).collect::<String>()
        };
        let opened: Vec<Name> = opened.iter().chain(tag).cloned().collect();
        let closed: Vec<Name> = tag.into_iter().chain(closed.iter().rev()).cloned().collect();
        let opening = |end: &str| tags(&opened, "<", &[">", end].concat());
        let closing = |begin: &str| tags(&closed, &[begin, "</"].concat(), ">");
        let (json_opening, json_closing) = (opening(r"\n"), closing(r"\n"));
        Self {
            opening: [SEPARATOR, &opening("\n")].concat().into(),
            closing: closing("\n").into(),
            json: Json {
                first: format!(r#"[{{"role":"user","content":"{json_opening}"#).into(),
                begins: format!(r#""}},{{"role":"user","content":"{json_opening}"#).into(),
                joins: format!(r"\n\n{json_opening}").into(),
                again: format!(r"{json_closing}\n\n{json_opening}").into(),
                answered: format!("{json_closing}{ANSWER}").into(),
                closing: json_closing.into(),
            },
        }
    }

    /// Who says what stands in it.
    pub(super) fn role(&self) -> Role {
        if std::ptr::eq(self, &raw const OWN) { Role::Assistant } else { Role::User }
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

    /// The tokens of a tag around several inputs.
    pub(crate) fn group_tokens(tag: &Name, counter: &dyn Counter) -> usize {
        counter.count(&format!("<{tag}>\n\n</{tag}>"))
    }

    /// The tokens of what stands around a value, whose own are counted apart.
    pub(crate) fn tokens(&self, counter: &dyn Counter) -> usize {
        counter.count(&[self.opening(Place::First), self.closing(), SEPARATOR].concat())
    }

    /// What stands in JSON before a value, behind another one: in one piece where values often meet.
    #[inline]
    pub(super) fn json_behind<'f>(&'f self, before: Option<&'f Self>) -> [&'f str; 2] {
        let is_own = |frame: &Self| std::ptr::eq(frame, &raw const OWN);
        match before {
            None => ["", &self.json.first],
            Some(before) if std::ptr::eq(before, self) => ["", &self.json.again],
            Some(before) if is_own(self) => ["", &before.json.answered],
            Some(before) if is_own(before) => ["", &self.json.begins],
            Some(before) => [&before.json.closing, &self.json.joins],
        }
    }

    /// What stands in JSON behind a value.
    #[inline]
    pub(super) fn json_closing(&self) -> &str {
        &self.json.closing
    }

    /// The bytes that stand in JSON before the first value.
    pub(super) fn json_first_len(&self) -> usize {
        self.json.first.len()
    }

    /// The most bytes that stand around any other value in JSON.
    pub(super) fn json_len(&self) -> usize {
        self.json.begins.len() + self.json.closing.len()
    }
}
