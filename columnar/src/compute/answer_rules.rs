//! The rules for values that come from outside: what a column proposes, and which answers it takes.

use std::sync::Arc;

use super::Context;
use crate::declare::error::BoxError;
use crate::history::Value;

/// The functions of a column that propose a value and read an answer. Users write both.
#[derive(Clone, Default)]
pub(crate) struct AnswerRules {
    pub(super) propose: Option<Arc<ProposeAnswer>>,
    /// Reads the value of a typed column in an answer.
    pub(super) read: Option<Arc<ReadAnswer>>,
}

pub(super) type ProposeAnswer = dyn Fn(&Context) -> Result<Value, BoxError> + Send + Sync;

pub(super) type ReadAnswer = dyn Fn(&str) -> Result<String, BoxError> + Send + Sync;

const NO_PROPOSAL: &str = "the column has none: declare one with `external().default(…)`";

impl AnswerRules {
    /// The proposal for the cell of a context, as it would be stored.
    pub(crate) fn proposal(&self, cx: &Context) -> Result<Value, BoxError> {
        let propose = self.propose.as_ref().ok_or(NO_PROPOSAL)?;
        self.value(propose(cx)?)
    }

    /// The value that is stored for an answer: of a typed column, the JSON.
    pub(crate) fn value(&self, answer: Value) -> Result<Value, BoxError> {
        let Some(read) = &self.read else { return Ok(answer) };
        let json = read(&answer)?;
        Ok(if json == *answer { answer } else { json.into() })
    }
}
