//! Counting instructions, which are the same however busy a machine is.

use std::env;
use std::process::Command;

/// How many instructions this program takes when it is called with these arguments.
///
/// # Errors
///
/// Where valgrind is not installed, or the program fails under it.
pub fn counted(args: &[String]) -> Result<f64, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let run = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(args)
        .output()
        .map_err(|error| format!("valgrind does not start: {error}"))?;
    let told = String::from_utf8_lossy(&run.stderr);
    let count =
        told.lines().find_map(|line| line.split_once("I   refs:")?.1.trim().replace(',', "").parse().ok());
    count.filter(|_| run.status.success()).ok_or_else(|| format!("valgrind did not count:\n{told}"))
}
