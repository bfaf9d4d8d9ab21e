//! A view as a constant of the program.

use std::sync::Arc;

use crate::declare::{Compaction, Purpose, ShownColumn, Tiering, ViewFilter, ViewSpec, Window, is_tag};

/// A view as a tuple of literals, if nothing else was declared of it: the column, the number of last values (0 for
/// all), whether each value is shown one step later, and the tag.
///
/// A tuple, because flows are full of views, and rustc takes longer over any call.
pub(super) type LiteralView = (usize, usize, bool, &'static str);

/// How one column reads another one, or the self history: the values that it shows, and how.
///
/// Inside `flow!`, the fields and methods of a [`Handle`](crate::flow::Handle) make views. [`flow::View`](crate::View) is
/// the same for columns that are declared at run time.
#[derive(Clone, Copy, Debug)]
#[must_use]
#[expect(clippy::struct_excessive_bools, reason = "each is a modifier, or a mistake in one")]
pub struct View {
    pub(crate) column: usize,
    pub(super) window: Window,
    /// Whether it was declared as one of no values, which `flow!` and the schema refuse.
    pub(super) has_empty_window: bool,
    /// How many steps later each value is shown.
    pub(super) lag: usize,
    pub(super) elided: bool,
    pub(super) text_only: bool,
    pub(crate) tag: &'static str,
    pub(super) note: Option<&'static str>,
    pub(super) filter: Option<ConstFilter>,
    /// The tags of the groups around it, the outermost first.
    pub(super) groups: &'static [&'static str],
    pub(super) purpose: Purpose,
    pub(super) tiering: Option<Tiering>,
    pub(super) compaction: Option<Compaction>,
    pub(super) thread: bool,
}

/// A view of documents in tiers: those that have not changed for long come first, so that the next request repeats them.
///
/// Inside `flow!` it is `files.tiered()`, and at run time a [`flow::TieredView`](crate::flow::TieredView).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct TieredView(View);

impl TieredView {
    /// Sets the tokens that each cached tier should have: a tier with fewer is filled from the one below. 0 means that a
    /// tier may have any size. The default is one and a half times the least that the provider caches.
    pub const fn target(self, tokens: usize) -> Self {
        let Self(view) = self;
        Self(View { tiering: Some(Tiering { target: Some(tokens) }), ..view })
    }

    #[doc(hidden)]
    pub const fn __view(self) -> View {
        self.0
    }
}

/// A view of documents as a log of changes, which is compacted when carrying old texts has cost as much as writing the new
/// ones.
///
/// Inside `flow!` it is `files.compacted()`, and at run time a [`flow::CompactedView`](crate::flow::CompactedView).
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct CompactedDocuments(View, Compaction);

impl CompactedDocuments {
    /// Shows a changed document as a diff, where that is shorter than the document. The model must apply the diff, as
    /// models for code do.
    pub const fn edits(self) -> Self {
        let Self(view, compaction) = self;
        Self(view, Compaction { edits: true, ..compaction })
    }

    /// Sets the most tokens of a request, as a multiple of the tokens that it has without old texts: 1.0 shows each document
    /// once. The default is 2.0, and no bound for a model whose cache is read for a twentieth of the price or less.
    ///
    /// # Panics
    ///
    /// If the factor is below 1; inside `flow!` that is a compile error.
    pub const fn at_most(self, factor: f64) -> Self {
        assert!(factor >= 1.0, "a request has all documents, so `at_most` takes 1.0 or more");
        let Self(view, compaction) = self;
        Self(view, Compaction { at_most: Some(factor), ..compaction })
    }

    #[doc(hidden)]
    pub const fn __view(self) -> View {
        let Self(view, compaction) = self;
        View { compaction: Some(compaction), ..view }
    }
}

/// Selects values by the text or by the step.
#[derive(Clone, Copy, Debug)]
pub(super) enum ConstFilter {
    Text(fn(&str) -> bool),
    Step(fn(usize) -> bool),
}

impl View {
    pub(crate) const fn new(column: usize, window: Window, tag: &'static str) -> Self {
        Self {
            column,
            window,
            has_empty_window: false,
            lag: 0,
            elided: false,
            text_only: false,
            tag,
            note: None,
            filter: None,
            groups: &[],
            purpose: Purpose::Primary,
            tiering: None,
            compaction: None,
            thread: false,
        }
    }

    /// The same values, each one step later.
    pub(crate) const fn lagged(self) -> Self {
        Self { lag: 1, ..self }
    }

    /// Shows the last `count` values. Inside `flow!`, 0 is a compile error.
    pub const fn window(self, count: usize) -> Self {
        match Window::last(count) {
            Some(window) => Self { window, ..self },
            None => Self { has_empty_window: true, ..self },
        }
    }

    /// Whether no view was declared with a window of 0.
    #[doc(hidden)]
    pub const fn __show_values(mut views: &[Self]) -> bool {
        while let [view, tail @ ..] = views {
            if view.has_empty_window {
                return false;
            }
            views = tail;
        }
        true
    }

    /// Shows all values.
    pub const fn all(self) -> Self {
        Self { window: Window::All, ..self }
    }

    /// Shows only the values that `shows` accepts. The others are shown nowhere, as if they were
    /// [skipped](crate::compute::Policy::or_skip), and a column whose inputs have no new value is skipped.
    ///
    /// Windows count all values. `shows` must be a pure function of the text.
    pub const fn filter(self, shows: fn(&str) -> bool) -> Self {
        Self { filter: Some(ConstFilter::Text(shows)), ..self }
    }

    /// Shows only the values of the steps that `shows` accepts. Otherwise it is like [`filter`](Self::filter).
    pub const fn sample(self, shows: fn(usize) -> bool) -> Self {
        Self { filter: Some(ConstFilter::Step(shows)), ..self }
    }

    /// Describes the values to the model. The notes of all inputs are listed once, at the end of the instruction of a
    /// [`prompt`](crate::prompt).
    pub const fn note(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    /// Shows the values under another tag than the column's name, written `.as("tag")` inside `flow!`.
    ///
    /// # Panics
    ///
    /// When the tag is not a [`Name`](crate::Name) without dots; inside `flow!` that is a compile error.
    pub const fn named(self, tag: &'static str) -> Self {
        assert!(
            is_tag(tag),
            "a tag has at most 64 lowercase letters, digits and `_`, beginning with a letter"
        );
        Self { tag, ..self }
    }

    /// The same as [`named`](Self::named), by the name inside `flow!`.
    pub const fn r#as(self, tag: &'static str) -> Self {
        self.named(tag)
    }

    /// Shows the number of values that the window hides, directly before the first value:
    /// `<elided>4 values of topics</elided>`.
    pub const fn elided(self) -> Self {
        Self { elided: true, ..self }
    }

    /// Shows the texts of the values without the [attachments](crate::Attachment).
    pub const fn text_only(self) -> Self {
        Self { text_only: true, ..self }
    }

    /// Shows the values as reference material: before the primary inputs of the step.
    pub const fn context(self) -> Self {
        Self { purpose: Purpose::Context, ..self }
    }

    /// Shows the values at the end of the system text, and in no message. The values are sent unchanged, without a tag, so
    /// never use text that you do not trust.
    pub const fn instruction(self) -> Self {
        Self { purpose: Purpose::Instruction, ..self }
    }

    #[doc(hidden)]
    pub const fn __literal((column, count, is_lagged, tag): LiteralView) -> Self {
        let window = match Window::last(count) {
            Some(window) => window,
            // In a literal 0 is the code for all values; `flow!` has refused a declared window of 0.
            None => Window::All,
        };
        Self { lag: if is_lagged { 1 } else { 0 }, ..Self::new(column, window, tag) }
    }

    /// As for a [`Handle`](crate::flow::Handle): the same tokens follow a column and a half-typed view.
    #[doc(hidden)]
    pub const fn __all(self) -> Self {
        self.all()
    }

    #[doc(hidden)]
    pub const fn __in_tiers(self) -> TieredView {
        TieredView(Self { tiering: Some(Tiering { target: None }), ..self })
    }

    #[doc(hidden)]
    pub const fn __in_log(self) -> CompactedDocuments {
        CompactedDocuments(self, Compaction { edits: false, at_most: None })
    }

    #[doc(hidden)]
    pub const fn __thread(self) -> Self {
        Self { thread: true, ..self }
    }

    #[doc(hidden)]
    pub const fn __in(self, groups: &'static [&'static str]) -> Self {
        Self { groups, ..self }
    }

    fn has_layout(&self) -> bool {
        self.tiering.is_some() || self.compaction.is_some()
    }

    /// The view as the schema checks it, in the column number `reader` of the graph.
    pub(super) fn spec(&self, reader: usize) -> (ShownColumn, ViewSpec) {
        let is_in_turns = !self.has_layout() && !self.thread && !matches!(self.purpose, Purpose::Instruction);
        let has_tag = self.column != reader && is_in_turns;
        let spec = ViewSpec {
            window: self.window,
            has_empty_window: self.has_empty_window,
            lag: self.lag,
            // The self history has no tag, nor have instructions, threads and documents with a layout, and the schema refuses one.
            tag: has_tag.then(|| self.tag.to_owned()),
            // `flow!` refuses two groups with one tag in a column, so one id is enough for all.
            groups: self.groups.iter().map(|&tag| (0, tag.to_owned())).collect(),
            note: self.note.map(ToOwned::to_owned),
            filter: self.filter.map(|filter| match filter {
                ConstFilter::Text(shows) => ViewFilter::Text(Arc::new(shows)),
                ConstFilter::Step(shows) => ViewFilter::Step(Arc::new(shows)),
            }),
            elided: self.elided,
            text_only: self.text_only,
            purpose: self.purpose,
            // `flow!` refuses a second purpose.
            has_other_purposes: false,
            tiering: self.tiering,
            compaction: self.compaction,
            thread: self.thread,
        };
        (ShownColumn::Column(self.column), spec)
    }
}
