//! The cost of streaming replies: the CPU of the client for each call and each word, the time to the first word over the
//! server's own, and the memory. The server is on this machine, in another process, and sends OpenAI's chat completions;
//! each client has a process and a thread of its own. Words come one by one, as from a model, or all at once, which
//! leaves the work of the client alone.
//!
//! `cargo bench -p columnar-tests --features providers --bench wire`
//!
//! A loop by hand over the same HTTP client does the least that is possible. rig 0.44 and genai 0.7 are clients in Rust. For
//! OpenAI's client and LangGraph, `python3 -m pip install openai==3.57.0 langgraph==1.2.22 langchain-openai==1.7.4`;
//! `COLUMNAR_PEERS_PYTHON` selects another interpreter.

mod clients;
mod server;

use std::env;
use std::path::Path;
use std::process::Command;

use columnar_tests::figures::figure;
use columnar_tests::load::Load;
use columnar_tests::peers;
use tokio::runtime::{Builder, Runtime};

use server::{SERVE, WireServer};

/// The flag with which this program starts itself as a client.
const CLIENT: &str = "--client";

const ROUNDS: usize = 5;

/// Loads by name.
const LOADS: [(&str, Load); 4] = [
    ("paced_16", Load { words: 200, pause: 10_000, workers: 16, calls: 4 }),
    ("paced_64", Load { words: 200, pause: 10_000, workers: 64, calls: 4 }),
    ("at_once_16", Load { words: 2000, pause: 0, workers: 16, calls: 16 }),
    ("at_once_64", Load { words: 2000, pause: 0, workers: 64, calls: 4 }),
];

/// A program that makes calls, and prints what they cost.
struct Client {
    name: &'static str,
    command: fn(&Path) -> Command,
    /// Peers in Python take a hundred times as long, so they make fewer calls, once.
    is_slow: bool,
}

const CLIENTS: [Client; 6] = [
    Client { name: "columnar", command: this_program, is_slow: false },
    Client { name: "by_hand", command: this_program, is_slow: false },
    Client { name: "rig", command: peers::clients_in_rust, is_slow: false },
    Client { name: "genai", command: peers::clients_in_rust, is_slow: false },
    Client { name: "openai", command: peers::clients_in_python, is_slow: true },
    Client { name: "langgraph", command: peers::clients_in_python, is_slow: true },
];

fn this_program(_: &Path) -> Command {
    let mut command = Command::new(env::current_exe().expect("a benchmark is a program"));
    command.arg(CLIENT);
    command
}

/// The cost of the calls of a client.
struct WireCost {
    /// The CPU in microseconds.
    cpu: f64,
    /// The microseconds to the first word, in the median and of one call in a hundred.
    first: f64,
    late: f64,
    peak: f64,
}

impl Client {
    fn run(&self, url: &str, load: Load) -> Option<WireCost> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let output = (self.command)(target).args([self.name, url]).args(load.arguments()).output().ok()?;
        let line = String::from_utf8(output.stdout).ok()?;
        let mut numbers = line.split_whitespace().map(|number| number.parse::<f64>().ok());
        let mut next = || numbers.next()?;
        Some(WireCost { cpu: next()?, first: next()?, late: next()?, peak: next()? })
    }

    /// The load of this client.
    fn share(&self, load: Load) -> Load {
        if self.is_slow { Load { calls: 1, ..load } } else { load }
    }

    /// Prints the medians of several runs, and returns the CPU of a word.
    fn report(&self, load_name: &str, load: Load, runs: &[WireCost]) -> f64 {
        let middle = |of: fn(&WireCost) -> f64| {
            let mut all: Vec<f64> = runs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all.get(all.len() / 2).copied().unwrap_or_default()
        };
        let calls = f64::from(load.workers * load.calls);
        let call = middle(|run| run.cpu) / calls;
        let word = call / f64::from(load.words);
        let name = |of: &str| format!("{load_name}.{}.{of}", self.name);
        figure(&name("call_cpu_us"), call, "us");
        figure(&name("word_cpu_us"), word, "us");
        figure(&name("first_us"), middle(|run| run.first), "us");
        figure(&name("first_p99_us"), middle(|run| run.late), "us");
        figure(&name("peak_mb"), middle(|run| run.peak) / 1e6, "MB");
        word
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn measure(url: &str) {
    let mut missing = Vec::new();
    for (load_name, load) in LOADS {
        let mut runs = CLIENTS.each_ref().map(|_| Vec::new());
        // In turns, so a machine that slows down slows all.
        for round in 0..ROUNDS {
            for (client, runs) in CLIENTS.iter().zip(&mut runs) {
                if missing.contains(&client.name) || client.is_slow && round > 0 {
                    continue;
                }
                match client.run(url, client.share(load)) {
                    Some(cost) => runs.push(cost),
                    None => missing.push(client.name),
                }
            }
        }
        let words: Vec<(&str, f64)> = CLIENTS
            .iter()
            .zip(&runs)
            .filter(|(_, runs)| !runs.is_empty())
            .map(|(client, runs)| (client.name, client.report(load_name, client.share(load), runs)))
            .collect();
        // The loop by hand is the limit, and a client of the same reach another measure.
        if let [(_, ours), others @ ..] = &words[..] {
            for (other, word) in others.iter().filter(|(_, word)| *word > 0.0) {
                figure(&format!("{load_name}.word_cpu_over_{other}"), ours / word, "x");
            }
        }
    }
    for name in missing {
        println!("SKIPPED {name}: it does not run; the first lines of this benchmark say how to install it");
    }
}

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [SERVE, ..] => runtime().block_on(server::serve()).expect("a port"),
        [CLIENT, name, url, ..] => {
            let load = Load::parse(arguments.get(3..).unwrap_or_default()).expect("four numbers");
            let line = match name {
                "columnar" => runtime().block_on(clients::columnar(url, load)),
                _ => runtime().block_on(clients::by_hand(url, load)),
            };
            println!("{line}");
        }
        _ => measure(&WireServer::start().url),
    }
}
