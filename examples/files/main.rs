//! A chat over a folder of documents that a person edits meanwhile. Before each question, the files that changed since
//! the last question become an update. After the answer, the tiers of the request are printed, with the cache marks.
//!
//! ```text
//! cargo run --example files                    copies of a few documents; Ctrl-D alone plays questions and edits
//! cargo run --example files -- FOLDER          your own documents; edit them between two questions
//! cargo run --example files -- FOLDER CHAT     keeps the chat in the folder CHAT; the next start continues it
//! ```

mod finder;
mod folder;
mod included;
mod session;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use columnar::BoxError;
use columnar::model::{self, Model as _, Offline};
use columnar::prelude::*;
use columnar::store::FileStore;
use columnar_examples::{Arguments, Lines, check_outside, exit_code, printable};

use finder::Finder;
use session::Session;

pub(crate) const INSTRUCTION: &str = "Answer the question from the documents.";

flow! {
    /// Questions about documents.
    pub struct Desk {
        /// The files of a folder; each value has the changed files.
        source files: Documents;
        /// A question of the person.
        source question;

        column answer(files.tiered(), question, self) = prompt(INSTRUCTION);
    }
}

const FINDER: &str =
    "offline, a rule that quotes the line with most words of the question; COLUMNAR_MODEL names a real one";

/// Offline, the cache marks are the ones for this model.
const EXAMPLE: &str = "anthropic/claude-sonnet-5";

const HELP: &str = "\
usage: files [FOLDER [CHAT]]
FOLDER has the documents: all its files, also in folders inside it. Links, hidden files, files of more than
200 kB and files that are not UTF-8 are left out. Questions are read from standard input, one per line.
CHAT is a folder for the chat; without it, the chat ends with the program.

Without FOLDER, copies of a few documents of this repository are made in a temporary folder. If there are no
questions, included ones are asked then, and the program edits the copies between them.
COLUMNAR_MODEL names the model, such as openai/gpt-5.4-mini (with `--features providers`). The default is offline: a rule
that quotes the line of the documents with most words of the question.
";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(Arguments::of_process(), columnar_examples::stdout()).await)
}

async fn start(arguments: Arguments, mut out: impl Write) -> Result<(), BoxError> {
    if arguments.has_help() {
        return Ok(out.write_all(HELP.as_bytes())?);
    }
    let [folder, chat] = arguments.folder_and_chat("--help")?;
    // First of all: a model without a key is an error before anything is stored.
    let named = columnar_examples::model()?;
    let model = model::from_env()?;
    let is_offline = model.name() == Offline::NAME;
    writeln!(out, "model: {}", if is_offline { FINDER } else { &named })?;
    // The copies are removed when the program ends.
    let copies = if folder.is_none() { Some(included::copies()?) } else { None };
    let folder = match (folder, &copies) {
        (Some(folder), _) => folder,
        (None, Some(copies)) => copies.path().to_owned(),
        (None, None) => return Err("there is no folder".into()),
    };
    let root = folder.canonicalize().map_err(|error| format!("cannot open {}: {error}", folder.display()))?;
    let desk = match chat {
        Some(chat) => open(&chat, &root).await?,
        None => Desk::new(),
    };
    writeln!(out, "documents: the files in {}", printable(root.display()))?;
    if is_offline {
        desk.set_model(Finder);
    }
    let provider = if is_offline { EXAMPLE } else { model.name() };
    let mut session = Session::new(desk, root, provider, out).await?;
    play(&mut session).await?;
    if session.asked == 0 && copies.is_some() {
        included::play(&mut session).await?;
    }
    Ok(())
}

/// Opens a chat in a folder.
async fn open(chat: &Path, root: &Path) -> Result<Desk, BoxError> {
    check_outside(chat, root)?;
    Ok(Desk::open(FileStore::new(chat)).await?)
}

/// Asks each line of standard input.
async fn play<W: Write>(session: &mut Session<W>) -> Result<(), BoxError> {
    let mut lines = Lines::from_stdin();
    while let Some(line) = lines.next(&mut session.out)? {
        session.ask(&line).await?;
    }
    Ok(())
}
