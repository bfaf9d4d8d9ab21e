//! The server of the benchmark, in a process of its own: chat completions as OpenAI sends them, word by word.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, io};

use columnar_tests::scripted::is_whole;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

/// The flag with which the benchmark starts the server.
pub(crate) const SERVE: &str = "--serve";

/// The time until a reply begins, so that calls overlap as with a model.
const FIRST: Duration = Duration::from_millis(20);

/// The server while it runs.
pub(crate) struct WireServer {
    child: Child,
    pub(crate) url: String,
}

impl WireServer {
    /// Starts this program again as the server.
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env::current_exe().expect("a benchmark is a program"));
        let mut child = command.arg(SERVE).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut url = String::new();
        let line = BufReader::new(child.stdout.take().expect("it is piped")).read_line(&mut url);
        line.expect("the server tells the address");
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for WireServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves until the process is ended.
pub(crate) async fn serve() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/v1", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(answer_all(socket));
    }
}

/// Answers the requests on a connection, one after the other, until the client leaves.
async fn answer_all(mut socket: TcpStream) {
    let mut request = Vec::new();
    while matches!(socket.read_buf(&mut request).await, Ok(1..)) {
        if is_whole(&request) {
            if answer(&mut socket, &String::from_utf8_lossy(&request)).await.is_err() {
                return;
            }
            request.clear();
        }
    }
}

async fn answer(socket: &mut TcpStream, request: &str) -> io::Result<()> {
    let asked = Instant::now();
    let mut numbers = request.split("Send ").nth(1).unwrap_or_default().split(' ');
    let [words, pause] = [0, 3].map(|skipped| numbers.nth(skipped).and_then(|it| it.parse::<u64>().ok()));
    let [words, pause] = [words, pause].map(|number| number.expect("a question of the benchmark"));
    sleep(FIRST).await;
    let mut text =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    text += &chunk(r#"{"role":"assistant","content":"","refusal":null}"#, "null");
    text += &chunk(&format!(r#"{{"content":"{}"}}"#, asked.elapsed().as_micros()), "null");
    for word in 1..words {
        if pause > 0 {
            socket.write_all(text.as_bytes()).await?;
            text.clear();
            sleep(Duration::from_micros(pause)).await;
        }
        text += &chunk(&format!(r#"{{"content":" w{}"}}"#, word % 10_000), "null");
    }
    text += &chunk("{}", r#""stop""#);
    let usage = r#""choices":[],"usage":{"prompt_tokens":22,"completion_tokens":9,"total_tokens":31}"#;
    text += &event(&format!("{{{HEAD},{usage}}}"));
    text += &event("[DONE]");
    text += "0\r\n\r\n";
    socket.write_all(text.as_bytes()).await
}

/// The members that OpenAI repeats in each event.
const HEAD: &str = r#""id":"chatcmpl-BQ7wX2mFhVdTzrYk1sGq8uNcLePa","object":"chat.completion.chunk","created":1779990000,"model":"gpt-4o-2024-11-20","service_tier":"default","system_fingerprint":"fp_a1b2c3d4e5""#;

fn chunk(delta: &str, finish: &str) -> String {
    event(&format!(
        r#"{{{HEAD},"choices":[{{"index":0,"delta":{delta},"logprobs":null,"finish_reason":{finish}}}],"usage":null}}"#
    ))
}

/// A server-sent event in an HTTP chunk of its own.
fn event(data: &str) -> String {
    format!("{:x}\r\ndata: {data}\n\n\r\n", data.len() + 8)
}
