//! The steps per second of 10,000 live flows in one process, with one run after the other and with all runs at once on one
//! thread, against the same number of boxed futures by hand.
//!
//! `cargo bench -p columnar-tests --bench alive`

use std::cell::Cell;
use std::future::ready;
use std::time::Duration;

use columnar::Value;
use columnar::prelude::*;
use columnar_tests::figures::{figure, medians};
use criterion::{Criterion, criterion_group, criterion_main};
use futures::StreamExt;
use futures::future::{BoxFuture, FutureExt, join3};
use futures::stream::FuturesUnordered;
use tokio::runtime::Builder;
use tokio::task::yield_now;

const FLOWS: u32 = 10_000;
const ROUNDS: usize = 9;

flow! {
    /// The flow of the README. Its compute steps are ready at once, or after one yield.
    struct Chat<const WAITS: bool> {
        source user;
        column topics(user.latest)        = answer::<WAITS>;
        column summary(user, self.latest) = answer::<WAITS>;
        column critique(summary.latest.as("digest"), user.latest) = answer::<WAITS>;
        column assistant(user, self)      = answer::<WAITS>;
    }
}

async fn answer<const WAITS: bool>(_: Context) -> Value {
    cell::<WAITS>().await
}

async fn cell<const WAITS: bool>() -> Value {
    if WAITS {
        yield_now().await;
    }
    value()
}

thread_local! {
    static VALUE: Value = "x".repeat(100).into();
}

fn value() -> Value {
    VALUE.with(Value::clone)
}

async fn step<const WAITS: bool>(chat: &Chat<WAITS>) {
    chat.user.push(value()).await.expect("memory takes it");
    chat.run().await.expect("nothing fails");
}

/// The same step by hand: a boxed future for each cell, and its value kept.
#[derive(Default)]
struct ByHand {
    columns: [Vec<Value>; 5],
}

impl ByHand {
    async fn step<const WAITS: bool>(&mut self) {
        let cell = || -> BoxFuture<'static, Value> { cell::<WAITS>().boxed() };
        let [user, topics, summary, critique, assistant] = &mut self.columns;
        user.push(value());
        let summarised = async {
            summary.push(cell().await);
            critique.push(cell().await);
        };
        join3(cell().map(|value| topics.push(value)), summarised, cell().map(|value| assistant.push(value)))
            .await;
    }
}

/// Counts the steps in flight.
#[derive(Default)]
struct Alive {
    now: Cell<u32>,
    most: Cell<u32>,
}

impl Alive {
    async fn count(&self, step: impl Future) {
        self.now.set(self.now.get() + 1);
        self.most.set(self.most.get().max(self.now.get()));
        step.await;
        self.now.set(self.now.get() - 1);
    }
}

async fn in_turn<F: Future>(steps: impl Iterator<Item = F>) {
    for step in steps {
        step.await;
    }
}

/// Polls each future when it is woken, until all are complete.
async fn at_once<F: Future>(steps: impl Iterator<Item = F>) {
    steps.collect::<FuturesUnordered<F>>().for_each(|_| ready(())).await;
}

fn many<T>(make: impl Fn() -> T) -> Vec<T> {
    (0..FLOWS).map(|_| make()).collect()
}

/// The steps per second, if each flow made one step in this time.
fn per_second(time: Duration) -> f64 {
    f64::from(FLOWS) / time.as_secs_f64()
}

fn alive(_: &mut Criterion) {
    let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    let (quick, waiting) = (many(Chat::<false>::new), many(Chat::<true>::new));
    let (mut quick_by_hand, mut waiting_by_hand) = (many(ByHand::default), many(ByHand::default));
    let in_flight = Alive::default();
    let [turns, turns_by_hand, at_once, at_once_by_hand] = medians(
        ROUNDS,
        [
            &mut || runtime.block_on(in_turn(quick.iter().map(step))),
            &mut || runtime.block_on(in_turn(quick_by_hand.iter_mut().map(ByHand::step::<false>))),
            &mut || runtime.block_on(at_once(waiting.iter().map(|chat| in_flight.count(step(chat))))),
            &mut || runtime.block_on(at_once(waiting_by_hand.iter_mut().map(ByHand::step::<true>))),
        ],
    );
    for (chat, other) in quick.iter().zip(&waiting) {
        assert_eq!([chat.assistant.len(), other.assistant.len()], [ROUNDS + 1; 2]);
    }
    assert_eq!(in_flight.most.get(), FLOWS, "all runs were in flight at once");
    for (name, time) in [
        ("", turns),
        ("by_hand_", turns_by_hand),
        ("in_flight_", at_once),
        ("in_flight_by_hand_", at_once_by_hand),
    ] {
        figure(&format!("live_flows_{name}steps_per_second"), per_second(time), "steps/s");
    }
}

criterion_group!(benches, alive);
criterion_main!(benches);
