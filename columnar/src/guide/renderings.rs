//! Write a context in the request format of your own client.
//!
//! Chapter 22 of 37 · [← documents](super::documents) · [contents](super) · [media →](super::media)
//!
//! A prompt sends the context itself. A client of your own needs the same context in the format of the provider. A
//! [`Rendering`](crate::rendering::Rendering) has five formats:
//!
//! | format | for | instruction | content of a message |
//! |---|---|---|---|
//! | [`merged`](crate::rendering::Rendering::merged) | any reader of `[{"role", "content"}]` | first message | a string |
//! | [`ai_sdk`](crate::rendering::Rendering::ai_sdk) | the AI SDK, `generateText` and `streamText` | `instructions` | parts |
//! | [`anthropic`](crate::rendering::Rendering::anthropic) | Anthropic's Messages API | `system` | blocks |
//! | [`openai`](crate::rendering::Rendering::openai) | chat completions | first message | a string, or parts if there are marks |
//! | [`alternating`](crate::rendering::Rendering::alternating) | templates without a system role | start of the first message | a string |
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::rendering::Rendering;
//! use columnar::testing::script;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column mood(user.latest)               = script(["annoyed", "curious"]);
//!     column answer(user, mood.latest, self) = script(["Since when?", "The backup."]);
//! };
//! chat.user.push("It is slow.").await?;
//! chat.user.push("On Mondays. Why?").await?;
//! chat.run().await?;
//!
//! let messages = chat.answer.messages(1)?;
//! let rendering = Rendering::new("Help.", &messages);
//! assert_eq!(rendering.merged(), json!([
//!     { "role": "system", "content": "Help." },
//!     { "role": "user", "content": "<user>\nIt is slow.\n</user>" },
//!     { "role": "assistant", "content": "Since when?" },
//!     { "role": "user", "content": "<user>\nOn Mondays. Why?\n</user>\n\n<mood>\ncurious\n</mood>" },
//! ]));
//! assert_eq!(rendering.anthropic(), json!({
//!     "system": [{ "type": "text", "text": "Help." }],
//!     "messages": [
//!         { "role": "user", "content": [{ "type": "text", "text": "<user>\nIt is slow.\n</user>" }] },
//!         { "role": "assistant", "content": [{ "type": "text", "text": "Since when?" }] },
//!         { "role": "user", "content": [
//!             { "type": "text", "text": "<user>\nOn Mondays. Why?\n</user>" },
//!             { "type": "text", "text": "\n\n<mood>\ncurious\n</mood>" },
//!         ] },
//!     ],
//! }));
//! # Ok(()) }
//! ```
//!
//! The text is the same in all formats. Each value is a separate block, and the separating empty line is at the start
//! of that block. So a message that grows keeps the earlier blocks unchanged, and a provider's cache recognises them.
//!
//! A blank reply stays a message in `merged`. Providers refuse blank messages, so the other formats leave it out and
//! merge the messages around it.
//!
//! # Marks
//!
//! A rendering writes the [marks](super::caches) of a request in the provider's format:
//!
//! ```
//! use columnar::cache::{Pace, CachePolicy};
//! use columnar::prelude::*;
//! use columnar::rendering::Rendering;
//! use columnar::testing::script;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = script(["Since when?"]);
//! };
//! chat.user.push("It is slow. ".repeat(500)).await?;
//! let (messages, pace) = (chat.answer.messages(0)?, Pace::batch());
//! let marked = |model| -> Result<Rendering<'_>> {
//!     let provider = CachePolicy::by_model(model);
//!     let plan = chat.answer.cache_plan(0, provider, pace)?;
//!     Ok(Rendering::new("Help.", &messages).marked(plan, provider))
//! };
//!
//! let claude = marked("anthropic/claude-sonnet-5")?;
//! let block = &claude.anthropic()["messages"][0]["content"][0];
//! assert_eq!(block["cache_control"], json!({ "type": "ephemeral" }));
//! let part = &claude.ai_sdk()["messages"][0]["content"][0];
//! assert_eq!(part["providerOptions"]["anthropic"]["cacheControl"], json!({ "type": "ephemeral" }));
//!
//! let gpt = marked("openai/gpt-5.6")?.openai();
//! assert_eq!(gpt["messages"][1]["content"][0]["prompt_cache_breakpoint"], json!({ "mode": "explicit" }));
//! assert_eq!(gpt["prompt_cache_options"], json!({ "mode": "explicit", "ttl": "30m" }));
//! # Ok(()) }
//! ```
//!
//! An implementation of [`Model`](crate::model::Model) has a request, and
//! [`Rendering::of`](crate::rendering::Rendering::of) renders it with all marks.
//!
//! # Strict templates
//!
//! The templates of some models, such as Gemma and Mistral, have no system role and refuse two adjacent messages of the
//! same role:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::rendering::Rendering;
//! use columnar::testing::script;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column answer(user, self) = script([""; 2]); // its replies are blank
//! };
//! chat.user.push("It is slow.").await?;
//! chat.user.push("On Mondays.").await?;
//! chat.run().await?;
//!
//! assert_eq!(Rendering::new("Help.", &chat.answer.messages(1)?).alternating(), json!([
//!     { "role": "user", "content":
//!         "Help.\n\n<user>\nIt is slow.\n</user>\n\n<user>\nOn Mondays.\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! [← documents](super::documents) · [contents](super) · [media →](super::media)
