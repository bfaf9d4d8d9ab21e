//! The parts of a messages array: the smallest pieces that have one origin.

use std::borrow::Cow;
use std::fmt;

use super::cursor::{Cursor, Item, Source};
use super::delimiters::{Position, Role};
use super::escape::escape;
use super::layout::{At, Section};
use super::snapshot::Snapshot;
use crate::context::documents::Key;
use crate::context::tiers::Tier;
use crate::declare::{Name, Window};
use crate::history::tokens::Counter;

/// The cell that a part shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'m> {
    /// The column.
    pub column: &'m Name,
    /// Its step.
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

/// A document in tiers, in the part that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TieredDocument<'m> {
    /// Its kind, and its path or URL.
    pub key: &'m Key,
    /// The number of responses since its last change, within the limits of its [tier](Tier).
    pub n: u32,
    /// Its tokens, with its path and its fence.
    pub tokens: usize,
}

/// A piece of a message, and its origin.
///
/// The content of a message is the concatenation of its parts. A separator is at the front of the later part, so appending
/// a part does not change the prefix that was sent before.
#[derive(Clone, Debug)]
pub struct Part<'m> {
    snapshot: &'m Snapshot,
    item: Item<'m>,
    /// The value between the delimiters, with tags escaped.
    value: Cow<'m, str>,
}

/// Whether the next context of the column repeats a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InNext {
    /// The part is repeated.
    Repeated,
    /// The part leaves the window of its view.
    Leaves { window: Window, lag: usize, is_self: bool },
    /// The budget most likely omits the part, or changes it together with an omitted one.
    MayBeTruncated,
    /// The budget certainly omits or changes the part.
    Truncated,
    /// A tier before the part changes, or the one that has it.
    Moves(Tier),
    /// A cell of an earlier turn, or of this one, is excluded from the next context, or included again.
    Excluded,
    /// The system text may change, because the column reads instructions.
    AfterInstructions,
}

impl<'m> Part<'m> {
    fn new(snapshot: &'m Snapshot, item: Item<'m>) -> Self {
        // The role delimits the column's own values, and escaping a marker would destroy its tag.
        let value = match item.source {
            Source::Input(_) if !item.text.is_plain && snapshot.overhead.has_tags() => {
                escape(item.text.value, &snapshot.reads.tags())
            }
            _ => Cow::Borrowed(item.text.value),
        };
        Self { snapshot, item, value }
    }

    /// The role of the message.
    pub fn role(&self) -> Role {
        self.item.delimiters.role()
    }

    /// The cell that the part shows. `None` for the constant `<elided/>`, for the marker of turns that a
    /// [budget](crate::budget) omits, for the marker of [hidden](Self::hidden) values, and for documents in tiers and the
    /// replies to them.
    pub fn origin(&self) -> Option<Origin<'m>> {
        let column = match self.item.source {
            Source::Input(input) => &input.name,
            Source::SelfHistory => &self.snapshot.reads.column,
            _ => return None,
        };
        // No underflow: a turn before the lag has no value, so it has no part.
        Some(Origin { column, step: self.item.step - self.item.lag })
    }

    /// The values that a view hides, if the part is the [marker](crate::View::elided) of hidden values.
    pub fn hidden(&self) -> Option<Hidden<'m>> {
        let Source::Elision(elision) = self.item.source else { return None };
        let reads = &self.snapshot.reads;
        let column = reads.inputs.get(elision.view).map_or(&reads.column, |input| &input.name);
        Some(Hidden { column, values: elision.values })
    }

    /// The tier of the part in a context with [tiered](crate::TieredView) documents; `None` in any other context. Turns
    /// have tiers, too: those of their exchanges.
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
        let layout = self.snapshot.layout()?;
        Some(match (self.item.source, self.item.at(self.snapshot)) {
            (Source::Section(_, section) | Source::Acknowledgement(_, section), _) => section.tier(),
            (_, At::Turn(slot)) => layout.tier(slot),
            (_, At::Section(_)) => Tier::Active,
        })
    }

    /// The documents in the part, in their order; none unless it is a section of [tiered](crate::TieredView) documents.
    pub fn items(&self) -> impl Iterator<Item = TieredDocument<'m>> + use<'m> {
        let items = self.section().zip(self.snapshot.layout()).map(|(section, layout)| layout.items(section));
        items.into_iter().flatten().map(|(key, n, tokens)| TieredDocument { key, n, tokens })
    }

    /// The section of documents that the part is.
    pub(crate) fn section(&self) -> Option<&'m Section> {
        match self.item.source {
            Source::Section(_, section) => Some(section),
            _ => None,
        }
    }

    /// Whether the part is the reply to a section of documents.
    pub(crate) fn is_acknowledgement(&self) -> bool {
        matches!(self.item.source, Source::Acknowledgement(..))
    }

    /// The step whose turn the part is in. The value of a view with a lag is older.
    pub(crate) fn turn(&self) -> usize {
        self.item.step
    }

    /// The text that is sent, with its tag and separator.
    pub fn text(&self) -> Cow<'m, str> {
        match self.chunks() {
            // Clones a reference: only inputs are escaped, and they always have a tag.
            ["", _, ""] => self.value.clone(),
            chunks => Cow::Owned(chunks.concat()),
        }
    }

    /// The opening delimiters, the value and the closing delimiters, without a copy.
    #[inline]
    pub(super) fn chunks(&self) -> [&str; 3] {
        let delimiters = self.item.delimiters;
        [delimiters.opening(self.item.position), &self.value, delimiters.closing()]
    }

    /// The text before the value and after it, with the separator. The groups around a value end with the last value in
    /// them that a context shows.
    pub(crate) fn delimiters(&self) -> [&str; 2] {
        let [opening, _, closing] = self.chunks();
        [opening, closing]
    }

    /// Whether the part continues the message of the part before it.
    pub(crate) fn joins(&self) -> bool {
        self.item.position == Position::Joins
    }

    /// The tokens of the value, which were counted when it was stored, and of its tag and separator. The constant
    /// `<elided/>` has 0.
    pub fn tokens(&self) -> usize {
        let overhead = &self.snapshot.overhead;
        let around = match self.item.source {
            Source::Input(input) => overhead.inputs.get(input.at).copied().unwrap_or(0),
            Source::SelfHistory | Source::Elision(_) => overhead.separator,
            // The others were counted together with their separators.
            Source::Lead | Source::Section(..) | Source::Acknowledgement(..) | Source::Truncation => 0,
        };
        self.item.text.tokens + around + self.group_tokens()
    }

    /// The tokens of the groups that begin with the part.
    fn group_tokens(&self) -> usize {
        let Some(input) = self.item.input(self.snapshot) else { return 0 };
        let outside = input.groups.len().saturating_sub(self.item.delimiters.opened());
        let groups = &self.snapshot.overhead.groups;
        input.groups.iter().skip(outside).filter_map(|&group| groups.get(group)).sum()
    }

    /// The tokens by another counter.
    pub(crate) fn tokens_by(&self, counter: &dyn Counter) -> usize {
        counter.count(&self.value) + self.item.delimiters.tokens(counter)
    }

    /// The length of the text in bytes.
    pub(crate) fn len(&self) -> usize {
        self.chunks().map(str::len).iter().sum()
    }

    /// Whether the next request repeats the part, and everything before it.
    pub(crate) fn in_next(&self) -> InNext {
        let Self { item, snapshot, .. } = self;
        if snapshot.has_instructions() {
            return InNext::AfterInstructions;
        }
        match snapshot.excluded_next() {
            Some((turn, _)) if item.step >= turn => InNext::Excluded,
            _ => self.in_next_messages(),
        }
    }

    /// Whether the next messages repeat the part, whatever the system text before them.
    pub(crate) fn in_next_messages(&self) -> InNext {
        let Self { item, snapshot, .. } = self;
        let (reads, step, next) = (&snapshot.reads, item.step, snapshot.step + 1);
        let truncation = snapshot.truncation();
        let truncated = |slot| match truncation {
            // From the turns on that this context omits. Before them, other turns are omitted only if the new ones are large.
            Some(it) if it.changes && it.omitted.start <= slot => InNext::Truncated,
            _ => InNext::MayBeTruncated,
        };
        if let Some(tier) = snapshot
            .layout()
            .and_then(|layout| layout.changes(&*snapshot.whole(), snapshot.step, item.at(snapshot)))
        {
            return InNext::Moves(tier);
        }
        match item.source {
            Source::Section(..) | Source::Acknowledgement(..) => return InNext::Repeated,
            Source::Lead if snapshot.is_led_next() => return InNext::Repeated,
            // The marker has the number of omitted turns, so another cut most likely changes its text.
            Source::Truncation if truncation.is_some_and(|it| it.next == it.omitted) => {
                return InNext::Repeated;
            }
            Source::Truncation => return truncated(usize::MAX),
            _ => {}
        }
        let input = item.input(snapshot);
        let view = input.map_or(reads.inputs.len(), |input| input.at);
        let Some(spec) = reads.view(view) else {
            unreachable!("a part of `{}` belongs to one of its views", reads.column)
        };
        let (steps, slot) = match input {
            Some(_) => (spec.turns(next), 2 * step),
            None => (spec.self_cells(next), 2 * step + 1),
        };
        let is_truncated = truncation.is_some_and(|truncation| truncation.next.contains(&slot));
        let changes = match item.source {
            // If the values after it leave the window, its groups end with it.
            Source::Input(input) if !input.groups.is_empty() && snapshot.overhead.has_tags() => {
                snapshot.open_after(input, step, next) != snapshot.open_after(input, step, snapshot.step)
            }
            _ => false,
        };
        let changes = changes || snapshot.is_first_next(view, step, &steps);
        match steps.contains(&step) {
            true if is_truncated => truncated(slot),
            true if !changes => InNext::Repeated,
            _ => InNext::Leaves { window: spec.window, lag: spec.lag, is_self: input.is_none() },
        }
    }
}

impl PartialEq for Part<'_> {
    fn eq(&self, other: &Self) -> bool {
        (self.role(), self.joins(), self.origin()) == (other.role(), other.joins(), other.origin())
            && self.chunks() == other.chunks()
    }
}

impl Eq for Part<'_> {}

/// The parts of a messages array in order. Made by [`Messages::parts`](super::Messages::parts).
#[derive(Clone, Debug)]
pub struct Parts<'m> {
    snapshot: &'m Snapshot,
    cursor: Cursor<'m>,
}

impl<'m> Parts<'m> {
    pub(super) fn new(snapshot: &'m Snapshot) -> Self {
        Self { snapshot, cursor: Cursor::new(snapshot) }
    }

    /// The parts from this step on.
    pub(super) fn since(snapshot: &'m Snapshot, step: usize) -> Self {
        Self { snapshot, cursor: Cursor::since(snapshot, step) }
    }
}

impl<'m> Iterator for Parts<'m> {
    type Item = Part<'m>;

    fn next(&mut self) -> Option<Part<'m>> {
        self.cursor.next().map(|item| Part::new(self.snapshot, item))
    }
}

impl Snapshot {
    /// The cells that a budget omits, in the order in which they would be shown.
    pub(super) fn omitted(&self) -> impl Iterator<Item = Origin<'_>> {
        let slots = self.truncation().map_or(0..0, |truncation| truncation.omitted.clone());
        let names = self.reads.inputs.iter().map(|input| &input.name).chain([&self.reads.column]);
        let views = names.zip(&*self.views).enumerate();
        let inputs = self.reads.inputs.len();
        slots.flat_map(move |slot| {
            let step = slot / 2;
            let is_in_slot = move |view| (view == inputs) == (slot % 2 == 1);
            views.clone().filter_map(move |(at, (column, view))| {
                // A skipped cell would not be shown in any case, so no budget omits it.
                let is_shown = is_in_slot(at) && view.steps.contains(&step) && view.has(step);
                is_shown.then(|| Origin { column, step: step - view.lag })
            })
        })
    }
}
