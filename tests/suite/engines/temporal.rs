//! The adapter of Temporal, on a server that `tests/engine-server temporal` has started.

use std::path::{Path, PathBuf};
use std::{env, fs};

use columnar::engine::FlowWorker;
use columnar::engine::temporal::temporalio_client::{Client, ClientOptions, ConnectionOptions, Url};
use columnar::engine::temporal::{Temporal, serve};
use columnar::testing::{EngineHarness, engine_conformance};
use futures::future::{BoxFuture, FutureExt, LocalBoxFuture};

const SERVICE: &str = "conformance";

/// A server, and the folder with its database.
struct TemporalHarness {
    address: Url,
    client: Client,
    data: PathBuf,
}

async fn connect(address: &Url) -> Client {
    let server = ConnectionOptions::new(address.clone()).build();
    Client::connect(server, ClientOptions::new("default").build()).await.expect("it is connected")
}

/// The bytes of all files of a folder. The server may delete some meanwhile.
fn written(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let texts = entries.map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => written(&entry.path()),
        Ok(kind) if kind.is_file() => {
            String::from_utf8_lossy(&fs::read(entry.path()).unwrap_or_default()).into_owned()
        }
        _ => String::new(),
    });
    texts.collect()
}

impl EngineHarness for TemporalHarness {
    type Engine = Temporal;

    fn engine(&self) -> Temporal {
        Temporal::new(self.client.clone(), SERVICE)
    }

    fn serve(&self, worker: FlowWorker, shutdown: BoxFuture<'static, ()>) -> LocalBoxFuture<'static, ()> {
        let address = self.address.clone();
        async move {
            // Its connection dies with the thread of the worker.
            serve(worker, connect(&address).await, SERVICE, shutdown).await.expect("it is served");
        }
        .boxed_local()
    }

    fn remembered(&self) -> BoxFuture<'_, String> {
        async { written(&self.data) }.boxed()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn temporal_gives_flows_to_workers() {
    let server = ["URL", "DATA"].map(|name| env::var(format!("COLUMNAR_TEMPORAL_{name}")));
    let [Ok(address), Ok(data)] = server else {
        println!("SKIPPED: there is no Temporal server (`tests/engine-server temporal run`)");
        return;
    };
    let address = Url::parse(&address).expect("an address");
    let client = connect(&address).await;
    engine_conformance(TemporalHarness { address, client, data: data.into() }).await;
}
