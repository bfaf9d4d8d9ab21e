//! Replies as providers send them are read as their own SDKs read them.
//!
//! `replies/PROVIDER/NAME` are minimal streams, written down from what providers were seen to send. `expected.json` is
//! what the SDKs make of them; with `COLUMNAR_ORACLE_ACCEPT=1` the second test writes it again.
//! `differences.tsv` has the readings in which the client intends to differ, each with its reason.

use std::collections::BTreeMap;
use std::fs;

use columnar::model::{Chunk, Finish, Model, Provider, Request, Usage};
use columnar_tests::scripted::{Act, Server};
use futures::StreamExt;
use serde::Deserialize;

use crate::flows::{self, Capture};
use crate::python::{folder, script, succeeds};

/// What a reader makes of a reply.
#[derive(Clone, Debug, Deserialize, PartialEq)]
struct Reading {
    text: String,
    /// `stop`, `length`, `context_window`, `refused` or `other`; `None` if the reply has no end.
    finish: Option<String>,
    /// The tokens of the request with those from the cache and to it, of the reply, from the cache and to it.
    usage: Option<[u64; 4]>,
    /// Those of the last number that are kept for the longer of two lifetimes, if the provider tells.
    longer: Option<u64>,
    /// Whether it is no reply.
    failed: bool,
}

impl Reading {
    fn field(&self, name: &str) -> String {
        match name {
            "text" => self.text.clone(),
            "finish" => self.finish.clone().unwrap_or("none".to_owned()),
            "usage" => self.usage.map_or("none".to_owned(), |usage| format!("{usage:?}")),
            "longer" => self.longer.unwrap_or_default().to_string(),
            "failed" => self.failed.to_string(),
            _ => panic!("no field is called {name}"),
        }
    }
}

/// The fields to compare. A reply that failed or has no end is none, whatever came before.
fn fields(theirs: &Reading) -> &'static [&'static str] {
    match theirs.finish {
        _ if theirs.failed => &["failed"],
        None => &["failed", "finish"],
        Some(_) => &["failed", "finish", "text", "usage", "longer"],
    }
}

/// Reads a stream with the client.
async fn read(name: &str, bytes: Vec<u8>, request: Request) -> (Reading, String) {
    let (provider, _) = name.split_once('/').expect("a folder");
    let kind = match name.rsplit_once('.') {
        Some((_, "json")) => "application/json",
        Some((_, "ndjson")) => "application/x-ndjson",
        _ => "text/event-stream",
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n");
    let server = Server::always(vec![Act::Send(head.into_bytes()), Act::Send(bytes)]).await;
    let model = Provider::new(&format!("{provider}/test@{}/v1", server.url())).expect("a provider");
    let mut reading = Reading { text: String::new(), finish: None, usage: None, longer: None, failed: false };
    let (mut reply, mut why) = (model.reply(request), String::new());
    while let Some(chunk) = reply.next().await {
        match chunk {
            Ok(Chunk::Text(text)) => reading.text += &text,
            Ok(Chunk::End(end)) => {
                reading.finish = Some(word(&end.finish).to_owned());
                reading.usage = end.usage.map(counts);
                reading.longer = end.usage.map(|usage| usage.cache_write_long);
            }
            Ok(_) => {}
            Err(error) => (reading.failed, why) = (true, error.to_string()),
        }
    }
    (reading, why)
}

fn word(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length => "length",
        Finish::ContextWindow => "context_window",
        Finish::Refused => "refused",
        _ => "other",
    }
}

fn counts(usage: Usage) -> [u64; 4] {
    [usage.input, usage.output, usage.cache_read, usage.cache_write]
}

/// An intended reading instead of that of the SDK.
struct Difference {
    name: String,
    field: String,
    ours: String,
}

fn differences() -> Vec<Difference> {
    let table = fs::read_to_string(folder().join("replies/differences.tsv")).expect("the table");
    let rows = table.lines().skip(1).map(|row| {
        let cells: Vec<_> = row.split('\t').collect();
        let [name, field, ours, reason] = cells[..] else { panic!("four cells: {row}") };
        assert!(!reason.is_empty(), "{row}");
        Difference { name: name.to_owned(), field: field.to_owned(), ours: ours.to_owned() }
    });
    rows.collect()
}

/// Any request: the replies are the same.
async fn request() -> Request {
    let capture = Capture::new(Provider::new("openai/test@http://127.0.0.1:1/v1").expect("a provider"));
    flows::run("plain", &capture).await.expect("it replies");
    capture.requests().pop().expect("a request")
}

#[tokio::test]
async fn replies_are_read_as_the_sdks_read_them() {
    let expected = fs::read_to_string(folder().join("replies/expected.json")).expect("the readings");
    let expected: BTreeMap<String, Reading> = serde_json::from_str(&expected).expect("readings");
    let (differences, request) = (differences(), request().await);
    let (mut wrong, mut used) = (Vec::new(), 0);
    for (name, theirs) in &expected {
        let bytes = fs::read(folder().join("replies").join(name)).expect("each reading has a reply");
        let (ours, why) = read(name, bytes, request.clone()).await;
        for &field in fields(theirs) {
            let difference = differences.iter().find(|row| row.name == *name && row.field == field);
            used += usize::from(difference.is_some());
            let right = difference.map_or_else(|| theirs.field(field), |row| row.ours.clone());
            let found = ours.field(field);
            if found != right {
                wrong.push(format!("{name}: {field} is {found:?} and should be {right:?} {why}"));
            }
        }
    }
    assert_eq!(used, differences.len(), "each difference is one of a reply and a field");
    assert!(expected.len() > 60, "only {} replies", expected.len());
    assert!(
        wrong.is_empty(),
        "{} readings of {} replies:\n{}",
        wrong.len(),
        expected.len(),
        wrong.join("\n")
    );
}

#[test]
fn the_expected_readings_are_those_of_the_sdks() {
    if let Some(mut check) = script("the_expected_readings_are_those_of_the_sdks", "replies.py") {
        succeeds(&mut check);
    }
}
