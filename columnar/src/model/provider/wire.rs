//! Tests of requests and replies on the wire, with a server that sends a fixed reply.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures::StreamExt;
use serde_json::{Value as Json, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

use crate::context::Role;
use crate::declare::error::BoxError;
use crate::flow::{Column, View, column, flow, source, this};
use crate::history::{Attachment, Text};
use crate::model::cache::{CachePolicy, Pace};
use crate::model::rendering::{Rendering, ReplySettings, Request, Schema};
use crate::model::{Chunk, End, Finish, Model, Provider, Usage};
use crate::testing::script;

const SECRET: &str = "the moon is made of cheese";

/// Sends these bytes as the reply to one request, and returns the request. More headers may follow the status.
async fn serve(status: &str, body: &str) -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
    let kind = if status.starts_with("200") { "text/event-stream" } else { "application/json" };
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.expect("a client");
        let mut request = Vec::new();
        while !is_whole(&request) {
            assert_ne!(socket.read_buf(&mut request).await.expect("a request"), 0);
        }
        socket.write_all(answer.as_bytes()).await.expect("sent");
        String::from_utf8(request).expect("text")
    });
    (url, served)
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        length.is_some_and(|length| length.parse() == Ok(body.len()))
    })
}

/// The request of a column that reads `user` and the self history, after this conversation.
async fn request(conversation: &[(Role, &str)]) -> Request {
    request_with(conversation, |user| vec![user.all(), this()], "Be brief.").await
}

/// The request of a column with these views.
async fn request_with(conversation: &[(Role, &str)], views: Views, system: &str) -> Request {
    let of = |of: Role| conversation.iter().filter(move |(role, _)| *role == of).map(|(_, text)| *text);
    let user = source("user");
    let bot = flow([column("bot", views(&user), script(of(Role::Assistant)))]).expect("a sound flow");
    for text in of(Role::User) {
        bot.push("user", text).await.expect("memory takes it");
    }
    // The last step has no answer yet.
    bot.run().await.expect_err("the script ends");
    let messages = bot.messages("bot", of(Role::User).count() - 1).expect("everything is stored");
    Request {
        system: system.into(),
        messages,
        follow_up: Vec::new(),
        max_tokens: 64,
        settings: ReplySettings::default(),
        schema: None,
        pace: Pace::default(),
        media: &crate::history::MediaRules::ANY,
        may_wait: true,
    }
}

async fn ask(model: &Provider, messages: &[(Role, &str)]) -> (String, Option<End>, Option<BoxError>) {
    let mut text = String::new();
    let mut end = None;
    let mut error = None;
    let mut reply = model.reply(request(messages).await);
    while let Some(chunk) = reply.next().await {
        assert!(end.is_none() && error.is_none(), "nothing follows the end");
        match chunk {
            Ok(Chunk::Text(part)) => text.push_str(&part),
            Ok(Chunk::End(it)) => end = Some(it),
            Ok(Chunk::Thought(_) | Chunk::Waiting { .. }) => {}
            Err(it) => error = Some(it),
        }
    }
    (text, end, error)
}

fn openai(url: &str) -> Provider {
    Provider::new("openai/test").expect("a provider").base_url(url)
}

const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n";
const FINISH: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"REASON\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\
    \"prompt_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":3}}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn the_request_has_max_tokens_and_no_empty_replies() {
    let (url, served) = serve("200 OK", &format!("{HELLO}{FINISH}{USAGE}{DONE}")).await;
    let messages = [
        (Role::User, "a"),
        (Role::Assistant, " \n"),
        (Role::User, "b"),
        (Role::Assistant, "c"),
        (Role::User, "d"),
    ];
    ask(&openai(&url), &messages).await;
    let request = served.await.expect("served");
    assert!(request.starts_with("POST /v1/chat/completions "), "{request}");
    assert!(request.contains(r#""max_tokens":64"#), "{request}");
    let sent = r#""messages":[{"content":"Be brief.","role":"system"},{"content":"<user>\na\n</user>\n\n<user>\nb\n</user>","role":"user"},{"content":"c","role":"assistant"},{"content":"<user>\nd\n</user>","role":"user"}]"#;
    let other = r#""messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"<user>\na\n</user>\n\n<user>\nb\n</user>"},{"role":"assistant","content":"c"},{"role":"user","content":"<user>\nd\n</user>"}]"#;
    assert!(request.contains(sent) || request.contains(other), "{request}");
}

#[tokio::test]
async fn finish_and_usage_arrive() {
    for (reason, finish) in [
        ("stop", Finish::Stop),
        ("length", Finish::Length),
        ("content_filter", Finish::Refused),
        ("tool_calls", Finish::Other("tool_calls".to_owned())),
        ("odd", Finish::Other("odd".to_owned())),
    ] {
        let body = format!("{HELLO}{}{USAGE}{DONE}", FINISH.replace("REASON", reason));
        let (url, _served) = serve("200 OK", &body).await;
        let (text, end, error) = ask(&openai(&url), &[(Role::User, "Hi")]).await;
        let end = end.expect("an end");
        assert_eq!((text.as_str(), end.finish), ("Hello", finish));
        let Some(Usage { input: 9, output: 2, cache_read: 4, cache_write: 3, .. }) = end.usage else {
            panic!("{:?}", end.usage)
        };
        assert!(error.is_none());
    }
}

/// Perplexity sends no `[DONE]`, and LiteLLM the usage in a chunk after the finish that still has a choice: replies were
/// lost, and bills were $0.00.
#[tokio::test]
async fn a_reply_with_a_finish_ends_with_its_stream_and_has_the_last_usage() {
    let finish = FINISH.replace("REASON", "stop");
    let late = USAGE.replace("\"choices\":[]", "\"choices\":[{\"index\":0,\"delta\":{}}]");
    let part =
        USAGE.replace(":9", ":1").replace("\"choices\":[]", "\"choices\":[{\"index\":0,\"delta\":{}}]");
    for (body, input) in [
        (format!("{HELLO}{finish}"), None),
        (format!("{HELLO}{finish}{late}"), Some(9)),
        (format!("{HELLO}{finish}{late}{DONE}"), Some(9)),
        (format!("{part}{HELLO}{finish}{part}{USAGE}{DONE}"), Some(9)),
        (format!("{part}{HELLO}{finish}{DONE}"), None),
    ] {
        let (url, _served) = serve("200 OK", &body).await;
        let (text, end, error) = ask(&openai(&url), &[(Role::User, "Hi")]).await;
        let end = end.unwrap_or_else(|| panic!("{error:?}: {body}"));
        assert_eq!((&*text, end.finish, end.usage.map(|usage| usage.input)), ("Hello", Finish::Stop, input));
    }
}

#[tokio::test]
async fn errors_quote_neither_server_nor_address() {
    let refusal = format!("{{\"error\":{{\"message\":\"{SECRET}\"}}}}");
    let midway = format!("{HELLO}data: {refusal}\n\ndata: [DONE]\n\n");
    let garbage = format!("{HELLO}data: {SECRET}\n\n{FINISH}{DONE}");
    for (status, body, expected) in [
        ("401 Unauthorized", &refusal, "`openai/test` answered with HTTP status 401"),
        ("500 Oops", &refusal, "`openai/test` answered with HTTP status 500"),
        ("200 OK", &midway, "no complete reply from `openai/test`: the server reported an error"),
        ("200 OK", &garbage, "no complete reply from `openai/test`: the reply could not be understood"),
    ] {
        let (url, served) = serve(status, body).await;
        let url = url.replace("http://", "http://me:hunter2@");
        let (_, end, error) = ask(&openai(&url), &[(Role::User, SECRET)]).await;
        let error = error.expect("an error");
        assert_eq!(error.to_string(), expected);
        let all = format!("{error:?}");
        assert!(!all.contains(SECRET) && !all.contains("hunter2") && !all.contains("127.0"), "{all}");
        assert!(end.is_none());
        served.await.expect("served");
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_sent_is_an_error() {
    let (url, served) = serve("200 OK", "").await;
    served.abort();
    let _ = served.await;
    let url = url.replace("http://", "http://me:hunter2@");
    for (url, expected) in [(url.as_str(), "refused"), ("http://me:hunter2@localhost:x/", "base URL")] {
        let (_, _, error) = ask(&openai(url), &[(Role::User, SECRET)]).await;
        let error = error.expect("an error");
        assert!(error.to_string().contains(expected), "{error}");
        let all = format!("{error:?} {error}");
        assert!(!all.contains(SECRET) && !all.contains("hunter2"), "{all}");
    }
}

/// The body of a request to a model of this name.
async fn sent(name: &str, request: Request) -> Json {
    let (url, served) = serve("200 OK", "").await;
    let model = Provider::new(name).expect("a provider").base_url(&url);
    model.reply(request).collect::<Vec<_>>().await;
    let sent = served.await.expect("served");
    let (_, body) = sent.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

#[tokio::test]
async fn temperature_stop_sequences_and_schema_are_sent() {
    let schema = json!({
        "type": "object",
        "properties": { "name": { "type": "string", "minLength": 1 }, "age": { "type": "integer", "minimum": 0 } },
        "required": ["name"],
    });
    let schema = Schema { name: "person".to_owned(), json: schema };
    let stop: Arc<[String]> = ["END".to_owned(), "\n\n".to_owned()].into();
    let full = Request {
        settings: ReplySettings {
            temperature: Some(0.7),
            stop: Arc::clone(&stop),
            ..ReplySettings::default()
        },
        schema: Some(Arc::new(schema)),
        ..request(&[(Role::User, "Hi")]).await
    };
    let plain = request(&[(Role::User, "Hi")]).await;

    let openai = json!({ "type": "json_schema", "json_schema": { "name": "person", "strict": true, "schema": {
        "type": "object",
        "properties": { "name": { "type": "string" }, "age": { "type": "integer", "minimum": 0 } },
        "required": ["name", "age"],
        "additionalProperties": false,
    } } });
    let body = sent("openai/gpt-4o", full.clone()).await;
    assert_eq!((&body["temperature"], &body["stop"]), (&json!(0.7), &json!(["END", "\n\n"])));
    assert!(
        body["response_format"]["json_schema"]["schema"]["required"]
            .as_array()
            .is_some_and(|all| all.len() == 2)
    );
    let mut format = body["response_format"].clone();
    // The order of the properties depends on how maps are kept in this build.
    format["json_schema"]["schema"]["required"] = json!(["name", "age"]);
    assert_eq!(format, openai);

    let anthropic = json!({ "type": "json_schema", "schema": {
        "type": "object",
        "properties": { "name": { "type": "string" }, "age": { "type": "integer" } },
        "required": ["name"],
        "additionalProperties": false,
    } });
    let body = sent("anthropic/claude-sonnet-4-5", full.clone()).await;
    assert_eq!((&body["temperature"], &body["stop_sequences"]), (&json!(0.7), &json!(["END"])));
    assert_eq!(body["output_config"]["format"], anthropic);

    // Ollama, Cohere and Groq enforce schemas, and got no schema.
    assert_eq!(&sent("ollama/test", full.clone()).await["format"]["type"], "object");
    let cohere = sent("cohere/test", full.clone()).await;
    assert_eq!(cohere["response_format"]["json_schema"]["required"], json!(["name"]));
    let groq = sent("groq/openai/gpt-oss-20b", full.clone()).await;
    assert_eq!(groq["response_format"], sent("openai/gpt-4o", full.clone()).await["response_format"]);
    // Providers and models that do not enforce a schema get no schema.
    for name in ["deepseek/deepseek-chat", "groq/test", "zai/test", "minimax/test", "openai/gpt-4-turbo"] {
        let body = sent(name, full.clone()).await.to_string();
        assert!(!body.contains("schema") && !body.contains("person"), "{name}: {body}");
        assert!(body.contains("0.7") && body.contains("END"), "{name}: {body}");
    }
    for name in ["openai/gpt-4o", "anthropic/claude-sonnet-4-5"] {
        let body = sent(name, plain.clone()).await;
        for absent in
            ["temperature", "stop", "stop_sequences", "response_format", "output_config", "seed", "top_p"]
        {
            assert_eq!(body.get(absent), None, "{name}");
        }
    }
}

/// The blocks of a body in order, each with role, text and mark.
fn blocks(body: &Json) -> Vec<(String, String, Json)> {
    let system = body.get("system").map(|content| json!({ "role": "system", "content": content }));
    let array = ["messages", "input"].iter().find_map(|name| body[*name].as_array());
    let messages = system.iter().chain(array.expect("an array"));
    let of_message = |message: &Json| {
        let role = message["role"].as_str().expect("a role").to_owned();
        let content = match &message["content"] {
            Json::Array(blocks) => blocks.clone(),
            text => vec![json!({ "text": text })],
        };
        content.into_iter().map(move |block| {
            let text = block["text"].as_str().expect("a text").to_owned();
            let mark = ["cache_control", "prompt_cache_breakpoint"].iter().find_map(|name| block.get(*name));
            (role.clone(), text, mark.cloned().unwrap_or_default())
        })
    };
    messages.flat_map(of_message).collect()
}

/// The messages of the blocks, without marks.
fn joined(blocks: &[(String, String, Json)]) -> Vec<(String, String)> {
    let messages = blocks.chunk_by(|(one, ..), (other, ..)| one == other);
    let text = |message: &[(String, String, Json)]| message.iter().map(|(_, text, _)| &**text).collect();
    messages.map(|message| (message[0].0.clone(), text(message))).collect()
}

/// The messages of a request.
fn messages_of(request: &Request) -> Vec<(String, String)> {
    let messages = request.messages.iter().map(|(role, text)| (role.to_string(), text.into_owned()));
    [("system".to_owned(), request.system.to_string())].into_iter().chain(messages).collect()
}

fn marked(blocks: &[(String, String, Json)]) -> Vec<usize> {
    blocks.iter().enumerate().filter(|(_, (.., mark))| !mark.is_null()).map(|(at, _)| at).collect()
}

#[tokio::test]
async fn a_follow_up_is_sent_after_the_messages_and_never_marked() {
    let text = "user ".repeat(1000);
    let first = format!("<user>\n{text}\n</user>");
    let messages = |name: &'static str, follow_up: Vec<(Role, Arc<str>)>| {
        let text = text.clone();
        async move {
            let request = request_with(&[(Role::User, &text)], |user| vec![user.all(), this()], "").await;
            blocks(&sent(name, Request { follow_up, ..request }).await)
        }
    };
    let reply = (Role::Assistant, Arc::from("No."));
    let why = (Role::User, Arc::from("Say it in JSON."));
    for (name, marks) in [("anthropic/claude-sonnet-4-5", &[0][..]), ("openai/gpt-4o", &[])] {
        let blocks = messages(name, vec![reply.clone(), why.clone()]).await;
        assert_eq!(marked(&blocks), marks, "{name}");
        let texts: Vec<_> = blocks.iter().map(|(role, text, _)| (&**role, &**text)).collect();
        assert_eq!(texts, [("user", &*first), ("assistant", "No."), ("user", "Say it in JSON.")], "{name}");
    }
    // A blank reply is not sent, so the two user messages are adjacent.
    let blank = (Role::Assistant, Arc::from(" \n"));
    let apart = messages("anthropic/claude-sonnet-4-5", vec![blank.clone(), why.clone()]).await;
    let texts: Vec<_> = apart.iter().map(|(_, text, mark)| (text.as_str(), !mark.is_null())).collect();
    assert_eq!(texts, [(first.as_str(), true), ("\n\nSay it in JSON.", false)]);
    let whole = messages("openai/gpt-4o", vec![blank, why]).await;
    assert_eq!(whole.len(), 1, "some templates refuse two user messages in a row");
    assert_eq!(whole[0].1, format!("{first}\n\nSay it in JSON."));
}

type Views = fn(&Column) -> Vec<View>;

/// A request after three steps. One value is long enough to be cached.
async fn long(views: Views, system: &str) -> Request {
    let user = "user ".repeat(1000);
    let earlier = [(Role::User, "a"), (Role::Assistant, "b0"), (Role::User, &user), (Role::Assistant, "b1")];
    request_with(&[&earlier[..], &[(Role::User, "c")]].concat(), views, system).await
}

#[tokio::test]
async fn a_request_is_marked_at_the_end_of_the_prefix_that_the_next_one_repeats() {
    let instruction = "Be brief. ".repeat(500);
    let patterns: [(Views, &str, usize, &[usize]); 5] = [
        // Blocks: the instruction, a, b0, user, b1, c. For forks of the last step b1 is marked as well.
        (|user| vec![user.all(), this()], "Be brief.", 6, &[4, 5]),
        (|user| vec![user.all(), this()], &instruction, 6, &[0, 4, 5]),
        // The instruction, a, user, b1, c: after a user's value, in the middle of a message.
        (|user| vec![user.all(), this().latest()], "Be brief.", 5, &[2]),
        // The instruction, the lead, b0, b1, c.
        (|user| vec![user.latest(), this()], &instruction, 5, &[0, 3]),
        // Without marks, blocks are joined: the instruction, and the last two values of the user.
        (|user| vec![user.window(2)], "Be brief.", 2, &[]),
    ];
    for (views, system, count, marks) in patterns {
        let request = long(views, system).await;
        let blocks = blocks(&sent("anthropic/claude-sonnet-4-5", request.clone()).await);
        assert_eq!((blocks.len(), &*marked(&blocks)), (count, marks));
        assert_eq!(joined(&blocks), messages_of(&request));
        let short = json!({ "type": "ephemeral" });
        assert!(marks.iter().all(|mark| blocks[*mark].2 == short));
    }
}

#[tokio::test]
async fn the_pace_decides_the_lifetime_of_marks() {
    let request = long(|user| vec![user.all(), this()], "Be brief.").await;
    for (pace, mark) in [
        (Pace::batch(), Some(json!({ "type": "ephemeral" }))),
        (Pace::every(Duration::from_mins(10)), Some(json!({ "type": "ephemeral", "ttl": "1h" }))),
        (Pace::every(Duration::from_hours(24)), None),
    ] {
        let body = sent("anthropic/claude-sonnet-4-5", Request { pace, ..request.clone() }).await;
        let blocks = blocks(&body);
        let marks: Vec<_> = blocks.iter().map(|(.., mark)| mark).filter(|mark| !mark.is_null()).collect();
        assert_eq!(marks, mark.iter().cycle().take(marks.len()).collect::<Vec<_>>(), "{pace:?}");
        assert_eq!(marks.is_empty(), mark.is_none(), "{pace:?}");
    }
}

#[tokio::test]
async fn newer_models_of_openai_get_a_mark_at_the_entry_of_the_previous_step() {
    let request = long(|user| vec![user.all(), this()], &"Be brief. ".repeat(500)).await;
    let body = sent("openai/gpt-5.6", request.clone()).await;
    let blocks = blocks(&body);
    assert_eq!(marked(&blocks), [0, 3, 4, 5]);
    assert_eq!(joined(&blocks), messages_of(&request));
    assert_eq!(body["prompt_cache_options"]["mode"], "explicit", "no other place is paid for");
}

/// The Responses API has no marks on replies, and marks of a plan were dropped. With no mark left, the mode of the
/// request switched the cache off.
#[tokio::test]
async fn what_a_plan_marks_is_marked_in_the_body_or_right_before_it() {
    let instruction = "Be brief. ".repeat(500);
    for views in [|user: &Column| vec![user.all(), this()], |user: &Column| vec![user.all(), this().latest()]]
    {
        let request = long(views, &instruction).await;
        for name in [
            "anthropic/claude-haiku-5-5",
            "anthropic/claude-opus-5",
            "openai/gpt-5.6",
            "openai/gpt-6.1-sol",
            "openai_resp/gpt-5.6-sol",
            "openai_resp/gpt-6-luna",
        ] {
            let plan = Rendering::of(&request, CachePolicy::by_model(name));
            let system = plan.system().map(|(text, mark)| (Role::User, text.to_owned(), mark));
            let planned = plan.blocks().into_iter().map(|block| (block.role, block.text, block.mark));
            let planned: Vec<_> = system.into_iter().chain(planned).collect();
            let mut expected: Vec<usize> = Vec::new();
            for (at, _) in planned.iter().enumerate().filter(|(_, (.., mark))| mark.is_some()) {
                let may_carry =
                    |at: &usize| !name.starts_with("openai_resp/") || planned[*at].0 == Role::User;
                expected.extend((0..=at).rev().find(may_carry));
            }
            expected.dedup();
            let body = sent(name, request.clone()).await;
            let blocks = blocks(&body);
            assert!(!expected.is_empty() && expected.len() <= 4, "{name}");
            assert_eq!(marked(&blocks), expected, "{name}");
            assert_eq!(joined(&blocks), messages_of(&request), "{name}");
            if name.starts_with("openai") {
                assert_eq!(body["prompt_cache_options"], json!({ "mode": "explicit" }), "{name}");
            }
        }
    }
    // A short request is not cached in any mode.
    let short = sent("openai_resp/gpt-5.6", request(&[(Role::User, "Hi")]).await).await;
    assert_eq!(short.get("prompt_cache_options"), None);
}

#[tokio::test]
async fn a_model_without_marks_gets_whole_messages() {
    let request = long(|user| vec![user.all(), this().latest()], &"Be brief. ".repeat(500)).await;
    for name in ["openai/gpt-4o", "openai/test", "deepseek/deepseek-chat", "groq/test"] {
        let mut body = sent(name, request.clone()).await;
        // This key leads requests with this instruction to one cache.
        let key = body.as_object_mut().and_then(|body| body.remove("prompt_cache_key"));
        assert_eq!(key.is_some(), name == "openai/gpt-4o");
        assert!(!body.to_string().contains("cache_"), "{name}");
        let sent: Vec<_> = blocks(&body).into_iter().map(|(role, text, _)| (role, text)).collect();
        assert_eq!(sent, messages_of(&request), "{name}");
    }
}

/// The key of a program replaces the number that depends on the model and the instruction.
#[tokio::test]
async fn a_key_of_the_program_leads_to_the_cache() {
    let mut request = request(&[(Role::User, "Hi")]).await;
    let own = sent("openai/gpt-4o", request.clone()).await["prompt_cache_key"].clone();
    request.settings.cache_key = Some("chat-17".into());
    for name in ["openai/gpt-4o", "openai_resp/gpt-5.6", "mistral/x", "xai/grok-4"] {
        let key = sent(name, request.clone()).await["prompt_cache_key"].clone();
        assert!(key == "chat-17" && key != own, "{name}: {key}");
    }
}

/// A provider refuses blank blocks, and finds a cache entry only if blocks end where they ended before.
#[tokio::test]
async fn no_block_is_blank_and_blocks_stay_as_they_are() {
    let user = "user ".repeat(1000);
    let replies = ["", " ", "b2", "", "\n", "b5"];
    let conversation: Vec<_> =
        replies.iter().flat_map(|reply| [(Role::User, &*user), (Role::Assistant, *reply)]).collect();
    let views: [Views; 2] = [|user| vec![user.all(), this()], |user| vec![user.latest(), this()]];
    for views in views {
        let mut kept: Vec<(String, String, Json)> = Vec::new();
        for steps in 1..=replies.len() {
            let request =
                request_with(&conversation[..2 * steps - 1], views, &"Be brief. ".repeat(500)).await;
            let blocks = blocks(&sent("anthropic/claude-sonnet-4-5", request).await);
            assert!(blocks.iter().all(|(_, text, _)| !text.trim().is_empty()), "step {steps}");
            let is_same = kept.iter().zip(&blocks).all(|(then, now)| (&then.0, &then.1) == (&now.0, &now.1));
            assert!(is_same, "step {steps}");
            let last = marked(&blocks).pop().expect("the instruction at least");
            kept = blocks[..=last].to_vec();
        }
    }
}

/// The guide shows the parts of the formats without a public rendering as these are sent.
#[tokio::test]
async fn the_guide_has_the_parts_of_attachments() {
    const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x01\0\0\0\x007n\xf9$\
        \0\0\0\nIDATx\xdac`\0\0\0\x02\0\x01\xe5'\xde\xfc\0\0\0\0IEND\xaeB`\x82";
    let f = flow([column("answer", source("user").all(), script([""]))]).expect("a sound flow");
    let question = Text::new("Is it on?").with(Attachment::new(DOT).expect("a picture"));
    f.push("user", question).await.expect("memory takes it");
    let messages = f.messages("answer", 0).expect("the source has a value");
    let request = Request { messages, ..request(&[(Role::User, "x")]).await };
    let data = STANDARD.encode(DOT);
    let guide = include_str!("../../guide/media.rs");
    for (name, model, path) in [
        ("Responses", "openai_resp/x", "/input/0/content/1"),
        ("Gemini", "gemini/x", "/contents/0/parts/1"),
        ("Ollama", "ollama/x", "/messages/1"),
    ] {
        let body = sent(model, request.clone()).await;
        let part = body.pointer(path).expect(name).to_string();
        assert!(part.contains(&data), "{part}");
        let row = format!("| {name} | `{}` |", part.replace(&data, "…"));
        assert!(guide.contains(&row), "{row}");
    }
}
