//! The minutes of a meeting of 1,500 utterances: written, closed, reopened, forked.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::flow::{LiveFlow, Row};
use columnar::model::{Chunk, End, Finish, Model, Request, Usage};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{FileStore, Store};
use columnar::{BoxError, CellState, SkipReason};
use futures::future::try_join_all;
use futures::stream::{self, BoxStream};

flow! {
    /// The minutes of a meeting, written while it takes place.
    pub struct Minutes<M: Model + Clone>(secretary: M) {
        /// An utterance per step.
        source utterance;
        column topic(utterance.window(3), self.latest) = prompt("Name the topic.").model(secretary.clone());
        column decision(topic.latest, utterance.window(2)) =
            prompt("Record the decision.").model(secretary.clone()).every(10);
        column minutes(decision.window(50), topic.latest, self) =
            prompt("Continue the minutes.").model(secretary.clone()).every(100);
    }
}

/// The number of utterances.
const STEPS: usize = 1500;
/// The number of utterances when the meeting is over.
const LATER: usize = 1601;
/// The number of steps that a reader of the latest minutes has in memory.
const RECENT: usize = 20;

/// A model whose reply depends on all that it reads, and that counts its calls. Clones share the number.
#[derive(Clone, Default)]
struct Secretary(Arc<AtomicUsize>);

impl Secretary {
    /// The number of calls since this was last asked.
    fn calls(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl Model for Secretary {
    fn name(&self) -> &'static str {
        "secretary"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let read = request.messages.to_json();
        let sum = read.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let end = End::new(Finish::Stop).with_usage(Usage::new(read.len() as u64, 1));
        stream::iter([Ok(Chunk::Text(format!("{sum:x}"))), Ok(Chunk::End(end))]).boxed()
    }
}

type Meeting = Minutes<Secretary>;

fn utterance(step: usize) -> String {
    format!("Speaker {}: point {step} < of {}", step % 7, step % 13)
}

/// The number of calls for these steps.
fn calls(steps: std::ops::Range<usize>) -> usize {
    let every = |count| steps.clone().filter(|step| (step + 1) % count == 0).count();
    steps.len() + every(10) + every(100)
}

/// The values of a flow by column and step, as rows have them.
async fn rows<C, I>(meeting: &LiveFlow<'_, C, I>) -> Result<BTreeMap<(String, usize), String>> {
    let rows: Vec<_> = meeting.rows(..).try_collect().await?;
    assert!(rows.iter().map(Row::step).eq(0..meeting.len("utterance")?), "no row is left out");
    let values = rows.iter().flat_map(|row| {
        row.values().map(|(column, value)| ((column.to_string(), row.step()), value.to_string()))
    });
    Ok(values.collect())
}

/// All values as columns have them in memory.
fn columns<C, I>(meeting: &LiveFlow<'_, C, I>) -> Result<BTreeMap<(String, usize), String>> {
    let mut values = BTreeMap::new();
    for column in ["utterance", "topic", "decision", "minutes"] {
        for (step, value) in meeting.iter(column)? {
            assert_eq!(meeting.cell(column, step)?, CellState::Stored(value.clone()));
            values.insert((column.to_owned(), step), value.to_string());
        }
    }
    Ok(values)
}

/// The meeting takes place: a transcript so far, and the rest while the minutes are written.
async fn meet(store: impl Store, secretary: &Secretary) -> Result<BTreeMap<(String, usize), String>> {
    let meeting = Meeting::open(store, secretary.clone()).await?;
    try_join_all((0..STEPS - 2).map(|step| meeting.utterance.push(utterance(step)))).await?;
    let mut values = BTreeMap::new();
    for step in STEPS - 2..=STEPS {
        let mut run = meeting.run();
        while let Some(event) = run.try_next().await? {
            if let Event::Value { column, step, value } = event {
                assert_eq!(values.insert((column.to_string(), step), value.to_string()), None);
            }
        }
        if step < STEPS {
            meeting.utterance.push(utterance(step)).await?;
        }
    }
    assert_eq!((meeting.steps(), secretary.calls()), (STEPS, calls(0..STEPS)));
    values.extend((0..STEPS).map(|step| (("utterance".to_owned(), step), utterance(step))));
    assert_eq!(columns(&meeting)?, values);
    Ok(values)
}

/// The next day everything is there, and costs nothing.
async fn read_again(
    store: impl Store,
    secretary: &Secretary,
    written: &BTreeMap<(String, usize), String>,
) -> Result<()> {
    let meeting = Meeting::open(store, secretary.clone()).await?;
    meeting.run().await?;
    assert_eq!(secretary.calls(), 0);
    assert_eq!((&columns(&meeting)?, &rows(&meeting).await?), (written, written));
    assert_eq!(meeting.utterance.get(0).as_deref(), Some(&*utterance(0)));
    assert_eq!(
        (meeting.decision.cell(1), meeting.utterance.cell(STEPS)),
        (CellState::Skipped(Some(SkipReason::Every)), CellState::Waiting)
    );
    assert_eq!((meeting.bill().total().calls, meeting.bill().not_loaded()), (calls(0..STEPS) as u64, 0));
    Ok(())
}

/// A program that shows the end of the minutes opens the end alone, and nothing that it does differs.
async fn read_the_end(
    store: impl Store,
    secretary: &Secretary,
    written: &BTreeMap<(String, usize), String>,
) -> Result<()> {
    let meeting = Meeting::open(OpenOptions::new(store).recent(RECENT), secretary.clone()).await?;
    assert_eq!(meeting.steps(), STEPS);
    assert_eq!((meeting.topic.get(0), meeting.topic.cell(0)), (None, CellState::NotLoaded));
    assert!(matches!(meeting.topic.iter(), Err(Error::NotLoaded { .. })), "no values are left out silently");
    assert_eq!(meeting.topic.last()?.map(|(step, _)| step), Some(STEPS - 1));
    assert_eq!(meeting.utterance.value(3).await?.as_deref(), Some(&*utterance(3)));
    assert_eq!(&rows(&meeting).await?, written);
    let bill = meeting.bill();
    assert!(
        bill.not_loaded() > STEPS && bill.total().calls + bill.not_loaded() as u64 >= calls(0..STEPS) as u64
    );

    // Another end of the meeting, from its beginning and from its middle.
    for step in [10, 700] {
        let fork = meeting.fork(step)?;
        fork.utterance.push("Speaker 9: I object.").await?;
        fork.run().await?;
        assert_eq!(
            (fork.steps(), secretary.calls()),
            (step + 1, calls(step..step + 1)),
            "the past costs nothing"
        );
        assert_eq!(fork.utterance.value(3).await?.as_deref(), Some(&*utterance(3)));
        assert_ne!(fork.topic.get(step), meeting.topic.value(step).await?);
        fork.load(0).await?;
        let mut expected = written.clone();
        expected.retain(|(_, at), _| *at < step);
        let mut values = columns(&fork)?;
        values.retain(|(_, at), _| *at < step);
        assert_eq!(values, expected);
    }
    meeting.load(0).await?;
    assert_eq!(&columns(&meeting)?, written);
    assert_eq!(meeting.bill().total().calls, calls(0..STEPS) as u64);
    Ok(())
}

/// The meeting continues, in the program that has only its end in memory and in a durable fork.
async fn go_on<S: Store>(store: S, other: S, secretary: &Secretary) -> Result<()> {
    let meeting = Meeting::open(OpenOptions::new(store).recent(RECENT), secretary.clone()).await?;
    let fork = meeting.fork_into(STEPS, other).await?;
    for meeting in [&*meeting, &fork] {
        for step in STEPS..LATER {
            meeting.utterance.push(utterance(step)).await?;
        }
        meeting.run().await?;
        assert_eq!(secretary.calls(), calls(STEPS..LATER));
    }
    fork.load(0).await?;
    meeting.load(0).await?;
    assert_eq!(columns(&fork)?, columns(&meeting)?);
    Ok(())
}

/// All days of a meeting in stores of one kind, and a flow that was never closed as the standard.
async fn keep_minutes<S: Store>(open: impl Fn(&str) -> S) -> Result<()> {
    let secretary = Secretary::default();
    let written = meet(open("monday"), &secretary).await?;
    read_again(open("monday"), &secretary, &written).await?;
    read_the_end(open("monday"), &secretary, &written).await?;
    go_on(open("monday"), open("tuesday"), &secretary).await?;

    let never_closed = Meeting::new(secretary.clone());
    for step in 0..LATER {
        never_closed.utterance.push(utterance(step)).await?;
    }
    never_closed.run().await?;
    secretary.calls();
    for day in ["monday", "tuesday"] {
        let meeting = Meeting::open(open(day), secretary.clone()).await?;
        assert_eq!(columns(&meeting)?, columns(&never_closed)?);
        assert_eq!(meeting.forecast().cells, 0);
    }
    Ok(())
}

#[tokio::test]
async fn minutes_in_a_folder_are_reopened_and_forked() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    keep_minutes(|day| FileStore::new(folder.path().join(day))).await
}

#[cfg(feature = "sqlite")]
#[tokio::test]
async fn minutes_in_a_sqlite_file_are_reopened_and_forked() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    keep_minutes(|day| columnar::store::SqliteStore::new(folder.path().join("minutes.db"), day)).await
}
