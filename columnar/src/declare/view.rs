//! Views: how a column reads another one, or the self history.
//!
//! A new modifier of views has a field and its rules here and in `view_rules.rs` (a window: in `window.rs`), a text in
//! `view_text.rs` and `parse_view.rs`, methods in `graph/view.rs` and in `flow` (`view_methods.rs`, `handle.rs`,
//! `column.rs`), a place in `context/filters.rs`, `context/shared_prefix.rs` and `run/contexts` if it hides values, a
//! word with its messages in the macro (`keywords.rs`, `syntax/modifiers.rs`, `syntax/view.rs`, `diagnostics.rs`), and a
//! row in `guide/views.rs`.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::window::Window;
use crate::history::SkippedSteps;

/// The deepest nesting of groups around a view. Each level has a frame of the stack where views are read, and tags around
/// the values of each view.
pub(crate) const DEEPEST_GROUP: usize = 32;

/// The most conversations of which each continues the next. Each has all before it, and a frame of the stack.
pub(super) const DEEPEST_THREAD: usize = 32;

/// A view: the values of a column that it shows, the lag and the tag.
///
/// A declaration makes each view once: `flow!` from a [`graph::View`](super::graph::View), the run-time API from a
/// [`View`](crate::View). A view must be the same thing everywhere, so schema, plan, outline, assembly and the stored
/// definition of a flow all read this one.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a modifier, or a mistake in one")]
pub(crate) struct ViewSpec {
    pub(crate) window: Window,
    /// Whether the declaration has a window of 0, which the schema refuses.
    pub(crate) has_empty_window: bool,
    /// How many steps later each value is shown. Within a step nothing waits for a value that is shown later.
    pub(crate) lag: usize,
    /// The tag, where it is not the column's name.
    pub(crate) tag: Option<String>,
    /// The groups around the view, the outermost first: an id that tells groups of one tag apart, and the tag.
    pub(crate) groups: Vec<(usize, String)>,
    pub(crate) purpose: Purpose,
    /// Whether the declaration has several purposes, which the schema refuses.
    pub(crate) has_other_purposes: bool,
    /// The description that a model reads.
    pub(crate) note: Option<String>,
    /// Selects values inside the window.
    pub(crate) filter: Option<ViewFilter>,
    /// Whether a notice counts the values that the window hides.
    pub(crate) elided: bool,
    /// Whether values are shown without the attachments.
    pub(crate) text_only: bool,
    /// The layout of documents by how long they have not changed; `None` for values in turns. Such a view has no window.
    pub(crate) tiering: Option<Tiering>,
    /// The layout of documents as a log, which is compacted now and then. Such a view has no window.
    pub(crate) compaction: Option<Compaction>,
    /// Whether the request continues the conversation of the column, and shows no turns of it.
    pub(crate) thread: bool,
}

/// How a compacted view lays out documents.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Compaction {
    /// Whether a changed document is shown as a diff, where that is shorter.
    pub(crate) edits: bool,
    /// The largest request over the texts that are valid; `None` for the default of the model.
    pub(crate) at_most: Option<f64>,
}

/// As in a declaration after the column's name: `.compacted()` or `.compacted().edits().at_most(2.0)`.
impl fmt::Display for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(".compacted()")?;
        f.write_str(if self.edits { ".edits()" } else { "" })?;
        self.at_most.map_or(Ok(()), |factor| write!(f, ".at_most({factor:?})"))
    }
}

/// How a tiered view lays out documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tiering {
    /// The tokens that a cached tier should have; 0 for tiers of any size, `None` for the default of the provider.
    pub(crate) target: Option<usize>,
}

/// As in a declaration after the column's name: `.tiered()` or `.tiered().target(1536)`.
impl fmt::Display for Tiering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(".tiered()")?;
        self.target.map_or(Ok(()), |target| write!(f, ".target({target})"))
    }
}

/// The purpose of an input in a request: of a view of a column, or of a source of an edge in a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// The end of the system text. The text is sent unchanged, so never use this for text that you do not trust.
    Instruction,
    /// Reference material, before the primary inputs of the message.
    Context,
    /// A part of the conversation.
    #[default]
    Primary,
}

impl Purpose {
    /// The name of the purpose: `instruction`, `context` or `primary`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Instruction => "instruction",
            Self::Context => "context",
            Self::Primary => "primary",
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ViewSpec {
    /// All of a column.
    pub(crate) fn all() -> Self {
        Self {
            window: Window::All,
            has_empty_window: false,
            lag: 0,
            tag: None,
            groups: Vec::new(),
            purpose: Purpose::Primary,
            has_other_purposes: false,
            note: None,
            filter: None,
            elided: false,
            text_only: false,
            tiering: None,
            compaction: None,
            thread: false,
        }
    }

    /// With another window; `None` for a window of 0.
    pub(crate) fn windowed(self, window: Option<Window>) -> Self {
        // Any window will do for 0: `has_empty_window` makes the schema refuse the view.
        Self { window: window.unwrap_or(Window::LATEST), has_empty_window: window.is_none(), ..self }
    }

    /// With a purpose.
    pub(crate) fn for_purpose(self, purpose: Purpose) -> Self {
        Self { purpose, has_other_purposes: self.purpose != Purpose::Primary, ..self }
    }

    /// The steps whose turns show an input, in a context of `step`.
    pub(crate) fn turns(&self, step: usize, skipped: &SkippedSteps) -> Range<usize> {
        let Range { start, end } = self.cells(step, skipped);
        start + self.lag..end + self.lag
    }

    /// The steps of an input that a context of `step` shows. `skipped` are the skipped steps of the input.
    pub(crate) fn cells(&self, step: usize, skipped: &SkippedSteps) -> Range<usize> {
        // The first `lag` steps come before any value that the view could show.
        step.checked_sub(self.lag)
            .map_or(0..0, |newest| self.window.ending(newest.saturating_add(1), skipped))
    }

    /// The steps of the self history that a context of `step` shows.
    pub(crate) fn self_cells(&self, step: usize, skipped: &SkippedSteps) -> Range<usize> {
        self.window.ending(step, skipped)
    }

    /// Whether the view shows a column as it is: all values, at their own steps.
    pub(crate) fn is_whole(&self) -> bool {
        let Self { window, has_empty_window, lag, filter, elided, .. } = self;
        *window == Window::All && !has_empty_window && *lag == 0 && filter.is_none() && !elided
    }
}

/// The window and the lag of a view, as in a declaration after the column's name: `.latest`, `.window(3)`, `.prev`, ….
pub(crate) struct WindowSuffix {
    pub(crate) window: Window,
    pub(crate) lag: usize,
}

impl fmt::Display for WindowSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.lag, self.window) {
            (0, window) => window.fmt(f),
            (_, Window::LATEST) => f.write_str(".prev"),
            (_, Window::All) => f.write_str(".prev.all()"),
            (_, window) => write!(f, ".prev{window}"),
        }
    }
}

/// Selects values of a column by the text or by the step.
#[derive(Clone)]
pub(crate) enum ViewFilter {
    Text(Arc<dyn Fn(&str) -> bool + Send + Sync>),
    Step(Arc<dyn Fn(usize) -> bool + Send + Sync>),
}

impl ViewFilter {
    pub(crate) fn shows(&self, step: usize, text: &str) -> bool {
        match self {
            Self::Text(shows) => shows(text),
            Self::Step(shows) => shows(step),
        }
    }
}

impl fmt::Debug for ViewFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filter")
    }
}
