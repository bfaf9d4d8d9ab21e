//! Reopened flows: the values that they load, and the changes of a declaration that they accept.

use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::prelude::*;
use columnar::reopen::{ColumnChange, OpenOptions};
use columnar::store::{Entry, MemoryStore, Store};
use columnar::{Column, Name};
use columnar_tests::live::{Live, block_on, push_all};
use columnar_tests::log::Log;
use columnar_tests::store::on_load;
use columnar_tests::strategies::flows;
use futures::FutureExt;
use proptest::prelude::*;

/// A store with the values of this number of steps, as of an earlier process.
async fn stored(columns: &[&str], steps: usize) -> MemoryStore {
    let store = MemoryStore::new();
    let writer = store.clone();
    writer.open().await.expect("the store is free");
    for name in columns {
        for step in 0..steps {
            let name = Name::new(name).expect("a name");
            writer.put(name, step, Entry::from(format!("{step}"))).await.expect("stored");
        }
    }
    store
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 500 }))]

    /// For any views, the values that they show are in memory: a reopened flow sends the same requests as a flow that was
    /// never closed.
    #[test]
    fn a_reopened_flow_loads_the_values_in_its_views(described in flows(), at in 0..7_usize) {
        block_on(async {
            let store = MemoryStore::new();
            let steps = described.steps();
            let first = Live::open(store.clone(), &described).await?;
            for step in 0..at.min(steps) {
                first.push(&described, step).await?;
            }
            first.flow.run().await?;
            drop(first);

            let again = Live::open(OpenOptions::new(store).recent(0), &described).await?;
            for step in at.min(steps)..steps {
                again.push(&described, step).await?;
            }
            again.flow.run().await?;
            let whole = Live::declare(&described, &[0])?;
            whole.fill(&described).await?;
            for ((column, step), seen) in again.seen() {
                assert!(step >= at.min(steps), "`{column}` at step {step} was stored");
                let expected = whole.seen().remove(&(column.clone(), step)).map(|seen| seen.to_json());
                assert_eq!(Some(seen.to_json()), expected, "`{column}` at step {step}");
            }
            again.flow.load(0).await?;
            for (column, _) in described.derived() {
                for step in 0..steps {
                    let shown = |live: &Live| match live.flow.messages(&column.name, step) {
                        Ok(messages) => messages.to_json(),
                        Err(error) => error.to_string(),
                    };
                    assert_eq!(shown(&again), shown(&whole), "`{}` at step {step}", column.name);
                }
            }
            Ok::<(), Error>(())
        }).expect("nothing fails");
    }
}

#[tokio::test]
async fn q1_the_number_of_loaded_values_does_not_grow_with_the_history() -> Result<()> {
    let mut loaded = Vec::new();
    // A run has 4,096 steps in memory, and an opening as many of the missing ones.
    for steps in [500, 4000] {
        let loads = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&loads);
        let store = on_load(stored(&["user", "topics"], steps).await, move |inner, column, steps| {
            let counter = Arc::clone(&counter);
            let count = move |entries: &Result<Vec<_>, _>| {
                counter.fetch_add(entries.as_ref().map_or(0, Vec::len), Ordering::SeqCst);
            };
            inner.load(column, steps).inspect(count)
        });
        let user = source("user");
        let topics = column("topics", user.latest(), Log::default().upper("topics"));
        let summary = column("summary", (topics.window(3), this().latest()), Log::default().upper("summary"));
        let options = OpenOptions::new(store.clone()).recent(10);
        // `summary` is new, and reads three steps back from step 0 on: all of `topics`.
        let f = Flow::open(options, [&summary]).await?;
        // The last value of a long source is also read to check the number of its steps.
        let checks = usize::from(steps > 512);
        assert_eq!(loads.load(Ordering::SeqCst), steps + 11 + checks);
        f.run().await?;
        drop(f);

        loads.store(0, Ordering::SeqCst);
        let f = Flow::open(OpenOptions::new(store.clone()).recent(10), [&summary]).await?;
        assert_eq!((f.steps(), f.forecast().cells), (steps, 0));
        f.push("user", "next").await?;
        f.run().await?;
        loaded.push(loads.load(Ordering::SeqCst) - checks);
    }
    assert_eq!(loaded, [36, 36], "the last ten of three columns, their contexts and the request before");
    Ok(())
}

#[tokio::test]
async fn a_value_that_is_not_in_memory_is_an_error_until_it_is_loaded() -> Result<()> {
    let store = stored(&["user"], 20).await;
    let topics = column("topics", source("user").window(2), Log::default().upper("topics"));
    let f = Flow::open(store.clone(), [&topics]).await?;
    f.run().await?;
    drop(f);

    let f = Flow::open(OpenOptions::new(store).recent(3), [topics]).await?;
    assert_eq!((f.get("topics", 16), f.get("user", 14)), (None, None));
    assert!((17..20).all(|step| f.get("topics", step).is_some() && f.messages("topics", step).is_ok()));
    let error = f.messages("topics", 16).expect_err("the request before it shows step 14");
    let expected = "`user` at step 14 is stored, but not in memory: load it with `load(14).await` first";
    assert_eq!(error.to_string(), expected);
    f.load(14).await?;
    assert!(f.messages("topics", 16).is_ok() && f.get("topics", 14).is_some());
    assert_eq!(f.get("topics", 13), None);
    assert_eq!(f.run().try_collect::<Vec<_>>().await?, [], "nothing is computed again");
    Ok(())
}

#[tokio::test]
async fn an_added_column_loads_its_inputs() -> Result<()> {
    let store = stored(&["user"], 20).await;
    let log = Log::default();
    let user = source("user");
    let topics = column("topics", user.latest(), log.upper("topics"));
    let f = Flow::open(OpenOptions::new(store).recent(0), [&topics]).await?;
    f.run().await?;
    f.add_column(column("count", user.window(3), log.upper("count"))).await?;
    f.run().await?;
    assert_eq!((f.steps(), log.calls_of("count", 0), log.calls_of("topics", 19)), (20, 1, 1));
    assert!(log.saw("count", 19).contains("17") && log.saw("count", 5).contains('3'));
    Ok(())
}

#[tokio::test]
async fn s6_a_second_flow_is_locked_out_until_the_first_one_is_dropped() -> Result<()> {
    let store = MemoryStore::new();
    let topics = column("topics", source("user").latest(), Log::default().upper("topics"));
    let first = Flow::open(store.clone(), [&topics]).await?;
    let error = Flow::open(store.clone(), [&topics]).await.expect_err("the first one is there");
    assert_eq!(
        error.to_string(),
        "the store cannot be opened: this memory is in use: another flow has it open; close that one first"
    );
    drop(first);
    Flow::open(store, [&topics]).await?;
    Ok(())
}

/// After a loop over its events, the run still exists, and it once kept the store open.
#[tokio::test]
async fn a_run_that_has_ended_does_not_own_the_store() -> Result<()> {
    let store = MemoryStore::new();
    let topics = column("topics", source("user").latest(), Log::default().upper("topics"));
    let f = Flow::open(store.clone(), [&topics]).await?;
    f.push("user", "a").await?;
    let mut run = f.run();
    while run.try_next().await?.is_some() {}
    drop(f);
    Flow::open(store, [topics]).await?;
    assert!(run.next().await.is_none());
    Ok(())
}

/// Stores a flow with the first columns, and opens the store with the second ones. Returns the error, or the number of
/// cells to compute.
async fn opened_as(was: &[Column], now: &[Column], keep: &[&str]) -> Result<Flow> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), was).await?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.run().await?;
    drop(f);
    Flow::open(keep.iter().fold(OpenOptions::new(store), |options, name| options.keep(*name)), now).await
}

fn upper(name: &'static str, views: impl columnar::IntoViews) -> Column {
    column(name, views, Log::default().upper(name))
}

async fn reopened(was: &[Column], now: &[Column]) -> String {
    match opened_as(was, now, &[]).await {
        Ok(f) => format!("no error, and {} cells to compute", f.forecast().cells),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn d1_a_new_column_is_computed_from_step_0() {
    let user = source("user");
    let (map, more) = (upper("map", user.latest()), upper("more", user.latest()));
    assert_eq!(
        reopened(slice::from_ref(&map), &[map.clone(), more]).await,
        "no error, and 3 cells to compute"
    );
}

#[tokio::test]
async fn d1_a_new_source_is_an_error_until_it_has_its_values() -> Result<()> {
    let (user, notes) = (source("user"), source("notes"));
    let (map, more) = (upper("map", user.latest()), upper("more", (user.latest(), notes.latest())));
    let error = reopened(slice::from_ref(&map), &[map.clone(), more.clone()]).await;
    assert_eq!(
        error,
        "the source `notes` cannot be added to a flow that has steps: they have no value for it"
    );

    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [&map]).await?;
    f.push("user", "a").await?;
    f.run().await?;
    drop(f);
    let rows = "{\"notes\":\"what was meant\"}\n";
    columnar::rows::read_json_lines(&store, std::io::Cursor::new(rows)).await.expect("a value for each step");
    let f = Flow::open(store, [map, more]).await?;
    f.run().await?;
    assert_eq!(f.steps(), 1);
    Ok(())
}

#[tokio::test]
async fn d2_a_removed_column_that_returns_has_its_values() -> Result<()> {
    let store = MemoryStore::new();
    let (user, log) = (source("user"), Log::default());
    let (map, gone) =
        (column("map", user.latest(), log.upper("map")), column("gone", user.latest(), log.upper("gone")));
    let f = Flow::open(store.clone(), [&map, &gone]).await?;
    f.push("user", "a").await?;
    f.run().await?;
    drop(f);
    Flow::open(store.clone(), [&map]).await?.push("user", "b").await?;
    let f = Flow::open(store.clone(), [&map, &gone]).await?;
    f.run().await?;
    assert_eq!((f.get("gone", 1).is_some(), log.calls_of("gone", 0)), (true, 1));
    drop(f);

    // A different column of this name is rejected, at opening and later.
    let other = column("gone", user.window(2), log.upper("gone"));
    assert!(matches!(Flow::open(store.clone(), [&map, &other]).await, Err(Error::Drift(_))));
    let f = Flow::open(store, [&map]).await?;
    let error = f.add_column(&other).await.expect_err("it reads more than it did");
    assert!(
        error.to_string().starts_with("the stored values of `gone` were computed from (user.latest)"),
        "{error}"
    );
    assert_eq!(f.order(), ["user", "map"], "the flow is as it was");
    Ok(())
}

#[tokio::test]
async fn d3_changed_views_are_an_error_unless_they_are_accepted() -> Result<()> {
    let user = source("user");
    let a = upper("a", user.latest());
    let was = |views: Vec<View>| upper("map", views);
    let odd = |text: &str| text.len() % 2 == 1;
    #[rustfmt::skip]
    let changes: [(Vec<View>, Vec<View>, &str, &str); 10] = [
        (vec![user.window(3), this().latest()], vec![user.window(3).elided(), this().latest().elided()], "user.window(3), self.latest", "user.window(3).elided(), self.latest.elided()"),
        (vec![user.latest()], vec![user.all()], "user.latest", "user"),
        (vec![user.window(3)], vec![user.window(4)], "user.window(3)", "user.window(4)"),
        (vec![user.latest()], vec![user.latest(), a.latest()], "user.latest", "user.latest, a.latest"),
        (vec![a.all(), user.all()], vec![user.all(), a.all()], "a, user", "user, a"),
        (vec![user.latest()], vec![user.latest(), this()], "user.latest", "user.latest, self"),
        (vec![user.latest()], vec![user.latest().named("said")], "user.latest", "user.latest.as(\"said\")"),
        (vec![user.latest(), a.latest()], vec![user.latest(), a.prev()], "user.latest, a.latest", "user.latest, a.prev"),
        (vec![user.all()], vec![user.all().filter(odd)], "user", "user.filter"),
        (vec![user.latest()], vec![group("all", user.latest())], "user.latest", "group(\"all\", user.latest)"),
    ];
    for (before, now, was_read, is_read) in changes {
        let (before, now) = ([a.clone(), was(before)], [a.clone(), was(now)]);
        let expected = format!(
            "the stored values of `map` were computed from ({was_read}), and it now reads ({is_read}): to keep them and use the new declaration for later steps, open `OpenOptions::new(store).keep(\"map\")`; to compute all steps again, give it another name"
        );
        assert_eq!(reopened(&before, &now).await, expected);
        let f = opened_as(&before, &now, &["map"]).await?;
        assert_eq!((f.steps(), f.forecast().cells), (3, 0), "stored values stay");
        f.push("user", "d").await?;
        f.run().await?;
        assert_eq!(f.steps(), 4);
    }
    Ok(())
}

/// All changes are reported at once, and a change that was kept once needs no option again.
#[tokio::test]
async fn d3_all_changes_are_reported_at_once() -> Result<()> {
    let user = source("user");
    let was = [upper("a", user.latest()), upper("b", user.latest()), upper("c", user.latest())];
    let now = [upper("a", user.all()), upper("b", user.latest()), upper("c", (user.latest(), this()))];
    let error = opened_as(&was, &now, &[]).await.expect_err("two have changed");
    let Error::Drift(drift) = &error else { panic!("it is a drift: {error}") };
    assert!(
        matches!(drift.changes(), [ColumnChange::Reads { column: a, .. }, ColumnChange::Reads { column: c, .. }]
        if a == "a" && c == "c")
    );
    assert_eq!(error.to_string().lines().count(), 2);
    assert!(opened_as(&was, &now, &["a"]).await.is_err());

    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), &was).await?;
    f.push("user", "x").await?;
    f.run().await?;
    drop(f);
    let unknown = Flow::open(OpenOptions::new(store.clone()).keep("a").keep("d"), &now).await;
    assert!(matches!(unknown, Err(Error::UnknownColumn { name, .. }) if name == "d"));
    drop(Flow::open(OpenOptions::new(store.clone()).keep("a").keep("c"), &now).await?);
    Flow::open(store, &now).await?;
    Ok(())
}

/// A column that is added after the flow was opened was refused as changed, whatever the options kept: the advice of the
/// error had no effect.
#[tokio::test]
async fn d3_a_changed_column_that_is_added_later_can_be_kept() -> Result<()> {
    let store = MemoryStore::new();
    let user = source("user");
    let base = upper("base", user.latest());
    let f = Flow::open(store.clone(), [&base, &upper("added", user.latest())]).await?;
    f.push("user", "x").await?;
    f.run().await?;
    drop(f);

    let changed = upper("added", user.all());
    let f = Flow::open(store.clone(), [&base]).await?;
    assert!(matches!(f.add_column(&changed).await, Err(Error::Drift(_))));
    drop(f);
    let f = Flow::open(OpenOptions::new(store).keep("added"), [&base]).await?;
    f.add_column(changed).await?;
    assert_eq!(f.forecast().cells, 0);
    f.load(0).await?;
    assert!(f.get("added", 0).is_some());
    Ok(())
}

#[tokio::test]
async fn d3_a_column_without_stored_values_may_change() -> Result<()> {
    let store = MemoryStore::new();
    let user = source("user");
    drop(Flow::open(store.clone(), [upper("map", user.latest())]).await?);
    Flow::open(store, [upper("map", &user)]).await?;
    Ok(())
}

#[tokio::test]
async fn d4_a_source_and_a_derived_column_do_not_replace_each_other() -> Result<()> {
    let (user, topics) = (source("user"), source("topics"));
    let computed = upper("topics", user.latest());
    let reader = |of: &Column| upper("reader", (user.latest(), of.latest()));
    let expected =
        "the stored values of `topics` were computed, and the column now is a source: give it another name";
    assert_eq!(reopened(&[reader(&computed)], &[reader(&topics)]).await, expected);
    // No option turns the one into the other.
    assert!(opened_as(&[reader(&computed)], &[reader(&topics)], &["topics"]).await.is_err());
    Ok(())
}

#[tokio::test]
async fn d4_a_renamed_column_keeps_its_values_if_it_declares_its_earlier_name() -> Result<()> {
    let (store, log) = (MemoryStore::new(), Log::default());
    let was = column("topics", source("user").latest(), log.upper("topics"));
    let both = column("both", (&was, this()), log.upper("both"));
    let f = Flow::open(store.clone(), [both]).await?;
    f.push("user", "a").await?;
    f.run().await?;
    drop(f);

    let renamed = |was: bool| {
        let (message, subjects) = (source("message"), "subjects");
        let message = if was { message.was("user") } else { message };
        let subjects = column(subjects, message.latest(), log.upper(subjects));
        let subjects = if was { subjects.was("topics") } else { subjects };
        column("both", (&subjects, this()), log.upper("both"))
    };
    let f = Flow::open(store.clone(), [renamed(true)]).await?;
    assert_eq!((f.steps(), f.forecast().cells), (1, 0));
    assert_eq!(f.get("subjects", 0).as_deref(), Some("<USER>\nA\n</USER>"));
    f.push("message", "b").await?;
    f.run().await?;
    drop(f);
    // The store has the new name from then on, so `was` is not needed any more.
    let f = Flow::open(store.clone(), [renamed(false)]).await?;
    assert_eq!((f.steps(), f.get("message", 1).as_deref()), (2, Some("b")));
    drop(f);

    // The old name is free, for another column.
    let topics = column("topics", source("message").latest(), log.upper("new"));
    let f = Flow::open(store.clone(), [topics]).await?;
    assert_eq!((f.len_of("topics"), f.steps()), (0, 0));
    f.run().await?;
    drop(f);
    let f = Flow::open(store, [renamed(false)]).await?;
    assert_eq!((f.steps(), f.get("subjects", 1).is_some(), log.calls_of("new", 0)), (2, true, 1));
    Ok(())
}

mod before {
    use super::*;

    flow! {
        pub struct Debate {
            source topic;
            column critic(topic.latest) = upper_step();
        }
    }
    flow! {
        pub struct Chat {
            source user;
            column subjects(user.latest) = upper_step();
            use Debate { topic: subjects } as debate;
        }
    }
}

mod after {
    use super::*;

    flow! {
        pub struct Debate {
            source topic;
            column judge(topic.latest) was "critic" = upper_step();
        }
    }
    flow! {
        pub struct Chat {
            source message was "user";
            column topics(message.latest) was "subjects" = upper_step();
            use Debate { topic: topics } as debate;
        }
    }
}

fn upper_step() -> impl columnar::Compute {
    Log::default().upper("any")
}

#[tokio::test]
async fn d4_a_flow_of_the_macro_keeps_the_values_of_renamed_columns() -> Result<()> {
    let store = MemoryStore::new();
    let chat = before::Chat::open(store.clone()).await?;
    chat.user.push("a").await?;
    chat.run().await?;
    let critique = chat.debate.critic.get(0);
    drop(chat);

    let chat = after::Chat::open(store.clone()).await?;
    assert_eq!((chat.steps(), chat.forecast().cells, chat.debate.judge.get(0)), (1, 0, critique));
    chat.message.push("b").await?;
    chat.run().await?;
    assert_eq!(
        after::Chat::GRAPH.to_string(),
        "source message was \"user\"\ncolumn topics(message.latest) was \"subjects\"\n\
         column debate.judge(topics.latest.as(\"topic\")) was \"debate.critic\"\n"
    );
    Ok(())
}

trait LenOf {
    fn len_of(&self, column: &str) -> usize;
}

impl LenOf for Flow {
    fn len_of(&self, column: &str) -> usize {
        (0..100).take_while(|&step| self.get(column, step).is_some()).count()
    }
}

#[tokio::test]
async fn d5_another_version_of_a_compute_step_is_an_error() -> Result<()> {
    let user = source("user");
    let map = |version: Option<&str>| {
        let step = Log::default().upper("map");
        match version {
            Some(version) => column("map", user.latest(), step.version(version)),
            None => column("map", user.latest(), step),
        }
    };
    for (was, now, text) in [
        (Some("1"), Some("2"), "were computed by version \"1\", and the step now has version \"2\""),
        (None, Some("1"), "were computed by no version, and the step now has version \"1\""),
        (Some("1"), None, "were computed by version \"1\", and the step now has no version"),
    ] {
        let outcome = reopened(&[map(was)], &[map(now)]).await;
        assert!(
            outcome.starts_with(&format!("the stored values of `map` {text}: to keep them")),
            "{outcome}"
        );
        opened_as(&[map(was)], &[map(now)], &["map"]).await?;
    }
    opened_as(&[map(Some("1"))], &[map(Some("1"))], &[]).await?;
    Ok(())
}

#[tokio::test]
async fn s13_an_unreadable_definition_is_an_error_before_anything_is_written() {
    for (definition, expected) in [
        (
            "{\"columnar\":2,\"columns\":[]}",
            "has format 2, and this version reads formats up to 1: use a newer version",
        ),
        ("", "is damaged: it is not valid JSON"),
        ("{\"columns\":[]}", "is damaged: it has no format number"),
        ("{\"columnar\":1}", "is damaged: it has no columns"),
        ("{\"columnar\":1,\"columns\":[{\"key\":\"../x\"}]}", "is damaged: a column in it cannot be read"),
    ] {
        let store = MemoryStore::new();
        let writer = store.clone();
        writer.open().await.expect("the store is free");
        writer.define(definition.into()).await.expect("it takes any text");
        drop(writer);
        let topics = column("topics", source("user").latest(), Log::default().upper("topics"));
        let error = Flow::open(store.clone(), [topics]).await.expect_err("it is unreadable");
        let expected =
            format!("the store cannot be opened: the definition of the flow in the store {expected}");
        assert_eq!(error.to_string(), expected);
        assert_eq!(store.open().await.expect("it is free").as_deref(), Some(definition));
    }
}
