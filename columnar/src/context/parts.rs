//! The parts of a messages array: the smallest pieces that have one origin, step by step, the inputs of a step and then the
//! column's own value.
//!
//! Parts stay separate, and the separator is at the front of the later part, so that a sent prefix stays byte-identical. Only
//! renderings join parts.

use std::borrow::Cow;
use std::fmt;
use std::{mem, slice};

use super::compaction::ShownPart;
use super::delimiters::{InputTags, Role, SEPARATOR, tokens_around};
use super::elisions::Elision;
use super::escape::escape;
use super::layout::{ContextPlace, Placed, Section, TieredDocument};
use super::overhead::{ContextForm, OwnInstruction};
use super::snapshot::Snapshot;
use super::truncation::Truncation;
use crate::context::tiers::Tier;
use crate::declare::{InputView, Name};
use crate::history::tokens::Counter;
use crate::history::{Attachment, StoredText, in_words};

/// The cell that a part shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'m> {
    /// The column.
    pub column: &'m Name,
    /// The step of the cell.
    pub step: usize,
}

/// As `user 3`.
impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.column, self.step)
    }
}

/// The values that a view [hides](crate::View::elided), in the part that counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden<'m> {
    /// The column.
    pub column: &'m Name,
    /// The number of values before the first one that is shown.
    pub values: usize,
}

/// A piece of a message with one origin.
///
/// The content of a message is the concatenation of the parts. A separator is at the front of the later part, so appending
/// a part does not change the prefix that was sent before.
#[derive(Clone, Debug)]
pub struct Part<'m> {
    pub(super) snapshot: &'m Snapshot,
    pub(super) source: PartSource<'m>,
    /// The step of the turn. The value of a view with a lag is older.
    pub(super) step: usize,
    /// The value between the delimiters, with tags escaped.
    value: Cow<'m, str>,
    /// The tokens of the value alone.
    value_tokens: usize,
    attachments: &'m [Attachment],
    media_tokens: usize,
    tags: PartTags<'m>,
    /// Whether the part continues the message of the part before.
    joins: bool,
}

/// The tags around a part. Only inputs have some.
#[derive(Clone, Copy, Debug, Default)]
struct PartTags<'m> {
    opening: &'m str,
    closing: &'m str,
    /// The number of groups that begin with the part.
    opened: usize,
}

/// The source of a part.
#[derive(Clone, Copy, Debug)]
pub(super) enum PartSource<'m> {
    /// The constant before an array that would begin with the assistant.
    Lead,
    /// An input, and the number of the part among the documents of the turn.
    Input(&'m InputView, u32),
    SelfHistory,
    /// The reply that ends the conversation of another column, whose context the snapshot is.
    Reply,
    /// The instruction of the column.
    Instruction,
    /// The section of documents with this index.
    Section(usize),
    /// The reply to a section.
    Acknowledgement(usize),
    /// The marker of values that a view hides.
    Elision(&'m Elision),
    /// The marker of turns that a budget omits.
    Truncation,
}

impl PartSource<'_> {
    fn role(&self, snapshot: &Snapshot) -> Role {
        match self {
            Self::Acknowledgement(_) | Self::Reply => Role::Assistant,
            Self::SelfHistory if snapshot.overhead.form != ContextForm::Document => Role::Assistant,
            _ => Role::User,
        }
    }
}

impl<'m> Part<'m> {
    /// The role of the message.
    pub fn role(&self) -> Role {
        self.source.role(self.snapshot)
    }

    /// The cell that the part shows. `None` for the constant `<elided/>`, for the marker of turns that a
    /// [budget](crate::budget) omits, for the marker of [hidden](Self::hidden) values, for documents in tiers and the
    /// replies to them, and for an [instruction](Self::is_instruction).
    pub fn origin(&self) -> Option<Origin<'m>> {
        let (column, lag) = match self.source {
            PartSource::Input(input, _) => (&input.name, input.spec.lag),
            PartSource::SelfHistory | PartSource::Reply => (&self.snapshot.reads.column, 0),
            _ => return None,
        };
        // No underflow: a turn before the lag has no value, so there is no part.
        Some(Origin { column, step: self.step - lag })
    }

    /// Whether the part is the instruction of a column, which stands in the last message if it is
    /// [after](crate::Prompt::after) the messages, or if the column [continues](crate::Column::thread) another one.
    pub fn is_instruction(&self) -> bool {
        matches!(self.source, PartSource::Instruction)
    }

    /// The values that a view hides, if the part is the [marker](crate::View::elided) of hidden values.
    pub fn hidden(&self) -> Option<Hidden<'m>> {
        let PartSource::Elision(elision) = self.source else { return None };
        Some(Hidden { column: self.snapshot.reads.name_of(elision.view), values: elision.values })
    }

    /// The tier of the part in a context with [tiered](crate::TieredView) documents; `None` in any other context. Turns
    /// have tiers, too: the tiers of the exchanges.
    ///
    /// ```
    /// use columnar::documents::Update;
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    /// use columnar::tiers::Tier;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let coder = flow! {
    ///     source files: Documents;
    ///     source user;
    ///     column coder(files.tiered(), user, self) = script(["Done."]);
    /// };
    /// coder.files.push(Update::new().file("src/lib.rs", "mod a;").file("src/a.rs", "")).await?;
    /// coder.user.push("Remove it.").await?;
    /// let messages = coder.coder.messages(0)?;
    ///
    /// let working = messages.parts().next().expect("there are files");
    /// assert_eq!((working.tier(), working.items().count()), (Some(Tier::Active), 2));
    /// assert!(working.text().starts_with("# Working Files\n\nsrc/a.rs\n```\n\n```\n\nsrc/lib.rs\n"));
    /// # Ok(()) }
    /// ```
    pub fn tier(&self) -> Option<Tier> {
        self.snapshot.layout()?.tier(self.at())
    }

    /// The documents in the part, in order; none unless the part is a section of [tiered](crate::TieredView)
    /// documents.
    pub fn items(&self) -> impl Iterator<Item = TieredDocument<'m>> + use<'m> {
        let shown = self.section().zip(self.snapshot.layout());
        shown.into_iter().flat_map(|(section, layout)| section.items(layout.tracker()))
    }

    /// The section of documents that the part is.
    pub(crate) fn section(&self) -> Option<&'m Section> {
        let PartSource::Section(at) = self.source else { return None };
        Some(&self.snapshot.layout()?.sections.get(at)?.section)
    }

    /// Whether the part is the reply to a section of documents.
    pub(crate) fn is_acknowledgement(&self) -> bool {
        matches!(self.source, PartSource::Acknowledgement(_))
    }

    /// The attachments of the value. They are sent behind the text.
    pub fn attachments(&self) -> &'m [Attachment] {
        self.attachments
    }

    /// The tokens of the attachments.
    #[cfg(feature = "providers")]
    pub(crate) fn media_tokens(&self) -> usize {
        self.media_tokens
    }

    /// The text in place of some of the attachments, where these are not sent.
    pub(crate) fn words(&self, attachments: &[Attachment]) -> String {
        self.escaped(in_words(attachments))
    }

    /// The text in place of an attachment that is sent, in a form without a part for such files: the content of a text, or
    /// words.
    pub(crate) fn stand_in(&self, attachment: &Attachment) -> String {
        match attachment.text() {
            Some(text) => self.escaped(SEPARATOR.to_owned() + text),
            None => self.words(slice::from_ref(attachment)),
        }
    }

    fn escaped(&self, text: String) -> String {
        let is_tagged = matches!(self.source, PartSource::Input(..)) && self.snapshot.overhead.has_tags();
        if is_tagged { escape(&text, &self.snapshot.reads.tags()).into_owned() } else { text }
    }

    /// The step whose turn the part is in. The value of a view with a lag is older.
    pub(crate) fn turn(&self) -> usize {
        self.step
    }

    /// The text that is sent, with the tag and separator.
    pub fn text(&self) -> Cow<'m, str> {
        match self.chunks() {
            // Clones a reference: only inputs are escaped, and they always have a tag.
            ["", "", _, ""] => self.value.clone(),
            chunks => Cow::Owned(chunks.concat()),
        }
    }

    /// The separator, the opening tags, the value and the closing tags, without a copy.
    #[inline]
    pub(crate) fn chunks(&self) -> [&str; 4] {
        let separator = match self.source {
            _ if !self.joins => "",
            // Documents in tiers and instructions stand apart in any form of the turns.
            PartSource::Section(_) | PartSource::Acknowledgement(_) | PartSource::Instruction => SEPARATOR,
            _ if self.snapshot.overhead.form == ContextForm::Document => "",
            _ => SEPARATOR,
        };
        [separator, self.tags.opening, &self.value, self.tags.closing]
    }

    /// The text before the value and after it, with the separator. The groups around a value end with the last value in
    /// them that a context shows.
    pub(crate) fn delimiters(&self) -> [&str; 3] {
        let [separator, opening, _, closing] = self.chunks();
        [separator, opening, closing]
    }

    /// Whether the part continues the message of the part before.
    pub(crate) fn joins(&self) -> bool {
        self.joins
    }

    /// The tokens of the value, which were counted when it was stored, of the attachments, and of the tag and separator. The
    /// constant `<elided/>` has 0.
    pub fn tokens(&self) -> usize {
        let overhead = &self.snapshot.overhead;
        let around = match self.source {
            PartSource::Input(input, _) => overhead.inputs.get(input.at).copied().unwrap_or(0),
            PartSource::SelfHistory | PartSource::Reply | PartSource::Elision(_) => overhead.separator,
            // The others were counted together with the separators.
            _ => 0,
        };
        self.value_tokens + self.media_tokens + around + self.group_tokens()
    }

    /// The tokens of the groups that begin with the part.
    fn group_tokens(&self) -> usize {
        let Some(input) = self.input() else { return 0 };
        let outside = input.groups.len().saturating_sub(self.tags.opened);
        let groups = &self.snapshot.overhead.groups;
        input.groups.iter().skip(outside).filter_map(|&group| groups.get(group)).sum()
    }

    /// The tokens by another counter.
    pub(crate) fn tokens_by(&self, counter: &dyn Counter) -> usize {
        let around = tokens_around(self.tags.opening, self.tags.closing, counter);
        counter.count(&self.value) + self.media_tokens + around
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.chunks().map(str::len).iter().sum()
    }

    /// The input of the part, or whose hidden values the part counts; `None` for the self history.
    pub(super) fn input(&self) -> Option<&'m InputView> {
        match self.source {
            PartSource::Input(input, _) => Some(input),
            PartSource::Elision(elision) => self.snapshot.reads.inputs.get(elision.view),
            _ => None,
        }
    }

    /// The place of the part in a tiered context.
    pub(super) fn at(&self) -> ContextPlace {
        match self.source {
            PartSource::Section(at) | PartSource::Acknowledgement(at) => ContextPlace::Section(at),
            PartSource::Truncation => ContextPlace::Turn(
                self.snapshot.truncation().map_or(0, |truncation| truncation.omitted.start),
            ),
            PartSource::Lead | PartSource::Input(..) | PartSource::Instruction => {
                ContextPlace::Turn(2 * self.step)
            }
            PartSource::SelfHistory | PartSource::Reply | PartSource::Elision(_) => {
                ContextPlace::Turn(2 * self.step + usize::from(self.input().is_none()))
            }
        }
    }
}

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.role(), self.joins(), self.origin()) == (other.role(), other.joins(), other.origin())
            && self.chunks() == other.chunks()
            && self.attachments == other.attachments
    }
}

impl Eq for Part<'_> {}

/// Leads an array that would otherwise begin with the assistant, and constant, so that a cached prefix stays valid.
const LEAD: &str = "<elided/>";

/// The parts of a messages array in order. Made by [`Messages::parts`](super::Messages::parts).
#[derive(Clone, Debug)]
pub struct Parts<'m> {
    snapshot: &'m Snapshot,
    /// The parts of the conversation that continues, until they and the reply are passed.
    thread: Option<Box<Self>>,
    /// The instruction, until it is passed.
    instruction: Option<&'m OwnInstruction>,
    /// The slot of the current turn; see [`ContextTurns`](super::turns::ContextTurns).
    slot: usize,
    /// Twice the index of the next view in the turn, plus one after the marker was passed.
    next: usize,
    /// The role of the last part, and the number of groups that stay open after that part.
    last: Option<Role>,
    open: usize,
    /// The sections of documents, and twice the number of those that were passed, plus one between a section and the reply
    /// to it.
    sections: &'m [Placed],
    passed: usize,
    /// The turns that a budget omits, until they are passed.
    truncation: Option<&'m Truncation>,
    /// The number of the next part among the documents of the turn.
    log_part: u32,
    /// The slot after the omitted turns, while these are passed: no budget omits documents.
    omitted: usize,
    /// The part after the lead. In a box, because few arrays have one, and parts are large.
    led: Option<Box<Part<'m>>>,
}

impl<'m> Parts<'m> {
    pub(super) fn new(snapshot: &'m Snapshot) -> Self {
        let thread = snapshot.thread().map(|thread| Box::new(Self::new(thread)));
        Self { passed: 0, thread, ..Self::since(snapshot, snapshot.first_step()) }
    }

    /// The parts from a step on, behind the documents there.
    pub(super) fn since(snapshot: &'m Snapshot, step: usize) -> Self {
        let slot = 2 * step;
        let truncation = snapshot.truncation().filter(|truncation| slot < truncation.omitted.end);
        let sections = snapshot.layout().map_or(&[][..], |layout| &layout.sections);
        let passed = 2 * sections.partition_point(|placed| placed.slot <= slot);
        let instruction = snapshot.overhead.own.as_ref();
        Self {
            snapshot,
            thread: None,
            instruction,
            slot,
            next: 0,
            last: None,
            open: 0,
            sections,
            passed,
            truncation,
            log_part: 0,
            omitted: 0,
            led: None,
        }
    }

    /// The next part of the conversation that continues: of its messages, then the reply.
    fn in_thread(&mut self) -> Option<Part<'m>> {
        let thread = self.thread.as_mut()?;
        if let Some(part) = thread.next() {
            self.last = Some(part.role());
            return Some(part);
        }
        let snapshot = thread.snapshot;
        self.thread = None;
        let (text, media_tokens) = self.snapshot.reply(snapshot.step)?;
        let reply = self.part(PartSource::Reply, PartTags::default(), text);
        Some(Part { snapshot, step: snapshot.step, media_tokens, ..reply })
    }

    fn own(&mut self, own: &'m OwnInstruction) -> Part<'m> {
        let text = plain(&own.text, own.tokens);
        let part = self.part(PartSource::Instruction, PartTags::default(), text);
        Part { step: self.snapshot.step, ..part }
    }

    /// The next section before this turn, or the reply to that section.
    fn section(&mut self) -> Option<Part<'m>> {
        let at = self.passed / 2;
        let Placed { section, .. } = self.sections.get(at).filter(|placed| placed.slot <= self.slot)?;
        self.passed += 1;
        let overhead = &self.snapshot.overhead;
        if self.passed % 2 == 1 {
            let text = plain(section.text(), section.tokens() + overhead.separator);
            return Some(self.part(PartSource::Section(at), PartTags::default(), text));
        }
        let value = section.place().acknowledgement();
        let text = plain(value, overhead.counter.count(value) + overhead.separator);
        Some(self.part(PartSource::Acknowledgement(at), PartTags::default(), text))
    }

    /// The next part of the current turn.
    fn in_turn(&mut self) -> Option<Part<'m>> {
        let snapshot = self.snapshot;
        let step = self.slot / 2;
        let inputs = snapshot.reads.inputs.len();
        let views = snapshot.views();
        let shown = if self.slot.is_multiple_of(2) { 0..inputs } else { inputs..views.len() };
        self.next = self.next.max(2 * shown.start);
        while self.next < 2 * shown.end {
            let at = self.next / 2;
            let is_value = self.next % 2 == 1;
            self.next += 1;
            if snapshot.reads.compacted == Some(at) {
                match self.documents(at, step) {
                    Some(part) => return Some(part),
                    None => continue,
                }
            }
            if self.slot < self.omitted {
                continue;
            }
            let elision = if is_value { None } else { snapshot.elision(at) };
            let values = if is_value { views.get(at) } else { elision.map(|elision| &elision.text) };
            let Some(values) = values.filter(|values| values.steps.contains(&step)) else { continue };
            let Some(text) = values.text(step) else { continue };
            let input = snapshot.reads.inputs.get(at).zip(snapshot.overhead.tags.get(at));
            let tags = input.map(|(input, tags)| match elision {
                Some(_) => self.around_marker(input, tags),
                None => self.around_value(input, tags, step),
            });
            let source = match (elision, input) {
                (Some(elision), _) => PartSource::Elision(elision),
                (None, Some((input, _))) => PartSource::Input(input, 0),
                (None, None) => PartSource::SelfHistory,
            };
            let media_tokens = values.media_tokens(text.attachments);
            return Some(Part { media_tokens, ..self.part(source, tags.unwrap_or_default(), text) });
        }
        None
    }

    /// The next part of the documents in the turn of a step.
    fn documents(&mut self, at: usize, step: usize) -> Option<Part<'m>> {
        let snapshot = self.snapshot;
        let number = mem::take(&mut self.log_part);
        self.next = 2 * at + 2;
        let mut parts = snapshot.log()?.texts().parts(step).skip(number as usize);
        let ShownPart { text, tokens, is_plain } = parts.next()?;
        let input = snapshot.reads.inputs.get(at)?;
        let tags = self.around_value(input, snapshot.overhead.tags.get(at)?, step);
        if parts.next().is_some() {
            // The same view is next.
            (self.next, self.log_part) = (2 * at, number + 1);
        }
        let text = StoredText { value: text, tokens: *tokens, is_plain: *is_plain, attachments: &[] };
        Some(self.part(PartSource::Input(input, number), tags, text))
    }

    fn advance(&mut self) -> Option<Part<'m>> {
        if let Some(part) = self.in_thread() {
            return Some(part);
        }
        if let Some(first) = self.instruction.take_if(|own| own.is_first) {
            return Some(self.own(first));
        }
        // Without the last slot of the step: the value of the column there does not exist yet.
        while self.slot <= 2 * self.snapshot.step {
            // Turns are omitted as a whole, so the omitted ones begin where a turn begins. Documents are not omitted.
            if self.next == 0 {
                if let Some(section) = self.section() {
                    return Some(section);
                }
                if let Some(omitted) = self.truncation.take_if(|it| it.omitted.start <= self.slot) {
                    self.omitted = omitted.omitted.end;
                    self.slot = self.next_omitted(self.slot.next_multiple_of(2));
                    // A rolling window has no marker.
                    let Some((value, tokens)) = &omitted.marker else { continue };
                    let text = plain(value, *tokens);
                    return Some(self.part(PartSource::Truncation, PartTags::default(), text));
                }
            }
            if let Some(part) = self.in_turn() {
                return Some(part);
            }
            (self.slot, self.next) = (self.next_slot(), 0);
        }
        self.instruction.take().map(|last| self.own(last))
    }

    /// The next slot from this one on, among the omitted turns or after them, that is shown.
    fn next_omitted(&self, slot: usize) -> usize {
        let steps = slot / 2..self.omitted.div_ceil(2);
        let documents = self.snapshot.reads.compacted.and_then(|input| self.snapshot.views().get(input));
        let next = documents.and_then(|view| view.first(&steps));
        next.map_or(self.omitted, |step| (2 * step).min(self.omitted))
    }

    /// The slot after this one. The turns of skipped steps are passed at once, up to a section or the omitted turns.
    fn next_slot(&self) -> usize {
        let next = self.slot + 1;
        if next < self.omitted {
            return self.next_omitted(next.next_multiple_of(2));
        }
        if !next.is_multiple_of(2) {
            return next;
        }
        let section = self.sections.get(self.passed / 2).map(|placed| placed.slot);
        let omitted = self.truncation.map(|truncation| truncation.omitted.start);
        let turn = 2 * self.snapshot.next_turn(next / 2);
        [section, omitted].into_iter().flatten().fold(turn, usize::min).max(next)
    }

    fn around_value(&mut self, input: &InputView, tags: &'m InputTags, step: usize) -> PartTags<'m> {
        let snapshot = self.snapshot;
        let has_groups = !input.groups.is_empty() && snapshot.overhead.has_tags();
        let after = if has_groups { snapshot.open_after(input, step, snapshot.step) } else { 0 };
        let opened = tags.opened(mem::replace(&mut self.open, after));
        PartTags { opening: tags.opening(opened), closing: tags.closing(after), opened }
    }

    /// If a marker precedes a value, the groups of the value begin with the marker.
    fn around_marker(&mut self, input: &InputView, tags: &'m InputTags) -> PartTags<'m> {
        let open = if self.snapshot.overhead.has_tags() { input.groups.len() } else { 0 };
        let opened = tags.opened(mem::replace(&mut self.open, open));
        PartTags { opening: tags.opening_of_marker(opened), closing: "", opened }
    }

    fn part(&mut self, source: PartSource<'m>, tags: PartTags<'m>, text: StoredText<'m>) -> Part<'m> {
        let snapshot = self.snapshot;
        let role = source.role(snapshot);
        let joins = self.last.replace(role) == Some(role);
        // The role delimits the column's own values, and escaping a marker would destroy the tag.
        let value = match source {
            PartSource::Input(..) if !text.is_plain && snapshot.overhead.has_tags() => {
                escape(text.value, &snapshot.reads.tags())
            }
            _ => Cow::Borrowed(text.value),
        };
        let StoredText { tokens: value_tokens, attachments, .. } = text;
        let step = self.slot / 2;
        Part { snapshot, source, step, value, value_tokens, attachments, media_tokens: 0, tags, joins }
    }
}

/// A text without a tag of a context.
fn plain(value: &str, tokens: usize) -> StoredText<'_> {
    StoredText { value, tokens, is_plain: true, attachments: &[] }
}

impl<'m> Iterator for Parts<'m> {
    type Item = Part<'m>;

    fn next(&mut self) -> Option<Part<'m>> {
        if let Some(part) = self.led.take() {
            return Some(*part);
        }
        let is_first = self.last.is_none();
        let part = self.advance();
        if !is_first || self.last != Some(Role::Assistant) {
            return part;
        }
        let part = part?;
        // No turn includes the lead, so it has no tokens: the parts must add up to the turns.
        let lead = Part {
            source: PartSource::Lead,
            value: Cow::Borrowed(LEAD),
            value_tokens: 0,
            attachments: &[],
            media_tokens: 0,
            ..part
        };
        self.led = Some(Box::new(part));
        Some(lead)
    }
}
