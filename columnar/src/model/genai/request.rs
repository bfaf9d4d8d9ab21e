//! The messages and the options of a request for the client. Messages are marked for the cache of the provider.

use ::genai::chat::{CacheControl, ChatMessage, ChatOptions, ChatRequest, JsonSpec, MessageOptions};

use super::schema::in_dialect;
use crate::cache::{CachePolicy, Lifetime};
use crate::context::Role;
use crate::registry::Provider;
use crate::rendering::{Block, Rendering, Request};

/// The request to the model of this name.
pub(super) fn chat_request(model: &str, request: &Request) -> ChatRequest {
    let rendering = Rendering::of(request, CachePolicy::by_model(model));
    let chat = ChatRequest::new(Vec::new());
    let chat = match rendering.system() {
        None => chat,
        Some((system, None)) => chat.with_system(system),
        Some((system, Some(lifetime))) => {
            // The client's field for the system text has no options, so a mark needs a message.
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

/// The options of a request. A schema that the provider does not accept is left out.
pub(super) fn chat_options(provider: &Provider, request: &Request) -> ChatOptions {
    let options = ChatOptions::default().with_max_tokens(request.max_tokens).with_capture_usage(true);
    let options = match request.temperature {
        Some(temperature) => options.with_temperature(round(temperature)),
        None => options,
    };
    let options = match &*request.stop {
        [] => options,
        stop => options.with_stop_sequences(stop.to_vec()),
    };
    let schema = request.schema.as_ref().zip(provider.schema);
    match schema.and_then(|(schema, dialect)| Some((schema, in_dialect(&schema.json, dialect)?))) {
        Some((schema, json)) => options.with_response_format(JsonSpec::new(schema.name.clone(), json)),
        // The instruction of a typed column has the schema as well, so nothing is lost without it.
        None => options,
    }
}

/// The number with the digits that the user wrote: 0.7, not `0.699_999_988`.
fn round(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| number.into())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cache::Pace;
    use crate::prelude::*;
    use crate::testing::script;

    /// The role and the text of each message to a model of this name, and whether it is marked.
    async fn messages(name: &str, text: &str, follow_up: &[(Role, &str)]) -> Vec<(String, String, bool)> {
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
            assert_eq!(messages(name, &long, &[reply, why]).await, expected, "{name}");
        }
        // A blank reply is not sent, so the two user messages are adjacent.
        let blank = (Role::Assistant, " \n");
        let apart = messages("anthropic/claude-sonnet-4-5", &long, &[blank, why]).await;
        let texts: Vec<_> = apart.iter().map(|(_, text, is_marked)| (text.as_str(), *is_marked)).collect();
        assert_eq!(texts, [(first.as_str(), true), ("\n\nSay it in JSON.", false)]);
        let whole = messages("openai/gpt-4o", &long, &[blank, why]).await;
        assert_eq!(whole.len(), 1, "some templates refuse two user messages in a row");
        assert_eq!(whole[0].1, format!("{first}\n\nSay it in JSON."));
    }

    #[test]
    fn a_number_is_sent_as_it_was_written() {
        for (number, sent) in [(0.0, 0.0), (0.7, 0.7), (1.0, 1.0), (0.1, 0.1), (f32::MAX, 3.402_823_5e38)] {
            assert!((round(number) - sent).abs() < f64::EPSILON, "{number}");
        }
    }
}
