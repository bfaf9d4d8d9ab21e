//! A fleet: conversations in PostgreSQL, workers that an engine gives them to, and clients over HTTP, while workers die.
//!
//! ```text
//! clients ── HTTP ──▶ gateway ── names ──▶ engine ── names ───▶ workers ──▶ model
//!    ▲                 ▲  └─ texts ──────▶ PostgreSQL ◀── values ──┘
//!    └──── events ─────┴───────────────────────┘
//!
//! eval "$(tests/postgres-server start)" "$(tests/engine-server restate start)"
//! cargo run --release --example fleet --features fleet                     1,000 conversations, three workers
//! cargo run --release --example fleet --features fleet -- --chats 200 --workers 1 --calm      without disturbances
//! cargo run --release --example fleet --features fleet -- --compare --pace 0                  the throughput by workers
//! cargo run --release --example fleet --features fleet -- --kill-every 3 --disturb 'tests/engine-server restate crash'
//! eval "$(tests/engine-server temporal start)"
//! cargo run --release --example fleet --features fleet -- --temporal       the same on Temporal
//! ```
//!
//! While the clients talk, a worker is killed, another one drained, and one added. `--kill-every` kills a worker each so many
//! seconds, and `--disturb` runs a command, of which there may be several, once each.

mod clients;
mod compare;
mod disturbances;
mod gateway;
mod servers;
mod worker;

use std::env;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

use columnar::BoxError;
use columnar::prelude::*;
use columnar_examples::{Arguments, exit_code, stdout};

use crate::clients::Clients;
use crate::disturbances::Fleet;
use crate::servers::Servers;
use crate::worker::CallLog;

flow! {
    /// A chat that tracks topics.
    pub struct Chat<M: columnar::model::Model + Clone>(model: M) {
        source user;
        column topics(user.latest) = prompt("List the topics.").model(model.clone());
        column answer(user, topics.latest.as("subjects"), self) = prompt("Answer.").model(model.clone());
    }
}

/// The options of the command line.
struct Plan {
    chats: usize,
    steps: usize,
    workers: usize,
    pace_ms: u64,
    kill_every: Option<usize>,
    is_calm: bool,
    compares: bool,
    /// The name of the engine.
    engine: &'static str,
    disturbances: Vec<String>,
}

impl Plan {
    fn parse(mut arguments: Vec<String>) -> Result<Self, BoxError> {
        let mut takes = |option: &str| {
            let count = arguments.len();
            arguments.retain(|argument| argument != option);
            arguments.len() < count
        };
        let is_calm = takes("--calm");
        let compares = takes("--compare");
        let engine = ["temporal", "restate"].into_iter().find(|engine| takes(&format!("--{engine}")));
        let mut disturbances = Vec::new();
        while let Some(at) = arguments.iter().position(|argument| argument == "--disturb") {
            disturbances.extend(arguments.drain(at..arguments.len().min(at + 2)).nth(1));
        }
        let mut arguments: Arguments = arguments.into_iter().collect();
        let plan = Self {
            chats: arguments.number("--chats")?.unwrap_or(1000),
            steps: arguments.number("--steps")?.unwrap_or(3),
            workers: arguments.number("--workers")?.unwrap_or(3),
            pace_ms: arguments.number("--pace")?.unwrap_or(50) as u64,
            kill_every: arguments.number("--kill-every")?,
            is_calm,
            compares,
            engine: engine.unwrap_or("restate"),
            disturbances,
        };
        let options = "--chats N, --steps N, --workers N, --pace MS, --kill-every S, --disturb COMMAND, --calm, --compare, \
                       --restate, --temporal";
        match arguments.folder_and_chat(options)? {
            [None, _] => Ok(plan),
            _ => Err(format!("expected nothing but {options}").into()),
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    exit_code(match &*arguments {
        [role, rest @ ..] if role == "worker" => worker::serve_until_interrupted(rest).await,
        [role, engine] if role == "gateway" => gateway::serve_until_interrupted(engine).await,
        _ => demonstration(arguments).await,
    })
}

async fn demonstration(arguments: Vec<String>) -> Result<(), BoxError> {
    let plan = Plan::parse(arguments)?;
    if plan.compares {
        return compare::compare(&plan).await;
    }
    let mut out = stdout();
    let servers = Servers::of_environment(plan.engine)?;
    let folder = tempfile::tempdir()?;
    let log = CallLog::new(folder.path().join("calls"));
    let mut fleet = Fleet::new(&servers, &log, plan.pace_ms);
    for _ in 0..plan.workers {
        fleet.add_worker()?;
    }
    fleet.register().await?;
    let gateway = fleet.add_gateway().await?;
    writeln!(
        out,
        "engine: {}; model: offline, {} ms a call; {} workers, {} conversations",
        plan.engine, plan.pace_ms, plan.workers, plan.chats
    )?;
    let clients = Clients::new(&gateway, "of people", &plan);
    let begun = Instant::now();
    let disturbed = fleet.disturb(&plan, clients.answers.subscribe());
    let talked = clients.talk();
    let (disturbances, talked) = tokio::join!(disturbed, talked);
    talked?;
    let seconds = begun.elapsed().as_secs_f64();
    for disturbance in disturbances? {
        writeln!(out, "{disturbance}")?;
    }
    let answers = plan.chats * plan.steps;
    let rate = f64::from(u32::try_from(answers)?) / seconds;
    writeln!(out, "{answers} answers in {seconds:.1} s, {rate:.0} a second")?;
    let client = servers.client().await?;
    for chat in 0..plan.chats {
        let key = clients.key(chat);
        let stored = client.flow(&key).read().await?;
        for column in ["user", "topics", "answer"] {
            let values = stored.len(column)?;
            if values != plan.steps {
                return Err(
                    format!("{key} has {values} values of {column}, and {} are due", plan.steps).into()
                );
            }
        }
    }
    let calls = log.count()?;
    let (cells, ended) = (2 * answers, calls.ended);
    writeln!(out, "every value is stored once, and every client has had it once")?;
    writeln!(
        out,
        "{} calls of the model for {cells} cells: {} repeated, of which {} had been cut off",
        calls.begun,
        calls.begun - calls.distinct,
        calls.begun - ended
    )?;
    fleet.end().await;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_option_is_an_error_that_lists_the_options() {
        let plan = |text: &str| Plan::parse(text.split(' ').map(ToOwned::to_owned).collect());
        let error = plan("--nonesuch").err().expect("there is no such option").to_string();
        assert!(error.contains("possible are FOLDER, CHAT, --chats N"), "{error}");
        let plan = plan("--chats 7 --disturb true --calm --disturb false").expect("a plan");
        assert_eq!(
            (plan.chats, plan.is_calm, plan.disturbances),
            (7, true, vec!["true".to_owned(), "false".to_owned()])
        );
    }
}
