//! The adapter of Restate, on a server that `tests/engine-server restate` has started.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

use columnar::engine::FlowWorker;
use columnar::engine::restate::{Restate, serve};
use columnar::testing::{EngineHarness, engine_conformance};
use futures::future::{BoxFuture, FutureExt, LocalBoxFuture};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};

const SERVICE: &str = "conformance";

/// The addresses of the server for requests and for administration, if it runs.
fn server() -> Option<(String, String)> {
    Some((env::var("COLUMNAR_RESTATE_URL").ok()?, env::var("COLUMNAR_RESTATE_ADMIN").ok()?))
}

/// A server, with a port that all workers share, as behind a load balancer.
struct RestateHarness {
    address: String,
    admin: String,
    port: OnceLock<u16>,
}

/// A listener on a port that others may listen on, too.
fn listen(port: u16) -> TcpListener {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseport(true).expect("the port is shared");
    socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).expect("the port is free");
    socket.listen(128).expect("it listens")
}

/// Makes the workers on a port known to the server.
async fn register(admin: &str, port: u16) {
    let body = json!({ "uri": format!("http://127.0.0.1:{port}"), "force": true });
    let reply = Client::new().post(format!("{admin}/deployments")).json(&body).send().await;
    let reply = reply.expect("the server replies");
    assert!(reply.status().is_success(), "{}", reply.text().await.unwrap_or_default());
}

impl EngineHarness for RestateHarness {
    type Engine = Restate;

    fn engine(&self) -> Restate {
        Restate::new(&self.address, SERVICE).expect("a client")
    }

    fn serve(&self, worker: FlowWorker, shutdown: BoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()> {
        let port = *self.port.get().expect("a port");
        async move {
            serve(worker, SERVICE, listen(port), shutdown).await.expect("it is served");
        }
        .boxed_local()
    }

    fn remembered(&self) -> BoxFuture<'_, String> {
        async {
            // Its files are compressed.
            let query = json!({ "query": "select raw from sys_journal" });
            let request =
                Client::new().post(format!("{}/query", self.admin)).header("accept", "application/json");
            let rows: Value =
                request.json(&query).send().await.expect("it replies").json().await.expect("rows");
            // Bytes are in hexadecimal digits.
            let texts = rows["rows"].as_array().into_iter().flatten().map(|row| {
                let digits = row["raw"].as_str().unwrap_or_default();
                let bytes = digits
                    .as_bytes()
                    .chunks(2)
                    .filter_map(|two| u8::from_str_radix(std::str::from_utf8(two).ok()?, 16).ok());
                String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
            });
            texts.collect()
        }
        .boxed()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn restate_gives_flows_to_workers() {
    let Some((address, admin)) = server() else {
        println!("SKIPPED: there is no Restate server (`tests/engine-server restate run`)");
        return;
    };
    let first = listen(0);
    let port = first.local_addr().expect("an address").port();
    let harness = RestateHarness { address, admin: admin.clone(), port: OnceLock::from(port) };
    // The server asks a worker what it serves.
    let asked = FlowWorker::new(
        |_| async { columnar::flow([columnar::source("user")]) },
        |_| columnar::store::MemoryStore::new(),
    );
    let (registered, ended) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        serve(asked, SERVICE, first, ended.map(drop)).await.expect("it is served");
    });
    register(&admin, port).await;
    drop(registered);
    serving.await.expect("it ends");
    engine_conformance(harness).await;
}
