//! The space and the time of stored values, against the size of the values, a loop of writes with `fsync`, and LangGraph
//! where it is installed.
//!
//! `cargo bench -p columnar-tests --features sqlite --bench storage`
//!
//! For the saver of LangGraph, `python3 -m pip install langgraph==1.2.22 langgraph-checkpoint-sqlite==3.1.2`.

use std::fs::{self, File};
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{Entry, FileStore, SqliteStore, Store};
use columnar::{Name, Value};
use columnar_tests::figures::{Contender, bar, figure, floor, grown, over, ratio, self_timed_medians, timed};
use columnar_tests::peers;
use criterion::{Criterion, criterion_group, criterion_main};
use futures::future::join_all;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The bytes of a value.
const BYTES: usize = 800;
/// The bytes of a value in long histories.
const SHORT: usize = 100;
/// The number of last steps that are loaded of a long history that is not opened whole.
const RECENT: usize = 100;
/// The number of concurrent puts when a store is filled.
const TOGETHER: usize = 500;
/// The number of concurrent puts that are measured.
const AT_ONCE: usize = 100;
/// The number of sequential puts in a turn. Turns are short, because the speed of a disk varies.
const PUTS: usize = 20;
const ROUNDS: usize = 61;
/// The number of flows of one file that are open at once.
const FLOWS: usize = 500;
/// A step that no other puts reach.
const FAR: usize = 1_000_000;

fn user() -> Name {
    Name::new("user").expect("a name")
}

/// A value that no other step has.
fn text(step: usize, bytes: usize) -> Value {
    format!("{step:>bytes$}").into()
}

/// A folder on the disk of the build: the folder for temporary files may be in memory.
fn folder() -> TempDir {
    TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder")
}

/// A kind of store, in a folder.
struct Kind<S> {
    name: &'static str,
    make: fn(&Path) -> S,
    /// The number of steps of a long history.
    many: usize,
    /// Reads the texts of a flow without the library, and returns their bytes.
    read_bare: fn(&Path) -> usize,
    /// Whether its figures are checked against bars.
    has_bars: bool,
    runtime: Runtime,
}

impl<S: Store> Kind<S> {
    fn new(name: &'static str, many: usize, make: fn(&Path) -> S, read_bare: fn(&Path) -> usize) -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
        Self { name, make, many, read_bare, has_bars: false, runtime }
    }

    /// Prints a figure, and checks it against its bar if the store has bars.
    fn report(&self, suffix: &str, value: f64, bar: impl FnOnce(&str, f64)) {
        let name = format!("{}_{suffix}", self.name);
        if self.has_bars { bar(&name, value) } else { figure(&name, value, "x") }
    }

    fn open(&self, folder: &Path) -> S {
        let store = (self.make)(folder);
        self.runtime.block_on(store.open()).expect("no other process has it open");
        store
    }

    /// Stores these steps of a column, many at a time.
    fn fill(&self, store: &S, column: &Name, steps: Range<usize>, bytes: usize) {
        for first in steps.clone().step_by(TOGETHER) {
            let together = first..steps.end.min(first + TOGETHER);
            let puts = together.map(|step| put(store, column, step, bytes));
            self.runtime.block_on(join_all(puts));
        }
    }

    fn put(&self, store: &S, step: usize, bytes: usize) {
        self.runtime.block_on(put(store, &user(), step, bytes));
    }

    /// The space of values of 800 bytes.
    fn sizes(&self) {
        for steps in [500, 10_000] {
            let folder = folder();
            self.fill(&self.open(folder.path()), &user(), 0..steps, BYTES);
            let stored = ratio(on_disk(folder.path()), steps * BYTES);
            self.report(&format!("over_payload_{steps}_steps"), stored, |name, over| bar(name, over, 1.2));
        }
    }

    /// The durable writes per second, sequential and concurrent.
    fn puts(&self) {
        let folder = folder();
        let store = self.open(folder.path());
        let mut bare = Loop(File::create(folder.path().join("bare")).expect("a file"));
        let (mut next, mut far) = (0, FAR);
        let alone = || {
            let steps = next..next + PUTS;
            next = steps.end;
            timed(|| steps.for_each(|step| self.put(&store, step, BYTES)))
        };
        let together = || {
            let steps = far..far + AT_ONCE;
            far = steps.end;
            timed(|| self.fill(&store, &user(), steps, BYTES))
        };
        let mut contenders: [Contender<'_>; 3] =
            [Box::new(|| timed(|| bare.write(PUTS))), Box::new(alone), Box::new(together)];
        let times = self_timed_medians(ROUNDS, &mut contenders);
        let [bare, alone, together] = times[..] else { unreachable!("three took turns") };
        let second = |time: Duration, puts: usize| ratio(puts, 1) / time.as_secs_f64();
        let bare = second(bare, PUTS);
        figure("fsync_loop", bare, "values a second");
        for (how, rate) in [("puts", second(alone, PUTS)), ("puts_together", second(together, AT_ONCE))] {
            figure(&format!("{}_{how}", self.name), rate, "values a second");
            self.report(&format!("{how}_over_fsync_loop"), rate / bare, |name, over| floor(name, over, 0.8));
        }
    }

    /// A folder with this number of short values.
    fn filled(&self, steps: usize) -> Filled {
        let filled = Filled { folder: folder(), steps };
        self.fill(&self.open(filled.folder.path()), &user(), 0..steps, SHORT);
        filled
    }

    /// The time and the memory to open flows with all their values, against reading their texts without the library.
    fn open_all(&self, histories: [&Filled; 2]) {
        // Both stay open until both are measured, so that the second one uses no memory of the first one again.
        let memory = histories.map(|filled| {
            let count = u32::try_from(filled.steps).expect("it fits");
            grown(count, || self.open_flow(OpenOptions::new((self.make)(filled.folder.path())), filled))
        });
        let memory = memory.map(|(flow, growth)| {
            drop(flow);
            growth
        });
        for (filled, growth) in histories.into_iter().zip(memory) {
            let at = filled.folder.path();
            let open = || self.opening(OpenOptions::new((self.make)(at)), filled);
            let read = || timed(|| assert_eq!((self.read_bare)(at), filled.steps * SHORT));
            let times = self_timed_medians(5, &mut [Box::new(open), Box::new(read)]);
            let [open, read] = times[..] else { unreachable!("two took turns") };
            let name = format!("{}_open_all_{}_steps", self.name, filled.steps);
            figure(&name, open.as_secs_f64() * 1e3, "ms");
            figure(&format!("{name}_over_bare_read"), over(open, read), "x");
            figure(&format!("{name}_memory"), growth.unwrap_or_default(), "bytes a step");
        }
    }

    /// The time to open a flow, without that to close it.
    fn opening(&self, options: OpenOptions, filled: &Filled) -> Duration {
        let mut flow = None;
        let time = timed(|| flow = Some(self.open_flow(options, filled)));
        drop(flow);
        time
    }

    fn open_flow(&self, options: OpenOptions, filled: &Filled) -> Flow {
        let flow = self.runtime.block_on(Flow::open(options, [source("user")])).expect("it opens");
        assert_eq!(flow.steps(), filled.steps);
        flow
    }

    /// The time to open the end of a flow and to make a step, with a long history over a short one.
    fn long_histories(&self, histories: [&Filled; 2]) {
        let mut opening: Vec<Contender<'_>> = Vec::new();
        for filled in histories {
            opening.push(Box::new(move || {
                let options = OpenOptions::new((self.make)(filled.folder.path())).recent(RECENT);
                self.opening(options, filled)
            }));
        }
        self.report_ratio("open", &self_timed_medians(ROUNDS, &mut opening), 1);

        let mut stepping: Vec<Contender<'_>> = Vec::new();
        for Filled { folder, steps } in histories {
            let store = self.open(folder.path());
            let mut next = *steps;
            stepping.push(Box::new(move || {
                next += PUTS;
                timed(|| (next - PUTS..next).for_each(|step| self.step(&store, step)))
            }));
        }
        self.report_ratio("step", &self_timed_medians(ROUNDS, &mut stepping), PUTS);
    }

    /// Stores one value, and reads one of an earlier step.
    fn step(&self, store: &S, step: usize) {
        let earlier = self.runtime.block_on(store.load(user(), step - 500..step - 499));
        assert_eq!(earlier.expect("it can be read").len(), 1);
        self.put(store, step, SHORT);
    }

    /// Prints the time with the long history, and its ratio to the short one.
    fn report_ratio(&self, operation: &str, times: &[Duration], count: usize) {
        let [short, long] = times else { unreachable!("two took turns") };
        let suffix = format!("{operation}_after_{}_steps", self.many);
        figure(&format!("{}_{suffix}", self.name), long.as_secs_f64() * 1e3 / ratio(count, 1), "ms");
        self.report(&format!("{suffix}_over_1000"), over(*long, *short), |name, over| bar(name, over, 1.2));
    }

    fn measure(&self) {
        let [short, long, longest] = [1_000, self.many / 10, self.many].map(|steps| self.filled(steps));
        // First, while little memory was freed.
        self.open_all([&long, &longest]);
        self.long_histories([&short, &longest]);
        self.sizes();
        self.puts();
    }
}

/// The folder of a store with this many steps.
struct Filled {
    folder: TempDir,
    steps: usize,
}

async fn put(store: &impl Store, column: &Name, step: usize, bytes: usize) {
    let entry = Entry::from(text(step, bytes));
    store.put(column.clone(), step, entry).await.expect("the disk takes it");
}

/// The files in a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut open, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(path) = open.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => open.extend(entries.map(|entry| entry.expect("an entry").path())),
            Err(_) => files.push(path),
        }
    }
    files
}

/// The bytes of the files in a folder, in whole blocks.
fn on_disk(folder: &Path) -> usize {
    let blocks =
        files(folder).iter().map(|file| fs::metadata(file).expect("it is there").blocks()).sum::<u64>();
    usize::try_from(blocks).expect("it fits") * 512
}

/// The bytes of the texts of a flow in a SQLite file, each of which is read.
fn select_texts(folder: &Path) -> usize {
    let db = rusqlite::Connection::open(folder.join("chats.db")).expect("a database");
    let mut select = db.prepare("select bytes from cell order by id").expect("it has the table");
    let texts = select.query_map((), |row| Ok(String::from_utf8(row.get(0)?))).expect("it can be read");
    let texts: Vec<String> = texts.map(|text| text.expect("a row").expect("a text")).collect();
    texts.iter().map(String::len).sum()
}

/// The bytes of the texts of a flow in a folder, each of which is read.
fn read_texts(folder: &Path) -> usize {
    let texts = files(folder).into_iter().filter_map(|file| fs::read_to_string(file).ok());
    let texts: Vec<String> = texts.filter(|text| text.len() == SHORT).collect();
    texts.len() * SHORT
}

/// The time to store one value in each of many flows of a file, over that of a bare loop of transactions, and the time to
/// open and close them.
fn many_flows() {
    let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    let folder = folder();
    let flows: Vec<_> =
        (0..FLOWS).map(|key| SqliteStore::new(folder.path().join("chats.db"), key.to_string())).collect();
    let open = || {
        let opened = runtime.block_on(join_all(flows.iter().map(Store::open)));
        assert!(opened.iter().all(Result::is_ok));
    };
    open();
    let bare = rusqlite::Connection::open(folder.path().join("bare.db")).expect("a database");
    bare.execute_batch(
        "pragma journal_mode = wal; pragma synchronous = full; pragma page_size = 8192;
         create table cell (id integer primary key, bytes blob)",
    )
    .expect("a table");
    let (user, mut step, mut other) = (user(), 0, FAR);
    let together = || {
        step += 1;
        let puts = flows.iter().map(|store| put(store, &user, step - 1, BYTES));
        timed(|| drop(runtime.block_on(join_all(puts))))
    };
    let alone = || {
        other += 1;
        timed(|| flows.iter().for_each(|store| runtime.block_on(put(store, &user, other - 1, BYTES))))
    };
    let insert = || {
        timed(|| {
            for at in 0..FLOWS {
                let bytes = text(at, BYTES);
                bare.execute("insert into cell (bytes) values (?)", [bytes.as_bytes()]).expect("a row");
            }
        })
    };
    let reopen = || timed(open);
    let mut contenders: [Contender<'_>; 4] =
        [Box::new(insert), Box::new(together), Box::new(alone), Box::new(reopen)];
    let times = self_timed_medians(9, &mut contenders);
    let [bare, together, alone, reopened] = times[..] else { unreachable!("four took turns") };
    figure(&format!("rusqlite_loop_{FLOWS}_transactions"), bare.as_secs_f64() * 1e3, "ms");
    for (how, time, at_most) in [("together", together, 0.2), ("one_by_one", alone, 1.5)] {
        let name = format!("sqlite_{FLOWS}_flows_{how}");
        figure(&name, time.as_secs_f64() * 1e3, "ms");
        bar(&format!("{name}_over_rusqlite_loop"), over(time, bare), at_most);
    }
    figure(&format!("sqlite_reopen_{FLOWS}_flows"), reopened.as_secs_f64() * 1e3, "ms");
}

/// The bytes of LangGraph's store in SQLite after this many steps.
fn langgraph(steps: usize) -> Option<usize> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/checkpoints.py");
    let mut command = Command::new(peers::interpreter());
    let output = command.arg(script).args([steps, BYTES].map(|number| number.to_string())).output();
    let bytes = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()?.trim().parse().ok());
    if bytes.is_none() {
        println!(
            "SKIPPED langgraph: pip install langgraph==1.2.22 langgraph-checkpoint-sqlite==3.1.2, see CONTRIBUTING"
        );
    }
    bytes
}

/// A file to which values are appended, with an `fsync` after each.
struct Loop(File);

impl Loop {
    fn write(&mut self, count: usize) {
        for step in 0..count {
            self.0.write_all(text(step, BYTES).as_bytes()).expect("the disk takes it");
            self.0.sync_all().expect("the disk takes it");
        }
    }
}

fn storage(_: &mut Criterion) {
    // A FileStore is for conversations, so its history is shorter and it has no bars. It is first, because the memory that
    // it frees is little.
    Kind::new("file", 10_000, |at| FileStore::new(at.join("chat")), read_texts).measure();
    let sqlite =
        Kind::new("sqlite", 1_000_000, |at| SqliteStore::new(at.join("chats.db"), "monday"), select_texts);
    Kind { has_bars: true, ..sqlite }.measure();
    many_flows();
    // Each checkpoint has the whole history, so 10,000 steps would take 100 GB.
    if let Some(bytes) = langgraph(500) {
        figure("langgraph_sqlite_over_payload_500_steps", ratio(bytes, 500 * BYTES), "x");
    }
}

criterion_group!(benches, storage);
criterion_main!(benches);
