//! What goes over the wire and what comes back, against a server that answers by rote.

use futures::StreamExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    task::JoinHandle,
};

use crate::context::Role;
use crate::error::BoxError;
use crate::model::{Chunk, End, Finish, Genai, Model, Request, Usage};
use crate::testing::script;
use crate::{column, flow, source, this};

const SECRET: &str = "the moon is made of cheese";

/// Answers one request with these bytes and hands back the request.
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

/// What a column is shown that reads `user` and its own past, where they said this in turn.
async fn request(said: &[(Role, &str)]) -> Request {
    let of = |wanted: Role| said.iter().filter(move |(role, _)| *role == wanted).map(|(_, text)| *text);
    let user = source("user");
    let bot = flow([column("bot", (&user, this()), script(of(Role::Assistant)))]).expect("a sound flow");
    for text in of(Role::User) {
        bot.push("user", text).await.expect("memory takes it");
    }
    // The last step has no answer yet.
    bot.run().await.expect_err("the script ends");
    let messages = bot.messages("bot", of(Role::User).count() - 1).expect("everything is stored");
    Request { system: "Be brief.".into(), messages, max_tokens: 64 }
}

async fn ask(model: &Genai, messages: &[(Role, &str)]) -> (String, Option<End>, Option<BoxError>) {
    let (mut text, mut end, mut error) = (String::new(), None, None);
    let mut reply = model.reply(request(messages).await);
    while let Some(chunk) = reply.next().await {
        assert!(end.is_none() && error.is_none(), "nothing follows the end");
        match chunk {
            Ok(Chunk::Text(part)) => text.push_str(&part),
            Ok(Chunk::End(it)) => end = Some(it),
            Err(it) => error = Some(it),
        }
    }
    (text, end, error)
}

fn openai(url: &str) -> Genai {
    Genai::new("openai/test").expect("a provider").with_base_url(url)
}

const HELLO: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n";
const FINISH: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"REASON\"}]}\n\n";
const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2,\
    \"prompt_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":3}}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

#[tokio::test]
async fn the_request_has_a_cap_and_no_empty_replies() {
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

#[tokio::test]
async fn a_reply_that_breaks_off_has_no_end() {
    let no_finish = format!("{HELLO}{USAGE}{DONE}");
    let no_done = format!("{HELLO}{}", FINISH.replace("REASON", "stop"));
    for body in [no_finish.as_str(), no_done.as_str(), HELLO, ""] {
        let (url, _served) = serve("200 OK", body).await;
        let (text, end, error) = ask(&openai(&url), &[(Role::User, "Hi")]).await;
        assert_eq!(text, if body.is_empty() { "" } else { "Hello" });
        assert!(end.is_none() && error.is_none(), "{body}");
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
async fn what_cannot_be_sent_is_said() {
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
