//! A model that records the replies of a real model in a file, and replays these.
//!
//! ```text
//! request ──▶ recordings ──▶ replay the next reply
//!                 │ └──────▶ not recorded: an error with the nearest recording (`mismatch`)
//!                 ▼
//!               model ──▶ reply ──▶ recordings ──▶ file (`format`)        only to record
//! ```

mod error;
mod format;
mod json;
mod mismatch;
mod recording;
mod recordings;

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{self, BoxStream, StreamExt};

use self::error::CassetteError;
use self::recording::{RecordedCell, RecordedReply, RecordedRequest};
use self::recordings::{Lookup, Recordings};
use crate::declare::error::{BoxError, list};
use crate::model::rendering::Request;
use crate::model::{Chunk, Model, by_name};

pub use self::recordings::Record;

/// The name of the model if the file does not have exactly one model.
const DEFAULT_NAME: &str = "cassette";

/// A model that replays recorded replies from a file, for tests that call no provider, need no key and are deterministic.
///
/// With the environment variable [`COLUMNAR_RECORD`](Self::VARIABLE), a cassette calls the real model and writes the
/// file: `missing` records the requests that are not in the file, `all` records every request again.
///
/// ```no_run
/// use columnar::model::Model;
/// use columnar::prelude::*;
/// use columnar::testing::Cassette;
///
/// flow! {
///     pub struct Chat<M: Model + Clone>(model: M) {
///         source user;
///         column topics(user.latest)                  = prompt("List the topics.").model(model.clone());
///         column assistant(user, topics.latest, self) = prompt("Answer.").model(model.clone());
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<()> {
///     let cassette = Cassette::new("tests/cassettes/chat.json");
///     let chat = Chat::new(cassette.by_name("openai/gpt-5.4-mini"));
///     chat.user.push("We should rewrite the backend in Rust.").await?;
///     chat.run().await?;
///     assert!(chat.assistant.get(0).is_some());
///     assert_eq!(cassette.unused(), [""; 0]);
///     Ok(())
/// }
/// ```
///
/// - **Requests are equal** if the name of the model, the instruction, the messages as sent, the follow-up messages,
///   `temperature`, `stop`, the schema, and a `max_tokens` other than the default are. [Attachments](crate::Attachment)
///   are equal if type, digest, length and alternative text are; the file has no bytes of these. The
///   [pace](Request::pace) does not count.
/// - **A request that is not recorded is an error**, and no model is called. The error names the column and the step,
///   and shows the nearest recording with the first difference. Like the file, the error contains text of
///   conversations.
/// - **The same request again** gets the same reply. If a request was recorded several times, the replies are replayed
///   in the order of the requests, and then the last reply is repeated.
/// - **Replies are streamed in their original pieces**, with finish, usage and id.
/// - **Only replies with an end are recorded**: no error, and no reply that broke off or was dropped.
/// - **One cassette at a time records into a file**. The [clones](Clone) of a cassette and the models made by
///   [`by_name`](Self::by_name) and [`recording`](Self::recording) record together, concurrently. The file is replaced
///   as a whole after each reply, so a test that is killed leaves a valid file. A second cassette that records into
///   the same file is an error.
/// - **The file contains no secrets**, as requests contain none: only the names of columns and models, the text of
///   requests and replies, and the ids of replies.
///
/// A relative path is relative to the working directory of the test: for `cargo test`, the folder of the `Cargo.toml`.
///
/// The cassette itself is a model, too: the recorded model, if the file has recordings of one model only.
#[derive(Clone)]
pub struct Cassette {
    recordings: Arc<Mutex<Recordings>>,
    name: Arc<str>,
    upstream: Upstream,
}

/// The model to record.
#[derive(Clone)]
enum Upstream {
    /// No model was set.
    Unset,
    /// No model is needed to replay.
    Unneeded,
    Model(Arc<dyn Model>),
    /// The model cannot be made, for this reason.
    Unavailable(Arc<str>),
}

impl Cassette {
    /// The environment variable that turns recording on: `missing` or `all`.
    pub const VARIABLE: &str = "COLUMNAR_RECORD";

    /// The cassette in a file, which replays unless the [environment](Self::VARIABLE) turns recording on.
    ///
    /// A missing or damaged file is an error of the first run.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::with(path.into(), record_from_env())
    }

    /// The cassette in a file with an explicit mode, which does not depend on the environment.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::{Cassette, Record, ScriptedModel};
    ///
    /// async fn ask(cassette: Cassette) -> Result<Option<Value>> {
    ///     let chat = flow! {
    ///         source user;
    ///         column assistant(user, self) = prompt("You are a helpful assistant.").model(cassette);
    ///     };
    ///     chat.user.push("Hello").await?;
    ///     chat.run().await?;
    ///     Ok(chat.assistant.get(0))
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let folder = tempfile::tempdir().expect("a folder");
    /// let path = folder.path().join("chat.json");
    ///
    /// let model = ScriptedModel::new(|_| "Hi! How can I help?".to_owned());
    /// let recorded = ask(Cassette::open(&path, Record::All).recording(model)).await?;
    /// let replayed = ask(Cassette::open(&path, Record::Nothing)).await?;
    /// assert_eq!(recorded, replayed);
    /// # Ok(()) }
    /// ```
    pub fn open(path: impl Into<PathBuf>, record: Record) -> Self {
        Self::with(path.into(), Ok(record))
    }

    fn with(path: PathBuf, record: Result<Record, CassetteError>) -> Self {
        let recordings = Recordings::open(path, record);
        let name = match &*recordings.models() {
            [one] => one.as_str().into(),
            _ => DEFAULT_NAME.into(),
        };
        Self { recordings: Arc::new(Mutex::new(recordings)), name, upstream: Upstream::Unset }
    }

    /// The recorded model of this name. Recording needs the model itself, [by name](crate::model::by_name), with the
    /// feature `providers` and a key. Replaying needs none of these.
    #[must_use]
    pub fn by_name(&self, name: &str) -> Self {
        let upstream = match self.recordings().record {
            Record::Nothing => Upstream::Unneeded,
            // Only a request that is not recorded needs the model, so a missing key is no error yet.
            _ => match by_name(name) {
                Ok(model) => Upstream::Model(model),
                Err(error) => Upstream::Unavailable(error.to_string().into()),
            },
        };
        Self { recordings: Arc::clone(&self.recordings), name: name.into(), upstream }
    }

    /// Records and replays this model under its name. The model is called only to record.
    #[must_use]
    pub fn recording(&self, model: impl Model) -> Self {
        let name = model.name().into();
        Self { recordings: Arc::clone(&self.recordings), name, upstream: Upstream::Model(Arc::new(model)) }
    }

    /// The recordings with replies that were not replayed, each as the column and the step for which it was recorded,
    /// and the model.
    pub fn unused(&self) -> Vec<String> {
        let recordings = self.recordings();
        let unused = recordings.unused().into_iter().map(|recording| {
            let RecordedCell { column, step } = &recording.cell;
            format!("`{column}` at step {step}, by {}", recording.request.model)
        });
        unused.collect()
    }

    fn recordings(&self) -> MutexGuard<'_, Recordings> {
        self.recordings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> Result<(), CassetteError> {
        let recordings = self.recordings();
        recordings.check()?;
        let models = recordings.models();
        if matches!(self.upstream, Upstream::Unset) && models.len() > 1 {
            let models = list(models.iter().map(String::as_str));
            let reason = format!("holds recordings of {models}: choose one of them with `Cassette::by_name`");
            return Err(CassetteError::of(&recordings.path, reason));
        }
        Ok(())
    }

    fn replay_or_record(
        &self,
        request: Request,
    ) -> Result<BoxStream<'static, Result<Chunk, BoxError>>, CassetteError> {
        self.check()?;
        let messages = &request.messages;
        let cell = RecordedCell { column: messages.column().to_string(), step: messages.step() };
        let recorded = RecordedRequest::new(&self.name, &request);
        let has_model = !matches!(self.upstream, Upstream::Unset | Upstream::Unneeded);
        let call = match self.recordings().find(&cell, &recorded, has_model)? {
            Lookup::Replay(reply) => return Ok(stream::iter(reply.chunks().map(Ok)).boxed()),
            Lookup::Call(call) => call,
        };
        let model = match &self.upstream {
            Upstream::Model(model) => Arc::clone(model),
            Upstream::Unavailable(reason) => return Err(CassetteError::no_model(reason)),
            Upstream::Unset | Upstream::Unneeded => {
                unreachable!("a lookup without a model never returns a call")
            }
        };
        // The lock is not held during the call, so that calls are concurrent.
        let mut pending = Some((Arc::clone(&self.recordings), cell, recorded, Vec::new()));
        let chunks = model.reply(request).map(move |chunk| match chunk {
            Ok(Chunk::Text(text)) => {
                pending.iter_mut().for_each(|(.., pieces)| pieces.push(text.clone()));
                Ok(Chunk::Text(text))
            }
            Ok(Chunk::End(end)) => {
                // Taken out, so that a model that ends a reply twice is recorded once.
                if let Some((recordings, cell, recorded, pieces)) = pending.take() {
                    let reply = RecordedReply { pieces, end: end.clone() };
                    let mut recordings = recordings.lock().unwrap_or_else(PoisonError::into_inner);
                    recordings.insert(cell, recorded, call, reply)?;
                }
                Ok(Chunk::End(end))
            }
            Err(error) => {
                // A reply that broke off is not recorded, even if the stream goes on to an end.
                pending = None;
                Err(error)
            }
            // Thoughts and waits are no part of the reply.
            other @ Ok(Chunk::Thought(_) | Chunk::Waiting { .. }) => other,
        });
        Ok(chunks.boxed())
    }
}

/// The mode that the environment sets.
fn record_from_env() -> Result<Record, CassetteError> {
    let variable = env::var_os(Cassette::VARIABLE).unwrap_or_default();
    match &*variable.to_string_lossy() {
        "" => Ok(Record::Nothing),
        "missing" => Ok(Record::Missing),
        "all" => Ok(Record::All),
        found => {
            let found: String = found.chars().take(20).collect();
            let message = format!("`COLUMNAR_RECORD` is {found:?}; possible are `missing` and `all`");
            Err(CassetteError::new(message))
        }
    }
}

impl Model for Cassette {
    fn name(&self) -> &str {
        &self.name
    }

    /// Checks the file. The real model is checked only if every request is recorded anew; otherwise the model may not
    /// be needed.
    fn ready(&self) -> Result<(), BoxError> {
        self.check()?;
        match (&self.upstream, self.recordings().record) {
            (Upstream::Model(model), Record::All) => model.ready(),
            (Upstream::Unavailable(reason), Record::All) => Err(CassetteError::no_model(reason).into()),
            _ => Ok(()),
        }
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.replay_or_record(request).unwrap_or_else(|error| stream::iter([Err(error.into())]).boxed())
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette").field("model", &self.name).finish_non_exhaustive()
    }
}
