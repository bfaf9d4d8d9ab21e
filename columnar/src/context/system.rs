//! The system text of a request: the texts of the column and of the flow, the notes on the inputs, the instructions among the
//! inputs, and the documents of the first tier.

use std::borrow::Cow;

use super::delimiters::SEPARATOR;
use super::messages::Messages;
use super::overhead::join;
use super::parts::Origin;
use super::step_views::StepViews;
use crate::history::StoredText;

impl Messages {
    /// The whole system text of a request under an instruction: the instruction, the
    /// [text of the flow](crate::flow::LiveFlow::set_system), the notes on the inputs, the
    /// [instructions](crate::View::instruction) among the inputs, and the documents in the first
    /// [tier](crate::tiers::Tier::L0). All but the last have no white space around them, and blank ones are omitted. A
    /// [`prompt`](crate::prompt) sends it; this is for your own client.
    ///
    /// The instruction is left out if the messages have it: if the prompt stands [after](crate::Prompt::after) them, or if the
    /// column [continues](crate::Column::thread) another one, whose system text this is then.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user.note("The words of the user."), self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let system = chat.answer.messages(0)?.system("Be brief.");
    /// assert_eq!(system, "Be brief.\n\nWhat the tags in the messages hold:\n<user>: The words of the user.");
    /// # Ok(()) }
    /// ```
    pub fn system(&self, instruction: &str) -> String {
        let snapshot = self.0.root();
        let of_thread = self.0.thread().map(|_| snapshot.overhead.text.as_deref().unwrap_or_default());
        let constant = snapshot.overhead.constant(of_thread.unwrap_or(instruction), &snapshot.reads);
        let instructions = snapshot.instruction_values();
        let mut system = join(constant.into_iter().chain(instructions.iter().map(|text| &**text)));
        if let Some(documents) = self.system_documents() {
            if !system.is_empty() {
                system.push_str(SEPARATOR);
            }
            system.push_str(documents);
        }
        system
    }

    /// Whether the whole system text under an instruction is that instruction.
    pub(crate) fn has_system_of(&self, instruction: &str) -> bool {
        let Self(snapshot) = self;
        let has_texts = snapshot.overhead.system.is_some() || snapshot.reads.notes.is_some();
        let is_alone = !has_texts
            && !snapshot.overhead.is_in_message()
            && !self.has_instructions()
            && snapshot.layout().is_none();
        is_alone && instruction.trim().len() == instruction.len()
    }

    /// The whole system text under the instruction of the column.
    pub(crate) fn sent_system(&self) -> String {
        self.system(self.0.overhead.text.as_deref().unwrap_or_default())
    }

    /// The documents that end the system text.
    pub(crate) fn system_documents(&self) -> Option<&str> {
        Some(self.0.root().layout()?.system()?.text())
    }

    /// Whether another request of the column has the same instructions among the inputs.
    pub(crate) fn has_instructions_of(&self, other: &Self) -> bool {
        self.0.root().has_instructions_of(other.0.root())
    }
}

impl StepViews {
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

    /// The instructions among the inputs, with words for attachments, which no system text has.
    fn instruction_values(&self) -> Vec<Cow<'_, str>> {
        self.instruction_texts().map(|(_, text)| text.in_words()).collect()
    }

    /// Whether other views of the column show the same instructions among the inputs.
    pub(super) fn has_instructions_of(&self, other: &Self) -> bool {
        let [own, others] =
            [self, other].map(|views| join(views.instruction_values().iter().map(|text| &**text)));
        own == others
    }
}
