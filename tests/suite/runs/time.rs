//! Clocks that jump past timers, and slow stores. A flow uses time only to wait, and never reads the time of day.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use columnar::cache::Pace;
use columnar::model::{Adaptive, Chunk, Model, Offline, Overloaded};
use columnar::prelude::*;
use columnar::reopen::IntoOpenOptions;
use columnar::service::Flows;
use columnar::store::MemoryStore;
use columnar_tests::live::push_all;
use columnar_tests::models::ChunkModel;
use columnar_tests::store::FaultyStore;
use futures::{FutureExt, stream};
use tokio::time::{Instant, advance, sleep};

const TEN_YEARS: Duration = Duration::from_hours(10 * 365 * 24);

/// A compute step that returns the length of its last message after this number of seconds.
fn after(seconds: u64) -> impl Fn(Context) -> futures::future::BoxFuture<'static, String> + Send + Sync {
    move |cx| {
        let length = cx.messages().last_text().len().to_string();
        sleep(secs(seconds)).map(|()| length).boxed()
    }
}

/// Two columns that take different times, and one that reads both.
fn slow(options: impl IntoOpenOptions) -> impl Future<Output = Result<Flow>> {
    let user = source("user");
    let fast = column("fast", user.latest(), after(1));
    let late = column("late", (user.latest(), this()), after(3));
    Flow::open(options, [column("both", (&fast, &late), after(0))])
}

/// The events of a run, with a jump of the clock before each awaited event.
async fn events(jump: Duration) -> Result<Vec<Event>> {
    let f = slow(MemoryStore::new()).await?;
    push_all(&f, "user", ["a", "bc", "def"]).await?;
    let (mut run, mut events) = (f.run(), Vec::new());
    loop {
        match run.next().now_or_never() {
            Some(Some(event)) => events.push(event?),
            Some(None) => return Ok(events),
            None if jump.is_zero() => match run.next().await {
                Some(event) => events.push(event?),
                None => return Ok(events),
            },
            None => advance(jump).await,
        }
    }
}

#[tokio::test(start_paused = true)]
async fn t1_a_jump_of_the_clock_changes_only_waiting_times() -> Result<()> {
    let without_jumps = events(Duration::ZERO).await?;
    assert_eq!(without_jumps.len(), 9);
    for jump in [Duration::from_secs(1), Duration::from_hours(1), TEN_YEARS] {
        let mut jumping = events(jump).await?;
        let mut expected = without_jumps.clone();
        // Time decides which of two columns is done first, but neither the values of a column nor their order.
        for events in [&mut jumping, &mut expected] {
            events.sort_by(|a, b| a.column().cmp(b.column()));
        }
        assert_eq!(jumping, expected, "{jump:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn t2_simultaneous_completions_are_ordered_by_step() -> Result<()> {
    let user = source("user");
    // Later steps are done earlier, and all of them before the run is polled.
    let back = column("back", user.latest(), |cx: Context| async move {
        sleep(Duration::from_millis(100 - cx.step() as u64)).await;
        cx.step().to_string()
    });
    let f = flow([back])?;
    for step in 0..20 {
        f.push("user", step.to_string()).await?;
    }
    let mut run = f.run();
    assert!(run.next().now_or_never().is_none());
    advance(secs(1)).await;
    let steps: Vec<usize> = run.map_ok(|event| event.step()).try_collect().await?;
    assert_eq!(steps, (0..20).collect::<Vec<_>>());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn t3_a_machine_that_sleeps_past_a_deadline_costs_at_most_one_more_attempt() -> Result<()> {
    let attempts = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&attempts);
    let chat = flow! {
        source user;
        column answer(user) = (move |_: Context| {
            seen.fetch_add(1, Ordering::SeqCst);
            sleep(secs(20)).map(|()| "yes")
        })
        .timeout(secs(30))
        .retry(5);
    };
    chat.user.push("a").await?;
    let mut run = chat.run();
    assert!(run.next().now_or_never().is_none());
    advance(TEN_YEARS).await;
    let events: Vec<_> = run.try_collect().await?;
    assert!(attempts.load(Ordering::SeqCst) <= 2);
    assert!(matches!(events.last(), Some(Event::Value { value, .. }) if &**value == "yes"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn s11_a_slow_store_delays_only_the_readers_of_the_value() -> Result<()> {
    let store = FaultyStore::default();
    let f = slow(store.clone()).await?;
    push_all(&f, "user", ["a", "bc", "def"]).await?;
    store.close();
    let mut run = f.run();
    let silence = tokio::time::timeout(secs(60), run.next()).await;
    assert!(silence.is_err(), "no value is emitted before it is stored");
    // Three of `fast` and the first of `late`, which the next one of `late` reads.
    assert_eq!((store.puts(), f.progress().done), (3 + 4, 0));
    store.let_through(1000);
    let events: Vec<_> = run.try_collect().await?;
    for column in ["fast", "late", "both"] {
        let steps = events.iter().filter(|event| event.column() == column).map(Event::step);
        assert_eq!(steps.collect::<Vec<_>>(), [0, 1, 2], "{column}");
    }
    Ok(())
}

/// A run may be dropped when a value is computed and not yet stored.
#[tokio::test(start_paused = true)]
async fn c6_a_value_that_was_not_stored_is_computed_again_and_stored_once() -> Result<()> {
    for cell in 0..9 {
        let store = FaultyStore::default();
        let f = slow(store.clone()).await?;
        push_all(&f, "user", ["a", "bc", "def"]).await?;
        store.close();
        store.let_through(cell);
        let mut run = f.run();
        while tokio::time::timeout(secs(60), run.next()).await.is_ok() {}
        let stored = f.progress().done;
        assert_eq!(stored, cell);
        drop(run);
        drop(f);

        store.let_through(1000);
        let before = store.puts();
        let f = slow(store.clone()).await?;
        assert_eq!(f.forecast().cells, 9 - stored);
        f.run().await?;
        assert_eq!((f.steps(), store.puts() - before), (3, 9 - stored), "after {cell} cells");
    }
    Ok(())
}

/// Durations at the ends of their range, and those at which a deadline is the last instant of the clock.
fn extreme() -> Vec<Duration> {
    let (mut fits, mut too_long) = (Duration::ZERO, Duration::MAX);
    while too_long.saturating_sub(fits) > Duration::from_nanos(1) {
        let middle = fits + too_long.saturating_sub(fits) / 2;
        let is_instant = Instant::now().checked_add(middle).is_some();
        if is_instant { fits = middle } else { too_long = middle }
    }
    let last =
        [0, 1, 1_000, 999_999, 1_000_000].map(|nanos| fits.saturating_sub(Duration::from_nanos(nanos)));
    [Duration::MAX, secs(u64::MAX), secs(u64::MAX / 2), too_long].into_iter().chain(last).collect()
}

/// A model that refuses its first call, and asks for this time.
fn refusing(retry_after: Duration) -> impl Model {
    ChunkModel::new("refusing", move |call, _| {
        if call == 0 {
            return vec![Err(Overloaded { retry_after: Some(retry_after) }.into())];
        }
        vec![Ok(Chunk::Text("yes".into())), Ok(Chunk::stop())]
    })
}

/// A timeout whose deadline was the last instant that the clock has panicked, because the runtime rounds deadlines up.
#[tokio::test(start_paused = true)]
async fn t4_every_duration_may_be_of_any_length() -> Result<()> {
    let slowly = |_: Context| sleep(secs(1)).map(|()| "whole");
    let pieces =
        |_: Context| deltas(stream::iter(["a", "b"]).then(|text| sleep(secs(1)).map(move |()| text)));
    for index in 0..extreme().len() {
        // Found again each time, because the clock has advanced.
        let long = extreme()[index];
        let user = source("user");
        let prompted = || prompt("Answer.").pace(Pace::think(long));
        let patient = |retry_after| Adaptive::new(refusing(retry_after)).max_wait(long);
        let f = flow([
            column("whole", user.latest(), slowly.timeout(long)),
            column("pieces", user.latest(), pieces.timeout(long)),
            column("attempts", user.latest(), slowly.retry(2).timeout(long)),
            column("requested", user.latest(), prompted().model(refusing(long)).retry(2)),
            column("patient", user.latest(), prompted().model(patient(long))),
            column("at_once", user.latest(), prompted().model(patient(Duration::ZERO))),
        ])?;
        f.set_pace(Pace::every(long));
        f.push("user", "x").await?;
        let spawned = f.spawn();
        spawned.settled().await?;
        assert_eq!(spawned.steps(), 1, "{long:?}");
        assert!(spawned.shutdown_timeout(long).await, "{long:?}");
        let flows = Flows::<String, Flow>::new(|_| std::future::ready(flow([source("user")])));
        drop(flows.open("a").await?);
        assert!(flows.shutdown_timeout(long).await, "{long:?}");
        // It waits before its first word, so it times out.
        let delayed = prompt("Answer.").model(Offline::new().delay(long)).timeout(secs(1));
        let f = flow([column("delayed", user.latest(), delayed)])?;
        f.push("user", "x").await?;
        assert!(matches!(f.run().await, Err(Error::Compute { .. })), "{long:?}");
    }
    Ok(())
}

/// Limits of no time at all: a step that is ready at once is in time, and any other one is not.
#[tokio::test(start_paused = true)]
async fn t4_no_time_is_a_limit_too() -> Result<()> {
    let user = source("user");
    let none = Duration::ZERO;
    let f = flow([
        column("ready", user.latest(), (async |_: Context| "yes").timeout(none)),
        column("pieces", user.latest(), (|_: Context| deltas(stream::iter(["a", "b"]))).timeout(none)),
        column(
            "prompt",
            user.latest(),
            prompt("Answer.").model(Offline::new().delay(none)).pace(Pace::think(none)),
        ),
    ])?;
    f.push("user", "x").await?;
    f.run().await?;
    let late =
        flow([column("late", user.latest(), (|_: Context| sleep(secs(1)).map(|()| "late")).timeout(none))])?;
    late.push("user", "x").await?;
    assert!(matches!(late.run().await, Err(Error::Compute { .. })));
    let spawned = late.spawn();
    assert!(!spawned.shutdown_timeout(none).await || spawned.error().is_some());
    Ok(())
}
