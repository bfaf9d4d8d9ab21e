//! The errors of declarations.

use super::file_position::FilePosition;
use super::name::{Name, NameError};
use super::view::{DEEPEST_GROUP, DEEPEST_THREAD};
use super::view_text::ViewTextError;
use crate::declare::error::{excerpt, lines, list};

/// All errors in the declaration of a flow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(errors))]
pub struct SchemaErrors {
    errors: Vec<SchemaError>,
}

impl SchemaErrors {
    pub(crate) fn one(error: SchemaError) -> Self {
        Self::new(vec![error])
    }

    /// `errors` is not empty.
    pub(crate) fn new(mut errors: Vec<SchemaError>) -> Self {
        // A person reads the file from its beginning. Errors without a position keep their order.
        errors.sort_by_key(SchemaError::position);
        Self { errors }
    }

    /// The errors before these ones, and then these.
    #[must_use]
    pub(crate) fn after(mut self, mut before: Vec<SchemaError>) -> Self {
        before.append(&mut self.errors);
        Self::new(before)
    }

    /// The errors, column by column; never empty.
    pub fn errors(&self) -> &[SchemaError] {
        &self.errors
    }
}

/// One error in the declaration of a flow. `flow!` reports the same errors when the program compiles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// An entry of a file that is no declaration, such as a misspelt key or a text in place of a number.
    #[error("{mistake}")]
    BadEntry {
        /// The mistake.
        mistake: String,
    },
    /// Another error, of an entry of a file that was [read](crate::data::Declaration::read) with its positions.
    #[error("{position}: {error}")]
    InFile {
        /// The position of the entry, or of its key.
        position: FilePosition,
        /// The error.
        error: Box<Self>,
    },
    /// An invalid name.
    #[error(transparent)]
    BadName(NameError),
    /// Columns that wait for each other.
    #[error("these columns wait for each other, so none of them can run first: {}", cycle_path(columns))]
    Cycle {
        /// The names of the columns; each reads the one before, and the first one the last.
        columns: Vec<String>,
    },
    /// An invalid tag.
    #[error("`{column}` has a view with an invalid tag: {error}")]
    BadTag {
        /// The column with the view.
        column: Name,
        /// The rule that the tag breaks.
        error: NameError,
    },
    /// A compute step that is missing, unknown or has a wrong setting, in a column that was declared as
    /// [data](crate::data).
    #[error("`{column}` {error}")]
    BadStep {
        /// The column.
        column: Name,
        /// The mistake.
        error: StepError,
    },
    /// A text that is no view.
    #[error("`{column}` has the view {}, which is wrong {error}", excerpt(view))]
    BadView {
        /// The column with the view.
        column: Name,
        /// The text.
        view: String,
        /// The mistake, and the position in the text.
        error: ViewTextError,
    },
    /// Two columns with one name.
    #[error("`{name}` is declared twice: rename one of the two")]
    DuplicateName {
        /// The name.
        name: Name,
    },
    /// Two views of one column, or a view and a group, with one tag.
    #[error(
        "two inputs of `{column}` have the tag `{tag}`: give one of them another tag, as in `.named(\"digest\")`"
    )]
    DuplicateTag {
        /// The column that has both.
        column: Name,
        /// The tag of both.
        tag: Name,
    },
    /// Groups inside each other, more than a context can have.
    #[error(
        "`{column}` has groups that are nested more than {DEEPEST_GROUP} deep: put the views that belong together into one group"
    )]
    DeepGroups {
        /// The column with the groups.
        column: Name,
    },
    /// An instruction in a group.
    #[error(
        "`{column}` reads the instruction `{input}` in a group, but instructions are in the system text: move it out of the group"
    )]
    GroupedInstruction {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// A group of views for different purposes.
    #[error(
        "`{column}` has views with and without `.context()` in the group `{tag}`, but context comes first in a message: make \
         two groups of them"
    )]
    MixedGroup {
        /// The column that reads.
        column: Name,
        /// The tag of the group.
        tag: String,
    },
    /// `window(0)`.
    #[error(
        "`{column}` reads `{input}` with a window of 0, which shows nothing: drop the view, or show at least 1 value"
    )]
    EmptyWindow {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// An earlier name that another column has or had.
    #[error(
        "`{column}` has the earlier name `{renamed_from}`, which is the name or the earlier name of another column: correct \
         or drop one of them, because the values stored under a name belong to one column"
    )]
    RenameTaken {
        /// The column.
        column: Name,
        /// The earlier name in the declaration.
        renamed_from: String,
    },
    /// A source that was added to a flow that has steps.
    #[error("the source `{name}` cannot be added to a flow that has steps: they have no value for it")]
    LateSource {
        /// The source.
        name: String,
    },
    /// A column with the name of a module.
    #[error("`{name}` is a column, so it cannot be the module of `{of}`: rename one of the two")]
    NameOfModule {
        /// The column.
        name: Name,
        /// A column of the module.
        of: Name,
    },
    /// A column that has no input.
    #[error(
        "`{column}` reads {what}, so no new value can reach it: add a view, as in `user.latest()`",
        what = if *reads_self { "only itself" } else { "nothing" }
    )]
    NoInput {
        /// The column.
        column: Name,
        /// Whether the column reads the self history.
        reads_self: bool,
    },
    /// A column that reads context and instructions, and nothing that it answers.
    #[error(
        "`{column}` reads nothing but context and instructions: add a view of the column that it follows, as in \
         `user.latest()`"
    )]
    NoPrimaryInput {
        /// The column.
        column: Name,
    },
    /// A mistake in a compacted view.
    #[error("`{column}` reads `{input}` in a compacted view, {mistake}")]
    Compacted {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
        /// The mistake.
        mistake: CompactionMistake,
    },
    /// A view that shows all values and counts the hidden ones.
    #[error(
        "`{column}` shows all values of `{input}`, so it hides nothing: drop `.elided()`, or show fewer, as in \
         `.window(3).elided()`"
    )]
    NothingElided {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// A thread of a source.
    #[error(
        "`{column}` continues `{input}`, which is a source and sends no messages: name a computed column"
    )]
    ThreadOfSource {
        /// The column that continues.
        column: Name,
        /// The source.
        input: Name,
    },
    /// A window, a lag, a filter, a tag, a note, a group or a purpose of a thread.
    #[error(
        "`{column}` continues the thread of `{input}`, which is sent as it was: drop its window, tag, note, group, filter or \
         purpose"
    )]
    PartOfThread {
        /// The column that continues.
        column: Name,
        /// The column whose conversation is continued.
        input: Name,
    },
    /// A thread behind another view.
    #[error("`{column}` has a thread behind another view: a column continues one thread, which stands first")]
    LateThread {
        /// The column that continues.
        column: Name,
    },
    /// A thread of too many others.
    #[error(
        "`{column}` continues more than {DEEPEST_THREAD} threads, each of which continues the next: continue an earlier one"
    )]
    DeepThreads {
        /// The column that continues.
        column: Name,
    },
    /// A thread beside views that the conversation has no place for.
    #[error(
        "`{column}` continues the thread of `{input}`, to which the system text and all replies belong: drop `self`, the tiered \
         view and each `.instruction()`"
    )]
    BesideThread {
        /// The column that continues.
        column: Name,
        /// The column whose conversation is continued.
        input: Name,
    },
    /// A tiered view beside another view of the same documents.
    #[error("`{column}` reads `{input}` twice, and once in tiers: drop one of the views")]
    SameDocuments {
        /// The column that reads.
        column: Name,
        /// The documents.
        input: Name,
    },
    /// A tiered view beside a view of other documents.
    #[error(
        "`{column}` reads `{input}` in tiers, so it can read no other documents: put all of them into one source, or drop one \
         of the views"
    )]
    OtherDocuments {
        /// The column that reads.
        column: Name,
        /// The documents that are in tiers.
        input: Name,
    },
    /// A purpose of the self history.
    #[error(
        "`{column}` has `.context()` or `.instruction()` for `self`, which is shown as assistant messages: drop it"
    )]
    PurposeOfSelf {
        /// The column.
        column: Name,
    },
    /// A flow without a source.
    #[error("this flow has no source: declare one, and a column that reads it")]
    NoSource,
    /// A view of the column itself by the name, at the same step.
    #[error("`{column}` reads itself in the same step: write `self` for its values at earlier steps")]
    SelfByName {
        /// The column.
        column: Name,
    },
    /// More than one view of the self history.
    #[error("`{column}` reads itself twice: drop one of the two views")]
    SelfTwice {
        /// The column.
        column: Name,
    },
    /// A tag, a note or a count of hidden values of an instruction.
    #[error(
        "`{column}` has a tag, a note or `.elided()` for the instruction `{input}`, whose values end the system text as they \
         are: drop it"
    )]
    TaggedInstruction {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// A tag, a note, a group, a purpose or `.text_only()` of a tiered view.
    #[error(
        "`{column}` has a tag, a note, a group, a purpose or `.text_only()` for `{input}` in tiers, which stand before the \
         messages and take none: drop it"
    )]
    TaggedTiers {
        /// The column that reads.
        column: Name,
        /// The documents.
        input: Name,
    },
    /// A tiered view of a column that holds text.
    #[error(
        "`{column}` reads `{input}` in tiers, and `{input}` holds text: {}",
        if *is_source { "declare it as documents, or drop `.tiered()`" } else { "drop `.tiered()`" }
    )]
    TieredText {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
        /// Whether the column is a source.
        is_source: bool,
    },
    /// A tiered view in a column that does not show the whole self history.
    #[error(
        "`{column}` reads `{input}` in tiers, so it must read all of `self`: add `self`, without a window"
    )]
    TiersWithoutSelf {
        /// The column that reads.
        column: Name,
        /// The documents.
        input: Name,
    },
    /// A tiered view in a column that reads no text.
    #[error(
        "`{column}` reads `{input}` in tiers, so it must read text, too: add a view of text, as in `user`"
    )]
    TiersWithoutText {
        /// The column that reads.
        column: Name,
        /// The documents.
        input: Name,
    },
    /// A view with more than one purpose.
    #[error("`{column}` reads `{input}` for two purposes: drop one of `.context()` and `.instruction()`")]
    TwoPurposes {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// A view of a column that the flow does not have.
    #[error(
        "`{column}` reads {}, but the flow has no such column: {}",
        excerpt(read),
        suggestion_of(suggestion.as_deref())
    )]
    UnknownColumn {
        /// The column that reads.
        column: Name,
        /// The name that no column has.
        read: String,
        /// The view that was probably meant, if a column has a similar name.
        suggestion: Option<String>,
    },
    /// A tag, a note, a filter or a group of the self history.
    #[error(
        "`{column}` has a tag, a note, a filter or a group for `self`, which is shown as assistant messages and takes none: \
         drop it"
    )]
    TaggedSelf {
        /// The column.
        column: Name,
    },
    /// A window, a lag, a filter or a count of hidden values of documents.
    #[error(
        "`{column}` reads a part of `{input}`, and documents are a set, which has no window: read `{input}.compacted()`, \
         `{input}.tiered()` or `{input}`"
    )]
    WindowOfDocuments {
        /// The column that reads.
        column: Name,
        /// The documents.
        input: Name,
    },
}

impl SchemaError {
    /// The position in a file, if the error has one.
    pub(crate) fn position(&self) -> Option<FilePosition> {
        match self {
            Self::InFile { position, .. } => Some(*position),
            _ => None,
        }
    }

    /// The column of an error about two columns.
    pub(crate) fn renamed(&self) -> Option<&str> {
        match self {
            Self::RenameTaken { column: name, .. } | Self::NameOfModule { name, .. } => Some(name),
            _ => None,
        }
    }

    /// Whether something seems to be missing.
    pub(crate) fn is_of_absence(&self) -> bool {
        match self {
            Self::NoInput { .. }
            | Self::NoPrimaryInput { .. }
            | Self::TiersWithoutSelf { .. }
            | Self::TiersWithoutText { .. }
            | Self::Compacted { mistake: CompactionMistake::WithoutText, .. } => true,
            Self::BadStep { error, .. } => *error == StepError::Missing,
            _ => false,
        }
    }

    /// Whether a column seems to be missing, and is no slip.
    pub(crate) fn is_of_unknown_column(&self) -> bool {
        match self {
            Self::InFile { error, .. } => error.is_of_unknown_column(),
            Self::UnknownColumn { suggestion, .. } => suggestion.is_none(),
            _ => false,
        }
    }
}

/// Columns as an error names them: `` `a`, which `b` reads, which `a` reads ``.
fn cycle_path(columns: &[String]) -> String {
    let Some(first) = columns.first() else { return String::new() };
    let readers = columns.iter().skip(1).chain([first]);
    let readers = readers.map(|next| format!(", which `{next}` reads")).collect::<Vec<_>>();
    format!("`{first}`{}", readers.concat())
}

fn suggestion_of(name: Option<&str>) -> String {
    match name {
        Some(name) => format!("did you mean `{name}`?"),
        None => "declare it, or correct the name".to_owned(),
    }
}

/// A mistake in a compacted view. It prints as the end of a sentence about the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompactionMistake {
    /// The column that is read holds text.
    #[error("and `.compacted()` is for documents: declare the source as documents, or drop `.compacted()`")]
    OfText,
    /// A tag, a note, a group, a purpose or `.text_only()`.
    #[error("which takes no tag, note, group, purpose or `.text_only()`: drop it")]
    Tagged,
    /// Another view of the column lays out documents, too.
    #[error("and has another compacted or tiered view: drop one of the two")]
    Twice,
    /// The column reads no text, so a step without a change would have no message.
    #[error("so it must read text, too: add a view of text, as in `user`")]
    WithoutText,
    /// A bound below 1.
    #[error("whose `.at_most(…)` is below 1, and a request has each document once: write 1.0 or more")]
    Bound,
}

/// A mistake in the compute step of a column that was declared as [data](crate::data). It prints as the rest of a
/// sentence about the column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// Neither a prompt nor a compute step.
    #[error("has no compute step: add a `prompt`, or the name of a `step` of the program")]
    Missing,
    /// Two settings that exclude each other.
    #[error("has both `{one}` and `{other}`: drop one of the two")]
    Both {
        /// One key.
        one: &'static str,
        /// The other key.
        other: &'static str,
    },
    /// A setting of prompts, of a compute step of the program.
    #[error("has the setting `{setting}`, which only prompts have: drop it, or set it in the program")]
    OnlyOfPrompts {
        /// The key.
        setting: &'static str,
    },
    /// A policy of computations, of a column whose values come [from outside](crate::compute::external).
    #[error(
        "has `{setting}`, but nothing computes its values: drop it; to leave out cells, filter the view or skip the input"
    )]
    OfComputations {
        /// The key.
        setting: &'static str,
    },
    /// A value that is out of range.
    #[error("has a wrong `{setting}`: {rule}")]
    OutOfRange {
        /// The key.
        setting: &'static str,
        /// The values that are allowed.
        rule: &'static str,
    },
    /// A compute step that the program does not have.
    #[error(
        "has the compute step {}, which the program does not have{}",
        excerpt(step),
        known_steps(suggestion.as_deref(), steps)
    )]
    Unknown {
        /// The unknown name.
        step: String,
        /// The most similar name, if one is similar.
        suggestion: Option<String>,
        /// The names of the compute steps that the program has.
        steps: Vec<String>,
    },
}

impl StepError {
    /// The key that the mistake is about.
    pub(crate) fn setting(&self) -> Option<&str> {
        match self {
            Self::Missing => None,
            Self::Both { other, .. } => Some(other),
            Self::OnlyOfPrompts { setting }
            | Self::OfComputations { setting }
            | Self::OutOfRange { setting, .. } => Some(setting),
            Self::Unknown { .. } => Some("step"),
        }
    }
}

/// The end of a message about an unknown compute step.
fn known_steps(suggestion: Option<&str>, steps: &[String]) -> String {
    match (suggestion, steps) {
        (Some(name), _) => format!("; did you mean `{name}`?"),
        (None, []) => ": it has none".to_owned(),
        (None, steps) => format!("; there are {}", list(steps)),
    }
}
