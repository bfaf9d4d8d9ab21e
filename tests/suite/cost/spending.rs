//! The costs of cells: receipts, the bill of a flow, and limits that stop a run.

use std::time::Duration;

use columnar::model::{Chunk, End, Finish, Request, Usage};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::usage::{Price, SpendLimit, SpendLimitError};
use columnar_tests::live::push_all;
use columnar_tests::models::ChunkModel;
use proptest::prelude::*;

/// The end of a call.
#[derive(Clone, Debug)]
enum Reply {
    Costs {
        input: u64,
        output: u64,
    },
    /// Without its usage.
    Silent,
    BreaksOff,
    Refuses,
}

/// A model whose calls end like this, over and over.
fn metered(replies: impl IntoIterator<Item = Reply>) -> ChunkModel {
    let replies: Vec<Reply> = replies.into_iter().collect();
    let reply = move |call: usize, request: &Request| {
        let text = Ok(Chunk::Text(format!("reply {call}")));
        let end = End::new(Finish::Stop).with_id(format!("id {call}"));
        match *replies.iter().cycle().nth(call).expect("one at least") {
            Reply::Costs { input, output } => {
                let usage = Usage::new(input, output.min(request.max_tokens.into()));
                vec![text, Ok(Chunk::End(end.with_usage(usage)))]
            }
            Reply::Silent => vec![text, Ok(Chunk::End(end))],
            Reply::BreaksOff => vec![text],
            Reply::Refuses => vec![Err("no".into())],
        }
    };
    ChunkModel::new("openai/gpt-5.4-mini", reply).paced(1)
}

const CHEAP: Reply = Reply::Costs { input: 100, output: 10 };

#[tokio::test(start_paused = true)]
async fn each_value_of_a_model_has_a_receipt() -> Result<()> {
    let model = metered([Reply::BreaksOff, CHEAP, CHEAP]);
    let chat = flow! {
        source user;
        column bot(user, self)   = prompt("Answer.").model(model.clone()).retry(2);
        column loud(bot.latest)  = |cx: Context| async move { cx.messages().last_text().to_uppercase() };
        column brief(bot.latest) = prompt("Shorten it.").model(model.clone()).limit(1);
    };
    chat.user.push("hello").await?;
    chat.run().await?;
    let receipt = chat.bot.receipt(0).expect("a model was called");
    assert_eq!(receipt.model.as_deref(), Some("openai/gpt-5.4-mini"));
    assert_eq!(
        (receipt.calls, receipt.unreported, receipt.attempts),
        (2, 1, 2),
        "the first attempt broke off"
    );
    assert_eq!((receipt.usage, receipt.id.as_deref()), (Usage::new(100, 10), Some("id 1")));
    assert!(receipt.duration() >= Duration::from_millis(500), "the pause between them counts: {receipt}");
    assert_eq!(chat.loud.receipt(0), None, "no model was called");
    assert_eq!(chat.user.receipt(0), None);
    assert_eq!(chat.bot.receipt(1), None);

    let bill = chat.bill();
    assert_eq!((bill.total().calls, bill.column("bot").calls, bill.column("loud").calls), (3, 2, 0));
    assert_eq!((bill.step(0).calls, bill.step(1).calls), (3, 0));
    assert_eq!(bill.total().usage, Usage::new(200, 20));
    let cells: Vec<_> = bill.receipts().map(|(column, step, _)| (column.to_string(), step)).collect();
    assert_eq!(cells, [("bot".to_owned(), 0), ("brief".to_owned(), 0)]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn receipts_are_loaded_with_their_values() -> Result<()> {
    let store = MemoryStore::new();
    let open = async || {
        let model = metered([CHEAP]);
        let bot = column("bot", source("user").latest(), prompt("Answer.").model(model).or_skip());
        Flow::open(columnar::reopen::OpenOptions::new(store.clone()).recent(1), [bot]).await
    };
    let flow = open().await?;
    push_all(&flow, "user", ["a", "b", "c"]).await?;
    flow.run().await?;
    let bill = flow.bill().to_string();
    let fork = flow.fork(2)?;
    assert_eq!(fork.bill().total().calls, 2, "the bill of a fork includes the shared steps");
    drop((flow, fork));

    let flow = open().await?;
    let partial = flow.bill();
    assert_eq!((partial.not_loaded(), partial.total().calls), (2, 1), "the receipts in memory");
    let end = "\ncells that are not in memory, and not in this bill: 2";
    assert!(partial.to_string().ends_with(end), "{partial}");
    flow.load(0).await?;
    assert_eq!((flow.bill().to_string(), flow.bill().not_loaded()), (bill, 0));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_skipped_cell_that_cost_something_has_a_receipt() -> Result<()> {
    let model = metered([Reply::BreaksOff]);
    let chat = flow! {
        source user;
        column bot(user.latest) = prompt("Answer.").model(model.clone()).retry(1).or_skip();
    };
    chat.user.push("hello").await?;
    chat.run().await?;
    assert_eq!((chat.bot.get(0), chat.steps()), (None, 1));
    let receipt = chat.bot.receipt(0).expect("it was tried twice");
    assert_eq!((receipt.calls, receipt.unreported, receipt.attempts), (2, 2, 2));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_limit_stops_the_run_before_it_is_exceeded_and_nothing_is_lost() -> Result<()> {
    let model = metered([Reply::Costs { input: 30, output: 50 }]);
    let chat = flow! {
        source user;
        column bot(user.latest)  = prompt("Answer.").model(model.clone()).max_tokens(50).or_skip();
        column echo(user.latest) = |cx: Context| async move { cx.messages().last_text().into_owned() };
    };
    for step in 0..20 {
        chat.user.push(format!("This is text number {step}, and it is as long as all others.")).await?;
    }
    let limit = SpendLimit::tokens(400);
    chat.set_spend_limit(&limit);
    let error = chat.run().await.expect_err("twenty replies have more");
    let Some(SpendLimitError::Reached { .. }) = SpendLimitError::of(&error) else { panic!("{error:?}") };
    assert!(matches!(&error, Error::Compute { column, .. } if column == "bot"), "{error:?}");
    let calls = model.calls();
    assert!((4..=5).contains(&calls), "{calls} calls of 80 tokens");
    assert_eq!(limit.to_string(), format!("{} tokens of 400 tokens", calls * 80));
    assert_eq!(chat.bot.len(), calls, "paid values are stored, and no cell is skipped");
    assert!(chat.run().await.is_err(), "the limit stays");
    assert_eq!(model.calls(), calls);

    chat.set_spend_limit(SpendLimit::tokens(100_000));
    chat.run().await?;
    assert_eq!((chat.steps(), model.calls()), (20, 20), "no cell was computed twice");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_limit_in_dollars_needs_a_known_price() -> Result<()> {
    let unknown = columnar::testing::ScriptedModel::new(|_| "yes".to_owned());
    let chat = flow! {
        source user;
        column bot(user.latest) = prompt("Answer.").model(unknown.clone());
    };
    chat.user.push("hello").await?;
    chat.set_spend_limit(SpendLimit::dollars(1.0));
    let error = chat.run().await.expect_err("the price is unknown");
    assert_eq!(
        error.to_string(),
        "the model of `bot` cannot be used, so nothing was computed: no price is known for `scripted`, \
         so it cannot be limited in dollars: set one with `SpendLimit::priced`, or limit the tokens"
    );
    assert!(unknown.requests().is_empty());
    chat.set_spend_limit(SpendLimit::dollars(1.0).priced(Price::new(1.0, 2.0)));
    chat.run().await?;

    let model = metered([Reply::Costs { input: 1_000_000, output: 0 }]);
    let chat = flow! {
        source user;
        column bot(user, self) = prompt("Answer.").model(model.clone());
    };
    let limit = SpendLimit::dollars(0.75);
    chat.set_spend_limit(&limit);
    for text in ["one", "two"] {
        chat.user.push(text).await?;
    }
    // The call costs more than its reservation: the reported usage counts.
    let error = chat.run().await.expect_err("one call costs all of it");
    assert!(SpendLimitError::of(&error).is_some(), "{error}");
    assert_eq!((model.calls(), limit.to_string().as_str()), (1, "$0.75 of $0.75"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn flows_share_a_limit_and_refused_calls_cost_nothing() -> Result<()> {
    let limit = SpendLimit::tokens(300);
    let refusing = metered([Reply::Refuses]);
    let first = flow! {
        source user;
        column bot(user.latest) =
            prompt("Answer.").model(refusing.clone()).max_tokens(100).retry(20).or_wait();
    };
    first.set_spend_limit(&limit);
    first.user.push("hello").await?;
    first.run().await?;
    assert_eq!((refusing.calls(), limit.to_string().as_str()), (21, "0 tokens of 300 tokens"));

    let silent = metered([Reply::Silent, Reply::BreaksOff]);
    let second = flow! {
        source user;
        column bot(user, self) = prompt("Answer.").model(silent.clone()).max_tokens(100);
    };
    second.set_spend_limit(&limit);
    second.user.push("hello").await?;
    second.run().await?;
    second.user.push("hello").await?;
    assert!(SpendLimitError::of(&second.run().await.expect_err("it breaks off")).is_none());
    let error = second.run().await.expect_err("two calls without usage count with their reservations");
    assert!(SpendLimitError::of(&error).is_some(), "{error} {limit}");
    assert_eq!(silent.calls(), 2);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// If no call costs more than its reservation, concurrent calls never exceed a limit, and a limit that is large enough
    /// stops no run.
    #[test]
    fn no_limit_is_exceeded(
        replies in prop::collection::vec(
            prop_oneof![
                (0_u64..=12, 0_u64..=40).prop_map(|(input, output)| Reply::Costs { input, output }),
                Just(Reply::Silent),
            ],
            1..12,
        ),
        most in 0_u64..1500,
        steps in 1_usize..20,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let model = metered(replies);
            let chat = flow! {
                source user;
                column bot(user.latest) = prompt("Answer the question.").model(model.clone()).max_tokens(40);
                column more(bot.latest) = prompt("Answer the question.").model(model.clone()).max_tokens(40);
            };
            for _ in 0..steps {
                chat.user.push("What is the capital of France?").await.expect("in memory");
            }
            let limit = SpendLimit::tokens(most);
            chat.set_spend_limit(&limit);
            let ended = chat.run().await;
            let spent: u64 = limit.to_string().split(' ').next().expect("a number").parse().expect("a number");
            prop_assert!(spent <= most, "{limit}");
            match ended {
                Ok(()) => prop_assert_eq!(model.calls(), 2 * steps),
                Err(error) => {
                    prop_assert!(SpendLimitError::of(&error).is_some(), "{error}");
                    // A call reserves about 60 tokens.
                    prop_assert!(spent + 100 > most, "there was room: {limit}");
                }
            }
            Ok(())
        })?;
    }
}
