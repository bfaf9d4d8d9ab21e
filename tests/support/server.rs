//! A provider that does as it is told, on this machine: it cuts, delays, splits and lies.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use columnar::model::Genai;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// What is done with a connection, in turn. It ends with the last act.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Breaks the connection off: whoever reads it gets an error instead of its end.
    Reset,
    /// Does nothing more, and does not end.
    Hold,
    /// Sends this again and again until nobody listens, or so often.
    Flood(Vec<u8>, usize),
}

/// A server whose n-th connection does what its script says of the n-th. It ends with this value.
#[derive(Debug)]
pub struct Server {
    url: String,
    log: Arc<Log>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Mutex<Vec<(Instant, String)>>,
    changed: Notify,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Begins to serve.
    ///
    /// # Panics
    ///
    /// If there is no port left.
    pub async fn start(script: impl Fn(usize) -> Vec<Act> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let log = Arc::new(Log::default());
        let kept = Arc::clone(&log);
        let task = tokio::spawn(async move {
            let mut connections = Vec::new();
            loop {
                let (socket, _) = listener.accept().await.expect("a client");
                let acts = script(connections.len());
                connections.push(tokio::spawn(serve(socket, acts, Arc::clone(&kept))));
            }
        });
        Self { url, log, task }
    }

    /// Does the same with every connection.
    pub async fn always(acts: Vec<Act>) -> Self {
        Self::start(move |_| acts.clone()).await
    }

    /// Where it is, without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// What has been asked, as it came over the wire.
    pub fn requests(&self) -> Vec<String> {
        self.log().iter().map(|(_, request)| request.clone()).collect()
    }

    /// When it was asked.
    pub fn asked_at(&self) -> Vec<Instant> {
        self.log().iter().map(|(at, _)| *at).collect()
    }

    /// Waits until so many requests have come.
    pub async fn asked(&self, times: usize) {
        loop {
            let changed = self.log.changed.notified();
            if self.log().len() >= times {
                return;
            }
            changed.await;
        }
    }

    fn log(&self) -> MutexGuard<'_, Vec<(Instant, String)>> {
        self.log.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(mut socket: TcpStream, acts: Vec<Act>, log: Arc<Log>) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        if !matches!(socket.read_buf(&mut request).await, Ok(1..)) {
            return;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    log.requests.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), request));
    log.changed.notify_waiters();
    for act in acts {
        match act {
            Act::Send(bytes) => {
                // Whoever has heard enough may be gone.
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Pause(time) => sleep(time).await,
            Act::Reset => {
                socket.set_zero_linger().expect("it can be broken off");
                return;
            }
            Act::Hold => pending().await,
            Act::Flood(bytes, times) => {
                for _ in 0..times {
                    if socket.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
    // What was sent and not read would otherwise break the connection off.
    let _ = socket.shutdown().await;
    while matches!(socket.read_buf(&mut Vec::with_capacity(1024)).await, Ok(1..)) {}
}

fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(request.get(..end).unwrap_or_default()).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    request.len() >= end + 4 + length.unwrap_or(0)
}

/// An answer with a length.
pub fn answer(status: &str, body: &str) -> Vec<Act> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
    vec![Act::Send(format!("{head}content-length: {length}\r\n\r\n{body}").into_bytes())]
}

/// The head of a reply that ends where the connection does.
pub fn head() -> Act {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Act::Send(head.as_bytes().to_vec())
}

/// A reply that ends where the connection does.
pub fn stream(body: impl AsRef<[u8]>) -> Vec<Act> {
    vec![head(), Act::Send(body.as_ref().to_vec())]
}

/// A reply of which these pieces are read one by one, however they travel.
pub fn pieces<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Act> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut bytes = head.as_bytes().to_vec();
    for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"0\r\n\r\n");
    vec![Act::Send(bytes)]
}

/// The two kinds of a stream that most providers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Chat completions: all is said in the data of an event.
    OpenAi,
    /// Messages: each event has a name.
    Anthropic,
}

/// Both.
pub const WIRES: [Wire; 2] = [Wire::OpenAi, Wire::Anthropic];

impl Wire {
    /// A model that speaks it, at the server.
    pub fn model(self, server: &Server) -> Genai {
        self.model_at(&format!("{}/v1", server.url()))
    }

    /// A model that speaks it, at an address.
    ///
    /// # Panics
    ///
    /// Where HTTPS is not available.
    pub fn model_at(self, url: &str) -> Genai {
        Genai::new(&format!("{}@{url}", self.name())).expect("a provider")
    }

    /// What that is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai/test",
            Self::Anthropic => "anthropic/test",
        }
    }

    /// The events of a reply, each up to the blank line behind it.
    pub fn events(self, texts: &[&str], finish: &str) -> Vec<String> {
        let text = |text: &&str| match self {
            Self::OpenAi => data(&format!(
                r#"{{"id":"chatcmpl-7","choices":[{{"index":0,"delta":{{"content":{text:?}}},"finish_reason":null}}]}}"#
            )),
            Self::Anthropic => event(
                "content_block_delta",
                &format!(r#""index":0,"delta":{{"type":"text_delta","text":{text:?}}}"#),
            ),
        };
        let texts = texts.iter().map(text);
        match self {
            Self::OpenAi => {
                let first = r#"{"id":"chatcmpl-7","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}"#;
                let last = format!(
                    r#"{{"id":"chatcmpl-7","choices":[{{"index":0,"delta":{{}},"finish_reason":"{finish}"}}]}}"#
                );
                let usage = r#"{"id":"chatcmpl-7","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11}}"#;
                let end = [data(&last), data(usage), data("[DONE]")];
                [data(first)].into_iter().chain(texts).chain(end).collect()
            }
            Self::Anthropic => {
                let first = [
                    event(
                        "message_start",
                        r#""message":{"id":"msg_7","type":"message","role":"assistant","content":[],"usage":{"input_tokens":9,"output_tokens":1}}"#,
                    ),
                    event("content_block_start", r#""index":0,"content_block":{"type":"text","text":""}"#),
                    event("ping", r#""n":0"#),
                ];
                let delta = format!(r#""delta":{{"stop_reason":"{finish}"}},"usage":{{"output_tokens":2}}"#);
                let end = [
                    event("content_block_stop", r#""index":0"#),
                    event("message_delta", &delta),
                    event("message_stop", r#""n":0"#),
                ];
                first.into_iter().chain(texts).chain(end).collect()
            }
        }
    }

    /// A whole reply with these texts.
    pub fn says(self, texts: &[&str]) -> String {
        self.events(texts, self.stop()).concat()
    }

    /// The word for an ordinary end.
    pub fn stop(self) -> &'static str {
        match self {
            Self::OpenAi => "stop",
            Self::Anthropic => "end_turn",
        }
    }
}

/// An event without a name.
pub fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// An event with a name, which its data says again.
pub fn event(name: &str, rest: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{rest}}}\n\n")
}
