//! Requests with a shared prefix are not sent at once: one warms up the cache, and the others wait for it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use columnar::BoxError;
use columnar::compute::Policy;
use columnar::model::{Chunk, Model, Request};
use columnar::prelude::*;
use futures::stream::{self, BoxStream, StreamExt};
use tokio::time::{Instant, sleep};

/// A model that caches prefixes from 1,024 tokens on.
const CACHING: &str = "anthropic/claude-sonnet-5";

/// A model that takes ten seconds to begin a reply and ten more to end it, and records the times of its requests.
#[derive(Clone)]
struct Slow {
    name: &'static str,
    began: Instant,
    requests: Arc<Mutex<Vec<u64>>>,
    /// The number of first calls that fail after five seconds.
    failing: usize,
}

impl Slow {
    fn new(name: &'static str) -> Self {
        Self { name, began: Instant::now(), requests: Arc::default(), failing: 0 }
    }

    /// The seconds of its requests.
    fn requests(&self) -> Vec<u64> {
        self.requests.lock().unwrap().clone()
    }
}

impl Model for Slow {
    fn name(&self) -> &str {
        self.name
    }

    fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let mut requests = self.requests.lock().unwrap();
        requests.push(self.began.elapsed().as_secs());
        if requests.len() <= self.failing {
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

/// The seconds of the requests of three columns with these instructions and this message of the user.
async fn requests(
    model: &Slow,
    instructions: [&str; 3],
    message: &str,
    views: fn(&Column) -> Vec<View>,
) -> Vec<u64> {
    let user = source("user");
    let columns = instructions.iter().enumerate().map(|(at, instruction)| {
        let step = prompt(*instruction).model(model.clone()).or_wait();
        column(format!("c{at}"), views(&user), step)
    });
    let f = flow(columns).unwrap();
    f.push("user", message).await.unwrap();
    f.run().await.unwrap();
    model.requests()
}

fn latest(user: &Column) -> Vec<View> {
    vec![user.latest()]
}

#[tokio::test(start_paused = true)]
async fn under_one_instruction_one_request_warms_up_and_the_others_wait_for_its_first_token() {
    let long = long();
    assert_eq!(requests(&Slow::new(CACHING), [&long; 3], "hello", latest).await, [0, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn the_inputs_are_part_of_the_shared_prefix() {
    assert_eq!(requests(&Slow::new(CACHING), ["Short."; 3], &long(), latest).await, [0, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn requests_with_different_prefixes_are_sent_at_once() {
    let (long, other) = (long(), long().to_uppercase());
    assert_eq!(requests(&Slow::new(CACHING), [&long, &other, "Short."], "hello", latest).await, [0, 0, 0]);
    assert_eq!(requests(&Slow::new(CACHING), ["One.", "Two.", "Three."], &long, latest).await, [0, 0, 0]);
}

#[tokio::test(start_paused = true)]
async fn no_request_waits_for_a_prefix_that_is_not_cached() {
    assert_eq!(requests(&Slow::new(CACHING), ["Short."; 3], "hello", latest).await, [0, 0, 0]);
    assert_eq!(requests(&Slow::new("unknown/model"), [&long(); 3], "hello", latest).await, [0, 0, 0]);
}

/// The self history precedes the new values, so only the parts before it are shared.
#[tokio::test(start_paused = true)]
async fn self_history_ends_the_shared_prefix() {
    let model = Slow::new(CACHING);
    let user = source("user");
    let declared =
        |at| column(format!("c{at}"), (&user, this().latest()), prompt("Short.").model(model.clone()));
    let f = flow((0..3).map(declared)).unwrap();
    f.push("user", "hello").await.unwrap();
    f.run().await.unwrap();
    assert_eq!(model.requests(), [0, 0, 0]);
    // The new value follows the self histories, which differ.
    f.push("user", long()).await.unwrap();
    f.run().await.unwrap();
    assert_eq!(model.requests()[3..], [20, 20, 20]);
    // Here it precedes them.
    f.push("user", "hello").await.unwrap();
    f.run().await.unwrap();
    assert_eq!(model.requests()[6..], [40, 50, 50]);
}

#[tokio::test(start_paused = true)]
async fn if_the_warm_up_fails_another_request_takes_over() {
    let model = Slow { failing: 1, ..Slow::new(CACHING) };
    assert_eq!(requests(&model, [&long(); 3], "hello", latest).await, [0, 5, 15]);
}

#[tokio::test(start_paused = true)]
async fn many_steps_under_a_long_instruction_share_one_warm_up() {
    let model = Slow::new(CACHING);
    let user = source("user");
    let f = flow([column("c", user.latest(), prompt(long()).model(model.clone()))]).unwrap();
    for step in 0..5 {
        f.push("user", format!("{step}")).await.unwrap();
    }
    f.run().await.unwrap();
    assert_eq!(model.requests(), [0, 10, 10, 10, 10]);
}

/// Waiting requests are dropped with the run, and a later run starts again.
#[tokio::test(start_paused = true)]
async fn a_dropped_run_leaves_no_waiting_request() {
    let model = Slow::new(CACHING);
    let user = source("user");
    let long = long();
    let declared = |at| column(format!("c{at}"), user.latest(), prompt(long.as_str()).model(model.clone()));
    let f = flow((0..3).map(declared)).unwrap();
    f.push("user", "hello").await.unwrap();
    let mut run = f.run();
    tokio::select! {
        _ = run.next() => panic!("no event comes in the first seconds"),
        () = sleep(Duration::from_secs(5)) => {}
    }
    drop(run);
    f.run().await.unwrap();
    assert_eq!(model.requests(), [0, 5, 15, 15]);
}

/// The instruction was once evicted before the inputs, so after 256 inputs each request warmed up again.
#[tokio::test(start_paused = true)]
async fn an_instruction_is_remembered_longer_than_an_input() {
    let model = Slow::new(CACHING);
    let user = source("user");
    let f = flow([column("c", user.latest(), prompt(long()).model(model.clone()))]).unwrap();
    f.set_concurrency(1000);
    for step in 0..600 {
        f.push("user", format!("{step}")).await.unwrap();
    }
    f.run().await.unwrap();
    let times = model.requests();
    assert_eq!(times.iter().filter(|second| **second == 0).count(), 1);
    assert_eq!(times.iter().filter(|second| **second == 10).count(), 599);
}

/// The system text has no instruction, and the values are the common beginning.
#[tokio::test(start_paused = true)]
async fn instructions_after_the_same_views_have_one_warm_up() {
    let model = Slow::new(CACHING);
    let user = source("user");
    let columns = ["One.", "Two.", "Three."].iter().enumerate().map(|(at, instruction)| {
        column(format!("c{at}"), &user, prompt(*instruction).model(model.clone()).after())
    });
    let f = flow(columns).unwrap();
    f.push("user", long()).await.unwrap();
    f.run().await.unwrap();
    assert_eq!(model.requests(), [0, 10, 10]);
}

#[tokio::test(start_paused = true)]
async fn columns_that_continue_one_thread_have_one_warm_up() {
    let model = Slow::new(CACHING);
    let user = source("user");
    let assistant = column("assistant", (&user, this()), prompt("You plan.").model(model.clone()));
    let columns = ["One.", "Two.", "Three."].iter().enumerate().map(|(at, instruction)| {
        column(format!("c{at}"), assistant.thread(), prompt(*instruction).model(model.clone()))
    });
    let f = flow(columns).unwrap();
    f.push("user", long()).await.unwrap();
    f.run().await.unwrap();
    // The assistant takes twenty seconds.
    assert_eq!(model.requests(), [0, 20, 30, 30]);
}
