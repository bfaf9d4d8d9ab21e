//! Choose the model that answers a prompt.
//!
//! Chapter 16 of 37 · [← answers](super::answers) · [contents](super) · [costs →](super::costs)
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
//!         column topics(user.latest)   = prompt("List the topics.").max_tokens(50);
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
//! | a column | `prompt("…").model("openai/gpt-5.4-mini")` | `prompt("…").model(model)` |
//! | a flow | [`chat.set_model("anthropic/claude-sonnet-5")`](crate::flow::LiveFlow::set_model) | [`chat.set_model(model)`](crate::flow::LiveFlow::set_model) |
//! | the program | the variable `COLUMNAR_MODEL` | |
//! | default | `offline`, a stand-in without intelligence | |
//!
//! # Names
//!
//! `offline` always exists: this model extracts key phrases and sentences from the messages. With the feature
//! `providers`, a name is a provider and a model: `openai/gpt-5.4-mini`, `anthropic/claude-sonnet-5`,
//! `gemini/gemini-3.8-flash`, `ollama/llama3.2`. The name of the model is sent unchanged. The key is in the provider's
//! usual variable, such as `OPENAI_API_KEY`.
//!
//! An address after the name replaces the provider's: `openai/qwen3@http://127.0.0.1:8080/v1` is any server with
//! OpenAI's API. The address ends with the version of the API, and never appears in names, errors or spans. The
//! variable `COLUMNAR_BASE_URL` sends the calls of all other models that are chosen by name to one address.
//!
//! An unknown name that is a literal in `flow!`, as in `.model("opnai/gpt-5.4-mini")`, is a compile error. Any other
//! unknown name and a missing key are an [`Error::Model`](crate::Error::Model), which says what to do. A run checks all
//! models before any cell is computed:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let name = String::from("opnai/gpt-5.4-mini");       // from a file of settings, for example
//! let chat = flow! {
//!     source user;
//!     column topics(user.latest)   = prompt("List the topics.");
//!     column assistant(user, self) = prompt("Answer.").model(name);
//! };
//! chat.user.push("hello").await?;
//! let error = chat.run().await.expect_err("a slip");
//! assert!(error.to_string().starts_with("the model of `assistant` cannot be used, so nothing was computed: no model is named `opnai/gpt-5.4-mini`"));
//! assert_eq!(chat.topics.get(0), None);
//! # Ok(()) }
//! ```
//!
//! # Settings of a prompt
//!
//! | setting | meaning |
//! |---|---|
//! | [`max_tokens(200)`](crate::Prompt::max_tokens) | the maximum length of the reply in tokens, thoughts included; by default 4,096, or 25,000 for a [model that may think](crate::model::MaxTokens) |
//! | [`effort(Effort::High)`](crate::Prompt::effort) | how long the model may think before the reply |
//! | [`temperature(0.0)`](crate::Prompt::temperature), [`top_p(0.9)`](crate::Prompt::top_p), [`seed(7)`](crate::Prompt::seed) | the randomness of the model's choice of words |
//! | [`stop(["\n"])`](crate::Prompt::stop) | texts before which the reply ends |
//! | [`cache_key("…")`](crate::Prompt::cache_key) | the key that leads requests with a common prefix to one cache, for providers with keys |
//! | [`lenient()`](crate::Prompt::lenient) | leaves out settings that the model does not take |
//! | [`or_model("…")`](crate::Prompt::or_model) | the model that is called if the first one fails |
//! | [`strip_thoughts()`](crate::Prompt::strip_thoughts), [`keep_thoughts()`](crate::Prompt::keep_thoughts) | leaves out thoughts in the text, and keeps thoughts in the receipt |
//! | [`allow_truncated()`](crate::Prompt::allow_truncated), [`allow_empty()`](crate::Prompt::allow_empty) | stores replies that are cut off or have no text |
//! | [`pace(…)`](crate::Prompt::pace) | the time until the next request of the column, for the provider's [cache](super::caches), where it is not to be learnt |
//!
//! Not every model takes every setting: many models that think have no temperature, and efforts differ. By the tables
//! of the providers, a setting that the model does not take is an error before the run computes anything. A column that
//! is made for several models is `lenient`. Stop sequences always work: the client applies the sequences that a
//! provider does not take.
//!
//! # Backups
//!
//! A column with `or_model` asks the next model if one is overloaded, refuses, or cannot be reached. Such a column does
//! not wait for an overloaded model, as a column without a backup does. [`Event::Retry`](crate::Event::Retry) reports
//! each change:
//!
//! ```
//! use columnar::model::{End, Finish, Offline};
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let refuses = ScriptedModel::new(|_| "No.".to_owned()).end(|_| End::new(Finish::Refused));
//! let chat = flow! {
//!     source user;
//!     column answer(user) = prompt("Answer.").model(refuses.clone()).or_model(Offline::new());
//! };
//! chat.user.push("We should rewrite the backend in Rust.").await?;
//! chat.run().await?;
//! let receipt = chat.answer.receipt(0).expect("it called models");
//! assert_eq!((receipt.model.as_deref(), receipt.calls), (Some("offline"), 2));
//! # Ok(()) }
//! ```
//!
//! # Thoughts
//!
//! The thoughts of a model are never part of a value, nor of a later request: most providers refuse thoughts in a
//! request, or bind them to one conversation. Some servers send thoughts in the text, between `<think>` and `</think>`:
//! `strip_thoughts` leaves these out. `keep_thoughts` stores the thoughts in
//! [`Receipt::thoughts`](crate::usage::Receipt::thoughts), as far as the provider shows any.
//!
//! # What else a provider takes
//!
//! A model that is made by hand may have its own key, headers, and any member of the body:
//!
#![cfg_attr(feature = "providers", doc = "```")]
#![cfg_attr(not(feature = "providers"), doc = "```ignore")]
//! use columnar::model::Provider;
//! use serde_json::json;
//!
//! let model = Provider::new("openai/gpt-5.4-mini")?
//!     .key(|| "sk-…")                                      // called for each request, for example for its customer
//!     .header("openai-organization", "org-…")
//!     .body(json!({ "service_tier": "flex" }));            // merged last; `null` removes a member
//! # Ok::<(), columnar::model::ProviderError>(())
//! ```
//!
//! A resource of Azure is an address, `openai/my-deployment@https://my-resource.openai.azure.com/openai/v1`, with the
//! key in `AZURE_OPENAI_API_KEY` or `OPENAI_API_KEY`. A token of Entra is a header `authorization`.
//!
//! # Contexts that do not fit
//!
//! A [forecast](super::costs) says at which step a context reaches the [window](crate::model::ContextWindow) of the
//! model. A context that is longer by half is an error before the request is sent. Ollama gets room for the context and
//! the reply, up to `Provider::max_context`. A server that reads less than half of a request has cut the context: that
//! is an error, too, and nothing is stored.
//!
//! The providers end models. A run whose model [ends](crate::model::EndDate) within 30 days begins with an
//! [`Event::Warning`](crate::Event::Warning).
//!
//! # Unfinished replies
//!
//! A value is never computed again, so a reply that is not finished is no value. A reply that was cut off, at
//! `max_tokens` or because the context window is full, is an error of the cell, and so is a reply without text:
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
//! much; a call whose reply has no text is repeated. The tokens that a model thinks count against the limit, so a reply
//! may be cut off before the first text. In a typed column, the error is the error of the limit, not of the JSON.
//!
//! [`Receipt::finish`](crate::usage::Receipt::finish) is the reason why the reply ended, and tells the values that
//! `allow_truncated` has stored from others. Every other end that is known, such as a refusal of the provider, is an error,
//! and a refusal is not repeated. A reply with text whose end has a word that nobody knows yet is stored, with that word.
//!
//! # Limits that adapt
//!
//! All prompts with the same name share one limit on concurrent calls, which adapts to the provider. The limit begins
//! at 32, and doubles up to 1,000 while the provider answers and the calls in progress reach the limit. When the
//! provider answers "too many requests", or the program has no file left for a connection, the limit is halved, and
//! grows slowly from there; the refused calls wait as long as the provider asks, which an
//! [`Event::Waiting`](crate::Event::Waiting) shows, and are made again. A quota that is used up, or money that is
//! missing, is a refusal for good. One flow reaches more than 32 calls only if it [computes more
//! cells](super::runs#concurrency) at once.
//!
//! [`model::Adaptive`](crate::model::Adaptive) does the same for a model of your own, and with
//! [`max_concurrency(8)`](crate::model::Adaptive::max_concurrency) never makes more than 8 calls at once. To limit a
//! model of a provider in this way, wrap that model yourself:
//! `Adaptive::new(Provider::new("openai/gpt-5.4-mini")?).max_concurrency(8)`.
//!
//! # A model of your own
//!
//! A model of your own implements [`Model`](crate::model::Model): a name, and a reply as a stream of chunks. Any client
//! fits behind that trait. The last chunk has the reason of the end: [`Finish::Length`](crate::model::Finish::Length) for
//! a reply that was cut off.
//!
//! [← answers](super::answers) · [contents](super) · [costs →](super::costs)
