//! Values that another prompt, model, version or view computed than the flow has now.

use columnar::model::Model;
use columnar::prelude::*;
use columnar::reopen::{OpenOptions, StaleReason};
use columnar::store::{Entry, MemoryStore, Store};
use columnar::testing::ScriptedModel;
use columnar::{Column, Name, Prompt};
use columnar_tests::live::{Live, block_on, push_all};
use columnar_tests::log::Log;
use columnar_tests::strategies::flows;
use proptest::prelude::*;

type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

const TEXT: &str = "List the topics.";

/// The prompt that has computed the values of [`filled`].
fn declared() -> Prompt {
    prompt(TEXT).model("offline")
}

fn topics(step: Step<'static>) -> Column {
    column("topics", source("user").latest(), step)
}

fn scripted() -> ScriptedModel {
    ScriptedModel::new(|_| "tea".to_owned())
}

/// A store with three values of a column.
async fn filled(column: &Column) -> Result<MemoryStore> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [column]).await?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.run().await?;
    assert_eq!((f.stale().await?.cells, f.stale().await?.unknown), (vec![], 0), "computed just now");
    Ok(store)
}

/// The stale cells of `topics` in a flow, each as its step and reasons.
async fn stale(f: &Flow) -> Result<Vec<(usize, Vec<StaleReason>)>> {
    let stale = f.stale().await?;
    assert_eq!(stale.unknown, 0);
    assert!(stale.cells.iter().all(|cell| cell.column == "topics"), "{stale:?}");
    Ok(stale.cells.into_iter().map(|cell| (cell.step, cell.reasons)).collect())
}

/// The reasons that all three cells have when the store is opened with this column.
async fn reasons(store: &MemoryStore, column: Column) -> Result<Vec<StaleReason>> {
    let f = Flow::open(OpenOptions::new(store.clone()).keep("topics"), [column]).await?;
    let cells = stale(&f).await?;
    let first = cells.first().map(|(_, reasons)| reasons.clone()).unwrap_or_default();
    let expected = if first.is_empty() { vec![] } else { (0..3).map(|step| (step, first.clone())).collect() };
    assert_eq!(cells, expected);
    Ok(first)
}

#[tokio::test]
async fn each_change_of_a_declaration_is_a_reason_alone() -> Result<()> {
    let store = filled(&topics(Step::new(declared()))).await?;
    let of = |step: Step<'static>| reasons(&store, topics(step));
    assert_eq!(of(Step::new(declared())).await?, []);

    let prompts = [
        prompt("List the main topics.").model("offline"),
        declared().temperature(0.5),
        declared().top_p(0.5),
        declared().seed(7),
        declared().max_tokens(99),
        declared().effort(Effort::Low),
        declared().stop(["\n"]),
        declared().allow_truncated(),
        declared().allow_empty(),
        declared().strip_thoughts(),
    ];
    for prompt in prompts {
        assert_eq!(of(Step::new(prompt.clone())).await?, [StaleReason::Prompt], "{prompt:?}");
    }
    assert_eq!(of(declared().document()).await?, [StaleReason::Prompt]);
    let noted = column("topics", source("user").latest().note("The person."), declared());
    assert_eq!(reasons(&store, noted).await?, [StaleReason::Prompt]);

    let answered = StaleReason::Model { answered: "offline".into() };
    let other = of(Step::new(prompt(TEXT).model(scripted()))).await?;
    assert_eq!(other, std::slice::from_ref(&answered));
    assert_eq!(of(declared().version("2")).await?, [StaleReason::Version]);
    let wider = column("topics", source("user").window(2), declared());
    assert_eq!(reasons(&store, wider).await?, [StaleReason::Views]);

    let all = column("topics", source("user").window(2), prompt("Sum up.").model(scripted()).version("2"));
    let every = [StaleReason::Prompt, answered, StaleReason::Version, StaleReason::Views];
    assert_eq!(reasons(&store, all).await?, every);
    assert_eq!(of(Step::new(|_: Context| async { "tea" })).await?, [StaleReason::Prompt], "no prompt at all");
    assert_eq!(of(Step::new(declared())).await?, [], "back again");
    Ok(())
}

#[tokio::test]
async fn another_type_of_a_column_is_another_prompt() -> Result<()> {
    let model = || ScriptedModel::new(|_| r#"["tea"]"#.to_owned());
    let store = filled(&topics(prompt(TEXT).model(model()).typed::<Vec<String>>())).await?;
    let of = |step: Step<'static>| reasons(&store, topics(step));
    assert_eq!(of(prompt(TEXT).model(model()).typed::<Vec<String>>()).await?, []);
    assert_eq!(of(prompt(TEXT).model(model()).typed::<Vec<u8>>()).await?, [StaleReason::Prompt]);
    Ok(())
}

#[tokio::test]
async fn what_changes_no_reply_is_no_reason() -> Result<()> {
    let store = filled(&topics(Step::new(declared()))).await?;
    let steps = [
        Step::new(declared().lenient().cache_key("chat-17").keep_thoughts().or_model(scripted())),
        Step::new(prompt(TEXT).model(scripted()).or_model("offline")),
        declared().budget(500).retry(3).limit(1),
        declared().when(|_| true).or_skip(),
        Step::new(prompt(String::from(TEXT)).model(String::from("offline"))),
    ];
    for step in steps {
        assert_eq!(reasons(&store, topics(step)).await?, []);
    }
    Ok(())
}

/// The model and the system text of the flow belong to its prompts.
#[tokio::test]
async fn settings_of_the_flow_are_compared_as_well() -> Result<()> {
    let inherits = topics(Step::new(prompt(TEXT)));
    let f = flow([&inherits])?;
    f.set_model(scripted());
    f.set_system("Write French.");
    push_all(&f, "user", ["a"]).await?;
    f.run().await?;
    assert_eq!(stale(&f).await?, []);
    f.set_system("Write German.");
    assert_eq!(stale(&f).await?, [(0, vec![StaleReason::Prompt])]);
    push_all(&f, "user", ["b"]).await?;
    f.run().await?;
    assert_eq!(stale(&f).await?, [(0, vec![StaleReason::Prompt])]);
    f.set_model("offline");
    f.set_system("Write French.");
    let answered = StaleReason::Model { answered: scripted().name().into() };
    assert_eq!(stale(&f).await?, [(0, vec![answered.clone()]), (1, vec![StaleReason::Prompt, answered])]);
    Ok(())
}

#[tokio::test]
async fn a_function_has_a_version_and_views() -> Result<()> {
    let upper = || Log::default().upper("topics");
    let store = filled(&topics(upper().version("1"))).await?;
    assert_eq!(reasons(&store, topics(upper().version("1"))).await?, []);
    assert_eq!(reasons(&store, topics(upper().version("2"))).await?, [StaleReason::Version]);
    assert_eq!(reasons(&store, topics(Step::new(upper()))).await?, [StaleReason::Version]);
    let wider = column("topics", source("user"), upper().version("1"));
    assert_eq!(reasons(&store, wider).await?, [StaleReason::Views]);
    Ok(())
}

#[tokio::test]
async fn a_renamed_column_is_no_change() -> Result<()> {
    let columns = |user: &Column, name: &'static str| {
        let topics = column(name, user.latest(), declared()).was("topics");
        let mood = column("mood", (topics.latest(), this().latest()), declared());
        [topics, mood]
    };
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns(&source("user"), "topics")).await?;
    push_all(&f, "user", ["a", "b"]).await?;
    f.run().await?;
    drop(f);
    let said = source("said").was("user");
    let f = Flow::open(store, columns(&said, "subjects")).await?;
    assert_eq!((f.get("subjects", 1).is_some(), f.stale().await?.cells), (true, vec![]));
    assert_eq!(f.fork(1)?.stale().await?.cells, [], "a fork");
    let other = f.replace_column(column("mood", said.latest(), declared()))?;
    assert_eq!(other.stale().await?.cells, [], "with a replaced column");
    let copy = MemoryStore::new();
    let fork = f.fork_into(1, copy.clone()).await?;
    assert_eq!((fork.get("subjects", 0).is_some(), fork.stale().await?.cells), (true, vec![]));
    drop(fork);
    let f = Flow::open(copy, columns(&said, "subjects")).await?;
    assert_eq!((f.get("subjects", 0).is_some(), f.stale().await?.cells), (true, vec![]), "a copy");
    Ok(())
}

#[tokio::test]
async fn forks_and_replaced_columns_know_the_stale_cells_of_their_past() -> Result<()> {
    let user = source("user");
    let of =
        |name: &'static str, text: &'static str| column(name, user.latest(), prompt(text).model("offline"));
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [of("topics", TEXT), of("mood", "Name the mood.")]).await?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(store, [of("topics", "Sum up."), of("mood", "Name the mood.")]).await?;
    let fork = f.fork(2)?;
    let past: Vec<_> = (0..2).map(|step| (step, vec![StaleReason::Prompt])).collect();
    assert_eq!(stale(&fork).await?, past);
    push_all(&fork, "user", ["d"]).await?;
    fork.run().await?;
    assert_eq!(stale(&fork).await?, past, "the new cell is of the new prompt");
    let copy = f.fork_into(2, MemoryStore::new()).await?;
    assert_eq!(stale(&copy).await?, past);

    let other = f.replace_column(of("mood", "How do they feel?"))?;
    other.run().await?;
    assert_eq!(stale(&other).await?.len(), 3, "`mood` is computed again");
    let other = f.replace_column(of("topics", "Sum up."))?;
    other.run().await?;
    assert_eq!(stale(&other).await?, []);
    Ok(())
}

#[tokio::test]
async fn values_that_are_not_in_memory_are_compared_in_the_store() -> Result<()> {
    let store = MemoryStore::new();
    let odd = |text: &'static str| [topics(prompt(text).model(scripted()).when(|cx| cx.step() % 2 == 1))];
    let f = Flow::open(store.clone(), odd(TEXT)).await?;
    push_all(&f, "user", (0..600).map(|step| step.to_string())).await?;
    f.run().await?;
    drop(f);
    let expected: Vec<_> = (0..300).map(|at| (2 * at + 1, vec![StaleReason::Prompt])).collect();
    for recent in [0, 7, 600] {
        let f = Flow::open(OpenOptions::new(store.clone()).recent(recent), odd("Sum up.")).await?;
        assert_eq!(stale(&f).await?, expected, "{recent}");
        assert_eq!(f.bill().not_loaded(), 600 - recent.min(600), "nothing is loaded");
    }
    Ok(())
}

#[tokio::test]
async fn values_of_earlier_versions_are_unknown() -> Outcome {
    let store = MemoryStore::new();
    let column = topics(Step::new(declared()));
    let f = Flow::open(store.clone(), [&column]).await?;
    push_all(&f, "user", ["a", "b", "c", "d"]).await?;
    drop(f);
    let writer = store.clone();
    writer.open().await?;
    let earlier = [
        Entry::from("tea"),
        Entry::from("tea").with_receipt(r#"{"model":"offline","calls":1,"attempts":1,"ms":1}"#),
        Entry::SKIPPED,
    ];
    for (step, entry) in earlier.into_iter().enumerate() {
        writer.put(Name::new("topics")?, step, entry).await?;
    }
    drop(writer);
    for recent in [0, 9] {
        let f = Flow::open(OpenOptions::new(store.clone()).recent(recent), [&column]).await?;
        f.run().await?;
        let stale = f.stale().await?;
        assert_eq!((stale.cells, stale.unknown), (vec![], 2));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 500 }))]

    #[test]
    fn a_flow_that_is_opened_unchanged_has_no_stale_cell(described in flows(), recent in 0..4_usize, fork in 0..4_usize) {
        let outcome: Result<()> = block_on(async {
            let store = MemoryStore::new();
            let live = Live::open(store.clone(), &described).await?;
            live.fill(&described).await?;
            assert_eq!((live.flow.stale().await?.cells, live.flow.stale().await?.unknown), (vec![], 0));
            drop(live);
            let live = Live::open(OpenOptions::new(store).recent(recent), &described).await?;
            assert_eq!((live.flow.stale().await?.cells, live.flow.stale().await?.unknown), (vec![], 0));
            let fork = live.flow.fork(fork.min(described.steps()))?;
            assert_eq!((fork.stale().await?.cells, fork.stale().await?.unknown), (vec![], 0));
            Ok(())
        });
        outcome.expect("nothing fails");
    }
}
