//! A model that refuses calls, and the limit that adapts to it. The clock is paused and jumps to the next timer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use columnar::BoxError;
use columnar::model::{Adaptive, Chunk, Model, Overloaded, Request};
use columnar::prelude::*;
use columnar_tests::models::ChunkModel;
use futures::future::{TryFutureExt, join_all};
use futures::stream::{self, BoxStream};
use tokio::time::{Instant, sleep, timeout};

/// A model that serves this number of concurrent calls, each for a second, and refuses all others.
#[derive(Clone)]
struct Crowded {
    state: Arc<Mutex<State>>,
    retry_after: Option<Duration>,
    pace: Duration,
}

struct State {
    takes: usize,
    now: usize,
    /// The most concurrent calls.
    most: usize,
    refused: usize,
    /// The number of replies by cell.
    answered: BTreeMap<String, usize>,
}

impl Crowded {
    fn new(takes: usize) -> Self {
        let state = State { takes, now: 0, most: 0, refused: 0, answered: BTreeMap::new() };
        Self { state: Arc::new(Mutex::new(state)), retry_after: None, pace: secs(1) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics")
    }

    fn begin(&self) -> Result<Call, Overloaded> {
        let mut state = self.state();
        if state.now >= state.takes {
            state.refused += 1;
            return Err(Overloaded { retry_after: self.retry_after });
        }
        state.now += 1;
        state.most = state.most.max(state.now);
        Ok(Call(self.clone()))
    }
}

/// A call in progress, until it is dropped.
struct Call(Crowded);

impl Drop for Call {
    fn drop(&mut self) {
        self.0.state().now -= 1;
    }
}

impl Model for Crowded {
    fn name(&self) -> &'static str {
        "crowded"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let this = self.clone();
        async move {
            let call = this.begin()?;
            let cell = format!("{}: {}", request.system, request.messages.last_text());
            let words = stream::iter(["so ", "be it"]).then(move |word| async move {
                sleep(this.pace / 2).await;
                Chunk::Text(word.to_owned())
            });
            let end = async move {
                *call.0.state().answered.entry(cell).or_default() += 1;
                Chunk::stop()
            };
            Ok(words.chain(stream::once(end)).map(Ok))
        }
        .try_flatten_stream()
        .boxed()
    }
}

/// A flow of two columns that use the model.
fn pair(model: &Adaptive) -> Result<Flow> {
    let user = source("user");
    let [one, two] =
        ["one", "two"].map(|name| column(name, user.latest(), prompt(name).model(model.clone()).retry(1)));
    let f = flow([one, two])?;
    f.set_concurrency(64);
    Ok(f)
}

/// Computes this number of additional cells. A repeated call emits no event.
async fn fill(f: &Flow, cells: usize) -> Result<()> {
    let begins = f.steps();
    for step in begins..begins + cells / 2 {
        f.push("user", step.to_string()).await?;
    }
    let mut run = f.run();
    while let Some(event) = run.try_next().await? {
        assert!(!matches!(event, Event::Retry { .. }), "{event:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_number_of_concurrent_calls_approaches_the_limit_of_the_model() -> Result<()> {
    for takes in [1, 4, 11] {
        let crowded = Crowded::new(takes);
        let f = pair(&Adaptive::new(crowded.clone()).max_concurrency(32))?;
        fill(&f, 200).await?;
        let (warm, started) = (crowded.state().refused, Instant::now());
        fill(&f, 400).await?;
        let (refused, seconds) = (crowded.state().refused - warm, started.elapsed().as_secs());
        assert!(seconds < 2 * 400 / takes as u64, "{takes}: on average, half of them are used: {seconds} s");
        // Each try of one call more costs at most as many refusals as calls go on.
        assert!(refused <= 400 / (takes + 1), "{takes}: {refused} refused");

        crowded.state().takes = usize::MAX;
        crowded.state().most = 0;
        fill(&f, 700).await?;
        let state = crowded.state();
        assert_eq!((state.most, state.refused), (32, warm + refused), "and then up to the maximum");
        assert_eq!(state.answered.len(), 1300);
        assert!(state.answered.values().all(|times| *times == 1), "each cell is computed once");
    }
    Ok(())
}

/// Runs this number of conversations at once, each in a flow of its own with one call, and returns the seconds.
async fn converse(model: &Adaptive, conversations: usize) -> Result<u64> {
    let started = Instant::now();
    let conversation = async |number: usize| {
        let step = prompt("answer").model(model.clone());
        let f = flow([column("answer", source("user").latest(), step)])?;
        f.push("user", number.to_string()).await?;
        f.run().await
    };
    let ended = join_all((0..conversations).map(conversation)).await;
    ended.into_iter().collect::<Result<()>>()?;
    Ok(started.elapsed().as_secs())
}

/// The limit of a model stayed at 32 over all flows, whatever the provider answered, so a thousand conversations took 32
/// times as long as one.
#[tokio::test(start_paused = true)]
async fn a_thousand_conversations_share_a_model_that_takes_them() -> Result<()> {
    let crowded = Crowded::new(usize::MAX);
    let model = Adaptive::new(crowded.clone());
    let seconds = converse(&model, 1000).await?;
    assert!(seconds <= 8, "32, 64, 128, 256 and 512 calls, then the rest: {seconds} s");
    let seconds = converse(&model, 1000).await?;
    assert!(seconds <= 2, "the limit stays: {seconds} s");
    let state = crowded.state();
    assert_eq!((state.most, state.refused, state.answered.len()), (1000, 0, 1000));
    Ok(())
}

/// A provider that serves fewer calls refuses some, at no cost, and no cell is computed twice.
#[tokio::test(start_paused = true)]
async fn a_thousand_conversations_find_the_limit_of_the_provider() -> Result<()> {
    let crowded = Crowded { retry_after: Some(secs(1)), ..Crowded::new(100) };
    let model = Adaptive::new(crowded.clone());
    let seconds = converse(&model, 1000).await?;
    assert!(seconds <= 30, "10 s would do with all calls in use: {seconds} s");
    let state = crowded.state();
    assert_eq!((state.most, state.answered.len()), (100, 1000));
    assert!(state.answered.values().all(|times| *times == 1), "each cell is computed once");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn all_columns_wait_for_the_requested_pause() -> Result<()> {
    let crowded = Crowded { retry_after: Some(secs(20)), ..Crowded::new(0) };
    let model = Adaptive::new(crowded.clone());
    let (f, other) = (pair(&model)?, pair(&model)?);
    let started = Instant::now();
    let (first, second) = tokio::join!(fill(&f, 6), async {
        sleep(secs(5)).await;
        crowded.state().takes = usize::MAX;
        fill(&other, 2).await
    });
    first.and(second)?;
    assert_eq!(started.elapsed().as_secs(), 21, "later calls waited as well");
    let state = crowded.state();
    assert_eq!((state.refused, state.most), (1, 8));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_model_that_refuses_every_call_fails_its_cells_after_the_wait_budget() -> Result<()> {
    for (retry_after, max_wait, at_least, at_most) in [
        (None, 120, 60, 120),
        (Some(secs(50)), 120, 100, 100),
        (Some(secs(3600)), 120, 0, 0),
        (Some(secs(3600)), 4000, 3600, 3600),
        (None, 0, 0, 0),
    ] {
        let crowded = Crowded { retry_after, ..Crowded::new(0) };
        let user = source("user");
        let model = Adaptive::new(crowded).max_wait(secs(max_wait));
        let f = flow([column("answer", user.latest(), prompt("answer").model(model))])?;
        for _ in 0..100 {
            f.push("user", "x").await?;
        }
        let started = Instant::now();
        let error = f.run().await.expect_err("every call is refused");
        assert!(error.to_string().contains("the model takes no more calls for now"), "{error}");
        let seconds = started.elapsed().as_secs();
        assert!((at_least..=at_most).contains(&seconds), "{retry_after:?}, {max_wait}: {seconds} s");
    }
    Ok(())
}

/// Without a limit on the refusals of one call, it would be repeated as long as others succeed.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_always_refused_fails_while_others_succeed() -> Result<()> {
    /// Refuses the requests of the large column.
    struct TooLarge(Crowded);

    impl Model for TooLarge {
        fn name(&self) -> &'static str {
            "too large"
        }

        fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
            if &*request.system == "large" {
                let error = Overloaded { retry_after: Some(secs(50)) };
                return stream::iter([Err(error.into())]).boxed();
            }
            self.0.reply(request)
        }
    }

    let user = source("user");
    let model = Adaptive::new(TooLarge(Crowded::new(usize::MAX)));
    let small = column("small", user.latest(), prompt("small").model(model.clone()).limit(1));
    let large = column("large", user.latest(), prompt("large").model(model).retry(1).limit(1));
    let f = flow([small, large])?;
    for _ in 0..1000 {
        f.push("user", "x").await?;
    }
    let (mut run, started) = (f.run(), Instant::now());
    let mut retries = Vec::new();
    let error = loop {
        match run.try_next().await {
            Ok(Some(Event::Retry { .. })) => retries.push(started.elapsed().as_secs()),
            Ok(event) => assert!(event.is_some(), "it fails"),
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, Error::Compute { column, attempt: 2, .. } if column == "large"), "{error}");
    assert!(matches!(retries[..], [100..=110]), "the third refusal is one too many: {retries:?}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_later_or_otherwise_is_not_repeated() -> Result<()> {
    let busy: fn() -> BoxError = || Overloaded::default().into();
    let broken: fn() -> BoxError = || "broken".into();
    for (after, fails, retries) in [(0, busy, 0), (1, busy, 1), (2, busy, 1), (0, broken, 1), (1, broken, 1)]
    {
        let failing = ChunkModel::new("fails", move |call, _| {
            let end = if call == 0 { Err(fails()) } else { Ok(Chunk::stop()) };
            (0..after).map(|_| Ok(Chunk::Text("a".to_owned()))).chain([end]).collect()
        });
        let model = Adaptive::new(failing.clone()).max_concurrency(1);
        let user = source("user");
        let step = prompt("answer").model(model).allow_empty().retry(1);
        let f = flow([column("answer", user.latest(), step)])?;
        f.push("user", "x").await?;
        let events: Vec<_> = f.run().try_collect().await?;
        let retry_events = events.iter().filter(|event| matches!(event, Event::Retry { .. })).count();
        assert_eq!((retry_events, failing.calls()), (retries, 2), "after {after} pieces");
        assert_eq!(f.get("answer", 0).as_deref(), Some(&*"a".repeat(after)));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_maximum_concurrency_is_never_exceeded() -> Result<()> {
    let crowded = Crowded { pace: secs(600), ..Crowded::new(usize::MAX) };
    let model = Adaptive::new(crowded.clone()).max_concurrency(3);
    let (f, other) = (pair(&model)?, pair(&model.clone())?);
    let started = Instant::now();
    let (first, second) = tokio::join!(fill(&f, 8), fill(&other, 4));
    first.and(second)?;
    assert_eq!((crowded.state().most, started.elapsed().as_secs()), (3, 2400));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_dropped_call_releases_its_permit() -> Result<()> {
    let crowded = Crowded { pace: secs(600), ..Crowded::new(usize::MAX) };
    let model = Adaptive::new(crowded.clone()).max_concurrency(1);
    let f = pair(&model)?;
    assert!(timeout(secs(5), fill(&f, 4)).await.is_err());
    assert_eq!(crowded.state().now, 0);
    let started = Instant::now();
    fill(&pair(&model)?, 2).await?;
    assert_eq!(started.elapsed().as_secs(), 1200);
    Ok(())
}

/// The reader of the run runs another flow on the same model: if the calls kept their permits, both would wait
/// forever.
#[tokio::test(start_paused = true)]
async fn a_run_that_is_not_polled_lends_its_permits() -> Result<()> {
    let crowded = Crowded::new(usize::MAX);
    let model = Adaptive::new(crowded.clone()).max_concurrency(1);
    let user = source("user");
    // The first event comes during a call, the later ones after a delta of a call.
    let quick = column("quick", user.latest(), |_: Context| deltas(stream::iter(["at once"])));
    let slow = column("slow", user.latest(), prompt("slow").model(model.clone()));
    let outer = flow([quick, slow])?;
    for step in 0..4 {
        outer.push("user", step.to_string()).await?;
    }
    let nested = async {
        let (mut run, mut events) = (outer.run(), 0);
        while run.try_next().await?.is_some() {
            events += 1;
            fill(&pair(&model)?, 4).await?;
        }
        Ok::<_, Error>(events)
    };
    let events = timeout(secs(1000), nested).await.expect("it goes on")?;
    let state = crowded.state();
    assert_eq!((events, state.now), (20, 0));
    assert_eq!(state.answered.values().sum::<usize>(), 4 + events * 4);
    Ok(())
}
