//! Changes of a flow at run time: forks, removed and replaced columns, and the forecast of their costs.

use columnar::Forecast;
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::{ScriptedModel, script};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;

flow! {
    /// Two columns with self history, and one without.
    struct Chat(log: Log) {
        source user;
        column topics(user.latest)                       = log.upper("topics");
        column summary(user, topics.latest, self.latest) = log.upper("summary");
        column assistant(user, self)                     = log.upper("assistant");
    }
}

async fn chat(log: &Log, steps: usize) -> Result<Chat> {
    let chat = Chat::new(log.clone());
    for step in 0..steps {
        chat.user.push(step.to_string()).await?;
    }
    chat.run().await?;
    Ok(chat)
}

#[tokio::test]
async fn a_fork_shares_earlier_steps_and_diverges() -> Result<()> {
    let log = Log::default();
    let chat = chat(&log, 4).await?;
    let paid = log.calls();
    let fork = chat.fork(2)?;
    assert_eq!((fork.steps(), fork.user.len(), fork.progress().waiting), (2, 2, 0));
    assert_eq!(fork.run().try_collect::<Vec<_>>().await?, []);

    assert_eq!(fork.user.push("elsewhere").await?, 2);
    fork.run().await?;
    chat.user.push("onwards").await?;
    chat.run().await?;
    assert_eq!((fork.steps(), chat.steps(), log.calls()), (3, 5, paid + 6), "each pays for its own step");
    for step in 0..2 {
        assert_eq!(fork.summary.get(step), chat.summary.get(step));
        assert_eq!(fork.assistant.messages(step)?, chat.assistant.messages(step)?);
    }
    assert_ne!(fork.summary.get(2), chat.summary.get(2));
    assert_eq!(fork.user.get(3), None);
    assert!(fork.assistant.messages(2)?.to_json().contains("elsewhere"));
    assert!(!chat.assistant.messages(4)?.to_json().contains("elsewhere"));
    Ok(())
}

#[tokio::test]
async fn a_fork_starts_at_any_step_up_to_the_end() -> Result<()> {
    let log = Log::default();
    let chat = chat(&log, 3).await?;
    let (bare, whole) = (chat.fork(0)?, chat.fork(3)?);
    assert_eq!((bare.user.len(), bare.steps(), whole.steps()), (0, 0, 3));
    let error = chat.fork(4).expect_err("there is no such step");
    assert_eq!(error.to_string(), "`user` has no value at step 3: push or run first");
    assert_eq!(bare.user.push("new").await?, 0);
    bare.run().await?;
    assert_eq!(bare.steps(), 1);
    Ok(())
}

/// Forks of forks, each at the end of the previous one: none shows the values of another.
#[tokio::test]
async fn a_chain_of_forks_keeps_every_branch_apart() -> Result<()> {
    let log = Log::default();
    let mut branches = vec![chat(&log, 1).await?];
    for generation in 1..40 {
        let last = branches.last().expect("there is a first one");
        let next = last.fork(last.steps())?;
        last.user.push(format!("branch {}", generation - 1)).await?;
        next.user.push(format!("trunk {generation}")).await?;
        next.run().await?;
        branches.push(next);
    }
    for (generation, branch) in branches.iter().enumerate() {
        for step in 1..=generation {
            assert_eq!(branch.user.get(step).as_deref(), Some(format!("trunk {step}").as_str()));
        }
        let own = branch.user.get(generation + 1);
        assert_eq!(own.is_some(), generation + 1 < branches.len());
        assert!(own.is_none_or(|own| own == format!("branch {generation}")));
    }
    Ok(())
}

/// Cells in progress in one flow are neither in progress nor stored in the other.
#[tokio::test]
async fn a_fork_during_a_run_computes_its_unfinished_cells_itself() -> Result<()> {
    let log = Log::default();
    let chat = Chat::new(log.clone());
    chat.user.push("a").await?;
    let mut run = chat.run();
    assert!(run.try_next().await?.is_some());
    let fork = chat.fork(1)?;
    fork.run().await?;
    assert_eq!(fork.steps(), 1);
    while run.try_next().await?.is_some() {}
    assert_eq!(chat.steps(), 1);
    assert_eq!(log.calls_of("topics", 0), 1, "it was there before the fork");
    Ok(())
}

#[tokio::test]
async fn dynamic_and_inline_flows_can_be_forked() -> Result<()> {
    let user = source("user");
    let f = flow([column("map", user.latest(), script(["a", "b"]))])?;
    f.push("user", "x").await?;
    f.run().await?;
    let fork = f.fork(1)?;
    fork.add_column(column("more", user.latest(), script(["m", "n"]))).await?;
    fork.push("user", "y").await?;
    fork.run().await?;
    assert_eq!((fork.steps(), f.steps(), f.order().len(), fork.order().len()), (2, 1, 2, 3));

    let greeting = String::from("Hello");
    let inline = flow! {
        source user;
        column greeted(user.latest) = |_: Context| {
            let text = greeting.clone();
            async move { text }
        };
    };
    inline.user.push("x").await?;
    let fork = inline.fork(1)?;
    fork.run().await?;
    assert_eq!((fork.steps(), inline.steps()), (1, 0));
    Ok(())
}

#[tokio::test]
async fn a_column_is_removed_if_no_column_reads_it() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let topics = column("topics", user.latest(), log.upper("topics"));
    let summary = column("summary", (&topics, this()), log.upper("summary"));
    let mood = column("mood", user.latest(), log.upper("mood"));
    let f = flow([&summary, &mood])?;
    push_all(&f, "user", ["a", "b"]).await?;
    f.run().await?;
    let error = f.remove_column("topics").await.expect_err("it is read");
    assert_eq!(
        error.to_string(),
        "`topics` is needed by `summary`: remove them first, or all with `remove_with_dependents`"
    );
    assert!(matches!(f.remove_column("topic").await, Err(Error::UnknownColumn { .. })));
    f.remove_column("mood").await?;
    assert_eq!((f.order().len(), f.steps()), (3, 2));
    assert!(matches!(f.try_get("mood", 0), Err(Error::UnknownColumn { .. })));
    f.push("user", "c").await?;
    f.run().await?;
    assert_eq!((f.steps(), log.calls_of("mood", 2)), (3, 0));

    f.add_column(&mood).await?;
    let forecast = f.forecast();
    assert_eq!((forecast.cells, f.get("mood", 1).is_some()), (1, true), "its stored values are used again");
    f.run().await?;
    assert_eq!((f.steps(), log.calls_of("mood", 0), log.calls_of("mood", 2)), (3, 1, 1));

    assert_eq!(f.remove_with_dependents("topics").await?, ["topics", "summary"]);
    assert_eq!(f.order(), ["user", "mood"]);
    let error = f.remove_with_dependents("user").await.expect_err("nothing would be left");
    assert!(error.to_string().starts_with("this flow has no source"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_column_is_not_removed_during_a_run() -> Result<()> {
    let user = source("user");
    let f = flow([column("a", user.latest(), script(["a"])), column("b", user.latest(), script(["b"]))])?;
    f.push("user", "x").await?;
    let mut run = f.run();
    assert!(run.try_next().await?.is_some());
    assert!(matches!(f.remove_column("b").await, Err(Error::Running)));
    while run.try_next().await?.is_some() {}
    f.remove_column("b").await?;
    assert_eq!(f.steps(), 1);
    Ok(())
}

/// A run that was created and not yet polled once emitted the values of one column under the name of another.
#[tokio::test]
async fn a_paused_run_notices_a_removed_column() -> Result<()> {
    let user = source("user");
    let declare =
        |name: &'static str| column(name, user.latest(), move |_: Context| std::future::ready(name));
    let f = flow([declare("a"), declare("b"), declare("c")])?;
    f.push("user", "x").await?;
    let run = f.run();
    f.remove_column("a").await?;
    let events: Vec<_> = run.try_collect::<Vec<_>>().await?;
    for event in &events {
        assert!(matches!(event, Event::Value { column, value, .. } if column.as_str() == value.as_str()));
    }
    assert_eq!(events.len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_removed_column_is_loaded_from_the_store_when_it_returns() -> Result<()> {
    let (log, store) = (Log::default(), MemoryStore::new());
    let user = source("user");
    let (a, b) = (column("a", user.latest(), log.upper("a")), column("b", user.latest(), log.upper("b")));
    let f = Flow::open(store.clone(), [&a, &b]).await?;
    f.push("user", "x").await?;
    f.run().await?;
    f.remove_column("b").await?;
    drop(f);
    let f = Flow::open(store, [&a]).await?;
    f.add_column(&b).await?;
    assert_eq!((f.steps(), f.forecast().cells, log.calls()), (1, 0, 2));
    Ok(())
}

/// The documentation said of all columns that they have their values when they are added again.
#[tokio::test]
async fn a_removed_source_returns_when_its_store_is_opened_again() -> Result<()> {
    let (log, store) = (Log::default(), MemoryStore::new());
    let (user, notes) = (source("user"), source("notes"));
    let (a, b) = (column("a", user.latest(), log.upper("a")), column("b", notes.latest(), log.upper("b")));
    let f = Flow::open(store.clone(), [&a, &b]).await?;
    f.push("user", "x").await?;
    f.push("notes", "y").await?;
    f.run().await?;
    f.remove_with_dependents("notes").await?;
    let error = f.add_column(&b).await.expect_err("a source is added to a flow that has values");
    assert!(error.to_string().starts_with("the source `notes` cannot be added"), "{error}");
    drop(f);
    let f = Flow::open(store, [&a, &b]).await?;
    assert_eq!((f.get("notes", 0).as_deref(), f.forecast().cells), (Some("y"), 0));
    Ok(())
}

#[tokio::test]
async fn a_replaced_column_is_recomputed_with_its_dependents() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let topics = column("topics", user.latest(), log.upper("topics"));
    let mood = column("mood", user.latest(), log.upper("mood"));
    let summary = column("summary", (&topics, this()), log.upper("summary"));
    let f = flow([&summary, &mood])?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.run().await?;
    let old: Vec<_> = (0..3).map(|step| f.get("summary", step)).collect();

    let next = f.replace_column(column("topics", (&user, &mood), log.upper("new")))?;
    let forecast = next.forecast();
    let columns: Vec<_> = forecast.columns.iter().map(|part| (part.column.as_str(), part.cells)).collect();
    assert_eq!(columns, [("topics", 3), ("summary", 3)], "`mood` is shared");
    next.run().await?;
    assert_eq!((next.steps(), log.calls_of("mood", 0), log.calls_of("new", 2)), (3, 1, 1));
    assert_ne!(next.get("summary", 2), f.get("summary", 2));
    assert_eq!((0..3).map(|step| f.get("summary", step)).collect::<Vec<_>>(), old, "nothing is edited");

    // A declaration with the old column refers to the new one.
    next.add_column(column("late", &topics, log.upper("late"))).await?;
    next.run().await?;
    assert!(log.saw("late", 2).contains("MOOD"));
    let twice = next.replace_column(column("topics", user.latest(), log.upper("third")))?;
    twice.run().await?;
    assert_eq!((twice.steps(), log.calls_of("third", 2)), (3, 1));

    let error = f.replace_column(column("tpics", &user, script(["x"]))).expect_err("no such column");
    assert_eq!(error.to_string(), "no column is named `tpics`; did you mean `topics`?");
    let late = column("mood", source("facts"), script(["x"]));
    assert!(matches!(f.replace_column(late), Err(Error::Schema(_))), "a source cannot join any more");
    Ok(())
}

/// A forecast is read by people before they pay for the run. It was printed by `{:?}` alone.
#[tokio::test]
async fn a_forecast_prints_as_a_table() -> Result<()> {
    let user = source("user");
    let long_name = column("running_summary", (&user, this().latest()), prompt("Keep a summary."));
    let f = flow([&column("topics", user.latest(), prompt("List.")), &long_name])?;
    for _ in 0..1500 {
        f.push("user", "y".repeat(100)).await?;
    }
    assert_eq!(
        f.forecast().to_string(),
        "\
column           cells  calls   tokens in  tokens out  at once
topics           1,500  1,500      48,000     150,000       31
running_summary  1,500  1,500  33,929,899     150,000        1
all              3,000  3,000  33,977,899     300,000       32
in 1,500 rounds; tokens are estimates"
    );
    Ok(())
}

/// The forecast of a backfill, compared with its run.
#[tokio::test]
async fn a_forecast_equals_the_next_run() -> Result<()> {
    let model = ScriptedModel::new(|_| "x".repeat(40));
    let ask = |instruction: &str| prompt(instruction.to_owned()).model(model.clone());
    let user = source("user");
    let topics = column("topics", user.latest(), ask("12345678"));
    let f = flow([&topics])?;
    f.set_concurrency(8);
    for _ in 0..20 {
        f.push("user", "y".repeat(100)).await?;
    }
    let map = f.forecast();
    assert_eq!((map.cells, map.calls, map.width, map.rounds), (20, 20, 8, 3));
    // 100 characters, their tags and an instruction of 8.
    assert!((20 * 30..20 * 34).contains(&map.input_tokens), "{}", map.input_tokens);
    f.run().await?;
    assert_eq!((f.forecast(), model.requests().len()), (Forecast::default(), 20));
    assert_eq!(f.forecast().to_string(), "nothing to compute");

    let summary = column("summary", (topics.window(2), this().latest()), ask(""));
    let count = column("count", &summary, |cx: Context| async move { cx.messages().len().to_string() });
    f.add_column(&count).await?;
    let backfill = f.forecast();
    assert_eq!((backfill.cells, backfill.calls, backfill.rounds), (40, 20, 21));
    assert_eq!(backfill.width, 2, "the reader follows the reducer");
    let columns: Vec<_> = backfill.columns.iter().map(|part| (part.column.as_str(), part.width)).collect();
    assert_eq!(columns, [("summary", 1), ("count", 1)]);
    // Missing values are estimated to be as long as existing ones: 40 characters.
    assert_eq!(backfill.columns.iter().map(|part| part.output_tokens).collect::<Vec<_>>(), [200, 200]);

    let before = model.requests().len();
    f.run().await?;
    assert_eq!(model.requests().len() - before, backfill.calls);
    let sent: usize =
        model.requests().iter().skip(before).map(|request| request.messages.to_json().len()).sum();
    let expected = backfill.columns.first().map_or(0, |part| part.input_tokens);
    assert!((expected * 4..expected * 8).contains(&sent), "{expected} tokens for {sent} bytes of JSON");
    Ok(())
}

/// The outline of a flow has its current columns.
#[tokio::test]
async fn an_outline_has_the_current_columns() -> Result<()> {
    let user = source("user");
    let topics = column("topics", user.latest(), script(["t"]));
    let f = flow([&topics])?;
    let levels = |f: &Flow| {
        let columns = f.outline().columns.into_iter();
        columns.map(|column| (column.name.to_string(), column.level)).collect::<Vec<_>>()
    };
    assert_eq!(levels(&f), [("user".to_owned(), 0), ("topics".to_owned(), 1)]);
    f.add_column(column("mood", (&user, &topics, this()), script(["m"]))).await?;
    assert_eq!(levels(&f)[2], ("mood".to_owned(), 2));
    assert!(f.outline().mermaid().ends_with("    mood -.-> mood\n"));
    f.remove_column("mood").await?;
    assert_eq!(levels(&f).len(), 2);
    Ok(())
}

/// Removes `a` from a flow that has computed it, in memory or in a store.
async fn without_a(is_stored: bool, a: &Column, others: &[Column]) -> Result<Flow> {
    let all: Vec<_> = others.iter().chain([a]).cloned().collect();
    let f = if is_stored { Flow::open(MemoryStore::new(), &all).await? } else { flow(&all)? };
    f.push("user", "x").await?;
    f.push("user", "y").await?;
    f.run().await?;
    f.remove_column("a").await?;
    Ok(f)
}

/// In memory, a column with the name of a removed one had the values of that whatever it declared; a flow with a store
/// refused it.
#[tokio::test]
async fn d7_a_removed_name_that_is_taken_again_is_checked_with_and_without_a_store() -> Result<()> {
    for is_stored in [false, true] {
        let (log, user) = (Log::default(), source("user"));
        let other = column("other", user.latest(), log.upper("other"));
        let a = column("a", user.latest(), log.upper("a").version("1"));
        let f = without_a(is_stored, &a, std::slice::from_ref(&other)).await?;
        let changed = [
            (
                column("a", user.window(2), log.upper("a").version("1")),
                "(user.latest), and it now reads (user.window(2))",
            ),
            (
                column("a", other.latest(), log.upper("a").version("1")),
                "(user.latest), and it now reads (other.latest)",
            ),
            (
                column("a", (user.latest(), this()), log.upper("a").version("1")),
                "it now reads (user.latest, self)",
            ),
            (
                column("a", user.latest(), log.upper("a").version("2")),
                "version \"1\", and the step now has version \"2\"",
            ),
        ];
        for (changed, expected) in changed {
            let error = f.add_column(&changed).await.expect_err("it is another column");
            assert!(
                matches!(error, Error::Drift(_)) && error.to_string().contains(expected),
                "{is_stored}: {error}"
            );
            assert_eq!(f.order(), ["user", "other"]);
        }
        let calls = log.calls();
        f.add_column(column("a", user.latest(), log.upper("a").version("1"))).await?;
        assert_eq!((f.get("a", 1).is_some(), f.forecast().cells, f.steps()), (true, 0, 2), "{is_stored}");
        f.run().await?;
        assert_eq!(log.calls(), calls, "the same declaration has its values again");
    }
    Ok(())
}

/// A removed column may come back under another name, if it declares the earlier one; and more than once.
#[tokio::test]
async fn d7_a_removed_column_returns_under_another_name_with_and_without_a_store() -> Result<()> {
    for is_stored in [false, true] {
        let (log, user) = (Log::default(), source("user"));
        let a = column("a", user.latest(), log.upper("a"));
        let other = column("other", user.latest(), log.upper("other"));
        let f = without_a(is_stored, &a, &[other]).await?;
        f.add_column(column("b", user.latest(), log.upper("a")).was("a")).await?;
        assert_eq!((f.get("b", 1).is_some(), f.forecast().cells), (true, 0), "{is_stored}");
        f.remove_column("b").await?;
        f.add_column(column("c", user.latest(), log.upper("a")).was("b")).await?;
        assert_eq!((f.get("c", 1).is_some(), f.forecast().cells), (true, 0), "{is_stored}");
        let reader = f.add_column(column("d", prev("c"), log.upper("d"))).await;
        assert!(reader.is_ok(), "{is_stored}: {reader:?}");
        f.run().await?;
        assert_eq!(f.steps(), 2, "{is_stored}");
    }
    Ok(())
}

/// A column that is removed before it has values leaves its name to any other one.
#[tokio::test]
async fn d7_a_removed_column_without_values_leaves_its_name() -> Result<()> {
    for is_stored in [false, true] {
        let (log, user) = (Log::default(), source("user"));
        let columns =
            [column("a", user.latest(), log.upper("a")), column("b", user.latest(), log.upper("b"))];
        let f = if is_stored { Flow::open(MemoryStore::new(), &columns).await? } else { flow(&columns)? };
        f.remove_column("a").await?;
        f.add_column(column("a", user.window(3), log.upper("a"))).await?;
        f.push("user", "x").await?;
        f.run().await?;
        assert_eq!((log.calls(), f.steps()), (2, 1), "{is_stored}");
    }
    Ok(())
}

/// A column that is added to a flow whose store has its values has them at once, as after opening.
#[tokio::test]
async fn d7_an_added_column_has_the_values_of_the_store_at_once() -> Result<()> {
    let (log, store, user) = (Log::default(), MemoryStore::new(), source("user"));
    let a = column("a", user.latest(), log.upper("a"));
    let b = column("b", a.latest(), log.upper("b"));
    let c = column("c", (&b, this()), log.upper("c"));
    let f = Flow::open(store.clone(), [&c]).await?;
    f.push("user", "x").await?;
    f.push("user", "y").await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(store, [&a]).await?;
    let mut run = f.run();
    f.add_column(&c).await?;
    for name in ["b", "c"] {
        assert_eq!(
            (f.get(name, 0).is_some(), f.get(name, 1).is_some(), f.len(name)?),
            (true, true, 2),
            "{name}"
        );
        assert!(f.iter(name)?.count() == 2 && f.last(name)?.is_some(), "{name}");
    }
    assert_eq!((f.steps(), f.forecast().cells), (2, 0));
    assert!(run.try_next().await?.is_none());
    assert_eq!(log.calls(), 6);
    Ok(())
}
