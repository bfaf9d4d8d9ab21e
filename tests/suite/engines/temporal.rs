//! The adapter of Temporal, on a server that `tests/engine-server temporal` has started.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use columnar::engine::temporal::temporalio_client::{
    Client, ClientOptions, ConnectionOptions, UntypedWorkflow, Url, WorkflowCancelOptions,
    WorkflowDescribeOptions, WorkflowTerminateOptions,
};
use columnar::engine::temporal::{Temporal, serve};
use columnar::engine::{FlowClient, FlowWorker, RemoteFlow};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::{EngineHarness, engine_conformance};
use columnar::{BoxError, Column, Flow};
use futures::future::{BoxFuture, FutureExt, LocalBoxFuture, join, pending};
use tokio::sync::{oneshot, watch};
use tokio::time::sleep;

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

impl TemporalHarness {
    /// `None`, with a word about it, without a server.
    async fn of_environment() -> Option<Self> {
        let server = ["URL", "DATA"].map(|name| env::var(format!("COLUMNAR_TEMPORAL_{name}")));
        let [Ok(address), Ok(data)] = server else {
            println!("SKIPPED: there is no Temporal server (`tests/engine-server temporal run`)");
            return None;
        };
        let address = Url::parse(&address).expect("an address");
        let client = connect(&address).await;
        Some(Self { address, client, data: data.into() })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn temporal_gives_flows_to_workers() {
    if let Some(harness) = TemporalHarness::of_environment().await {
        engine_conformance(harness).await;
    }
}

/// Serves the flow `ada` with a worker while a client talks.
async fn while_served(client: &Client, name: &str, last: Column, talk: impl AsyncFnOnce(RemoteFlow)) {
    let chats = MemoryStore::new();
    let messages = MemoryStore::new();
    let stores = move |key: &str| if key == "ada" { chats.clone() } else { messages.clone() };
    let flow = FlowClient::new(Temporal::new(client.clone(), name), stores.clone()).flow("ada");
    let chats = stores.clone();
    let worker = FlowWorker::new(move |key: String| Flow::open(chats(&key), [last.clone()]), stores);
    let (over, ended) = oneshot::channel::<()>();
    let talking = async {
        talk(flow).await;
        drop(over);
    };
    let (served, ()) = join(serve(worker, client.clone(), name, ended.map(drop)), talking).await;
    served.expect("it is served");
}

/// The server of the tests wants another history after 200 events.
#[tokio::test(flavor = "multi_thread")]
async fn n7_a_flow_outlives_the_history_of_its_workflow() {
    let Some(TemporalHarness { client, .. }) = TemporalHarness::of_environment().await else { return };
    let name = format!("histories {:016x}", fastrand::u64(..));
    let workflow = client.get_workflow_handle::<UntypedWorkflow>(format!("{name}/ada"));
    while_served(&client, &name, source("user"), async |flow| {
        let first = flow.clone().request("first");
        assert_eq!(first.push("user", "0").await.expect("it is stored"), 0);
        for step in 1..40 {
            assert_eq!(flow.push("user", step.to_string()).await.expect("it is stored"), step);
        }
        let described = workflow.describe(WorkflowDescribeOptions::default()).await.expect("it is there");
        let history = described.raw_description.workflow_execution_info.expect("a history");
        let run = history.execution.expect("a run").run_id;
        assert_ne!(history.first_run_id, run, "there is one history of all events");
        assert_eq!(first.push("user", "0").await.expect("a reply"), 0, "the request is carried out twice");
        workflow.terminate(WorkflowTerminateOptions::default()).await.expect("it ends");
        assert_eq!(flow.push("user", "last").await.expect("another workflow begins"), 40);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn n7_another_workflow_carries_out_the_calls_that_a_cancelled_one_has() {
    let Some(TemporalHarness { client, .. }) = TemporalHarness::of_environment().await else { return };
    let name = format!("cancelled {:016x}", fastrand::u64(..));
    let workflow = client.get_workflow_handle::<UntypedWorkflow>(format!("{name}/ada"));
    let begun = watch::Sender::new(false);
    let computes = begun.clone();
    let answer = column("answer", source("user").latest(), move |_: Context| {
        let has_begun = computes.send_replace(true);
        async move {
            if !has_begun {
                pending::<()>().await;
            }
            Ok::<_, BoxError>("an answer")
        }
    });
    while_served(&client, &name, answer, async |flow| {
        assert_eq!(flow.push("user", "0").await.expect("it is stored"), 0);
        begun.subscribe().wait_for(|has_begun| *has_begun).await.expect("it computes");
        let cancelled = async {
            // The next call waits behind the run.
            sleep(Duration::from_secs(1)).await;
            workflow.cancel(WorkflowCancelOptions::default()).await.expect("it ends");
        };
        let (pushed, ()) = join(flow.push("user", "1"), cancelled).await;
        assert_eq!(pushed.expect("it is stored"), 1);
        flow.run().await.expect("the cell is computed anew");
        assert_eq!(flow.read().await.and_then(|flow| flow.len("answer")).expect("it is read"), 2);
    })
    .await;
}
