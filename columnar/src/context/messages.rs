//! The messages array: parts, which are joined only when they are read as messages.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::iter::Peekable;

use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

use super::budget::Report;
use super::delimiters::Role;
use super::escape::unescape;
use super::layout::{Section, TieredDocument};
use super::overhead::Overhead;
use super::parts::{Origin, Part, Parts};
use super::shared_prefix::SharedPrefix;
use super::snapshot::Snapshot;
use crate::context::documents::Documents;
use crate::context::tiers::Moves;
use crate::declare::Name;
use crate::history::Attachment;
use crate::history::tokens::Counter;

/// The messages array of one call. User and assistant alternate, and the first and the last message are the user's.
///
/// Serializes to `[{"role": "...", "content": "..."}]`, with a list `attachments` where there are any (the type, digest and
/// length of each, not the bytes), and iterates over `(role, content)`. Shares the stored
/// values and copies no text. Making and cloning messages takes the same short time for any length of the history.
///
/// ```
/// use columnar::prelude::*;
///
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
#[derive(Clone)]
pub struct Messages(pub(crate) Snapshot);

impl Messages {
    pub(crate) fn snapshot(&self) -> &Snapshot {
        &self.0
    }

    /// The parts of the messages, each with the cell that it shows.
    pub fn parts(&self) -> Parts<'_> {
        Parts::new(&self.0)
    }

    /// The parts behind the conversation that the messages continue.
    pub(crate) fn own_parts(&self) -> impl Iterator<Item = Part<'_>> {
        let of_thread = self.0.thread().map_or(0, |thread| Parts::new(thread).count() + 1);
        self.parts().skip(of_thread)
    }

    /// The tokens of the conversation that the messages continue: of the system text, and of the messages.
    pub(crate) fn thread_tokens(&self) -> [usize; 2] {
        self.0.thread_tokens()
    }

    /// The messages in order, as `(role, content)`.
    pub fn iter(&self) -> Iter<'_> {
        Iter(self.parts().peekable())
    }

    /// Whether values are in tags. A document and a path of a tree have none.
    pub(crate) fn has_tags(&self) -> bool {
        self.0.overhead.has_tags()
    }

    /// The value that these messages show as `text`, between the tags.
    pub(crate) fn unescape<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.has_tags() { unescape(text, &self.0.reads.tags()) } else { Cow::Borrowed(text) }
    }

    /// The number of messages.
    pub fn len(&self) -> usize {
        self.parts().filter(|part| !part.joins()).count()
    }

    /// Whether there is no message. The messages of a column are never empty.
    pub fn is_empty(&self) -> bool {
        self.0.thread().is_none() && self.0.is_empty()
    }

    /// The content of the last message with the tags. The last message has the values of all inputs at the current step. For one
    /// value without tags see [`Context::input`](crate::Context::input).
    pub fn last_text(&self) -> Cow<'_, str> {
        let mut text = Cow::Borrowed("");
        // Begins behind the last reply, so earlier messages are not read.
        for part in Parts::since(&self.0, self.0.last_message()) {
            if part.joins() {
                part.chunks().iter().for_each(|chunk| text.to_mut().push_str(chunk));
            } else {
                text = part.text();
            }
        }
        // A path of a tree may end with a reply, unlike the context of a column.
        if text.is_empty() { self.iter().last().map_or(text, |(_, content)| content) } else { text }
    }

    /// The section of documents that ends the system text, and the documents.
    pub(crate) fn system_section(&self) -> Option<(&Section, impl Iterator<Item = TieredDocument<'_>>)> {
        let layout = self.0.layout()?;
        let section = layout.system()?;
        Some((section, section.items(layout.tracker())))
    }

    /// The number of responses since an exchange was complete, within the limits of the tier; 0 for one that no tier has yet.
    pub(crate) fn exchange_age(&self, step: usize) -> u32 {
        let known = self.0.layout().and_then(|layout| layout.tracker().of_exchange(step));
        known.map_or(0, |(_, n)| n)
    }

    /// The counter of all tokens in the messages.
    pub(crate) fn counter(&self) -> &dyn Counter {
        &*self.0.overhead.counter
    }

    /// The documents of a [compacted](crate::CompactedView) or a [tiered](crate::TieredView) view at the step; `None` if the
    /// column has no such view.
    pub fn documents(&self) -> Option<&Documents> {
        let tiered = self.0.layout().map(|layout| layout.documents());
        tiered.or_else(|| Some(self.0.log()?.log().documents()))
    }

    /// The items that changed the [tiers](crate::tiers) since the last request with a response; `None` without tiers.
    pub fn moves(&self) -> Option<&Moves> {
        self.0.moves()
    }

    /// The tokens of all messages, by the [counter](crate::flow::LiveFlow::set_counter) of the flow. Values were counted
    /// when they were stored, so no text is read.
    pub fn tokens(&self) -> usize {
        self.0.message_tokens()
    }

    /// The tokens of the attachments among all tokens.
    #[cfg(feature = "providers")]
    pub(crate) fn media_tokens(&self) -> usize {
        self.parts().map(|part| part.media_tokens()).sum()
    }

    /// The report of the truncation to the [budget](crate::budget); `None` without a budget.
    pub fn report(&self) -> Option<&Report> {
        self.0.truncation().map(|truncation| &truncation.report)
    }

    /// The cells that the budget omits, in the order in which they would be shown.
    pub fn elided(&self) -> impl Iterator<Item = Origin<'_>> {
        self.0.omitted().map(|(column, step)| Origin { column, step })
    }

    /// The tokens of the whole system text that is sent with the messages.
    pub(crate) fn system_tokens(&self) -> usize {
        self.0.system_tokens()
    }

    /// The delimiters of the column, and the constant part of the system text.
    pub(crate) fn overhead(&self) -> &Overhead {
        &self.0.overhead
    }

    /// The first cell that is excluded from the next context, or included again.
    pub(crate) fn excluded_next(&self) -> Option<(Name, usize)> {
        let snapshot = self.0.root();
        let (turn, view) = snapshot.excluded.as_ref()?.next?;
        let reads = &snapshot.reads;
        let lag = snapshot.views().get(view)?.lag;
        Some((reads.name_of(view).clone(), turn - lag))
    }

    /// The instructions among the inputs, as the system text has them, with the cell of each.
    pub(crate) fn instructions(&self) -> impl Iterator<Item = (Origin<'_>, Cow<'_, str>)> {
        self.0.root().instruction_texts().map(|(origin, text)| (origin, text.in_words()))
    }

    /// The tokens of the instructions among the inputs.
    pub(crate) fn instruction_tokens(&self) -> usize {
        self.0.instruction_tokens(self.0.step)
    }

    /// Whether requests of the column may have different system texts, because it reads instructions.
    pub(crate) fn has_instructions(&self) -> bool {
        !self.0.root().reads.instructions.is_empty()
    }

    /// The prefix that the contexts of other columns may share, and the tokens. `None` with tiers, which differ by column.
    pub(crate) fn shared_prefix(&self) -> Option<(SharedPrefix, usize)> {
        self.0.layout().is_none().then(|| SharedPrefix::of(&self.0))
    }

    /// The column that reads the messages.
    pub(crate) fn column(&self) -> &Name {
        self.0.column()
    }

    /// The step of the column.
    pub(crate) fn step(&self) -> usize {
        self.0.step
    }

    /// The messages of the column whose conversation these continue, without the reply.
    pub(crate) fn thread(&self) -> Option<Self> {
        self.0.thread().cloned().map(Self)
    }

    /// The messages from which all conversations continue, with the same system text.
    pub(crate) fn root(&self) -> Self {
        Self(self.0.root().clone())
    }

    /// The messages of the request that wrote the beginning of these: of the column's previous computed step, or of the column
    /// whose conversation continues. `None` at the first step.
    pub(crate) fn previous(&self) -> Option<Self> {
        if self.0.reads.thread.is_some() {
            return self.thread();
        }
        self.0.whole().last_read_step().map(|step| Self(self.0.before(step)))
    }

    /// The tokens of documents that are no longer valid.
    pub(crate) fn stale_tokens(&self) -> usize {
        self.0.log().map_or(0, |log| log.log().stale_tokens())
    }

    /// The tokens that these messages would add to the ones before, if the update had not laid documents anew; `None` if
    /// none did.
    pub(crate) fn added_to(&self, previous: &Self) -> Option<usize> {
        let changed = self.0.log()?.log().changed_tokens(self.step())?;
        Some(changed + self.turn_tokens().saturating_sub(previous.turn_tokens()))
    }

    /// The tokens of the messages without the documents of a log.
    fn turn_tokens(&self) -> usize {
        self.parts().filter(|part| part.log_place().is_none()).map(|part| part.tokens()).sum()
    }

    /// The messages of the column at the last step that it shares with the nearest fork. `None` if a budget omits turns now,
    /// because the turns that the budget omitted then are unknown, or if documents were laid anew since.
    pub(crate) fn before_fork(&self) -> Option<Self> {
        let is_whole = self.0.truncation().is_none_or(|truncation| truncation.omitted.is_empty());
        let is_whole = is_whole && self.0.thread().is_none();
        let last = self.0.fork?.checked_sub(1).filter(|_| is_whole)?;
        // The documents of that context are unknown, if they were laid anew since.
        let is_known = self.0.log().is_none_or(|log| log.log().keeps(last));
        is_known.then(|| Self(self.0.before(last)))
    }

    /// The array as JSON text.
    pub fn to_json(&self) -> String {
        match serde_json::to_string(self) {
            Ok(json) => json,
            Err(error) => unreachable!("text is always JSON: {error}"),
        }
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        // A snapshot does not change after the assembly, so clones are equal without a comparison of text.
        self.0.is(&other.0)
            || (self.has_instructions_of(other)
                && self.system_documents() == other.system_documents()
                && self.parts().eq(other.parts()))
    }
}

impl Eq for Messages {}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self).finish()
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
#[derive(Clone, Debug)]
pub struct Iter<'m>(Peekable<Parts<'m>>);

impl<'m> Iterator for Iter<'m> {
    type Item = (Role, Cow<'m, str>);

    fn next(&mut self) -> Option<Self::Item> {
        let first = self.0.next()?;
        let mut content = first.text();
        while let Some(part) = self.0.next_if(Part::joins) {
            let content = content.to_mut();
            part.chunks().iter().for_each(|chunk| content.push_str(chunk));
        }
        Some((first.role(), content))
    }
}

impl Serialize for Messages {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut messages = serializer.serialize_seq(None)?;
        let mut parts = self.parts().peekable();
        while let Some(first) = parts.next() {
            let role = first.role();
            messages.serialize_element(&Message {
                role,
                content: Content { first, rest: (&mut parts).into(), attachments: RefCell::default() },
            })?;
            // A serializer may leave out a field, and then nothing has consumed these.
            while parts.next_if(Part::joins).is_some() {}
        }
        messages.end()
    }
}

struct Message<'p, 'm> {
    role: Role,
    content: Content<'p, 'm>,
}

impl Serialize for Message<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("content", &self.content)?;
        let attachments = self.content.attachments.borrow();
        if !attachments.is_empty() {
            map.serialize_entry("attachments", &*attachments)?;
        }
        map.end()
    }
}

/// The content of a message, which is written part by part: joining the parts first would copy all text once more.
struct Content<'p, 'm> {
    first: Part<'m>,
    rest: RefCell<&'p mut Peekable<Parts<'m>>>,
    /// The attachments of the parts that are written.
    attachments: RefCell<Vec<&'m Attachment>>,
}

impl fmt::Display for Content<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.chunks().iter().try_for_each(|chunk| f.write_str(chunk))?;
        self.attachments.borrow_mut().extend(self.first.attachments());
        while let Some(part) = self.rest.borrow_mut().next_if(Part::joins) {
            part.chunks().iter().try_for_each(|chunk| f.write_str(chunk))?;
            self.attachments.borrow_mut().extend(part.attachments());
        }
        Ok(())
    }
}

impl Serialize for Content<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
