//! The servers of the fleet: PostgreSQL, and Restate or Temporal.

use std::env;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use columnar::BoxError;
use columnar::engine::restate::{self, Restate};
use columnar::engine::temporal::temporalio_client::{Client, ClientOptions, ConnectionOptions, Url};
use columnar::engine::temporal::{self, Temporal};
use columnar::engine::{EngineError, FlowClient, FlowWorker};
use columnar::store::PostgresStore;
use serde_json::json;
use tokio::net::TcpSocket;
use tokio::signal::ctrl_c;
use tokio::time::{Instant, sleep};

/// The object of Restate, and the task queue of Temporal, that has the conversations.
const SERVICE: &str = "chats";

#[derive(Clone)]
pub(crate) struct Servers {
    database: String,
    engine: EngineServer,
}

#[derive(Clone)]
enum EngineServer {
    Restate { requests: String, admin: String },
    Temporal { address: Url },
}

fn variable(name: &str, script: &str) -> Result<String, BoxError> {
    env::var(name)
        .map_err(|_| format!("{name} is not set: `eval \"$(tests/{script} start)\"` starts a server").into())
}

impl Servers {
    pub(crate) fn of_environment(engine: &str) -> Result<Self, BoxError> {
        let database = variable("COLUMNAR_PG_URL", "postgres-server")?;
        let engine = match engine {
            "temporal" => EngineServer::Temporal {
                address: variable("COLUMNAR_TEMPORAL_URL", "engine-server temporal")?.parse()?,
            },
            _ => EngineServer::Restate {
                requests: variable("COLUMNAR_RESTATE_URL", "engine-server restate")?,
                admin: variable("COLUMNAR_RESTATE_ADMIN", "engine-server restate")?,
            },
        };
        Ok(Self { database, engine })
    }

    /// The name of the engine.
    pub(crate) fn engine(&self) -> &'static str {
        match self.engine {
            EngineServer::Restate { .. } => "restate",
            EngineServer::Temporal { .. } => "temporal",
        }
    }

    /// The stores of all conversations, on few connections.
    pub(crate) fn chats(&self) -> Arc<PostgresStore> {
        Arc::new(PostgresStore::new(&self.database, ""))
    }

    pub(crate) async fn client(&self) -> Result<FlowClient, BoxError> {
        let chats = self.chats();
        let stores = move |key: &str| chats.flow(key);
        Ok(match &self.engine {
            EngineServer::Restate { requests, .. } => {
                FlowClient::new(Restate::new(requests, SERVICE)?, stores)
            }
            EngineServer::Temporal { address } => {
                FlowClient::new(Temporal::new(connect(address).await?, SERVICE), stores)
            }
        })
    }

    /// Serves with a worker until the process is interrupted. Workers of Restate share the port, as behind a load balancer.
    pub(crate) async fn serve(&self, worker: FlowWorker, port: u16) -> Result<(), BoxError> {
        let interrupted = async { ctrl_c().await.unwrap_or_default() };
        match &self.engine {
            EngineServer::Restate { .. } => {
                let socket = TcpSocket::new_v4()?;
                socket.set_reuseport(true)?;
                socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))?;
                restate::serve(worker, SERVICE, socket.listen(1024)?, interrupted).await?;
            }
            EngineServer::Temporal { address } => {
                temporal::serve(worker, connect(address).await?, SERVICE, interrupted).await?;
            }
        }
        Ok(())
    }

    /// Makes the workers on a port known to Restate. Workers of Temporal ask for calls by themselves.
    pub(crate) async fn register(&self, port: u16) -> Result<(), BoxError> {
        let EngineServer::Restate { admin, .. } = &self.engine else { return Ok(()) };
        let body = json!({ "uri": format!("http://127.0.0.1:{port}"), "force": true });
        let client = reqwest::Client::new();
        let give_up = Instant::now() + Duration::from_secs(30);
        loop {
            let reply = client.post(format!("{admin}/deployments")).json(&body).send().await?;
            match reply.error_for_status() {
                Ok(_) => return Ok(()),
                // The workers have not begun to listen.
                Err(_) if Instant::now() < give_up => sleep(Duration::from_millis(100)).await,
                Err(error) => return Err(error.into()),
            }
        }
    }
}

async fn connect(address: &Url) -> Result<Client, EngineError> {
    let server = ConnectionOptions::new(address.clone()).build();
    let connected = Client::connect(server, ClientOptions::new("default").build()).await;
    connected.map_err(|error| EngineError::Unreachable(error.into()))
}
