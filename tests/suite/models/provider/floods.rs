//! Replies without an end, as fast as they can be sent, on both kinds of runtimes.

use std::error::Error;
use std::future::Future;
use std::iter;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use columnar::model::{Provider, ProviderError};
use columnar::prelude::*;
use columnar_tests::flood::{Flood, LENGTHS, Length};
use columnar_tests::server::{WIRES, Wire};
use tokio::runtime::Builder;
use tokio::time::timeout;

/// The bytes that may be in the buffers of sockets, on both sides.
const BUFFERS: usize = 16 << 20;

/// A time that passes quickly, and is long for a reply on this machine.
const SHORT: Duration = Duration::from_millis(200);

/// A piece of a line.
fn line() -> String {
    "x".repeat(16 << 10)
}

/// The outcomes of a call on a runtime with one thread, and on one with several. A call that blocks its thread would block
/// a test with it, so it has a thread of its own.
fn on_each_runtime<T, F>(call: impl Fn() -> F) -> [T; 2]
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    [Builder::new_current_thread(), Builder::new_multi_thread()].map(|mut builder| {
        let (done, outcome) = mpsc::channel();
        let call = call();
        thread::spawn(move || {
            let runtime = builder.enable_all().build().expect("a runtime");
            // Programs call from `main`, and servers from tasks.
            let called = runtime.block_on(async { tokio::spawn(call).await });
            let _ = done.send(called.expect("it does not panic"));
        });
        outcome.recv_timeout(Duration::from_mins(2)).expect("the call ends")
    })
}

/// The text of a run's error, and the error of the adapter in it.
fn causes(error: &columnar::Error) -> (String, Option<&ProviderError>) {
    let error: &(dyn Error + 'static) = error;
    let chain = || iter::successors(Some(error), |&error| error.source());
    let texts: Vec<String> = chain().map(ToString::to_string).collect();
    (texts.join(" | "), chain().find_map(|error| error.downcast_ref()))
}

/// The error of a run with this model.
async fn fail(model: Provider) -> columnar::Error {
    let chat = flow! {
        source user;
        column bot(user) = prompt("Be brief.").model(model.clone());
    };
    chat.user.push("Hello!").await.expect("a store in memory");
    chat.run().await.expect_err("the reply has no end")
}

/// A line without an end was joined again for each of its pieces, and kept until a timeout ended the call, but no timer was
/// polled meanwhile: after a minute at 10 MB/s the call still ran.
#[test]
fn p7_an_endless_line_ends_at_the_limit_of_an_event() {
    let names = [("openai/test", "data: "), ("anthropic/test", "event: x\ndata: "), ("ollama/test", "")];
    for length in LENGTHS {
        for (name, begin) in names {
            let server = Flood::start("200 OK", length, begin.to_owned(), line());
            let model = Provider::new(name).expect("a provider").base_url(server.url()).text_limit(64 << 10);
            for error in on_each_runtime(|| fail(model.clone())) {
                let (text, error) = causes(&error);
                let Some(ProviderError::TooLong { limit, .. }) = error else {
                    panic!("{name} {length:?}: {text}")
                };
                assert!((8 << 20..9 << 20).contains(limit), "{limit}");
            }
            assert!(server.sent() < 2 * ((9 << 20) + BUFFERS), "{name} {length:?}: {}", server.sent());
        }
    }
}

/// The body of an error was read to its end: 2 GB in three seconds, all of it in memory.
#[test]
fn p7_an_endless_error_ends_with_its_status() {
    for length in LENGTHS {
        for wire in WIRES {
            let begin = r#"{"error":{"type":"server_error","message":""#;
            let server = Flood::start("500 Oops", length, begin.to_owned(), line());
            let model = wire.model_at(server.url()).text_limit(usize::MAX);
            for error in on_each_runtime(|| fail(model.clone())) {
                let (text, error) = causes(&error);
                assert!(matches!(error, Some(ProviderError::Status { status: 500, .. })), "{text}");
            }
            assert!(server.sent() < 2 * BUFFERS, "{wire:?} {length:?}: {}", server.sent());
        }
    }
}

/// Keep-alives are no text, and each of them resets the timeouts.
#[test]
fn p7_endless_keep_alives_end_at_the_limit_of_a_body() {
    let server = Flood::start("200 OK", Length::Declared, String::new(), format!(": {}\n", line()));
    let model = Wire::OpenAi.model_at(server.url()).text_limit(0);
    for error in on_each_runtime(|| fail(model.clone())) {
        let (text, error) = causes(&error);
        let Some(ProviderError::TooLong { limit, .. }) = error else { panic!("{text}") };
        assert!((256 << 20..257 << 20).contains(limit), "{limit}");
    }
    assert!(server.sent() < 2 * ((257 << 20) + BUFFERS), "{}", server.sent());
}

#[test]
fn p4_an_endless_line_times_out_however_fast_it_is() {
    for (wire, is_begun) in WIRES.into_iter().flat_map(|wire| [(wire, false), (wire, true)]) {
        let begun = wire.events(&["Hi"], wire.stop())[0].clone();
        let begin = if is_begun { begun } else { String::new() };
        let server = Flood::start("200 OK", Length::Chunked, begin + "data: ", line());
        let model = wire.model_at(server.url()).text_limit(usize::MAX);
        let model = if is_begun { model.idle_timeout(SHORT) } else { model.first_timeout(SHORT) };
        for error in on_each_runtime(|| fail(model.clone())) {
            let (text, error) = causes(&error);
            let Some(ProviderError::TimedOut { limit: SHORT, begun, .. }) = error else { panic!("{text}") };
            assert_eq!(*begun, is_begun, "{wire:?}");
        }
    }
}

/// The timeout of a column, and one around the run, never fired: the call did not give its thread back.
#[test]
fn p4_a_timeout_ends_endless_keep_alives_however_fast_they_are() {
    let keep_alives = [": x\n\n".repeat(1 << 10), format!(": {}\n", line()), "event: ping\n\n".repeat(100)];
    for (length, rest) in LENGTHS.into_iter().zip(keep_alives) {
        let server = Flood::start("200 OK", length, String::new(), rest);
        let model = Wire::Anthropic.model_at(server.url()).text_limit(usize::MAX);
        let limited = |model: Provider| async move {
            let chat = flow! {
                source user;
                column bot(user) = prompt("Be brief.").model(model.clone()).timeout(SHORT);
            };
            chat.user.push("Hello!").await.expect("a store in memory");
            chat.run().await.expect_err("the reply has no end")
        };
        for error in on_each_runtime(|| limited(model.clone())) {
            let (text, _) = causes(&error);
            assert!(text.contains("200ms"), "{text}");
        }
        let within = |model: Provider| async move { timeout(SHORT, fail(model)).await };
        for outcome in on_each_runtime(|| within(model.clone())) {
            assert!(outcome.is_err(), "the run is dropped");
        }
    }
}
