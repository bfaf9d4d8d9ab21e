//! Replies that come late, never, or without an end.

use std::time::Duration;

use columnar::compute::secs;
use columnar::model::{Overloaded, ProviderError};
use columnar_tests::server::{Act, Server, WIRES, Wire, answer, data, head, stream};
use std::error::Error;
use std::iter;
use tokio::time::{Instant, pause};

use super::{Outcome, advance_clock, compute_one};

/// The error of the adapter among the sources of the error of the run.
fn cause_of(outcome: &Outcome) -> &ProviderError {
    let why: &(dyn Error + 'static) = outcome.why();
    iter::successors(Some(why), |&error| error.source())
        .find_map(|error| error.downcast_ref())
        .expect("an error of the adapter")
}

#[tokio::test(start_paused = true)]
async fn p1_an_overloaded_provider_is_called_again_after_the_requested_time() {
    advance_clock(Duration::from_millis(500));
    for (header, least, most) in [
        ("retry-after: 20", secs(20), secs(25)),
        ("retry-after: Sun, 06 Nov 1994 08:49:37 GMT", Duration::from_millis(500), secs(5)),
        // A wait of years is shortened.
        ("retry-after: 99999999999", secs(120), secs(125)),
        ("retry-after: soon", Duration::from_millis(500), secs(5)),
        ("x-nothing: 1", Duration::from_millis(500), secs(5)),
    ] {
        for wire in WIRES {
            let header = header.to_owned();
            let server = Server::start(move |n| match n {
                0 => answer(&format!("429 Too Many Requests\r\n{header}"), ""),
                _ => stream(wire.reply(&["Hi"])),
            });
            let server = server.await;
            let outcome = compute_one(wire.model(&server), 1).await;
            assert_eq!(outcome.value.as_deref(), Some("Hi"), "{wire:?}");
            let [first, second] = server.request_times()[..] else { panic!("two requests") };
            let waited = second - first;
            assert!(least <= waited && waited <= most, "{wire:?}: {waited:?}");
        }
    }
    // After the last retry, the error has the requested wait.
    let server = Server::always(answer("429 Too Many Requests\r\nretry-after: 7", "")).await;
    let outcome = compute_one(Wire::OpenAi.model(&server), 0).await;
    assert_eq!(Overloaded::of(outcome.why()), Some(&Overloaded { retry_after: Some(secs(7)) }));
}

#[tokio::test(start_paused = true)]
async fn p2_a_failing_provider_is_called_again() {
    advance_clock(Duration::from_millis(100));
    let broken = [
        answer("500 Internal Server Error", ""),
        answer("502 Bad Gateway", "<html>"),
        answer("503 Service Unavailable", ""),
        answer("529 Overloaded", ""),
        answer("408 Request Timeout", ""),
        vec![Act::Reset],
        vec![],
        vec![head(), Act::Reset],
    ];
    for wire in WIRES {
        for acts in &broken {
            let acts = acts.clone();
            let server = Server::start(move |n| match n {
                0 | 1 => acts.clone(),
                _ => stream(wire.reply(&["Hi"])),
            });
            let server = server.await;
            let outcome = compute_one(wire.model(&server), 2).await;
            assert_eq!(outcome.value.as_deref(), Some("Hi"), "{wire:?}");
            assert_eq!((outcome.retries.len(), server.requests().len()), (2, 3));
        }
        // No server listens.
        let gone = Server::always(vec![]).await.url().to_owned();
        let outcome = compute_one(wire.model_at(&gone), 2).await;
        assert_eq!(outcome.retries.len(), 2);
        assert!(outcome.cause().contains("refused"), "{}", outcome.cause());
    }
}

#[tokio::test]
async fn p4_a_reply_that_does_not_begin_times_out() {
    for wire in WIRES {
        for acts in
            [vec![Act::Hold], vec![head(), Act::Hold], vec![head(), Act::Send(b"da".to_vec()), Act::Hold]]
        {
            let server = Server::always(acts).await;
            let running = tokio::spawn(compute_one(wire.model(&server), 0));
            server.received(1).await;
            // Only the head of the reply is in transit, which does not matter.
            pause();
            let outcome = running.await.expect("it does not panic");
            tokio::time::resume();
            let ProviderError::TimedOut { limit, begun: false, .. } = cause_of(&outcome) else {
                panic!("{}", outcome.cause())
            };
            assert_eq!(*limit, secs(300));
            assert_eq!(outcome.value, None);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn p4_a_reply_that_stalls_times_out() {
    advance_clock(secs(1));
    for wire in WIRES {
        let begun = wire.events(&["Hel", "lo"], wire.stop());
        let text = begun.iter().position(|event| event.contains("Hel")).expect("an event with the text");
        let begun = begun[..=text].concat();
        let drop = [Act::Pause(secs(30)), Act::Send(b"x".to_vec())];
        let drip = drop.iter().cycle().take(200).cloned();
        for silence in [vec![Act::Hold], drip.collect()] {
            let acts = [stream(&begun), silence].concat();
            let server = Server::always(acts).await;
            let (outcome, began) = (compute_one(wire.model(&server), 0).await, server.request_times()[0]);
            let ProviderError::TimedOut { limit, begun: true, .. } = cause_of(&outcome) else {
                panic!("{}", outcome.cause())
            };
            assert_eq!(*limit, secs(120));
            assert!(began.elapsed() < secs(150), "{:?}", began.elapsed());
            assert_eq!((outcome.value, &*outcome.attempts[0]), (None, "Hel"), "{wire:?}");
        }
    }
}

/// Keep-alives in the usual forms, every 100 seconds.
fn keep_alives(ping: &str) -> Vec<Act> {
    let pings = [Act::Pause(secs(100)), Act::Send(ping.as_bytes().to_vec())];
    pings.iter().cycle().take(20).cloned().collect()
}

const COMMENT: &str = ": PROCESSING\n\n";
const PING: &str = "event: ping\ndata: {\"type\":\"ping\"}\n\n";
const NO_DATA: &str = "event: ping\n\n";

#[tokio::test(start_paused = true)]
async fn p4_keep_alive_events_reset_the_timeout() {
    advance_clock(secs(10));
    for wire in WIRES {
        let events = wire.events(&["Hi"], wire.stop());
        for ping in [COMMENT, PING, NO_DATA] {
            let (first, rest) = (events[0].clone(), events[1..].concat());
            let begun = vec![head(), Act::Send(first.into_bytes())];
            let acts = [begun, keep_alives(ping), vec![Act::Send(rest.into_bytes())]].concat();
            let server = Server::always(acts).await;
            let outcome = compute_one(wire.model(&server), 0).await;
            assert_eq!(outcome.value.as_deref(), Some("Hi"), "{wire:?} {ping:?}");
            let began: Instant = server.request_times()[0];
            assert!(began.elapsed() >= secs(1000));
        }
    }
}

/// Each comment began the limit again, so a server that sent nothing else was waited for without end.
#[tokio::test(start_paused = true)]
async fn p4_keep_alives_are_no_beginning() {
    advance_clock(secs(10));
    for wire in WIRES {
        for ping in [COMMENT, PING, NO_DATA] {
            let reply = Act::Send(wire.reply(&["Hi"]).into_bytes());
            let server = Server::always([vec![head()], keep_alives(ping), vec![reply]].concat()).await;
            let outcome = compute_one(wire.model(&server), 0).await;
            let ProviderError::TimedOut { limit, begun: false, .. } = cause_of(&outcome) else {
                panic!("{wire:?} {ping:?}: {}", outcome.cause())
            };
            assert_eq!(*limit, secs(300));
            // One that has more time is waited for.
            let outcome = compute_one(wire.model(&server).first_timeout(secs(3000)), 0).await;
            assert_eq!(outcome.value.as_deref(), Some("Hi"), "{wire:?} {ping:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn p4_timeouts_are_configurable() {
    advance_clock(secs(1));
    let first = Server::always(vec![Act::Hold]).await;
    let outcome = compute_one(Wire::OpenAi.model(&first).first_timeout(secs(7)), 0).await;
    assert!(outcome.cause().contains("did not begin to answer within 7s"), "{}", outcome.cause());
    let idle = Server::always(
        [stream(Wire::OpenAi.events(&["Hi"], "stop")[..2].concat()), vec![Act::Hold]].concat(),
    );
    let idle = idle.await;
    let outcome = compute_one(Wire::OpenAi.model(&idle).idle_timeout(secs(9)), 0).await;
    assert!(outcome.cause().contains("sent nothing for 9s"), "{}", outcome.cause());
    let forever = Wire::OpenAi.model(&idle).first_timeout(Duration::MAX).idle_timeout(secs(9));
    assert!(compute_one(forever, 0).await.cause().contains("sent nothing"));
}

/// On the clock of this machine: a paused one never rounds a time, and knows no end of its range.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t4_the_timeouts_of_a_model_may_be_of_no_time_or_of_the_longest() {
    const LONGEST: Duration = Duration::MAX;
    for wire in WIRES {
        let reply = wire.events(&["Hi"], wire.stop());
        let text = reply.iter().position(|event| event.contains("Hi")).expect("an event with the text");
        let begun = stream(reply[..=text].concat());
        // As the server takes its time before the head, before the events and between them.
        let pause = || Act::Pause(Duration::from_millis(20));
        let events = reply.iter().flat_map(|event| [pause(), Act::Send(event.clone().into())]);
        let slow = Server::always([pause(), head()].into_iter().chain(events).collect()).await;
        let silent = Server::always(vec![Act::Hold]).await;
        let stalling = Server::always([begun, vec![Act::Hold]].concat()).await;

        let model = wire.model(&slow).first_timeout(LONGEST).idle_timeout(LONGEST);
        assert_eq!(compute_one(model, 0).await.value.as_deref(), Some("Hi"), "{wire:?}");
        // A reply that never comes is waited for, whatever else ends the wait.
        for server in [&silent, &stalling] {
            let model = wire.model(server).first_timeout(LONGEST).idle_timeout(LONGEST);
            let waits = tokio::time::timeout(Duration::from_millis(100), compute_one(model, 0)).await;
            assert!(waits.is_err(), "{wire:?}");
        }

        for (server, has_begun) in [(&silent, false), (&slow, false), (&stalling, true)] {
            let model = wire.model(server);
            let model = if has_begun { model } else { model.first_timeout(Duration::ZERO) };
            let outcome = compute_one(model.idle_timeout(Duration::ZERO), 0).await;
            let ProviderError::TimedOut { limit: Duration::ZERO, begun, .. } = cause_of(&outcome) else {
                panic!("{}", outcome.cause())
            };
            assert_eq!((*begun, outcome.value), (has_begun, None), "{wire:?}");
        }
        // One that is there at once may be in time, and is complete then.
        let quick = Server::always(stream(reply.concat())).await;
        let model = wire.model(&quick).first_timeout(LONGEST).idle_timeout(Duration::ZERO);
        let outcome = compute_one(model, 0).await;
        assert!(outcome.value.as_deref().is_none_or(|value| value == "Hi"), "{wire:?}: {:?}", outcome.value);
    }
}

#[tokio::test]
async fn p7_an_endless_text_is_an_error_at_the_text_limit() {
    for wire in WIRES {
        let events = wire.events(&[&"more ".repeat(100)], wire.stop());
        let text = events.iter().position(|event| event.contains("more")).expect("an event with the text");
        let (begin, more) = (events[..text].concat(), events[text].clone());
        let flood = Act::Flood(more.into_bytes(), usize::MAX);
        let server = Server::always([stream(begin), vec![flood]].concat()).await;
        let outcome = compute_one(wire.model(&server).text_limit(64 << 10), 0).await;
        let ProviderError::TooLong { limit, .. } = cause_of(&outcome) else { panic!("{}", outcome.cause()) };
        assert_eq!(*limit, 64 << 10);
        assert!(outcome.attempts[0].len() <= 64 << 10, "no more is kept");
        assert_eq!(outcome.value, None);
    }
}

/// One event of 78 MB with a list of numbers took 1.4 GB and a minute, in which no timeout could fire.
#[tokio::test]
async fn p7_an_event_of_many_values_is_an_error_before_it_is_parsed() {
    for wire in WIRES {
        let mut events = wire.events(&["Hi"], wire.stop());
        let numbers = "0,".repeat(1 << 20);
        for many in [
            format!("{{\"x\":[{numbers}0]}}"),
            format!("{{\"x\":[{}0]}}", "{\"a\":[]},".repeat(1 << 16)),
            // The end of such a text in quotation marks is no end.
            format!("{{\"t\":\"\\\"\",\"x\":[{numbers}0]}}"),
        ] {
            events.insert(2, data(&many));
            let server = Server::always(stream(events.concat())).await;
            let outcome = compute_one(wire.model(&server), 0).await;
            assert!(outcome.cause().contains("more than 65536 values"), "{wire:?}: {}", outcome.cause());
            events.remove(2);
        }
        events.insert(2, data(&format!("{{\"x\":\"{}\"}}", "0".repeat(10 << 20))));
        let server = Server::always(stream(events.concat())).await;
        let outcome = compute_one(wire.model(&server), 0).await;
        let ProviderError::TooLong { limit, .. } = cause_of(&outcome) else { panic!("{}", outcome.cause()) };
        assert!((8 << 20..9 << 20).contains(limit), "{limit}");
    }
}

/// The longest replies are two megabytes, and some servers send them in one event; JSON escapes may make them longer. The
/// signs of JSON in a text are no values.
#[tokio::test]
async fn p7_a_long_honest_event_is_read() {
    for wire in WIRES {
        let text = "[{,:\"\\ one".repeat(200_000);
        let server = Server::always(stream(wire.reply(&[&text]))).await;
        let outcome = compute_one(wire.model(&server), 0).await;
        assert!(outcome.value.as_ref() == Some(&text), "{wire:?}: {:?}", outcome.error);
    }
}

/// A line is kept until it ends. `floods` has lines that are longer than the limit.
#[tokio::test(start_paused = true)]
async fn p7_a_line_without_an_end_times_out() {
    advance_clock(secs(10));
    for wire in WIRES {
        let flood = Act::Flood(vec![b'x'; 16 << 10], 32);
        let server = Server::always(vec![head(), Act::Send(b"data: ".to_vec()), flood, Act::Hold]).await;
        let outcome = compute_one(wire.model(&server), 0).await;
        assert!(
            matches!(cause_of(&outcome), ProviderError::TimedOut { begun: false, .. }),
            "{}",
            outcome.cause()
        );
    }
}

/// The status was lost, and the error said that the provider did not answer.
#[tokio::test(start_paused = true)]
async fn p4_an_error_that_stalls_has_its_status() {
    advance_clock(secs(1));
    let head = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 100\r\n\r\n{\"error\":";
    for wire in WIRES {
        let server = Server::always(vec![Act::Send(head.into()), Act::Hold]).await;
        let outcome = compute_one(wire.model(&server), 0).await;
        assert!(outcome.cause().contains("HTTP status 401"), "{}", outcome.cause());
    }
}

/// Another crate of a program may enable features of the HTTP client, as this package does, and 2 MB became 4 GB. A reply
/// that is decompressed is read as plain, so here the encodings are lies.
#[tokio::test]
async fn p7_no_reply_is_decompressed() {
    for wire in WIRES {
        for encoding in ["gzip", "br", "deflate", "zstd", "GZIP", "gzip, br", "unknown"] {
            let head = format!("200 OK\r\ncontent-encoding: {encoding}");
            let server = Server::always(answer(&head, &wire.reply(&["Hi"]))).await;
            let outcome = compute_one(wire.model(&server), 0).await;
            let expected = "the reply could not be understood, as it is compressed";
            assert!(outcome.cause().contains(expected), "{encoding}: {}", outcome.cause());
            assert!(!server.requests()[0].to_lowercase().contains("accept-encoding"));
            // An error is one all the same, without its message.
            let error = r#"{"error":{"type":"server_error"}}"#;
            let server =
                Server::always(answer(&format!("500 Oops\r\ncontent-encoding: {encoding}"), error)).await;
            let outcome = compute_one(wire.model(&server), 0).await;
            assert!(outcome.cause().ends_with("HTTP status 500"), "{encoding}: {}", outcome.cause());
        }
        let server = Server::always(answer("200 OK\r\ncontent-encoding: identity", &wire.reply(&["Hi"])));
        assert_eq!(compute_one(wire.model(&server.await), 0).await.value.as_deref(), Some("Hi"));
    }
}

#[tokio::test(start_paused = true)]
async fn p10_the_text_of_an_interrupted_attempt_is_discarded() {
    advance_clock(Duration::from_millis(100));
    for wire in WIRES {
        let begun = wire.events(&["Hel", "lo"], wire.stop());
        let text = begun.iter().position(|event| event.contains("Hel")).expect("an event with the text");
        let begun = begun[..=text].concat();
        let error = data(r#"{"error":{"type":"server_error"}}"#);
        for end in [vec![], vec![Act::Reset], vec![Act::Send(error.into_bytes())]] {
            let acts = [stream(&begun), end].concat();
            let server = Server::start(move |n| match n {
                0 => acts.clone(),
                _ => stream(wire.reply(&["Good", "bye"])),
            });
            let outcome = compute_one(wire.model(&server.await), 1).await;
            assert_eq!(outcome.value.as_deref(), Some("Goodbye"), "{wire:?}");
            assert_eq!(outcome.attempts.last().map(String::as_str), Some("Goodbye"));
            assert!("Hel".starts_with(&outcome.attempts[0]), "{}", outcome.attempts[0]);
        }
    }
}
