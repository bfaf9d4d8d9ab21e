//! The service over HTTP, with clients that leave and a server that is started again.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::model::{Chunk, Model, Offline, Request};
use futures::FutureExt;
use futures::stream::{self, BoxStream};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::*;

/// The offline model, which counts calls and answers with permission only.
#[derive(Clone)]
struct Gated {
    calls: Arc<AtomicUsize>,
    gate: Arc<Semaphore>,
}

impl Gated {
    fn new(is_open: bool) -> Self {
        let permits = if is_open { Semaphore::MAX_PERMITS } else { 0 };
        Self { calls: Arc::default(), gate: Arc::new(Semaphore::new(permits)) }
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

impl Model for Gated {
    fn name(&self) -> &'static str {
        "gated"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let (reply, gate) = (Offline::new().reply(request), Arc::clone(&self.gate));
        let gated = async move {
            drop(gate.acquire().await);
            reply
        };
        gated.flatten_stream().boxed()
    }
}

/// A server on a free port.
struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), BoxError>>,
}

impl Server {
    async fn start(file: &Path, model: &Gated) -> Self {
        let (file, model) = (file.to_owned(), model.clone());
        let chats = Chats::new(move |key| {
            let (opened, model) = (Chat::open(SqliteStore::new(&file, key)), model.clone());
            async move {
                let chat = opened.await?;
                chat.set_model(model);
                Ok(chat)
            }
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(serve(listener, chats, async { drop(stopped.await) }));
        Self { address, stop, task }
    }

    async fn stop(self) {
        self.stop.send(()).expect("it is running");
        self.task.await.expect("it does not panic").expect("it ends well");
    }
}

/// Sends a request, and returns the response on arrival.
async fn send(server: SocketAddr, request: &str, body: &str) -> BufReader<TcpStream> {
    let mut stream = TcpStream::connect(server).await.expect("the server listens");
    let length = body.len();
    let text =
        format!("{request}\r\nhost: server\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).await.expect("the server reads");
    BufReader::new(stream)
}

/// The status and the body of a response.
async fn request(server: SocketAddr, request: &str, body: &str) -> (u16, String) {
    let mut text = String::new();
    send(server, &format!("{request} HTTP/1.1"), body).await.read_to_string(&mut text).await.expect("UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").expect("a response");
    (head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status"), body.to_owned())
}

/// A client of the events of a conversation.
#[derive(Default)]
struct Client {
    last_id: Option<String>,
    /// The values by step and column.
    values: BTreeMap<(u64, String), String>,
}

impl Client {
    /// Reads events until there are this number of values, and leaves.
    async fn read(&mut self, server: SocketAddr, key: &str, values: usize) {
        let last_id = self.last_id.as_ref().map(|id| format!("\r\nlast-event-id: {id}")).unwrap_or_default();
        let response = send(server, &format!("GET /chats/{key}/events HTTP/1.1{last_id}"), "").await;
        let mut lines = response.lines();
        let mut event = Value::Null;
        while self.values.len() < values {
            let Some(line) = lines.next_line().await.expect("UTF-8") else { return };
            if let Some(data) = line.strip_prefix("data: ") {
                event = serde_json::from_str(data).expect("JSON");
            } else if let Some(id) = line.strip_prefix("id: ") {
                self.last_id = Some(id.to_owned());
            } else if line.is_empty() && event["type"] == "value" {
                let text = |field: &str| event[field].as_str().expect("a text").to_owned();
                let cell = (event["step"].as_u64().expect("a number"), text("column"));
                assert_eq!(self.values.insert(cell, text("value")), None, "each value comes once: {event}");
                event = Value::Null;
            }
        }
    }
}

/// A file in a folder that is removed in the end.
fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("chats.db");
    (folder, file)
}

#[tokio::test]
async fn a_client_that_leaves_and_returns_gets_each_value_once() {
    let ((_folder, file), model) = (file(), Gated::new(true));
    let Server { address, .. } = &Server::start(&file, &model).await;
    for (step, text) in ["Which language?", "And why that one?"].into_iter().enumerate() {
        let posted = request(*address, "POST /chats/ada", text).await;
        assert_eq!(posted, (202, format!("{{\"step\":{step}}}")));
    }
    let mut client = Client::default();
    for values in 1..=10 {
        client.read(*address, "ada", values).await;
    }
    assert_eq!(client.values[&(0, "user".into())], "Which language?");
    assert_eq!(model.calls(), 8);

    let (status, body) = request(*address, "GET /chats/ada", "").await;
    let body: Value = serde_json::from_str(&body).expect("JSON");
    assert_eq!((status, &body["position"]), (200, &json!("2")));
    for ((step, column), value) in &client.values {
        let step = usize::try_from(*step).expect("a few");
        assert_eq!(body["steps"][step][column], json!(value), "{column} {step}");
    }
}

/// The page of a conversation has a form for the message that asks for a person.
#[tokio::test]
async fn a_person_answers_who_asks_for_one() {
    let (_folder, file) = file();
    let server = Server::start(&file, &Gated::new(true)).await;
    let address = server.address;
    for text in ["Hello.", "May I talk to a person?"] {
        assert_eq!(request(address, "POST /chats/ada", text).await.0, 202);
    }
    let page = request(address, "GET /chats/ada/live", "").await.1;
    assert!(page.contains("\"takesAnswers\":true"));
    let mut events = send(address, "GET /chats/ada/events HTTP/1.1", "").await.lines();
    let pending = loop {
        let line = events.next_line().await.expect("UTF-8").expect("the flow is open");
        if let Some(data) = line.strip_prefix("data: ").filter(|data| data.contains("\"pending\"")) {
            break serde_json::from_str::<Value>(data).expect("JSON");
        }
    };
    let proposal = "Thank you. I am a person, and I look into it.";
    assert_eq!(pending, json!({ "type": "pending", "column": "person", "step": 1, "proposal": proposal }));
    assert_eq!(request(address, "POST /chats/ada/answers/person/1", "Here I am.").await.0, 204);
    let (status, body) = request(address, "POST /chats/ada/answers/person/1", "Me too.").await;
    assert!(status == 409 && body.contains("is answered already"), "{status} {body}");
    for (cell, status) in [("nobody/1", 404), ("assistant/1", 404), ("person/0", 409), ("person/2", 409)] {
        assert_eq!(
            request(address, &format!("POST /chats/ada/answers/{cell}"), "x").await.0,
            status,
            "{cell}"
        );
    }
    let body: Value = serde_json::from_str(&request(address, "GET /chats/ada", "").await.1).expect("JSON");
    assert_eq!(
        (&body["steps"][1]["person"], &body["steps"][0]["person"]),
        (&json!("Here I am."), &Value::Null)
    );
    server.stop().await;
}

#[tokio::test]
async fn a_request_that_makes_no_sense_is_refused() {
    let (_folder, file) = file();
    let server = Server::start(&file, &Gated::new(true)).await;
    let (status, body) = request(server.address, "GET /chats/ada/events?from=yesterday", "").await;
    assert!(status == 400 && body.contains("no position of a flow"), "{status} {body}");
    assert_eq!(request(server.address, "GET /nonesuch", "").await.0, 404);
    assert_eq!(request(server.address, "POST /chats/ada/cancel", "").await.0, 204);
    server.stop().await;
}

/// Browsers got an error when they connected again while the server finished the cells, and gave up for good.
#[tokio::test]
async fn a_server_that_finishes_its_cells_takes_no_connections() {
    let ((_folder, file), model) = (file(), Gated::new(false));
    let Server { address, stop, task } = Server::start(&file, &model).await;
    assert_eq!(request(address, "POST /chats/ada", "Tea or coffee?").await.0, 202);
    while model.calls() < 3 {
        tokio::task::yield_now().await;
    }
    stop.send(()).expect("it is running");
    while TcpStream::connect(address).await.is_ok() {}
    assert!(!task.is_finished(), "the model has not answered");
    model.gate.add_permits(Semaphore::MAX_PERMITS);
    task.await.expect("it does not panic").expect("it ends well");

    let server = Server::start(&file, &model).await;
    Client::default().read(server.address, "ada", 5).await;
    server.stop().await;
    assert_eq!(model.calls(), 4);
}

/// The number of conversations, and of the clients that are connected at once.
const CONVERSATIONS: usize = 1000;
const CONNECTIONS: usize = 40;

/// Does something with each conversation, for some at once.
async fn each<F: Future<Output = ()>>(conversation: impl Fn(usize) -> F) {
    stream::iter(0..CONVERSATIONS).map(conversation).buffer_unordered(CONNECTIONS).collect::<()>().await;
}

/// Clients post and leave while all conversations are open and wait for the model. The server is stopped in the middle of
/// the answers, and started again. `.ci/run` runs this with at most 256 open files.
#[tokio::test]
async fn a_thousand_conversations_lose_nothing_and_compute_nothing_twice() {
    let ((_folder, file), model) = (file(), Gated::new(false));
    let server = Server::start(&file, &model).await;
    let address = server.address;
    let message = |key: usize| format!("Message {key}. Tea or coffee?");
    each(|key| async move {
        let posted = request(address, &format!("POST /chats/{key}"), &message(key)).await;
        assert_eq!(posted.0, 202);
        if key % 3 == 0 {
            Client::default().read(address, &key.to_string(), 1).await;
        }
    })
    .await;
    let stopped = tokio::spawn(server.stop());
    // As soon as nothing new is started, the model answers what was asked.
    while TcpStream::connect(address).await.is_ok() {}
    model.gate.add_permits(Semaphore::MAX_PERMITS);
    stopped.await.expect("it does not panic");
    let before = model.calls();
    assert!(before < 4 * CONVERSATIONS, "it was stopped in the middle");

    let server = Server::start(&file, &model).await;
    let address = server.address;
    each(|key| async move {
        let mut client = Client::default();
        client.read(address, &key.to_string(), 5).await;
        assert_eq!(client.values.len(), 5, "conversation {key}");
        assert_eq!(client.values[&(0, "user".into())], message(key));
    })
    .await;
    server.stop().await;
    assert_eq!(model.calls(), 4 * CONVERSATIONS, "{before} of them before the restart");
    println!("{before} calls before the restart, {} in all", model.calls());
}
