//! A copy of this repository, and a session without a person.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use columnar::BoxError;
use columnar_examples::printable;
use tempfile::TempDir;

use crate::session::Session;

/// The parts of this repository that are copied.
const SOURCES: [&str; 6] =
    ["ARCHITECTURE.md", "README.md", "columnar-macros/src", "columnar/src", "examples", "tests/TIERS.md"];

/// Files without further edits go up through the tiers, and come back with the next edit.
pub(crate) const SESSION: [&str; 18] = [
    "/add examples/journal.rs examples/debate.rs examples/support.rs",
    "Rename `is_closed_pipe` to `is_pipe_closed`",
    "Create `examples/NOTES.md` with `# Notes\\n\\nThe journal counts its entries.`",
    "Replace `entries so far` with `entries until now` in `examples/journal.rs`",
    "Add line `The debate prints its costs.` after `The journal` in `examples/NOTES.md`",
    "Rename `describe` to `described`",
    "/undo",
    "Replace `its costs` with `its bill` in `examples/NOTES.md`",
    "Which example wraps its lines?",
    "/drop examples/debate.rs",
    "Replace `in place of a tab` with `for a tab` in `columnar/src/terminal/wrap.rs`",
    "/files",
    "Add line `The chat wraps its lines.` after `The debate` in `examples/NOTES.md`",
    "Replace `until now` with `by now` in `examples/journal.rs`",
    "Replace `wraps` with `breaks` in `examples/NOTES.md`",
    "Replace `by now` with `in all` in `examples/journal.rs`",
    "Add line `That is all.` after `The chat` in `examples/NOTES.md`",
    "/breakdown",
];

/// A copy in a temporary folder.
pub(crate) fn copy() -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    for source in SOURCES {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(source);
        copy_all(&from, &folder.path().join(source))?;
    }
    Ok(folder)
}

/// Copies a file, or a folder without hidden files and links.
fn copy_all(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        to.parent().map_or(Ok(()), fs::create_dir_all)?;
        return fs::copy(from, to).map(drop);
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if !is_hidden && !entry.file_type()?.is_symlink() {
            copy_all(&entry.path(), &to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

/// Runs the lines of the session.
pub(crate) async fn play<W: Write>(session: &mut Session<W>) -> Result<(), BoxError> {
    writeln!(session.out, "input: an included session")?;
    for line in SESSION {
        writeln!(session.out, "\n> {}", printable(line))?;
        session.run(line).await?;
    }
    Ok(())
}
