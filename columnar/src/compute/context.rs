//! The argument of a compute step: the cell to compute, and the values that the column reads.

use std::any::Any;
use std::sync::Arc;

use crate::context::{Messages, Role, Snapshot};
use crate::declare::Name;
use crate::history::Value;
use crate::history::tokens::{Counter, Estimate};
use crate::model::cache::{Pace, PastRequests};
use crate::model::rendering::Schema;
use crate::model::usage::SpendLimit;
use crate::model::{Choice, MaxTokens};

/// A [`Prompt`](super::Prompt), which is made of layers above this one.
pub(super) type AnyPrompt = Arc<dyn Any + Send + Sync>;

/// The argument of a compute step: the cell to compute, and the values that the column reads.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column words(user.latest) = |cx: Context| async move {
///         let text = cx.input("user").ok_or("`words` reads `user`")?;
///         Ok::<_, &str>(format!("{} words in step {}", text.split_whitespace().count(), cx.step()))
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
    /// The settings of the flow for columns without such settings.
    pub(crate) defaults: Arc<Defaults>,
    /// The requests before, as far as they are known.
    pub(super) past: Box<PastRequests>,
    /// `None` for plain text.
    output: Option<Arc<OutputSpec>>,
    /// The prompt of the outermost step, which has all settings; `None` if the step is no prompt.
    pub(super) prompt: Option<AnyPrompt>,
    /// The longest reply of the outermost step; `None` without a model.
    pub(super) longest_reply: Option<LongestReply>,
}

impl Context {
    pub(crate) fn new(snapshot: Snapshot, defaults: Arc<Defaults>, past: PastRequests) -> Self {
        Self {
            inputs: snapshot.current(),
            messages: Messages(snapshot),
            defaults,
            past: Box::new(past),
            output: None,
            prompt: None,
            longest_reply: None,
        }
    }

    /// The column of the cell.
    pub fn column(&self) -> &Name {
        &self.messages.snapshot().reads.column
    }

    /// The step of the cell, counted from 0.
    pub fn step(&self) -> usize {
        self.messages.snapshot().step
    }

    /// The notes on the inputs of the column, for the instruction of a model; the same at every step. `None` without
    /// notes. A [`prompt`](crate::prompt) appends the notes to its own instruction.
    pub fn notes(&self) -> Option<&str> {
        self.messages.snapshot().reads.notes.as_deref()
    }

    /// The whole system text: an instruction, then the instruction of the output type.
    pub(crate) fn instruct(&self, instruction: &Arc<str>) -> Arc<str> {
        let instruction = &match &self.output {
            Some(output) => output.instruct(instruction),
            None => Arc::clone(instruction),
        };
        if self.messages.has_system_of(instruction) {
            return Arc::clone(instruction);
        }
        self.messages.system(instruction).into()
    }

    /// The messages array.
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The schema of the value, if the column has a type; `None` for plain text. A [`prompt`](crate::prompt) passes the
    /// schema to the model and appends it to the instruction.
    pub fn schema(&self) -> Option<&Arc<Schema>> {
        self.output.as_ref().map(|output| &output.schema)
    }

    /// Messages to send after the context: earlier replies for this cell that did not match the type of the column,
    /// each followed by the error. Empty at the first attempt. A [`prompt`](crate::prompt) sends them to the model.
    pub fn follow_up(&self) -> &[(Role, Arc<str>)] {
        self.output.as_ref().map_or(&[], |output| &output.follow_up)
    }

    /// The most tokens of a call, at least 1: the request by the counter of the flow, and the longest reply.
    pub(super) fn most_tokens(&self) -> u32 {
        let more = self.follow_up().iter().map(|(_, text)| Estimate.count(text));
        let request = self.messages.system_tokens() + self.messages.tokens() + more.sum::<usize>();
        let reply = self.longest_reply.as_ref().map_or(0, |reply| reply.tokens(&self.defaults));
        u32::try_from(request).unwrap_or(u32::MAX).saturating_add(reply).max(1)
    }

    /// The context of the same cell for this output.
    #[cfg(feature = "typed")]
    pub(crate) fn with_output(self, output: OutputSpec) -> Self {
        Self { output: Some(Arc::new(output)), ..self }
    }

    /// The value of an input at this step, or at the step before for a view with `prev`. If the column
    /// [skipped](crate::compute::Policy::or_skip) that step, `latest` and `window(n)` have the newest value before, and
    /// a view of the whole column has none. The value is verbatim: without a tag around it, and not escaped. `tag` is the
    /// name of the column unless the view sets another one. `None` for an unknown tag, and with `prev` at step 0.
    pub fn input(&self, tag: &str) -> Option<&Value> {
        self.inputs.iter().find(|(name, _)| name == tag).map(|(_, value)| value)
    }

    /// The values that the view with this tag shows, the oldest first: one for `latest`, at most three for `window(3)`,
    /// all for a whole column. Values are verbatim. The tag of `self` is the name of the column. None for an unknown
    /// tag, and none for cells that were [skipped](crate::compute::Policy::or_skip).
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column recent(user.window(2)) = |cx: Context| async move {
    ///         cx.values("user").map(|text| text.to_uppercase()).collect::<Vec<_>>().join(", ")
    ///     };
    /// };
    /// for text in ["one", "two", "three"] {
    ///     chat.user.push(text).await?;
    /// }
    /// chat.run().await?;
    /// assert_eq!(chat.recent.get(2).as_deref(), Some("TWO, THREE"));
    /// # Ok(()) }
    /// ```
    pub fn values(&self, tag: &str) -> impl DoubleEndedIterator<Item = Value> + use<'_> {
        self.messages.snapshot().values(tag)
    }

    /// The tags and values of the inputs in order of declaration, each as [`input`](Self::input) returns it.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (&Name, &Value)> {
        self.inputs.iter().map(|(tag, value)| (tag, value))
    }
}

/// The type of a value, in the form for compute steps.
#[derive(Clone, Debug)]
pub(crate) struct OutputSpec {
    pub(crate) schema: Arc<Schema>,
    /// The text that asks a model for the schema; the same in every request.
    pub(crate) instruction: Arc<str>,
    /// Replies that do not match the schema, each followed by the error.
    pub(crate) follow_up: Vec<(Role, Arc<str>)>,
}

impl OutputSpec {
    /// Appends the instruction of the type.
    pub(crate) fn instruct(&self, instruction: &str) -> Arc<str> {
        let gap = if instruction.is_empty() { "" } else { "\n\n" };
        [instruction, gap, &self.instruction].concat().into()
    }
}

/// The longest reply of a step that calls a model.
#[derive(Clone, Debug)]
pub(crate) struct LongestReply {
    pub(super) model: Choice,
    /// `None` for the default of the model.
    pub(super) limit: Option<u32>,
}

impl LongestReply {
    pub(super) fn tokens(&self, defaults: &Defaults) -> u32 {
        self.limit.unwrap_or_else(|| {
            let name = self.model.model_name(&defaults.model);
            name.map_or(0, |name| MaxTokens::by_model(&name).default)
        })
    }
}

/// The settings of a flow that apply to every column without such a setting.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    /// The system text that follows the system texts of the columns.
    pub(crate) system: Option<Arc<str>>,
    pub(crate) model: Choice,
    /// The usual time from one step to the next.
    pub(crate) pace: Pace,
    /// The spending limit of all calls together.
    pub(crate) limit: Option<SpendLimit>,
}

impl Defaults {
    /// The settings of a run: with the queue as the model, if the run is one by batches.
    pub(crate) fn with_queue(self: &Arc<Self>, queue: Option<&Choice>) -> Arc<Self> {
        match queue {
            Some(queue) => Arc::new(Self { model: queue.clone(), ..(**self).clone() }),
            None => Arc::clone(self),
        }
    }
}
