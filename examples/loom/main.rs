//! A conversation that branches, in the terminal. A question can be edited and asked again, every reply stays, and each
//! request can be seen as it was. The conversation is a tree in a folder.
//!
//! ```text
//! cargo run --example loom                in a temporary folder; without input it plays a short session
//! cargo run --example loom -- FOLDER      keeps the tree in FOLDER; the next start goes on where this one stopped
//! ```

mod session;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::loom::{Agent, Author, Loom, Mode};
use columnar::model::{self, Chunk, Model, Offline, Request};
use columnar::store::FileStore;
use columnar::{BoxError, Role};
use columnar_examples::{Lines, exit_code};
use futures::stream::{self, BoxStream, StreamExt as _};

use session::Session;

const INSTRUCTION: &str = "Answer in one or two sentences.";

const ASKER: &str =
    "offline, a rule that asks about words of the conversation; COLUMNAR_MODEL names a real one";

const HELP: &str = "\
usage: loom [FOLDER]
FOLDER has the tree of the conversation; without it, the tree ends with the program. Commands are read from standard
input, one per line. COLUMNAR_MODEL names the model, such as openai/gpt-5.4-mini (with `--features providers`). The default
is offline: a rule that asks about words of the conversation.

";

/// The session without a person. `REPLY` is the first reply of the conversation, and `HERE` the present node.
const SESSION: [&str; 11] = [
    "Who lives in the lighthouse?",
    "/again",
    "/compare",
    "A painter who fears the water.",
    "/edit A sailor who lost her ship.",
    "/tree",
    "/exclude REPLY",
    "She waits for a letter.",
    "/asked HERE",
    "/buffer",
    "/tree",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(columnar_examples::stdout()).await)
}

async fn start(mut out: impl Write) -> Result<(), BoxError> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let folder = match &arguments[..] {
        [] => None,
        [help] if help == "--help" => {
            out.write_all(HELP.as_bytes())?;
            return Ok(out.write_all(session::COMMANDS.as_bytes())?);
        }
        [option, ..] if option.to_string_lossy().starts_with('-') => {
            return Err(format!("no option `{}`; possible are FOLDER, --help", option.display()).into());
        }
        [folder] => Some(folder),
        _ => return Err("there can be one FOLDER only".into()),
    };
    // First of all: a model without a key is an error before anything is stored.
    let named = columnar_examples::model()?;
    let model = model::from_env()?;
    let is_offline = model.name() == Offline::NAME;
    writeln!(out, "model: {}", if is_offline { ASKER } else { &named })?;
    // The folder is removed when the program ends.
    let temporary = tempfile::tempdir()?;
    let loom = open(folder.map_or(temporary.path(), Path::new)).await?;
    let agent = Agent::new(INSTRUCTION).model(model.name());
    let model: Arc<dyn Model> = if is_offline { Arc::new(Asker::after(replies(&loom))) } else { model };
    let mut session = Session::new(loom, model, agent, out)?;
    if play(&mut session).await? == 0 && folder.is_none() {
        play_included(&mut session).await?;
    }
    Ok(())
}

/// Opens the tree in a folder, or begins one.
async fn open(folder: &Path) -> Result<Loom, BoxError> {
    let loom = Loom::open(FileStore::new(folder), Mode::Dialogue).await;
    loom.map_err(|error| format!("cannot open {}: {error}", folder.display()).into())
}

fn replies(loom: &Loom) -> usize {
    loom.nodes().filter(|node| node.author() == Author::Model).count()
}

/// Runs each line of standard input, and returns the number of lines.
async fn play<W: Write>(session: &mut Session<W>) -> Result<usize, BoxError> {
    let mut lines = Lines::from_stdin();
    while let Some(line) = lines.next(&mut session.out)? {
        session.run(&line).await?;
    }
    Ok(lines.count)
}

async fn play_included<W: Write>(session: &mut Session<W>) -> Result<(), BoxError> {
    writeln!(session.out, "input: an included session")?;
    for line in SESSION {
        let line = session.with_ids(line)?;
        writeln!(session.out, "\n> {line}")?;
        session.run(&line).await?;
    }
    Ok(())
}

/// A model by a rule, for a program without a key: the model asks about the longest words in the request. Several
/// questions take turns, so a second reply to the same question is another one.
struct Asker {
    replies: AtomicUsize,
}

impl Asker {
    /// A model, and the number of replies so far.
    const fn after(replies: usize) -> Self {
        Self { replies: AtomicUsize::new(replies) }
    }
}

impl Model for Asker {
    fn name(&self) -> &'static str {
        "asker"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let users = request.messages.iter().filter(|(role, _)| *role == Role::User);
        let texts: Vec<String> = users.map(|(_, text)| text.into_owned()).collect();
        let (last, earlier) = texts.split_last().map_or(("", &[][..]), |(last, rest)| (last, rest));
        let word = longest_word(last).unwrap_or("that");
        let other = earlier.iter().rev().find_map(|text| longest_word(text));
        let reply = match (self.replies.fetch_add(1, Ordering::Relaxed) % 3, other) {
            (0, None) => format!("What is special about \"{word}\"?"),
            (1, None) => format!("Who told you about \"{word}\"?"),
            (_, None) => format!("And without \"{word}\"?"),
            (0, Some(other)) => format!("Is \"{word}\" the reason for \"{other}\"?"),
            (1, Some(other)) => format!("What connects \"{word}\" and \"{other}\"?"),
            (_, Some(other)) => format!("Which came first, \"{word}\" or \"{other}\"?"),
        };
        stream::iter([Ok(Chunk::Text(reply)), Ok(Chunk::stop())]).boxed()
    }
}

/// The longest word; of equally long words the first.
fn longest_word(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.rev().max_by_key(|word| word.chars().count())
}
