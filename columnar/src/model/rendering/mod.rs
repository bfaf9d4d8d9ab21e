//! One context in the request formats of several APIs.
//!
//! ```text
//!                                    ┌─▶ merged        every message is one string
//! instruction ─┐                     ├─▶ ai_sdk        the AI SDK, version 7
//! messages ────┼─▶ Rendering ────────┼─▶ anthropic     the Messages API
//! follow-up ───┘       ▲             ├─▶ openai        chat completions
//!                  CachePlan         └─▶ alternating   templates without a system role
//! ```
//!
//! The text is the same in all formats, to the byte; formats differ in where the text is split, and in the form of
//! cache marks. A blank reply is a message in [`merged`](Rendering::merged) alone, because providers refuse blank
//! messages; elsewhere its neighbours become one message.
//!
//! A rendering sends nothing: [`prompt`](crate::prompt) and its models do that. Renderings are for your own clients.
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
//!     column answer(user, self) = script(["Hi!", ""]);
//! };
//! chat.user.push("hello").await?;
//! chat.user.push("bye").await?;
//! chat.run().await?;
//! let messages = chat.answer.messages(1)?;
//! let rendering = Rendering::new("Be brief.", &messages);
//! assert_eq!(rendering.anthropic(), json!({
//!     "system": [{ "type": "text", "text": "Be brief." }],
//!     "messages": [
//!         { "role": "user", "content": [{ "type": "text", "text": "<user>\nhello\n</user>" }] },
//!         { "role": "assistant", "content": [{ "type": "text", "text": "Hi!" }] },
//!         { "role": "user", "content": [{ "type": "text", "text": "<user>\nbye\n</user>" }] },
//!     ],
//! }));
//! # Ok(()) }
//! ```

mod blocks;
mod forms;
mod media;
mod request;

use std::sync::Arc;

pub(crate) use self::blocks::Block;
use self::blocks::{blocks, is_blank, joined, mark};
#[cfg(feature = "providers")]
pub(crate) use self::forms::cache_control;
pub(crate) use self::media::{PartForm, message};
#[cfg(any(feature = "typed", feature = "providers"))]
pub(crate) use self::request::INVALID_REPLY;
pub use self::request::{ReplySettings, Request, Schema};
use crate::context::{Messages, Role};
use crate::history::MediaRules;
use crate::history::tokens::{Counter as _, Estimate};
use crate::model::cache::{CachePlan, CachePolicy, Lifetime, Position};

/// A request with borrowed content, ready to be written in one of the forms.
#[derive(Clone, Debug)]
pub struct Rendering<'m> {
    system: &'m str,
    messages: &'m Messages,
    follow_up: &'m [(Role, Arc<str>)],
    plan: CachePlan,
    media: &'static MediaRules,
    /// Whether the provider is OpenAI and accepts marks. Then OpenAI also caches other prefixes, unless the request
    /// disables that.
    is_openai: bool,
}

impl<'m> Rendering<'m> {
    /// A rendering of messages under an instruction, which may be empty. Nothing is marked.
    pub fn new(system: &'m str, messages: &'m Messages) -> Self {
        let media = &MediaRules::ANY;
        Self { system, messages, follow_up: &[], plan: CachePlan::default(), media, is_openai: false }
    }

    /// A rendering of a request, marked for a provider by the pace, as [`prompt`](crate::prompt) sends it.
    ///
    /// ```
    /// use columnar::cache::CachePolicy;
    /// use columnar::model::{Chunk, Model, Request};
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use futures::stream::{self, BoxStream};
    ///
    /// /// A client that replies with the body that it would send.
    /// struct Client;
    ///
    /// impl Model for Client {
    ///     fn name(&self) -> &str {
    ///         "anthropic/claude-sonnet-5-5"
    ///     }
    ///
    ///     fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
    ///         let body = Rendering::of(&request, CachePolicy::by_model(self.name())).anthropic();
    ///         stream::iter([Ok(Chunk::Text(body.to_string())), Ok(Chunk::stop())]).boxed()
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.").model(Client);
    /// };
    /// chat.user.push("What do you think of this? ".repeat(200)).await?;
    /// chat.run().await?;
    /// assert!(chat.answer.get(0).is_some_and(|body| body.contains(r#""cache_control":{"type":"ephemeral"}"#)));
    /// # Ok(()) }
    /// ```
    pub fn of(request: &'m Request, policy: &CachePolicy) -> Self {
        let Request { system, messages, follow_up, pace, media, .. } = request;
        let plan = CachePlan::of(messages, Estimate.count(system), policy, *pace);
        Self { media, ..Self::new(system, messages).follow_up(follow_up).marked(plan, policy) }
    }

    /// Adds messages after the context: see [`Request::follow_up`](crate::model::Request::follow_up). Such messages
    /// are never marked, and everything before stays as it was.
    #[must_use]
    pub fn follow_up(self, follow_up: &'m [(Role, Arc<str>)]) -> Self {
        Self { follow_up, ..self }
    }

    /// Adds the marks of a plan for the cache of this provider.
    ///
    /// ```
    /// use columnar::cache::{Pace, CachePolicy};
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("What do you think of this? ".repeat(200)).await?;
    /// let (messages, provider) = (chat.answer.messages(0)?, CachePolicy::by_model("anthropic/claude-sonnet-5-5"));
    /// let plan = chat.answer.cache_plan(0, provider, Pace::batch())?;
    /// let body = Rendering::new("Be brief.", &messages).marked(plan, provider).anthropic();
    /// assert_eq!(body["messages"][0]["content"][0]["cache_control"], json!({ "type": "ephemeral" }));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn marked(self, plan: CachePlan, policy: &CachePolicy) -> Self {
        // The prefix `openai_resp/`, of the Responses API, belongs to OpenAI too.
        let is_openai = policy.models.iter().any(|models| models.starts_with("openai"));
        Self { plan, is_openai: is_openai && policy.most_marks > 0, ..self }
    }

    /// The instruction and its mark; `None` if the instruction is blank.
    pub(crate) fn system(&self) -> Option<(&'m str, Option<Lifetime>)> {
        let mark = self.plan.marks.iter().find(|mark| mark.position == Position::System);
        (!is_blank(self.system)).then_some((self.system, mark.map(|mark| mark.lifetime)))
    }

    /// Whether there are marks: then blocks are not joined.
    pub(crate) fn is_marked(&self) -> bool {
        !self.plan.marks.is_empty()
    }

    /// The blocks with marks.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        let mut blocks = blocks(self.messages, self.follow_up, self.media);
        mark(&mut blocks, &self.plan);
        blocks
    }

    /// One block for each message, without marks.
    pub(crate) fn joined(&self) -> Vec<Block> {
        joined(blocks(self.messages, self.follow_up, self.media))
    }
}
