//! The same calls through the crate genai, another client of the same providers: what both send, and what both read.
//!
//! ```text
//!             ┌──▶ columnar ──▶┐                    ┌──▶ request ─┐
//! a request ──┤                ├──▶ the same server ┤             ├─ must be equal
//!             └──▶ genai ─────▶┘                    └──▶ reply ───┘
//! ```
//!
//! Intended differences are rows with a reason.

mod replies;
mod requests;

use std::env;
use std::sync::{Arc, Mutex};

use columnar::cache::CachePolicy;
use columnar::model::{Chunk, Finish, Model, Provider, Request, Usage};
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar_tests::models::ChunkModel;
use genai::adapter::AdapterKind;
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, JsonSpec, StopReason,
};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::Value as Json;

/// The providers, each with the variable of its key, and whether its requests have a schema.
const PROVIDERS: [(&str, &str, bool); 21] = [
    ("aliyun", "ALIYUN_API_KEY", false),
    ("anthropic", "ANTHROPIC_API_KEY", true),
    ("cohere", "COHERE_API_KEY", false),
    ("deepseek", "DEEPSEEK_API_KEY", false),
    ("fireworks", "FIREWORKS_API_KEY", true),
    ("gemini", "GEMINI_API_KEY", true),
    ("groq", "GROQ_API_KEY", false),
    ("kimi", "KIMI_API_KEY", false),
    ("minimax", "MINIMAX_API_KEY", false),
    ("mistral", "MISTRAL_API_KEY", true),
    ("moonshot", "MOONSHOT_API_KEY", false),
    ("nebius", "NEBIUS_API_KEY", true),
    ("ollama", "", false),
    ("ollama_cloud", "OLLAMA_API_KEY", false),
    ("open_router", "OPEN_ROUTER_API_KEY", true),
    ("openai", "OPENAI_API_KEY", true),
    ("openai_resp", "OPENAI_API_KEY", true),
    ("qwen_cloud", "QWEN_CLOUD_API_KEY", false),
    ("together", "TOGETHER_API_KEY", true),
    ("xai", "XAI_API_KEY", true),
    ("zai", "ZAI_API_KEY", false),
];

/// The request of a column with self history after these values of its source.
async fn request(system: &'static str, values: &[&str]) -> Request {
    let seen = Arc::new(Mutex::new(None));
    let last = Arc::clone(&seen);
    let model = ChunkModel::new("test", move |call, request| {
        *last.lock().unwrap() = Some(request.clone());
        vec![Ok(Chunk::Text(format!("reply {call}"))), Ok(Chunk::stop())]
    });
    let chat = flow! {
        source user;
        column bot(user, self) = prompt(system).model(model.clone()).max_tokens(64);
    };
    for value in values {
        chat.user.push(*value).await.expect("a store in memory");
    }
    chat.run().await.expect("the model replies");
    let request = seen.lock().unwrap().take();
    request.expect("a request")
}

/// The outcome of a reply.
#[derive(Debug, PartialEq)]
struct Read {
    text: String,
    /// `None` if it has no end.
    finish: Option<Finish>,
    usage: Option<Usage>,
    is_error: bool,
}

/// Calls a model of columnar.
async fn ours(name: &str, url: &str, request: Request) -> Read {
    let model = Provider::new(name).expect("a provider").base_url(url);
    let mut read = Read { text: String::new(), finish: None, usage: None, is_error: false };
    let mut reply = model.reply(request);
    while let Some(chunk) = reply.next().await {
        match chunk {
            Ok(Chunk::Text(text)) => read.text += &text,
            Ok(Chunk::End(end)) => (read.finish, read.usage) = (Some(end.finish), end.usage),
            Err(_) => read.is_error = true,
            Ok(other) => panic!("{other:?}"),
        }
    }
    read
}

/// The kind of a provider's interface in the other client. That of Z.AI ignores the address; it is that of OpenAI.
fn kind(provider: &str) -> AdapterKind {
    let name = if provider == "zai" { "openai" } else { provider };
    AdapterKind::from_lower_str(name).expect("it knows the provider")
}

/// Calls the same model through genai.
async fn peer(client: &Client, name: &str, url: &str, request: &Request) -> Read {
    let (provider, model) = name.split_once('/').expect("a provider");
    let (_, variable, has_schema) =
        PROVIDERS.into_iter().find(|(name, ..)| *name == provider).expect("a known one");
    let key = || AuthData::from_single(env::var(variable).unwrap_or("none".to_owned()));
    let target = ServiceTarget {
        // An address of the user gets a slash, too.
        endpoint: Endpoint::from_owned(url.replace("/v1", "/v1/")),
        auth: if variable.is_empty() { AuthData::None } else { key() },
        model: ModelIden::new(kind(provider), model),
    };
    let options = options(request, has_schema);
    let mut read = Read { text: String::new(), finish: None, usage: None, is_error: false };
    let Ok(reply) = client.exec_chat_stream(target, chat(name, request), Some(&options)).await else {
        return Read { is_error: true, ..read };
    };
    let mut stream = reply.stream;
    while let Some(event) = stream.next().await {
        match event {
            Ok(ChatStreamEvent::Chunk(chunk)) => read.text += &chunk.content,
            Ok(ChatStreamEvent::ToolCallChunk(_)) => {
                return Read { finish: Some(Finish::Other("tool_calls".to_owned())), ..read };
            }
            Ok(ChatStreamEvent::End(end)) => {
                read.finish = end.captured_stop_reason.map(finish);
                let usage = end.captured_usage.and_then(usage);
                read.usage = usage.filter(|_| read.finish.is_some());
                return read;
            }
            Ok(_) => {}
            Err(_) => return Read { is_error: true, ..read },
        }
    }
    read
}

/// The messages of a request, marked as columnar marks them.
fn chat(name: &str, request: &Request) -> ChatRequest {
    let body = Rendering::of(request, CachePolicy::by_model(name)).anthropic();
    let is_marked = body.to_string().contains("\"cache_control\"");
    let mark = |block: &Json| match block["cache_control"]["ttl"].as_str() {
        _ if block["cache_control"].is_null() => None,
        Some("1h") => Some(CacheControl::Ephemeral1h),
        _ => Some(CacheControl::Ephemeral),
    };
    let text = |block: &Json| block["text"].as_str().expect("a text").to_owned();
    let message = |role: &str, text: String, mark: Option<CacheControl>| {
        let message = match role {
            "system" => ChatMessage::system(text),
            "user" => ChatMessage::user(text),
            _ => ChatMessage::assistant(text),
        };
        mark.into_iter().fold(message, ChatMessage::with_options)
    };
    let mut chat = ChatRequest::new(Vec::new());
    for block in body["system"].as_array().into_iter().flatten() {
        chat = match mark(block) {
            None => chat.with_system(text(block)),
            mark => chat.append_message(message("system", text(block), mark)),
        };
    }
    for whole in body["messages"].as_array().expect("messages") {
        let (role, blocks) = (whole["role"].as_str().unwrap(), whole["content"].as_array().unwrap());
        if is_marked {
            for block in blocks {
                chat = chat.append_message(message(role, text(block), mark(block)));
            }
        } else {
            chat = chat.append_message(message(role, blocks.iter().map(text).collect(), None));
        }
    }
    chat
}

fn options(request: &Request, has_schema: bool) -> ChatOptions {
    let options = ChatOptions::default().with_max_tokens(request.max_tokens).with_capture_usage(true);
    let options = options.with_stop_sequences(request.stop.to_vec());
    let temperature = request.temperature.map(|number| number.to_string().parse().expect("a number"));
    let options = temperature.into_iter().fold(options, ChatOptions::with_temperature);
    let schema = request.schema.as_ref().filter(|_| has_schema);
    let schema = schema.map(|schema| JsonSpec::new(schema.name.clone(), schema.json.clone()));
    schema.into_iter().fold(options, ChatOptions::with_response_format)
}

/// The reason of an end, in the words of columnar.
fn finish(reason: StopReason) -> Finish {
    match reason {
        StopReason::Completed(_) | StopReason::StopSequence(_) => Finish::Stop,
        StopReason::MaxTokens(word)
            if ["model_context_window_exceeded", "model_length"].contains(&&*word) =>
        {
            Finish::ContextWindow
        }
        StopReason::MaxTokens(_) => Finish::Length,
        StopReason::ContentFilter(_) => Finish::Refused,
        StopReason::ToolCall(word) | StopReason::Other(word) => Finish::Other(word),
    }
}

fn usage(usage: genai::chat::Usage) -> Option<Usage> {
    let count = |tokens: Option<i32>| tokens.map_or(0, |tokens| u64::try_from(tokens).expect("a count"));
    let details = usage.prompt_tokens_details.unwrap_or_default();
    let thoughts = usage.completion_tokens_details.and_then(|details| details.reasoning_tokens);
    let output = usage.completion_tokens.or(thoughts);
    let usage = Usage::new(count(Some(usage.prompt_tokens?)), count(output));
    Some(usage.cached(count(details.cached_tokens), count(details.cache_creation_tokens)))
}
