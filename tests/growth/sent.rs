//! Texts of people, models and clients.

use std::hint::black_box;
use std::io::Cursor;

use columnar::documents::{Update, urls};
use columnar::prelude::*;
use columnar::rows::read_json_lines;
use columnar::service::Position;
use columnar::store::MemoryStore;
use columnar::testing::ScriptedModel;
use columnar_tests::events::lines;
use futures::executor::block_on;

use super::blocks::Answer;

/// This number of texts, one after the other.
fn joined(size: usize, text: impl Fn(usize) -> String) -> String {
    (0..size).map(text).collect::<Vec<_>>().concat()
}

pub(super) fn brackets(size: usize) {
    black_box(urls(&"https://a.b/((".repeat(size)).len());
}

pub(super) fn addresses(size: usize) {
    let text = joined(size, |at| format!("See <https://example.org/{at}>, and "));
    assert!(!urls(&text).is_empty());
}

flow! {
    struct Rated(rater: ScriptedModel) {
        source user;
        column score(user): u8 = prompt("Rate it.").model(rater.clone());
    }
}

/// A typed cell looks for JSON in the reply.
pub(super) fn braces(size: usize) {
    let reply = format!("{} and {}", "{".repeat(size), "[{\"a\":".repeat(size));
    let rated = Rated::new(ScriptedModel::new(move |_| reply.clone()));
    block_on(async {
        rated.user.push("It works.").await.expect("memory takes it");
        assert!(rated.run().await.is_err(), "there is no number in it");
    });
}

pub(super) fn blocks(size: usize) {
    let answer = Answer::parse(&"a.rs\n```\n<<<<<<< SEARCH\nlet a = 1;\n".repeat(size));
    assert_eq!(answer.faults.len(), size);
}

/// A flow with this number of steps, whose values are read from a position.
fn read_from(steps: usize, position: &str, values: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it needs nothing");
    runtime.block_on(async {
        let flow = flow([column("echo", source("user").latest(), async |cx: Context| {
            cx.messages().last_text().into_owned()
        })]);
        let flow = flow.expect("the declaration is right");
        for _ in 0..steps {
            flow.push("user", "a").await.expect("memory takes it");
        }
        flow.run().await.expect("nothing fails");
        let flow = flow.spawn();
        let position: Position = position.parse().expect("it is a position");
        let mut subscription = flow.subscribe_from(&position);
        assert_eq!(lines(&mut subscription).len(), values);
    });
}

pub(super) fn gaps(size: usize) {
    let gaps = joined(size, |at| format!("!{}", 2 * at));
    read_from(2 * size, &format!("{},echo:{}{gaps}", 2 * size, 2 * size), size);
}

pub(super) fn foreign_gaps(size: usize) {
    let gaps = joined(size, |at| format!("!{}", 2 * at + size));
    let text = format!("0,echo:{}{gaps}", 4 * size);
    read_from(size, &text, 0);
}

pub(super) fn json_lines(size: usize) {
    let text = joined(size, |at| format!("{{\"user\":\"{at}\"}}\n"));
    let read = block_on(read_json_lines(&MemoryStore::new(), Cursor::new(text)));
    assert_eq!(read.expect("each row is right"), size);
}

pub(super) fn markup(size: usize) {
    let flow = flow([column("echo", source("user"), async |cx: Context| cx.messages().to_json())]);
    let flow = flow.expect("the declaration is right");
    block_on(async {
        flow.push("user", "<user></user>&lt;".repeat(size)).await.expect("memory takes it");
        flow.run().await.expect("nothing fails");
    });
}

pub(super) fn update(size: usize) {
    let files = (0..size).map(|at| (format!("src/{at}.rs"), format!("let a = {at};\n")));
    let update = files.fold(Update::new(), |all, (path, text)| all.file(path, text));
    let text = update.to_text().expect("no fault is in it");
    assert_eq!(Update::parse(text).expect("it is an update"), update);
}
