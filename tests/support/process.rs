//! Runs this program again, for a test that needs a separate process.

use std::env;
use std::process::Command;

/// Runs one test of this program and nothing else. The module is the `module_path!()` of the caller.
///
/// With an unknown name the program would run no test and succeed, so the caller must check the output.
///
/// # Panics
///
/// If this program has no path.
pub fn test_alone(module: &str, test: &str) -> Command {
    // The harness leaves out the name of the crate.
    let name = match module.split_once("::") {
        Some((_, module)) => format!("{module}::{test}"),
        None => test.to_owned(),
    };
    let mut command = Command::new(env::current_exe().expect("a test is a program"));
    // The harness hides the output of a test that passes, but the caller reads that output.
    command.args(["--exact", &name, "--nocapture"]);
    command
}

/// The same command with at most this number of open files.
pub fn with_open_files(limit: u32, command: &Command) -> Command {
    let mut limited = Command::new("sh");
    limited.args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")]);
    limited.arg(command.get_program()).args(command.get_args());
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    limited
}
