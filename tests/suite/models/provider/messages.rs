//! Messages of providers that a user must be able to read, although the conversation has their words.
//!
//! An earlier redaction replaced every word of more than three letters that the conversation had as well. In a conversation
//! about APIs nothing was left: `… …: '…' is not … with this …`.

use std::error::Error;
use std::iter;

use columnar::model::Provider;
use columnar::prelude::*;
use columnar_tests::server::{Server, WIRES, answer};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::compute_reply_to;

/// Errors of OpenAI, Azure, `DeepSeek` and Groq: the type, the code, the parameter and the message.
const OPENAI: [[&str; 4]; 11] = [
    [
        INVALID,
        "unsupported_parameter",
        "max_tokens",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ],
    [
        INVALID,
        "unsupported_value",
        "temperature",
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    ],
    [
        INVALID,
        "",
        "response_format",
        "Invalid schema for response_format 'Review': In context=(), 'additionalProperties' is required to be supplied and to be false.",
    ],
    [
        INVALID,
        "context_length_exceeded",
        "messages",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
    ],
    [
        "insufficient_quota",
        "insufficient_quota",
        "",
        "You exceeded your current quota, please check your plan and billing details.",
    ],
    [INVALID, "model_not_found", "", "The model `test` does not exist or you do not have access to it."],
    [
        INVALID,
        "invalid_type",
        "messages[0].content[1].image_url",
        "Invalid type for 'messages[0].content[1].image_url': expected an object, but got a string instead.",
    ],
    [
        "",
        "DeploymentNotFound",
        "",
        "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.",
    ],
    [
        "",
        "content_filter",
        "prompt",
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
    ],
    [
        INVALID,
        INVALID,
        "",
        "Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.",
    ],
    [
        "tokens",
        "rate_limit_exceeded",
        "",
        "Rate limit reached for model `test` on tokens per minute (TPM): Limit 6000, Used 5871, Requested 824. Please try again in 6.95s.",
    ],
];

/// Errors of Anthropic: the type and the message.
const ANTHROPIC: [[&str; 2]; 6] = [
    [INVALID, "messages: text content blocks must be non-empty"],
    [INVALID, "prompt is too long: 208310 tokens > 200000 maximum"],
    [
        INVALID,
        "max_tokens: 300000 > 64000, which is the maximum allowed number of output tokens for claude-sonnet-4-5",
    ],
    [INVALID, "messages.1.content.0.text.cache_control: Extra inputs are not permitted"],
    [
        INVALID,
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
    ],
    ["overloaded_error", "Overloaded"],
];

/// Errors of Gemini: the status and the message.
const GEMINI: [[&str; 2]; 3] = [
    [
        "INVALID_ARGUMENT",
        "Invalid JSON payload received. Unknown name \"additionalProperties\" at 'generation_config.response_schema': Cannot find field.",
    ],
    [
        "INVALID_ARGUMENT",
        "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
    ],
    [
        "NOT_FOUND",
        "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.",
    ],
];

/// Errors of Mistral, xAI, Ollama and `OpenRouter`: the body and what is shown before the message.
const OTHERS: [[&str; 3]; 5] = [
    [
        r#"{"object": "error", "message": "…", "type": "invalid_model", "code": "1500"}"#,
        "invalid_model, 1500: ",
        "Invalid model: mistral-huge",
    ],
    [
        r#"{"detail": "…"}"#,
        "",
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    ],
    [
        r#"{"code": "Client specified an invalid argument", "error": "…"}"#,
        "",
        "Argument not supported on this model: presencePenalty",
    ],
    [r#"{"error": "…"}"#, "", "registry.ollama.ai/library/llama3.2 model not found, try pulling it first"],
    [
        r#"{"error": {"code": 402, "message": "…"}}"#,
        "402: ",
        "This request requires more credits, or fewer max_tokens. You requested up to 64000 tokens, but can only afford 1200.",
    ],
];

const INVALID: &str = "invalid_request_error";

/// What providers answer: the bodies of errors, and what is shown of them.
fn errors() -> Vec<(Json, String)> {
    let openai = OPENAI.map(|[kind, code, param, message]| {
        let words: Vec<&str> = [kind, code, param].into_iter().filter(|word| !word.is_empty()).collect();
        let error = json!({"message": message, "type": kind, "param": param, "code": code});
        (json!({ "error": error }), format!("{}: {message}", words.join(", ")))
    });
    let anthropic = ANTHROPIC.map(|[kind, message]| {
        (json!({"type": "error", "error": {"type": kind, "message": message}}), format!("{kind}: {message}"))
    });
    let gemini = GEMINI.map(|[status, message]| {
        let error = json!({"code": 400, "message": message, "status": status});
        (json!([{ "error": error }]), format!("{status}, 400: {message}"))
    });
    let others = OTHERS.map(|[body, before, message]| {
        let body = body.replace('…', message).parse().expect("JSON");
        (body, format!("{before}{message}"))
    });
    openai.into_iter().chain(anthropic).chain(gemini).chain(others).collect()
}

#[tokio::test]
async fn p3_a_message_is_readable_in_a_conversation_with_all_its_words() {
    let all: Vec<_> = errors().iter().map(|(body, shown)| format!("{body} {shown}")).collect();
    let all = all.join(" ");
    let conversation = all.split_whitespace().collect::<Vec<_>>().join(" and ");
    for (body, shown) in errors() {
        for wire in WIRES {
            let server = Server::always(answer("400 No", &body.to_string())).await;
            let outcome = compute_reply_to(wire.model(&server), 0, &conversation).await;
            let expected = format!("`{}` answered with HTTP status 400: {shown}", wire.name());
            assert!(outcome.cause().contains(&expected), "{} is not {expected}", outcome.cause());
        }
    }
}

#[tokio::test]
async fn x2_a_sentence_that_a_message_quotes_is_hidden_and_the_rest_is_shown() {
    let secret = "My doctor, Zoë Lindqvist, says that \"the harbour\"\nof Marseille closes at dawn.";
    let escaped = json!(secret).to_string();
    for (message, shown) in [
        (
            format!("Invalid value: '{secret}'. Supported values are: 'a'."),
            "Invalid value: '….'. Supported values are: 'a'.",
        ),
        (format!("Could not parse {escaped} as an image_url."), "Could not parse \"….\" as an image_url."),
        (
            format!("Could not parse {} as an image_url.", json!(escaped)),
            "Could not parse \"\\\"….\\\"\" as an image_url.",
        ),
        (format!("Unsafe: {}", secret.to_uppercase()), "Unsafe: …."),
        ("Blocked words near 'the harbour of Marseille'".to_owned(), "Blocked words near '…'"),
        (
            format!("Unsafe: {} - see the policy", secret.replace(' ', "\n    ")),
            "Unsafe: …. - see the policy",
        ),
        (
            "Unsafe: My doctor, Zoe\u{301} Lindqvist, says that the policy".to_owned(),
            "Unsafe: My doctor, Zoe … policy",
        ),
    ] {
        for (place, message) in [("message", message.clone()), ("detail", message)] {
            let body = match place {
                "message" => json!({"error": {"message": message, "type": "bad", "code": "harbour"}}),
                _ => json!({"detail": message}),
            };
            for wire in WIRES {
                let server = Server::always(answer("400 No", &body.to_string())).await;
                let outcome = compute_reply_to(wire.model(&server), 0, secret).await;
                let kind = if place == "message" { "bad, harbour: " } else { "" };
                let expected = format!("status 400: {kind}{shown} | ");
                assert!(outcome.cause().contains(&expected), "{} is not {expected}", outcome.cause());
            }
        }
    }
}

/// A review of a place.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "no reply has one")]
struct ReviewOfAPlace {
    /// The impression of the whole evening, from one to five.
    stars_of_the_whole_evening: u8,
}

/// The schema and its instruction are in the system text, and each of its names was hidden.
#[tokio::test]
async fn p3_the_schema_and_the_sentences_of_this_library_are_no_content() {
    let schema = serde_json::to_string(&schemars::schema_for!(ReviewOfAPlace)).expect("JSON");
    let schema = schema.replace(r#""$schema":"https://json-schema.org/draft/2020-12/schema","#, "");
    let instruction = "Reply with JSON that matches this JSON Schema, and with nothing else: ";
    for message in [
        "Invalid schema for response_format 'ReviewOfAPlace': In context=('properties', 'stars_of_the_whole_evening'), 'minimum' is not permitted.".to_owned(),
        format!("Bad schema {schema}"),
        format!("{instruction}{}", schema.split_at(80).0),
        "The model `gpt-4o-mini-2024-07-18-ft-9a8b7c` does not exist".to_owned(),
        "Bad tag <evenings_with_friends_and_family> in system".to_owned(),
    ] {
        let server = Server::always(answer("400 No", &json!({"error": {"message": message}}).to_string())).await;
        let name = format!("openai/gpt-4o-mini-2024-07-18-ft-9a8b7c@{}/v1", server.url());
        let model = Provider::new(&name).expect("a provider");
        let chat = flow! {
            source user;
            column review(user.as("evenings_with_friends_and_family")): ReviewOfAPlace =
                prompt("Judge.").model(model.clone());
        };
        // The conversation has them, too.
        chat.user.push("I use gpt-4o-mini-2024-07-18-ft-9a8b7c in <evenings_with_friends_and_family>.").await.expect("memory");
        let error = chat.run().await.expect_err("it is refused");
        let causes = iter::successors(Some(&error as &(dyn Error + 'static)), |&error| error.source());
        let text = causes.map(ToString::to_string).collect::<Vec<_>>().join("\n");
        assert!(text.contains(&format!("status 400: {message}\n")), "{message} is not in {text}");
        assert!(server.requests().concat().contains("Reply with JSON"), "it is sent");
    }
}
