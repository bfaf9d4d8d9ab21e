//! The desk loses nothing and pays for nothing twice, wherever a process is killed.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

use columnar::Name;
use columnar::model::{Chunk, Offline, Request};
use columnar::store::{ReadOnly, Store};
use futures::stream::BoxStream;

use super::*;

/// The variables that make the test binary a process of the desk: the folder, and whether the person has time for all.
const FOLDER: &str = "COLUMNAR_DESK_FOLDER";
const HAS_TIME: &str = "COLUMNAR_DESK_HAS_TIME";

/// The offline model, with a line in a file for each call.
#[derive(Clone)]
struct LoggedModel {
    log: PathBuf,
    model: Offline,
}

impl Model for LoggedModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let text = request.messages.last_text();
        let order = text.split_once("order ").and_then(|(_, rest)| rest.get(..4)?.parse::<usize>().ok());
        log(&self.log, order.expect("a ticket names its order") - 5_000);
        self.model.reply(request)
    }
}

fn log(file: &Path, step: usize) {
    let mut file = OpenOptions::new().create(true).append(true).open(file).expect("a file");
    file.write_all(format!("{step}\n").as_bytes()).expect("it is written");
}

/// The steps in a log.
fn logged(folder: &Path, file: &str) -> Vec<usize> {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
    text.lines().filter_map(|line| line.split('\t').next()?.parse().ok()).collect()
}

/// The cells that a folder has, read beside a process that may be writing.
#[tokio::main(flavor = "current_thread")]
async fn stored(folder: &Path, column: &str) -> BTreeSet<usize> {
    let store = ReadOnly::new(FileStore::new(folder.join("desk")));
    // There is no flow before the first process.
    if store.open().await.is_err() {
        return BTreeSet::new();
    }
    let entries = store.load(Name::new(column).expect("a name"), 0..TICKETS).await.expect("they are read");
    entries.into_iter().map(|(step, _)| step).collect()
}

/// A process of the desk, if the variables say so; see `h8_a_killed_desk_loses_nothing`.
#[tokio::test]
async fn desk_process() -> Result<(), BoxError> {
    let Some(folder) = env::var_os(FOLDER).map(PathBuf::from) else { return Ok(()) };
    let model = LoggedModel { log: folder.join("calls.txt"), model: Offline::new() };
    let outbox = Outbox(folder.join("sent.txt"));
    let desk = Desk::open(FileStore::new(folder.join("desk")), model, outbox).await?;
    for number in desk.ticket.len()..TICKETS {
        desk.ticket.push(ticket(number)).await?;
    }
    desk.run().await?;
    let has_time = env::var_os(HAS_TIME).is_some();
    for PendingCell { step, proposal, .. } in desk.reply.pending()? {
        log(&folder.join("decided.txt"), step);
        match proposal {
            Some(draft) if step % 3 == 1 => {
                desk.reply.answer(step, format!("{draft}\n\nKind regards")).await?;
            }
            _ if step % 3 == 0 || has_time => desk.reply.accept(step).await?,
            _ => {}
        }
        desk.run().await?;
    }
    Ok(())
}

const NONE: [usize; 0] = [];

fn start(folder: &Path, has_time: bool) -> Child {
    let mut command = Command::new(env::current_exe().expect("a path"));
    command.args(["--exact", "tests::desk_process"]).env(FOLDER, folder).stdout(Stdio::null());
    if has_time {
        command.env(HAS_TIME, "1");
    }
    command.spawn().expect("it starts")
}

#[test]
fn h8_a_killed_desk_loses_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    for kill in 0..10 {
        let known = ["draft", "sent"].map(|column| stored(folder, column));
        let replies = stored(folder, "reply");
        let before = ["calls.txt", "sent.txt", "decided.txt"].map(|file| logged(folder, file).len());
        let mut desk = start(folder, kill == 9);
        // Killed in the middle of the drafts first, and of the decisions later.
        let file = if kill < 3 { "calls.txt" } else { "decided.txt" };
        let target = logged(folder, file).len() + 37;
        let mut is_ended = false;
        while kill < 9 && !is_ended && logged(folder, file).len() < target {
            is_ended = desk.try_wait().expect("it is a child").is_some();
            sleep(Duration::from_millis(1));
        }
        if kill < 9 && !is_ended {
            desk.kill().expect("it is running");
        }
        let status = desk.wait().expect("it ends");
        assert!(status.success() || kill < 9, "{status}");
        for (known, (file, before)) in known.iter().zip([("calls.txt", before[0]), ("sent.txt", before[1])]) {
            let again: Vec<_> =
                logged(folder, file).into_iter().skip(before).filter(|step| known.contains(step)).collect();
            assert_eq!(again, NONE, "{file}: these were stored before process {kill}");
        }
        let asked = logged(folder, "decided.txt").into_iter().skip(before[2]);
        assert_eq!(asked.filter(|step| replies.contains(step)).collect::<Vec<_>>(), NONE, "answered twice");
    }
    for column in ["draft", "reply", "sent"] {
        assert_eq!(stored(folder, column).len(), TICKETS, "{column}");
    }
    check_replies(folder);
}

/// Checks each reply, and the receipt.
#[tokio::main(flavor = "current_thread")]
async fn check_replies(folder: &Path) {
    let model = LoggedModel { log: folder.join("calls.txt"), model: Offline::new() };
    let desk = Desk::open(FileStore::new(folder.join("desk")), model, Outbox(folder.join("sent.txt")))
        .await
        .expect("it opens");
    for step in 0..TICKETS {
        let draft = desk.draft.get(step).expect("a draft");
        let answer =
            desk.reply.receipt(step).and_then(|receipt| receipt.answer.clone()).expect("it is answered");
        let reply = desk.reply.get(step).expect("a reply");
        if step % 3 == 1 {
            assert_eq!(
                (&*reply, answer.edited.as_deref()),
                (&*format!("{draft}\n\nKind regards"), Some(&*draft))
            );
        } else {
            assert_eq!((reply, answer.is_proposal), (draft, true));
        }
    }
}

#[tokio::test]
async fn a_person_works_command_by_command() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let folder = folder.path();
    for command in [&["push", "Where is it?"][..], &["push", "It is broken."], &["push", "Win a prize!"], &[]]
    {
        work(folder, command).await?;
    }
    work(folder, &["accept", "0"]).await?;
    work(folder, &["answer", "1", "We replace it."]).await?;
    work(folder, &["decline", "2", "spam"]).await?;
    let error = work(folder, &["accept", "1"]).await.unwrap_err().to_string();
    assert!(error.starts_with("`reply` at step 1 is answered already"), "{error}");
    let error = work(folder, &["reject", "1"]).await.unwrap_err().to_string();
    assert!(error.contains("`decline STEP REASON`"), "{error}");
    assert_eq!(logged(folder, "sent.txt"), [0, 1]);
    Ok(())
}
