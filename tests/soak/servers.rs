//! Providers that send anything, to programs on both runtimes. Each call ends with a value or an error, and no error has
//! words of the conversation. Half of the replies are valid, and their values are the texts that were sent.

use std::error::Error;
use std::iter::successors;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use columnar::prelude::*;
use columnar_tests::server::{Act, Server, WIRES, Wire, head};
use fastrand::Rng;
use tokio::runtime::{Builder, Runtime};

use super::{Counts, count, replies};

/// A call that takes longer hangs. Its own limits are shorter.
const HANGS: Duration = Duration::from_mins(1);

/// The most bytes that a reply may have as text.
const LIMIT: usize = 1 << 20;

/// More bytes than a call may read.
const FLOOD: usize = 64 << 20;

/// A sentence, because single words of a conversation are shown.
const SECRET: &str = "the moon is made of mature cheddar";

pub(super) fn round(rng: &mut Rng) -> Counts {
    let wire = WIRES[rng.usize(..WIRES.len())];
    let (script, sent) = if rng.bool() {
        let (script, sent) = replies::valid(wire, rng);
        (script, Some(sent))
    } else {
        (script(rng), None)
    };
    // Only a call that hangs may end a valid reply, however busy this machine is.
    let limit = if sent.is_some() { HANGS / 2 } else { Duration::from_millis(400) };
    let (is_multi_thread, has_timeout) = (rng.bool(), rng.bool());
    let shown = format!("{wire:?}, several threads: {is_multi_thread}, {}", names(&script));
    let (ended, end) = mpsc::channel();
    // On a thread of its own: a call that never yields would also block a guard on its runtime.
    thread::spawn(move || {
        let outcome = runtime(is_multi_thread).block_on(call(wire, script, limit, has_timeout));
        let _ = ended.send(outcome);
    });
    let outcome = end.recv_timeout(HANGS).unwrap_or_else(|_| panic!("it hangs or panics: {shown}"));
    let mut counts = Counts::new();
    match (outcome, sent) {
        (outcome, Some(sent)) => {
            assert_eq!(outcome.as_deref(), Ok(&*sent), "{shown}");
            count(&mut counts, "values as they were sent");
        }
        (Ok(_), None) => count(&mut counts, "values of broken servers"),
        (Err(error), None) => {
            assert!(!error.contains(SECRET), "{shown}: {error}");
            count(&mut counts, "errors");
        }
    }
    counts
}

fn runtime(is_multi_thread: bool) -> Runtime {
    let mut builder =
        if is_multi_thread { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    builder.worker_threads(2).enable_all().build().expect("a runtime")
}

/// The value of a call, or the text of its error.
async fn call(wire: Wire, script: Vec<Act>, limit: Duration, has_timeout: bool) -> Result<String, String> {
    let server = Server::always(script).await;
    let model = wire.model(&server).text_limit(LIMIT);
    let model = if has_timeout { model } else { model.first_timeout(limit).idle_timeout(limit) };
    let answer = prompt("Answer.").model(model);
    let answer = if has_timeout { answer.timeout(limit) } else { answer.timeout(HANGS) };
    let chat = flow([column("answer", source("user").latest(), answer)]).expect("a sound flow");
    chat.push("user", SECRET).await.expect("memory takes it");
    chat.run().await.map_err(|error| {
        let first: &dyn Error = &error;
        let chain = successors(Some(first), |&error| error.source());
        chain.map(|error| format!("{error} {error:?}")).collect::<Vec<_>>().join(" ")
    })?;
    Ok(chat.get("answer", 0).expect("it is stored").to_string())
}

/// The acts of a broken or hostile server.
fn script(rng: &mut Rng) -> Vec<Act> {
    let mut acts = vec![match rng.u8(..8) {
        0 => Act::Send(
            b"HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\nconnection: close\r\n\r\n".to_vec(),
        ),
        1 => Act::Send(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n".to_vec()),
        2 => Act::Send(b"HTTP/1.0 200 OK\r\ncontent-encoding: br\r\n\r\n".to_vec()),
        3 => Act::Send(noise(rng)),
        _ => head(),
    }];
    for _ in 0..rng.usize(..5) {
        acts.push(match rng.u8(..8) {
            0 => Act::Send(noise(rng)),
            1 => Act::Send(format!("data: {{\"error\":{{\"message\":\"{SECRET}\"}}}}\n\n").into_bytes()),
            2 => Act::Flood(vec![b'x'; 1 << 16], FLOOD >> 16),
            3 => Act::Flood(b"data: {}\n".repeat(1 << 12), FLOOD >> 16),
            4 => Act::Flood(b": alive\n\n".repeat(1 << 10), 100),
            5 => Act::Pause(Duration::from_millis(rng.u64(..50))),
            _ => Act::Send(mutated(rng)),
        });
    }
    match rng.u8(..3) {
        0 => acts.push(Act::Reset),
        1 => acts.push(Act::Hold),
        _ => {}
    }
    acts
}

/// A reply with some bytes changed, or none.
fn mutated(rng: &mut Rng) -> Vec<u8> {
    let finish = *rng.choice(&["stop", "length", SECRET]).expect("there are some");
    let wire = WIRES[rng.usize(..WIRES.len())];
    let mut bytes = wire.events(&["Since ", "when?"], finish).concat().into_bytes();
    for _ in 0..rng.usize(..3) {
        let at = rng.usize(..bytes.len());
        bytes[at] = rng.u8(..);
    }
    bytes
}

fn noise(rng: &mut Rng) -> Vec<u8> {
    (0..rng.usize(1..2000)).map(|_| rng.u8(..)).collect()
}

/// The acts without their bytes.
fn names(script: &[Act]) -> String {
    let name = |act: &Act| match act {
        Act::Send(bytes) => format!("send {}", bytes.len()),
        Act::Flood(bytes, times) => format!("send {} {times} times", bytes.len()),
        act => format!("{act:?}"),
    };
    script.iter().map(name).collect::<Vec<_>>().join(", ")
}
