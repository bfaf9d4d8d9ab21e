//! Which model answers a prompt.
//!
//! [`prompt`](crate::prompt) says what is wanted and not who does it. So the same flow is tested with a script, tried
//! without a key and shipped with a real model, and no column changes:
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
//! The nearest choice counts:
//!
//! | for | by its name | itself |
//! |---|---|---|
//! | a column | `prompt("…").model("openai/gpt-4o-mini")` | `prompt("…").with(model)` |
//! | a flow | [`chat.set_model("anthropic/claude-sonnet-4-5")`](crate::flow::LiveFlow::set_model) | [`chat.set_model(model)`](crate::flow::LiveFlow::set_model) |
//! | the program | the variable `COLUMNAR_MODEL` | |
//! | otherwise | `offline`, a stand-in without any intelligence | |
//!
//! # Names
//!
//! `offline` is always there. With the feature `genai` a name is a provider and its model: `openai/gpt-4o-mini`,
//! `anthropic/claude-sonnet-4-5`, `gemini/gemini-2.5-flash`, `ollama/llama3.2`. The key is in the provider's usual
//! variable, such as `OPENAI_API_KEY`. All who ask for a name ask the same model, so they have
//! [one limit](crate::model::Adaptive) on calls at once.
//!
//! An address behind the name is asked in place of the provider: `openai/qwen3@http://127.0.0.1:8080/v1` is any server
//! that speaks the language of OpenAI. It goes up to the version, and it is never shown.
//!
//! A name that there is not, and a key that is missing, are [`Error::Model`](crate::Error::Model), which says what to
//! do. The run asks all models that it needs for that before anything is computed:
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column topics(user.latest) = prompt("List the topics.");
//!     column assistant(user, self) = prompt("Answer.").model("opnai/gpt-4o-mini");
//! };
//! chat.user.push("hello").await?;
//! let error = chat.run().await.expect_err("a slip");
//! assert!(error.to_string().starts_with("`assistant` cannot be computed, so nothing was: no model is named `opnai/gpt-4o-mini`"));
//! assert_eq!(chat.topics.get(0), None);
//! # Ok(()) }
//! ```
//!
//! # What is asked
//!
//! | said | means |
//! |---|---|
//! | [`max_tokens(200)`](crate::Prompt::max_tokens) | the reply has so many tokens at the most; 1024 unless told otherwise, for a model can go on for ever |
//! | [`temperature(0.0)`](crate::Prompt::temperature) | how freely the model chooses its words |
//! | [`stop(["\n"])`](crate::Prompt::stop) | texts before which the reply ends |
//! | [`pace(…)`](crate::Prompt::pace) | when the column asks again, for the [cache](super::caches) of its provider |
//!
//! # A model of your own
//!
//! implements [`Model`](crate::model::Model): a name, and a reply as a stream of pieces. Whatever client you have fits
//! behind it.
//!
//! Next: [what it costs](super::costs).
