//! The messages of a request for the client, marked for the cache of the provider.

use ::genai::chat::{CacheControl, ChatMessage, ChatRequest, MessageOptions};

use crate::cache::{CachePolicy, Lifetime};
use crate::context::Role;
use crate::rendering::{Block, Rendering, Request};

/// The request to the model of this name.
pub(super) fn chat_request(model: &str, request: &Request) -> ChatRequest {
    let rendering = Rendering::of(request, CachePolicy::by_model(model));
    let chat = ChatRequest::new(Vec::new());
    let chat = match rendering.system() {
        None => chat,
        Some((system, None)) => chat.with_system(system),
        Some((system, Some(lifetime))) => {
            chat.append_message(ChatMessage::system(system).with_options(cache_control(lifetime)))
        }
    };
    // A cache entry is found at the end of a block, so with marks each block is sent separately. Providers join adjacent
    // messages of equal role.
    let blocks = if rendering.is_marked() { rendering.blocks() } else { rendering.joined() };
    chat.append_messages(blocks.into_iter().map(message))
}

fn message(block: Block) -> ChatMessage {
    let message = match block.role {
        Role::User => ChatMessage::user(block.text),
        Role::Assistant => ChatMessage::assistant(block.text),
    };
    match block.mark {
        Some(lifetime) => message.with_options(cache_control(lifetime)),
        None => message,
    }
}

fn cache_control(lifetime: Lifetime) -> MessageOptions {
    MessageOptions::from(match lifetime {
        Lifetime::Short => CacheControl::Ephemeral,
        Lifetime::Long => CacheControl::Ephemeral1h,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cache::Pace;
    use crate::prelude::*;
    use crate::testing::script;

    /// The role and the text of each message to a model of this name, and whether it is marked.
    async fn sent(name: &str, text: &str, follow_up: &[(Role, &str)]) -> Vec<(String, String, bool)> {
        let user = source("user");
        let bot = flow([column("bot", vec![user.all(), this()], script([""]))]).expect("a sound flow");
        bot.push("user", text).await.expect("memory takes it");
        let request = Request {
            system: "Be brief.".into(),
            messages: bot.messages("bot", 0).expect("it is stored"),
            follow_up: follow_up.iter().map(|(role, text)| (*role, Arc::from(*text))).collect(),
            max_tokens: 64,
            temperature: None,
            stop: [].into(),
            schema: None,
            pace: Pace::default(),
        };
        let message = |message: ChatMessage| {
            let is_marked = message.options.is_some_and(|options| options.cache_control.is_some());
            (message.role.to_string(), message.content.into_joined_texts().unwrap_or_default(), is_marked)
        };
        chat_request(name, &request).messages.into_iter().map(message).collect()
    }

    #[tokio::test]
    async fn a_follow_up_is_sent_after_the_messages_and_never_marked() {
        let long = "user ".repeat(1000);
        let first = format!("<user>\n{long}\n</user>");
        let (reply, why) = ((Role::Assistant, "No."), (Role::User, "Say it in JSON."));
        for (name, is_marked) in [("anthropic/claude-sonnet-4-5", true), ("openai/gpt-4o", false)] {
            let user = |text: &str, is_marked| ("User".to_owned(), text.to_owned(), is_marked);
            let rest = [("Assistant".to_owned(), "No.".to_owned(), false), user(why.1, false)];
            let expected = [&[user(&first, is_marked)][..], &rest].concat();
            assert_eq!(sent(name, &long, &[reply, why]).await, expected, "{name}");
        }
        // A blank reply is not sent, so the two user messages are adjacent.
        let blank = (Role::Assistant, " \n");
        let apart = sent("anthropic/claude-sonnet-4-5", &long, &[blank, why]).await;
        let texts: Vec<_> = apart.iter().map(|(_, text, is_marked)| (text.as_str(), *is_marked)).collect();
        assert_eq!(texts, [(first.as_str(), true), ("\n\nSay it in JSON.", false)]);
        let whole = sent("openai/gpt-4o", &long, &[blank, why]).await;
        assert_eq!(whole.len(), 1, "some templates refuse two user messages in a row");
        assert_eq!(whole[0].1, format!("{first}\n\nSay it in JSON."));
    }
}
