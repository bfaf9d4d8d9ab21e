//! Documents, questions and edits for a session without a person.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use columnar::BoxError;
use tempfile::TempDir;

use crate::session::Session;

const DOCUMENTS: [(&str, &str); 5] = [
    ("CONTRIBUTING.md", include_str!("../../CONTRIBUTING.md")),
    ("README.md", include_str!("../../README.md")),
    ("examples/apollo13.txt", include_str!("../chat/apollo13.txt")),
    ("examples/desk.toml", include_str!("../from_toml/desk.toml")),
    ("tests/TIERS.md", include_str!("../../tests/TIERS.md")),
];

/// The questions, each with the edit before it.
const SESSION: [(Option<Edit>, &str); 11] = [
    (None, "Which prompts does the help desk have?"),
    (None, "How long may a file or a function be?"),
    (
        Some(Edit::Write("notes.md", "The cryo tanks are stirred once a day.\n")),
        "How often are tanks stirred?",
    ),
    (None, "What should Odyssey stir up?"),
    (None, "Which test uses a real Postgres?"),
    (
        Some(Edit::Append("notes.md", "Since Monday the tanks are stirred twice a day.\n")),
        "How often are tanks stirred?",
    ),
    (None, "When does an unchanged active item enter another tier?"),
    (Some(Edit::Append("README.md", "\nOdyssey needs Rust, too.\n")), "Who needs Rust?"),
    (Some(Edit::Remove("examples/desk.toml")), "Which prompts does the help desk have?"),
    (None, "Which item is active with N 0?"),
    (None, "How are marks placed?"),
];

/// A change of a file, which prints as an announcement.
enum Edit {
    Write(&'static str, &'static str),
    Append(&'static str, &'static str),
    Remove(&'static str),
}

impl Edit {
    fn apply(&self, root: &Path) -> io::Result<()> {
        match *self {
            Self::Write(path, text) => fs::write(root.join(path), text),
            Self::Append(path, text) => {
                OpenOptions::new().append(true).open(root.join(path))?.write_all(text.as_bytes())
            }
            Self::Remove(path) => fs::remove_file(root.join(path)),
        }
    }
}

impl fmt::Display for Edit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(path, text) => write!(f, "writes {path}: {}", text.trim()),
            Self::Append(path, text) => write!(f, "adds a line to {path}: {}", text.trim()),
            Self::Remove(path) => write!(f, "removes {path}"),
        }
    }
}

/// The documents in a temporary folder.
pub(crate) fn copies() -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    for (path, text) in DOCUMENTS {
        let path = folder.path().join(path);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)?;
    }
    Ok(folder)
}

/// Asks the questions and edits the copies in between.
pub(crate) async fn play<W: Write>(session: &mut Session<W>) -> Result<(), BoxError> {
    writeln!(session.out, "input: included questions; between them this program edits the copies itself")?;
    for (edit, question) in &SESSION {
        writeln!(session.out)?;
        if let Some(edit) = edit {
            writeln!(session.out, "this program {edit}")?;
            edit.apply(session.root())?;
        }
        writeln!(session.out, "> {question}")?;
        session.ask(question).await?;
    }
    Ok(())
}
