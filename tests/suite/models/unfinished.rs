//! Replies that were cut off, or that have no text.

use columnar::budget::Budget;
use columnar::loom::{Agent, Author, Edge, LoomError, Mode, Tree};
use columnar::model::{Chunk, End, Finish, MaxTokens, Offline, Truncated, Usage};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::ScriptedModel;
use columnar::usage::{SpendLimit, SpendLimitError};
use columnar_tests::models::{ChunkModel, Chunks, chunks};

/// A reply with this text and this end.
fn reply(text: &str, finish: Finish) -> Chunks {
    let end = End::new(finish).with_usage(Usage::new(20, 8)).with_id("reply-7");
    vec![Ok(Chunk::Text(text.to_owned())), Ok(Chunk::End(end))]
}

/// A model with one reply for each call; the last one is repeated.
fn replies(replies: impl IntoIterator<Item = (&'static str, Finish)>) -> ChunkModel {
    let replies: Vec<_> = replies.into_iter().collect();
    ChunkModel::new("openai/gpt-5.4-mini", move |call, _| {
        let (text, finish) = &replies[call.min(replies.len() - 1)];
        reply(text, finish.clone())
    })
}

/// The error of a run without the cell, and the deltas of its last attempt.
async fn failure(flow: &Flow) -> Result<(String, String)> {
    let (mut run, mut deltas) = (flow.run(), String::new());
    loop {
        match run.try_next().await {
            Ok(Some(Event::Delta { text, .. })) => deltas += &text,
            Ok(Some(Event::Retry { .. })) => deltas.clear(),
            Ok(Some(event)) => panic!("{event:?}"),
            Ok(None) => panic!("the run succeeded"),
            Err(Error::Compute { source, .. }) => return Ok((source.to_string(), deltas)),
            Err(error) => return Err(error),
        }
    }
}

/// The first half of a reply was stored as if it were finished, other columns read it, and no run computed it again.
#[tokio::test]
async fn a_reply_that_was_cut_off_is_an_error_and_is_computed_again() -> Result<()> {
    let model = replies([("First, we", Finish::Length), ("First, we plan.", Finish::Stop)]);
    let user = source("user");
    let answer = column("answer", user.latest(), prompt("Answer.").model(model.clone()).max_tokens(8));
    let echo = |cx: Context| async move { cx.input("answer").map(ToString::to_string).ok_or("no answer") };
    let f = flow([column("echo", answer.latest(), echo)])?;
    f.push("user", "Shall we rewrite it?").await?;
    let (error, deltas) = failure(&f).await?;
    assert_eq!(
        error,
        "the reply was cut off at its limit of 8 tokens: raise it with `max_tokens`, or store such replies with \
         `allow_truncated`"
    );
    assert_eq!((deltas.as_str(), f.get("answer", 0), f.get("echo", 0)), ("First, we", None, None));

    f.run().await?;
    assert_eq!(f.get("echo", 0).as_deref(), Some("First, we plan."));
    let receipt = f.receipt("answer", 0).expect("a model was called");
    assert_eq!(receipt.finish, Some(Finish::Stop));
    Ok(())
}

/// The next reply would have the same limit, and cost as much again.
#[tokio::test(start_paused = true)]
async fn a_reply_that_was_cut_off_is_not_retried_and_one_without_text_is() -> Result<()> {
    let broke_off =
        "the reply has no text: try again with `.retry`, or store empty replies with `allow_empty`";
    for (first, calls, error) in [
        (("So", Finish::Length), 1, "the reply was cut off at its limit of 8 tokens: "),
        (
            ("", Finish::Length),
            1,
            "the reply was cut off at its limit of 8 tokens before it had any text, as thoughts count: ",
        ),
        (
            ("So", Finish::ContextWindow),
            1,
            "the reply was cut off below its limit, because the context window ",
        ),
        (("", Finish::Stop), 4, broke_off),
        ((" \n", Finish::Stop), 4, broke_off),
    ] {
        let model = replies([first.clone()]);
        let step = prompt("Answer.").model(model.clone()).max_tokens(8).retry(3);
        let f = flow([column("answer", source("user").latest(), step)])?;
        f.push("user", "Shall we rewrite it?").await?;
        let (cause, deltas) = failure(&f).await?;
        assert!(cause.starts_with(error), "{cause}");
        assert_eq!((model.calls(), deltas.as_str()), (calls, first.0), "{first:?}");
    }
    Ok(())
}

/// Some servers report a full context window like a reply that reached its limit.
#[tokio::test]
async fn a_reply_that_was_cut_off_below_its_limit_filled_the_context_window() -> Result<()> {
    for (max_tokens, is_window) in [(8, false), (9, true), (1000, true)] {
        let step = prompt("Answer.").model(replies([("So", Finish::Length)])).max_tokens(max_tokens);
        let f = flow([column("answer", source("user").latest(), step)])?;
        f.push("user", "Shall we rewrite it?").await?;
        let error = f.run().await.expect_err("it was cut off");
        let truncated = Truncated::of(&error).expect("it was cut off");
        assert_eq!(*truncated == Truncated::ContextWindow, is_window, "{max_tokens}: {error}");
    }
    Ok(())
}

#[tokio::test]
async fn unfinished_replies_are_stored_with_permission() -> Result<()> {
    let store = MemoryStore::new();
    let cases = [
        ("", Finish::Length),
        ("So", Finish::Length),
        ("So", Finish::ContextWindow),
        ("", Finish::Stop),
        (" \n", Finish::Stop),
    ];
    let plain: fn() -> columnar::Prompt = || prompt("Answer.").max_tokens(8);
    for (allowed, step) in [
        ([false; 5], plain()),
        ([false, true, true, false, false], plain().allow_truncated()),
        ([false, false, false, true, true], plain().allow_empty()),
        ([true; 5], plain().allow_truncated().allow_empty()),
    ] {
        for ((text, finish), is_allowed) in cases.clone().into_iter().zip(allowed) {
            let step = step.clone().model(replies([(text, finish.clone())])).or_wait();
            let f = flow([column("answer", source("user").latest(), step)])?;
            f.push("user", "Shall we rewrite it?").await?;
            f.run().await?;
            assert_eq!(f.get("answer", 0).as_deref(), is_allowed.then_some(text), "{text:?}, {finish}");
        }
    }
    // The error of a reply without text has advice that is enough to store it.
    let thoughts = replies([("", Finish::Length)]);
    let f = flow([column("answer", source("user").latest(), plain().model(thoughts).allow_truncated())])?;
    f.push("user", "Shall we rewrite it?").await?;
    let (error, _) = failure(&f).await?;
    assert!(error.ends_with("store such replies with `allow_truncated` and `allow_empty`"), "{error}");
    // The receipt tells such a value from others, also after the flow is opened again.
    let open = async || {
        let step = plain().model(replies([("So", Finish::Length)])).allow_truncated();
        Flow::open(store.clone(), [column("answer", source("user").latest(), step)]).await
    };
    let f = open().await?;
    f.push("user", "Shall we rewrite it?").await?;
    f.run().await?;
    drop(f);
    let receipt = open().await?.receipt("answer", 0).expect("a model was called");
    assert_eq!(receipt.finish, Some(Finish::Length));
    Ok(())
}

/// An earlier state of the library stored no finish.
#[test]
fn a_receipt_without_a_finish_is_read() {
    let old =
        r#"{"model":"openai/gpt-4o-mini","calls":1,"attempts":1,"input":120,"output":8,"ms":640,"id":"x"}"#;
    let receipt: columnar::usage::Receipt = old.parse().expect("a receipt");
    assert_eq!((receipt.finish.clone(), receipt.to_string().as_str()), (None, old));
}

/// Half of a JSON text looked like a schema mismatch, and the model was asked again with the same limit.
#[tokio::test(start_paused = true)]
async fn a_typed_column_reports_a_reply_that_was_cut_off_and_asks_again_after_one_without_text() -> Result<()>
{
    let model = replies([("[4, 5", Finish::Length)]);
    let step = prompt("Rate each.").model(model.clone()).max_tokens(8).retry(2).typed::<Vec<u8>>();
    let f = flow([column("stars", source("user").latest(), step)])?;
    f.push("user", "Both were fine.").await?;
    let (cause, _) = failure(&f).await?;
    assert!(cause.starts_with("the reply was cut off at its limit of 8 tokens: "), "{cause}");
    assert_eq!(model.calls(), 1);

    let model = replies([("", Finish::Stop), ("[4, 5]", Finish::Stop)]);
    let step = prompt("Rate each.").model(model.clone()).typed::<Vec<u8>>();
    let f = flow([column("stars", source("user").latest(), step)])?;
    f.push("user", "Both were fine.").await?;
    f.run().await?;
    assert_eq!((f.read::<Vec<u8>>("stars", 0)?, model.calls()), (Some(vec![4, 5]), 2));
    Ok(())
}

#[tokio::test]
async fn the_policies_of_a_column_apply_to_an_unfinished_reply() -> Result<()> {
    let model = replies([("So", Finish::Length)]);
    let user = source("user");
    let ask = || prompt("Answer.").model(model.clone()).max_tokens(8);
    let f = flow([
        column("waits", user.latest(), ask().or_wait()),
        column("skips", user.latest(), ask().or_skip()),
    ])?;
    f.push("user", "Shall we rewrite it?").await?;
    let events: Vec<_> = f.run().try_collect().await?;
    let failed = events.iter().filter(|event| matches!(event, Event::Failed { .. })).count();
    assert_eq!((failed, f.get("skips", 0)), (2, None));
    let receipt = f.receipt("skips", 0).expect("it is paid for");
    assert_eq!((receipt.finish.clone(), receipt.usage.output), (Some(Finish::Length), 8));
    let calls = model.calls();
    f.run().await?;
    assert_eq!(model.calls(), calls + 1, "the waiting cell is tried again, the skipped one is not");
    Ok(())
}

/// A reply that is not stored is paid for.
#[tokio::test]
async fn an_unfinished_reply_counts_against_a_spend_limit() -> Result<()> {
    let step = prompt("Answer.").model(replies([("So", Finish::Length)])).max_tokens(8);
    let f = flow([column("answer", source("user").latest(), step)])?;
    let limit = SpendLimit::tokens(1000);
    f.set_spend_limit(&limit);
    f.push("user", "Shall we rewrite it?").await?;
    f.run().await.expect_err("it was cut off");
    assert_eq!(limit.to_string(), "28 tokens of 1000 tokens");
    Ok(())
}

/// The limit was 1,024 for all models, which a model that thinks may need for its thoughts alone.
#[tokio::test]
async fn the_default_limit_is_that_of_the_model_in_requests_and_spend_limits() -> Result<()> {
    for (name, limit) in [
        ("openai/gpt-4o-mini", 4096),
        ("openai/gpt-5.1-chat-latest", 16_384),
        ("openai/gpt-5", 25_000),
        ("anthropic/claude-opus-5", 25_000),
        ("gemini/gemini-2.5-flash", 25_000),
        ("cohere/command-r-08-2024", 4000),
        ("somebody/something", 4096),
    ] {
        assert_eq!(MaxTokens::by_model(name).default, limit);
        let model = ChunkModel::new(name, |_, request| reply(&request.max_tokens.to_string(), Finish::Stop));
        let f = flow([column("answer", source("user").latest(), prompt("Answer.").model(model))])?;
        f.push("user", "Shall we rewrite it?").await?;
        f.set_spend_limit(SpendLimit::tokens(u64::from(limit)));
        let error = f.run().await.expect_err("the request has tokens as well");
        let limited = SpendLimitError::of(&error).expect("a spend limit").to_string();
        assert!(limited.contains("lower the `max_tokens` of the prompt"), "{name}: {limited}");
        f.set_spend_limit(SpendLimit::tokens(u64::from(limit) + 100));
        f.run().await?;
        assert_eq!(f.get("answer", 0).as_deref(), Some(&*limit.to_string()), "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn the_offline_model_cuts_its_replies_off() -> Result<()> {
    let long = "The harbour of Marseille is old, and its ferries are new, large and rather slow.";
    let answer = async |step: columnar::Prompt| {
        let f = flow([column("answer", source("user").latest(), step.model(Offline::new()).or_wait())])?;
        f.push("user", long).await?;
        f.run().await?;
        Ok::<_, Error>(f.get("answer", 0))
    };
    let whole = answer(prompt("Answer.")).await?.expect("it is short enough");
    assert!(whole.len() > 20, "{whole}");
    assert_eq!(answer(prompt("Answer.").max_tokens(5)).await?, None);
    let cut = answer(prompt("Answer.").max_tokens(5).allow_truncated()).await?;
    assert_eq!(cut.as_deref(), whole.get(..20));
    Ok(())
}

#[tokio::test]
async fn a_scripted_model_ends_its_replies_as_the_script_says() -> Result<()> {
    let model = ScriptedModel::new(|_| "So be it".to_owned())
        .end(|request| End::new(Finish::Length).with_usage(Usage::new(7, request.max_tokens.into())));
    let step = prompt("Answer.").model(model).max_tokens(3);
    let f = flow([column("answer", source("user").latest(), step)])?;
    f.push("user", "Shall we rewrite it?").await?;
    let error = f.run().await.expect_err("it was cut off");
    let Some(Truncated::MaxTokens { max_tokens: 3, has_text: true, .. }) = Truncated::of(&error) else {
        panic!("{error}")
    };
    Ok(())
}

/// A context over the window was sent, and refused by the provider, though the program had chosen how to shorten contexts.
#[tokio::test]
async fn a_context_over_the_window_is_cut_by_the_strategy_or_never_sent() -> Result<()> {
    // 100,000 tokens, and the window has 200,000.
    let long = "word ".repeat(80_000);
    let model = ChunkModel::new("anthropic/claude-3-haiku", |_, _| chunks(&["Yes."]));
    let talked = async |budget: Budget| -> Result<Flow> {
        let user = source("user");
        let f = flow([column("bot", [user.all(), this()], prompt("Answer.").model(model.clone()))])?;
        f.set_budget(budget);
        for _ in 0..4 {
            f.push("user", long.as_str()).await?;
        }
        f.run().await?;
        Ok(f)
    };
    let error = talked(Budget::new()).await.unwrap_err();
    assert!(error.to_string().contains("and the window of `anthropic/claude-3-haiku` 200000"), "{error}");
    assert_eq!(model.calls(), 2, "300,000 tokens were sent");

    let cut = talked(Budget::new().rolling_window()).await?.messages("bot", 3)?;
    let report = cut.report().expect("there is a budget");
    assert_eq!((report.turns, report.is_over_limit()), (5, false), "{report}");
    assert!(cut.tokens() > 100_000 && report.limit < 200_000 - Budget::TOKEN_BUFFER, "{report}");
    // With a number of tokens, the window is not asked.
    let own = talked(Budget::of(150_000).rolling_window()).await?.messages("bot", 3)?;
    assert_eq!(own.report().map(|report| report.limit), Some(150_000 - Budget::TOKEN_BUFFER - 2));
    Ok(())
}

#[test]
fn a_path_over_the_window_is_cut_by_the_strategy_or_an_error() {
    let mut tree = Tree::new(Mode::Dialogue);
    let mut dice = 0_u64;
    let mut roll = || {
        dice += 1;
        dice << 44
    };
    let long = "word ".repeat(80_000);
    let mut last = tree.append(&mut roll, Edge::root(), Author::Human, long.clone()).unwrap();
    for _ in 0..3 {
        last = tree.append(&mut roll, &last, Author::Human, long.clone()).unwrap();
    }
    let agent = Agent::new("Answer.").model("anthropic/claude-3-haiku");
    let path = tree.path(&last, &[]).unwrap();
    let error = path.dialogue(&agent).unwrap_err();
    let LoomError::Window { tokens: 400_006, window: 200_000, .. } = &error else { panic!("{error}") };
    let cut = path.dialogue(&agent.clone().budget(Budget::new().truncate_middle())).unwrap();
    assert_eq!(cut.nodes().count(), 1);
    // A model without a known window is asked.
    assert!(path.dialogue(&agent.model("ollama/qwen3")).is_ok());
}
