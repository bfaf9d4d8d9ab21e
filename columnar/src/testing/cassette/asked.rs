//! What a recording is found by: a request, without what no reply depends on.

use serde_json::Value as Json;

use crate::context::Role;
use crate::rendering::{Request, Schema};

/// What a model was asked, whole: all of a request but its pace, which decides only what is kept in a cache.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) model: String,
    pub(super) system: String,
    pub(super) messages: Vec<(Role, String)>,
    pub(super) follow_up: Vec<(Role, String)>,
    pub(super) max_tokens: u32,
    pub(super) temperature: Option<f32>,
    pub(super) stop: Vec<String>,
    pub(super) schema: Option<Schema>,
}

impl Asked {
    pub(super) fn new(model: &str, request: &Request) -> Self {
        let Request { system, messages, follow_up, max_tokens, temperature, stop, schema, pace: _ } = request;
        Self {
            model: model.to_owned(),
            system: (**system).to_owned(),
            messages: messages.iter().map(|(role, content)| (role, content.into_owned())).collect(),
            follow_up: follow_up.iter().map(|(role, content)| (*role, (**content).to_owned())).collect(),
            max_tokens: *max_tokens,
            temperature: *temperature,
            stop: stop.to_vec(),
            schema: schema.as_deref().cloned(),
        }
    }

    /// The request in lines: two are equal if and only if their lines are, as all that was written by others is
    /// indented or quoted.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("model: {:?}", self.model), format!("max_tokens: {}", self.max_tokens)];
        lines.extend(self.temperature.map(|temperature| format!("temperature: {temperature}")));
        lines.extend(self.stop.iter().map(|text| format!("stop: {text:?}")));
        if let Some(Schema { name, json }) = &self.schema {
            lines.push(format!("schema: {name:?}"));
            // Indented, it cannot be written other than whole.
            lines.extend(indented(&format!("{:#}", sorted(json))));
        }
        lines.push("system".to_owned());
        lines.extend(indented(&self.system));
        for (role, content) in &self.messages {
            lines.push(role.to_string());
            lines.extend(indented(content));
        }
        for (role, content) in &self.follow_up {
            lines.push(format!("then {role}"));
            lines.extend(indented(content));
        }
        lines
    }
}

fn indented(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(|line| format!("  {line}"))
}

/// The same with the entries of all objects in the order of their names: which order they have by themselves
/// depends on the features that a program builds `serde_json` with.
pub(super) fn sorted(json: &Json) -> Json {
    match json {
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Object(entries) => {
            let mut entries: Vec<_> =
                entries.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            entries.sort_by(|(one, _), (other, _)| one.cmp(other));
            Json::Object(entries.into_iter().collect())
        }
        other => other.clone(),
    }
}
