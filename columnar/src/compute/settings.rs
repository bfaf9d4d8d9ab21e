//! The settings of a column, and the defaults of its flow.

use std::sync::Arc;

use crate::cache::Pace;
use crate::context::budget::Budget;
use crate::model::Choice;
use crate::schedule::Rules;
use crate::usage::SpendLimit;

/// The settings that a compute step brings for its column. Shared, as most steps have none and there may be many flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) rules: Rules,
    pub(crate) budget: Option<Arc<Budget>>,
    /// The constant instruction of a model, sent with every request besides the context.
    pub(crate) instruction: Option<Arc<str>>,
    /// The model of the step, if it calls one.
    pub(crate) model: Option<Choice>,
    /// Distinguishes values of this step from stored values of an earlier one.
    pub(crate) version: Option<Arc<str>>,
    /// The number of further requests after a reply that does not match the type of the column.
    #[cfg(feature = "typed")]
    pub(crate) repairs: Option<usize>,
}

/// The settings of a flow that apply to every column without its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    pub(crate) model: Choice,
    /// The usual time from one step to the next.
    pub(crate) pace: Pace,
    /// The spending limit of all calls together.
    pub(crate) limit: Option<SpendLimit>,
}
