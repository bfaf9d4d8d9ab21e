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
use crate::schema::{Reads, Schema};
use crate::value::Value;

/// Stands between neighbours of equal role.
const SEPARATOR: &str = "\n\n";

/// Leads an array that would otherwise begin with the assistant. Constant, so that a cached prefix
/// stays valid.
const LEAD: &str = "<elided/>";

/// A cell without the value that the context needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) column: usize,
    pub(crate) step: usize,
}

/// The context of the cell of a derived column at `step`; `None` for a source.
///
/// `value` looks up a stored value by column and step.
pub(crate) fn assemble<'t>(
    schema: &Schema,
    column: usize,
    step: usize,
    value: impl Fn(usize, usize) -> Option<&'t Value>,
) -> Option<Result<Context, Missing>> {
    let reads = schema.reads(column)?;
    let assembly = Assembly { schema, reads, column, step, value, parts: Vec::new() };
    Some(assembly.run())
}

struct Assembly<'s, F> {
    schema: &'s Schema,
    reads: &'s Reads,
    column: usize,
    step: usize,
    value: F,
    parts: Vec<Part>,
}

impl<'t, F: Fn(usize, usize) -> Option<&'t Value>> Assembly<'_, F> {
    fn run(mut self) -> Result<Context, Missing> {
        let tags = self.reads.inputs.iter().map(|input| &input.tag);
        for step in self.first_step()..=self.step {
            for input in &self.reads.inputs {
                if input.window.of_input(self.step).contains(&step) {
                    let value = self.value(input.column, step)?;
                    let shown = wrap(&input.tag, &escape(value, &tags));
                    self.push(Role::User, input.column, step, &shown.into());
                }
            }
            if self.reads.own.is_some_and(|own| own.of_own(self.step).contains(&step)) {
                let value = self.value(self.column, step)?;
                self.push(Role::Assistant, self.column, step, value);
            }
        }
        let inputs = (self.reads.inputs.iter())
            .map(|input| Ok((input.tag.clone(), self.value(input.column, self.step)?.clone())))
            .collect::<Result<_, Missing>>()?;
        let column = self.schema.name(self.column).clone();
        Ok(Context::new(column, self.step, inputs, Messages::new(self.parts)))
    }

    /// The first step that any view shows.
    fn first_step(&self) -> usize {
        let inputs = self.reads.inputs.iter().map(|input| input.window.of_input(self.step));
        let own = self.reads.own.map(|own| own.of_own(self.step));
        inputs.chain(own).map(|steps| steps.start).min().unwrap_or(self.step)
    }

    fn value(&self, column: usize, step: usize) -> Result<&'t Value, Missing> {
        (self.value)(column, step).ok_or(Missing { column, step })
    }

    fn push(&mut self, role: Role, column: usize, step: usize, text: &Value) {
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
