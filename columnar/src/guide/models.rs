//! Choose the model that answers a prompt.
//!
//! [← failures](super::failures) · [contents](super) · [costs →](super::costs)
//!
//! A [`prompt`](crate::prompt) is independent of the model. So the same flow is tested with a script, tried without a
//! key and shipped with a real model, and no column changes:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column topics(user.latest)   = prompt("List the topics.").max_tokens(50).temperature(0.0);
//!         column assistant(user, self) = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new();
//! chat.set_model(ScriptedModel::new(|request| format!("{} tokens at the most", request.max_tokens)));
//! chat.user.push("Shall we rewrite it in Rust?").await?;
//! chat.run().await?;
//! assert_eq!(chat.topics.get(0).as_deref(), Some("50 tokens at the most"));
//! # Ok(()) }
//! ```
//!
//! The nearest choice applies:
//!
//! | scope | by name | as a value |
//! |---|---|---|
//! | a column | `prompt("…").model("openai/gpt-4o-mini")` | `prompt("…").model(model)` |
//! | a flow | [`chat.set_model("anthropic/claude-sonnet-4-5")`](crate::flow::LiveFlow::set_model) | [`chat.set_model(model)`](crate::flow::LiveFlow::set_model) |
//! | the program | the variable `COLUMNAR_MODEL` | |
//! | default | `offline`, a stand-in without intelligence | |
//!
//! # Names
//!
//! `offline` always exists: it extracts key phrases and sentences from the messages. With the feature `providers`, a name
//! is a provider and its model: `openai/gpt-4o-mini`, `anthropic/claude-sonnet-4-5`, `gemini/gemini-2.5-flash`,
//! `ollama/llama3.2`. The key is in the provider's usual variable, such as `OPENAI_API_KEY`.
//!
//! An address after the name replaces the provider's: `openai/qwen3@http://127.0.0.1:8080/v1` is any server with
//! OpenAI's API. The address ends with the version of the API, and it never appears in names, errors or spans. The
//! variable `COLUMNAR_BASE_URL` sends the calls of all other models that are chosen by name to one address.
//!
//! An unknown name that is a literal in `flow!`, as in `.model("opnai/gpt-4o-mini")`, is a compile error. Any other unknown
//! name and a missing key are an [`Error::Model`](crate::Error::Model), which says what to do. A run checks all its models
//! before it computes anything:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let name = String::from("opnai/gpt-4o-mini");       // from a file of settings, for example
//! let chat = flow! {
//!     source user;
//!     column topics(user.latest)   = prompt("List the topics.");
//!     column assistant(user, self) = prompt("Answer.").model(name);
//! };
//! chat.user.push("hello").await?;
//! let error = chat.run().await.expect_err("a slip");
//! assert!(error.to_string().starts_with("the model of `assistant` cannot be used, so nothing was computed: no model is named `opnai/gpt-4o-mini`"));
//! assert_eq!(chat.topics.get(0), None);
//! # Ok(()) }
//! ```
//!
//! # Settings of a prompt
//!
//! | setting | meaning |
//! |---|---|
//! | [`max_tokens(200)`](crate::Prompt::max_tokens) | the maximum length of the reply in tokens, thoughts included; by default 4,096, or 25,000 for a [model that may think](crate::model::MaxTokens) |
//! | [`temperature(0.0)`](crate::Prompt::temperature) | the randomness of the model's choice of words |
//! | [`stop(["\n"])`](crate::Prompt::stop) | texts before which the reply ends |
//! | [`allow_truncated()`](crate::Prompt::allow_truncated), [`allow_empty()`](crate::Prompt::allow_empty) | stores replies that are cut off or have no text |
//! | [`pace(…)`](crate::Prompt::pace) | the time until the next request of the column, for the [cache](super::caches) of its provider |
//!
//! # Unfinished replies
//!
//! A value is never computed again, so a reply that is not finished is no value. A reply that was cut off, at `max_tokens`
//! or because the context window is full, is an error of its cell, and so is one without text:
//!
//! ```
//! use columnar::model::Offline;
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = prompt("Answer.").model(Offline::new()).max_tokens(5).retry(3);
//!     column title(user)        = prompt("Summarise.").model(Offline::new()).max_tokens(5).allow_truncated();
//! };
//! chat.user.push("We should rewrite the backend in Rust.").await?;
//! let error = chat.run().await.expect_err("five tokens are few");
//! assert!(error.to_string().contains("the reply was cut off at its limit of 5 tokens: raise it with `max_tokens`"));
//! assert_eq!((chat.answer.get(0), chat.title.get(0).as_deref()), (None, Some("We should rewrite th")));
//! # Ok(()) }
//! ```
//!
//! A retry does not repeat a call whose reply was cut off, because the next reply would have the same limit and cost as
//! much; it does repeat one whose reply has no text. The tokens that a model thinks count against the limit, so a reply may
//! be cut off before it has any text. In a typed column, the error is that of the limit, not of the JSON.
//!
//! [`Receipt::finish`](crate::usage::Receipt::finish) is the reason why the reply ended, and tells the values that
//! `allow_truncated` has stored from others. Every other end, such as a refusal of the provider, is always an error.
//!
//! # Limits that adapt
//!
//! All prompts with the same name share one limit on concurrent calls, and it adapts to the provider. It begins at 32, and
//! doubles while the provider answers and the calls in progress reach it, up to 1,000. When the provider answers "too many
//! requests", or the program has no file left for a connection, the limit is halved, and grows slowly from there; the
//! refused calls wait as long as the provider asks and are made again. One flow reaches more than 32 calls only if it
//! [computes more cells](super::runs#concurrency) at once.
//!
//! [`model::Adaptive`](crate::model::Adaptive) does the same for a model of your own. With
//! [`max_concurrency(8)`](crate::model::Adaptive::max_concurrency) it never makes more than 8 calls at once. To set that for
//! a model of a provider, wrap it yourself: `Adaptive::new(Provider::new("openai/gpt-4o-mini")?).max_concurrency(8)`.
//!
//! # A model of your own
//!
//! A model of your own implements [`Model`](crate::model::Model): a name, and a reply as a stream of chunks. Any client
//! fits behind that trait. The last chunk has the reason of the end: [`Finish::Length`](crate::model::Finish::Length) for
//! a reply that was cut off.
//!
//! [← failures](super::failures) · [contents](super) · [costs →](super::costs)
