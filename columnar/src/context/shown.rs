//! What a context shows: which columns, how much of each, under which tags.
//!
//! ```text
//! views ──▶ windows, at the current step ──▶ snapshots of the columns
//! ```
//!
//! Nothing is copied and nothing is made: what is shown is a handful of snapshots, whatever the length
//! of the history, and its parts are found when somebody reads them. A pure function of the schema and
//! the stored values: the order in which cells were computed cannot show.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::history::History;
use crate::name::Name;
use crate::scheduler::Cell;
use crate::schema::{Reads, Schema};
use crate::value::Value;

/// What the context of one cell shows. Cloning it is two reference counts.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(super) reads: Arc<Reads>,
    pub(super) step: usize,
    /// The inputs in order of declaration, and the own past after them.
    pub(super) views: Arc<[View]>,
}

/// Some steps of a column.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) steps: Range<usize>,
    pub(super) values: History,
}

impl Shown {
    /// What a cell of a derived column shows, all of which is stored; `None` for a source.
    pub(crate) fn new(schema: &Schema, cell: Cell, history: impl Fn(usize) -> History) -> Option<Self> {
        let reads = schema.reads(cell.column)?;
        let inputs = reads.inputs.iter().map(|input| (input.column, input.window.of_input(cell.step)));
        let own = reads.own.map(|own| (cell.column, own.of_own(cell.step)));
        let views = inputs.chain(own).map(|(column, steps)| View { steps, values: history(column) });
        Some(Self { reads: Arc::clone(reads), step: cell.step, views: views.collect() })
    }

    /// Whether both are the same, and not only equal.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.views, &other.views)
    }

    /// The inputs at the current step; without those that are empty for good.
    pub(crate) fn current(&self) -> Vec<(Name, Value)> {
        let inputs = self.reads.inputs.iter().zip(&*self.views);
        inputs.filter_map(|(input, view)| Some((input.tag.clone(), view.values.value(self.step)?))).collect()
    }

    pub(super) fn tags(&self) -> impl Iterator<Item = &Name> + Clone {
        self.reads.inputs.iter().map(|input| &input.tag)
    }

    /// Whether any input has a value at the current step.
    pub(crate) fn is_current(&self) -> bool {
        let mut inputs = self.reads.inputs.iter().zip(&*self.views);
        inputs.any(|(_, view)| view.values.text(self.step).is_some())
    }

    /// Whether there is nothing in any view.
    pub(super) fn is_empty(&self) -> bool {
        self.views.iter().all(|view| view.steps.clone().all(|step| view.values.text(step).is_none()))
    }

    /// The own past, if it is shown.
    fn own(&self) -> Option<&View> {
        self.views.get(self.reads.inputs.len())
    }

    /// The first step that any view shows.
    pub(super) fn first_step(&self) -> usize {
        self.views.iter().map(|view| view.steps.start).min().unwrap_or(self.step)
    }

    /// The first step of the last message: the one after the last that shows what the column said.
    pub(super) fn last_message(&self) -> usize {
        let own = self.own().and_then(|own| {
            own.steps.clone().rev().find(|&step| own.values.text(step).is_some()).map(|step| step + 1)
        });
        own.unwrap_or_else(|| self.first_step())
    }
}
