//! What the requests of columns have in common: the settings for the outline, the bytes of requests, and what it saves.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

use super::dry_run::TokenSums;
use crate::compute::StepSettings;
use crate::declare::{Name, Outline, Plan, RequestShape, SharedOutline, SharingEnd};
use crate::model::Choice;
use crate::model::cache::{CachePolicy, SharedBeginning, StablePrefix};
use crate::model::usage::{Dollars, Price, Usage, grouped};
use crate::run::Result;
use crate::run::shared::SharedFlow;
use crate::run::state::{FindColumn, FlowState};
use crate::run::user_code::caught;

impl SharedFlow {
    /// The outline with the settings of the columns. Names of models are code of users.
    pub(crate) fn outline(&self) -> Outline {
        let state = self.lock();
        let plan = Arc::clone(&state.plan);
        let settings = state.settings.clone();
        let default = state.defaults.model.clone();
        drop(state);
        outline(&plan, &settings, &default)
    }

    /// The prefix that the messages of a cell share with the next request, and with requests of other columns.
    pub(crate) fn explain_cache(&self, column: impl FindColumn, step: usize) -> Result<StablePrefix> {
        let messages = self.messages(column, step)?;
        let mut prefix = StablePrefix::of(&messages);
        let outline = self.outline().columns.into_iter().find(|outline| outline.name == *messages.column());
        let shares = outline.map(|outline| outline.shares).unwrap_or_default();
        for other in shares.iter().filter(|other| other.ended_by.is_none()) {
            // A column that is skipped at the step sends nothing.
            let shared = self.messages(&*other.column, step).ok();
            prefix.shared.extend(shared.and_then(|other| SharedBeginning::of(&messages, &other)));
        }
        Ok(prefix)
    }
}

impl FlowState {
    /// What the requests of a column at these steps share with the requests of the column that sends them first.
    pub(super) fn forecast_shared(
        &mut self,
        sums: &TokenSums,
        column: usize,
        steps: &[usize],
        shares: &[SharedOutline],
    ) -> Option<SharedForecast> {
        let plan = Arc::clone(&self.plan);
        let thread = plan.schema().thread_of(column);
        let first = match thread {
            Some(thread) => shares.iter().find(|shared| shared.column == *plan.schema().name(thread)),
            None => shares.first().filter(|shared| plan.schema().find(&shared.column) < Some(column)),
        }?;
        let requests = match thread {
            Some(thread) => self.request_tokens(sums, thread, &sums.last_values(thread, steps))?,
            None => {
                let own = self.contexts_now(column)?.assembler.overhead().own_tokens();
                self.request_tokens(sums, column, steps)?.into_iter().map(|tokens| tokens - own).collect()
            }
        };
        let settings = self.settings.get(column)?;
        let model = caught(|| settings.model.as_ref()?.model_name(&self.defaults.model)).flatten()?;
        let policy = CachePolicy::by_model(&model);
        let cached: Vec<u64> = requests
            .iter()
            .filter(|tokens| **tokens >= policy.minimum)
            .map(|tokens| *tokens as u64)
            .collect();
        let unpaid = match first.ended_by {
            Some(end) => Some(Unpaid::Ended(end)),
            None if policy.read >= 1.0 => Some(Unpaid::NoDiscount),
            None => cached.is_empty().then_some(Unpaid::BelowMinimum(policy.minimum)),
        };
        let price = Price::by_model(&model).filter(|_| unpaid.is_none());
        let saved = price.map(|price| {
            let whole = cached.iter().map(|tokens| price.cost(&Usage::new(*tokens, 0)));
            let read = cached.iter().map(|tokens| price.cost(&Usage::new(*tokens, 0).cached(*tokens, 0)));
            whole.sum::<Dollars>().without(read.sum())
        });
        let with = first.column.clone();
        Some(SharedForecast { with, tokens: requests.iter().sum(), saved, unpaid })
    }
}

/// The tokens of a column's requests in a [`Forecast`](crate::Forecast) with which requests of another column begin as well. It
/// prints as a part of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedForecast {
    /// The column that sends these tokens first.
    pub with: Name,
    /// The tokens, of all requests.
    pub tokens: usize,
    /// What the requests cost less if a provider reads these tokens from the cache, into which the other column has written
    /// them; `None` without a known price, or if it saves nothing.
    pub saved: Option<Dollars>,
    /// The reason why it saves nothing.
    pub unpaid: Option<Unpaid>,
}

/// The reason why a common beginning of requests saves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unpaid {
    /// The provider charges the same for cached tokens.
    NoDiscount,
    /// No request has as many tokens in common as the provider caches at least.
    BelowMinimum(usize),
    /// The settings of the two columns differ.
    Ended(SharingEnd),
}

impl fmt::Display for SharedForecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { with, tokens, saved, unpaid } = self;
        write!(f, "shares {} tokens with `{with}`", grouped(*tokens))?;
        match (unpaid, saved) {
            (Some(Unpaid::NoDiscount), _) => f.write_str(", and its model has no discount for cached tokens"),
            (Some(Unpaid::BelowMinimum(least)), _) => {
                write!(f, ", and its model caches no less than {} at once", grouped(*least))
            }
            (Some(Unpaid::Ended(end)), _) => write!(f, ", and {end} caches them separately"),
            (None, Some(saved)) => write!(f, ", which saves {saved:.2} where they are cached"),
            (None, None) => Ok(()),
        }
    }
}

/// The outline of a flow with these settings. Names of models are code of users.
pub(super) fn outline(plan: &Plan, settings: &[Arc<StepSettings>], default: &Choice) -> Outline {
    let shapes: Vec<_> = settings.iter().map(|settings| shape(settings, default)).collect();
    Outline::of(plan, &shapes)
}

fn shape(settings: &StepSettings, default: &Choice) -> RequestShape {
    // A run says what is wrong with a model.
    let model = settings.model.as_ref().and_then(|model| caught(|| model.model_name(default)).flatten());
    let reply: Option<Json> =
        settings.reply_settings.as_deref().and_then(|text| serde_json::from_str(text).ok());
    RequestShape {
        is_external: settings.external.is_some(),
        after: settings.is_after.then(|| format!("{:?}", settings.form)),
        model,
        effort: reply.and_then(|reply| Some(reply.get("effort")?.as_str()?.to_owned())),
        schema: settings.schema.as_ref().map(|schema| schema.json.to_string()),
    }
}
