//! The text of a cell.

use std::borrow::Borrow;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::attachment::{Attachment, in_words};

/// The text in one cell of a flow, perhaps with attachments: immutable, shared, cheap to clone.
///
/// A value derefs to [`str`], and every text converts into a value. Values are equal if their texts are.
///
/// ```
/// use columnar::Value;
///
/// let value = Value::from("a text");
/// assert_eq!(value.len(), 6);
/// assert_eq!(value, "a text");
/// ```
#[derive(Clone)]
pub struct Value {
    text: Arc<str>,
    /// The range of the value in the text: the values of a sealed leaf share one text.
    range: Range<usize>,
    attachments: Option<Arc<[Attachment]>>,
}

/// A text with attachments, for [`push`](crate::flow::Handle::push) and for the results of compute steps.
///
/// ```
/// use columnar::{Attachment, Text, Value};
///
/// # fn main() -> Result<(), columnar::AttachmentError> {
/// let question = Text::new("What is this?").with(Attachment::new("Launch on Monday.")?);
/// let value = Value::from(question);
/// assert_eq!((value.as_str(), value.attachments().len()), ("What is this?", 1));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Text {
    text: Value,
    attachments: Vec<Attachment>,
}

impl Text {
    /// A text without attachments.
    pub fn new(text: impl Into<Value>) -> Self {
        Self { text: text.into(), attachments: Vec::new() }
    }

    /// Adds an attachment behind the earlier ones.
    pub fn with(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }
}

impl From<Text> for Value {
    fn from(Text { text, attachments }: Text) -> Self {
        let all: Vec<Attachment> = text.attachments().iter().cloned().chain(attachments).collect();
        text.attached((!all.is_empty()).then(|| all.into()))
    }
}

impl Value {
    /// The value as text.
    pub fn as_str(&self) -> &str {
        self.text.get(self.range.clone()).unwrap_or_default()
    }

    /// The images, documents and files beside the text.
    pub fn attachments(&self) -> &[Attachment] {
        self.attachments.as_deref().unwrap_or_default()
    }

    /// The attachments as they are shared, and the text without them.
    pub(crate) fn into_parts(self) -> (Arc<str>, Option<Arc<[Attachment]>>) {
        let attachments = self.attachments.clone();
        (self.into(), attachments)
    }

    /// The same text with these attachments alone.
    pub(crate) fn attached(self, attachments: Option<Arc<[Attachment]>>) -> Self {
        Self { attachments, ..self }
    }

    /// Another text with the same attachments.
    pub(crate) fn with_text(&self, text: String) -> Self {
        Self { attachments: self.attachments.clone(), ..text.into() }
    }

    /// The text with words in place of the attachments.
    pub(crate) fn in_words(&self) -> Self {
        let words = in_words(self.attachments());
        match self.as_str() {
            _ if words.is_empty() => self.clone(),
            "" => words.trim_start().into(),
            text => format!("{text}{words}").into(),
        }
    }

    fn whole(text: Arc<str>) -> Self {
        Self { range: 0..text.len(), text, attachments: None }
    }

    /// A part of the value, which shares the text. `None` if the range is not inside the value, or not at character
    /// boundaries.
    pub(crate) fn slice(&self, range: Range<usize>) -> Option<Self> {
        self.get(range.clone())?;
        let range = self.range.start + range.start..self.range.start + range.end;
        Some(Self { text: Arc::clone(&self.text), range, attachments: None })
    }

    /// A part of a text. The range must be at character boundaries.
    pub(crate) fn part(text: Arc<str>, range: Range<usize>) -> Self {
        debug_assert!(text.get(range.clone()).is_some(), "it is part of the text");
        Self { text, range, attachments: None }
    }
}

/// Text for [`push`](crate::flow::Handle::push): everything that converts into a [`Value`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the text of a value",
    label = "expected text, as in `\"hello\"`",
    note = "a source takes `&str`, `String`, `Arc<str>`, `Cow<str>` or `Value`; for other values `value.to_string()` or `serde_json::to_string(&value)?`"
)]
pub trait IntoValue {
    /// Converts the value.
    fn into_value(self) -> Value;
}

// The error would name `From`, and not say what a source takes.
#[diagnostic::do_not_recommend]
impl<T: Into<Value>> IntoValue for T {
    fn into_value(self) -> Value {
        self.into()
    }
}

impl Deref for Value {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Value {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Value {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

/// An empty text.
impl Default for Value {
    fn default() -> Self {
        Self::from("")
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::whole(text.into())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::whole(text.as_str().into())
    }
}

impl From<&Self> for Value {
    fn from(value: &Self) -> Self {
        value.clone()
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::whole(text.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self::whole(text)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::whole(text.into())
    }
}

impl From<Value> for String {
    fn from(value: Value) -> Self {
        value.as_str().into()
    }
}

impl From<Value> for Arc<str> {
    fn from(value: Value) -> Self {
        // A part is copied, because an `Arc<str>` cannot begin in the middle of another `Arc`.
        if value.range == (0..value.text.len()) { value.text } else { value.as_str().into() }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Value {}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

/// The hash equals the text's own, as [`Borrow`] requires.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other.as_str()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}
