//! This program again, for a test that needs a process of its own.

use std::env;
use std::process::Command;

/// Runs one test of this program and nothing else. The module is the `module_path!()` of the caller.
///
/// A name that no test has would run nothing and succeed, so the caller looks at the output.
///
/// # Panics
///
/// Where this program has no path.
pub fn test_alone(module: &str, test: &str) -> Command {
    // The harness leaves out the name of the crate.
    let name = match module.split_once("::") {
        Some((_, module)) => format!("{module}::{test}"),
        None => test.to_owned(),
    };
    let mut command = Command::new(env::current_exe().expect("a test is a program"));
    command.args(["--exact", &name, "--nocapture"]);
    command
}
