//! What a context shows: which columns, how much of each, under which tags.
//!
//! ```text
//! views ──▶ windows, at the current step ──▶ snapshots of the columns
//! ```
//!
//! Nothing is copied and nothing is made: what is shown is a handful of snapshots, whatever the length
//! of the history, and its parts are found when somebody reads them. A pure function of the schema and
//! the stored values: the order in which cells were computed cannot show.

use alloc::vec::Vec;
use core::ops::Range;

use crate::history::History;
use crate::name::Name;
use crate::scheduler::Cell;
use crate::schema::Schema;
use crate::value::Value;
use crate::window::Window;

/// What the context of one cell shows.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(super) column: Name,
    pub(super) step: usize,
    /// In order of declaration.
    pub(super) inputs: Vec<Input>,
    pub(super) own: Option<View>,
}

/// An input and the tag around its values.
#[derive(Clone, Debug)]
pub(super) struct Input {
    pub(super) column: Name,
    pub(super) tag: Name,
    pub(super) view: View,
}

/// Some steps of a column.
#[derive(Clone, Debug)]
pub(super) struct View {
    pub(super) window: Window,
    /// Those that are shown now.
    pub(super) steps: Range<usize>,
    /// The first of those that will be shown by the next context.
    pub(super) next: usize,
    pub(super) values: History,
}

impl Shown {
    /// What a cell of a derived column shows, all of which is stored; `None` for a source.
    pub(crate) fn new(schema: &Schema, cell: Cell, history: impl Fn(usize) -> History) -> Option<Self> {
        let reads = schema.reads(cell.column)?;
        let inputs = reads.inputs.iter().map(|input| Input {
            column: schema.name(input.column).clone(),
            tag: input.tag.clone(),
            view: View {
                window: input.window,
                steps: input.window.of_input(cell.step),
                next: input.window.of_input(cell.step + 1).start,
                values: history(input.column),
            },
        });
        let own = reads.own.map(|window| View {
            window,
            steps: window.of_own(cell.step),
            next: window.of_own(cell.step + 1).start,
            values: history(cell.column),
        });
        let column = schema.name(cell.column).clone();
        Some(Self { column, step: cell.step, inputs: inputs.collect(), own })
    }

    /// What the context showed at the last step before, without those at which all inputs were empty.
    pub(super) fn previous(&self) -> Option<Self> {
        let mut shown = self.clone();
        while let Some(step) = shown.step.checked_sub(1) {
            shown.step = step;
            for Input { view, .. } in &mut shown.inputs {
                (view.steps, view.next) = (view.window.of_input(step), view.window.of_input(step + 1).start);
            }
            if let Some(view) = &mut shown.own {
                (view.steps, view.next) = (view.window.of_own(step), view.window.of_own(step + 1).start);
            }
            if shown.is_current() {
                return Some(shown);
            }
        }
        None
    }

    /// The inputs at the current step; without those that are empty for good.
    pub(crate) fn current(&self) -> Vec<(Name, Value)> {
        let value = |input: &Input| Some((input.tag.clone(), input.view.values.value(self.step)?));
        self.inputs.iter().filter_map(value).collect()
    }

    pub(super) fn tags(&self) -> impl Iterator<Item = &Name> + Clone {
        self.inputs.iter().map(|input| &input.tag)
    }

    /// Whether any input has a value at the current step.
    pub(crate) fn is_current(&self) -> bool {
        self.inputs.iter().any(|input| input.view.values.text(self.step).is_some())
    }

    /// The first step that any view shows.
    pub(super) fn first_step(&self) -> usize {
        let inputs = self.inputs.iter().map(|input| &input.view);
        inputs.chain(&self.own).map(|view| view.steps.start).min().unwrap_or(self.step)
    }

    /// The first step of the last message: the one after the last that shows what the column said.
    pub(super) fn last_message(&self) -> usize {
        let own = self.own.as_ref().and_then(|own| {
            own.steps.clone().rev().find(|&step| own.values.text(step).is_some()).map(|step| step + 1)
        });
        own.unwrap_or_else(|| self.first_step())
    }
}
