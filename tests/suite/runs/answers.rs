//! Cells that are answered from outside: who answers late, twice, never, wrongly, elsewhere, or at the same time.

use std::sync::Arc;

use columnar::compute::{External, IntoStep, Policy};
use columnar::data::Declaration;
use columnar::prelude::*;
use columnar::reopen::{ColumnChange, OpenOptions};
use columnar::service::{Follower, Position};
use columnar::store::{MemoryStore, Store};
use columnar::usage::{Dollars, Total};
use columnar::{CellState, Column, PendingCell, SkipReason};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::store::{Fail, Faults, FaultyStore, stores_on_disk};
use futures::FutureExt;
use futures::future::join;
use proptest::prelude::*;

type Outcome = std::result::Result<(), Box<dyn std::error::Error>>;

flow! {
    /// A person approves what a model has written.
    struct Desk(log: Log) {
        source ticket;
        column draft(ticket.latest) = log.upper("draft");
        column reply(draft.latest, ticket.latest) =
            external().default(|cx| cx.input("draft").cloned().ok_or("no draft"));
        column sent(reply.latest)  = log.upper("sent");
        column report(draft, self) = log.upper("report");
    }
}

/// The same columns at run time.
fn columns(log: &Log) -> [Column; 4] {
    columns_with(log, external().default(|cx| cx.input("draft").cloned().ok_or("no draft")).into_step())
}

fn columns_with(log: &Log, approve: Step<'static>) -> [Column; 4] {
    let ticket = source("ticket");
    let draft = column("draft", ticket.latest(), log.upper("draft"));
    let reply = column("reply", [draft.latest(), ticket.latest()], approve);
    let sent = column("sent", reply.latest(), log.upper("sent"));
    [draft, reply, sent, column("alone", ticket.all(), log.upper("alone"))]
}

fn steps(pending: &[PendingCell]) -> Vec<usize> {
    pending.iter().map(|cell| cell.step).collect()
}

#[tokio::test]
async fn h1_a_run_ends_when_only_answers_are_missing() -> Result<()> {
    let log = Log::default();
    let desk = Desk::new(log.clone());
    for ticket in ["one", "two", "three"] {
        desk.ticket.push(ticket).await?;
    }
    let events: Vec<_> = desk.run().try_collect().await?;
    let asked: Vec<_> =
        events.iter().filter(|event| matches!(event, Event::Pending { .. })).map(Event::step).collect();
    assert_eq!((asked, log.calls()), (vec![0, 1, 2], 6), "three drafts and three reports");
    assert_eq!(desk.run().try_collect::<Vec<_>>().await?, [], "nobody is asked twice");

    let pending = desk.reply.pending()?;
    assert_eq!(steps(&pending), [0, 1, 2]);
    assert_eq!(pending[1].messages, desk.reply.messages(1)?);
    assert_eq!(pending[1].proposal, desk.draft.get(1));
    assert!(pending[1].messages.last_text().contains("two"));
    let progress = desk.progress();
    assert_eq!((progress.pending, progress.waiting, progress.done), (3, 3, 6));
    assert_eq!(progress.to_string(), "6 of 12 cells are done; 3 pending, 3 waiting");
    assert_eq!((desk.reply.cell(1), desk.sent.cell(1)), (CellState::Pending, CellState::Waiting));
    assert_eq!(desk.forecast().to_string(), "nothing to compute; 3 cells wait for an answer");

    desk.reply.answer(1, "Yes.").await?;
    assert_eq!(desk.reply.get(1).as_deref(), Some("Yes."));
    let events: Vec<_> = desk.run().try_collect().await?;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((desk.sent.get(1).as_deref(), log.calls_of("sent", 1)), (Some("<REPLY>\nYES.\n</REPLY>"), 1));
    assert_eq!(steps(&desk.reply.pending()?), [0, 2]);
    assert_eq!(desk.steps(), 0, "a step is complete with all its cells");
    Ok(())
}

#[tokio::test]
async fn h2_an_answer_is_given_once_and_the_second_is_an_error() -> Result<()> {
    let desk = Desk::new(Log::default());
    desk.ticket.push("one").await?;
    let early = desk.reply.answer(0, "Yes.").await.unwrap_err();
    assert_eq!(early.to_string(), "`draft` has no value at step 0: push or run first");
    desk.run().await?;
    desk.reply.accept(0).await?;
    for again in
        [desk.reply.answer(0, "No.").await, desk.reply.accept(0).await, desk.reply.decline(0, "No.").await]
    {
        let error = again.unwrap_err();
        assert!(
            matches!(error, Error::Answered { step: 0, since: Some(_), is_declined: false, .. }),
            "{error:?}"
        );
        assert!(
            error.to_string().starts_with("`reply` at step 0 is answered already, since 0 s: "),
            "{error}"
        );
        assert!(!format!("{error:?}").contains("ONE"), "an error has no conversation");
    }
    assert_eq!(desk.reply.get(0), desk.draft.get(0));
    let late = desk.reply.answer(1, "Yes.").await.unwrap_err();
    assert_eq!(late.to_string(), "`ticket` has no value at step 1: push or run first");
    let computed = desk.draft.answer(0, "Yes.").await.unwrap_err();
    assert_eq!(
        computed.to_string(),
        "nobody answers the cells of `draft`; the columns that are answered are `reply`"
    );
    let unknown = desk.answer("replay", 0, "Yes.").await.unwrap_err();
    assert!(unknown.to_string().contains("did you mean `reply`"), "{unknown}");
    Ok(())
}

#[tokio::test]
async fn h2_of_two_answers_at_the_same_time_one_is_the_value() -> Result<()> {
    let desk = Desk::new(Log::default());
    desk.ticket.push("one").await?;
    desk.run().await?;
    let both = join(desk.reply.answer(0, "Yes."), desk.reply.answer(0, "No.")).await;
    assert!(both.0.is_ok() && matches!(both.1, Err(Error::Answered { .. })), "{both:?}");
    assert_eq!(desk.reply.get(0).as_deref(), Some("Yes."));
    Ok(())
}

/// The receipt tells what was proposed, after a restart and in a fork as well.
#[tokio::test]
async fn h1_another_process_answers_and_the_receipt_has_what_was_edited() -> Outcome {
    let folder = tempfile::tempdir()?;
    let kinds = stores_on_disk(folder.path()).len();
    for kind in 0..kinds {
        let store = || stores_on_disk(folder.path()).swap_remove(kind);
        let log = Log::default();
        let desk = Desk::open(store(), log.clone()).await?;
        for ticket in ["one", "two", "three"] {
            desk.ticket.push(ticket).await?;
        }
        desk.run().await?;
        desk.reply.accept(0).await?;
        desk.reply.answer(2, "Edited.").await?;
        drop(desk);

        let desk = Desk::open(store(), log.clone()).await?;
        let calls = log.calls();
        assert_eq!(steps(&desk.reply.pending()?), [1], "before any run");
        let answer = |step| desk.reply.receipt(step).and_then(|receipt| receipt.answer.clone());
        let [first, second] = [0, 2].map(|step| answer(step).expect("it is answered"));
        assert_eq!((first.is_proposal, first.edited), (true, None));
        assert_eq!((second.is_proposal, second.edited.as_deref()), (false, desk.draft.get(2).as_deref()));
        assert!(first.at <= second.at && answer(1).is_none());
        assert!(matches!(desk.reply.answer(2, "No.").await, Err(Error::Answered { since: Some(_), .. })));
        let events: Vec<_> = desk.run().try_collect().await?;
        assert!(events.iter().any(|event| matches!(event, Event::Pending { step: 1, .. })), "{events:?}");
        assert_eq!(log.calls() - calls, 2, "the answers of the process before are sent, and nothing else");

        let fork = desk.fork(2)?;
        assert_eq!(steps(&fork.reply.pending()?), [1]);
        fork.reply.answer(1, "In the fork.").await?;
        assert_eq!((desk.reply.get(1), steps(&desk.reply.pending()?)), (None, vec![1]));
        assert_eq!(fork.reply.receipt(0), desk.reply.receipt(0));
        let bill = desk.bill();
        assert_eq!(bill.receipts().count(), 2);
        let total: Total = bill.receipts().map(|(.., receipt)| receipt).collect();
        assert_eq!((total.calls, total.unpriced, total.cost), (0, 0, Dollars::ZERO));
    }
    Ok(())
}

#[tokio::test]
async fn h7_an_answer_during_a_run_is_used_by_that_run() -> Result<()> {
    let desk = Desk::new(Log::default());
    desk.ticket.push("one").await?;
    let mut run = desk.run();
    let mut seen = Vec::new();
    while let Some(event) = run.try_next().await? {
        if let Event::Pending { step, .. } = event {
            desk.reply.answer(step, "Yes.").await?;
        }
        seen.push((format!("{:?}", event.column()), matches!(event, Event::Value { .. })));
    }
    let order = ["Draft", "Reply", "Reply", "Sent"];
    let seen: Vec<_> = seen.iter().filter(|(column, _)| column != "Report").collect();
    assert!(seen.iter().map(|(column, _)| column.as_str()).eq(order), "{seen:?}");
    assert_eq!(desk.steps(), 1);
    Ok(())
}

/// Answers out of order during one run: each has its event, and nobody waits for an answer that does not come.
#[tokio::test]
async fn h7_answers_come_in_any_order() -> Result<()> {
    let f = flow(columns(&Log::default()))?;
    push_all(&f, "ticket", ["a", "b", "c"]).await?;
    let mut run = f.run();
    let mut replies = Vec::new();
    let mut sent = Vec::new();
    let mut answers = vec![2, 0];
    while let Some(event) = run.try_next().await? {
        if let Event::Pending { step: 2, .. } = event {
            for step in answers.drain(..) {
                f.accept("reply", step).await?;
            }
        }
        match event {
            Event::Value { column, step, .. } if column == "reply" => replies.push(step),
            Event::Value { column, step, .. } if column == "sent" => sent.push(step),
            _ => {}
        }
    }
    replies.sort_unstable();
    sent.sort_unstable();
    assert_eq!((replies, sent), (vec![0, 2], vec![0, 2]));
    assert_eq!(steps(&f.pending()?), [1]);
    Ok(())
}

#[tokio::test]
async fn h6_a_refusal_follows_the_policy_of_the_column() -> Result<()> {
    let columns = |policy: fn(External) -> Step<'static>| {
        let reply = column("reply", source("ticket").latest(), policy(external()));
        let sent = column("sent", reply.latest(), Log::default().upper("sent"));
        [reply, sent]
    };
    // Skipped at once, with the reason, and for good.
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns(Policy::or_skip)).await?;
    push_all(&f, "ticket", ["spam", "ham"]).await?;
    f.decline("reply", 0, "spam").await?;
    let declined = CellState::Skipped(Some(SkipReason::Declined("spam".into())));
    assert_eq!(f.cell("reply", 0)?, declined);
    assert!(matches!(f.answer("reply", 0, "Yes.").await, Err(Error::Answered { is_declined: true, .. })));
    f.run().await?;
    assert_eq!((f.get("sent", 0), f.cell("sent", 0)?), (None, CellState::Skipped(Some(SkipReason::Inputs))));
    drop(f);
    let f = Flow::open(store, columns(Policy::or_skip)).await?;
    assert_eq!((f.cell("reply", 0)?, steps(&f.pending()?)), (declined, vec![1]));

    // The next run fails with the reason, and asks again.
    for policy in [|reply: External| reply.or_wait(), |reply: External| reply.into_step()] {
        let f = flow(columns(policy))?;
        push_all(&f, "ticket", ["spam"]).await?;
        f.run().await?;
        f.decline("reply", 0, "ask again").await?;
        let mut events = Vec::new();
        let mut run = f.run();
        let ended = loop {
            match run.try_next().await {
                Ok(Some(event)) => events.push(event),
                other => break other.map(drop),
            }
        };
        let failed = events.iter().find_map(|event| match event {
            Event::Failed { error, .. } => Some(error.clone()),
            _ => None,
        });
        match ended {
            Ok(()) => assert_eq!(failed.as_deref(), Some("declined: ask again")),
            Err(error) => assert_eq!(
                error.to_string(),
                "`reply` at step 0 was declined: ask again; the next run asks again"
            ),
        }
        drop(run);
        assert_eq!((f.progress().pending, f.progress().failed), (1, 0));
        let again: Vec<_> = f.run().try_collect().await?;
        assert!(matches!(&again[..], [Event::Pending { step: 0, .. }]), "{again:?}");
        // Who answers after all takes the refusal back.
        f.decline("reply", 0, "no").await?;
        f.answer("reply", 0, "Yes.").await?;
        f.run().await?;
        assert_eq!(f.steps(), 1);
    }
    Ok(())
}

/// A view with a filter asks for the cells that pass it alone; an interval for the steps of the interval.
#[tokio::test]
async fn cells_with_nothing_to_read_are_not_asked_for() -> Result<()> {
    let ticket = source("ticket");
    let risky = column("risky", ticket.latest().filter(|text| text.contains('!')), external());
    let weekly = column("weekly", ticket.window(2), external().every(2));
    let f = flow([&risky, &weekly])?;
    push_all(&f, "ticket", ["calm", "now!", "calm"]).await?;
    let pending: Vec<_> = f.pending()?.into_iter().map(|cell| (cell.column.to_string(), cell.step)).collect();
    assert_eq!(pending, [("risky".to_owned(), 1), ("weekly".to_owned(), 1)], "before any run");
    assert!(matches!(f.answer("risky", 0, "x").await, Err(Error::Skipped { .. })));
    f.run().await?;
    assert_eq!(f.progress().to_string(), "0 of 6 cells are done; 4 skipped, 2 pending");
    assert_eq!(f.cell("weekly", 0)?, CellState::Skipped(Some(SkipReason::Every)));
    Ok(())
}

#[tokio::test]
async fn a_policy_of_computations_is_an_error_before_the_run() -> Result<()> {
    let steps: [(&str, Step<'static>); 5] = [
        ("retry", external().retry(3)),
        ("timeout", external().timeout(secs(1))),
        ("limit", external().limit(1)),
        ("rate", external().rate(per_minute(1))),
        ("when", external().when(|_| true)),
    ];
    for (policy, step) in steps {
        let error = flow([column("reply", source("ticket").latest(), step)]).unwrap_err().to_string();
        assert!(error.contains(&format!("`{policy}`, but nothing computes its values")), "{error}");
    }
    // A typed flow is checked by rustc alone, and by the run before anything is computed.
    let typed = flow! {
        source ticket;
        column reply(ticket.latest) = external().retry(3);
    };
    typed.ticket.push("one").await?;
    let error = typed.run().await.unwrap_err().to_string();
    assert!(error.contains("`reply` has `retry`, but nothing computes its values"), "{error}");
    Ok(())
}

#[tokio::test]
async fn h5_without_a_proposal_there_is_nothing_to_accept() -> Result<()> {
    for (step, reason) in [
        (external(), "the column has none"),
        (external().default(|_| Err::<String, _>("no draft yet")), "no draft yet"),
        (external().default(|_| -> String { panic!("a secret") }), "its function panicked"),
    ] {
        let f = flow([column("reply", source("ticket").latest(), step)])?;
        f.push("ticket", "one").await?;
        assert_eq!(f.pending()?[0].proposal, None);
        let error = f.accept("reply", 0).await.unwrap_err().to_string();
        assert!(error.contains(reason) && error.contains("`answer(0, text)`"), "{error}");
        f.answer("reply", 0, "Yes.").await?;
    }
    Ok(())
}

#[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Verdict {
    refund: bool,
}

#[tokio::test]
async fn h5_an_answer_of_a_typed_column_is_checked() -> Result<()> {
    let desk = flow! {
        source ticket;
        column verdict(ticket.latest): Verdict =
            external().default(|_| columnar::Json(Verdict { refund: false }));
        column broken(ticket.latest): Verdict = external().default(|_| "maybe");
    };
    desk.ticket.push("one").await?;
    desk.ticket.push("two").await?;
    for wrong in ["yes", "{}", r#"{"refund": "secret"}"#] {
        let error = desk.verdict.answer(0, wrong).await.unwrap_err();
        assert!(
            error.to_string().starts_with("the answer for `verdict` at step 0 was not stored: "),
            "{error}"
        );
        assert!(!format!("{error} {error:?}").contains("secret"));
    }
    assert_eq!(desk.verdict.cell(0), CellState::Pending);
    desk.verdict.answer(0, "```json\n{\"refund\": true}\n```").await?;
    assert_eq!(desk.verdict.read(0)?, Some(Verdict { refund: true }));
    desk.verdict.accept(1).await?;
    assert_eq!(desk.verdict.read(1)?, Some(Verdict { refund: false }));
    assert!(matches!(desk.broken.accept(1).await, Err(Error::NoProposal { .. })));
    Ok(())
}

/// The disk is full, or the connection is lost after the write: the first answer that was stored stays.
#[tokio::test]
async fn h3_an_answer_that_is_not_confirmed_is_stored_once() -> Result<()> {
    for (how, is_stored) in [(Fail::Before, false), (Fail::After, true)] {
        let inner = MemoryStore::new();
        let store = FaultyStore::new(inner.clone(), Faults::default());
        let f = Flow::open(store.clone(), columns(&Log::default())).await?;
        push_all(&f, "ticket", ["one"]).await?;
        f.run().await?;
        store.fail_next(how);
        let error = f.answer("reply", 0, "Yes.").await.unwrap_err();
        assert!(matches!(error, Error::Store { step: 0, .. }), "{error}");
        assert_eq!(f.cell("reply", 0)?, CellState::Pending);
        let again = f.answer("reply", 0, "No.").await;
        assert_eq!(matches!(again, Err(Error::Answered { .. })), is_stored, "{again:?}");
        let value = if is_stored { "Yes." } else { "No." };
        assert_eq!(f.get("reply", 0).as_deref(), Some(value));
        drop((f, store));
        let f = Flow::open(inner, columns(&Log::default())).await?;
        assert_eq!(f.get("reply", 0).as_deref(), Some(value));
    }
    Ok(())
}

/// Who answers and leaves before the store has confirmed it has answered.
#[tokio::test]
async fn h3_a_dropped_answer_is_the_first_one() -> Result<()> {
    let store = FaultyStore::default();
    let f = Flow::open(store.clone(), columns(&Log::default())).await?;
    push_all(&f, "ticket", ["one"]).await?;
    f.run().await?;
    store.close();
    assert!(f.answer("reply", 0, "Yes.").now_or_never().is_none());
    store.let_through(10);
    let second = f.answer("reply", 0, "No.").await;
    // The first call may have stopped before the write or after it; the flow and the store agree in any case.
    let value = f.get("reply", 0).expect("it is answered");
    assert_eq!(second.is_ok(), &*value == "No.", "{second:?}");
    Ok(())
}

#[tokio::test]
async fn h4_a_removed_column_and_a_computed_one_are_not_answered() -> Result<()> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns(&Log::default())).await?;
    push_all(&f, "ticket", ["one", "two"]).await?;
    f.run().await?;
    f.answer("reply", 0, "Yes.").await?;
    f.remove_with_dependents("reply").await?;
    assert!(matches!(f.answer("reply", 1, "Yes.").await, Err(Error::UnknownColumn { .. })));
    assert_eq!(f.pending()?, []);
    drop(f);

    let f = Flow::open(store.clone(), columns(&Log::default())).await?;
    assert_eq!((f.get("reply", 0).as_deref(), steps(&f.pending()?)), (Some("Yes."), vec![1]));
    drop(f);

    let computed = || columns_with(&Log::default(), Step::new(Log::default().upper("reply")));
    let drift = match Flow::open(store.clone(), computed()).await {
        Err(Error::Drift(drift)) => drift,
        other => panic!("{other:?}"),
    };
    assert!(
        matches!(drift.changes(), [ColumnChange::External { column, was_external: true }] if *column == "reply"),
        "{drift:?}"
    );
    assert!(drift.to_string().starts_with(
        "the stored values of `reply` are answers, and the column now computes them: to keep them"
    ));
    let f = Flow::open(OpenOptions::new(store).keep("reply"), computed()).await?;
    f.run().await?;
    assert_eq!((f.get("reply", 0).as_deref(), f.progress().pending, f.steps()), (Some("Yes."), 0, 2));
    Ok(())
}

#[tokio::test]
async fn subscriptions_tell_what_waits_and_what_was_answered() -> Result<()> {
    let desk = Desk::new(Log::default()).spawn();
    let mut events = desk.subscribe();
    desk.ticket.push("one").await?;
    while !matches!(events.next().await, Some(Event::Pending { step: 0, .. })) {}
    desk.settled().await?;
    // A client that comes later learns of it as well.
    let mut late = desk.subscribe();
    while !matches!(late.next().await, Some(Event::Pending { .. })) {}
    let completed = desk.completed(0);
    desk.reply.answer(0, "Yes.").await?;
    completed.await?;
    assert_eq!(desk.sent.get(0).as_deref(), Some("<REPLY>\nYES.\n</REPLY>"));
    for events in [&mut events, &mut late] {
        let value = loop {
            if let Some(Event::Value { column: DeskColumn::Reply, value, .. }) = events.next().await {
                break value;
            }
        };
        assert_eq!(&*value, "Yes.");
    }
    let mut last = desk.subscribe_from(&Position::START);
    let mut rest = Vec::new();
    while rest.len() < 4 {
        rest.push(last.next().await.expect("the flow is open"));
    }
    assert!(!rest.iter().any(|event| matches!(event, Event::Pending { .. })), "{rest:?}");
    Ok(())
}

#[tokio::test]
async fn a_declaration_as_data_has_external_columns() -> Outcome {
    let text = r#"
        sources = ["ticket"]
        [[columns]]
        name = "reply"
        views = ["ticket.latest"]
        external = true
        or_skip = true
    "#;
    let steps: [(&str, Step<'static>); 0] = [];
    let f = flow(toml::from_str::<Declaration>(text)?.to_columns(steps))?;
    f.push("ticket", "one").await?;
    f.decline("reply", 0, "no").await?;
    assert_eq!(f.steps(), 1);
    let outline = f.outline();
    let reply = outline.columns.iter().find(|column| column.name == "reply").expect("a column");
    assert!(reply.is_external);
    assert_eq!(
        outline.to_string(),
        "ticket  level 0  source\nreply   level 1  external     at most 1 value\n"
    );
    assert!(outline.mermaid().contains("reply[/reply/]") && outline.dot().contains("reply\\nexternal"));
    for (wrong, message) in [
        ("prompt = \"Answer.\"", "has both `prompt` and `external`"),
        ("retry = 2", "has `retry`, but nothing computes its values"),
        ("model = \"offline\"", "has the setting `model`, which only prompts have"),
    ] {
        let text = format!("{text}\n{wrong}");
        let steps: [(&str, Step<'static>); 0] = [];
        let error =
            flow(toml::from_str::<Declaration>(&text)?.to_columns(steps)).map(drop).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    Ok(())
}

/// A flow without its program still knows who is waiting.
#[tokio::test]
async fn a_stored_flow_knows_its_pending_cells() -> Result<()> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns(&Log::default())).await?;
    push_all(&f, "ticket", ["one", "two"]).await?;
    f.run().await?;
    f.answer("reply", 0, "Yes.").await?;
    let reader = Flow::open_stored(store.clone()).await?;
    assert_eq!(steps(&reader.pending()?), [1]);
    assert_eq!(reader.pending()?[0].messages.to_json(), f.pending()?[0].messages.to_json());
    assert!(matches!(reader.answer("reply", 1, "Yes.").await, Err(Error::Store { .. })));
    assert_eq!(reader.get("reply", 1), None);
    // A follower tells of it once, when all that is stored was read.
    let mut follower = Follower::new(store, &Position::START);
    for _ in 0..f.progress().done + f.len("ticket")? {
        assert!(matches!(follower.next().await?, Event::Value { .. }));
    }
    assert!(matches!(follower.next().await?, Event::Pending { column, step: 1 } if column == "reply"));
    assert!(follower.next().now_or_never().is_none());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// A flow whose answers come in any order, over any number of processes, is the flow that computes the same texts.
    #[test]
    fn h7_answers_are_as_good_as_computed_values(order in Just((0..6).collect::<Vec<usize>>()).prop_shuffle(), restarts in proptest::collection::vec(any::<bool>(), 6), is_running in any::<bool>()) {
        let declared = |log: &Log, is_external: bool| {
            let ticket = source("ticket");
            let draft = column("draft", ticket.latest(), log.upper("draft"));
            let step = if is_external {
                Step::new(external())
            } else {
                Step::new(|cx: Context| async move { format!("answer {}", cx.step()) })
            };
            let reply = column("reply", (&draft, this().latest()), step);
            let sent = column("sent", [reply.window(2), ticket.latest()], log.upper("sent"));
            let last = column("last", [sent.all(), this()], log.upper("last"));
            [draft, reply, sent, last]
        };
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            let computed = flow(declared(&Log::default(), false)).unwrap();
            push_all(&computed, "ticket", (0..6).map(|step| format!("ticket {step}"))).await.unwrap();
            computed.run().await.unwrap();

            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            let log = Log::default();
            let mut f = Flow::open(Arc::clone(&store), declared(&log, true)).await.unwrap();
            push_all(&f, "ticket", (0..6).map(|step| format!("ticket {step}"))).await.unwrap();
            // A reply reads the reply before, so one is pending at a time; the order says who tries first.
            let mut left: Vec<usize> = order;
            for is_restarted in restarts.iter().cycle() {
                if left.is_empty() {
                    break;
                }
                if is_running {
                    f.run().await.unwrap();
                } else {
                    let _ = f.run().next().await;
                }
                if *is_restarted {
                    drop(f);
                    f = Flow::open(Arc::clone(&store), declared(&log, true)).await.unwrap();
                }
                for step in left.clone() {
                    match f.answer("reply", step, format!("answer {step}")).await {
                        Ok(()) => left.retain(|other| *other != step),
                        Err(Error::Missing { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                }
            }
            f.run().await.unwrap();
            assert_eq!((f.steps(), f.pending().unwrap()), (6, vec![]));
            for name in ["draft", "reply", "sent", "last"] {
                for step in 0..6 {
                    assert_eq!(f.get(name, step), computed.get(name, step), "{name} {step}");
                    assert_eq!(f.messages(name, step).unwrap(), computed.messages(name, step).unwrap());
                }
            }
        });
    }
}
