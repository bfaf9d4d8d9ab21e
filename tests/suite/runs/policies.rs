//! Slow and failing compute steps, and the policies of their columns. The clock is paused and jumps to the next timer.

use std::error::Error as _;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use std::{error, fmt};

use columnar::compute::Rate;
use columnar::model::Overloaded;
use columnar::prelude::*;
use columnar::testing::script;
use columnar::{Compute, Reply};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::panics::expect_panic;
use futures::{FutureExt, StreamExt, stream};
use tokio::time::{Instant, sleep, timeout};

/// A compute step that streams `a` and `b`, and fails after this number of pieces in each of the first attempts.
struct Flaky {
    failures: usize,
    after: usize,
    attempts: Arc<AtomicUsize>,
}

impl Flaky {
    fn new(failures: usize, after: usize) -> (Self, Arc<AtomicUsize>) {
        let attempts = Arc::<AtomicUsize>::default();
        (Self { failures, after, attempts: Arc::clone(&attempts) }, attempts)
    }
}

impl Compute for Flaky {
    fn compute(&self, _: Context) -> Reply<'static> {
        let attempt = self.attempts.fetch_add(1, Ordering::SeqCst);
        let pieces = ["a", "b"].map(|piece| Ok(piece.to_owned()));
        if attempt >= self.failures {
            return Reply::deltas(stream::iter(pieces));
        }
        let error = Err(format!("attempt {} broke off", attempt + 1).into());
        Reply::deltas(stream::iter(pieces.into_iter().take(self.after).chain([error]).collect::<Vec<_>>()))
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_an_event_and_its_deltas_are_discarded() -> Result<()> {
    for after in 0..=2 {
        let (flaky, attempts) = Flaky::new(2, after);
        let chat = flow! {
            source user;
            column answer(user) = flaky.retry(3);
        };
        chat.user.push("x").await?;
        let (mut text, mut retries) = (String::new(), Vec::new());
        let mut run = chat.run();
        while let Some(event) = run.try_next().await? {
            match event {
                Event::Delta { text: more, .. } => text += &more,
                Event::Retry { attempt, error, .. } => {
                    text.clear();
                    retries.push((attempt, error));
                }
                Event::Value { value, .. } => assert_eq!(text, *value),
                _ => unreachable!("there are no other events"),
            }
        }
        let expected = [(1, "attempt 1 broke off".to_owned()), (2, "attempt 2 broke off".to_owned())];
        assert_eq!(retries, expected);
        assert_eq!(chat.answer.get(0).as_deref(), Some("ab"));
        assert_eq!(attempts.load(Ordering::SeqCst), 3);
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn after_the_last_retry_the_error_ends_the_run() -> Result<()> {
    let (flaky, attempts) = Flaky::new(usize::MAX, 1);
    let chat = flow! {
        source user;
        column answer(user) = flaky.retry(2);
    };
    chat.user.push("x").await?;
    let started = Instant::now();
    let error = chat.run().await.expect_err("it never succeeds");
    assert!(matches!(error, Error::Compute { attempt: 3, step: 0, .. }));
    let expected = "computing `answer` at step 0 failed 3 times, the last time: attempt 3 broke off; \
                stored values are kept, and the next run continues";
    assert_eq!(error.to_string(), expected);
    assert_eq!(attempts.load(Ordering::SeqCst), 3);
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(1500) && waited <= Duration::from_secs(3), "{waited:?}");
    assert_eq!(chat.answer.get(0), None);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_whole_reply_is_retried_without_deltas() -> Result<()> {
    let calls = AtomicUsize::new(0);
    let chat = flow! {
        source user;
        column answer(user) = (|_: Context| {
            let call = calls.fetch_add(1, Ordering::SeqCst);
            async move { if call == 0 { Err("not yet") } else { Ok("now") } }
        })
        .retry(1);
    };
    chat.user.push("x").await?;
    let events: Vec<_> = chat.run().try_collect().await?;
    assert!(matches!(&events[..], [Event::Retry { attempt: 1, .. }, Event::Value { .. }]), "{events:?}");
    Ok(())
}

/// A reply that never comes.
fn silence(_: Context) -> std::future::Pending<String> {
    std::future::pending()
}

#[tokio::test(start_paused = true)]
async fn r2_a_compute_step_that_takes_too_long_times_out() -> Result<()> {
    let log = Log::default();
    let chat = flow! {
        source user;
        column never(user.latest) = silence.timeout(secs(30));
        column stuck(user.latest) =
            (|_: Context| deltas(stream::iter(["a"]).chain(stream::pending()))).timeout(secs(40));
        column quick(user.latest) = log.upper("quick");
    };
    chat.user.push("x").await?;
    let started = Instant::now();
    let error = chat.run().await.expect_err("two of three never end");
    assert_eq!(started.elapsed().as_secs(), 40, "the siblings of a failed column may finish");
    assert!(
        error.to_string().starts_with("computing `never` at step 0 failed: one attempt took longer than 30s"),
        "{error}"
    );
    assert_eq!((log.calls(), chat.stuck.get(0)), (1, None));
    Ok(())
}

/// `retry(3).timeout(secs(3))` limited all attempts together, and its error read like that of one attempt.
#[tokio::test(start_paused = true)]
async fn a_timeout_applies_to_the_preceding_policies_and_its_error_names_them() -> Result<()> {
    let together = "all attempts together took longer than 15s, at attempt";
    let fix = "put `.timeout` before `.retry` to limit each one";
    for (step, seconds, cause) in [
        (silence.timeout(secs(10)).retry(2), 31..34, "one attempt took longer than 10s".to_owned()),
        (silence.timeout(secs(10)).retry(2).timeout(secs(15)), 15..16, format!("{together} 2: {fix}")),
        (silence.retry(2).timeout(secs(15)), 15..16, format!("{together} 1: {fix}")),
        (silence.retry(0).timeout(secs(15)), 15..16, "one attempt took longer than 15s".to_owned()),
    ] {
        let f = flow([column("answer", source("user").latest(), step)])?;
        f.push("user", "x").await?;
        let started = Instant::now();
        let error = f.run().await.expect_err("it never ends");
        assert!(seconds.contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
        assert_eq!(error.source().map(ToString::to_string), Some(cause));
    }
    Ok(())
}

/// The deadline of a stream was the sum of the time and the limit, which panicked for the longest limit.
#[tokio::test(start_paused = true)]
async fn a_timeout_may_have_any_length() -> Result<()> {
    let slowly =
        |_: Context| deltas(stream::iter(["a", "b"]).then(|text| sleep(secs(1)).map(move |()| text)));
    for limit in [Duration::MAX, Duration::from_secs(u64::MAX / 2), secs(3)] {
        let f = flow([column("answer", source("user").latest(), slowly.timeout(limit))])?;
        f.push("user", "x").await?;
        f.run().await?;
        assert_eq!(f.get("answer", 0).as_deref(), Some("ab"), "{limit:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn columns_and_flows_have_concurrency_limits() -> Result<()> {
    let most = |of_flow: usize, of_column: usize| async move {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (now, most) = (Arc::new(now), Arc::new(most));
        let seen = Arc::clone(&most);
        let user = source("user");
        let slow = move |_: Context| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                sleep(secs(1)).await;
                now.fetch_sub(1, Ordering::SeqCst);
                "done"
            }
        };
        let f = flow([column("slow", user.latest(), slow.limit(of_column))])?;
        f.set_concurrency(of_flow);
        for _ in 0..12 {
            f.push("user", "x").await?;
        }
        let started = Instant::now();
        f.run().await?;
        Ok::<_, Error>((seen.load(Ordering::SeqCst), started.elapsed().as_secs()))
    };
    assert_eq!(most(32, 3).await?, (3, 4));
    assert_eq!(most(4, 100).await?, (4, 3));
    assert_eq!(most(32, 100).await?, (12, 1));
    assert_eq!(most(0, 0).await?, (1, 12), "at least one");
    Ok(())
}

/// An error whose source is an error of a model.
#[derive(Debug)]
struct Busy(Overloaded);

impl fmt::Display for Busy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("busy")
    }
}

impl error::Error for Busy {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        Some(&self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_waits_for_the_time_that_the_model_requests() -> Result<()> {
    for (requested, waited) in [(20, 20..21), (3600, 120..121), (0, 0..2)] {
        let calls = AtomicUsize::new(0);
        let chat = flow! {
            source user;
            column answer(user) = (|_: Context| {
                let call = calls.fetch_add(1, Ordering::SeqCst);
                let busy = Busy(Overloaded { retry_after: Some(secs(requested)) });
                async move { if call == 0 { Err(busy) } else { Ok("now") } }
            })
            .retry(1);
        };
        chat.user.push("x").await?;
        let started = Instant::now();
        chat.run().await?;
        let seconds = started.elapsed().as_secs();
        assert!(waited.contains(&seconds), "requested {requested} s, waited {seconds} s");
    }
    Ok(())
}

/// A compute step that records the start times of its calls, in milliseconds.
#[derive(Clone)]
struct Begun {
    zero: Instant,
    at: Arc<Mutex<Vec<u128>>>,
    failures: usize,
}

impl Begun {
    fn new(failures: usize) -> Self {
        Self { zero: Instant::now(), at: Arc::default(), failures }
    }

    fn at(&self) -> Vec<u128> {
        self.at.lock().expect("no test panics").clone()
    }
}

impl Compute for Begun {
    /// Takes a second, and fails in the first attempts.
    fn compute(&self, _: Context) -> Reply<'static> {
        let mut at = self.at.lock().expect("no test panics");
        at.push(self.zero.elapsed().as_millis());
        let fails = at.len() <= self.failures;
        Reply::whole(async move {
            sleep(secs(1)).await;
            if fails { Err("not yet".into()) } else { Ok("done".into()) }
        })
    }
}

/// A flow with one column and this number of cells.
fn rated(begun: &Begun, rate: &Rate, cells: usize) -> Result<Flow> {
    let user = source("user");
    let f = flow([column("rated", user.latest(), begun.clone().rate(rate))])?;
    for _ in 0..cells {
        f.push("user", "x").now_or_never().expect("nothing else pushes")?;
    }
    Ok(f)
}

#[tokio::test(start_paused = true)]
async fn calls_start_at_their_rate() -> Result<()> {
    for (rate, at) in [
        (per_second(2), [0, 500, 1000, 1500, 2000]),
        (per_second(1), [0, 1000, 2000, 3000, 4000]),
        (per_minute(6), [0, 10_000, 20_000, 30_000, 40_000]),
        (per_minute(0), [0, 60_000, 120_000, 180_000, 240_000]),
        (per_minute(6).burst(3), [0, 0, 0, 10_000, 20_000]),
        (per_minute(6).burst(0), [0, 10_000, 20_000, 30_000, 40_000]),
        (per_minute(6).burst(u32::MAX), [0; 5]),
    ] {
        let begun = Begun::new(0);
        rated(&begun, &rate, 5)?.run().await?;
        assert_eq!(begun.at(), at, "{rate:?}");
    }
    // An interval of 8571.43 ms: the clock of the runtime rounds up to milliseconds.
    let begun = Begun::new(0);
    rated(&begun, &per_minute(7), 22)?.run().await?;
    for (first, last) in begun.at().iter().zip(begun.at().iter().skip(7)) {
        assert!((60_000..60_010).contains(&(last - first)), "no more than 7, no less than 7");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn columns_share_a_rate_in_order_of_arrival() -> Result<()> {
    let (rate, one, two) = (per_minute(30), Begun::new(0), Begun::new(0));
    let chat = flow! {
        source user;
        column first(user.latest)   = one.clone().rate(&rate);
        column second(first.latest) = two.clone().rate(&rate);
        column own(user.latest)     = two.clone().rate(per_minute(30));
    };
    for _ in 0..3 {
        chat.user.push("x").await?;
    }
    chat.run().await?;
    assert_eq!(one.at(), [0, 2000, 4000]);
    // `second` at step 0 arrives when `first` is done, at 1000, after all earlier calls.
    assert_eq!(two.at(), [0, 2000, 4000, 6000, 8000, 10_000], "three of `own`, and three of `second`");

    // A call that arrives exactly at the time of a start is queued after the waiting calls.
    let (rate, one, two) = (per_minute(30), Begun::new(0), Begun::new(0));
    let (first, late) = (rated(&one, &rate, 3)?, rated(&two, &rate, 1)?);
    let late = async {
        sleep(secs(2)).await;
        late.run().await
    };
    let (late, first) = tokio::join!(late, async { first.run().await });
    first.and(late)?;
    assert_eq!((one.at(), two.at()), (vec![0, 2000, 4000], vec![6000]));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_rate_applies_to_the_preceding_policies() -> Result<()> {
    let user = source("user");
    let (each, all) = (Begun::new(2), Begun::new(2));
    for answer in [
        column("each", user.latest(), each.clone().timeout(secs(5)).rate(per_minute(6)).retry(2)),
        column("all", user.latest(), all.clone().retry(2).rate(per_minute(6))),
    ] {
        let f = flow([answer])?;
        f.push("user", "x").await?;
        f.run().await?;
    }
    assert_eq!(each.at(), [0, 10_000, 20_000], "each attempt has its own start and its own timeout");
    let all = all.at();
    assert!(all.len() == 3 && all[2] - all[0] < 10_000, "one start for all attempts: {all:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_leaves_the_queue_of_a_rate() -> Result<()> {
    let (rate, begun) = (per_minute(6), Begun::new(0));
    let flows = [2, 3, 1].map(|cells| rated(&begun, &rate, cells));
    let [first, dropped, last] = flows.map(|f| f.expect("it is well formed"));
    let dropped = async { timeout(secs(5), dropped.run()).await.expect_err("it is dropped") };
    let (first, _, last) = tokio::join!(async { first.run().await }, dropped, async { last.run().await });
    first.and(last)?;
    assert_eq!(begun.at(), [0, 10_000, 20_000], "and none at 50 s");

    let begun = Begun::new(0);
    let f = rated(&begun, &rate, 1)?;
    assert!(timeout(secs(5), f.run()).await.is_err());
    sleep(secs(1)).await;
    f.run().await?;
    assert_eq!(begun.at(), [9_000], "10 s after the last one, which was a second ago");
    Ok(())
}

/// The reader of the run runs another flow at the same rate: if the calls kept their position in the queue, both would
/// wait forever.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_polled_delays_no_other() -> Result<()> {
    let (rate, begun) = (per_minute(6), Begun::new(0));
    let outer = rated(&begun, &rate, 4)?;
    let nested = async {
        let mut run = outer.run();
        while let Some(Event::Value { .. }) = run.try_next().await? {
            rated(&begun, &rate, 1)?.run().await?;
        }
        Ok::<_, Error>(())
    };
    timeout(secs(1000), nested).await.expect("it goes on")?;
    assert_eq!(begun.at().len(), 8);
    for (first, next) in begun.at().iter().zip(begun.at().iter().skip(1)) {
        assert!(next - first >= 10_000, "{:?}", begun.at());
    }
    Ok(())
}

/// A compute step that panics when it is called, when it is polled, after a piece, or when it is dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Panics {
    AtTheCall,
    AtThePoll,
    MidStream,
    InDrop,
}

#[expect(clippy::panic, reason = "the test is about it")]
impl Compute for Panics {
    fn compute(&self, _: Context) -> Reply<'static> {
        struct Bomb;

        impl Drop for Bomb {
            fn drop(&mut self) {
                assert!(std::thread::panicking(), "a secret");
            }
        }

        match self {
            Self::AtTheCall => panic!("a secret"),
            Self::AtThePoll => Reply::whole(async { panic!("a secret") }),
            Self::MidStream => Reply::deltas(stream::iter([true, false]).map(|good| {
                assert!(good, "a secret");
                Ok("a".to_owned())
            })),
            Self::InDrop => {
                let bomb = Bomb;
                Reply::deltas(stream::iter(["a"]).map(move |piece| {
                    let _ = &bomb;
                    Ok(piece.to_owned())
                }))
            }
        }
    }
}

#[tokio::test]
async fn r1_a_panic_is_an_error_of_its_cell_alone() -> Result<()> {
    expect_panic("a secret");
    for panics in [Panics::AtTheCall, Panics::AtThePoll, Panics::MidStream, Panics::InDrop] {
        let log = Log::default();
        let user = source("user");
        let bad = column("bad", user.latest(), panics);
        let f = flow([&bad, &column("good", user.latest(), log.upper("good"))])?;
        f.push("user", "x").await?;
        let error = f.run().await.expect_err("it panics");
        assert!(
            matches!(&error, Error::Panicked { column, step: 0 } if column == "bad"),
            "{panics:?}: {error}"
        );
        assert!(!format!("{error} {error:?}").contains("a secret"));
        assert_eq!((log.calls(), f.get("good", 0).is_some(), f.get("bad", 0)), (1, true, None));
        assert!(f.run().await.is_err(), "the flow goes on and tries again");
        assert_eq!(log.calls(), 1);
    }
    Ok(())
}

/// A run whose compute step panicked while it was dropped once prevented all later runs.
#[tokio::test]
async fn a_panic_while_a_run_is_dropped_leaves_the_flow_usable() -> Result<()> {
    expect_panic("a secret");
    let user = source("user");
    let f = flow([column("bad", user.latest(), Panics::InDrop)])?;
    f.push("user", "x").await?;
    let mut run = f.run();
    assert!(run.try_next().await?.is_some(), "the delta");
    let dropped = panic::catch_unwind(AssertUnwindSafe(|| drop(run)));
    assert!(dropped.is_ok(), "the panic stays inside");
    assert!(matches!(f.run().await, Err(Error::Panicked { .. })), "it runs, and panics again");
    Ok(())
}

/// A compute step that fails at these steps and logs its calls.
fn fails_at(steps: &'static [usize], log: &Log) -> impl Fn(Context) -> std::future::Ready<Answer> + use<> {
    let upper = log.upper("maybe");
    move |cx| {
        let fails = steps.contains(&cx.step());
        let text = cx.messages().last_text().into_owned();
        drop(upper.compute(cx));
        std::future::ready(if fails { Err("no answer") } else { Ok(text) })
    }
}

type Answer = std::result::Result<String, &'static str>;

#[tokio::test]
async fn or_skip_stores_a_failed_cell_as_skipped() -> Result<()> {
    let (log, store) = (Log::default(), columnar::store::MemoryStore::new());
    let user = source("user");
    let maybe = column("maybe", user.latest(), fails_at(&[1], &log).or_skip());
    let reader = column("reader", (&user, &maybe, this()), log.upper("reader"));
    let only = column("only", maybe.latest(), log.upper("only"));
    let f = Flow::open(store.clone(), [&reader, &only]).await?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    let events: Vec<_> = f.run().try_collect().await?;
    let cells = |kind: &str| {
        let events = events.iter().filter(|event| match event {
            Event::Failed { .. } => kind == "failed",
            Event::Skipped { .. } => kind == "skipped",
            _ => false,
        });
        events.map(|event| format!("{} {}", event.column(), event.step())).collect::<Vec<_>>()
    };
    assert_eq!(
        (cells("failed"), cells("skipped")),
        (vec!["maybe 1".into()], vec!["maybe 1".into(), "only 1".into()])
    );
    let skipped = f.progress();
    assert_eq!((f.steps(), skipped.done, skipped.skipped, skipped.total()), (3, 7, 2, 9));
    assert_eq!((f.get("maybe", 1), f.get("only", 1), log.calls_of("only", 1)), (None, None, 0));
    assert_eq!(
        log.saw("reader", 1),
        r#"[{"role":"user","content":"<user>\na\n</user>\n\n<maybe>\n&lt;user>\na\n&lt;/user>\n</maybe>"},"#
            .to_owned()
            + r#"{"role":"assistant","content":"<USER>\nA\n</USER>\n\n<MAYBE>\n&LT;USER>\nA\n&LT;/USER>\n</MAYBE>"},"#
            + r#"{"role":"user","content":"<user>\nb\n</user>"}]"#
    );
    assert_eq!(f.messages("reader", 1)?.to_json(), log.saw("reader", 1), "it does not change");
    let error = f.messages("only", 1).expect_err("the cell is skipped");
    assert!(
        error.to_string().starts_with("`only` was skipped at step 1: all its inputs are empty"),
        "{error}"
    );

    let calls = log.calls();
    f.run().await?;
    drop(f);
    let again = Flow::open(store, [&reader, &only]).await?;
    assert_eq!(again.run().try_collect::<Vec<_>>().await?, []);
    assert_eq!(
        (log.calls(), again.steps(), again.get("maybe", 1)),
        (calls, 3, None),
        "it is never tried again"
    );
    Ok(())
}

#[tokio::test]
async fn or_wait_retries_a_failed_cell_in_the_next_run() -> Result<()> {
    let (log, mended) = (Log::default(), Arc::new(AtomicUsize::new(0)));
    let user = source("user");
    let calls = Arc::clone(&mended);
    let maybe = column(
        "maybe",
        user.latest(),
        (move |cx: Context| {
            let fails = cx.step() == 1 && calls.load(Ordering::SeqCst) == 0;
            std::future::ready(if fails { Err("no answer") } else { Ok("maybe") })
        })
        .or_wait(),
    );
    let reader = column("reader", maybe.latest(), log.upper("reader"));
    let other = column("other", (user.latest(), this()), log.upper("other"));
    let f = flow([&reader, &other])?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    let events: Vec<_> = f.run().try_collect().await?;
    let failed: Vec<_> = events.iter().filter(|event| matches!(event, Event::Failed { .. })).collect();
    assert!(matches!(failed[..], [Event::Failed { step: 1, error, .. }] if error == "no answer"));
    assert_eq!(
        (f.get("reader", 0).is_some(), f.get("reader", 1), f.get("reader", 2).is_some()),
        (true, None, true)
    );
    assert_eq!(
        (f.get("other", 2).is_some(), f.steps()),
        (true, 1),
        "columns that do not depend on it continue"
    );
    assert_eq!((f.progress().failed, f.progress().waiting), (1, 1));

    mended.store(1, Ordering::SeqCst);
    f.run().await?;
    assert_eq!((f.steps(), log.calls()), (3, 6), "stored cells are not computed again");
    Ok(())
}

#[tokio::test]
async fn a_policy_keeps_the_reply() -> Result<()> {
    let chat = flow! {
        source user;
        column answer(user)     = script(["a", "b"]).timeout(secs(5)).retry(3).limit(2);
        column prompted(answer) = prompt("List the topics.").limit(1).rate(per_second(9)).retry(1);
    };
    chat.user.push("x").await?;
    chat.run().await?;
    assert_eq!(chat.answer.get(0).as_deref(), Some("a"));
    assert!(chat.prompted.get(0).is_some());
    Ok(())
}
