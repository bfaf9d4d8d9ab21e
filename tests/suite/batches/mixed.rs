//! Columns beside those of a batch, and settings of columns in a run by batches.

use std::time::Duration;

use columnar::model::Offline;
use columnar::prelude::*;
use columnar::usage::{SpendLimit, SpendLimitError};
use columnar_tests::batches::BatchServer;
use columnar_tests::server::{WIRES, Wire};

use super::batch;

/// Other models, functions, and prompts that name a model of the provider.
#[tokio::test]
async fn b7_columns_without_a_model_of_the_provider_are_computed_as_in_a_run() -> Result<()> {
    let server = BatchServer::start(Wire::OpenAi).await;
    let chat = flow! {
        source user;
        column shout(user.latest) =
            |cx: Context| async move { cx.input("user").map(|text| text.to_uppercase()).ok_or("none") };
        column offline(shout.latest) = prompt("Be brief.").model(Offline::new());
        column inherited(shout.latest, offline.latest) = prompt("Be brief.").max_tokens(200);
        column named(shout.latest)   = prompt("Be brief.").model("openai/gpt-5.4-mini").max_tokens(200);
        column last(inherited.latest, named.latest) =
            |cx: Context| async move { cx.messages().last_text().len().to_string() };
    };
    for text in ["one", "two", "three"] {
        chat.user.push(text).await?;
    }
    batch(&chat, &server).await?;
    assert_eq!(chat.steps(), 3);
    let models = |batch: usize| server.batches()[batch].requests[0].body["model"].to_string();
    let mut all = [models(0), models(1)];
    all.sort();
    // A file has one model.
    assert_eq!(all, ["\"gpt-5.4-mini\"", "\"gpt-6-luna\""]);
    assert_eq!(server.batches().len(), 2);
    assert!(chat.offline.receipt(0).is_some_and(|receipt| !receipt.batch));
    assert!(
        chat.named.receipt(0).is_some_and(|receipt| receipt.model.as_deref() == Some("openai/gpt-5.4-mini"))
    );
    assert_eq!(server.violations(), [""; 0]);
    Ok(())
}

/// A timeout and a rate are for live calls: a batch may take a day.
#[tokio::test]
async fn b7_a_timeout_and_a_rate_do_not_count_in_a_batch() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        let chat = flow! {
            source user;
            column topics(user.latest) = prompt("List the topics.")
                .max_tokens(200)
                .timeout(Duration::ZERO)
                .rate(per_minute(1).tokens_per_minute(1))
                .retry(1);
        };
        for text in ["one", "two", "three"] {
            chat.user.push(text).await?;
        }
        batch(&chat, &server).await?;
        assert_eq!(server.batches()[0].requests.len(), 3);
    }
    Ok(())
}

/// A limit reserves the live price, and books the lower one.
#[tokio::test]
async fn b7_a_spend_limit_holds_in_a_batch() -> Result<()> {
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        let chat = flow! {
            source user;
            column topics(user.latest) = prompt("List the topics.").max_tokens(200);
        };
        for text in ["one", "two", "three"] {
            chat.user.push(text).await?;
        }
        let limit = SpendLimit::dollars(0.000_001);
        chat.set_spend_limit(&limit);
        let error = batch(&chat, &server).await.expect_err("nothing is left");
        assert!(SpendLimitError::of(&error).is_some() && server.batches().is_empty(), "{error}");
        let limit = SpendLimit::dollars(1.0);
        chat.set_spend_limit(&limit);
        batch(&chat, &server).await?;
        let spent = chat.bill().total().cost.to_string();
        assert!(limit.to_string().starts_with(&format!("{spent} of")), "{limit} is not {spent}");
    }
    Ok(())
}

/// A cell that waits for a reservation holds up no batch of the others.
#[tokio::test]
async fn b7_a_batch_is_submitted_though_some_cells_wait_for_something_else() -> Result<()> {
    let server = BatchServer::start(Wire::OpenAi).await;
    let chat = flow! {
        source user;
        column topics(user.latest) = prompt("List the topics.").max_tokens(200);
    };
    for number in 0..6 {
        chat.user.push(format!("text {number}")).await?;
    }
    // Room for two calls at once, by tokens: each reserves about 210, and has 1,100.
    chat.set_spend_limit(SpendLimit::tokens(6 * 1100));
    batch(&chat, &server).await?;
    assert_eq!(chat.steps(), 6);
    Ok(())
}

#[tokio::test]
async fn b7_a_reply_that_does_not_match_its_type_is_asked_for_again_in_the_next_batch() -> Result<()> {
    let server = BatchServer::start(Wire::OpenAi).await;
    let chat = flow! {
        source user;
        // The server repeats the question, and so the example in the correction.
        column words(user.latest): Vec<String> = prompt("List the words.").max_tokens(200).repairs(1);
    };
    chat.user.push("one").await?;
    let error = batch(&chat, &server).await.expect_err("the server knows no lists");
    assert!(error.to_string().contains("2 times"), "{error}");
    assert_eq!(server.batches().len(), 2);
    Ok(())
}
