//! Subscriptions: where they begin, their order, and slow readers.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use columnar::Name;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::service::{Position, Spawned, Subscription};
use columnar::store::MemoryStore;
use columnar_tests::events::{lines, pause, ready};
use columnar_tests::gate::Gate;
use columnar_tests::live::push_all;
use futures::stream;

/// A source, a column of it, and one that also reads its self history.
fn declared(gate: &Gate) -> Column {
    let topics = column("topics", source("user").latest(), gate.clone());
    column("answer", (topics.latest(), this().latest()), gate.clone())
}

/// A spawned flow in memory, and its gate, which lets this number of words through.
fn spawned(words: usize) -> Result<(Spawned<Flow>, Gate)> {
    let gate = Gate::new(words);
    Ok((flow([declared(&gate)])?.spawn(), gate))
}

fn from(f: &Spawned<Flow>, position: &str) -> Subscription<Name> {
    f.subscribe_from(&position.parse().expect("a position"))
}

#[tokio::test(start_paused = true)]
async fn a_subscription_begins_anywhere() -> Result<()> {
    let (f, gate) = spawned(5)?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    pause().await;
    let values = ["topics 0 = A", "answer 0 = A", "topics 1 = B", "answer 1 = B", "topics 2 = C"];
    assert_eq!(lines(&mut f.subscribe_from(&Position::START)), values);
    assert_eq!(lines(&mut f.subscribe_from(&Position::before(1))), values[2..]);
    assert_eq!(lines(&mut from(&f, "1,topics:2")), values[3..]);
    assert_eq!(lines(&mut f.subscribe_from(&f.position())), [] as [&str; 0]);
    let mut now = f.subscribe();
    assert_eq!(lines(&mut now), [] as [&str; 0]);
    gate.let_through(1);
    f.settled().await?;
    assert_eq!(lines(&mut now), ["answer 2 = C"]);
    assert_eq!(now.position(), Position::before(3));
    Ok(())
}

/// A client that reconnects sends the position of the last event that it got.
#[tokio::test(start_paused = true)]
async fn v3_a_subscription_continues_at_the_position_of_another_one() -> Result<()> {
    let (f, _) = spawned(6)?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.settled().await?;
    let all = lines(&mut f.subscribe_from(&Position::START));
    for cut in 0..all.len() {
        let mut events = f.subscribe_from(&Position::START);
        for _ in 0..cut {
            events.next().await;
        }
        let position = events.position().to_string();
        assert_eq!(lines(&mut from(&f, &position)), all[cut..], "{position}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn values_of_sources_come_if_the_subscription_has_them() -> Result<()> {
    let (f, _) = spawned(9)?;
    let mut events = f.subscribe().with_sources();
    f.push("user", "a").await?;
    f.settled().await?;
    assert_eq!(lines(&mut events), ["user 0 = a", "topics 0 = A", "answer 0 = A"]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_text_in_progress_comes_from_its_beginning() -> Result<()> {
    let (f, gate) = spawned(2)?;
    f.push("user", "to be or not").await?;
    pause().await;
    let mut early = f.subscribe();
    assert_eq!(lines(&mut early), ["topics 0 + TO BE "]);
    gate.let_through(1);
    pause().await;
    let mut late = f.subscribe_from(&early.position());
    assert_eq!(lines(&mut early), ["topics 0 + OR "]);
    assert_eq!(lines(&mut late), ["topics 0 + TO BE OR "], "a position has no part of a text");
    gate.let_through(1);
    pause().await;
    let end = ["topics 0 + NOT", "topics 0 = TO BE OR NOT"];
    assert_eq!(
        (lines(&mut early), lines(&mut late)),
        (end.map(String::from).into(), end.map(String::from).into())
    );
    Ok(())
}

/// A subscription has no queue: who reads late reads the values, and at most one delta of each cell in progress.
#[tokio::test(start_paused = true)]
async fn v2_a_slow_subscription_gets_few_events() -> Result<()> {
    let (f, gate) = spawned(0)?;
    let (mut slow, mut fast) = (f.subscribe(), f.subscribe());
    f.push("user", "a b c d e f g h").await?;
    let mut events = 0;
    for _ in 0..11 {
        gate.let_through(1);
        pause().await;
        events += ready(&mut fast).len();
    }
    assert_eq!(events, 12);
    assert_eq!(lines(&mut slow), ["topics 0 = A B C D E F G H", "answer 0 + A B C "]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_retry_discards_the_text_that_was_sent() -> Result<()> {
    let gate = Gate::new(3);
    let f = flow([column("topics", source("user").latest(), gate.clone().retry(1))])?.spawn();
    let (mut events, mut slow) = (f.subscribe(), f.subscribe());
    f.push("user", "a b fail").await?;
    pause().await;
    assert_eq!(lines(&mut events), ["topics 0 + NOT A B "]);
    gate.let_through(1);
    pause().await;
    assert_eq!(lines(&mut events), ["topics 0 retried after 1: HTTP 503"]);
    gate.set_failing(false);
    gate.let_through(9);
    f.completed(0).await?;
    assert_eq!(lines(&mut events), ["topics 0 = A B FAIL"]);
    assert_eq!(lines(&mut slow), ["topics 0 = A B FAIL"], "it has sent nothing that could be discarded");
    Ok(())
}

/// A subscription that was not read between a failure and the value: its text must not be continued by another one.
#[tokio::test(start_paused = true)]
async fn a_slow_subscription_continues_the_text_of_the_value_alone() -> Result<()> {
    for (text, end) in [
        ("a b", vec!["topics 0 + B", "topics 0 = A B"]),
        ("a fail", vec!["topics 0 retried after 1: HTTP 503", "topics 0 = A FAIL"]),
    ] {
        let (f, gate) = spawned(1)?;
        let mut events = f.subscribe();
        f.push("user", text).await?;
        pause().await;
        assert_eq!(lines(&mut events).len(), 1);
        gate.let_through(9);
        pause().await;
        gate.set_failing(false);
        f.retry();
        f.completed(0).await?;
        assert_eq!(lines(&mut events)[..2], end);
    }
    Ok(())
}

/// A cell that fails for good would otherwise hide all later values of its column.
#[tokio::test(start_paused = true)]
async fn v5_a_failed_cell_holds_nothing_back_and_comes_when_it_is_stored() -> Result<()> {
    let gate = Gate::open();
    let mood = column("mood", source("user").latest(), gate.clone().or_wait());
    let f = flow([column("answer", mood.latest(), gate.clone())])?.spawn();
    let mut events = f.subscribe();
    push_all(&f, "user", ["a", "fail", "c"]).await?;
    f.settled().await?;
    assert!(matches!(f.completed(1).await, Err(Error::Missing { step: 1, .. })));
    let before = ["mood 0 = A", "answer 0 = A", "mood 1 failed: HTTP 503", "mood 2 = C", "answer 2 = C"];
    assert_eq!(lines(&mut events), before);
    let position = events.position();
    assert_eq!(position.to_string(), "3,answer:3!1,mood:3!1");

    gate.set_failing(false);
    f.retry();
    f.completed(1).await?;
    let after = ["mood 1 = FAIL", "answer 1 = FAIL"];
    assert_eq!(lines(&mut events), after);
    assert_eq!(lines(&mut f.subscribe_from(&position)), after);
    assert_eq!(events.position(), Position::before(3));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_skipped_cell_has_its_failure_before() -> Result<()> {
    let gate = Gate::open();
    let user = source("user");
    let mood = column("mood", user.latest(), gate.clone().or_skip());
    let f = flow([column("answer", (user.latest(), mood.latest()), gate.clone())])?.spawn();
    let mut events = f.subscribe();
    f.push("user", "fail").await?;
    f.settled().await.expect_err("`answer` fails as well");
    let failed = ["mood 0 failed: HTTP 503", "mood 0 skipped", "answer 0 failed: HTTP 503"];
    assert_eq!(lines(&mut events), failed);
    assert_eq!(lines(&mut f.subscribe_from(&Position::START)), failed);
    assert_eq!(
        lines(&mut f.subscribe()),
        failed[2..],
        "the skipped cell is stored, so it is not of the present"
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn values_that_are_not_in_memory_are_read_from_the_store() -> Result<()> {
    let (store, gate) = (MemoryStore::new(), Gate::open());
    let f = Flow::open(store.clone(), [declared(&gate)]).await?;
    push_all(&f, "user", (0..200).map(|step| step.to_string())).await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(OpenOptions::new(store).recent(10), [declared(&gate)]).await?.spawn();
    let events = f.subscribe_from(&Position::before(3)).take(2 * 197).collect::<Vec<_>>().await;
    let expected = (3..200).flat_map(|step| [("topics", step), ("answer", step)]);
    for (event, (column, step)) in events.iter().zip(expected) {
        let Event::Value { value, .. } = event else { panic!("{event:?}") };
        assert_eq!(
            (event.column().as_str(), event.step(), value.as_str()),
            (column, step, &*step.to_string())
        );
    }
    assert_eq!(f.get("topics", 3), None, "the flow itself has loaded nothing");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_subscription_follows_changes_of_the_columns() -> Result<()> {
    let (gate, user) = (Gate::open(), source("user"));
    let topics = column("topics", user.latest(), gate.clone());
    let f = flow([column("answer", topics.latest(), gate.clone())])?.spawn();
    let mut events = f.subscribe();
    push_all(&f, "user", ["a", "b"]).await?;
    f.settled().await?;
    assert_eq!(lines(&mut events).len(), 4);
    f.add_column(column("mood", user.latest(), gate.clone())).await?;
    f.settled().await?;
    assert_eq!(lines(&mut events), ["mood 0 = A", "mood 1 = B"]);
    f.remove_column("answer").await?;
    f.push("user", "c").await?;
    f.settled().await?;
    assert_eq!(lines(&mut events), ["topics 2 = C", "mood 2 = C"]);
    Ok(())
}

/// Each event looked at all failures and at all missing cells, so a reader of some thousands took minutes.
#[tokio::test(start_paused = true)]
async fn thousands_of_failures_are_read_at_once() -> Result<()> {
    const STEPS: usize = 10_000;
    let down = (|_: Context| async { Err::<String, _>("HTTP 503") }).or_wait();
    let f = flow([column("mood", source("user").latest(), down)])?.spawn();
    push_all(&f, "user", (0..STEPS).map(|step| step.to_string())).await?;
    f.settled().await?;
    let events = ready(&mut f.subscribe_from(&Position::START).with_sources());
    let cells = events.iter().map(|event| (event.column().as_str(), event.step()));
    assert!(cells.eq((0..STEPS).flat_map(|step| [("user", step), ("mood", step)])));
    Ok(())
}

/// A client that was away does not get the past of a column that was added meanwhile.
#[tokio::test(start_paused = true)]
async fn a_position_is_that_of_a_later_column_as_well() -> Result<()> {
    let (gate, user) = (Gate::open(), source("user"));
    let f = flow([column("topics", user.latest(), gate.clone())])?.spawn();
    push_all(&f, "user", ["a", "b"]).await?;
    f.settled().await?;
    let position = f.position();
    f.add_column(column("mood", user.latest(), gate.clone())).await?;
    f.push("user", "c").await?;
    f.settled().await?;
    assert_eq!(lines(&mut f.subscribe_from(&position)), ["topics 2 = C", "mood 2 = C"]);
    Ok(())
}

/// The text of a removed column hid that those of other columns were discarded.
#[tokio::test(start_paused = true)]
async fn the_text_of_a_removed_column_is_forgotten() -> Result<()> {
    let (one, other, user) = (Gate::new(1), Gate::new(0), source("user"));
    let columns =
        [column("answer", user.latest(), one.clone()), column("topics", user.latest(), other.clone())];
    let f = flow(columns)?.spawn();
    let mut events = f.subscribe();
    f.push("user", "a b").await?;
    pause().await;
    assert_eq!(lines(&mut events), ["answer 0 + A "]);
    f.cancel();
    pause().await;
    f.remove_column("answer").await?;
    other.let_through(1);
    f.retry();
    pause().await;
    assert_eq!(lines(&mut events), ["topics 0 + A "]);
    f.cancel();
    pause().await;
    assert_eq!(lines(&mut events), ["topics 0 retried after 1: the run was cancelled"]);
    Ok(())
}

/// Neither subscriptions that are never read nor those that are read at once change the work of a flow.
#[tokio::test(start_paused = true)]
async fn v2_a_thousand_subscriptions_leave_the_work_of_a_flow_as_it_is() -> Result<()> {
    let mut work = Vec::new();
    for (unread, read) in [(0, 0), (1000, 0), (0, 1000)] {
        let polls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&polls);
        let words = move |cx: Context| {
            let counter = Arc::clone(&counter);
            let text = cx.input("user").cloned().unwrap_or_else(|| "".into());
            deltas(stream::iter(text.split(' ').map(str::to_owned).collect::<Vec<_>>()).then(move |word| {
                let (counter, mut yields) = (Arc::clone(&counter), 3);
                poll_fn(move |task| {
                    counter.fetch_add(1, Ordering::SeqCst);
                    yields -= 1;
                    if yields == 0 {
                        return Poll::Ready(word.clone());
                    }
                    task.waker().wake_by_ref();
                    Poll::Pending
                })
            }))
        };
        let f = flow([column("words", (source("user").latest(), this().latest()), words)])?.spawn();
        let unread: Vec<_> = (0..unread).map(|_| f.subscribe()).collect();
        let read: Vec<_> = (0..read).map(|_| tokio::spawn(f.subscribe().take(20).count())).collect();
        push_all(&f, "user", ["a b c", "d", "e f"].into_iter().cycle().take(20)).await?;
        f.settled().await?;
        work.push(polls.load(Ordering::SeqCst));
        drop(unread);
        for events in read {
            assert_eq!(events.await.expect("it reads"), 20);
        }
    }
    assert_eq!(work, [work[0]; 3]);
    Ok(())
}

#[test]
fn a_position_is_its_text() {
    let same = ["0", "7", "7,topics:9", "0,a.b:7!4!5-6,c:1", "18446744073709551615"];
    for text in same {
        assert_eq!(text.parse::<Position>().expect("a position").to_string(), text);
    }
    let wrong = [
        "",
        "-1",
        "+1",
        " 1",
        "x",
        "1,",
        "1,topics",
        "1,topics:",
        "1,Topics:2",
        "1,topics:2!",
        "1,topics:2!2",
        "1,topics:9!4-3",
        "1,topics:9!4!4",
        "1,topics:9!5!3",
        "1,topics:9!1-18446744073709551615",
        "18446744073709551616",
        "1,topics:2:3",
    ];
    for text in wrong {
        assert!(text.parse::<Position>().is_err(), "{text}");
    }
}

/// A position comes from a client, which may send any.
#[tokio::test(start_paused = true)]
async fn v10_a_position_of_another_flow_is_harmless() -> Result<()> {
    let (f, _) = spawned(9)?;
    push_all(&f, "user", ["a", "b"]).await?;
    f.settled().await?;
    let most = usize::MAX;
    assert_eq!(lines(&mut from(&f, &most.to_string())), [] as [&str; 0]);
    assert_eq!(lines(&mut from(&f, "1,nonesuch:7")), ["topics 1 = B", "answer 1 = B"]);
    let missing = format!("{most},topics:{most}!0-{}", most - 1);
    assert_eq!(lines(&mut from(&f, &missing)), ["topics 0 = A", "topics 1 = B"]);
    Ok(())
}
