//! A worker, and the log of its calls of the model.

use std::collections::{HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use columnar::BoxError;
use columnar::engine::FlowWorker;
use columnar::model::rendering::Request;
use columnar::model::{Chunk, Model, Offline};
use futures::stream::{BoxStream, StreamExt};
use tokio::time::sleep;

use crate::Chat;
use crate::servers::Servers;

/// A worker: `worker ENGINE PORT LOG PACE`.
pub(crate) async fn serve_until_interrupted(arguments: &[String]) -> Result<(), BoxError> {
    let [engine, port, log, pace] = arguments else {
        return Err("expected ENGINE, PORT, LOG and PACE".into());
    };
    let servers = Servers::of_environment(engine)?;
    let chats = servers.chats();
    let model = LoggedModel::new(log.as_ref(), pace.parse()?)?;
    let messages = Arc::clone(&chats);
    let worker = FlowWorker::new(
        move |key: String| Chat::open(chats.flow(key), model.clone()),
        move |key| messages.flow(key),
    );
    servers.serve(worker, port.parse()?).await
}

/// The offline model, which takes its time and notes each call.
#[derive(Clone)]
pub(crate) struct LoggedModel {
    model: Offline,
    pace: Duration,
    log: Arc<File>,
}

impl LoggedModel {
    pub(crate) fn new(log: &Path, pace_ms: u64) -> Result<Self, BoxError> {
        // A line of this length is appended whole, whoever else appends.
        let log = OpenOptions::new().create(true).append(true).open(log)?;
        Ok(Self { model: Offline::new(), pace: Duration::from_millis(pace_ms), log: Arc::new(log) })
    }
}

impl Model for LoggedModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        // The conversations differ in each text, so a request is a cell.
        let mut hasher = DefaultHasher::new();
        (&request.system, format!("{:?}", request.messages)).hash(&mut hasher);
        let cell = hasher.finish();
        let Self { pace, log, .. } = self.clone();
        let reply = self.model.reply(request);
        let begun = futures::stream::once(async move {
            (&*log).write_all(format!("begun {cell:016x}\n").as_bytes())?;
            sleep(pace).await;
            (&*log).write_all(format!("ended {cell:016x}\n").as_bytes())?;
            Ok::<_, BoxError>(reply)
        });
        begun
            .flat_map(|reply| reply.unwrap_or_else(|error| futures::stream::iter([Err(error)]).boxed()))
            .boxed()
    }
}

/// The file to which all workers append their calls.
#[derive(Clone, Debug)]
pub(crate) struct CallLog(pub(crate) PathBuf);

/// The numbers of calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Calls {
    pub(crate) begun: usize,
    pub(crate) ended: usize,
    pub(crate) distinct: usize,
}

impl CallLog {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn count(&self) -> Result<Calls, BoxError> {
        let text = std::fs::read_to_string(&self.0)?;
        let mut lines: HashMap<&str, usize> = HashMap::new();
        let mut cells = HashSet::new();
        for (what, cell) in text.lines().filter_map(|line| line.split_once(' ')) {
            *lines.entry(what).or_default() += 1;
            cells.insert(cell);
        }
        let count = |what| lines.get(what).copied().unwrap_or_default();
        Ok(Calls { begun: count("begun"), ended: count("ended"), distinct: cells.len() })
    }
}
