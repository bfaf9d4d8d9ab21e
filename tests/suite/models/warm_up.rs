//! Requests that begin the same are not sent at once: one leads, and the others find what it had kept.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use columnar::BoxError;
use columnar::compute::Policy;
use columnar::model::{Chunk, Model, Request};
use columnar::prelude::*;
use futures::stream::{self, BoxStream, StreamExt};
use tokio::time::{Instant, sleep};

/// Of this one it is known that it keeps what begins with 1,024 tokens or more.
const KEEPS: &str = "anthropic/claude-sonnet-4-5";

/// A model that takes ten seconds to begin and ten more to end, and remembers when it was asked.
#[derive(Clone)]
struct Slow {
    name: &'static str,
    began: Instant,
    asked: Arc<Mutex<Vec<u64>>>,
    /// So many calls fail after five seconds.
    failing: usize,
}

impl Slow {
    fn new(name: &'static str) -> Self {
        Self { name, began: Instant::now(), asked: Arc::default(), failing: 0 }
    }

    /// The seconds at which it was asked.
    fn asked(&self) -> Vec<u64> {
        self.asked.lock().unwrap().clone()
    }
}

impl Model for Slow {
    fn name(&self) -> &str {
        self.name
    }

    fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let mut asked = self.asked.lock().unwrap();
        asked.push(self.began.elapsed().as_secs());
        if asked.len() <= self.failing {
            return stream::once(async {
                sleep(Duration::from_secs(5)).await;
                Err("out of order".into())
            })
            .boxed();
        }
        let chunks = [Chunk::Text("yes".into()), Chunk::stop()];
        stream::iter(chunks)
            .then(|chunk| async {
                sleep(Duration::from_secs(10)).await;
                Ok(chunk)
            })
            .boxed()
    }
}

/// 1,100 tokens.
fn long() -> String {
    "Well. ".repeat(734)
}

/// Three columns under these instructions, which read what these say.
async fn asked(
    model: &Slow,
    instructions: [&str; 3],
    said: &str,
    views: fn(&Column) -> Vec<View>,
) -> Vec<u64> {
    let user = source("user");
    let columns = instructions.iter().enumerate().map(|(at, instruction)| {
        let asked = prompt(*instruction).with(model.clone()).or_wait();
        column(format!("c{at}"), views(&user), asked)
    });
    let f = flow(columns).unwrap();
    f.push("user", said).await.unwrap();
    f.run().await.unwrap();
    model.asked()
}

fn latest(user: &Column) -> Vec<View> {
    vec![user.latest()]
}

#[tokio::test(start_paused = true)]
async fn under_one_instruction_one_request_warms_up_and_the_others_wait_for_its_first_token() {
    let long = long();
    assert_eq!(asked(&Slow::new(KEEPS), [&long; 3], "hello", latest).await, [0, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn the_inputs_are_part_of_the_shared_prefix() {
    assert_eq!(asked(&Slow::new(KEEPS), ["Short."; 3], &long(), latest).await, [0, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn requests_with_different_prefixes_are_sent_at_once() {
    let (long, other) = (long(), long().to_uppercase());
    assert_eq!(asked(&Slow::new(KEEPS), [&long, &other, "Short."], "hello", latest).await, [0, 0, 0]);
    assert_eq!(asked(&Slow::new(KEEPS), ["One.", "Two.", "Three."], &long, latest).await, [0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn no_request_waits_for_a_prefix_that_is_not_cached() {
    assert_eq!(asked(&Slow::new(KEEPS), ["Short."; 3], "hello", latest).await, [0, 0, 0]);
    assert_eq!(asked(&Slow::new("somebody/something"), [&long(); 3], "hello", latest).await, [0, 0, 0]);
}

/// What a column said stands before what is new, so only what comes before is the same.
#[tokio::test(start_paused = true)]
async fn self_history_ends_the_shared_prefix() {
    let model = Slow::new(KEEPS);
    let user = source("user");
    let declared =
        |at| column(format!("c{at}"), (&user, this().latest()), prompt("Short.").with(model.clone()));
    let f = flow((0..3).map(declared)).unwrap();
    f.push("user", "hello").await.unwrap();
    f.run().await.unwrap();
    assert_eq!(model.asked(), [0, 0, 0]);
    // The new value stands behind the answers, which differ.
    f.push("user", long()).await.unwrap();
    f.run().await.unwrap();
    assert_eq!(model.asked()[3..], [20, 20, 20]);
    // And here before them.
    f.push("user", "hello").await.unwrap();
    f.run().await.unwrap();
    assert_eq!(model.asked()[6..], [40, 50, 50]);
}

#[tokio::test(start_paused = true)]
async fn if_the_warm_up_fails_another_request_takes_over() {
    let model = Slow { failing: 1, ..Slow::new(KEEPS) };
    assert_eq!(asked(&model, [&long(); 3], "hello", latest).await, [0, 5, 15]);
}

#[tokio::test(start_paused = true)]
async fn many_steps_under_a_long_instruction_share_one_warm_up() {
    let model = Slow::new(KEEPS);
    let user = source("user");
    let f = flow([column("c", user.latest(), prompt(long()).with(model.clone()))]).unwrap();
    for step in 0..5 {
        f.push("user", format!("{step}")).await.unwrap();
    }
    f.run().await.unwrap();
    assert_eq!(model.asked(), [0, 10, 10, 10, 10]);
}

/// Those that wait are dropped with the run, and a later run begins anew.
#[tokio::test(start_paused = true)]
async fn a_dropped_run_leaves_no_waiting_request() {
    let model = Slow::new(KEEPS);
    let user = source("user");
    let long = long();
    let declared = |at| column(format!("c{at}"), user.latest(), prompt(long.as_str()).with(model.clone()));
    let f = flow((0..3).map(declared)).unwrap();
    f.push("user", "hello").await.unwrap();
    let mut run = f.run();
    tokio::select! {
        _ = run.next() => panic!("nothing is said in the first seconds"),
        () = sleep(Duration::from_secs(5)) => {}
    }
    drop(run);
    f.run().await.unwrap();
    assert_eq!(model.asked(), [0, 5, 15, 15]);
}

/// The instruction was forgotten before the openings, so that after 256 of them each request led again.
#[tokio::test(start_paused = true)]
async fn an_instruction_is_remembered_longer_than_an_input() {
    let model = Slow::new(KEEPS);
    let user = source("user");
    let f = flow([column("c", user.latest(), prompt(long()).with(model.clone()))]).unwrap();
    f.set_concurrency(1000);
    for step in 0..600 {
        f.push("user", format!("{step}")).await.unwrap();
    }
    f.run().await.unwrap();
    let asked = model.asked();
    assert_eq!(asked.iter().filter(|second| **second == 0).count(), 1);
    assert_eq!(asked.iter().filter(|second| **second == 10).count(), 599);
}
