//! Rehearsals: stored steps of a column under another step, with the contexts of then.

use std::path::Path;

use columnar::documents::Update;
use columnar::flow::Rehearsal;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{MemoryStore, ReadOnly, Store};
use columnar::testing::ScriptedModel;
use columnar::usage::SpendLimit;
use columnar::{Column, SkipReason};
use columnar_tests::live::{Live, block_on, push_all};
use columnar_tests::log::Log;
use columnar_tests::store::stores_on_disk;
use columnar_tests::strategies::flows;
use futures::future::join_all;
use proptest::prelude::*;

type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

flow! {
    /// A draft with a history of its own, and what is made of it.
    struct Desk(log: Log) {
        source ticket;
        column reply(ticket, self) = log.upper("reply");
        column mood(ticket.latest) = log.upper("mood");
        column sent(reply.latest)  = log.upper("sent");
    }
}

async fn desk(log: &Log, tickets: usize) -> Result<Desk> {
    let desk = Desk::new(log.clone());
    desk.ticket.push_all((0..tickets).map(|ticket| format!("ticket {ticket}"))).await?;
    desk.run().await?;
    Ok(desk)
}

/// A step that depends on the whole context, and on nothing else.
fn digest(cx: &Context) -> String {
    let bytes = cx.messages().to_json().into_bytes().into_iter();
    let sum = bytes.fold(7_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
    format!("{} {sum}", cx.step())
}

fn digests() -> Step<'static> {
    Step::new(|cx: Context| async move { digest(&cx) })
}

#[tokio::test]
async fn the_new_step_has_the_context_of_then_with_the_old_values_in_it() -> Result<()> {
    let log = Log::default();
    let desk = desk(&log, 4).await?;
    let other = Log::default();
    let rehearsal = desk.rehearse("reply").with(other.upper("other")).steps(1..3).await?;
    let forecast = rehearsal.forecast();
    assert_eq!((forecast.cells, other.calls(), log.calls()), (2, 0, 12));
    rehearsal.run().await?;
    for (row, step) in [1, 2].into_iter().enumerate() {
        assert_eq!(rehearsal.messages("new", row)?, desk.reply.messages(step)?);
        assert_eq!(other.saw("other", step), desk.reply.messages(step)?.to_json());
        assert_eq!(rehearsal.get("step", row).as_deref(), Some(&*step.to_string()));
        assert_eq!(rehearsal.get("old", row), desk.reply.get(step));
        let request = format!("<ticket>\nticket {step}\n</ticket>");
        assert_eq!(rehearsal.get("request", row).as_deref(), Some(&*request));
    }
    let comparison = rehearsal.comparison();
    assert_eq!((comparison.same(), comparison.different(), comparison.missing()), (2, 0, 0));
    assert_eq!((other.calls(), log.calls()), (2, 12), "nothing of the flow was computed again");
    Ok(())
}

#[tokio::test]
async fn the_context_is_that_of_the_new_prompt_within_the_same_budget() -> Result<()> {
    let model = ScriptedModel::new(|request| format!("{} messages", request.messages.len()));
    let f = flow([column(
        "reply",
        (source("user"), this()),
        prompt("Be brief.").model(model.clone()).budget(1_300),
    )])?;
    push_all(&f, "user", (0..20).map(|step| format!("question {step} {}", "word ".repeat(20)))).await?;
    f.run().await?;
    let long = "Answer with care. ".repeat(20);
    let rehearsal = f.rehearse("reply").with(prompt(&long).model(model).budget(1_300)).await?;
    rehearsal.run().await?;
    let [old, new] =
        [f.messages("reply", 19)?, rehearsal.messages("new", 19)?].map(|messages| messages.len());
    assert!(new < old, "the longer instruction leaves less: {new} of {old}");
    assert!(rehearsal.system("new", 19)?.starts_with("Answer with care."));
    Ok(())
}

#[tokio::test]
async fn documents_threads_and_exclusions_are_those_of_the_step() -> Outcome {
    let files = documents("files");
    let user = source("user");
    let coder = column("coder", (files.compacted().edits(), &user, this()), digests());
    let tiered = column("tiered", (files.tiered().target(0), &user, this()), digests());
    let critic = column("critic", coder.thread(), digests());
    let summary = column("summary", (user.window(2), critic.prev(), coder.latest()), digests());
    let f = flow([coder, tiered, critic, summary])?;
    for step in 0..8 {
        let text = format!("# Title\n{}", "a line that stays\n".repeat(40));
        let update = Update::new().file(format!("{}.md", step % 3), format!("{text}{step}\n"));
        f.push("files", update.to_text()?).await?;
        f.push("user", format!("question {step}")).await?;
        f.run().await?;
        if step == 4 {
            f.exclude("user", 2).await?;
        }
    }
    for name in ["coder", "tiered", "critic", "summary"] {
        let rehearsal = f.rehearse(name).await?;
        rehearsal.run().await?;
        assert_eq!(rehearsal.comparison().same(), 8, "{name}");
        for step in 0..8 {
            assert_eq!(rehearsal.messages("new", step)?, f.messages(name, step)?, "{name} {step}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_judge_reads_the_request_and_both_values() -> Result<()> {
    let desk = desk(&Log::default(), 3).await?;
    let judge = |cx: Context| async move {
        assert!(cx.input("request").is_some_and(|request| request.contains("<ticket>")));
        let words = |tag| cx.input(tag).map_or(0, |text| text.split_whitespace().count());
        let verdict = if words("new") < words("old") { "shorter" } else { "as long" };
        format!("{{\"verdict\": \"{verdict}\"}}")
    };
    let shorter = |cx: Context| async move {
        let all = cx.messages().last_text().to_uppercase();
        if cx.step() == 1 { "SHORT".to_owned() } else { all }
    };
    let rehearsal = desk.rehearse("reply").with(shorter).judge(judge).await?;
    assert_eq!(rehearsal.comparison().missing(), 3);
    rehearsal.run().await?;
    let comparison = rehearsal.comparison();
    assert_eq!((comparison.same(), comparison.different(), comparison.missing()), (2, 1, 0));
    assert!(comparison.steps[1].new.as_deref() == Some("SHORT") && !comparison.steps[1].is_same());
    assert_eq!(
        comparison.to_string(),
        "`reply`, 3 steps: 2 the same, 1 different\n\
         old  0 calls, 0 tokens in, 0 out, $0.00, 0.0 s\n\
         new  0 calls, 0 tokens in, 0 out, $0.00, 0.0 s\n\
         judgements: {\"verdict\": \"as long\"} 2, {\"verdict\": \"shorter\"} 1"
    );
    let hostile = desk.rehearse("reply").judge(|_: Context| async { "\u{1b}[2J" }).await?;
    hostile.run().await?;
    assert!(hostile.comparison().to_string().ends_with("0.0 s"), "such a judgement is not printed");
    Ok(())
}

#[tokio::test]
async fn the_values_of_a_typed_column_have_its_type() -> Result<()> {
    let desk = flow! {
        source ticket;
        column score(ticket.latest): u8 = |_: Context| async { "3" };
    };
    desk.ticket.push_all(["one", "two"]).await?;
    desk.run().await?;
    let wrong = desk.rehearse("score").with(|_: Context| async { "many" }).await?;
    let error = wrong.run().await.expect_err("it is no number");
    assert!(error.to_string().contains("`new` at step 0"), "{error}");

    // A model is told of the type, and of its mistake.
    let model = ScriptedModel::new(|request| {
        assert!(request.schema.is_some());
        if request.follow_up.is_empty() { "quite many" } else { "4" }.to_owned()
    });
    let judge = Step::new(|cx: Context| async move { format!("{:?}", cx.input("new").map(|new| new.len())) });
    let right = desk.rehearse("score").with(prompt("Rate it.").model(model)).judge(judge).await?;
    right.run().await?;
    assert_eq!(right.comparison().different(), 2);
    let adopted = right.adopt()?;
    assert_eq!(adopted.score.read(1)?, Some(4));
    Ok(())
}

#[tokio::test]
async fn an_adopted_column_has_the_new_values_and_computes_the_rest() -> Result<()> {
    let log = Log::default();
    let desk = desk(&log, 4).await?;
    let new = |cx: Context| async move { format!("new {}", cx.step()) };
    let rehearsal = desk.rehearse("reply").with(new).steps(..=2).await?;
    rehearsal.run().await?;
    let adopted = rehearsal.adopt()?;
    // The last reply, and whatever is sent.
    assert_eq!((adopted.forecast().cells, log.calls()), (5, 12));
    adopted.run().await?;
    assert_eq!((log.calls(), log.calls_of("mood", 0)), (16, 1));
    for step in 0..4 {
        assert_eq!(adopted.reply.get(step).as_deref(), Some(&*format!("new {step}")));
        assert_eq!(adopted.sent.get(step).as_deref(), Some(&*format!("<REPLY>\nNEW {step}\n</REPLY>")));
        assert_eq!(adopted.mood.get(step), desk.mood.get(step));
        assert!(desk.reply.get(step).is_some_and(|reply| reply.contains("TICKET")));
    }
    assert!(adopted.reply.messages(3)?.to_json().contains("new 2"));
    assert_eq!(adopted.stale().await?.cells, []);

    // For good, under the new declaration.
    let store = MemoryStore::new();
    drop(adopted.fork_into(4, store.clone()).await?);
    let desk = Desk::open(store, log.clone()).await?;
    assert_eq!((desk.steps(), desk.reply.get(2).as_deref()), (4, Some("new 2")));
    Ok(())
}

#[tokio::test]
async fn a_flow_at_run_time_adopts_as_it_replaces_a_column() -> Result<()> {
    let model = ScriptedModel::new(|_| "It is fine.".to_owned()).named("anthropic/claude-haiku-5-5");
    let user = source("user");
    let mood =
        column("mood", (group("all", user.latest()), this().latest()), prompt("Mood?").model(model.clone()));
    let report = column("report", mood.latest(), digests());
    let f = flow([report])?;
    push_all(&f, "user", ["one", "two", "three"]).await?;
    f.run().await?;
    let rehearsal = f.rehearse("mood").with(prompt("The mood?").model(model)).await?;
    rehearsal.run().await?;
    let adopted = rehearsal.adopt()?;
    assert_eq!(adopted.forecast().cells, 3, "the reports");
    adopted.run().await?;
    assert_eq!(adopted.system("mood", 0)?, "The mood?");
    assert_eq!(adopted.messages("mood", 2)?, f.messages("mood", 2)?);
    assert_eq!((adopted.stale().await?.cells, adopted.bill().column("mood").calls), (vec![], 3));
    Ok(())
}

#[tokio::test]
async fn a_rehearsal_goes_on_where_it_stopped_and_more_steps_may_follow() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    for (at, _) in stores_on_disk(folder.path()).iter().enumerate() {
        let folder = folder.path().join(at.to_string());
        std::fs::create_dir(&folder).expect("a folder");
        let store = || stores_on_disk(&folder).swap_remove(at);
        let desk = desk(&Log::default(), 6).await?;
        let (other, judge) = (Log::default(), Log::default());
        let begin = |count: usize| {
            let rehearsal = desk.rehearse("reply").with(other.upper("other")).steps(..count);
            rehearsal.judge(judge.upper("judge")).store(store())
        };
        let rehearsal = begin(4).await?;
        let mut run = rehearsal.run();
        while !matches!(run.try_next().await?, Some(Event::Value { step: 1, .. })) {}
        drop(run);
        drop(rehearsal);
        let rehearsal = begin(6).await?;
        assert_eq!(rehearsal.len("old")?, 6);
        rehearsal.run().await?;
        assert_eq!((rehearsal.comparison().same(), rehearsal.steps()), (6, 6));
        drop(rehearsal);
        let calls = other.calls();
        assert!((6..=6 + 4).contains(&calls), "only cells that were not stored are computed again");
        let rehearsal = begin(6).await?;
        rehearsal.run().await?;
        assert_eq!((other.calls(), rehearsal.adopt()?.reply.len()), (calls, 6));
    }
    Ok(())
}

#[tokio::test]
async fn another_rehearsal_in_the_store_is_refused() -> Result<()> {
    let store = MemoryStore::new();
    let model = ScriptedModel::new(|_| "new".to_owned());
    let desk = desk(&Log::default(), 3).await?;
    let begin =
        |text: &str| desk.rehearse("reply").with(prompt(text).model(model.clone())).store(store.clone());
    begin("Answer.").await?.run().await?;
    let said = |result: Result<Rehearsal<'_, '_, _, _>>| result.map(drop).unwrap_err().to_string();
    let expected = |reason: &str| {
        format!(
            "the store has another rehearsal of `reply`: {reason}; rehearse into an empty store, or as that rehearsal did"
        )
    };
    assert_eq!(said(begin("Answer well.").await), expected("`new` in row 0 has the value of another prompt"));
    assert_eq!(said(begin("Answer.").steps(1..).await), expected("row 0 is of another step"));
    assert_eq!(said(begin("Answer.").steps(..2).await), expected("row 2 is of another step"));
    let others = Desk::new(Log::default());
    others.ticket.push_all(["ticket 0", "ticket 7", "ticket 2"]).await?;
    others.run().await?;
    let other = others.rehearse("reply").with(prompt("Answer.").model(model.clone())).store(store.clone());
    assert_eq!(said(other.await), expected("row 1 has another old value"));
    assert_eq!(begin("Answer.").await?.comparison().different(), 3);
    Ok(())
}

#[tokio::test]
async fn limits_and_failures_are_those_of_any_run() -> Result<()> {
    let desk = desk(&Log::default(), 5).await?;
    let model = ScriptedModel::new(|_| "new".to_owned()).named("anthropic/claude-haiku-5-5");
    let rehearsal = desk.rehearse("reply").with(prompt("Answer.").model(model.clone())).await?;
    let forecast = rehearsal.forecast();
    assert_eq!((forecast.calls, forecast.columns.len()), (5, 1));
    let tokens: usize = (0..5).map(|step| desk.reply.messages(step).expect("it is stored").tokens()).sum();
    let instruction = forecast.input_tokens - tokens;
    assert!(instruction > 0 && instruction.is_multiple_of(5), "{forecast} for {tokens} tokens of contexts");
    rehearsal.set_spend_limit(SpendLimit::dollars(0.0));
    let error = rehearsal.run().await.expect_err("it costs something");
    assert!(error.to_string().contains("limit"), "{error}");
    assert_eq!(model.requests().len(), 0);

    let failing = |cx: Context| async move { if cx.step() == 2 { Err("no") } else { Ok("new") } };
    let rehearsal = desk.rehearse("reply").with(Step::new(failing).or_skip()).await?;
    rehearsal.run().await?;
    let comparison = rehearsal.comparison();
    assert_eq!((comparison.different(), comparison.missing()), (4, 1));
    assert!(comparison.to_string().starts_with("`reply`, 5 steps: 0 the same, 4 different, 1 missing\n"));
    assert_eq!(rehearsal.adopt()?.forecast().columns[0].cells, 1, "it is tried again");
    Ok(())
}

#[tokio::test]
async fn steps_without_a_value_are_left_out() -> Result<()> {
    let odd = |cx: Context| async move { if cx.step() % 2 == 1 { Err("no") } else { Ok("yes") } };
    let f = flow([column("reply", source("user").latest(), Step::new(odd).or_skip())])?;
    push_all(&f, "user", (0..5).map(|step| step.to_string())).await?;
    f.run().await?;
    assert!(matches!(f.cell("reply", 1)?, columnar::CellState::Skipped(Some(SkipReason::Failed { .. }))));
    f.push("user", "ahead").await?;
    let rehearsal = f.rehearse("reply").with(digests()).await?;
    rehearsal.run().await?;
    let steps: Vec<_> = rehearsal.comparison().steps.iter().map(|step| step.step).collect();
    assert_eq!(steps, [0, 2, 4]);
    let none = f.rehearse("reply").steps(5..).await?;
    none.run().await?;
    assert_eq!(none.comparison().steps.len(), 0);
    Ok(())
}

#[tokio::test]
async fn mistakes_are_named() -> Result<()> {
    let desk = desk(&Log::default(), 1).await?;
    let error = desk.rehearse("replly").await.map(drop).unwrap_err();
    assert!(error.to_string().contains("did you mean `reply`"), "{error}");
    let error = desk.rehearse("ticket").await.map(drop).unwrap_err();
    assert!(matches!(&error, Error::NotDerived { column } if *column == "ticket"), "{error}");
    let misplaced = Step::new(external()).retry(2);
    let error = desk.rehearse("reply").with(misplaced).await.map(drop).unwrap_err();
    assert!(error.to_string().contains("`new` has `retry`"), "{error}");
    Ok(())
}

/// The flow has its last steps alone in memory.
#[tokio::test]
async fn values_that_are_not_in_memory_are_loaded() -> Result<()> {
    let store = MemoryStore::new();
    let log = Log::default();
    let desk = Desk::open(store.clone(), log.clone()).await?;
    desk.ticket.push_all((0..10).map(|ticket| ticket.to_string())).await?;
    desk.run().await?;
    drop(desk);
    let desk = Desk::open(OpenOptions::new(store).recent(2), log.clone()).await?;
    let rehearsal = desk.rehearse("reply").await?;
    rehearsal.run().await?;
    assert_eq!((rehearsal.comparison().same(), log.calls()), (10, 40));
    Ok(())
}

/// All entries of a flow.
async fn contents(store: &MemoryStore) -> String {
    let store = &ReadOnly::new(store.clone());
    let text = store.open().await.expect("it can be read");
    let names = ["user", "notes", "user_2", "topics", "use", "k", "elided", "step", "request", "old", "new"];
    let columns = join_all(names.map(|name| async move {
        let name = columnar::Name::new(name).expect("a name");
        let steps = store.stored_steps(name.clone()).await.expect("it can be read");
        let entries = store.load(name, 0..steps.prefix.max(64)).await.expect("it can be read");
        format!("{steps:?} {entries:?}")
    }));
    format!("{text:?} {:?}", columns.await)
}

/// The bytes of all files in a folder.
fn bytes(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.clone(), std::fs::read(path).expect("a file")));
            }
        }
    }
    files.sort();
    files
}

#[tokio::test]
async fn no_store_of_the_flow_has_another_byte_after_a_rehearsal() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    for (at, store) in stores_on_disk(folder.path()).into_iter().enumerate() {
        let columns = || -> [Column; 1] { [column("reply", (source("user"), this()), digests())] };
        let f = Flow::open(store, columns()).await?;
        push_all(&f, "user", ["one", "two", "three"]).await?;
        f.run().await?;
        let before = bytes(folder.path());
        let rehearsal = f.rehearse("reply").with(prompt("Answer.").model("offline")).await?;
        rehearsal.run().await?;
        rehearsal.adopt()?.run().await?;
        assert!(before == bytes(folder.path()), "store {at}");
        drop(rehearsal);
        drop(f);
    }
    Ok(())
}

#[tokio::test]
async fn a_rehearsal_can_be_a_task() -> Result<()> {
    let desk = desk(&Log::default(), 2).await?;
    let task = tokio::spawn(async move {
        let rehearsal = desk.rehearse("reply").with(digests()).await?;
        rehearsal.run().await?;
        Ok::<_, Error>(rehearsal.comparison().different())
    });
    assert_eq!(task.await.expect("it does not panic")?, 2);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// The same step of a deterministic model says the same in the same contexts, and the flow does not change.
    #[test]
    fn a_rehearsal_of_the_same_step_shows_no_difference(described in flows(), at in any::<usize>()) {
        block_on(async {
            let store = MemoryStore::new();
            let live = Live::open(store.clone(), &described).await.expect("it is new");
            live.fill(&described).await.expect("nothing fails");
            let before = contents(&store).await;
            let derived: Vec<_> = described.columns.iter().filter(|column| column.reads.is_some()).collect();
            let name = &derived[at % derived.len()].name;
            let rehearsal = live.flow.rehearse(name).await.expect("a derived column");
            let steps = rehearsal.comparison().steps.len();
            assert_eq!(rehearsal.forecast().cells, steps);
            rehearsal.run().await.expect("nothing fails");
            let comparison = rehearsal.comparison();
            assert_eq!((comparison.same(), comparison.missing()), (steps, 0));
            for (row, compared) in comparison.steps.iter().enumerate() {
                let messages = rehearsal.messages("new", row).expect("it was computed");
                assert_eq!(messages, live.flow.messages(name, compared.step).expect("it was computed"));
            }
            let adopted = rehearsal.adopt().expect("the column is there");
            adopted.run().await.expect("nothing fails");
            for column in &derived {
                for step in 0..described.steps() {
                    assert_eq!(adopted.get(&column.name, step), live.flow.get(&column.name, step));
                }
            }
            assert_eq!(before, contents(&store).await);
        });
    }
}
