//! A model that says again what a real one said.
//!
//! ```text
//! request ──▶ asked ──▶ tape ──▶ the replies that are recorded for it, in turn
//!                        │ └───▶ none: `miss` says what is the nearest
//!                        ▼
//!                      model ──▶ reply ──▶ tape ──▶ file          only where the environment asks for it
//! ```

mod asked;
mod doc;
mod fault;
mod file;
mod miss;
mod node;
mod tape;

use std::env;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::stream::{self, BoxStream, StreamExt};

use self::asked::Asked;
use self::fault::Fault;
use self::tape::{Cell, Found, Spoken, Tape};
use crate::error::{BoxError, list};
use crate::model::{Chunk, Model, by_name};
use crate::rendering::Request;

/// What a cassette is called as long as nothing else is known.
const NAMELESS: &str = "cassette";

/// Which requests a [`Cassette`] passes on to a model, to record what it replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// None. What is not recorded is an error.
    #[default]
    Nothing,
    /// Those that are not recorded.
    Missing,
    /// All. What was recorded before is gone with the first reply.
    All,
}

/// A model that says again what a real one said, from a file: for tests that ask nobody, need no key and are the
/// same every time.
///
/// With the environment variable [`COLUMNAR_RECORD`](Self::VARIABLE) the real model is asked, and the file written:
/// `missing` records what is not in it, `all` everything anew.
///
/// ```no_run
/// use columnar::model::Model;
/// use columnar::prelude::*;
/// use columnar::testing::Cassette;
///
/// flow! {
///     pub struct Chat<M: Model + Clone>(model: M) {
///         source user;
///         column topics(user.latest)                 = prompt("List the topics.").with(model.clone());
///         column assistant(user, topics.latest, self) = prompt("Answer.").with(model.clone());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<()> {
///     let cassette = Cassette::new("tests/cassettes/chat.json");
///     let chat = Chat::new(cassette.of("openai/gpt-4o-mini"));
///     chat.user.push("We should rewrite the backend in Rust.").await?;
///     chat.run().await?;
///     assert!(chat.assistant.get(0).is_some());
///     assert_eq!(cassette.unused(), [""; 0]);
///     Ok(())
/// }
/// ```
///
/// - **What is the same request**: the name of the model, the instruction, the messages as they are sent, what is
///   said behind them, `max_tokens`, `temperature`, `stop` and the schema. Not the [pace](Request::pace).
/// - **A request that is not recorded is an error**, and nobody is asked. It names the column and the step, shows the
///   nearest recording and the first difference. That is text of conversations, as that of the file is.
/// - **The same request again** gets the same reply. If several replies were recorded for it, because it was asked
///   several times, they are given in the order in which they were asked for, and the last one again and again.
/// - **Replies arrive in the pieces** in which they came, with their finish, their usage and their id.
/// - **Only what came to its end is recorded**: no error, and no reply that broke off or was dropped.
/// - **A file belongs to one cassette** at a time: [clones](Clone) and the models made by [`of`](Self::of) and
///   [`recording`](Self::recording) record into it together, in any number at once. It is written whole after each
///   reply, and replaced, so that a test that is killed leaves a sound file. Two that record into one file find
///   that out, and fail.
/// - **No secret is in it**, as none is in a request: it holds the names of columns and models, what was said, and
///   what providers call their replies.
///
/// A relative path is relative to the folder in which the test runs: for `cargo test`, that of its `Cargo.toml`.
///
/// The cassette itself is a model, too: the one that is recorded, where there is only one.
#[derive(Clone)]
pub struct Cassette {
    tape: Arc<Mutex<Tape>>,
    name: Arc<str>,
    real: Real,
}

/// Who is asked to record.
#[derive(Clone)]
enum Real {
    /// Nobody, and it is not known whom the recordings are of.
    Unknown,
    /// Nobody.
    Nobody,
    Model(Arc<dyn Model>),
    /// The model cannot be made, for this reason.
    Missing(Arc<str>),
}

impl Cassette {
    /// The environment variable that asks for recordings: `missing` or `all`.
    pub const VARIABLE: &str = "COLUMNAR_RECORD";

    /// The cassette in a file, which replays unless the environment asks for recordings.
    ///
    /// What is wrong with the file is an error of the first run.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::with(path.into(), wanted())
    }

    /// The cassette in a file, recording what it is told to, whatever the environment says.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::{Cassette, Record, ScriptedModel};
    ///
    /// async fn ask(cassette: Cassette) -> Result<Option<Value>> {
    ///     let chat = flow! {
    ///         source user;
    ///         column assistant(user, self) = prompt("You are a helpful assistant.").with(cassette);
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
    /// let said = ask(Cassette::open(&path, Record::All).recording(model)).await?;
    /// let again = ask(Cassette::open(&path, Record::Nothing)).await?;
    /// assert_eq!(said, again);
    /// # Ok(()) }
    /// ```
    pub fn open(path: impl Into<PathBuf>, record: Record) -> Self {
        Self::with(path.into(), Ok(record))
    }

    fn with(path: PathBuf, record: Result<Record, Fault>) -> Self {
        let tape = Tape::open(path, record);
        let name = match &*tape.models() {
            [one] => one.as_str().into(),
            _ => NAMELESS.into(),
        };
        Self { tape: Arc::new(Mutex::new(tape)), name, real: Real::Unknown }
    }

    /// The model of this name, as it is recorded. To record, it is [made by its name](crate::model::by_name), with
    /// all that needs: the feature `genai`, and a key. To replay, nothing is needed.
    #[must_use]
    pub fn of(&self, name: &str) -> Self {
        let real = match self.tape().record {
            Record::Nothing => Real::Nobody,
            _ => match by_name(name) {
                Ok(model) => Real::Model(model),
                Err(error) => Real::Missing(error.to_string().into()),
            },
        };
        Self { tape: Arc::clone(&self.tape), name: name.into(), real }
    }

    /// This model, as it is recorded under its name. It is asked to record, and never else.
    #[must_use]
    pub fn recording(&self, model: impl Model) -> Self {
        let name = model.name().into();
        Self { tape: Arc::clone(&self.tape), name, real: Real::Model(Arc::new(model)) }
    }

    /// The recordings that nobody asked for, or not as often as they were recorded; each as the column and the step
    /// that it was recorded for, and its model.
    pub fn unused(&self) -> Vec<String> {
        let tape = self.tape();
        let told = tape.unused().into_iter().map(|recording| {
            let Cell { column, step } = &recording.cell;
            format!("`{column}` at step {step}, by {}", recording.asked.model)
        });
        told.collect()
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self) -> Result<(), Fault> {
        let tape = self.tape();
        tape.check()?;
        let models = tape.models();
        if matches!(self.real, Real::Unknown) && models.len() > 1 {
            let models = list(models.iter().map(String::as_str));
            return Err(Fault::Ambiguous { path: tape.path.clone(), models });
        }
        Ok(())
    }

    fn answer(&self, request: Request) -> Result<BoxStream<'static, Result<Chunk, BoxError>>, Fault> {
        self.check()?;
        let messages = &request.messages;
        let cell = Cell { column: messages.column().to_string(), step: messages.step() };
        let asked = Asked::new(&self.name, &request);
        let has_model = !matches!(self.real, Real::Unknown | Real::Nobody);
        let turn = match self.tape().find(&cell, &asked, has_model)? {
            Found::Reply(reply) => return Ok(stream::iter(reply.chunks().map(Ok)).boxed()),
            Found::Ask(turn) => turn,
        };
        let model = match &self.real {
            Real::Model(model) => Arc::clone(model),
            Real::Missing(what) => return Err(Fault::NoModel { what: what.to_string() }),
            Real::Unknown | Real::Nobody => unreachable!("only those with a model are told to ask"),
        };
        // The lock is not held: others ask meanwhile.
        let mut call = Some((Arc::clone(&self.tape), cell, asked, Vec::new()));
        let watch = move |chunk: Result<Chunk, BoxError>| match chunk {
            Ok(Chunk::Text(text)) => {
                call.iter_mut().for_each(|(.., pieces)| pieces.push(text.clone()));
                Ok(Chunk::Text(text))
            }
            Ok(Chunk::End(end)) => {
                if let Some((tape, cell, asked, pieces)) = call.take() {
                    let reply = Spoken { pieces, end: end.clone() };
                    let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
                    tape.keep(cell, asked, turn, reply)?;
                }
                Ok(Chunk::End(end))
            }
            Err(error) => {
                call = None;
                Err(error)
            }
        };
        Ok(model.reply(request).map(watch).boxed())
    }
}

/// What the environment asks for.
fn wanted() -> Result<Record, Fault> {
    let wanted = env::var_os(Cassette::VARIABLE).unwrap_or_default();
    match &*wanted.to_string_lossy() {
        "" => Ok(Record::Nothing),
        "missing" => Ok(Record::Missing),
        "all" => Ok(Record::All),
        found => Err(Fault::UnknownRecord { found: found.chars().take(20).collect() }),
    }
}

impl Model for Cassette {
    fn name(&self) -> &str {
        &self.name
    }

    /// What is wrong with the file. Whether the real model is ready is asked only where all is recorded anew: else it
    /// may not be needed.
    fn ready(&self) -> Result<(), BoxError> {
        self.check()?;
        match (&self.real, self.tape().record) {
            (Real::Model(model), Record::All) => model.ready(),
            (Real::Missing(what), Record::All) => Err(Fault::NoModel { what: what.to_string() }.into()),
            _ => Ok(()),
        }
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.answer(request).unwrap_or_else(|fault| stream::iter([Err(fault.into())]).boxed())
    }
}

impl fmt::Debug for Cassette {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette").field("model", &self.name).finish_non_exhaustive()
    }
}
