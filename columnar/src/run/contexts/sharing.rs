//! What the requests of columns have in common: the settings for the outline, and the bytes of requests.

use std::sync::Arc;

use serde_json::Value as Json;

use crate::compute::StepSettings;
use crate::declare::{Outline, RequestShape};
use crate::model::Choice;
use crate::model::cache::{SharedBeginning, StablePrefix};
use crate::run::Result;
use crate::run::shared::SharedFlow;
use crate::run::state::FindColumn;
use crate::run::user_code::caught;

impl SharedFlow {
    /// The outline with the settings of the columns. Names of models are code of users.
    pub(crate) fn outline(&self) -> Outline {
        let state = self.lock();
        let plan = Arc::clone(&state.plan);
        let settings = state.settings.clone();
        let default = state.defaults.model.clone();
        drop(state);
        let shapes: Vec<_> = settings.iter().map(|settings| shape(settings, &default)).collect();
        Outline::of(&plan, &shapes)
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

fn shape(settings: &StepSettings, default: &Choice) -> RequestShape {
    // A run says what is wrong with a model.
    let model = settings.model.as_ref().and_then(|model| caught(|| model.model_name(default)).flatten());
    let reply: Option<Json> = settings.reply_settings.as_deref().and_then(|text| serde_json::from_str(text).ok());
    RequestShape {
        after: settings.is_after.then(|| format!("{:?}", settings.form)),
        model,
        effort: reply.and_then(|reply| Some(reply.get("effort")?.as_str()?.to_owned())),
        schema: settings.schema.as_ref().map(|schema| schema.json.to_string()),
    }
}
