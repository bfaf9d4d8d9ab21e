//! Views as text, in the language of `flow!`: `summary.window(3).as("digest")`.
//!
//! This is the only writer of that text, and [`parse_view`](super::parse_view) is the only parser. The stored definition
//! of a flow has the views as text, and so have columns that are declared in a file. A text names columns and knows none.

use std::fmt;

use super::view::{Purpose, ViewSpec, WindowSuffix};

/// A view, or a group of views, as a text has it.
#[derive(Clone, Debug)]
pub(crate) enum ViewText {
    /// A view of the column of this name.
    Column(String, ViewSpec),
    SelfHistory(ViewSpec),
    Group(String, Vec<Self>),
}

impl fmt::Display for ViewText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Functions have no text. In a definition another filter is found only by another version.
            Self::Column(name, spec) => write_view(name, spec, ".filter", f),
            Self::SelfHistory(spec) => write_view("self", spec, ".filter", f),
            Self::Group(tag, views) => {
                write!(f, "group({tag:?}")?;
                views.iter().try_for_each(|view| write!(f, ", {view}"))?;
                f.write_str(")")
            }
        }
    }
}

/// Writes a view of the column of this name. `filter` stands for the filter, if the view has one.
pub(super) fn write_view(
    name: &str,
    spec: &ViewSpec,
    filter: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if spec.thread {
        write!(f, "{name}.thread()")?;
    } else if spec.has_empty_window {
        write!(f, "{name}{}.window(0)", if spec.lag > 0 { ".prev" } else { "" })?;
    } else {
        write!(f, "{name}{}", WindowSuffix { window: spec.window, lag: spec.lag })?;
    }
    spec.tiering.iter().try_for_each(|tiering| write!(f, "{tiering}"))?;
    spec.compaction.iter().try_for_each(|compaction| write!(f, "{compaction}"))?;
    if spec.purpose != Purpose::Primary {
        write!(f, ".{}()", spec.purpose)?;
    }
    f.write_str(if spec.elided { ".elided()" } else { "" })?;
    f.write_str(if spec.text_only { ".text_only()" } else { "" })?;
    // In this order, since definitions are compared as texts.
    spec.tag.iter().try_for_each(|tag| write!(f, ".as({tag:?})"))?;
    f.write_str(if spec.filter.is_some() { filter } else { "" })?;
    spec.note.iter().try_for_each(|note| write!(f, ".note({note:?})"))
}

/// A text that is no view: the position of the mistake, and how to correct it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {reason}")]
pub struct ViewTextError {
    at: usize,
    reason: String,
}

impl ViewTextError {
    /// `before` is the text before the mistake.
    pub(super) fn new(before: &str, reason: String) -> Self {
        Self { at: before.chars().count() + 1, reason }
    }

    /// The character at which the mistake is, counted from 1.
    pub fn at(&self) -> usize {
        self.at
    }
}
