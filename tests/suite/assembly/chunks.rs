//! Bodies in pieces: what a writer of many buffers is given.

use std::borrow::Cow;
use std::io::{self, IoSlice, Write};

use columnar::testing::script;
use columnar::{Flow, Messages, column, flow, source, this};
use columnar_tests::live::{Live, block_on};
use columnar_tests::naive;
use columnar_tests::strategies::flows;
use proptest::prelude::*;
use serde_json::json;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn joined_they_are_what_serde_json_writes_of_the_naive_messages(described in flows()) {
        let live = Live::declare(&described, &[0]).unwrap();
        block_on(live.fill(&described)).unwrap();
        for (column, reads) in described.derived() {
            for step in 0..described.steps() {
                let messages = live.flow.messages(&column.name, step).unwrap();
                let mut naive = naive::messages(&described, &column.name, reads, step).unwrap();
                let expected = printed(&naive);
                prop_assert_eq!(&joined(&messages), &expected);
                prop_assert_eq!(&messages.to_json(), &expected);
                prop_assert_eq!(&serde_json::to_string(&messages).unwrap(), &expected);
                let last = printed(&naive.split_off(naive.len() - 1));
                prop_assert_eq!(format!("[{}]", messages.last_json()), last);
            }
        }
    }
}

/// Some of them are stored together, 32 at a time, and some are not yet.
const STEPS: usize = 80;

#[tokio::test]
async fn values_that_need_no_escaping_are_not_copied() {
    for steps in [1, 16, STEPS] {
        let f = chat(steps, |step| format!("plain {step}")).await;
        let messages = f.messages("bot", steps - 1).unwrap();
        assert!(messages.json_chunks().all(|chunk| matches!(chunk, Cow::Borrowed(_))), "{steps} steps");
    }
}

#[tokio::test]
async fn values_that_need_escaping_are_pieces_of_their_own() {
    let odd = ["two\nlines", "\"said\"", "</user>", "&lt;user>", "\u{7}"];
    let f = chat(STEPS, |step| if step % 8 == 0 { odd[step / 8 % odd.len()].into() } else { "plain".into() })
        .await;
    let messages = f.messages("bot", STEPS - 1).unwrap();
    let copied = messages.json_chunks().filter(|chunk| matches!(chunk, Cow::Owned(_))).count();
    // Tags are not escaped in what the column said itself.
    let said =
        (0..STEPS - 1).filter(|step| step % 8 == 0 && ![2, 3].contains(&(step / 8 % odd.len()))).count();
    assert_eq!(copied, STEPS / 8 + said);
    assert_eq!(joined(&messages), messages.to_json());
}

#[tokio::test]
async fn no_piece_is_empty() {
    let f = chat(STEPS, |_| String::new()).await;
    let messages = f.messages("bot", STEPS - 1).unwrap();
    assert!(messages.json_chunks().all(|chunk| !chunk.is_empty()));
    assert_eq!(joined(&messages), serde_json::to_string(&messages).unwrap());
}

/// A writer that takes so many buffers at once, and no more than so many bytes, as a socket does.
struct Socket {
    buffers: usize,
    bytes: usize,
    sent: Vec<u8>,
    calls: usize,
}

impl Write for Socket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(buffer)])
    }

    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.calls += 1;
        let before = self.sent.len();
        for buffer in buffers.iter().take(self.buffers) {
            let room = self.bytes - (self.sent.len() - before);
            self.sent.extend_from_slice(&buffer[..buffer.len().min(room)]);
        }
        Ok(self.sent.len() - before)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_writer_of_many_buffers_takes_them_as_they_are() {
    let f = chat(STEPS, |step| format!("line {step}\nof \"bot\"")).await;
    let messages = f.messages("bot", STEPS - 1).unwrap();
    let chunks: Vec<_> = messages.json_chunks().collect();
    for (buffers, bytes) in [(usize::MAX, usize::MAX), (16, usize::MAX), (7, 100), (1, 1)] {
        let mut socket = Socket { buffers, bytes, sent: Vec::new(), calls: 0 };
        let mut slices: Vec<_> = chunks.iter().map(|chunk| IoSlice::new(chunk.as_bytes())).collect();
        let mut rest = &mut slices[..];
        while !rest.is_empty() {
            let written = socket.write_vectored(rest).unwrap();
            IoSlice::advance_slices(&mut rest, written);
        }
        assert_eq!(socket.sent, messages.to_json().into_bytes());
        assert!(socket.calls > 1 || buffers == usize::MAX);
    }
}

/// A chat of so many steps, in which both say the same.
async fn chat(steps: usize, said: impl Fn(usize) -> String) -> Flow {
    let texts: Vec<String> = (0..steps).map(said).collect();
    let user = source("user");
    let f = flow([column("bot", (&user, this()), script(texts.clone()))]).unwrap();
    for text in texts {
        f.push("user", text).await.unwrap();
        f.run().await.unwrap();
    }
    f
}

fn joined(messages: &Messages) -> String {
    messages.json_chunks().collect()
}

/// As JSON with the keys in the order in which APIs document them.
fn printed(messages: &naive::Messages) -> String {
    let message = |(role, content): &(&str, String)| {
        format!("{{\"role\":{},\"content\":{}}}", json!(role), json!(content))
    };
    let messages: Vec<String> = messages.iter().map(message).collect();
    format!("[{}]", messages.join(","))
}
