//! What both clients send.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use columnar::Role;
use columnar::cache::Pace;
use columnar::compute::secs;
use columnar::documents::Update;
use columnar::model::{Request, Schema};
use columnar::prelude::*;
use columnar::testing::ScriptedModel;
use columnar::tiers::Tier;
use columnar_tests::server::{Server, answer};
use genai::{Client, ModelIden};
use serde_json::{Value as Json, json};

use super::{PROVIDERS, kind, ours, peer, request};

/// Endings of names that request an effort.
const EFFORTS: [&str; 8] = ["", "-none", "-minimal", "-low", "-medium", "-high", "-xhigh", "-max"];

/// Models whose requests are special.
const MODELS: [&str; 27] = [
    "anthropic/claude-3-7-sonnet-20250219-high",
    "anthropic/claude-fable-1-max",
    "anthropic/claude-haiku-4-5-low",
    "anthropic/claude-haiku-5-xhigh",
    "anthropic/claude-opus-4-20250514-medium",
    "anthropic/claude-opus-4-5-20251101-max",
    "anthropic/claude-opus-4-6-max",
    "anthropic/claude-opus-4-7-xhigh",
    "anthropic/claude-opus-5-none",
    "anthropic/claude-sonnet-4-5",
    "anthropic/claude-sonnet-4-6-xhigh",
    "anthropic/claude-sonnet-5-none",
    "deepseek/deepseek-r1-zero",
    "fireworks/accounts/someone/models/own-low",
    "fireworks/qwen3p8-max",
    "gemini/gemini-2.5-flash-max",
    "gemini/gemini-3-pro-high",
    "gemini/gemini-3-pro-none",
    "gemini/gemma-4-minimal",
    "minimax/MiniMax-M2",
    "open_router/openai/gpt-5-low",
    "openai/gpt-4o",
    "openai/gpt-5-mini-high",
    "openai/gpt-5.6",
    "openai/o3-mini-zero",
    "openai_resp/gpt-5.6",
    "zai/glm-4.6-low",
];

/// The parts of a request that a provider reads.
#[derive(Debug, PartialEq)]
struct Sent {
    target: String,
    headers: BTreeMap<String, Vec<String>>,
    body: Json,
}

/// Headers that belong to the connection or to the client.
const OTHER_HEADERS: [&str; 5] = ["accept", "accept-encoding", "content-length", "host", "user-agent"];

impl Sent {
    fn parse(request: &str) -> Self {
        let (head, body) = request.split_once("\r\n\r\n").expect("a body");
        let mut lines = head.lines();
        let target = lines.next().expect("a first line").to_owned();
        let mut headers = BTreeMap::<_, Vec<_>>::new();
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            let name = name.to_lowercase();
            if !OTHER_HEADERS.contains(&&*name) {
                headers.entry(name).or_default().push(value.to_owned());
            }
        }
        let mut body: Json = serde_json::from_str(body).expect("JSON");
        sort_required(&mut body);
        Self { target, headers, body }
    }
}

/// The order of required properties is that of a map, which may be any.
fn sort_required(json: &mut Json) {
    match json {
        Json::Object(members) => {
            if let Some(Json::Array(names)) = members.get_mut("required") {
                names.sort_by_key(ToString::to_string);
            }
            members.values_mut().for_each(sort_required);
        }
        Json::Array(members) => members.iter_mut().for_each(sort_required),
        _ => {}
    }
}

/// The request that each client sends for a model.
async fn both(client: &Client, name: &str, path: &str, request: &Request) -> [Sent; 2] {
    let server = Server::always(answer("400 Bad Request", "{}")).await;
    let url = format!("{}{path}", server.url());
    assert!(ours(name, &url, request.clone()).await.is_error);
    assert!(peer(client, name, &url, request).await.is_error);
    let requests = server.requests();
    let [ours, peer] = &requests[..] else { panic!("{name}: {} requests", requests.len()) };
    [Sent::parse(ours), Sent::parse(peer)]
}

async fn compare(client: &Client, name: &str, path: &str, request: &Request) {
    let [ours, mut peer] = both(client, name, path, request).await;
    let (provider, _) = name.split_once('/').expect("a provider");
    for (_, change) in DIFFERENCES.iter().filter(|(of, _)| *of == provider) {
        change(&mut peer);
    }
    assert_eq!(ours, peer, "{name}{path}");
}

/// The intended differences, each with its provider.
type Difference = (&'static str, fn(&mut Sent));

/// None so far: requests are the same, so providers find the same cache entries.
const DIFFERENCES: [Difference; 0] = [];

/// No reference has a description: this client leaves it out, as the instruction has it.
fn schema() -> Schema {
    let json = json!({
        "type": "object",
        "title": "Report",
        "properties": {
            "first": { "$ref": "#/$defs/Item" },
            "all": { "type": "array", "items": { "$ref": "#/$defs/Item" } },
            "kind": { "enum": ["a", "b"] },
            "either": { "anyOf": [{ "type": "null" }, { "type": "object", "properties": {} }] },
        },
        "required": ["first"],
        "$defs": { "Item": { "type": "object", "properties": { "name": { "type": "string" } } } },
    });
    Schema::new("report", json)
}

/// The requests of several columns.
async fn requests() -> Vec<Request> {
    let long = "word ".repeat(2000);
    let instruction: &'static str = "Be brief. ".repeat(500).leak();
    let plain = request("Be brief.", &["Hello!"]).await;
    let marked = request(instruction, &["a", &long, "c"]).await;
    let mut settings = request("", &["a", "b"]).await;
    settings.temperature = Some(0.7);
    settings.stop = ["END".to_owned(), "\n\n".to_owned()].into();
    let mut typed = plain.clone();
    typed.schema = Some(schema().into());
    typed.follow_up = vec![(Role::Assistant, "No.".into()), (Role::User, "In JSON.".into())];
    let mut slow = marked.clone();
    slow.pace = Pace::every(secs(600));
    vec![plain, marked, tiered().await, settings, typed, slow]
}

/// The request of a column with documents in L0, L3 and the active tier, long enough for a mark after each cached one.
async fn tiered() -> Request {
    let model = ScriptedModel::new(|_| "Done.".to_owned());
    let coder = flow! {
        source files: Documents;
        source user;
        column coder(files.tiered().target(0), user, self) = prompt("Be brief.").model(model.clone());
    };
    for step in 0..5 {
        coder
            .files
            .push(match step {
                0 => Update::new()
                    .legend("f function ".repeat(500))
                    .file("a.rs", "fn a() {}")
                    .file("b.rs", "fn b() {}"),
                4 => Update::new().file("b.rs", "fn b(b: u8) {}"),
                _ => Update::new(),
            })
            .await
            .expect("a store in memory");
        coder.user.push("Go on.").await.expect("a store in memory");
    }
    coder.run().await.expect("the model replies");
    let messages = coder.coder.messages(4).expect("it was sent");
    let tiers = messages.parts().filter_map(|part| part.tier()).collect::<BTreeSet<_>>();
    assert_eq!(tiers.into_iter().collect::<Vec<_>>(), [Tier::L3, Tier::Active]);
    model.requests().pop().expect("five requests")
}

/// The documents are in the body as the rendering has them, with a mark after L0 and one after L3.
#[tokio::test]
async fn t23_tiers_and_their_marks_are_in_the_requests_of_each_wire() {
    let request = tiered().await;
    let l0 = format!("Be brief.\n\n# Repository Structure\n\n```\n{}\n```", "f function ".repeat(500));
    let texts = [
        "# Reference Files (L3)\n\na.rs\n```\nfn a() {}\n```",
        "# Working Files\n\nb.rs\n```\nfn b(b: u8) {}\n```",
    ];
    for (name, marks) in [
        ("anthropic/claude-sonnet-4-5", "\"cache_control\""),
        ("openai/gpt-5.6", "\"prompt_cache_breakpoint\""),
        ("openai/gpt-4o", ""),
        ("gemini/gemini-3-pro", ""),
        ("ollama/test", ""),
    ] {
        let server = Server::always(answer("400 Bad Request", "{}")).await;
        ours(name, &format!("{}/v1", server.url()), request.clone()).await;
        let body = Sent::parse(&server.requests()[0]).body.to_string();
        let at = |text: &str| {
            let quoted = Json::from(text).to_string();
            body.find(quoted.trim_matches('"')).unwrap_or_else(|| panic!("{name}: {text} in {body}"))
        };
        at(&l0);
        let [first, second] = texts.map(at);
        assert!(first < second, "{name}: {body}");
        if !marks.is_empty() {
            assert_eq!(body.matches(marks).count(), 2, "{name}: {body}");
            assert!(
                body.rfind(marks).is_some_and(|last| first < last && last < second),
                "none in active: {body}"
            );
        }
    }
}

#[tokio::test]
async fn p6_requests_are_those_of_another_client() {
    let (client, requests) = (Client::new().expect("HTTPS"), requests().await);
    let plain = &requests[0];
    for (provider, ..) in PROVIDERS {
        // Providers of one format read an ending in the same way.
        let formats = ["anthropic", "deepseek", "gemini", "ollama", "cohere", "openai", "openai_resp"];
        let efforts = if formats.contains(&provider) { &EFFORTS[..] } else { &EFFORTS[3..4] };
        for effort in efforts {
            compare(&client, &format!("{provider}/test{effort}"), "/v1", plain).await;
        }
        for request in &requests {
            compare(&client, &format!("{provider}/some/model"), "/v1", request).await;
        }
    }
    for name in MODELS {
        // Without marks, with them, and with documents.
        for request in &requests[..3] {
            compare(&client, name, "/v1", request).await;
        }
    }
    compare(&client, "openai/test", "/v1?api-version=2", plain).await;
}

/// The other client puts the path of the request behind the query of the address.
#[tokio::test]
async fn p6_the_query_of_an_address_stays_behind_its_path() {
    let (client, request) = (Client::new().expect("HTTPS"), request("Be brief.", &["Hello!"]).await);
    for (name, path) in [
        ("openai/test", "/v1/chat/completions?key=7"),
        ("openai_resp/test", "/v1/responses?key=7"),
        ("anthropic/test", "/v1/messages?key=7"),
        ("gemini/test", "/v1/models/test:streamGenerateContent?alt=sse&key=7"),
        ("ollama/test", "/v1/api/chat?key=7"),
        ("cohere/test", "/v1/chat?key=7"),
    ] {
        let [ours, _] = both(&client, name, "/v1?key=7", &request).await;
        assert_eq!(ours.target, format!("POST {path} HTTP/1.1"));
    }
}

/// The addresses of providers cannot be called in a test, so they are read from their table.
#[tokio::test]
async fn p6_addresses_are_those_of_another_client() {
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../columnar/src/registry/providers.rs");
    let table = fs::read_to_string(table).expect("the table");
    for (provider, variable, _) in PROVIDERS {
        let kind = if provider == "zai" { genai::adapter::AdapterKind::Zai } else { kind(provider) };
        let target = Client::new().expect("HTTPS").resolve_service_target(ModelIden::new(kind, "test")).await;
        let target = target.expect("it needs no key");
        let (_, row) = table.split_once(&format!("\"{provider}\",")).expect(provider);
        let (before, _) = row.split_once(".com").unwrap_or((row, ""));
        assert!(before.contains(&format!("\"{variable}\",")), "{provider}");
        let (_, url) = row.split_once("\"http").expect("an address");
        let (url, _) = url.split_once('"').expect("its end");
        assert_eq!(format!("http{url}"), target.endpoint.base_url(), "{provider}");
        assert_eq!(kind.default_key_env_name().unwrap_or_default(), variable, "{provider}");
    }
    let rows = table.matches("ProviderFacts::new(").count();
    assert_eq!(rows, PROVIDERS.len(), "each provider is compared");
}
