//! A coding assistant in the terminal, over the files of a repository. Selected files are in each request as on the
//! disk, all other files as entries in a map. The model answers with blocks of edits, which are written at once.
//!
//! ```text
//! cargo run --example coder --features repo                    on a copy of this repository; Ctrl-D alone plays a session
//! cargo run --example coder --features repo -- FOLDER          on your own files, which it changes
//! cargo run --example coder --features repo -- FOLDER CHAT     keeps the chat in the folder CHAT; the next start goes on
//! cargo run --example coder --features repo -- --help          shows the options and the commands
//! ```

mod blocks;
mod cost;
mod editor;
mod edits;
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
use columnar_examples::{Arguments, Lines, check_outside, exit_code, pace, printable};

use editor::Editor;
use session::Session;

flow! {
    /// Requests to change the files of a repository.
    pub struct Coder {
        /// The files of the repository; each value has the changed files.
        source files: Documents;
        /// A request of the person, after the fate of the last edits if these were not written.
        source user;

        column coder(files.tiered(), user, self) = prompt(INSTRUCTION).max_tokens(8_000).retry(2).or_skip();
    }
}

const INSTRUCTION: &str = "\
You edit the files of a repository. Reference files and working files are shown in full, as they are now; all others have \
entries in a map of their symbols. Edit those that are shown in full, and create new ones. If you need another file, ask the \
person to add it.

Answer in a sentence or two, then with a block for each edit:

src/lib.rs
```
<<<<<<< SEARCH
let a = 1;
=======
let a = 2;
>>>>>>> REPLACE
```

The path is on its own line before the fence. SEARCH has whole lines of the file, exactly as they are, and enough of them \
to be there once only. REPLACE has the lines that take their place. A new file has an empty SEARCH. If the text itself has \
lines like the markers, use longer markers. Either all blocks of an answer can be applied, or none is.";

const EDITOR: &str =
    "offline, rules that do edits which a request spells out; COLUMNAR_MODEL names a real one";

/// Offline, the cache marks and the costs are the ones for this model.
const EXAMPLE: &str = "anthropic/claude-sonnet-5";

const HELP: &str = "\
usage: coder [--map TOKENS] [FOLDER [CHAT]]
FOLDER has the files, which the program changes; /undo takes the last edits back. Without FOLDER, it works on a copy of
this repository in a temporary folder, and plays an included session if there is no input. CHAT is a folder for the
chat; without it, the chat ends with the program. Requests and commands are read from standard input, one per line.
TOKENS is the limit of the map and the list of files together, 32000 without it; with 0 there is neither.

COLUMNAR_MODEL names the model, such as openai/gpt-5.4-mini (with `--features providers`). The default is offline: rules that
do edits which a request spells out.

";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    exit_code(start(Arguments::of_process(), columnar_examples::stdout()).await)
}

async fn start(mut arguments: Arguments, mut out: impl Write) -> Result<(), BoxError> {
    if arguments.has_help() {
        out.write_all(HELP.as_bytes())?;
        return Ok(out.write_all(session::COMMANDS.as_bytes())?);
    }
    let map = arguments.number("--map")?;
    let [folder, chat] = arguments.folder_and_chat("--map TOKENS, --help")?;
    // First of all: a model without a key is an error before anything is stored.
    let named = columnar_examples::model()?;
    let model = model::from_env()?;
    let is_offline = model.name() == Offline::NAME;
    writeln!(out, "model: {}", if is_offline { EDITOR } else { &named })?;
    // The copy is removed when the program ends.
    let copy = if folder.is_none() { Some(included::copy()?) } else { None };
    let folder = folder.or(copy.as_ref().map(|copy| copy.path().to_owned()));
    let folder = folder.ok_or("there is no folder")?;
    let root = folder.canonicalize().map_err(|error| format!("cannot open {}: {error}", folder.display()))?;
    let coder = match chat {
        Some(chat) => open(&chat, &root).await?,
        None => Coder::new(),
    };
    match &copy {
        Some(_) => writeln!(out, "files: a copy of this repository")?,
        None => writeln!(out, "files: edits CHANGE the files in {}", printable(root.display()))?,
    }
    if is_offline {
        coder.set_model(Editor);
    }
    let provider = if is_offline { EXAMPLE } else { model.name() };
    let mut session = Session::new(coder, &root, map, provider, out).await?;
    let mut lines = Lines::from_stdin();
    while let Some(line) = lines.next(&mut session.out)? {
        session.run(&line).await?;
    }
    if lines.count == 0 && copy.is_some() {
        included::play(&mut session).await?;
    }
    Ok(())
}

/// Opens a chat in a folder.
async fn open(chat: &Path, root: &Path) -> Result<Coder, BoxError> {
    check_outside(chat, root)?;
    Ok(Coder::open(FileStore::new(chat)).await?)
}
