//! The audited bill: each reason for a miss of a provider's cache is provoked once, and without a fault nothing is missed.

use std::cell::Cell;
use std::panic::catch_unwind;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use columnar::cache::{CacheAudit, CacheCause, CacheMiss, CachePolicy, Difference, Pace};
use columnar::compute::IntoStep;
use columnar::model::{Effort, End, Finish, Usage};
use columnar::prelude::*;
use columnar::store::{Entry, MemoryStore, Put, Store, StoreError};
use columnar::testing::{LayeredStore, ScriptedModel, StoreLayer};
use columnar::usage::CacheDiagnosis;
use columnar::{Name, Prompt, Value, assert_cached};
use columnar_tests::cost::cached_model::CachedModel;
use columnar_tests::live::{block_on, columns};
use columnar_tests::strategies::flows;
use futures::future::BoxFuture;
use futures::stream::TryStreamExt;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value as Json};

const CLAUDE: &str = "anthropic/claude-sonnet-5";

/// A text of this number of tokens.
fn words(tokens: usize) -> String {
    "word ".repeat(tokens)
}

fn model() -> CachedModel {
    CachedModel::new(CLAUDE, "[1]")
}

fn answer<Form>(step: impl IntoStep<'static, Form>) -> Column {
    column("answer", (source("user").all(), this()), step)
}

fn asked(model: &CachedModel) -> Prompt {
    prompt(words(400)).model(model.clone())
}

/// Pushes a question of 1,000 tokens, and runs.
async fn ask(flow: &Flow) -> Result<Vec<Event>> {
    flow.push("user", words(1000)).await?;
    flow.run().try_collect().await
}

fn causes(audit: &CacheAudit) -> Vec<Option<CacheCause>> {
    audit.calls.iter().map(|call| call.cause.clone()).collect()
}

fn misses(events: &[Event]) -> Vec<&CacheMiss> {
    events
        .iter()
        .filter_map(|event| match event {
            Event::CacheMiss { miss, .. } => Some(miss),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn p16_a_request_that_reads_its_promise_misses_nothing() -> Result<()> {
    let model = model();
    let f = flow([answer(asked(&model))])?;
    for _ in 0..4 {
        assert_eq!(misses(&ask(&f).await?), Vec::<&CacheMiss>::new());
    }
    let audit = f.audit();
    assert_eq!(causes(&audit), [Some(CacheCause::First), None, None, None]);
    // What a request read is what the request before wrote, which the provider has told.
    for (before, call) in audit.calls.iter().zip(&audit.calls[1..]) {
        let usage = before.receipt.usage;
        assert_eq!((call.promised, call.read()), (usage.cache_read + usage.cache_write, call.promised));
    }
    assert_eq!((audit.total().missed, audit.not_audited), (0, 0));
    assert_cached!(f);
    assert_cached!(f, "answer", 0.5);
    Ok(())
}

#[tokio::test]
async fn p16_an_eviction_is_an_event_and_costs_money() -> Result<()> {
    let model = model();
    let f = flow([answer(asked(&model))])?;
    ask(&f).await?;
    ask(&f).await?;
    model.evict();
    let events = ask(&f).await?;
    let audit = f.audit();
    assert_eq!(causes(&audit), [Some(CacheCause::First), None, Some(CacheCause::Evicted)]);
    let call = &audit.calls[2];
    assert!(call.missed() == call.promised && call.promised > 2000 && call.cost().is_some());
    // The event comes before the value, and says the same.
    assert_eq!(misses(&events), [&call.miss().expect("it missed")]);
    let at = |is: fn(&Event) -> bool| events.iter().position(is);
    assert!(
        at(|event| matches!(event, Event::CacheMiss { .. }))
            < at(|event| matches!(event, Event::Value { .. }))
    );
    let json = serde_json::to_value(&events[at(|event| matches!(event, Event::CacheMiss { .. })).unwrap()]);
    let json = json.expect("an event is JSON");
    assert_eq!(
        (&json["type"], &json["cause"], &json["read"]),
        (&"cache_miss".into(), &"evicted".into(), &0.into())
    );
    // The next request reads what was written again.
    assert_eq!(misses(&ask(&f).await?), Vec::<&CacheMiss>::new());
    assert_eq!(causes(&f.audit())[3], None);

    let panic =
        catch_unwind(std::panic::AssertUnwindSafe(|| assert_cached!(f))).expect_err("tokens are missed");
    let panic = panic.downcast_ref::<String>().expect("a message");
    assert!(
        panic.contains("less from the cache") && panic.contains("answer 2") && panic.contains("evicted"),
        "{panic}"
    );
    Ok(())
}

/// The change of the receipt of a cell.
type EditReceipt = Box<dyn Fn(&Name, &mut Map<String, Json>) + Send + Sync>;

/// Changes receipts before they are stored.
#[derive(Default)]
struct Edited(OnceLock<EditReceipt>);

impl StoreLayer for Edited {
    fn put(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        column: Name,
        step: usize,
        mut entry: Entry,
    ) -> BoxFuture<'static, Result<Put, StoreError>> {
        if let Some(receipt) = &entry.receipt {
            let mut json: Json = serde_json::from_str(receipt).expect("a receipt is JSON");
            self.0.get().expect("an edit")(&column, json.as_object_mut().expect("an object"));
            entry.receipt = Some(Value::from(json.to_string()));
        }
        inner.put(column, step, entry)
    }
}

fn edited(edit: impl Fn(&Name, &mut Map<String, Json>) + Send + Sync + 'static) -> LayeredStore<Edited> {
    let store = LayeredStore::<Edited>::default();
    assert!(store.0.set(Box::new(edit)).is_ok());
    store
}

#[tokio::test]
async fn p16_a_lifetime_that_passed_is_named_if_the_times_are_known() -> Result<()> {
    for is_timed in [true, false] {
        let model = model();
        let clock = model.clone();
        let store = edited(move |_, receipt| {
            receipt.remove("at");
            if is_timed {
                receipt.insert("at".to_owned(), clock.millis().into());
                // The wall clock may be set back, and the clock of a test may run on its own.
                receipt.insert("ms".to_owned(), 1_000_000_000.into());
            }
        });
        let f = Flow::open(store.clone(), [answer(asked(&model))]).await?;
        ask(&f).await?;
        model.wait(299.0);
        ask(&f).await?;
        model.wait(301.0);
        ask(&f).await?;
        drop(f);
        let audit = Flow::open(store, [answer(asked(&model))]).await?.audit();
        let [first, in_time, late] = &causes(&audit)[..] else { panic!("{audit}") };
        assert_eq!((first, in_time), (&Some(CacheCause::First), &None));
        let [after, lifetime] = [301, 300].map(Duration::from_secs);
        match late {
            Some(CacheCause::Expired { after: found, lifetime: kept }) if is_timed => {
                assert_eq!((found.as_secs(), *kept), (after.as_secs(), lifetime));
                assert!(audit.to_string().contains("used 301 s before, and kept for 300 s"), "{audit}");
            }
            Some(CacheCause::Evicted) if !is_timed => {
                assert!(audit.to_string().contains("evicted; unknown time"), "{audit}");
            }
            late => panic!("{is_timed} {late:?}"),
        }
    }
    Ok(())
}

#[tokio::test]
async fn p16_what_is_too_short_or_changed_by_a_view_was_not_promised() -> Result<()> {
    let model = model();
    let user = source("user");
    let short = |text: &str| prompt(text).model(model.clone());
    let f = flow([
        column("grows", (user.all(), this()), short("Grow.")),
        column("title", user.latest(), short("Name it.")),
    ])?;
    f.push("user", words(300)).await?;
    f.run().await?;
    ask(&f).await?;
    ask(&f).await?;
    let minimum = Some(CacheCause::BelowMinimum { minimum: 1024 });
    let audit = f.audit();
    assert_eq!(causes(&audit.of_column("grows")), [Some(CacheCause::First), minimum.clone(), None]);
    let found = causes(&audit.of_column("title"));
    assert_eq!(found[..2], [Some(CacheCause::First), minimum]);
    let Some(CacheCause::Changed(Some(Difference::View { column, step: 1, .. }))) = &found[2] else {
        panic!("{audit}")
    };
    assert_eq!(column.as_str(), "user");
    assert!(audit.to_string().contains("changed by `user.latest` at step 1"), "{audit}");
    assert_eq!(audit.total().missed, 0);

    // An exclusion changes what the request before wrote.
    f.exclude("user", 0).await?;
    ask(&f).await?;
    assert!(
        matches!(causes(&f.audit().of_column("grows"))[3], Some(CacheCause::Changed(_))),
        "{}",
        f.audit()
    );
    Ok(())
}

#[tokio::test]
async fn p16_another_model_effort_or_schema_is_named() -> Result<()> {
    let model = model();
    let step = || prompt(words(400));
    let f = flow([answer(step())])?;
    f.set_model(model.clone());
    ask(&f).await?;
    f.set_model(model.named("anthropic/claude-sonnet-4-5"));
    let events = ask(&f).await?;
    let written_by = CacheCause::OtherModel { written_by: CLAUDE.into() };
    assert_eq!(causes(&f.audit()), [Some(CacheCause::First), Some(written_by.clone())]);
    assert_eq!(misses(&events)[0].cause, written_by);
    f.set_model(model.named("somebody/something"));
    assert_eq!(misses(&ask(&f).await?), Vec::<&CacheMiss>::new());
    assert_eq!((causes(&f.audit())[2].clone(), f.audit().calls[2].promised), (Some(CacheCause::NoCache), 0));

    let changed: [fn(Prompt) -> Step<'static>; 2] =
        [|prompt| prompt.effort(Effort::High).into_step(), |prompt| prompt.typed::<Vec<u8>>()];
    for change in changed {
        let model = self::model().named("anthropic/claude-opus-5");
        let store = MemoryStore::new();
        let f = Flow::open(store.clone(), [answer(asked(&model))]).await?;
        ask(&f).await?;
        drop(f);
        let f = Flow::open(store, [answer(change(asked(&model).max_tokens(9000)))]).await?;
        let events = ask(&f).await?;
        assert_eq!(
            causes(&f.audit()),
            [Some(CacheCause::First), Some(CacheCause::OtherPrompt)],
            "{}",
            f.audit()
        );
        assert_eq!(misses(&events)[0].cause, CacheCause::OtherPrompt);
    }
    Ok(())
}

/// A prefix that was written with one lifetime is not found with the other. A request without marks was promised nothing.
#[tokio::test]
async fn p16_a_pace_that_changes_the_marks_is_named() -> Result<()> {
    let model = model();
    let f = flow([answer(asked(&model))])?;
    let hours = |hours: u64| Pace::every(Duration::from_secs(3600 * hours));
    let paces = [Pace::batch(), Pace::batch(), hours(1), hours(1), Pace::batch().last(), hours(9)];
    let mut missed = Vec::new();
    for (step, pace) in paces.into_iter().enumerate() {
        f.set_pace(pace);
        missed.extend(misses(&ask(&f).await?).into_iter().map(|miss| (step, miss.cause.clone())));
    }
    let other = Some(CacheCause::OtherLifetime);
    let audit = f.audit();
    let expected = [Some(CacheCause::First), None, other.clone(), None, other, Some(CacheCause::Unmarked)];
    assert_eq!(causes(&audit), expected, "{audit}");
    assert_eq!(missed, [(2, CacheCause::OtherLifetime), (4, CacheCause::OtherLifetime)]);
    assert_eq!(audit.calls[5].promised, 0, "{audit}");
    Ok(())
}

/// A model of this name, whose replies end with a usage of the number of earlier calls and the tokens of the request.
fn scripted(name: &'static str, usage: fn(usize, u64) -> Option<Usage>) -> ScriptedModel {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    ScriptedModel::new(|_| "Yes.".to_owned()).named(name).end(move |request| {
        let call = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let tokens = request.messages.tokens() as u64 + 400;
        let mut end = End::new(Finish::Stop);
        end.usage = usage(call, tokens);
        end.diagnosis = (call == 2).then(|| CacheDiagnosis::new("tools_changed", Some(1200)));
        end
    })
}

#[tokio::test]
async fn p16_without_a_cache_or_a_usage_nothing_is_missed() -> Result<()> {
    let no_cache = scripted("scripted", |_, tokens| Some(Usage::new(tokens, 3)));
    let silent = scripted(CLAUDE, |_, _| None);
    // A provider that caches by itself, and reports no writes; and one that bills writes, and wrote nothing.
    let automatic = scripted("deepseek/deepseek-chat", |call, tokens| {
        Some(Usage::new(tokens, 3).cached(if call == 1 { tokens - 1100 } else { 0 }, 0))
    });
    let unwritten = scripted(CLAUDE, |_, tokens| Some(Usage::new(tokens, 3)));
    let evicted = Some(CacheCause::Evicted);
    let minimum = CachePolicy::by_model("openai/gpt-5.5").minimum;
    let minimum = Some(CacheCause::BelowMinimum { minimum });
    let short = scripted("openai/gpt-5.5", |_, tokens| Some(Usage::new(tokens, 3)));
    let f = flow([answer(prompt("Be brief.").model(short))])?;
    for _ in 0..2 {
        f.push("user", words(400)).await?;
        f.run().await?;
    }
    assert_eq!(causes(&f.audit()), [Some(CacheCause::First), minimum], "{}", f.audit());

    for (model, expected) in [
        (no_cache, vec![Some(CacheCause::NoCache); 3]),
        (silent, vec![Some(CacheCause::Unreported); 3]),
        (automatic, vec![Some(CacheCause::First), None, evicted.clone()]),
        (unwritten, vec![Some(CacheCause::First), Some(CacheCause::Unmarked), Some(CacheCause::Unmarked)]),
    ] {
        let f = flow([answer(prompt(words(400)).model(model))])?;
        let mut events = Vec::new();
        for _ in 0..3 {
            events.extend(ask(&f).await?);
        }
        let audit = f.audit();
        assert_eq!(causes(&audit), expected, "{audit}");
        assert_eq!(misses(&events).len(), usize::from(expected[2] == evicted), "{audit}");
        assert!(audit.to_string().contains("by the provider tools_changed, 1200 tokens"), "{audit}");
    }
    Ok(())
}

#[tokio::test]
async fn an_audit_is_a_table_and_json_without_a_text() -> Result<()> {
    let model = model();
    let f = flow([answer(asked(&model))])?;
    for step in 0..5 {
        if step == 3 {
            model.evict();
        }
        ask(&f).await?;
    }
    let audit = f.audit();
    let table = audit.to_string();
    let lines: Vec<&str> = table.lines().map(str::trim_end).collect();
    assert!(lines[0].starts_with("call") && lines[0].ends_with("written  missed"), "{table}");
    let begins =
        ["answer 0 ", "answer 1 to 2 ", "answer 3 ", "answer 4 ", "total ", "tokens of the provider"];
    let lines = &lines[1..];
    assert_eq!(lines.len(), begins.len(), "{table}");
    assert!(lines.iter().zip(begins).all(|(line, begin)| line.starts_with(begin)), "{table}");
    assert!(lines[2].contains('$') && lines[2].ends_with(": evicted"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");

    let json = serde_json::to_value(&audit).expect("an audit is JSON");
    assert_eq!(json["calls"].as_array().map(Vec::len), Some(5));
    assert_eq!((&json["calls"][3]["cause"], &json["calls"][1]["cause"]), (&"evicted".into(), &Json::Null));
    assert_eq!(json["total"]["missed"], json["calls"][3]["missed"]);
    assert!(!table.contains("word") && !json.to_string().contains("word "), "{json}");
    Ok(())
}

/// A request reads what another column has written if both have the same beginning, model and effort, if the mark is near,
/// and if the reply of the other one was complete.
#[tokio::test]
async fn p16_what_another_column_wrote_is_promised_if_it_can_be_read() -> Result<()> {
    let opus = "anthropic/claude-opus-5";
    for (name, effort, at, is_far, cause) in [
        (opus, None, 1501, false, CacheCause::Evicted),
        (opus, None, 1500, false, CacheCause::First),
        (opus, Some(Effort::High), 1501, false, CacheCause::First),
        (opus, None, 1501, true, CacheCause::Evicted),
        // This provider looks at the mark alone.
        ("openai/gpt-5.6", None, 1501, true, CacheCause::First),
    ] {
        let model = model().named(name);
        let user = source("user");
        let brief = || prompt("Be brief.").model(model.clone()).max_tokens(9000);
        let two = effort.map_or(brief(), |effort| brief().effort(effort));
        let views = if is_far { vec![user.all(), View::from("one")] } else { vec![user.all()] };
        let columns = [column("one", user.all(), brief()), column("two", views, two)];
        let store = edited(move |column, receipt| {
            let is_first = column == "one";
            receipt.remove("cache_read");
            receipt.insert("cache_write".to_owned(), receipt["input"].clone());
            receipt.insert("at".to_owned(), if is_first { 1000 } else { at }.into());
            receipt.insert("ms".to_owned(), 500.into());
        });
        let f = Flow::open(store.clone(), &columns).await?;
        f.push("user", words(2000)).await?;
        f.run().await?;
        drop(f);
        let audit = Flow::open(store, &columns).await?.audit();
        assert_eq!(
            causes(&audit),
            [Some(CacheCause::First), Some(cause)],
            "{name} {effort:?} {at} {is_far} {audit}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn a_subscription_has_the_miss_before_the_value() -> Result<()> {
    let model = model();
    let f = flow([answer(asked(&model))])?.spawn();
    let mut events = f.subscribe();
    let mut seen = Vec::new();
    for step in 0..3 {
        if step == 2 {
            model.evict();
        }
        f.push("user", words(1000)).await?;
        while let Some(event) = futures::StreamExt::next(&mut events).await {
            let is_last = matches!(event, Event::Value { .. });
            if !matches!(event, Event::Delta { .. }) {
                seen.push(event);
            }
            if is_last {
                break;
            }
        }
    }
    let [
        Event::Value { .. },
        Event::Value { .. },
        Event::CacheMiss { step: 2, miss, .. },
        Event::Value { .. },
    ] = &seen[..]
    else {
        panic!("{seen:?}")
    };
    assert_eq!(miss.cause, CacheCause::Evicted);
    Ok(())
}

/// Without a fault, no request of any flow reads less than was promised.
#[test]
fn p16_without_a_fault_no_flow_misses_anything() {
    let promised = Cell::new(0);
    let mut runner = TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let result = runner.run(&flows(), |mut described| {
        for column in &mut described.columns {
            column.values.iter_mut().for_each(|value| value.push_str(&" word".repeat(700)));
        }
        let model = model();
        let all = columns(&described, |at, _| {
            // Some columns share an instruction.
            let step = prompt(words(600 * (1 + at % 2))).model(model.clone());
            step.into_step()
        });
        let f = flow(&all).expect("a sound flow");
        let mut events = Vec::new();
        block_on(async {
            for step in 0..described.steps() {
                for source in described.columns.iter().filter(|column| column.reads.is_none()) {
                    if let Some(value) = source.values.get(step) {
                        f.push(&source.name, value.as_str()).await.expect("memory takes it");
                    }
                }
                events.extend(f.run().try_collect::<Vec<Event>>().await.expect("nothing fails"));
            }
        });
        let audit = f.audit();
        assert_eq!((audit.total().missed, audit.not_audited), (0, 0), "{audit}");
        assert!(misses(&events).is_empty(), "{events:?}");
        promised.set(promised.get() + audit.total().promised);
        Ok(())
    });
    result.expect("no case fails");
    assert!(promised.get() > 100_000, "promises are made: {}", promised.get());
}
