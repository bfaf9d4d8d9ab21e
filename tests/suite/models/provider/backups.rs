//! The models that are called if another one fails.

use columnar::model::{Adaptive, Provider};
use columnar::prelude::*;
use columnar_tests::server::{Act, Server, Wire, answer, data, stream};

fn model(name: &str, server: &Server) -> Adaptive {
    Adaptive::new(Provider::new(&format!("{name}@{}/v1", server.url())).expect("a provider"))
}

/// An overload, a refusal and an outage of the first model are answered by the second one at once.
#[tokio::test]
async fn p14_a_backup_answers_if_a_model_fails() {
    let begun = Wire::OpenAi.events(&["Hel"], "stop");
    // Whether the first call has a known cost: it is free if it was refused.
    for (acts, is_known) in [
        (answer("429 Too Many\r\nretry-after: 100", "{}"), true),
        (answer("503 Busy", "{}"), true),
        (answer("401 Unauthorized", "{}"), true),
        (answer("500 Oops", "{}"), false),
        (vec![Act::Reset], false),
        (stream(Wire::OpenAi.events(&["No."], "content_filter").concat()), true),
        (stream(begun[..2].concat()), false),
        (stream(begun[..2].concat() + &data(r#"{"error":{"code":503}}"#)), false),
    ] {
        let first = Server::always(acts.clone()).await;
        let second = Server::always(stream(Wire::Anthropic.reply(&["Hi"]))).await;
        let models = (model("openai/gpt-4o-mini", &first), model("anthropic/claude-sonnet-5", &second));
        let chat = flow! {
            source user;
            column bot(user) = prompt("Be brief.").model(models.0.clone()).or_model(models.1.clone());
        };
        chat.user.push("Hello!").await.expect("a store in memory");
        let (mut deltas, mut retries) = (String::new(), 0);
        let mut run = chat.run();
        while let Some(event) = run.try_next().await.expect("the backup answers") {
            match event {
                Event::Delta { text, .. } => deltas += &text,
                Event::Retry { attempt: 1, .. } => {
                    deltas.clear();
                    retries += 1;
                }
                _ => {}
            }
        }
        drop(run);
        assert_eq!((chat.bot.get(0).as_deref(), &*deltas, retries), (Some("Hi"), "Hi", 1), "{acts:?}");
        let receipt = chat.bot.receipt(0).expect("two calls");
        assert_eq!((receipt.model.as_deref(), receipt.calls), (Some("anthropic/claude-sonnet-5"), 2));
        assert_eq!(receipt.unreported == 0, is_known, "{acts:?}");
        assert_eq!((first.requests().len(), second.requests().len()), (1, 1), "{acts:?}");
    }
}

/// A limit of the column is no fault of the model.
#[tokio::test]
async fn p14_a_reply_that_was_cut_off_is_no_failure_of_its_model() {
    let first = Server::always(stream(Wire::OpenAi.events(&["Hel"], "length").concat())).await;
    let second = Server::always(stream(Wire::OpenAi.reply(&["Hi"]))).await;
    let models = (model("openai/a", &first), model("openai/b", &second));
    let chat = flow! {
        source user;
        column bot(user) =
            prompt("Be brief.").model(models.0.clone()).or_model(models.1.clone()).max_tokens(2);
    };
    chat.user.push("Hello!").await.expect("a store in memory");
    chat.run().await.expect_err("it was cut off");
    assert_eq!(second.requests().len(), 0);
}

/// Without a backup a model that is overloaded waits, and a reader learns that.
#[tokio::test]
async fn p14_a_wait_is_an_event() {
    let server = Server::start(|call| match call {
        0 => answer("429 Too Many", "{}"),
        _ => stream(Wire::OpenAi.reply(&["Hi"])),
    });
    let server = server.await;
    let model = model("openai/test", &server);
    let chat = flow! {
        source user;
        column bot(user) = prompt("Be brief.").model(model.clone());
    };
    chat.user.push("Hello!").await.expect("a store in memory");
    let events: Vec<Event<_>> = chat.run().try_collect().await.expect("it replies");
    let waits: Vec<_> = events.iter().filter(|event| matches!(event, Event::Waiting { .. })).collect();
    let [Event::Waiting { step: 0, pause, error, .. }] = &waits[..] else { panic!("{events:?}") };
    assert!(!pause.is_zero() && error.contains("429"), "{error}");
    assert_eq!(chat.bot.receipt(0).map(|receipt| (receipt.calls, receipt.attempts)), Some((1, 1)));
}
