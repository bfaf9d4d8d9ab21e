//! The processes of the fleet, and what happens to them.

use std::env::current_exe;
use std::process::Stdio;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use columnar::BoxError;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::Plan;
use crate::servers::Servers;
use crate::worker::CallLog;

/// The number of fleets so far.
static NEXT: AtomicU16 = AtomicU16::new(0);

pub(crate) struct Fleet {
    servers: Servers,
    /// The port that all workers share.
    port: u16,
    log: CallLog,
    pace_ms: u64,
    workers: Vec<Child>,
    gateway: Option<Child>,
}

impl Fleet {
    pub(crate) fn new(servers: &Servers, log: &CallLog, pace_ms: u64) -> Self {
        // Each fleet of a process has a port of its own.
        let port = 20_000
            + u16::try_from(std::process::id() % 10_000).unwrap_or_default()
            + NEXT.fetch_add(1, Ordering::Relaxed);
        Self { servers: servers.clone(), port, log: log.clone(), pace_ms, workers: Vec::new(), gateway: None }
    }

    pub(crate) fn add_worker(&mut self) -> Result<(), BoxError> {
        let mut command = Command::new(current_exe()?);
        command.args(["worker", self.servers.engine(), &self.port.to_string()]);
        command.arg(&self.log.0).arg(self.pace_ms.to_string());
        self.workers.push(command.kill_on_drop(true).spawn()?);
        Ok(())
    }

    pub(crate) async fn register(&self) -> Result<(), BoxError> {
        self.servers.register(self.port).await
    }

    /// Starts the gateway, and returns its address.
    pub(crate) async fn add_gateway(&mut self) -> Result<String, BoxError> {
        let mut command = Command::new(current_exe()?);
        command.args(["gateway", self.servers.engine()]);
        let mut gateway = command.stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let lines = gateway.stdout.take().ok_or("the gateway has no output")?;
        let address = BufReader::new(lines).lines().next_line().await?.ok_or("the gateway has ended")?;
        self.gateway = Some(gateway);
        Ok(format!("http://{address}"))
    }

    /// Disturbs the fleet until the clients have all answers. Returns what it did.
    pub(crate) async fn disturb(
        &mut self,
        plan: &Plan,
        mut answers: watch::Receiver<usize>,
    ) -> Result<Vec<String>, BoxError> {
        let all = plan.chats * plan.steps;
        let mut told = Vec::new();
        let mut kills = 0;
        let mut next_kill = plan.kill_every.map(|every| Instant::now() + Duration::from_secs(every as u64));
        let events = if plan.is_calm { 0 } else { 3 } + plan.disturbances.len();
        let mut done = 0;
        loop {
            let count = *answers.borrow_and_update();
            if count >= all {
                break;
            }
            // Spread over the answers.
            if done < events && count * (events + 1) >= all * (done + 1) {
                let name = self.event(plan, done).await?;
                told.push(format!("after {count} answers {name}"));
                done += 1;
            }
            let changed = answers.changed();
            match next_kill {
                Some(at) => tokio::select! {
                    _ = changed => {}
                    () = tokio::time::sleep_until(at) => {
                        self.kill(kills % plan.workers.max(1)).await?;
                        self.add_worker()?;
                        kills += 1;
                        next_kill = plan.kill_every.map(|every| at + Duration::from_secs(every as u64));
                    }
                },
                None => changed.await?,
            }
        }
        if kills > 0 {
            told.push(format!("{kills} workers were killed and replaced"));
        }
        Ok(told)
    }

    async fn event(&mut self, plan: &Plan, number: usize) -> Result<String, BoxError> {
        if let Some(command) = plan.disturbances.get(number) {
            let status = Command::new("sh").arg("-c").arg(command).stdout(Stdio::null()).status().await?;
            return if status.success() {
                Ok(format!("`{command}` ran"))
            } else {
                Err(format!("`{command}` failed").into())
            };
        }
        Ok(match number - plan.disturbances.len() {
            0 => {
                self.kill(0).await?;
                "a worker was killed"
            }
            1 => {
                self.drain().await?;
                "a worker was drained"
            }
            _ => {
                self.add_worker()?;
                "a worker was added"
            }
        }
        .to_owned())
    }

    async fn kill(&mut self, number: usize) -> Result<(), BoxError> {
        if number < self.workers.len() {
            self.workers.remove(number).kill().await?;
        }
        Ok(())
    }

    /// Interrupts a worker, and waits until it has finished its cells.
    async fn drain(&mut self) -> Result<(), BoxError> {
        let Some(mut worker) = self.workers.pop() else { return Ok(()) };
        let id = worker.id().ok_or("a worker has ended by itself")?;
        Command::new("kill").arg("-INT").arg(id.to_string()).status().await?;
        let status = worker.wait().await?;
        if status.success() {
            Ok(())
        } else {
            Err(format!("a worker that was drained ended with {status}").into())
        }
    }

    /// The most memory that a worker has had, in MB.
    pub(crate) fn peak_memory(&self) -> Result<f64, BoxError> {
        let mut peak: f64 = 0.0;
        for id in self.workers.iter().filter_map(Child::id) {
            let status = std::fs::read_to_string(format!("/proc/{id}/status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
            peak = peak.max(line.trim().trim_end_matches(" kB").parse::<f64>()? / 1000.0);
        }
        Ok(peak)
    }

    pub(crate) async fn end(mut self) {
        for process in self.workers.iter_mut().chain(&mut self.gateway) {
            // What is left has nothing to do.
            let _ = process.kill().await;
        }
    }
}
