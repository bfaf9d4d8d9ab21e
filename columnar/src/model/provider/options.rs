//! The additions of a program to all requests of a model: the key, headers, and members of the body.

use std::borrow::Cow;
use std::env;
use std::sync::Arc;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use serde_json::{Map, Value as Json};

use super::address::ServerAddress;
use super::error::ProviderError;
use super::format::WireFormat;
use super::redaction::NO_KEY;
use super::window::MAX_CONTEXT;
use crate::model::Refused;
use crate::model::registry::ProviderFacts;

const BAD_KEY: &str = "the key has characters that no header can have, such as a line break";

const CLIENT: &str = concat!("columnar/", env!("CARGO_PKG_VERSION"));

/// The header with a key of Azure, and the variable with the key.
const AZURE: (&str, &str) = ("api-key", "AZURE_OPENAI_API_KEY");

type KeySource = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Clone)]
pub(super) struct ProviderOptions {
    /// The source of the key; `None` for the environment.
    pub(super) key: Option<KeySource>,
    pub(super) headers: Vec<(String, String)>,
    body: Json,
    /// The most tokens of a window.
    pub(super) max_context: u32,
}

impl Default for ProviderOptions {
    fn default() -> Self {
        let body = Json::Object(Map::new());
        Self { key: None, headers: Vec::new(), body, max_context: MAX_CONTEXT }
    }
}

impl ProviderOptions {
    /// Adds a patch, whose members come after the members of earlier patches.
    pub(super) fn add_body(&mut self, patch: Json) {
        // A `null` is kept, since it removes a member only from the body of a request.
        merge(&mut self.body, patch, false);
    }

    /// The body with the members of the program.
    pub(super) fn patched(&self, mut body: Json) -> Json {
        merge(&mut body, self.body.clone(), true);
        body
    }

    /// The key to send, if the provider takes one.
    pub(super) fn key(
        &self,
        model: &str,
        provider: &ProviderFacts,
        address: Option<&ServerAddress>,
    ) -> Result<Option<String>, ProviderError> {
        if self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(AUTHORIZATION.as_str())) {
            return Ok(None);
        }
        let azure = address.is_some_and(ServerAddress::is_azure).then_some(AZURE.1);
        let variables: Vec<_> = azure.iter().chain(provider.key_variables).copied().collect();
        let key = match &self.key {
            Some(key) => trimmed(&key()),
            None => variables.iter().find_map(|variable| trimmed(&env::var(variable).ok()?)),
        };
        let Some(&variable) = variables.first() else { return Ok(key) };
        // Many local servers ignore the key, and some require one.
        let local = address.is_some_and(ServerAddress::is_loopback);
        let key = key.or_else(|| local.then(|| NO_KEY.to_owned()));
        key.map(Some).ok_or_else(|| {
            let model = model.to_owned();
            ProviderError::MissingKey { model, variable, source: Refused }
        })
    }

    /// The headers of a request, the program's own last.
    pub(super) fn headers(
        &self,
        format: &WireFormat,
        key: Option<&str>,
        address: Option<&ServerAddress>,
    ) -> Result<HeaderMap, Cow<'static, str>> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(USER_AGENT, HeaderValue::from_static(CLIENT));
        for (name, value) in format.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        if let Some(key) = key {
            let (name, before) =
                if address.is_some_and(ServerAddress::is_azure) { (AZURE.0, "") } else { format.key };
            headers.insert(name, secret(&format!("{before}{key}")).ok_or(BAD_KEY)?);
        }
        for (name, value) in &self.headers {
            let parsed = HeaderName::try_from(name.as_str()).ok().zip(secret(value));
            let (name, value) = parsed.ok_or_else(|| {
                format!("no header can have this name or this value: `{}`", name.escape_debug())
            })?;
            headers.insert(name, value);
        }
        Ok(headers)
    }

    /// The values of the headers, which may be secrets.
    pub(super) fn secrets(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|(_, value)| value.strip_prefix("Bearer ").unwrap_or(value))
    }
}

/// The key without the line break at the end of a file or a variable, which no header can have.
fn trimmed(key: &str) -> Option<String> {
    Some(key.trim().to_owned()).filter(|key| !key.is_empty())
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::try_from(value).ok()?;
    // The client prints `Sensitive` in place of such a value.
    value.set_sensitive(true);
    Some(value)
}

/// A JSON merge patch (RFC 7396). Without `removes`, a `null` is kept for a later patch.
fn merge(target: &mut Json, patch: Json, removes: bool) {
    let Json::Object(patch) = patch else {
        *target = patch;
        return;
    };
    if !target.is_object() {
        *target = Json::Object(Map::new());
    }
    let Json::Object(members) = target else { return };
    for (name, value) in patch {
        if value.is_null() && removes {
            members.remove(&name);
        } else {
            merge(members.entry(name).or_insert(Json::Null), value, removes);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::provider::formats::format;
    use crate::model::registry::{Api, provider};

    #[test]
    fn a_patch_is_merged_last() {
        let mut options = ProviderOptions::default();
        options.add_body(json!({ "a": { "b": 1 }, "stream_options": null }));
        options.add_body(json!({ "a": { "c": [1] }, "b": 2 }));
        let body = json!({ "a": { "b": 0, "d": 1 }, "stream_options": {}, "model": "x" });
        assert_eq!(options.patched(body), json!({ "a": { "b": 1, "c": [1], "d": 1 }, "b": 2, "model": "x" }));
        assert_eq!(ProviderOptions::default().patched(json!({ "a": 1 })), json!({ "a": 1 }));
    }

    #[test]
    fn a_key_comes_from_the_program_and_goes_into_the_header_of_its_server() {
        let openai = provider("openai").expect("it is known");
        let azure = ServerAddress::new("https://me.openai.azure.com/openai/v1");
        let key: KeySource = Arc::new(|| " sk-7\n".to_owned());
        let mut options = ProviderOptions { key: Some(key), ..ProviderOptions::default() };
        let key = options.key("openai/x", openai, None).expect("there is one");
        assert_eq!(key.as_deref(), Some("sk-7"), "white space around it is none of it");
        let format = format(Api::ChatCompletions);
        let sent = |address| options.headers(format, key.as_deref(), address).expect("headers");
        assert_eq!(sent(None)["authorization"], "Bearer sk-7");
        assert_eq!(
            (sent(Some(&azure)).get("authorization"), &sent(Some(&azure))["api-key"]),
            (None, &secret("sk-7").unwrap())
        );
        assert!(sent(None)["user-agent"].to_str().is_ok_and(|agent| agent.starts_with("columnar/")));

        options.key = Some(Arc::new(String::new));
        assert!(options.key("openai/x", openai, None).is_err());
        options.headers.push(("Authorization".to_owned(), "Bearer mine".to_owned()));
        assert_eq!(options.key("openai/x", openai, None).expect("none is needed"), None);
        assert_eq!(options.headers(format, None, None).expect("headers")["authorization"], "Bearer mine");
        assert_eq!(options.secrets().collect::<Vec<_>>(), ["mine"]);
        options.headers.push(("bad name".to_owned(), "x".to_owned()));
        assert!(options.headers(format, None, None).is_err_and(|cause| cause.contains("bad name")));
    }
}
