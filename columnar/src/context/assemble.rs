//! From what a column reads to what its compute sees.
//!
//! ```text
//! views ──▶ windows, at the current step ──▶ parts, step by step ──▶ messages
//! ```
//!
//! A pure function of the schema and the stored values: the order in which cells were computed
//! cannot show.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::Context;
use super::escape::escape;
use super::messages::Messages;
use super::part::{Origin, Part, Role};
use crate::scheduler::Cell;
use crate::schema::{Reads, Schema};
use crate::value::Value;

/// Stands between neighbours of equal role.
const SEPARATOR: &str = "\n\n";

/// Leads an array that would otherwise begin with the assistant. Constant, so that a cached prefix
/// stays valid.
const LEAD: &str = "<elided/>";

/// Why there is no context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoContext {
    /// A cell that the context shows is not stored.
    Missing(Cell),
    /// All that is new for the column is empty for good.
    Nothing,
}

/// The context of a cell of a derived column; `None` for a source.
///
/// `value` looks up what is stored: `Ok(None)` is a cell that is empty for good, and shown nowhere.
pub(crate) fn assemble<'t>(
    schema: &Schema,
    cell: Cell,
    value: impl Fn(Cell) -> Result<Option<&'t Value>, NoContext>,
) -> Option<Result<Context, NoContext>> {
    let reads = schema.reads(cell.column)?;
    let assembly = Assembly { schema, reads, cell, value, parts: Vec::new() };
    Some(assembly.run())
}

struct Assembly<'s, F> {
    schema: &'s Schema,
    reads: &'s Reads,
    cell: Cell,
    value: F,
    parts: Vec<Part>,
}

impl<'t, F: Fn(Cell) -> Result<Option<&'t Value>, NoContext>> Assembly<'_, F> {
    fn run(mut self) -> Result<Context, NoContext> {
        let Cell { column, step: now } = self.cell;
        let tags = self.reads.inputs.iter().map(|input| &input.tag);
        for step in self.first_step()..=now {
            for input in &self.reads.inputs {
                let shown = Cell { column: input.column, step };
                if input.window.of_input(now).contains(&step)
                    && let Some(value) = (self.value)(shown)?
                {
                    self.push(Role::User, shown, &wrap(&input.tag, &escape(value, &tags)).into());
                }
            }
            let own = Cell { column, step };
            if self.reads.own.is_some_and(|window| window.of_own(now).contains(&step))
                && let Some(value) = (self.value)(own)?
            {
                self.push(Role::Assistant, own, value);
            }
        }
        let mut inputs = Vec::with_capacity(self.reads.inputs.len());
        for input in &self.reads.inputs {
            let value = (self.value)(Cell { column: input.column, step: now })?;
            inputs.extend(value.map(|value| (input.tag.clone(), value.clone())));
        }
        if inputs.is_empty() {
            return Err(NoContext::Nothing);
        }
        Ok(Context::new(self.schema.name(column).clone(), now, inputs, Messages::new(self.parts)))
    }

    /// The first step that any view shows.
    fn first_step(&self) -> usize {
        let now = self.cell.step;
        let inputs = self.reads.inputs.iter().map(|input| input.window.of_input(now));
        let own = self.reads.own.map(|own| own.of_own(now));
        inputs.chain(own).map(|steps| steps.start).min().unwrap_or(now)
    }

    fn push(&mut self, role: Role, Cell { column, step }: Cell, text: &Value) {
        if self.parts.is_empty() && role == Role::Assistant {
            self.parts.push(Part::new(Role::User, None, LEAD.into()));
        }
        let joins = self.parts.last().is_some_and(|last| last.role() == role);
        let text = if joins { format!("{SEPARATOR}{text}").into() } else { text.clone() };
        let origin = Origin { column: self.schema.name(column).clone(), step };
        self.parts.push(Part::new(role, Some(origin), text));
    }
}

/// A value in its tag. Written out because it is done for every value of every context.
fn wrap(tag: &str, value: &str) -> String {
    let mut shown = String::with_capacity(value.len() + 2 * tag.len() + "<>\n\n</>".len());
    for piece in ["<", tag, ">\n", value, "\n</", tag, ">"] {
        shown.push_str(piece);
    }
    shown
}
