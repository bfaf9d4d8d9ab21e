//! Rates of tokens, against a naive second implementation. The clock is paused and jumps to the next timer.

use std::sync::{Arc, Mutex};

use columnar::compute::Rate;
use columnar::model::{Chunk, End, Finish, Model, Request, Usage};
use columnar::prelude::*;
use columnar::tokens::Counter;
use columnar::{BoxError, Error};
use futures::future::join_all;
use futures::stream::{self, BoxStream, StreamExt};
use tokio::time::{Instant, sleep};

/// A counter that leaves the longest reply alone.
struct Nothing;

impl Counter for Nothing {
    fn count(&self, _: &str) -> usize {
        0
    }
}

/// A call of a plan.
#[derive(Clone, Copy, Debug)]
struct Planned {
    max_tokens: u32,
    /// The tokens of the reply; `None` for a reply without a usage.
    had: Option<u32>,
    seconds: u64,
}

/// A model whose calls are numbers in a plan, and which notes the millisecond of each beginning.
#[derive(Clone)]
struct Paid {
    plan: Arc<[Planned]>,
    zero: Instant,
    begun: Arc<Mutex<Vec<(usize, u128)>>>,
}

impl Paid {
    fn new(plan: impl Into<Arc<[Planned]>>) -> Self {
        Self { plan: plan.into(), zero: Instant::now(), begun: Arc::default() }
    }

    /// A flow of calls with this longest reply.
    async fn flow(&self, rate: &Rate, max_tokens: u32) -> Result<Flow> {
        let answer = prompt("").model(self.clone()).max_tokens(max_tokens).rate(rate).retry(3);
        let f = flow([column("answer", source("user").latest(), answer)])?;
        f.set_counter(Nothing);
        let calls = self.plan.iter().enumerate().filter(|(_, call)| call.max_tokens == max_tokens);
        for (number, _) in calls {
            f.push("user", number.to_string()).await?;
        }
        Ok(f)
    }

    fn begun(&self) -> Vec<(usize, u128)> {
        self.begun.lock().expect("no test panics").clone()
    }

    fn seconds(&self) -> Vec<u128> {
        self.begun().iter().map(|(_, at)| at / 1000).collect()
    }
}

impl Model for Paid {
    fn name(&self) -> &'static str {
        "paid"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let text = request.messages.last_text().into_owned();
        let number: String = text.chars().filter(char::is_ascii_digit).collect();
        let number: usize = number.parse().expect("a number in the plan");
        self.begun.lock().expect("no test panics").push((number, self.zero.elapsed().as_millis()));
        let Planned { had, seconds, .. } = self.plan[number];
        let mut end = End::new(Finish::Stop);
        end.usage = had.map(|had| Usage::new(0, had.into()));
        let chunks = [Chunk::Text("done".to_owned()), Chunk::End(end)];
        stream::once(sleep(secs(seconds))).flat_map(move |()| stream::iter(chunks.clone().map(Ok))).boxed()
    }
}

/// The second at which each call begins at the earliest, a second after the one before.
fn earliest(most: u32, calls: &[Planned]) -> Vec<u128> {
    let mut begun = Vec::<(u64, Planned)>::new();
    for call in calls {
        let mut now = begun.last().map_or(0, |(at, _)| at + 1);
        let taken = |now| -> u32 {
            let last_minute = begun.iter().filter(|(at, _)| at + 60 > now);
            last_minute
                .map(|(at, call)| {
                    if at + call.seconds <= now {
                        call.had.unwrap_or(call.max_tokens)
                    } else {
                        call.max_tokens
                    }
                })
                .sum()
        };
        while taken(now) + call.max_tokens > most {
            now += 1;
        }
        begun.push((now, *call));
    }
    begun.iter().map(|(at, _)| u128::from(*at) * 1000).collect()
}

#[tokio::test(start_paused = true)]
async fn p17_calls_begin_as_early_as_any_minute_has_room() -> Result<()> {
    for seed in 0..100 {
        let mut random = fastrand::Rng::with_seed(seed);
        let limits = [10, 60, 200, 900];
        let plan: Vec<Planned> = (0..40)
            .map(|_| {
                let max_tokens = limits[random.usize(..limits.len())];
                let had = Some(random.u32(..=max_tokens)).filter(|_| random.u8(..5) > 0);
                Planned { max_tokens, had, seconds: random.u64(1..90) }
            })
            .collect();
        let most = random.u32(900..3000);
        let rate = per_minute(60).tokens_per_minute(most);
        let model = Paid::new(plan.clone());
        let flows = join_all(limits.map(|limit| model.flow(&rate, limit))).await;
        let flows = flows.into_iter().collect::<Result<Vec<_>>>()?;
        for result in join_all(flows.iter().map(|f| async { f.run().await })).await {
            result?;
        }
        let begun = model.begun();
        assert_eq!(begun.len(), plan.len(), "seed {seed}");
        let order: Vec<Planned> = begun.iter().map(|(number, _)| plan[*number]).collect();
        let at: Vec<u128> = begun.iter().map(|(_, at)| *at).collect();
        assert_eq!(at, earliest(most, &order), "seed {seed}");
        for (_, first) in &begun {
            let minute = begun.iter().filter(|(_, at)| (*first..first + 60_000).contains(at));
            let had: u32 =
                minute.map(|(number, _)| plan[*number].had.unwrap_or(plan[*number].max_tokens)).sum();
            assert!(had <= most, "seed {seed}: {had} of {most} tokens in the minute from {first}");
        }
        for limit in limits {
            let calls = begun.iter().filter(|(number, _)| plan[*number].max_tokens == limit);
            assert!(calls.map(|(number, _)| number).is_sorted(), "seed {seed}: in order of arrival");
        }
    }
    Ok(())
}

/// The beginnings of five calls that reserve 600 of 1,000 tokens, in seconds.
async fn five(rate: Rate, had: Option<u32>) -> Result<Vec<u128>> {
    let model = Paid::new([Planned { max_tokens: 600, had, seconds: 10 }; 5]);
    model.flow(&rate, 600).await?.run().await?;
    Ok(model.seconds())
}

#[tokio::test(start_paused = true)]
async fn p17_a_reply_gives_back_what_it_did_not_need() -> Result<()> {
    let rate = || per_minute(6000).tokens_per_minute(1000);
    assert_eq!(five(rate(), Some(100)).await?, [0, 10, 20, 30, 40], "one at a time, at once after the other");
    assert_eq!(five(rate(), None).await?, [0, 60, 120, 180, 240], "without a usage all of it");
    assert_eq!(five(rate(), Some(1200)).await?, [0, 60, 120, 180, 240], "more than the limit counts as well");
    assert_eq!(five(per_minute(6000).tokens_per_minute(1200), Some(600)).await?, [0, 0, 60, 60, 120]);
    assert_eq!(five(per_minute(3).tokens_per_minute(1200).burst(2), Some(0)).await?, [0, 0, 20, 40, 60]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn p17_small_calls_do_not_overtake_a_large_one() -> Result<()> {
    let small = Planned { max_tokens: 100, had: Some(100), seconds: 1 };
    let mut plan = vec![small; 200];
    plan.push(Planned { max_tokens: 1000, ..small });
    let rate = per_minute(6000).tokens_per_minute(1000);
    let model = Paid::new(plan);
    let flows = [model.flow(&rate, 100).await?, model.flow(&rate, 1000).await?];
    flows[0].set_concurrency(4);
    let large = async {
        sleep(secs(5)).await;
        flows[1].run().await
    };
    let (one, other) = tokio::join!(async { flows[0].run().await }, large);
    one.and(other)?;
    let begun = model.begun();
    let place = begun.iter().position(|(number, _)| *number == 200).expect("it began");
    let before = begun[..place].iter().filter(|(_, at)| *at >= 5_000).count();
    assert!((1..=4).contains(&before), "only the calls that waited already: {before}");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn p17_a_call_that_no_minute_has_room_for_is_an_error() -> Result<()> {
    let model = Paid::new([Planned { max_tokens: 600, had: None, seconds: 1 }]);
    let f = model.flow(&per_minute(60).tokens_per_minute(599), 600).await?;
    let error = f.run().await.expect_err("the longest reply is too long");
    assert!(matches!(error, Error::Model { .. }), "before anything is computed: {error:?}");
    let message = "`answer`";
    assert!(error.to_string().contains(message), "{error}");
    let message = "a call may have 600 tokens with its longest reply, and the rate allows 599 per minute: lower the `max_tokens`";
    assert!(error.to_string().contains(message), "{error}");

    let f = model.flow(&per_minute(60).tokens_per_minute(600), 600).await?;
    f.set_counter(columnar::tokens::Estimate);
    f.push("user", "a long text ".repeat(100)).await?;
    let mut run = f.run();
    let mut events = Vec::new();
    while let Some(event) = run.next().await {
        events.push(event);
    }
    let Some(Err(error)) = events.last() else { panic!("the request has no room: {events:?}") };
    assert!(
        matches!(error, Error::Compute { .. }) && error.to_string().contains("lower the `max_tokens`"),
        "{error}"
    );
    assert!(!events.iter().any(|event| matches!(event, Ok(Event::Retry { .. }))), "it is not tried again");
    assert_eq!(model.begun(), [], "and nothing was sent");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_step_without_a_model_takes_the_tokens_of_its_messages() -> Result<()> {
    let zero = Instant::now();
    let f = flow! {
        source user;
        column at(user.latest) = (|_: Context| async move { zero.elapsed().as_secs().to_string() })
            .rate(per_minute(6000).tokens_per_minute(1000));
    };
    for _ in 0..3 {
        f.user.push("word".repeat(600)).await?;
    }
    f.run().await?;
    let at: Vec<_> = (0..3).filter_map(|step| f.at.get(step)).collect();
    assert_eq!(at.iter().map(|at| &**at).collect::<Vec<_>>(), ["0", "60", "120"]);
    Ok(())
}
