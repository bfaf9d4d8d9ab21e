//! What a compute step asks of the flow that calls it.

use std::sync::Arc;

use crate::context::budget::Budget;
use crate::model::Choice;
use crate::schedule::Rules;

/// What is said behind a compute step about its column. Most say little, and there may be many flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) rules: Rules,
    pub(crate) budget: Option<Arc<Budget>>,
    /// What goes to a model with every call besides the context, if one is asked.
    pub(crate) instruction: Option<Arc<str>>,
    /// The model that is asked, if one is.
    pub(crate) model: Option<Choice>,
    /// What tells values that are computed otherwise from those that are stored.
    pub(crate) version: Option<Arc<str>>,
    /// How often a reply is asked for again that is not of the type of the column.
    #[cfg(feature = "typed")]
    pub(crate) repairs: Option<usize>,
}
