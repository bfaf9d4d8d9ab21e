//! The choice of the model of a column, and the errors before the first request.

use columnar::model::{Choice, Chunk, Model, Offline, Request, by_name};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::ScriptedModel;
use columnar::{BoxError, Error};
use futures::stream::BoxStream;

/// A model that replies with its name.
fn named(name: &'static str) -> ScriptedModel {
    ScriptedModel::new(move |_| name.to_owned())
}

/// A model that is not ready.
#[derive(Clone)]
struct Locked;

impl Model for Locked {
    fn name(&self) -> &'static str {
        "locked"
    }

    fn ready(&self) -> Result<(), BoxError> {
        Err("`locked` needs a key: set the environment variable LOCKED_KEY".into())
    }

    fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        unreachable!("it is not ready")
    }
}

#[tokio::test]
async fn the_most_specific_model_is_used() -> Result<()> {
    let own = named("own");
    let chat = flow! {
        source user;
        column flow_s(user.latest)  = prompt("Say it.");
        column own_s(user.latest)   = prompt("Say it.").model(own);
        column by_name(user.latest) = prompt("List the topics.").model("offline");
    };
    chat.user.push("Rust").await?;
    chat.run().await?;
    chat.set_model(named("flow"));
    chat.user.push("Rust").await?;
    chat.run().await?;
    let values = [chat.flow_s.get(1), chat.own_s.get(1), chat.by_name.get(1)];
    assert_eq!(
        values.map(|value| value.map(|value| value.to_string())),
        [Some("flow".to_owned()), Some("own".to_owned()), Some("Rust".to_owned())]
    );
    chat.set_model(Offline::NAME);
    chat.user.push("Tokio").await?;
    chat.run().await?;
    assert_ne!(chat.flow_s.get(2).as_deref(), Some("flow"));
    Ok(())
}

#[tokio::test]
async fn a_fork_inherits_the_model_and_may_set_another() -> Result<()> {
    let chat = flow! {
        source user;
        column bot(user, self) = prompt("Answer.");
    };
    chat.set_model(named("one"));
    chat.user.push("a").await?;
    chat.run().await?;
    let fork = chat.fork(1)?;
    fork.user.push("b").await?;
    fork.run().await?;
    assert_eq!(fork.bot.get(1).as_deref(), Some("one"));
    fork.set_model(named("two"));
    for flow in [&fork, &chat] {
        flow.user.push("c").await?;
        flow.run().await?;
    }
    assert_eq!((fork.bot.get(2).as_deref(), chat.bot.get(1).as_deref()), (Some("two"), Some("one")));
    Ok(())
}

#[tokio::test]
async fn a_model_that_is_not_ready_is_an_error_before_any_request() -> Result<()> {
    let first = named("first");
    let chat = flow! {
        source user;
        column first(user.latest)   = prompt("Say it.").model(first.clone());
        column second(first.latest) = prompt("Say it.").model(Locked).or_skip();
    };
    chat.run().await?;
    chat.user.push("hello").await?;
    let error = chat.run().await.expect_err("a model is locked");
    assert!(matches!(&error, Error::Model { column, .. } if column == "second"), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the model of `second` cannot be used, so nothing was computed: `locked` needs a key: \
         set the environment variable LOCKED_KEY"
    );
    assert!(first.requests().is_empty(), "no request was sent");
    assert_eq!((chat.first.len(), chat.second.len()), (0, 0), "and nothing is skipped for good");
    Ok(())
}

#[tokio::test]
async fn an_unknown_name_is_an_error_with_the_known_names() -> Result<()> {
    let name = "nonesuch/x@http://me:hunter2@localhost/";
    let chat = flow! {
        source user;
        column bot(user, self) = prompt("Answer.").model(name);
    };
    chat.user.push("hello").await?;
    let error = chat.run().await.expect_err("there is no such model");
    let start = "the model of `bot` cannot be used, so nothing was computed: no model is named \
        `nonesuch/x`; possible are `offline`";
    assert!(error.to_string().starts_with(start), "{error}");
    assert!(!format!("{error:?} {chat:?}").contains("hunter2"), "{error:?}");
    Ok(())
}

#[tokio::test]
async fn a_column_without_missing_cells_needs_no_model() -> Result<()> {
    let store = MemoryStore::new();
    let bot = |model| column("bot", [source("user").all(), this()], prompt("Answer.").model(model));
    let flow = Flow::open(store.clone(), [bot(named("bot"))]).await?;
    flow.push("user", "hello").await?;
    flow.run().await?;
    drop(flow);

    let bot = column("bot", [source("user").all(), this()], prompt("Answer.").model(Locked));
    let flow = Flow::open(store, [bot]).await?;
    flow.run().await?;
    assert_eq!(flow.get("bot", 0).as_deref(), Some("bot"));
    flow.push("user", "and now?").await?;
    assert!(matches!(flow.run().await, Err(Error::Model { .. })));
    Ok(())
}

/// A program that makes a model by its name had to leave `columnar::Result` for a boxed error.
#[test]
fn a_model_by_name_fails_with_an_error_of_the_crate() {
    fn ready(name: &str) -> Result<String> {
        let model = by_name(name)?;
        Ok(Choice::Named(name.into()).resolve(&Choice::Inherited)?.name().to_owned() + model.name())
    }
    assert_eq!(ready("offline").expect("it needs nothing"), "offlineoffline");
    let error = ready("nonesuch/x@http://me:hunter2@localhost/").expect_err("there is no such model");
    let start = "the model cannot be used: no model is named `nonesuch/x`; possible are `offline`";
    assert!(error.to_string().starts_with(start), "{error}");
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
}
