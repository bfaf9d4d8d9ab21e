//! The adapter of Temporal, on a server that `tests/engine-server temporal` has started.

use std::path::{Path, PathBuf};
use std::{env, fs};

use columnar::engine::temporal::temporalio_client::{
    Client, ClientOptions, ConnectionOptions, UntypedWorkflow, Url, WorkflowDescribeOptions,
    WorkflowTerminateOptions,
};
use columnar::engine::temporal::{Temporal, serve};
use columnar::engine::{FlowClient, FlowWorker};
use columnar::store::MemoryStore;
use columnar::testing::{EngineHarness, engine_conformance};
use columnar::{Flow, source};
use futures::future::{BoxFuture, FutureExt, LocalBoxFuture, join};
use tokio::sync::oneshot;

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

/// The server of the tests wants another history after 200 events.
#[tokio::test(flavor = "multi_thread")]
async fn n7_a_flow_outlives_the_history_of_its_workflow() {
    let Some(TemporalHarness { client, .. }) = TemporalHarness::of_environment().await else { return };
    let name = format!("histories {:016x}", fastrand::u64(..));
    let chats = MemoryStore::new();
    let messages = MemoryStore::new();
    let inbox = messages.clone();
    let worker =
        FlowWorker::new(move |_| Flow::open(chats.clone(), [source("user")]), move |_| inbox.clone());
    let (over, ended) = oneshot::channel::<()>();
    let pushes = async {
        let flows = FlowClient::new(Temporal::new(client.clone(), &name), move |_| messages.clone());
        let flow = flows.flow("ada");
        let first = flow.clone().request("first");
        assert_eq!(first.push("user", "0").await.expect("it is stored"), 0);
        for step in 1..40 {
            assert_eq!(flow.push("user", step.to_string()).await.expect("it is stored"), step);
        }
        let workflow = client.get_workflow_handle::<UntypedWorkflow>(format!("{name}/ada"));
        let described = workflow.describe(WorkflowDescribeOptions::default()).await.expect("it is there");
        let history = described.raw_description.workflow_execution_info.expect("a history");
        let run = history.execution.expect("a run").run_id;
        assert_ne!(history.first_run_id, run, "there is one history of all events");
        assert_eq!(
            first.push("user", "0").await.expect("the first reply"),
            0,
            "the request is carried out twice"
        );
        workflow.terminate(WorkflowTerminateOptions::default()).await.expect("it ends");
        assert_eq!(flow.push("user", "last").await.expect("another workflow begins"), 40);
        drop(over);
    };
    let (served, ()) = join(serve(worker, client.clone(), &name, ended.map(drop)), pushes).await;
    served.expect("it is served");
}
