//! Makes streaming calls with a peer, and prints what they cost: `clients rig URL WORDS PAUSE WORKERS CALLS`.
//! `tests/benches/wire` starts this program.

#[expect(dead_code, reason = "the benchmark needs the rest")]
#[path = "../../../support/load.rs"]
mod load;

use std::env;

use futures::StreamExt;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, ChatStreamEvent};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use rig_core::completion::CompletionRequest;
use rig_core::providers::openai::OpenAIConfig;
use rig_core::streaming::{Item, StreamEvent};
use tokio::runtime::Builder;

use load::Load;

const INSTRUCTION: &str = "You are a helpful assistant.";

async fn with_rig(url: &str, load: Load) -> String {
    let model = OpenAIConfig::new("none").with_base_url(url).client().chat("gpt-4o");
    load.run(async |_, question, reply| {
        let request = CompletionRequest::new(question).preamble(INSTRUCTION);
        let mut stream = model.stream(request).expect("a request");
        while let Some(item) = stream.next().await {
            if let Item::Event(StreamEvent::Text { text, .. }) = item.expect("the server answers") {
                reply.hear(&text);
            }
        }
    })
    .await
}

async fn with_genai(url: &str, load: Load) -> String {
    let target = ServiceTarget {
        endpoint: Endpoint::from_owned(format!("{url}/")),
        auth: AuthData::from_single("none"),
        model: ModelIden::new(AdapterKind::OpenAI, "gpt-4o"),
    };
    let client = Client::builder()
        .with_service_target_resolver_fn(move |_: ServiceTarget| Ok(target.clone()))
        .build()
        .expect("a client");
    load.run(async |_, question, reply| {
        let request = ChatRequest::new(vec![ChatMessage::user(question)]).with_system(INSTRUCTION);
        let mut response = client.exec_chat_stream("gpt-4o", request, None).await.expect("an answer");
        while let Some(event) = response.stream.next().await {
            if let ChatStreamEvent::Chunk(chunk) = event.expect("the server answers") {
                reply.hear(&chunk.content);
            }
        }
    })
    .await
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [peer, url, numbers @ ..] = &arguments[..] else { panic!("a peer and an address are missing") };
    let load = Load::parse(numbers).expect("four numbers");
    // One thread, as in the benchmark.
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let line = match peer.as_str() {
        "rig" => runtime.block_on(with_rig(url, load)),
        "genai" => runtime.block_on(with_genai(url, load)),
        _ => panic!("{peer} is no client"),
    };
    println!("{line}");
}
