//! The bodies of requests have the types that the SDKs of the providers declare.
//!
//! A setting or a file that a model does not take may be refused before anything is sent; no other flow may.

use std::collections::BTreeMap;
use std::fs;

use columnar::model::{Model, Provider, Request};
use columnar_tests::server::{Server, answer};
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Map, Value as Json, json};

use crate::file_flows::{self, FILE_FLOWS};
use crate::flows::{self, Capture, FLOWS, SETTINGS};
use crate::models::{FORMATS, Format};
use crate::python::{script, succeeds};
use crate::renderings;

/// A request for a model.
struct Job {
    /// The model and the flow or setting.
    name: String,
    /// Whether the model may refuse the request before anything is sent.
    may_be_refused: bool,
    format: &'static Format,
    /// Made once for all requests of a model, as it reads the certificates of the system.
    provider: Provider,
    request: Request,
}

/// The requests of all flows and settings for the models of a format.
async fn jobs(format: &'static Format) -> Vec<Job> {
    let mut jobs = Vec::new();
    for model in format.models {
        let provider = Provider::new(model).expect("a provider").base_url("http://127.0.0.1:1");
        let mut add = |case: &str, capture: &Capture, may_be_refused| {
            // The last one has the longest history.
            let request = capture.requests().pop().expect("a request");
            let name = format!("{model} {case}");
            jobs.push(Job { name, may_be_refused, format, provider: provider.clone(), request });
        };
        for flow in FLOWS {
            let capture = Capture::new(provider.clone());
            flows::run(flow, &capture).await.unwrap_or_else(|error| panic!("{model} {flow}: {error}"));
            add(flow, &capture, false);
        }
        for (setting, change) in SETTINGS {
            let capture = Capture::new(provider.clone());
            match flows::run_with(change, &capture).await {
                Ok(()) => add(setting, &capture, true),
                Err(error) => println!("refused: {model} {setting}: {error}"),
            }
        }
        for flow in FILE_FLOWS {
            let capture = Capture::new(provider.clone());
            match file_flows::run(flow, &capture).await {
                Ok(()) => add(flow, &capture, true),
                Err(error) => println!("refused: {model} {flow}: {error}"),
            }
        }
    }
    jobs
}

/// Sends the requests to an address. The server tells them apart by their number in the query.
async fn send(jobs: &[Job], origin: &str) {
    for (number, job) in jobs.iter().enumerate() {
        let url = format!("{origin}{}?job={number}", job.format.path);
        let mut reply = job.provider.clone().base_url(&url).reply(job.request.clone());
        while let Some(chunk) = reply.next().await {
            assert!(chunk.is_err(), "the server refuses everything");
        }
    }
}

/// The number of a request, and its line for the script.
fn record(jobs: &[Job], request: &str) -> (usize, Json) {
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    let mut lines = head.lines();
    let target = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a target");
    let (_, number) = target.rsplit_once("job=").expect("its number");
    let number: usize = number.parse().expect("a number");
    let job = &jobs[number];
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: Map<_, _> = headers.map(|(name, value)| (name.to_lowercase(), value.into())).collect();
    let path = target.split('?').next().unwrap_or(target);
    // As it is: here the order of its members would be lost.
    let (format, model) = (job.format.name, job.provider.name());
    let line = json!({ "job": job.name, "format": format, "model": model, "path": path, "headers": headers, "body": body });
    (number, line)
}

/// The file for the script.
fn lines(records: impl Iterator<Item = Json>) -> String {
    let lines: Vec<_> = records.map(|record| record.to_string()).collect();
    lines.join("\n") + "\n"
}

/// The lines of a format.
async fn records(format: &'static Format) -> String {
    let server = Server::always(answer("400 Bad Request", "{}")).await;
    let jobs = jobs(format).await;
    send(&jobs, server.url()).await;
    let records: BTreeMap<_, _> = server.requests().iter().map(|request| record(&jobs, request)).collect();
    for (number, job) in jobs.iter().enumerate() {
        let is_settled = records.contains_key(&number) || job.may_be_refused;
        assert!(is_settled, "{}: nothing was sent", job.name);
    }
    lines(records.into_values())
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_have_the_types_of_the_sdks() {
    let Some(mut check) = script("bodies_have_the_types_of_the_sdks", "bodies.py") else { return };
    let formats = FORMATS.iter().map(|format| tokio::spawn(records(format)));
    let sent = join_all(formats).await.into_iter().map(|lines| lines.expect("it does not panic"));
    let rendered = lines(renderings::records().await.into_iter());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bodies.jsonl");
    fs::write(&file, sent.collect::<String>() + &rendered).expect("it is ours");
    succeeds(check.arg(file));
}

/// A wrong request of each format is found: an unknown member, a wrong type and a missing key.
#[test]
fn wrong_bodies_are_found() {
    let Some(mut check) = script("wrong_bodies_are_found", "bodies.py") else { return };
    let records = FORMATS.iter().map(|format| {
        let body = json!({ "model": "test", "messages": 7, "contents": 7, "input": 7, "nonsense": 1 });
        let (job, model) = (format!("{}/test wrong", format.name), format!("{}/test", format.name));
        json!({ "job": job, "format": format.name, "model": model, "path": "/", "headers": {}, "body": body.to_string() })
    });
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bodies.jsonl");
    fs::write(&file, lines(records)).expect("it is ours");
    let output = check.arg(file).output().expect("the interpreter runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!output.status.success(), "{text}");
    for Format { name, .. } in &FORMATS {
        let list = match *name {
            "gemini" => "contents",
            "responses" => "input",
            _ => "messages",
        };
        for place in ["nonsense: ", &format!("{list}: "), "headers: content-type", "path: "] {
            assert!(text.lines().any(|line| line.starts_with(&format!("{name}: {place}"))), "{text}");
        }
    }
}
