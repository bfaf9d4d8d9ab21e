//! The Python that `tests/oracle/run` installs.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The interpreter, set by `tests/oracle/run`.
const PYTHON: &str = "COLUMNAR_ORACLE";

/// The folder of the scripts and replies.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle")
}

/// A script of this folder. Without the interpreter the test is skipped with a message.
pub(crate) fn script(test: &str, name: &str) -> Option<Command> {
    let Some(python) = env::var_os(PYTHON) else {
        eprintln!("SKIPPED {test}: {PYTHON} is not set; `tests/oracle/run` sets it");
        return None;
    };
    let mut command = Command::new(python);
    // LiteLLM would ask the internet for its table of models, of which it has a copy.
    command.arg(folder().join(name)).env("LITELLM_LOCAL_MODEL_COST_MAP", "True");
    // The folder of the sources stays clean.
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Some(command)
}

/// Runs it, and shows what it says.
///
/// # Panics
///
/// If it fails.
pub(crate) fn succeeds(command: &mut Command) {
    let output = command.output().expect("the interpreter runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "\n{text}");
    println!("{text}");
}
