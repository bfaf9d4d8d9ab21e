//! The forms of a rendering, which programs send with other clients, have the types of the SDKs as well.

use std::env;
use std::fs;
use std::process::Command;

use columnar::cache::CachePolicy;
use columnar::model::{Provider, Request};
use columnar::rendering::Rendering;
use serde_json::{Value as Json, json};

use crate::file_flows::{self, FILE_FLOWS};
use crate::flows::{self, Capture, FLOWS};
use crate::python::{folder, succeeds};

/// The folder with the AI SDK, set by `tests/oracle/run`.
const AI_SDK: &str = "COLUMNAR_ORACLE_AI_SDK";

/// The last requests of all flows with a model.
async fn requests(model: &str) -> Vec<(String, Request)> {
    // Nothing is sent, and another address needs no key.
    let provider = Provider::new(model).expect("a provider").base_url("http://127.0.0.1:1");
    let mut requests = Vec::new();
    for flow in FLOWS.into_iter().chain(FILE_FLOWS) {
        let capture = Capture::new(provider.clone());
        let run = if FLOWS.contains(&flow) {
            flows::run(flow, &capture).await
        } else {
            file_flows::run(flow, &capture).await
        };
        run.unwrap_or_else(|error| panic!("{model} {flow}: {error}"));
        requests.push((flow.to_owned(), capture.requests().pop().expect("a request")));
    }
    requests
}

fn rendering<'r>(model: &str, request: &'r Request) -> Rendering<'r> {
    Rendering::of(request, CachePolicy::by_model(model))
}

/// A line for the script, with the settings that a client adds.
fn record(form: &str, flow: &str, model: &str, body: &Json) -> Json {
    let (format, path, headers) = match form {
        "anthropic" => (
            "anthropic",
            "/v1/messages",
            json!({ "x-api-key": "", "anthropic-version": "", "content-type": "" }),
        ),
        _ => ("chat", "/v1/chat/completions", json!({ "authorization": "", "content-type": "" })),
    };
    let mut body = body.clone();
    let (_, name) = model.split_once('/').expect("a provider");
    (body["model"], body["stream"]) = (name.into(), true.into());
    if form == "anthropic" {
        body["max_tokens"] = 1024.into();
    }
    let job = format!("{model} {form} of {flow}");
    json!({ "job": job, "format": format, "model": model, "path": path, "headers": headers, "body": body.to_string() })
}

/// The lines of all forms but the AI SDK's.
pub(crate) async fn records() -> Vec<Json> {
    let mut records = Vec::new();
    for (model, forms) in [
        ("anthropic/claude-sonnet-5-5", &["anthropic"][..]),
        ("openai/gpt-5.6", &["openai", "merged", "alternating"]),
    ] {
        for (flow, request) in requests(model).await {
            for form in forms {
                let rendering = rendering(model, &request);
                let body = match *form {
                    "anthropic" => rendering.anthropic(),
                    "openai" => rendering.openai(),
                    "merged" => json!({ "messages": rendering.merged() }),
                    _ => json!({ "messages": rendering.alternating() }),
                };
                records.push(record(form, &flow, model, &body));
            }
        }
    }
    records
}

/// The check of the AI SDK; `None` without Node, with a message.
fn ai_sdk(test: &str) -> Option<Command> {
    let Some(installed) = env::var_os(AI_SDK) else {
        eprintln!("SKIPPED {test}: {AI_SDK} is not set; `tests/oracle/run` sets it where there is npm");
        return None;
    };
    let script = fs::read_to_string(folder().join("ai_sdk.mjs")).expect("it is there");
    let mut command = Command::new("node");
    // Modules are found from here.
    command.current_dir(installed).args(["--input-type=module", "--eval", &script]);
    Some(command)
}

#[tokio::test]
async fn messages_for_the_ai_sdk_have_its_types() {
    let Some(mut check) = ai_sdk("messages_for_the_ai_sdk_have_its_types") else { return };
    let mut jobs = Vec::new();
    for model in ["anthropic/claude-sonnet-5-5", "openai/gpt-5.6"] {
        for (flow, request) in requests(model).await {
            jobs.push(
                json!({ "job": format!("{model} {flow}"), "options": rendering(model, &request).ai_sdk() }),
            );
        }
    }
    let file = tempfile::NamedTempFile::new().expect("a file");
    fs::write(file.path(), Json::from(jobs).to_string()).expect("it is ours");
    succeeds(check.arg(file.path()));
}

#[test]
fn wrong_messages_for_the_ai_sdk_are_found() {
    let Some(mut check) = ai_sdk("wrong_messages_for_the_ai_sdk_are_found") else { return };
    let file = tempfile::NamedTempFile::new().expect("a file");
    let parts = [
        json!({ "type": "file", "data": "aGk=" }),
        json!({ "type": "file", "data": 7, "mediaType": "image/png" }),
        json!({ "type": "text", "text": "Hi", "nonsense": 1 }),
    ];
    let jobs = parts.map(|part| {
        let messages = json!([{ "role": "user", "content": [part] }]);
        json!({ "job": part, "options": { "messages": messages } })
    });
    fs::write(file.path(), Json::from(jobs.to_vec()).to_string()).expect("it is ours");
    let output = check.arg(file.path()).output().expect("node runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success() && text.matches("wrong: ").count() == 3, "{text}");
}
