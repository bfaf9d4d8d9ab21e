//! The chat completions of OpenAI, and of every server that speaks like it.

use serde_json::{Value as Json, json};

use super::Rendering;
use super::blocks::listed;
use super::strings::message;

impl Rendering<'_> {
    /// What chat completions are sent, without the model and its settings.
    ///
    /// ```
    /// # use columnar::prelude::*;
    /// # use columnar::rendering::Rendering;
    /// # use serde_json::json;
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// # let chat = flow! {
    /// #     source user;
    /// #     column answer(user, self) = prompt("Be brief.");
    /// # };
    /// # chat.user.push("Hello!").await?;
    /// # let messages = chat.answer.messages(0)?;
    /// let mut body = Rendering::new("Be brief.", &messages).openai();
    /// body["model"] = json!("gpt-4o-mini");
    /// assert_eq!(body, json!({
    ///     "model": "gpt-4o-mini",
    ///     "messages": [
    ///         { "role": "system", "content": "Be brief." },
    ///         { "role": "user", "content": "<user>\nHello!\n</user>" },
    ///     ],
    /// }));
    /// # Ok(()) }
    /// ```
    ///
    /// With marks, the content of a message is a list of its parts.
    pub fn openai(&self) -> Json {
        let mut messages = match self.is_marked() {
            true => listed(&self.blocks(), |block| text(&block.text, block.mark.is_some())),
            false => self.joined().iter().map(|block| message(block.role.as_str(), &block.text)).collect(),
        };
        if let Some((system, mark)) = self.system() {
            let content = match self.is_marked() {
                true => json!([text(system, mark.is_some())]),
                false => json!(system),
            };
            messages.insert(0, json!({ "role": "system", "content": content }));
        }
        let mut body = json!({ "messages": messages });
        if let Some(options) = self.prompt_cache_options() {
            body["prompt_cache_options"] = options;
        }
        body
    }

    /// Without a word the end of each request would be kept as well, and paid for, whoever repeats it. There is but one
    /// lifetime.
    pub(super) fn prompt_cache_options(&self) -> Option<Json> {
        match self.is_marked() {
            true => Some(json!({ "mode": "explicit", "ttl": "30m" })),
            false => self.is_openai.then(|| json!({ "mode": "explicit" })),
        }
    }
}

fn text(text: &str, is_marked: bool) -> Json {
    let mut part = json!({ "type": "text", "text": text });
    if is_marked {
        part["prompt_cache_breakpoint"] = breakpoint();
    }
    part
}

pub(super) fn breakpoint() -> Json {
    json!({ "mode": "explicit" })
}
