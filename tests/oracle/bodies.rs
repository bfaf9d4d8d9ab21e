//! The bodies of requests have the types that the SDKs of the providers declare.
//!
//! A setting that a model does not take may be refused before anything is sent; no flow may.

use std::env;
use std::fs;
use std::process::Command;

use columnar::model::{Model, Provider, Request};
use columnar_tests::process::test_alone;
use columnar_tests::server::{Server, answer};
use futures::StreamExt;
use serde_json::{Value as Json, json};

use crate::flows::{self, Capture, FLOWS, SETTINGS};
use crate::models::{FORMATS, Format};
use crate::python::{script, succeeds};

/// A request for a model.
struct Job {
    name: String,
    format: &'static Format,
    model: &'static str,
    request: Request,
}

/// The requests of all flows and settings for the models of a format.
async fn jobs(format: &'static Format) -> Vec<Job> {
    let mut jobs = Vec::new();
    for model in format.models {
        let provider =
            || Provider::new(&format!("{model}@http://127.0.0.1:1{}", format.path)).expect("a provider");
        let mut add = |case: &str, capture: &Capture| {
            // The last two have the longest history.
            for (number, request) in capture.requests().into_iter().rev().take(2).enumerate() {
                jobs.push(Job { name: format!("{model} {case} -{number}"), format, model, request });
            }
        };
        for flow in FLOWS {
            let capture = Capture::new(provider());
            flows::run(flow, &capture).await.unwrap_or_else(|error| panic!("{model} {flow}: {error}"));
            add(flow, &capture);
        }
        for (setting, change) in SETTINGS {
            let capture = Capture::new(provider());
            match flows::run_with(change, &capture).await {
                Ok(()) => add(setting, &capture),
                Err(error) => println!("refused: {model} {setting}: {error}"),
            }
        }
    }
    jobs
}

/// Sends the requests to an address. The server tells them apart by their number in the query.
async fn send(jobs: &[Job], origin: &str) {
    for (number, job) in jobs.iter().enumerate() {
        let url = format!("{}@{origin}{}?job={number}", job.model, job.format.path);
        let mut reply = Provider::new(&url).expect("a provider").reply(job.request.clone());
        while let Some(chunk) = reply.next().await {
            assert!(chunk.is_err(), "the server refuses everything");
        }
    }
}

/// A line for the script.
fn record(jobs: &[Job], request: &str) -> Json {
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    let mut lines = head.lines();
    let target = lines.next().and_then(|line| line.split(' ').nth(1)).expect("a target");
    let (_, number) = target.rsplit_once("job=").expect("its number");
    let job = &jobs[number.parse::<usize>().expect("a number")];
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers: serde_json::Map<_, _> =
        headers.map(|(name, value)| (name.to_lowercase(), value.into())).collect();
    let path = target.split('?').next().unwrap_or(target);
    let path = &path[path.find("//").map_or(0, |at| at + 2)..];
    let path = &path[path.find('/').expect("a path")..];
    let body: Json = serde_json::from_str(body).expect("JSON");
    json!({ "job": job.name, "format": job.format.name, "model": job.model, "path": path, "headers": headers, "body": body })
}

/// The address that alone gets the marks of OpenAI's Responses is that of OpenAI. A proxy receives what is sent there.
const OPENAI: &str = "http://api.openai.com";

const AS_CHILD: &str = "COLUMNAR_ORACLE_CHILD";

fn responses() -> &'static Format {
    FORMATS.iter().find(|format| format.name == "responses").expect("it is one of them")
}

#[tokio::test]
async fn send_to_openai() {
    if env::var_os(AS_CHILD).is_some() {
        send(&jobs(responses()).await, OPENAI).await;
    }
}

/// Sends the requests of Responses from a process with a proxy.
async fn send_through_proxy(proxy: &str) {
    let mut child: Command = test_alone(module_path!(), "send_to_openai");
    let proxy = [("HTTP_PROXY", proxy), ("http_proxy", proxy), ("NO_PROXY", ""), ("no_proxy", "")];
    child.envs(proxy).envs([(AS_CHILD, "1"), ("OPENAI_API_KEY", "none")]);
    tokio::task::spawn_blocking(move || succeeds(&mut child)).await.expect("it does not panic");
}

#[tokio::test]
async fn bodies_have_the_types_of_the_sdks() {
    let Some(mut check) = script("bodies_have_the_types_of_the_sdks", "bodies.py") else { return };
    let mut lines = String::new();
    for format in &FORMATS {
        let server = Server::always(answer("400 Bad Request", "{}")).await;
        let jobs = jobs(format).await;
        if format.name == "responses" {
            send_through_proxy(server.url()).await;
        } else {
            send(&jobs, server.url()).await;
        }
        for request in server.requests() {
            lines += &format!("{}\n", record(&jobs, &request));
        }
    }
    if let Ok(f) = env::var("DBG_BODIES") {
        fs::write(f, &lines).unwrap();
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bodies.jsonl");
    fs::write(&file, lines).expect("it is ours");
    succeeds(check.arg(file));
}
