//! Push, run, read: the life cycle of a flow.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::SkipReason;
use columnar::cache::{CachePolicy, Pace};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar::testing::script;
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use futures::future::{BoxFuture, FutureExt};
use futures::stream;
use tokio::sync::Barrier;

flow! {
    /// The flow that most of these tests run.
    struct Chat(log: Log) {
        source user;
        column topics(user.latest)        = log.upper("topics");
        column summary(user, self.latest) = log.upper("summary");
        column critique(summary.latest.as("digest"), user.latest) = log.upper("critique");
        column assistant(user, self)      = log.upper("assistant");
    }
}

#[tokio::test]
async fn a_push_returns_its_step_and_a_run_computes_it() -> Result<()> {
    let log = Log::default();
    let chat = Chat::new(log.clone());
    assert_eq!(chat.user.push("one").await?, 0);
    assert_eq!(chat.user.push("two").await?, 1);
    assert_eq!(chat.steps(), 0);
    assert_eq!(chat.topics.get(0), None);

    chat.run().await?;
    assert_eq!(chat.steps(), 2);
    assert_eq!(chat.topics.get(1).as_deref(), Some("<USER>\nTWO\n</USER>"));
    assert_eq!(chat.topics.get(2), None);
    assert_eq!(log.calls(), 8);
    Ok(())
}

#[tokio::test]
async fn e4_a_run_with_nothing_new_has_no_event_and_calls_nothing() -> Result<()> {
    let log = Log::default();
    let chat = Chat::new(log.clone());
    assert_eq!(chat.run().try_collect::<Vec<_>>().await?, []);
    chat.user.push("one").await?;
    chat.run().await?;
    let calls = log.calls();
    assert_eq!(chat.run().try_collect::<Vec<_>>().await?, []);
    assert_eq!(log.calls(), calls);
    Ok(())
}

#[tokio::test]
async fn each_cell_has_one_value_event_and_they_follow_the_dependencies() -> Result<()> {
    let chat = Chat::new(Log::default());
    for text in ["a", "b", "c"] {
        chat.user.push(text).await?;
    }
    let events: Vec<_> = chat.run().try_collect().await?;
    let at = |column: ChatColumn, step: usize| {
        let is_it = |event: &Event<ChatColumn>| *event.column() == column && event.step() == step;
        assert_eq!(events.iter().filter(|event| is_it(event)).count(), 1, "{column} {step}");
        events.iter().position(is_it)
    };
    for step in 0..3 {
        assert!(at(ChatColumn::Summary, step) < at(ChatColumn::Critique, step));
    }
    for column in [ChatColumn::Topics, ChatColumn::Summary, ChatColumn::Critique, ChatColumn::Assistant] {
        assert!(at(column, 0) < at(column, 1) && at(column, 1) < at(column, 2), "{column}");
    }
    assert_eq!(events.len(), 12);
    Ok(())
}

#[tokio::test]
async fn deltas_joined_are_the_value() -> Result<()> {
    let chat = flow! {
        source user;
        column words(user.latest) = |cx: Context| {
            let text = cx.input("user").cloned().unwrap_or_else(|| "".into());
            let words: Vec<String> = text.split_inclusive(' ').map(String::from).collect();
            deltas(stream::iter(words))
        };
        column quiet(user.latest) = |_: Context| deltas(stream::iter(Vec::<Result<String>>::new()));
    };
    for text in ["to be or not", "", "x"] {
        chat.user.push(text).await?;
    }
    let mut joined: BTreeMap<(String, usize), String> = BTreeMap::new();
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        let key = (event.column().to_string(), event.step());
        match event {
            Event::Delta { text, .. } => joined.entry(key).or_default().push_str(&text),
            Event::Value { value, .. } => assert_eq!(joined.remove(&key).unwrap_or_default(), *value),
            _ => unreachable!("nothing is tried twice"),
        }
    }
    assert!(joined.is_empty(), "no delta follows its value");
    assert_eq!(chat.words.get(0).as_deref(), Some("to be or not"));
    assert_eq!(chat.quiet.get(1).as_deref(), Some(""));
    Ok(())
}

/// Programs in other languages read these forms, so they do not change.
#[test]
fn events_serialise_as_documented() {
    let (column, step) = (ChatColumn::Topics, 3);
    let error = || String::from("HTTP 503");
    let events = [
        Event::Delta { column, step, text: "tea, \"co".into() },
        Event::Retry { column, step, attempt: 1, error: error() },
        Event::Failed { column, step, error: error() },
        Event::Skipped { column, step, reason: None },
        Event::Skipped { column, step, reason: Some(SkipReason::When) },
        Event::Value { column, step, value: "tea, coffee".into() },
    ];
    let forms = [
        r#"{"type":"delta","column":"topics","step":3,"text":"tea, \"co"}"#,
        r#"{"type":"retry","column":"topics","step":3,"attempt":1,"error":"HTTP 503"}"#,
        r#"{"type":"failed","column":"topics","step":3,"error":"HTTP 503"}"#,
        r#"{"type":"skipped","column":"topics","step":3,"reason":null}"#,
        r#"{"type":"skipped","column":"topics","step":3,"reason":"when"}"#,
        r#"{"type":"value","column":"topics","step":3,"value":"tea, coffee"}"#,
    ];
    for (event, form) in events.iter().zip(forms) {
        assert_eq!(serde_json::to_string(event).unwrap(), form);
    }
}

/// A compute step that ends when as many cells have started as the barrier waits for.
fn meet(at: &Arc<Barrier>) -> impl Fn(Context) -> BoxFuture<'static, &'static str> + use<> {
    let at = Arc::clone(at);
    move |_| {
        let at = Arc::clone(&at);
        async move {
            at.wait().await;
            "met"
        }
        .boxed()
    }
}

/// Each of two columns waits until the other has started: only a run that computes them concurrently ends.
#[tokio::test]
async fn columns_with_complete_inputs_are_computed_concurrently() -> Result<()> {
    let met = Arc::new(Barrier::new(2));
    let chat = flow! {
        source user;
        column left(user.latest)  = meet(&met);
        column right(user.latest) = meet(&met);
    };
    chat.user.push("go").await?;
    chat.run().await?;
    assert_eq!(chat.steps(), 1);
    Ok(())
}

#[tokio::test]
async fn queued_steps_of_a_stateless_column_are_computed_concurrently() -> Result<()> {
    let user = source("user");
    let f = flow([column("map", user.latest(), meet(&Arc::new(Barrier::new(20))))])?;
    for step in 0..20 {
        f.push("user", step.to_string()).await?;
    }
    f.run().await?;
    assert_eq!(f.get("map", 19).as_deref(), Some("met"));
    Ok(())
}

#[tokio::test]
async fn at_most_32_cells_are_computed_at_once() -> Result<()> {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let user = source("user");
    let seen = Arc::clone(&most);
    let map = column("map", user.latest(), move |_: Context| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            now.fetch_sub(1, Ordering::SeqCst);
            "x"
        }
    });
    let f = flow([map])?;
    for _ in 0..100 {
        f.push("user", "x").await?;
    }
    f.run().await?;
    assert_eq!(seen.load(Ordering::SeqCst), 32);
    assert_eq!(f.steps(), 100);
    Ok(())
}

#[tokio::test]
async fn r12_a_step_waits_until_every_source_has_its_value() -> Result<()> {
    let chat = flow! {
        source question;
        source facts;
        column answer(question.latest, facts.latest) = script(["a", "b", "c"]);
        column only_question(question.latest)        = script(["a", "b", "c"]);
    };
    assert!(chat.missing().is_empty());
    assert_eq!(chat.question.push("q0").await?, 0);
    assert_eq!(chat.question.push("q1").await?, 1);
    assert_eq!(chat.missing(), ["facts"]);
    chat.run().await?;
    assert_eq!((chat.steps(), chat.only_question.len()), (0, 0));

    assert_eq!(chat.facts.push("f0").await?, 0);
    chat.run().await?;
    assert_eq!((chat.steps(), chat.answer.len()), (1, 1));
    assert_eq!(chat.missing(), ["facts"]);

    chat.facts.push("f1").await?;
    assert!(chat.missing().is_empty());
    chat.run().await?;
    assert_eq!(chat.steps(), 2);
    Ok(())
}

#[tokio::test]
async fn a_push_during_a_run_is_computed_by_it() -> Result<()> {
    let chat = Arc::new(Chat::new(Log::default()));
    chat.user.push("one").await?;
    let mut run = chat.run();
    let mut values = 0;
    while let Some(event) = run.try_next().await? {
        if values == 0 {
            let user = chat.user.clone();
            let pushed = tokio::spawn(async move { user.push("two").await });
            assert_eq!(pushed.await.expect("it does not panic")?, 1);
        }
        values += usize::from(matches!(event, Event::Value { .. }));
    }
    assert_eq!((values, chat.steps()), (8, 2));
    Ok(())
}

/// The run waits for a compute step that waits for a later push: the push must wake the run.
#[tokio::test]
async fn a_push_wakes_a_run_that_waits() -> Result<()> {
    let user = source("user");
    let f = flow([column("map", user.latest(), meet(&Arc::new(Barrier::new(2))))])?;
    f.push("user", "one").await?;
    let run = f.run();
    let running = tokio::spawn(async move { run.await });
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    f.push("user", "two").await?;
    running.await.expect("it does not panic")?;
    assert_eq!(f.steps(), 2);
    Ok(())
}

#[tokio::test]
async fn concurrent_pushes_get_different_steps() -> Result<()> {
    let chat = Chat::new(Log::default());
    let pushes: Vec<_> = (0..50)
        .map(|at| {
            let user = chat.user.clone();
            tokio::spawn(async move { user.push(at.to_string()).await })
        })
        .collect();
    let mut steps = Vec::new();
    for (at, push) in pushes.into_iter().enumerate() {
        let step = push.await.expect("it does not panic")?;
        assert_eq!(chat.user.get(step).as_deref(), Some(at.to_string().as_str()));
        steps.push(step);
    }
    steps.sort_unstable();
    assert!(steps.into_iter().eq(0..50));
    Ok(())
}

#[tokio::test]
async fn r11_a_second_run_is_an_error_and_the_first_continues() -> Result<()> {
    let chat = Chat::new(Log::default());
    chat.user.push("one").await?;
    let mut first = chat.run();
    assert!(first.try_next().await?.is_some());
    assert!(matches!(chat.run().await, Err(Error::Running)));
    while first.try_next().await?.is_some() {}
    assert_eq!(chat.steps(), 1);
    chat.run().await
}

#[tokio::test]
async fn flows_of_one_type_share_nothing() -> Result<()> {
    let (one, two) = (Chat::new(Log::default()), Chat::new(Log::default()));
    one.user.push("one").await?;
    two.user.push("two").await?;
    two.user.push("three").await?;
    futures::future::try_join(async { one.run().await }, async { two.run().await }).await?;
    assert_eq!((one.steps(), two.steps()), (1, 2));
    assert_eq!(one.topics.get(0).as_deref(), Some("<USER>\nONE\n</USER>"));
    Ok(())
}

#[tokio::test]
async fn the_messages_of_an_earlier_step_can_be_read() -> Result<()> {
    let log = Log::default();
    let chat = Chat::new(log.clone());
    for text in ["a", "b", "c"] {
        chat.user.push(text).await?;
        chat.run().await?;
    }
    for step in 0..3 {
        assert_eq!(chat.critique.messages(step)?.to_json(), log.saw("critique", step));
        assert_eq!(chat.assistant.messages(step)?.to_json(), log.saw("assistant", step));
    }
    assert!(matches!(chat.critique.messages(3), Err(Error::Missing { step: 3, .. })));
    Ok(())
}

/// Memory holds old values in another form than new ones, and stored ones in a third: contexts show them alike.
#[tokio::test]
async fn a_long_history_is_rendered_like_a_short_one() -> Result<()> {
    let texts = [
        "plain",
        "<user> & </user>",
        "two\nlines",
        "\"quoted\" \\ \u{7}",
        "",
        "\u{e9}\u{1f980}",
        "&lt;user>",
    ];
    let declared = || {
        let user = source("user");
        let answer =
            |cx: Context| async move { format!("{} {}", cx.step(), cx.input("user").map_or("", |it| it)) };
        [column("bot", (&user, user.window(40).named("last"), this()), answer)]
    };
    let (bare, kept) = (flow(declared())?, Flow::open(MemoryStore::new(), declared()).await?);
    for step in 0..150 {
        let text = texts.get(step % texts.len()).copied().unwrap_or_default();
        for f in [&bare, &kept] {
            f.push("user", text).await?;
            f.run().await?;
        }
    }
    for step in [0, 31, 32, 33, 63, 64, 100, 149] {
        let (bare, kept) = (bare.messages("bot", step)?, kept.messages("bot", step)?);
        assert_eq!(bare, kept);
        assert_eq!(bare.to_json(), kept.to_json());
        assert_eq!(bare.to_json(), serde_json::to_string(&bare).unwrap_or_default());
        assert_eq!((bare.len(), bare.last_text()), (2 * step + 1, kept.last_text()));
    }
    Ok(())
}

/// The newest value was once taken as typical, so a long one after many short ones reserved memory as if all were
/// as long.
#[tokio::test]
async fn a_long_value_after_short_ones_reserves_no_extra_memory() -> Result<()> {
    let user = source("user");
    let f = flow([column("bot", &user, script([""]))])?;
    for _ in 0..1000 {
        f.push("user", "short").await?;
    }
    f.push("user", "long ".repeat(100_000)).await?;
    let json = f.messages("bot", 1000)?.to_json();
    assert!(json.capacity() < 2 * json.len(), "{} bytes for {}", json.capacity(), json.len());
    Ok(())
}

#[tokio::test]
async fn a_reopened_flow_resumes() -> Result<()> {
    let store = MemoryStore::new();
    let (first, again) = (Log::default(), Log::default());
    let chat = Chat::open(store.clone(), first).await?;
    chat.user.push("one").await?;
    chat.run().await?;
    chat.user.push("two").await?;
    drop(chat);

    let chat = Chat::open(store, again.clone()).await?;
    assert_eq!((chat.steps(), chat.user.len()), (1, 2));
    assert_eq!(again.calls(), 0);
    chat.run().await?;
    assert_eq!((chat.steps(), again.calls()), (2, 4));
    assert_eq!(chat.user.push("three").await?, 2);
    Ok(())
}

#[tokio::test]
async fn a_column_added_later_is_filled_from_step_0() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let topics = column("topics", user.latest(), log.upper("topics"));
    let f = flow([&topics])?;
    for text in ["a", "b", "c"] {
        f.push("user", text).await?;
        f.run().await?;
    }
    f.add_column(column("both", (&topics, this().latest()), log.upper("both"))).await?;
    assert_eq!((f.steps(), f.get("both", 0)), (0, None));

    let events: Vec<_> = f.run().try_collect().await?;
    let shown: Vec<_> = events.iter().map(|event| (event.column().as_str(), event.step())).collect();
    assert_eq!(shown, [("both", 0), ("both", 1), ("both", 2)]);
    assert_eq!((f.steps(), log.calls()), (3, 6));
    assert_eq!(f.messages("both", 1)?.to_json(), log.saw("both", 1));

    f.push("user", "d").await?;
    f.run().await?;
    assert_eq!(f.get("both", 3).is_some(), f.get("topics", 3).is_some());
    Ok(())
}

#[tokio::test]
async fn a_column_added_during_a_run_is_computed_by_it() -> Result<()> {
    let log = Log::default();
    let user = source("user");
    let topics = column("topics", user.latest(), log.upper("topics"));
    let f = flow([&topics])?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    let mut run = f.run();
    let mut shown = Vec::new();
    while let Some(event) = run.try_next().await? {
        if shown.is_empty() {
            f.add_column(column("later", topics.latest(), log.upper("later"))).await?;
        }
        shown.push((event.column().to_string(), event.step()));
    }
    assert_eq!(shown.len(), 6);
    assert_eq!(f.steps(), 3);
    Ok(())
}

#[tokio::test]
async fn an_invalid_column_is_not_added_and_changes_nothing() -> Result<()> {
    let user = source("user");
    let f = flow([column("topics", user.latest(), script(["a", "b"]))])?;
    f.push("user", "one").await?;
    f.run().await?;
    for (refused, why) in [
        (column("topics", user.latest(), script(["a"])), "`topics` is declared twice"),
        (column("Topics", user.latest(), script(["a"])), "`Topics` cannot be a name"),
        (column("late", (&user, &source("facts")), script(["a"])), "the source `facts` cannot be added"),
        (column("none", this(), script(["a"])), "`none` reads only itself"),
        (column("shut", user.window(0), script(["a"])), "a window of 0"),
    ] {
        let error = f.add_column(refused).await.expect_err(why);
        assert!(error.to_string().contains(why), "{error}");
    }
    assert_eq!(f.order(), ["user", "topics"]);
    f.push("user", "two").await?;
    f.run().await?;
    assert_eq!(f.steps(), 2);
    Ok(())
}

#[tokio::test]
async fn a_misspelt_name_is_an_error_with_the_known_names() -> Result<()> {
    let user = source("user");
    let f = flow([column("topics", user.latest(), script(["a"]))])?;
    let text = |error: Error| error.to_string();
    assert_eq!(
        text(f.push("usr", "x").await.expect_err("no such column")),
        "no column is named `usr`; did you mean `user`?"
    );
    assert_eq!(
        text(f.push("elephant", "x").await.expect_err("no such column")),
        "no column is named `elephant`; there are `user`, `topics`"
    );
    assert_eq!(
        text(f.push("topics", "x").await.expect_err("it is computed")),
        "`topics` is computed, so nothing can be pushed to it; the sources are `user`"
    );
    let unknown = "no column is named `topic`; did you mean `topics`?";
    let Err(Error::UnknownColumn { name, suggestion, columns }) = f.try_get("topic", 0) else {
        panic!("there is no such column")
    };
    assert_eq!((&*name, suggestion.as_deref()), ("topic", Some("topics")));
    assert_eq!(columns, ["user", "topics"]);
    assert_eq!(text(f.try_receipt("topic", 0).expect_err("no such column")), unknown);
    let bill = f.bill();
    let calls = [
        catch_unwind(AssertUnwindSafe(|| f.get("topic", 0))).map(drop),
        catch_unwind(AssertUnwindSafe(|| f.receipt("topic", 0))).map(drop),
        catch_unwind(AssertUnwindSafe(|| bill.column("topic"))).map(drop),
    ];
    for call in calls {
        let panic = call.expect_err("there is no such column");
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some(unknown));
    }
    assert_eq!((f.get("topics", 0), f.receipt("topics", 0), f.steps()), (None, None, 0));
    Ok(())
}

/// A flow lists its columns as names, and most methods that find a column took `&str` alone: options took a `String`.
#[tokio::test]
async fn a_name_and_a_text_find_a_column_everywhere() -> Result<()> {
    let store = MemoryStore::new();
    let columns = |text: &'static str| [column("topics", source("user").latest(), script([text]))];
    let f = Flow::open(store.clone(), columns("a")).await?;
    let [user, topics] = f.order().try_into().expect("two columns");
    f.push(&user, "x").await?;
    f.run().await?;
    assert_eq!(f.get(&topics, 0), f.get(String::from(&topics), 0));
    assert_eq!(f.try_get(topics.clone(), 0)?.as_deref(), Some("a"));
    assert_eq!((f.receipt(&topics, 0), f.try_receipt(&topics, 0)?), (None, None));
    assert_eq!(f.read::<String>(&topics, 0).is_err(), f.read::<String>("topics", 0).is_err());
    assert_eq!(f.messages(&topics, 0)?, f.messages("topics", 0)?);
    assert_eq!(f.explain_cache(&topics, 0)?, f.explain_cache("topics", 0)?);
    let policy = CachePolicy::by_model("offline");
    assert!(f.cache_plan(&topics, 0, policy, Pace::batch())?.marks.is_empty());
    assert_eq!(f.dependents(&user)?, f.dependents("user")?);
    assert_eq!(f.bill().column(&topics).calls, 0);
    drop(f);

    let changed = column(&topics, source(&user), script(["b"])).was(&topics);
    let f = Flow::open(OpenOptions::new(store.clone()).keep(&topics), [changed]).await?;
    let mood = column("mood", (prev(&topics), source("more").named(&user)), script(["c"]));
    assert!(f.add_column(mood).await.is_err(), "a source cannot join");
    f.remove_column(&topics).await?;
    drop(f);
    let options = OpenOptions::new(store).recompute_from(0, [&topics], MemoryStore::new());
    let f = Flow::open(options, columns("b")).await?;
    assert_eq!(f.remove_with_dependents(&topics).await?, [topics]);
    Ok(())
}

#[test]
fn all_errors_of_a_declaration_are_reported_at_once() {
    let user = source("user");
    let mut errors: Vec<String> = flow([
        column("topics", user.window(0), script([""])),
        column("topics", (&user, user.latest()), script([""])),
        column("No Name", user.named("a tag"), script([""])),
        column("selves", (&user, this(), this().latest()), script([""])),
        column("tagged", (&user, this().named("me")), script([""])),
    ])
    .err()
    .map(|error| error.to_string().lines().map(str::to_owned).collect())
    .unwrap_or_default();
    errors.sort();
    assert_eq!(errors.len(), 7, "{errors:#?}");
    let nothing = Vec::<Column>::new();
    assert!(flow(nothing).is_err_and(|error| error.to_string().starts_with("this flow has no source")));
}

#[tokio::test]
async fn r16_a_chain_of_ten_thousand_columns_and_a_row_of_a_thousand() -> Result<()> {
    let user = source("user");
    let echo =
        || |cx: Context| async move { cx.inputs().map(|(_, value)| value.to_string()).collect::<String>() };
    let mut last = user.clone();
    for at in 0..10_000 {
        last = column(format!("c{at}"), last.latest(), echo());
    }
    let wide: Vec<Column> = (0..1000).map(|at| column(format!("w{at}"), user.latest(), echo())).collect();
    let f = flow(wide.iter().chain([&last]))?;
    f.push("user", "x").await?;
    f.run().await?;
    assert_eq!(f.get("c9999", 0).as_deref(), Some("x"));
    assert_eq!(f.get("w999", 0).as_deref(), Some("x"));
    assert_eq!(f.steps(), 1);
    Ok(())
}

#[tokio::test]
async fn a_flow_lists_the_dependents_of_a_column() -> Result<()> {
    let chat = Chat::new(Log::default());
    assert_eq!(chat.dependents("user")?, ["topics", "summary", "critique", "assistant"]);
    assert_eq!(chat.dependents("summary")?, ["critique"], "a column does not depend on itself");
    assert_eq!(chat.dependents("assistant")?, Vec::<columnar::Name>::new());
    assert!(matches!(chat.dependents("topic"), Err(Error::UnknownColumn { .. })));
    Ok(())
}
