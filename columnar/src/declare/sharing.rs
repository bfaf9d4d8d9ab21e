//! The columns whose requests have a beginning in common, as far as declarations and settings decide it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::name::Name;
use super::reads::{InputView, Reads};
use super::schema::Schema;

/// The settings of a column that decide what the column shares. A graph knows none.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestShape {
    /// Whether the values come from outside, and nothing is requested.
    pub(crate) is_external: bool,
    /// The form of the contexts, if the instruction stands behind the messages.
    pub(crate) after: Option<String>,
    pub(crate) model: Option<Arc<str>>,
    pub(crate) effort: Option<String>,
    pub(crate) schema: Option<String>,
}

/// Another column, whose request at a step begins as the request of this column does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedOutline {
    /// The other column.
    pub column: Name,
    /// What keeps a provider from serving the beginning to both columns; `None` if nothing does.
    pub ended_by: Option<SharingEnd>,
}

/// A difference of two requests with one beginning, for which a provider caches the beginning twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SharingEnd {
    /// The model.
    Model,
    /// The effort of the model.
    Effort,
    /// The type of the values, whose schema stands before the messages.
    Type,
}

impl SharedOutline {
    /// What the columns of a schema share: a thread with the column that it continues and with the other threads of that
    /// column, and an instruction after the messages with those after the same views.
    pub(super) fn all(schema: &Schema, shapes: &[RequestShape]) -> Vec<Vec<Self>> {
        let mut groups: BTreeMap<Beginning, Vec<usize>> = BTreeMap::new();
        for column in 0..schema.columns().len() {
            if let Some(beginning) = Beginning::of(schema, column, shapes.get(column)) {
                groups.entry(beginning).or_default().push(column);
            }
        }
        let mut shares = vec![Vec::new(); schema.columns().len()];
        for (beginning, mut members) in groups {
            if let Beginning::Thread(column) = beginning {
                members.insert(0, column);
            }
            for &column in &members {
                let others = members.iter().filter(|other| **other != column).map(|&other| {
                    let ended_by = shapes.get(column).and_then(|shape| shape.difference(shapes.get(other)?));
                    Self { column: schema.name(other).clone(), ended_by }
                });
                shares.get_mut(column).into_iter().for_each(|shared| shared.extend(others.clone()));
            }
        }
        shares
    }
}

/// A beginning that requests have in common.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Beginning {
    /// The conversation of a column.
    Thread(usize),
    /// The values of these views.
    Views(String),
}

impl Beginning {
    /// The conversation that a column continues, or the views before its instruction.
    fn of(schema: &Schema, column: usize, shape: Option<&RequestShape>) -> Option<Self> {
        let reads = schema.reads(column)?;
        if let Some(thread) = &reads.thread {
            return Some(Self::Thread(thread.column));
        }
        Some(Self::Views(format!("{} {}", shape?.after.as_ref()?, views(reads)?)))
    }
}

/// The views of a column as a text, without notes; `None` if values of its own, a filter or a thread are among them.
fn views(reads: &Reads) -> Option<String> {
    let is_plain = reads.thread.is_none() && reads.self_view.is_none() && reads.tiered.is_none();
    let has_filter = reads.all_inputs().any(|input| input.spec.filter.is_some());
    let texts = reads.all_inputs().map(|InputView { name, tag, groups, spec, .. }| {
        let groups = groups.iter().filter_map(|group| Some(&reads.groups.get(*group)?.tag));
        let groups: Vec<&Name> = groups.collect();
        format!("{name} {tag} {groups:?} {:?} {} {} {}", spec.window, spec.lag, spec.elided, spec.text_only)
    });
    (is_plain && !has_filter).then(|| texts.collect::<Vec<_>>().join(", "))
}

impl RequestShape {
    fn difference(&self, other: &Self) -> Option<SharingEnd> {
        match () {
            () if self.model != other.model => Some(SharingEnd::Model),
            () if self.effort != other.effort => Some(SharingEnd::Effort),
            () if self.schema != other.schema => Some(SharingEnd::Type),
            () => None,
        }
    }
}

impl fmt::Display for SharingEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Model => "another model",
            Self::Effort => "another effort",
            Self::Type => "another type",
        })
    }
}

/// As in "shares with `critic`", or in "shares nothing with `critic`, by another model".
impl fmt::Display for SharedOutline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, ended_by } = self;
        match ended_by {
            None => write!(f, "shares with `{column}`"),
            Some(by) => write!(f, "shares nothing with `{column}`, by {by}"),
        }
    }
}
