//! The same conversations in one process without an engine, and with one, two and three workers.

use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use columnar::BoxError;
use columnar::prelude::*;
use columnar::service::Flows;
use columnar_examples::stdout;
use futures::stream::{StreamExt, TryStreamExt, iter};

use crate::clients::{AT_ONCE, Clients};
use crate::disturbances::Fleet;
use crate::servers::Servers;
use crate::worker::{CallLog, LoggedModel};
use crate::{Chat, Plan};

/// Prints the answers a second of each.
pub(crate) async fn compare(plan: &Plan) -> Result<(), BoxError> {
    let mut out = stdout();
    let servers = Servers::of_environment(plan.engine)?;
    let folder = tempfile::tempdir()?;
    let log = CallLog::new(folder.path().join("calls"));
    let answers = f64::from(u32::try_from(plan.chats * plan.steps)?);
    let alone = answers / in_one_process(plan, &servers, &log).await?;
    writeln!(
        out,
        "one process, without an engine: {alone:.0} answers a second, {:.2} ms each",
        1000.0 / alone
    )?;
    for workers in 1..=plan.workers {
        let mut fleet = Fleet::new(&servers, &log, plan.pace_ms);
        for _ in 0..workers {
            fleet.add_worker()?;
        }
        fleet.register().await?;
        let gateway = fleet.add_gateway().await?;
        let begun = Instant::now();
        Clients::new(&gateway, &format!("of {workers}"), plan).talk().await?;
        let rate = answers / begun.elapsed().as_secs_f64();
        let memory = fleet.peak_memory()?;
        writeln!(
            out,
            "{workers} workers: {rate:.0} answers a second, {:.2} ms each, {:.2} of one process; a worker has {memory:.0} MB at most",
            1000.0 / rate,
            rate / alone
        )?;
        fleet.end().await;
    }
    Ok(out.flush()?)
}

/// The seconds for all answers.
async fn in_one_process(plan: &Plan, servers: &Servers, log: &CallLog) -> Result<f64, BoxError> {
    let chats = servers.chats();
    let model = LoggedModel::new(&log.0, plan.pace_ms)?;
    let open = Flows::<String, Chat<LoggedModel>>::new(move |key: String| {
        Chat::open(chats.flow(&key), model.clone())
    });
    let (open, begun) = (Arc::new(open), Instant::now());
    let talked = iter(0..plan.chats).map(|chat| {
        let open = Arc::clone(&open);
        async move {
            for step in 0..plan.steps {
                // Opened and closed for each message, as a worker does.
                let flow = open.open(format!("alone-{}-{chat}", std::process::id())).await?;
                flow.user.push(Clients::question(step, chat, "one process")).await?;
                flow.completed(step).await?;
            }
            Ok::<_, Error>(())
        }
    });
    talked.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    open.shutdown().await;
    Ok(begun.elapsed().as_secs_f64())
}
