//! A flow through servers of others: its texts arrive, and its bill is what they log.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use columnar::model::Provider;
use columnar::prelude::*;
use columnar::{Attachment, Text};
use columnar_tests::sample_files::picture;
use columnar_tests::server::{Server, answer, stream};
use image::ImageFormat;
use serde::Deserialize;

use crate::python::{folder, script};

/// A server of others, in a process that ends with this value.
pub(crate) struct Gateway {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

/// A line of its log.
#[derive(Debug, Deserialize)]
struct Call {
    model: String,
    input: u64,
    output: u64,
}

impl Gateway {
    /// Starts a script that prints its port. What it says is shown if it does not start.
    pub(crate) fn start(test: &str, name: &str, arguments: &[&str]) -> Option<Self> {
        let mut command = script(test, name)?;
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the interpreter runs");
        let mut output = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut port = String::new();
        output.read_line(&mut port).expect("its port");
        assert!(!port.is_empty(), "{name} {arguments:?} did not start");
        Some(Self { child, output, url: format!("http://127.0.0.1:{}", port.trim()) })
    }

    /// The address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Its log, once it has this number of calls.
    fn log(mut self, calls: usize) -> Vec<Call> {
        let mut input = self.child.stdin.take().expect("it is piped");
        writeln!(input, "{calls}").expect("it listens");
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("its log");
        text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        // The script ends when its input does.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

flow! {
    struct Chat(model: Provider) {
        source user;
        column topics(user)                = prompt("List the topics.").model(model.clone());
        column answer(user, topics)        = prompt("Answer.").model(model.clone());
        column summary(user, answer, self) = prompt("Sum it up.").model(model.clone());
    }
}

/// What a flow of three columns was told that its calls took.
#[derive(Debug, PartialEq)]
struct Told {
    texts: Vec<String>,
    /// The tokens of the requests and of the replies; `None` if a call did not say.
    tokens: Option<(u64, u64)>,
}

/// Runs a flow with the model of this name.
async fn told(name: &str, url: &str) -> Result<Told> {
    let chat = Chat::new(Provider::new(&format!("{name}@{url}")).expect("a provider"));
    chat.user.push("Hello!").await?;
    chat.run().await?;
    let columns = [chat.topics.get(0), chat.answer.get(0), chat.summary.get(0)];
    let texts = columns.into_iter().flatten().map(|value| value.to_string()).collect();
    let bill = chat.bill();
    let mut sums = (0, 0);
    let mut untold = 0;
    for (_, _, receipt) in bill.receipts() {
        sums = (sums.0 + receipt.usage.input, sums.1 + receipt.usage.output);
        untold += receipt.unreported;
    }
    Ok(Told { texts, tokens: (untold == 0).then_some(sums) })
}

/// The replies of the three providers behind the proxy.
async fn backend() -> Server {
    let reply = |name: &str| fs::read(folder().join("replies").join(name)).expect("a reply");
    let replies = [
        ("/chat/completions", reply("openai/text.sse")),
        // The proxy asks OpenAI over Responses when it is asked over Messages.
        ("/responses", reply("openai_resp/text.sse")),
        ("/messages", reply("anthropic/cache-read.sse")),
        ("GenerateContent", reply("gemini/cached.sse")),
    ];
    Server::by_request(move |request| {
        let target = request.lines().next().unwrap_or_default();
        match replies.iter().find(|(path, _)| target.contains(path)) {
            Some((_, body)) => stream(body),
            // It looks for a list of models, and does without.
            None => answer("404 Not Found", "{}"),
        }
    })
    .await
}

/// The formats that the proxy takes, and what its models are called in columnar.
const APIS: [(&str, &str); 4] =
    [("openai", "/v1"), ("anthropic", "/v1"), ("openai_resp", "/v1"), ("gemini", "/v1beta")];

/// The models behind it, and the tokens of a call in their replies.
const MODELS: [(&str, (u64, u64)); 3] =
    [("gpt-4o-mini", (1200, 3)), ("claude-haiku-4-5", (4012, 3)), ("gemini-2.5-flash", (9000, 3))];

#[tokio::test(flavor = "multi_thread")]
async fn a_flow_through_the_proxy_of_litellm_is_billed_as_it_logs() {
    let backend = backend().await;
    let test = "a_flow_through_the_proxy_of_litellm_is_billed_as_it_logs";
    let Some(gateway) = Gateway::start(test, "gateway.py", &["litellm", backend.url()]) else { return };
    let (mut wrong, mut flows) = (Vec::new(), Vec::new());
    for (api, path) in APIS {
        for (model, (input, output)) in MODELS {
            flows.push(model);
            let right = Told { texts: vec!["Hello.".to_owned(); 3], tokens: Some((3 * input, 3 * output)) };
            match told(&format!("{api}/{model}"), &format!("{}{path}", gateway.url)).await {
                Ok(told) if told == right => {}
                other => wrong.push(format!("{api}/{model}: {other:?} instead of {right:?}")),
            }
        }
    }
    let mock = told("openai/mock", &format!("{}/v1", gateway.url)).await;
    let log = gateway.log(3 * flows.len() + 3);
    for (model, tokens) in MODELS {
        let logged: Vec<_> =
            log.iter().filter(|call| call.model == model).map(|call| (call.input, call.output)).collect();
        assert_eq!(logged, [tokens; 3 * APIS.len()], "the proxy logs what its backend told it of {model}");
    }
    let mocked = log.iter().filter(|call| call.model == "mock");
    let sums = mocked.fold((0, 0), |sums, call| (sums.0 + call.input, sums.1 + call.output));
    if !matches!(&mock, Ok(told) if told.tokens == Some(sums)) {
        wrong.push(format!("mock: {mock:?} instead of {sums:?}"));
    }
    assert!(wrong.is_empty(), "{} of {} flows:\n{}", wrong.len(), flows.len() + 1, wrong.join("\n"));
}

/// The proxy reads each format, and writes that of the provider behind it: all have the same bytes.
#[tokio::test(flavor = "multi_thread")]
async fn an_image_is_the_same_behind_the_proxy_of_litellm() {
    let backend = backend().await;
    let test = "an_image_is_the_same_behind_the_proxy_of_litellm";
    let Some(gateway) = Gateway::start(test, "gateway.py", &["litellm", backend.url()]) else { return };
    let image = Attachment::new(picture(ImageFormat::Png, 13, 7)).expect("it is whole");
    for (api, path) in APIS {
        // From Gemini's format into others the proxy reads `inline_data` alone, which is not the name in JSON.
        for (model, _) in MODELS.iter().filter(|(model, _)| api != "gemini" || model.starts_with("gemini")) {
            let name = format!("{api}/{model}@{}{path}", gateway.url);
            let chat = Chat::new(Provider::new(&name).expect("a provider"));
            chat.user.push(Text::new("What is this?").with(image.clone())).await.expect("a store in memory");
            let before = backend.requests().len();
            chat.run().await.unwrap_or_else(|error| panic!("{name}: {error}"));
            let data = STANDARD.encode(image.bytes());
            let requests = backend.requests().split_off(before);
            let posts: Vec<_> = requests.iter().filter(|request| request.starts_with("POST")).collect();
            assert!(posts.len() == 3 && posts.iter().all(|post| post.contains(&data)), "{name}: {posts:?}");
        }
    }
}

/// This server tells no tokens over chat completions, and its own estimates over Messages.
#[tokio::test(flavor = "multi_thread")]
async fn a_flow_through_fakellm_has_its_texts() -> Result<()> {
    let test = "a_flow_through_fakellm_has_its_texts";
    let Some(gateway) = Gateway::start(test, "gateway.py", &["fakellm"]) else { return Ok(()) };
    for (name, tells) in [("openai/gpt-4o-mini", false), ("anthropic/claude-haiku-4-5", true)] {
        let told = told(name, &format!("{}/v1", gateway.url)).await?;
        assert!(told.texts.len() == 3 && told.texts.iter().all(|text| !text.is_empty()), "{name}: {told:?}");
        assert_eq!(told.tokens.is_some(), tells, "{name}: {told:?}");
    }
    Ok(())
}
