//! Delimiters: the role of a value, the tags and separators around it, and their cost in tokens.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::system::{SEPARATOR, constant, join};
use crate::declare::{Name, Reads};
use crate::history::tokens::Counter;

/// The role of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The inputs of the column.
    User,
    /// The earlier values of the column itself.
    Assistant,
}

impl Role {
    /// The role as the APIs of models spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl PartialEq<&str> for Role {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// The position of a part in the messages array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// It is the first part.
    First,
    /// It begins another message.
    Begins,
    /// It continues the message of the part before it.
    Joins,
}

/// The form of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Each input is in its tag, and the column's own values are messages of the assistant.
    #[default]
    Tagged,
    /// The inputs have no tags: the messages of a conversation.
    Conversation,
    /// One message of the user with all values, and nothing between them.
    Document,
}

/// The text around one value.
#[derive(Clone, Debug)]
pub(crate) struct Delimiters {
    role: Role,
    /// The separator, which only a value that joins a message shows, and the opening tags.
    opening: Tags,
    closing: Tags,
    /// The number of groups that begin with the value.
    opened: usize,
}

/// The text before or after values. Values with as many groups share it.
#[derive(Clone, Debug)]
enum Tags {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Tags {
    fn as_str(&self) -> &str {
        match self {
            Self::Static(text) => text,
            Self::Shared(text) => text,
        }
    }
}

/// The delimiters of a value of the column itself, which has no tag.
pub(super) static SELF_HISTORY: Delimiters = Delimiters::untagged(Role::Assistant);

/// The delimiters of a marker of omitted turns or hidden values.
pub(super) static MARKER: Delimiters = Delimiters::untagged(Role::User);

impl Delimiters {
    const fn untagged(role: Role) -> Self {
        Self { role, opening: Tags::Static(SEPARATOR), closing: Tags::Static(""), opened: 0 }
    }

    /// No delimiters: a piece of a document.
    const fn none() -> Self {
        let (opening, closing) = (Tags::Static(""), Tags::Static(""));
        Self { role: Role::User, opening, closing, opened: 0 }
    }

    /// The text before an input's value, or without a tag before the marker before it. These groups begin there, the
    /// outermost first.
    fn opening_of(tag: Option<&Name>, groups: &[Name]) -> Arc<str> {
        let mut opening = String::from(SEPARATOR);
        groups.iter().chain(tag).for_each(|tag| opening.extend(["<", tag, ">\n"]));
        opening.into()
    }

    /// The text after an input's value. These groups end there, the outermost last in the text.
    fn closing_of(tag: &Name, groups: &[Name]) -> Arc<str> {
        let mut closing = String::new();
        [tag].into_iter().chain(groups.iter().rev()).for_each(|tag| closing.extend(["\n</", tag, ">"]));
        closing.into()
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// The number of groups that begin with the value.
    pub(super) fn opened(&self) -> usize {
        self.opened
    }

    /// The text before a value.
    pub(super) fn opening(&self, position: Position) -> &str {
        // Every opening begins with the separator, and only the first part of a message omits it.
        let skipped = if position == Position::Joins { 0 } else { SEPARATOR.len() };
        self.opening.as_str().get(skipped..).unwrap_or_default()
    }

    /// The text after a value.
    pub(super) fn closing(&self) -> &str {
        self.closing.as_str()
    }

    /// The tokens of the text around a value. The tokens of the value are counted separately.
    pub(super) fn tokens(&self, counter: &dyn Counter) -> usize {
        // The separator is after the value here: with the end of a tag it is one token of `o200k_base`.
        counter.count(&[self.opening(Position::First), self.closing(), SEPARATOR].concat())
    }
}

/// The delimiters of an input: one pair for each number of groups that may begin and end with a value, and for the
/// marker before a value.
#[derive(Clone, Debug)]
pub(super) struct InputDelimiters {
    depth: usize,
    tagged: Vec<Delimiters>,
    /// The delimiters of a marker, by the number of groups that begin with it: one or more.
    untagged: Vec<Delimiters>,
}

impl InputDelimiters {
    /// The delimiters of an input with this tag, in groups with these tags, the outermost first.
    fn new(tag: &Name, groups: &[Name]) -> Self {
        let depth = groups.len();
        let innermost = |count: usize| groups.get(depth - count..).unwrap_or_default();
        let user = |opened, opening, closing| Delimiters { role: Role::User, opening, closing, opened };
        let closings: Vec<_> =
            (0..=depth).map(|closed| Delimiters::closing_of(tag, innermost(closed))).collect();
        // All pairs are made in advance: a column has few groups, and then parts borrow their delimiters.
        let mut tagged = Vec::with_capacity(closings.len() * closings.len());
        for opened in 0..=depth {
            let opening = Delimiters::opening_of(Some(tag), innermost(opened));
            let shared = |text: &Arc<str>| Tags::Shared(Arc::clone(text));
            tagged.extend(closings.iter().map(|closing| user(opened, shared(&opening), shared(closing))));
        }
        let untagged = (1..=depth).map(|opened| {
            let opening = Delimiters::opening_of(None, innermost(opened));
            user(opened, Tags::Shared(opening), Tags::Static(""))
        });
        Self { depth, tagged, untagged: untagged.collect() }
    }

    /// Those of a value without a tag or a group.
    fn single(delimiters: Delimiters) -> Self {
        Self { depth: 0, tagged: vec![delimiters], untagged: Vec::new() }
    }

    /// The delimiters of a value with `before` open groups before it and `after` of them still open after it.
    pub(super) fn between(&self, before: usize, after: usize) -> &Delimiters {
        let (opened, closed) = (self.depth - before, self.depth - after);
        match self.tagged.get(opened * (self.depth + 1) + closed) {
            Some(delimiters) => delimiters,
            None => unreachable!("there is a pair for each number of groups"),
        }
    }

    /// The delimiters of the marker before a value, with `before` open groups before it; `None` if no group begins with it.
    pub(super) fn untagged(&self, before: usize) -> Option<&Delimiters> {
        let opened = self.depth - before;
        self.untagged.get(opened.checked_sub(1)?)
    }

    /// The tag alone: no group begins or ends with the value.
    fn plain(&self) -> &Delimiters {
        self.between(self.depth, self.depth)
    }
}

/// The delimiters of a column's contexts, and the tokens of the delimiters and of the instruction. The contexts of all
/// steps share it.
#[derive(Clone, Debug)]
pub(crate) struct Overhead {
    pub(super) form: Form,
    pub(super) counter: Arc<dyn Counter>,
    /// The system text of the flow.
    pub(super) system: Option<Arc<str>>,
    /// The tokens of the instruction, the system text of the flow and the notes, if the column calls a model.
    pub(crate) instruction: Option<usize>,
    /// The delimiters of each input.
    pub(super) delimiters: Vec<InputDelimiters>,
    /// The delimiters of the column's own values, and of markers.
    pub(super) self_history: Delimiters,
    pub(super) marker: Delimiters,
    /// For each input, the tokens of the delimiters of one value.
    pub(crate) inputs: Vec<usize>,
    /// For each group, the tokens of its tags.
    pub(crate) groups: Vec<usize>,
    /// The tokens that separate parts without a tag.
    pub(crate) separator: usize,
}

/// The settings of a column that its contexts depend on.
#[derive(Clone, Debug, Default)]
pub(crate) struct ContextSettings<'s> {
    pub(crate) form: Form,
    /// The instruction of the column, if it calls a model.
    pub(crate) instruction: Option<&'s str>,
    /// The system text of the flow.
    pub(crate) system: Option<Arc<str>>,
}

impl Overhead {
    pub(super) fn new(reads: &Reads, settings: ContextSettings<'_>, counter: Arc<dyn Counter>) -> Self {
        let ContextSettings { form, instruction, system } = settings;
        let instruction =
            instruction.map(|text| counter.count(&join(constant(text, system.as_deref(), reads))));
        let group = |group: &usize| reads.groups.get(*group).map(|group| group.tag.clone());
        let delimiters = reads.inputs.iter().map(|input| match form {
            Form::Tagged => {
                let groups: Vec<Name> = input.groups.iter().filter_map(group).collect();
                InputDelimiters::new(&input.tag, &groups)
            }
            Form::Conversation => InputDelimiters::single(Delimiters::untagged(Role::User)),
            Form::Document => InputDelimiters::single(Delimiters::none()),
        });
        let delimiters: Vec<InputDelimiters> = delimiters.collect();
        let (self_history, marker) = match form {
            Form::Tagged | Form::Conversation => (SELF_HISTORY.clone(), MARKER.clone()),
            Form::Document => (Delimiters::none(), Delimiters::none()),
        };
        let separator = if form == Form::Document { 0 } else { counter.count(SEPARATOR) };
        // The tags of a group are in different parts. Both are counted for the part that opens it.
        let tag = |tag: &Name| counter.count(&format!("<{tag}>\n\n</{tag}>"));
        let (inputs, groups) = if form == Form::Tagged {
            let inputs = delimiters.iter().map(|input| input.plain().tokens(&*counter)).collect();
            (inputs, reads.groups.iter().map(|group| tag(&group.tag)).collect())
        } else {
            (vec![separator; delimiters.len()], vec![0; reads.groups.len()])
        };
        Self {
            form,
            counter,
            system,
            instruction,
            delimiters,
            self_history,
            marker,
            inputs,
            groups,
            separator,
        }
    }

    /// Whether values are in tags.
    pub(super) fn has_tags(&self) -> bool {
        self.form == Form::Tagged
    }

    /// The tokens of the system text that is the same at every step, up to its end, and without the notes.
    pub(crate) fn system_tokens(&self, reads: &Reads, instruction: &str) -> [usize; 2] {
        let flow = self.system.as_deref();
        let count = |texts: String| self.counter.count(&texts);
        [
            count(join(constant(instruction, flow, reads))),
            count(join([instruction, flow.unwrap_or_default()])),
        ]
    }

    /// The tokens of a message with one value, which is empty: that of the input with the shortest tags. Others may be
    /// skipped.
    pub(super) fn least_message(&self, reads: &Reads) -> usize {
        let groups =
            |groups: &[usize]| groups.iter().filter_map(|&group| self.groups.get(group)).sum::<usize>();
        let inputs = reads.inputs.iter().zip(&self.inputs);
        inputs.map(|(input, delimiters)| delimiters + groups(&input.groups)).min().unwrap_or(0)
    }

    /// The marker of the values that a view hides, and its tokens without the separator.
    pub(crate) fn elision(&self, values: usize, tag: &str) -> (String, usize) {
        let plural = if values == 1 { "" } else { "s" };
        let text = format!("<elided>{values} value{plural} of {tag}</elided>");
        let tokens = self.counter.count(&text);
        (text, tokens)
    }
}
