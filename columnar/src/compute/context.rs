//! What a compute step gets: the cell and what its column reads.

use std::sync::Arc;

use super::{Defaults, OutputSpec};
use crate::context::{Messages, Role, Snapshot};
use crate::declare::Name;
use crate::history::Value;
use crate::rendering::Schema;

/// What a compute step is given: the cell to compute and what the column reads.
///
/// ```
/// # use columnar::prelude::*;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column words(user.latest) = |cx: Context| async move {
///         let said = cx.input("user").ok_or("`words` reads `user`")?;
///         Ok::<_, &str>(format!("{} words in step {}", said.split_whitespace().count(), cx.step()))
///     };
/// };
/// chat.user.push("one two three").await?;
/// chat.run().await?;
/// assert_eq!(chat.words.get(0).as_deref(), Some("3 words in step 0"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    inputs: Vec<(Name, Value)>,
    messages: Messages,
    defaults: Arc<Defaults>,
    /// `None` for plain text.
    output: Option<Arc<OutputSpec>>,
}

impl Context {
    pub(crate) fn new(snapshot: Snapshot, defaults: Arc<Defaults>) -> Self {
        Self { inputs: snapshot.current(), messages: Messages::new(snapshot), defaults, output: None }
    }

    /// What the flow gives to all its compute steps.
    pub(crate) fn defaults(&self) -> &Defaults {
        &self.defaults
    }

    /// The column that is computed.
    pub fn column(&self) -> &Name {
        &self.messages.snapshot().reads.column
    }

    /// The step that is computed, counted from 0.
    pub fn step(&self) -> usize {
        self.messages.snapshot().step
    }

    /// What the views of the column note of its inputs, for the instruction of a model: the same at every step.
    /// `None` where nothing is noted. A [`prompt`](crate::prompt) puts it behind its own instruction.
    pub fn orientation(&self) -> Option<&str> {
        self.messages.snapshot().reads.orientation.as_deref()
    }

    /// An instruction, with the shape that is wanted and with what is noted of the inputs.
    pub(crate) fn instruct(&self, instruction: &Arc<str>) -> Arc<str> {
        let instruction = &match &self.output {
            Some(output) => output.instruct(instruction),
            None => Arc::clone(instruction),
        };
        match self.orientation() {
            Some(_) => self.messages.snapshot().reads.instruct(instruction).into(),
            None => Arc::clone(instruction),
        }
    }

    /// The messages array.
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The shape of the value that is wanted, in a column that has a type; `None` where it is plain
    /// text. A [`prompt`](crate::prompt) hands it to its model, and says it behind its own instruction.
    pub fn schema(&self) -> Option<&Arc<Schema>> {
        self.output.as_ref().map(|output| &output.schema)
    }

    /// What is to be said behind the messages, in turn: replies of this very cell that were not what is wanted, and
    /// what is wrong with each. Empty at the first attempt. A [`prompt`](crate::prompt) sends it to its model.
    pub fn follow_up(&self) -> &[(Role, Arc<str>)] {
        self.output.as_ref().map_or(&[], |output| &output.follow_up)
    }

    /// The same cell, of which this is wanted.
    #[cfg(feature = "typed")]
    pub(crate) fn with_output(self, output: OutputSpec) -> Self {
        Self { output: Some(Arc::new(output)), ..self }
    }

    /// The value that an input has at this step, with `prev` that of the step before, verbatim: no tag around
    /// it, nothing escaped. Inputs go by their tag, which is the column's name unless the view gives another.
    /// `None` for a tag that there is not, for a column that was [skipped](crate::compute::Policy::or_skip), and
    /// with `prev` at step 0.
    pub fn input(&self, tag: &str) -> Option<&Value> {
        self.inputs.iter().find(|(name, _)| name == tag).map(|(_, value)| value)
    }

    /// The inputs at this step in order of declaration, each by its tag and verbatim, without those
    /// that were skipped.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&Name, &Value)> {
        self.inputs.iter().map(|(tag, value)| (tag, value))
    }
}
