//! The forms in which each message is one string. These forms have no marks.

use serde_json::Value as Json;

use super::Rendering;
use super::blocks::SEPARATOR;
use super::json::message;
use crate::context::Role;

impl Rendering<'_> {
    /// The array `[{"role": "...", "content": "..."}]`: the instruction as a system message, unless empty, then the
    /// messages as in [`Messages::to_json`](crate::Messages::to_json).
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let messages = chat.answer.messages(0)?;
    /// assert_eq!(Rendering::new("Be brief.", &messages).merged(), json!([
    ///     { "role": "system", "content": "Be brief." },
    ///     { "role": "user", "content": "<user>\nHello!\n</user>" },
    /// ]));
    /// # Ok(()) }
    /// ```
    pub fn merged(&self) -> Json {
        let mut merged: Vec<(Role, String)> =
            self.messages.iter().map(|(role, content)| (role, content.into_owned())).collect();
        for (role, text) in self.follow_up {
            match merged.last_mut().filter(|(last, _)| last == role) {
                Some((_, content)) => content.extend([SEPARATOR, text]),
                None => merged.push((*role, String::from(&**text))),
            }
        }
        // Blank texts stay in this form, so only an empty instruction is left out.
        let system = (!self.system.is_empty()).then(|| message("system", self.system));
        system
            .into_iter()
            .chain(merged.iter().map(|(role, content)| message(role.as_str(), content)))
            .collect()
    }

    /// The messages for templates without a system role that require alternating user and assistant messages, such as
    /// the templates of Gemma and Mistral: the instruction is put in front of the first message. The first and the
    /// last message are the user's, unless a follow-up ends with the assistant.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::rendering::Rendering;
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let messages = chat.answer.messages(0)?;
    /// assert_eq!(Rendering::new("Be brief.", &messages).alternating(), json!([
    ///     { "role": "user", "content": "Be brief.\n\n<user>\nHello!\n</user>" },
    /// ]));
    /// # Ok(()) }
    /// ```
    pub fn alternating(&self) -> Json {
        let mut messages = self.joined();
        if let (Some((system, _)), Some(first)) = (self.system(), messages.first_mut()) {
            first.text.insert_str(0, SEPARATOR);
            first.text.insert_str(0, system);
        }
        messages.iter().map(|block| message(block.role.as_str(), &block.text)).collect()
    }
}
