//! Cells that are excluded from the contexts of later steps.

use std::collections::BTreeSet;

use columnar::budget::Budget;
use columnar::cache::{CachePolicy, Pace};
use columnar::prelude::*;
use columnar::reopen::{self, OpenOptions};
use columnar::store::{FileStore, MemoryStore, Store as _};
use columnar::{Column, Name, View};
use columnar_tests::store::{Fail, FaultyStore, on_put};
use futures::FutureExt as _;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

async fn text(cx: Context) -> String {
    format!("{} {}", cx.column(), cx.step())
}

/// The same after some polls, so that cells complete in another order than they began.
async fn late(cx: Context) -> String {
    for _ in 0..(cx.step() * 7 + cx.column().len() * 3) % 5 {
        tokio::task::yield_now().await;
    }
    text(cx).await
}

fn columns() -> [Column; 1] {
    let user = source("user");
    let hint = column("hint", user.latest(), late);
    let views: [View; 3] = [user.all(), hint.window(2), this()];
    [column("answer", views, late)]
}

async fn push(f: &Flow, steps: usize) {
    for _ in 0..steps {
        let step = f.len("user").unwrap();
        f.push("user", format!("user {step}")).await.unwrap();
    }
}

fn messages(f: &Flow, step: usize) -> Json {
    serde_json::to_value(f.messages("answer", step).unwrap()).unwrap()
}

/// What was said of a cell, and the first step that heeds it.
#[derive(Clone, Debug)]
struct Mark {
    column: &'static str,
    step: usize,
    since: usize,
    is_excluded: bool,
}

fn excluded(marks: &[Mark], column: &str, at: usize) -> BTreeSet<usize> {
    let mut excluded = BTreeSet::new();
    for mark in marks.iter().filter(|mark| mark.since <= at && mark.column == column) {
        if mark.is_excluded {
            excluded.insert(mark.step);
        } else {
            excluded.remove(&mark.step);
        }
    }
    excluded
}

/// The messages of `answer`, composed anew.
fn expected(marks: &[Mark], at: usize) -> Json {
    let is_shown = |column: &str, step: usize| !excluded(marks, column, at).contains(&step);
    let mut all: Vec<(&str, String)> = Vec::new();
    let mut add = |role: &'static str, text: String| match all.last_mut().filter(|last| last.0 == role) {
        Some((_, content)) => *content = format!("{content}\n\n{text}"),
        None => all.push((role, text)),
    };
    for step in 0..=at {
        if is_shown("user", step) {
            add("user", format!("<user>\nuser {step}\n</user>"));
        }
        if step + 2 > at && is_shown("hint", step) {
            add("user", format!("<hint>\nhint {step}\n</hint>"));
        }
        if step < at && is_shown("answer", step) {
            add("assistant", format!("answer {step}"));
        }
    }
    if all.first().is_some_and(|(role, _)| *role == "assistant") {
        all.insert(0, ("user", "<elided/>".to_owned()));
    }
    all.into_iter().map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

#[derive(Clone, Debug)]
enum Operation {
    Push(usize),
    Run,
    /// Some events of a run, which is dropped then.
    RunSome(usize),
    Mark(&'static str, prop::sample::Index, bool),
    Reopen,
}

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let column = prop_oneof![Just("user"), Just("hint"), Just("answer")];
    let operation = prop_oneof![
        3 => (1..4_usize).prop_map(Operation::Push),
        2 => Just(Operation::Run),
        2 => (1..6_usize).prop_map(Operation::RunSome),
        5 => (column, any::<prop::sample::Index>(), prop::bool::weighted(0.7))
            .prop_map(|(column, step, is_excluded)| Operation::Mark(column, step, is_excluded)),
        1 => Just(Operation::Reopen),
    ];
    vec(operation, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 5_000 })
    })]

    /// Contexts heed the exclusions that were made before their step began: whenever they are assembled, in a fork, and
    /// after a restart.
    #[test]
    fn a_context_heeds_the_exclusions_before_its_step(
        operations in operations(),
        fork in any::<prop::sample::Index>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = MemoryStore::new();
            let mut f = Flow::open(store.clone(), columns()).await.unwrap();
            let mut marks: Vec<Mark> = Vec::new();
            for operation in operations {
                match operation {
                    Operation::Push(steps) => push(&f, steps).await,
                    Operation::Run => f.run().await.unwrap(),
                    Operation::RunSome(events) => {
                        let mut run = f.run();
                        for _ in 0..events {
                            let _ = run.try_next().await.unwrap();
                        }
                    }
                    Operation::Mark(column, step, is_excluded) => {
                        let Some(step) = f.len(column).unwrap().checked_sub(1).map(|last| step.index(last + 1)) else {
                            let error = f.exclude(column, 0).await.unwrap_err();
                            let is_missing = matches!(error, Error::Missing { step: 0, .. });
                            prop_assert!(is_missing);
                            continue;
                        };
                        if is_excluded {
                            f.exclude(column, step).await.unwrap();
                        } else {
                            f.include(column, step).await.unwrap();
                        }
                        marks.push(Mark { column, step, since: f.len("user").unwrap().max(step + 1), is_excluded });
                    }
                    Operation::Reopen => {
                        drop(f);
                        f = Flow::open(store.clone(), columns()).await.unwrap();
                    }
                }
            }
            f.run().await.unwrap();
            for step in (0..f.steps()).rev() {
                prop_assert_eq!(messages(&f, step), expected(&marks, step), "at step {}", step);
            }
            if f.steps() > 0 {
                let at = fork.index(f.steps() + 1);
                let forked = f.fork(at).unwrap();
                let copy = MemoryStore::new();
                let copied = f.fork_into(at, copy.clone()).await.unwrap();
                let taken: Vec<Mark> = marks.iter().filter(|mark| mark.since <= at).cloned().collect();
                for fork in [&forked, &copied] {
                    push(fork, 3).await;
                    fork.run().await.unwrap();
                    for step in 0..fork.steps() {
                        prop_assert_eq!(messages(fork, step), expected(&taken, step), "in a fork at {}", at);
                    }
                }
                drop(copied);
                let copied = Flow::open(OpenOptions::new(copy).recent(1), columns()).await.unwrap();
                copied.load(0).await.unwrap();
                let last = copied.steps() - 1;
                prop_assert_eq!(messages(&copied, last), expected(&taken, last));
            }
            Ok::<(), TestCaseError>(())
        })?;
    }
}

#[tokio::test]
async fn an_exclusion_ends_the_prefix_of_the_next_request_once() {
    let user = source("user");
    let f = flow([column("answer", (&user, this()), text)]).unwrap();
    for _ in 0..4 {
        f.push("user", "What do you think of this? ".repeat(200)).await.unwrap();
    }
    f.run().await.unwrap();
    assert_eq!(f.explain_cache("answer", 3).unwrap().difference, None);
    let policy = CachePolicy::by_model("anthropic/claude-sonnet-4-5");
    let plan = |f: &Flow, step| f.cache_plan("answer", step, policy, Pace::batch()).unwrap().to_string();
    let before = plan(&f, 3);

    f.exclude("user", 2).await.unwrap();
    let prefix = f.explain_cache("answer", 3).unwrap();
    assert_eq!(prefix.difference.unwrap().to_string(), "the exclusion of `user` at step 2");
    let until: usize = f.messages("answer", 3).unwrap().parts().take(4).map(|part| part.text().len()).sum();
    assert_eq!(prefix.bytes, until);
    // The plan of a request that was sent stays as it was.
    assert_eq!(plan(&f, 3), before);

    let expected = f.forecast().input_tokens;
    assert_eq!(expected, 0);
    f.push("user", "And now?").await.unwrap();
    let forecast = f.forecast().input_tokens;
    f.run().await.unwrap();
    let messages = f.messages("answer", 4).unwrap();
    assert!(messages.tokens().abs_diff(forecast) < 10, "{forecast} for {}", messages.tokens());
    assert!(messages.tokens() < 4_500, "{}", messages.tokens());
    let plan = f.cache_plan("answer", 4, policy, Pace::batch()).unwrap();
    // The request before is repeated up to part 3, and the provider finds its entry there.
    assert!(plan.to_string().starts_with("after part 3, short lifetime"), "{plan}");
    assert_eq!(f.explain_cache("answer", 4).unwrap().difference, None);
    // Again, and without an effect.
    f.exclude("user", 2).await.unwrap();
    assert_eq!(f.explain_cache("answer", 4).unwrap().difference, None);
    f.include("user", 2).await.unwrap();
    let difference = f.explain_cache("answer", 4).unwrap().difference.unwrap();
    assert_eq!(difference.to_string(), "the exclusion of `user` at step 2");
}

#[tokio::test]
async fn persistent_cuts_begin_anew_with_an_exclusion() {
    let store = MemoryStore::new();
    let user = source("user");
    let budget = Budget::of(200).token_buffer(0).rolling_window().low_water(0.5);
    let declared = || [column("answer", (&user, this()), text.budget(budget.clone()))];
    let f = Flow::open(store.clone(), declared()).await.unwrap();
    let mut contexts = Vec::new();
    for step in 0..40 {
        f.push("user", format!("user {step} {}", "x".repeat(40))).await.unwrap();
        f.run().await.unwrap();
        if step == 20 {
            f.exclude("user", 19).await.unwrap();
            f.exclude("answer", 18).await.unwrap();
        }
        contexts.push(messages(&f, step));
        let report = f.messages("answer", step).unwrap().report().cloned().unwrap();
        assert!(report.after <= 200, "{report}");
    }
    assert!(!contexts[21].to_string().contains("user 19") && contexts[20].to_string().contains("user 19"));
    drop(f);
    // In another order, from nothing.
    let f = Flow::open(store, declared()).await.unwrap();
    for step in (0..40).rev() {
        assert_eq!(messages(&f, step), contexts[step], "at step {step}");
    }
    assert_eq!(messages(&f.fork(30).unwrap(), 29), contexts[29]);
}

#[tokio::test]
async fn exclusions_are_readable_and_checked_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Flow::open(FileStore::new(folder.path()), columns());
    let f = open().await.unwrap();
    push(&f, 2).await;
    f.run().await.unwrap();
    f.exclude("user", 0).await.unwrap();
    f.exclude("hint", 1).await.unwrap();
    f.include("user", 0).await.unwrap();
    let error = f.exclude("answer", 7).await.unwrap_err();
    assert_eq!(error.to_string(), "`answer` has no value at step 7: push or run first");
    assert!(matches!(f.exclude("usr", 0).await, Err(Error::UnknownColumn { .. })));
    drop(f);
    let second = folder.path().join("self.exclusions/1.txt");
    let text = std::fs::read_to_string(&second).unwrap();
    assert_eq!(text, r#"{"column":"hint","excluded":true,"since":2,"step":1}"#);

    let f = open().await.unwrap();
    push(&f, 1).await;
    f.run().await.unwrap();
    assert!(!messages(&f, 2).to_string().contains("hint 1"));
    assert!(messages(&f, 2).to_string().contains("user 0"));
}

#[tokio::test]
async fn a_column_whose_only_new_value_is_excluded_is_skipped() {
    let user = source("user");
    let late = column("late", prev("user"), text);
    let f = flow([late, user]).unwrap();
    f.push("user", "a").await.unwrap();
    f.push("user", "b").await.unwrap();
    f.exclude("user", 1).await.unwrap();
    f.push("user", "c").await.unwrap();
    f.run().await.unwrap();
    assert_eq!((f.get("late", 1).as_deref(), f.get("late", 2)), (Some("late 1"), None));
    assert!(matches!(f.messages("late", 2), Err(Error::Skipped { .. })));
}

#[tokio::test]
async fn typed_flows_exclude_by_their_fields() {
    let chat = flow! {
        source user;
        column answer(user, self) = text;
    };
    chat.user.push("secret").await.unwrap();
    chat.run().await.unwrap();
    chat.user.exclude(0).await.unwrap();
    chat.answer.exclude(0).await.unwrap();
    chat.user.push("Hello.").await.unwrap();
    chat.run().await.unwrap();
    assert_eq!(
        chat.answer.messages(1).unwrap().to_json(),
        r#"[{"role":"user","content":"<user>\nHello.\n</user>"}]"#
    );
    chat.answer.include(0).await.unwrap();
    chat.user.push("And?").await.unwrap();
    chat.run().await.unwrap();
    assert!(chat.answer.messages(2).unwrap().to_json().contains("answer 0"));
}

/// A step that began before the exclusion was known would have been sent with the cell.
#[tokio::test]
async fn an_exclusion_whose_call_was_dropped_counts_before_the_next_step() {
    let memory = MemoryStore::new();
    let held = on_put(memory.clone(), |inner, column, step, entry| async move {
        let put = inner.put(column.clone(), step, entry).await;
        if column == "self.exclusions" {
            std::future::pending::<()>().await;
        }
        put
    });
    let f = Flow::open(held, columns()).await.unwrap();
    push(&f, 2).await;
    f.run().await.unwrap();
    assert!(f.exclude("user", 1).now_or_never().is_none());
    push(&f, 1).await;
    f.run().await.unwrap();
    let sent = messages(&f, 2);
    assert!(!sent.to_string().contains("user 1"), "{sent}");
    drop(f);
    let f = Flow::open(memory, columns()).await.unwrap();
    assert_eq!(messages(&f, 2), sent);
}

#[tokio::test]
async fn an_exclusion_that_is_not_stored_changes_nothing() {
    let store = FaultyStore::default();
    let f = Flow::open(store.clone(), columns()).await.unwrap();
    push(&f, 2).await;
    f.run().await.unwrap();
    store.fail_next(Fail::Before);
    let error = f.exclude("user", 0).await.unwrap_err();
    assert!(matches!(error, Error::Store { step: 0, .. }), "{error}");
    push(&f, 1).await;
    f.run().await.unwrap();
    assert!(messages(&f, 2).to_string().contains("user 0"));
    // Nothing is stored for an exclusion without an effect.
    let puts = store.puts();
    f.include("user", 0).await.unwrap();
    assert_eq!(store.puts(), puts);
}

#[tokio::test]
async fn damaged_exclusions_are_errors_that_name_them() {
    for (at, text, expected) in [
        (0, "{}", "exclusion 0 of the flow in the store is damaged: it cannot be read"),
        (0, r#"{"column":"user","excluded":true,"step":4,"since":3}"#, "exclusion 0"),
        (1, r#"{"column":"user","excluded":true,"step":0,"since":1}"#, "exclusion 0 of the flow"),
    ] {
        let store = MemoryStore::new();
        let f = Flow::open(store.clone(), columns()).await.unwrap();
        push(&f, 1).await;
        f.run().await.unwrap();
        drop(f);
        store.open().await.unwrap();
        store.put(Name::new("self.exclusions").unwrap(), at, text.into()).await.unwrap();
        let error = Flow::open(store, columns()).await.map(drop).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn a_salvaged_flow_has_the_exclusions_before_the_first_damaged_one() {
    let (broken, copy) = (MemoryStore::new(), MemoryStore::new());
    let f = Flow::open(broken.clone(), columns()).await.unwrap();
    push(&f, 3).await;
    f.run().await.unwrap();
    f.exclude("user", 1).await.unwrap();
    drop(f);
    assert_eq!(reopen::verify(&broken).await.unwrap(), []);
    broken.put(Name::new("self.exclusions").unwrap(), 1, "exclude the rest".into()).await.unwrap();
    let defects = reopen::salvage(&broken, &copy).await.unwrap();
    let names: Vec<String> = defects.iter().map(ToString::to_string).collect();
    assert_eq!(names.len(), 1, "{names:?}");
    assert!(
        names[0].contains("self.exclusions") && names[0].contains("it is no exclusion of a cell"),
        "{names:?}"
    );
    let f = Flow::open(copy, columns()).await.unwrap();
    push(&f, 1).await;
    f.run().await.unwrap();
    let json = messages(&f, 3).to_string();
    assert!(!json.contains("user 1") && json.contains("user 0"), "{json}");
}

/// Its exclusion counts later than those of cells whose step has begun.
#[tokio::test]
async fn a_value_that_is_ahead_does_not_hold_up_other_exclusions() {
    let (user, docs) = (source("user"), source("docs"));
    let f = flow([column("answer", (&user, docs.latest().context()), text)]).unwrap();
    push(&f, 6).await;
    for text in ["d0", "d1"] {
        f.push("docs", text).await.unwrap();
    }
    f.exclude("user", 4).await.unwrap();
    f.exclude("user", 0).await.unwrap();
    for text in ["d2", "d3", "d4", "d5"] {
        f.push("docs", text).await.unwrap();
    }
    f.run().await.unwrap();
    let shows = |step, value: &str| messages(&f, step).to_string().contains(value);
    assert!(shows(1, "user 0") && !shows(2, "user 0") && !shows(5, "user 0"));
    assert!(shows(4, "user 4") && !shows(5, "user 4"));
    assert!(!messages(&f.fork(3).unwrap(), 2).to_string().contains("user 0"));
}

#[tokio::test]
async fn exclusions_follow_a_column_that_is_renamed_in_a_live_flow() {
    let store = MemoryStore::new();
    let user = source("user");
    let base = || [column("topics", user.latest(), text)];
    let f = Flow::open(store.clone(), base()).await.unwrap();
    push(&f, 2).await;
    f.run().await.unwrap();
    f.exclude("topics", 0).await.unwrap();
    drop(f);
    let subjects = column("subjects", user.latest(), text).was("topics");
    let report = column("report", (user.latest(), subjects.all()), text);
    let f = Flow::open(store.clone(), [user.clone()]).await.unwrap();
    f.add_column(subjects.clone()).await.unwrap();
    f.add_column(report.clone()).await.unwrap();
    push(&f, 1).await;
    f.run().await.unwrap();
    let sent = f.messages("report", 2).unwrap();
    assert!(!sent.to_json().contains("topics 0"), "{}", sent.to_json());
    drop(f);
    let f = Flow::open(store, [report]).await.unwrap();
    assert_eq!(f.messages("report", 2).unwrap(), sent);
}
