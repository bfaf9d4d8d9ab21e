//! The system text of a request: the texts of the column and of the flow, the notes on the inputs, the instructions among the
//! inputs, and the documents of the first tier.

use super::delimiters::SEPARATOR;
use super::overhead::{constant, join};
use super::parts::Origin;
use super::snapshot::Snapshot;
use crate::history::StoredText;

impl Snapshot {
    /// The system text under an instruction of the column.
    pub(super) fn system(&self, instruction: &str) -> String {
        let constant = constant(instruction, self.overhead.system.as_deref(), &self.reads);
        let mut system = join(constant.chain(self.instruction_texts().map(|(_, text)| text.value)));
        if let Some(documents) = self.system_documents() {
            if !system.is_empty() {
                system.push_str(SEPARATOR);
            }
            system.push_str(documents);
        }
        system
    }

    /// Whether the system text under an instruction is that instruction.
    pub(super) fn has_system_of(&self, instruction: &str) -> bool {
        let is_alone =
            self.overhead.system.is_none() && self.reads.notes.is_none() && !self.has_instructions();
        is_alone && self.layout().is_none() && instruction.trim().len() == instruction.len()
    }

    /// The documents that end the system text.
    pub(super) fn system_documents(&self) -> Option<&str> {
        Some(self.layout()?.system()?.text())
    }

    /// The values of the instructions among the inputs, step by step.
    pub(super) fn instruction_texts(&self) -> impl Iterator<Item = (Origin<'_>, StoredText<'_>)> {
        let first = self.instruction_inputs().map(|(_, view)| view.steps.start).min();
        let steps = first.map_or(0..0, |first| first..self.step + 1);
        steps.flat_map(move |step| {
            let views = self.instruction_inputs();
            views.filter(move |(_, view)| view.steps.contains(&step)).filter_map(move |(input, view)| {
                let text = view.text(step)?;
                // No underflow: a turn before the lag has no value.
                Some((Origin { column: &input.name, step: step - view.lag }, text))
            })
        })
    }

    /// Whether another context has the same instructions among the inputs.
    pub(super) fn has_instructions_of(&self, other: &Self) -> bool {
        let texts = |snapshot: &Self| join(snapshot.instruction_texts().map(|(_, text)| text.value));
        texts(self) == texts(other)
    }
}
