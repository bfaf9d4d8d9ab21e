//! What a flow gives to all its compute steps.

use crate::cache::Pace;
use crate::model::Choice;
use crate::usage::SpendLimit;

/// What goes with every context of a flow, besides what is shown.
#[derive(Clone, Debug, Default)]
pub(crate) struct Defaults {
    /// The model for who is not told another.
    pub(crate) model: Choice,
    /// How long it usually takes from step to step.
    pub(crate) pace: Pace,
    /// What calls may cost.
    pub(crate) limit: Option<SpendLimit>,
}
