//! Lifetimes of cache marks that follow the pauses between requests.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use columnar::cache::{
    CachePlan, CachePolicy, Experience, LearntLifetime, Lifetime, Pace, PrefixTokens, observed,
};
use columnar::documents::Update;
use columnar::model::{Chunk, End, Finish, Model, Request, Usage};
use columnar::prelude::*;
use columnar::store::{Entry, MemoryStore, Store};
use columnar_tests::live::push_all;
use futures::stream::{self, BoxStream};
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::time::advance;

const CLAUDE: &str = "anthropic/claude-sonnet-5-5";

/// A model that keeps the lifetime of the marks of each request, and bills what the function says of a request with
/// this number.
#[derive(Clone)]
struct Billing {
    name: &'static str,
    bill: fn(u64) -> Usage,
    lifetimes: Arc<Mutex<Vec<Option<Lifetime>>>>,
}

impl Billing {
    fn new(name: &'static str, bill: fn(u64) -> Usage) -> Self {
        Self { name, bill, lifetimes: Arc::default() }
    }

    fn lifetimes(&self) -> Vec<Option<Lifetime>> {
        self.lifetimes.lock().unwrap().clone()
    }
}

impl Model for Billing {
    fn name(&self) -> &str {
        self.name
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
        let plan = CachePlan::of(&request.messages, 20, CachePolicy::by_model(self.name), request.pace);
        let lifetime = plan.marks.last().map(|mark| mark.lifetime);
        if lifetime == Some(Lifetime::Short) {
            let batch = CachePlan::of(&request.messages, 20, CachePolicy::by_model(self.name), Pace::batch());
            assert_eq!(plan, batch);
        }
        let mut lifetimes = self.lifetimes.lock().unwrap();
        lifetimes.push(lifetime);
        let usage = (self.bill)(lifetimes.len() as u64);
        let end = End::new(Finish::Stop).with_usage(usage);
        stream::iter([Ok(Chunk::Text("Well. ".repeat(100))), Ok(Chunk::End(end))]).boxed()
    }
}

/// The usage of a provider that reports nothing about its cache.
fn silent(_: u64) -> Usage {
    Usage::new(4000, 100)
}

fn chat(instruction: &str, model: &Billing) -> Column {
    column("answer", (source("user").all(), this()), prompt(instruction).model(model.clone()))
}

/// A message of 2,000 tokens, so that the first request is long enough for a cache.
fn message() -> String {
    "What of it? ".repeat(2000 / 3)
}

async fn step_after(f: &Flow, pause: Duration) -> Result<()> {
    advance(pause).await;
    f.push("user", message()).await?;
    f.run().await
}

const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

const MINUTES: Duration = secs(600);
const HOURS: Duration = secs(4 * 3600);

#[tokio::test(start_paused = true)]
async fn t5_the_lifetime_of_marks_follows_the_pauses_of_a_chat() -> Result<()> {
    let model = Billing::new(CLAUDE, silent);
    let f = flow([chat("Follow the pauses.", &model)])?;
    let mut seen = Vec::new();
    for (pause, steps) in [(secs(60), 4), (MINUTES, 6), (HOURS, 6), (secs(60), 2)] {
        for _ in 0..steps {
            step_after(&f, pause).await?;
        }
        seen.push(*model.lifetimes().last().unwrap());
    }
    assert_eq!(seen, [Some(Lifetime::Short), Some(Lifetime::Long), None, Some(Lifetime::Short)]);
    assert_eq!(model.lifetimes()[..4], [Some(Lifetime::Short); 4]);

    // A stated pace stands above what is learnt, and can be taken back.
    for (pace, lifetime) in [
        (Pace::every(HOURS), None),
        (Pace::every(MINUTES), Some(Lifetime::Long)),
        (Pace::learnt(), Some(Lifetime::Short)),
    ] {
        f.set_pace(pace);
        step_after(&f, secs(60)).await?;
        assert_eq!(*model.lifetimes().last().unwrap(), lifetime, "{pace:?}");
    }
    let stated = Billing::new(CLAUDE, silent);
    let prompt = prompt("Follow what is stated.").model(stated.clone()).pace(Pace::batch());
    let f = flow([column("answer", (source("user").all(), this()), prompt)])?;
    for _ in 0..8 {
        step_after(&f, HOURS).await?;
    }
    assert_eq!(stated.lifetimes(), [Some(Lifetime::Short); 8]);
    Ok(())
}

/// Otherwise everything would be laid anew after each pause of minutes, and nothing would ever be repeated.
#[tokio::test(start_paused = true)]
async fn documents_are_laid_anew_after_the_lifetime_that_the_column_has_learnt() -> Result<()> {
    let model = Billing::new(CLAUDE, silent);
    let views = (documents("files").compacted(), source("user").all(), this());
    let f = flow([column("answer", views, prompt("Follow the documents.").model(model.clone()))])?;
    let mut laid = Vec::new();
    for (step, pause) in [MINUTES; 6].into_iter().chain([HOURS, MINUTES]).enumerate() {
        advance(pause).await;
        let update = Update::new().file("plan.md", format!("We launch on day {step}."));
        let minutes = "We talked about the launch. ".repeat(600);
        let update = if step == 0 { update.file("minutes.md", minutes) } else { update };
        f.push("files", update.to_text().expect("the paths are valid")).await?;
        f.push("user", "When?").await?;
        f.run().await?;
        laid.push(f.get("files", step).is_some_and(|update| update.contains("# Laid Anew")));
    }
    let [short, long] = [Lifetime::Short, Lifetime::Long].map(Some);
    assert_eq!(model.lifetimes()[..6], [short, long, long, long, long, long]);
    assert_eq!(laid, [false, true, false, false, false, false, true, false]);
    Ok(())
}

/// An answer with a critic, which continues the conversation right after.
fn commented(answer: Column, critic: &Billing) -> [Column; 2] {
    let critic = column("critic", answer.thread(), prompt("Is it right?").model(critic.clone()));
    [answer, critic]
}

/// The prefix that an answer has just written or read is all that a thread reads.
#[tokio::test(start_paused = true)]
async fn a_thread_learns_with_its_conversation() -> Result<()> {
    // Without the critic, the answers would have no marks after some pauses of hours.
    for (pause, learnt) in [(HOURS, Lifetime::Short), (MINUTES, Lifetime::Long)] {
        let model = Billing::new(CLAUDE, silent);
        let f = flow(commented(chat(&format!("Comment after {pause:?}."), &model), &model))?;
        for _ in 0..8 {
            step_after(&f, pause).await?;
        }
        let lifetimes = model.lifetimes();
        assert_eq!(lifetimes.last(), Some(&Some(learnt)));
        assert!(lifetimes.chunks(2).all(|step| step[0] == step[1]), "{lifetimes:?}");
    }

    // A pace that the program states for the conversation counts for the thread.
    let model = Billing::new(CLAUDE, silent);
    let prompt = prompt("Comment by the hour.").model(model.clone()).pace(Pace::every(MINUTES));
    let f = flow(commented(column("answer", (source("user").all(), this()), prompt), &model))?;
    for _ in 0..2 {
        step_after(&f, secs(60)).await?;
    }
    assert_eq!(model.lifetimes(), [Some(Lifetime::Long); 4]);

    // Another model has another cache, so nobody reads what the answers write.
    let models = [CLAUDE, "anthropic/claude-opus-4-5"].map(|name| Billing::new(name, silent));
    let f = flow(commented(chat("Comment elsewhere.", &models[0]), &models[1]))?;
    for _ in 0..8 {
        step_after(&f, HOURS).await?;
    }
    assert_eq!(models.map(|model| *model.lifetimes().last().unwrap()), [None; 2]);
    Ok(())
}

/// A command that opens the flow for each step sees one pause of its own: the others are in the receipts.
#[tokio::test]
async fn t5_a_process_for_each_step_learns_from_the_receipts() -> Result<()> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is later").as_millis();
    // The last receipt is of an earlier version, without a time, in the last case.
    for (pauses, expected) in [
        ([600_000; 8], Some(Lifetime::Long)),
        ([20_000; 8], Some(Lifetime::Short)),
        ([14_400_000; 8], None),
        ([0; 8], Some(Lifetime::Short)),
    ] {
        let store = MemoryStore::new();
        let model = Billing::new(CLAUDE, silent);
        let column = chat(&format!("Be brief, with {} ms.", pauses[0]), &model);
        let f = Flow::open(store.clone(), [&column]).await?;
        push_all(&f, "user", vec![message(); 9]).await?;
        drop(f);
        store.open().await.expect("no flow has it open");
        let mut at = now - pauses.iter().sum::<u128>();
        for (step, pause) in pauses.into_iter().enumerate() {
            let time = if pause == 0 { String::new() } else { format!(r#","at":{at}"#) };
            let receipt = format!(
                r#"{{"model":"{CLAUDE}","calls":1,"attempts":1,"input":{}{time}}}"#,
                2000 * (step + 1)
            );
            let entry = Entry::from("Well.").with_receipt(receipt);
            store.put("answer".parse().expect("a name"), step, entry).await.expect("it is open");
            at += pause;
        }
        let f = Flow::open(store, [&column]).await?;
        f.run().await?;
        assert_eq!(model.lifetimes(), [expected], "{pauses:?}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_first_request_is_marked_while_enough_conversations_go_on() -> Result<()> {
    let model = Billing::new(CLAUDE, silent);
    let column = chat("Answer one question.", &model);
    let mut marked = Vec::new();
    for _ in 0..6 {
        let f = flow([&column])?;
        step_after(&f, HOURS).await?;
        marked.push(model.lifetimes().last().unwrap().is_some());
    }
    assert_eq!(marked, [true, true, true, true, false, false]);
    // These go on. The second request of each is marked in any case.
    for conversation in 0..3 {
        let f = flow([&column])?;
        step_after(&f, HOURS).await?;
        assert_eq!(model.lifetimes().last().unwrap().is_some(), conversation > 0, "{conversation}");
        step_after(&f, secs(20)).await?;
        assert!(model.lifetimes().last().unwrap().is_some());
    }
    // Another instruction is another kind of conversation.
    let f = flow([chat("Answer many questions.", &model)])?;
    step_after(&f, HOURS).await?;
    assert!(model.lifetimes().last().unwrap().is_some());
    Ok(())
}

/// A provider that keeps prefixes longer than it says, and one that loses each.
#[tokio::test(start_paused = true)]
async fn receipts_correct_the_documented_lifetime() -> Result<()> {
    fn kept(request: u64) -> Usage {
        Usage::new(2000 * request, 100).cached(2000 * (request - 1), 2000)
    }
    fn lost(request: u64) -> Usage {
        Usage::new(2000 * request, 100).cached(0, 2000 * request)
    }
    let [long, short] = ["anthropic/claude-sonnet-5-5-20990101", "anthropic/claude-sonnet-5-5-20990102"];
    assert_eq!(CachePolicy::by_model(long).short, CachePolicy::by_model(CLAUDE).short);
    let model = Billing::new(long, kept);
    let f = flow([chat("Keep it.", &model)])?;
    f.set_pace(Pace::batch());
    for _ in 0..9 {
        step_after(&f, MINUTES).await?;
    }
    let seen = observed(long);
    assert_eq!((seen.short.late_reads, seen.short.late_misses), (8, 0));
    assert_eq!(seen.short.longest_read, Some(MINUTES));
    assert_eq!(seen.to_string(), "short lifetime: 8 of 8 reads came late, the latest after 600 s");
    let corrected = seen.correct(CachePolicy::by_model(long));
    assert_eq!(corrected.short.lifetime, MINUTES);
    assert_eq!(corrected.long, CachePolicy::by_model(long).long);
    let model = Billing::new(long, silent);
    let f = flow([chat("Keep this as well.", &model)])?;
    for _ in 0..9 {
        step_after(&f, MINUTES).await?;
    }
    assert_eq!(model.lifetimes(), [Some(Lifetime::Short); 9], "the long lifetime is not needed");

    let model = Billing::new(short, lost);
    let f = flow([chat("Lose it.", &model)])?;
    for _ in 0..12 {
        step_after(&f, secs(60)).await?;
    }
    let seen = observed(short);
    assert!(seen.short.misses > 2 && seen.short.reads == 0, "{seen}");
    assert_eq!(seen.short.shortest_miss, Some(secs(60)));
    assert_ne!(model.lifetimes().last(), Some(&Some(Lifetime::Short)), "{:?}", model.lifetimes());
    assert_eq!(
        observed("anthropic/claude-sonnet-5-5-20990103").to_string(),
        "nothing but what is documented"
    );
    Ok(())
}

/// What a request costs with marks of this lifetime, if the one before had marks of `last`.
fn cost(policy: &CachePolicy, lifetime: Option<Lifetime>, last: Option<Lifetime>, request: &Spaced) -> f64 {
    let Some(write) = lifetime.and_then(|lifetime| policy.write(lifetime)) else { return request.tokens };
    let lives = last == lifetime && request.pause <= write.lifetime && request.repeated > 0.0;
    let read = if lives { request.repeated } else { 0.0 };
    policy.read * read + write.factor * (request.tokens - read)
}

#[derive(Clone, Copy, Debug)]
struct Spaced {
    pause: Duration,
    repeated: f64,
    tokens: f64,
}

/// The requests of a chat that grows, with these pauses.
fn requests(steps: &[(u64, u32)]) -> Vec<Spaced> {
    let mut tokens = 0.0;
    let grown = steps.iter().map(|(pause, more)| {
        let repeated = tokens;
        tokens += f64::from(*more);
        Spaced { pause: secs(*pause), repeated, tokens }
    });
    grown.collect()
}

/// The lifetimes that a column learns over these requests.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "tokens are small and whole")]
fn learn(policy: &CachePolicy, requests: &[Spaced]) -> Vec<Option<Lifetime>> {
    let mut learnt = LearntLifetime::default();
    let lifetimes = requests.iter().enumerate().map(|(at, request)| {
        let [repeated, marked] = [request.repeated, request.tokens].map(|tokens| tokens as usize);
        let tokens = PrefixTokens { repeated, marked, ..PrefixTokens::default() };
        learnt = learnt.next(tokens, (at > 0).then_some(request.pause), policy, Experience::default());
        learnt.lifetime()
    });
    lifetimes.collect()
}

/// The providers that take marks.
fn policies() -> impl Strategy<Value = &'static CachePolicy> {
    prop::sample::select(CachePolicy::all().filter(|policy| policy.most_marks > 0).collect::<Vec<_>>())
}

fn pauses() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 5..300_u64, 2 => 301..3600_u64, 1 => 3601..100_000_u64]
}

proptest! {
    /// All that is learnt from short pauses is what a batch assumes.
    #[test]
    fn pauses_within_the_short_lifetime_leave_the_plan_of_a_batch(
        steps in vec((0..301_u64, 1..5000_u32), 1..80), policy in policies(),
    ) {
        let lifetimes = learn(policy, &requests(&steps));
        prop_assert!(lifetimes.iter().all(|lifetime| *lifetime == Some(Lifetime::Short)), "{lifetimes:?}");
    }

    /// Against the best fixed choice with knowledge of all pauses. A switch that was wrong costs a write of the prefix.
    #[test]
    fn what_is_learnt_costs_at_most_twice_the_best_fixed_lifetime(
        steps in vec((pauses(), 1..3000_u32), 1..120), only in prop::option::of(pauses()),
    ) {
        let policy = CachePolicy::by_model(CLAUDE);
        let steps: Vec<_> = steps.into_iter().map(|(pause, more)| (only.unwrap_or(pause), more)).collect();
        let requests = requests(&steps);
        let fixed = [None, Some(Lifetime::Short), Some(Lifetime::Long)].map(|lifetime| {
            requests.iter().map(|request| cost(policy, lifetime, lifetime, request)).sum::<f64>()
        });
        let best = fixed.into_iter().fold(f64::INFINITY, f64::min);
        let mut last = None;
        let mut learnt = 0.0;
        for (request, lifetime) in requests.iter().zip(learn(policy, &requests)) {
            learnt += cost(policy, lifetime, last, request);
            last = lifetime;
        }
        let largest = requests.last().unwrap().tokens;
        prop_assert!(learnt <= 2.0 * best + 2.0 * largest, "{learnt} of {fixed:?}, the largest has {largest}");
        // One pause of any length is learnt at once.
        if only.is_some() && requests.len() > 60 {
            prop_assert!(learnt <= 1.3 * best + 2.0 * largest, "{learnt} of {fixed:?}, the largest has {largest}");
        }
    }
}
