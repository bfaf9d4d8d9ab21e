//! The messages array: parts, joined only where somebody asks for the whole.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::slice::ChunkBy;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::part::{Part, Role};

/// The messages array of one call: user and assistant in turn, first and last the user.
///
/// It serialises to `[{"role": "...", "content": "..."}]` and iterates over `(role, content)`.
/// Cloning it is a reference count.
///
/// ```
/// # use columnar::prelude::*;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column shout(user.latest) = |cx: Context| async move { cx.messages().last_text().to_uppercase() };
/// };
/// chat.user.push("hello").await?;
/// chat.run().await?;
///
/// let messages = chat.shout.messages(0)?;
/// assert_eq!(messages.to_json(), r#"[{"role":"user","content":"<user>\nhello\n</user>"}]"#);
/// for (role, content) in &messages {
///     println!("{role}: {content}");
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messages {
    parts: Arc<Vec<Part>>,
}

impl Messages {
    pub(crate) fn new(parts: Vec<Part>) -> Self {
        Self { parts: Arc::new(parts) }
    }

    /// The pieces that the messages consist of, with their origin.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The messages in order, as `(role, content)`.
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.parts.chunk_by(|a, b| a.role() == b.role()))
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there is no message; never so for the messages of a column.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The content of the last message, tags and all. It holds the current step of every input;
    /// for the plain value of one of them see [`Context::input`](crate::Context::input).
    pub fn last_text(&self) -> Cow<'_, str> {
        self.iter().last().map_or(Cow::Borrowed(""), |(_, content)| content)
    }

    /// The array as JSON text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| unreachable!("strings always serialise"))
    }
}

impl<'m> IntoIterator for &'m Messages {
    type Item = (Role, Cow<'m, str>);
    type IntoIter = Iter<'m>;

    fn into_iter(self) -> Iter<'m> {
        self.iter()
    }
}

/// The messages of an array, each as `(role, content)`. Made by [`Messages::iter`].
#[derive(Debug)]
pub struct Iter<'m>(ChunkBy<'m, Part, fn(&Part, &Part) -> bool>);

impl<'m> Iterator for Iter<'m> {
    type Item = (Role, Cow<'m, str>);

    fn next(&mut self) -> Option<Self::Item> {
        match self.0.next()? {
            [only] => Some((only.role(), Cow::Borrowed(only.text()))),
            parts => {
                let role = parts.first()?.role();
                Some((role, Cow::Owned(parts.iter().map(Part::text).collect())))
            }
        }
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|(role, content)| Message { role, content }))
    }
}

struct Message<'m> {
    role: Role,
    content: Cow<'m, str>,
}

impl Serialize for Message<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("content", &self.content)?;
        map.end()
    }
}
