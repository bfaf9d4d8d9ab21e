//! Another process, which runs a test of this program on a file.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use columnar_tests::process::test_alone;

/// Marks the child process of a test, and names the file to write.
pub(super) const CHILD: &str = "COLUMNAR_SQLITE_CHILD";

/// Another process.
pub(super) struct Process {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a test of a module, with the file and this instruction in its environment.
    pub(super) fn start(module: &str, test: &str, file: &Path, how: &str) -> Self {
        let mut command = test_alone(module, test);
        command.env(CHILD, file).env("HOW", how);
        let mut child = command.stdout(Stdio::piped()).stdin(Stdio::piped()).spawn().expect("it runs twice");
        let lines = BufReader::new(child.stdout.take().expect("it is piped"));
        Self { child, lines }
    }

    /// Waits for a line with this end.
    pub(super) fn wait_for(&mut self, end: &str) {
        let mut line = String::new();
        while !line.trim_end().ends_with(end) {
            line.clear();
            let read = self.lines.read_line(&mut line).expect("it is text");
            assert!(read > 0, "it ended before it wrote {end:?}");
        }
    }

    pub(super) fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it has ended");
    }
}
