//! Other engines, which benchmarks measure in the same run. The engines are in two programs of `tests/peers`, one in
//! Rust and one in Python, so that the tests do not depend on these engines.
//!
//! ```text
//! benchmark ── dagx chain 100 50 ──▶ program
//!           ◀────── nanoseconds ─────
//! ```
//!
//! A program first prints a line with the names of all peers, and then answers each request with a duration, without
//! the time to build the graph and to communicate with the benchmark.

use std::cell::RefCell;
use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

const PYTHON: &str = "COLUMNAR_PEERS_PYTHON";

/// The package of each peer in Python.
const PACKAGES: [(&str, &str); 2] = [("langgraph", "langgraph==1.2.22"), ("hamilton", "sf-hamilton==1.90.0")];

/// An engine that is measured beside columnar.
#[derive(Clone, Debug)]
pub struct Peer {
    /// The name of the peer in the names of figures.
    pub name: String,
    program: Rc<RefCell<Program>>,
}

/// The available peers.
#[derive(Debug)]
pub struct Peers {
    /// Libraries for Rust.
    pub rust: Vec<Peer>,
    /// Libraries for Python.
    pub python: Vec<Peer>,
}

impl Peers {
    /// Starts the peers that are installed, and prints the others. The program in Rust is built below `target`.
    pub fn start(target: &Path) -> Self {
        let [rust, python] = [in_rust(target), in_python()].map(Peer::of);
        Self { rust, python }
    }
}

impl Peer {
    fn of(program: Option<Program>) -> Vec<Self> {
        let Some(program) = program else { return Vec::new() };
        let (names, program) = (program.names.clone(), Rc::new(RefCell::new(program)));
        names.into_iter().map(|name| Self { name, program: Rc::clone(&program) }).collect()
    }

    /// The time of this number of runs of a graph with this number of nodes. The shape is `chain` or `wide`.
    ///
    /// # Panics
    ///
    /// If the program has ended.
    pub fn run(&self, shape: &str, nodes: u32, runs: u32) -> Duration {
        self.ask(&format!("{shape} {nodes} {runs}"))
    }

    /// The time of this number of steps of a conversation whose compute steps take one unit, or a few. The flow is `skewed` or `queued`.
    ///
    /// # Panics
    ///
    /// If the program has ended.
    pub fn converse(&self, flow: &str, steps: usize, unit: Duration) -> Duration {
        self.ask(&format!("{flow} {steps} {}", unit.as_millis()))
    }

    fn ask(&self, work: &str) -> Duration {
        let mut program = self.program.borrow_mut();
        let requests = program.child.stdin.as_mut().expect("it is piped");
        writeln!(requests, "{} {work}", self.name).expect("the program of the peers listens");
        let answer = program.answer().expect("the program of the peers answers");
        Duration::from_nanos(answer.parse().expect("with a number"))
    }
}

/// A command of cargo that builds and runs a program of `tests/peers`, below `target`.
fn cargo_run(target: &Path) -> Command {
    // Cargo tells the path of cargo to the programs that cargo runs, so the same version builds the peers.
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["run", "--release", "--locked", "--manifest-path"]).arg(folder().join("Cargo.toml"));
    command.arg("--target-dir").arg(target.join("peers"));
    command
}

/// The clients of providers in Rust: a program that makes calls once, and prints what they cost.
pub fn clients_in_rust(target: &Path) -> Command {
    let mut command = cargo_run(target);
    command.args(["--quiet", "--features", "clients", "--bin", "clients", "--"]);
    command
}

/// The clients of providers in Python.
pub fn clients_in_python(_: &Path) -> Command {
    let mut command = Command::new(interpreter());
    command.arg(folder().join("clients.py"));
    command
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

fn in_rust(target: &Path) -> Option<Program> {
    let program = Program::start(&mut cargo_run(target));
    if program.is_none() {
        println!("SKIPPED peers: dagx and graph-flow could not be built, see above");
    }
    program
}

/// The interpreter of peers in Python.
pub fn interpreter() -> String {
    env::var(PYTHON).unwrap_or_else(|_| "python3".into())
}

fn in_python() -> Option<Program> {
    let interpreter = interpreter();
    let Some(program) = Program::start(Command::new(&interpreter).arg(folder().join("peers.py"))) else {
        println!("SKIPPED peers: langgraph, hamilton: {interpreter} does not run; {PYTHON} may name another");
        return None;
    };
    for (name, package) in PACKAGES {
        if !program.names.iter().any(|has| has == name) {
            println!("SKIPPED peers: {name} is not installed ({interpreter} -m pip install {package})");
        }
    }
    Some(program)
}

/// A program that runs peers, until the input ends.
#[derive(Debug)]
struct Program {
    names: Vec<String>,
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Program {
    fn start(command: &mut Command) -> Option<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut program = Self { names: Vec::new(), child, answers };
        program.names = program.answer()?.split_whitespace().map(str::to_owned).collect();
        Some(program)
    }

    fn answer(&mut self) -> Option<String> {
        let mut line = String::new();
        // No bytes at all mean that the program has ended.
        self.answers.read_line(&mut line).ok().filter(|&read| read > 0)?;
        Some(line.trim_end().to_owned())
    }
}

impl Drop for Program {
    /// Waiting for the program ends the input, and so ends the program.
    fn drop(&mut self) {
        let _ = self.child.wait();
    }
}
