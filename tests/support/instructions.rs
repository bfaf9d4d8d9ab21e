//! Counting instructions, whose number does not depend on the load of the machine.

use std::env;
use std::process::Command;

/// The number of instructions of this program with these arguments.
///
/// # Errors
///
/// If valgrind is not installed, or the program fails under it.
pub fn counted(args: &[String]) -> Result<f64, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let run = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(args)
        .output()
        .map_err(|error| format!("valgrind does not start: {error}"))?;
    let report = String::from_utf8_lossy(&run.stderr);
    let count =
        report.lines().find_map(|line| line.split_once("I   refs:")?.1.trim().replace(',', "").parse().ok());
    count.filter(|_| run.status.success()).ok_or_else(|| format!("valgrind did not count:\n{report}"))
}
