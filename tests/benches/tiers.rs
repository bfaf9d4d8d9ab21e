//! The cost of a step with many documents in tiers: an edit of one of 50,000 documents against one of 500.
//!
//! A step is the push of an update and of a message, the run, and the messages of the column, of which only the last one is
//! read. The text of all documents grows with their number and is made when it is read, so reading it is measured apart,
//! against a copy of the same bytes.
//!
//! `cargo bench -p columnar-tests --bench tiers` counts instructions, which needs valgrind and takes some minutes.

use std::fmt::Write as _;
use std::hint::black_box;

use columnar::documents::Update;
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar_tests::figures::{
    Contender, bar, counted_instructions, figure, medians, micros_each, over, self_timed_medians, timed,
};
use tokio::runtime::{Builder, Runtime};

const FEW: usize = 500;
const MANY: usize = 50_000;
/// The edits before a measurement. A document is in L0 after 12 responses, if other edits break the tiers meanwhile.
const SETTLED: u32 = 40;
/// The steps of a measurement.
const STEPS: u32 = 64;
const ROUNDS: usize = 15;

flow! {
    struct Coder {
        source files: Documents;
        source user;
        column coder(files.tiered(), user, self) = answer;
    }
}

/// Reads the last message, as a program does that sends the others by reference.
async fn answer(cx: Context) -> String {
    format!("Read {} bytes at step {}.", cx.messages().last_text().len(), cx.step())
}

/// A flow over documents that are in their tiers.
struct Session {
    coder: Coder,
    store: MemoryStore,
    documents: usize,
    edits: usize,
    runtime: Runtime,
}

impl Session {
    fn new(documents: usize) -> Self {
        let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
        let store = MemoryStore::new();
        let coder = runtime.block_on(Coder::open(store.clone())).expect("the store is empty");
        let mut session = Self { coder, store, documents, edits: 0, runtime };
        session.step((0..documents).fold(Update::new(), |all, file| all.file(path(file), text(file, 0))));
        session.edit(SETTLED);
        session
    }

    fn step(&self, update: Update) {
        self.runtime.block_on(async {
            self.coder.files.push(update).await.expect("the update has no fault");
            self.coder.user.push("Go on.").await.expect("memory takes it");
            self.coder.run().await.expect("nothing fails");
        });
    }

    /// Steps that each edit one document, always another one.
    fn edit(&mut self, steps: u32) {
        for _ in 0..steps {
            self.edits += 1;
            // A prime, so that the edits are all over the documents.
            let file = self.edits * 7919 % self.documents;
            self.step(Update::new().file(path(file), text(file, self.edits)));
        }
    }

    /// The messages of past steps, in no order.
    fn look_back(&self, times: u32) {
        for time in 0..times {
            let step = self.edits - (time * 13 % STEPS) as usize;
            black_box(self.coder.coder.messages(step).expect("the step is stored").last_text().len());
        }
    }

    /// The flow, closed and opened again.
    fn reopened(self) -> Self {
        let Self { coder, store, runtime, .. } = self;
        drop(coder);
        let coder = runtime.block_on(Coder::open(store.clone())).expect("it was closed");
        Self { coder, store, runtime, ..self }
    }

    /// The text of the newest request, of all its documents and turns.
    fn request(&self) -> String {
        let messages = self.coder.coder.messages(self.edits).expect("the step is stored");
        let mut request = messages.system("");
        for (_, content) in &messages {
            request.push_str(&content);
        }
        request
    }
}

fn path(file: usize) -> String {
    format!("src/{:02}/{file:05}.rs", file % 100)
}

fn text(file: usize, edit: usize) -> String {
    let mut text = format!("// {file:>5}, edit {edit:>5}\n");
    (0..16).for_each(|line| writeln!(text, "    let line = {line:>3};").expect("a string takes it"));
    text
}

/// Work with this number of documents, as many times.
type Work = fn(usize, u32);

/// The works whose instructions are counted.
const WORKS: [(&str, Work); 4] = [
    ("step", |documents, times| Session::new(documents).edit(times)),
    ("past", |documents, times| {
        let mut session = Session::new(documents);
        session.edit(STEPS);
        session.look_back(times);
    }),
    ("reopen", |documents, times| drop(reopened(documents, times))),
    // The messages need the tiers, which are found again from all updates.
    ("reopen_and_read", |documents, times| reopened(documents, times).look_back(1)),
];

fn reopened(documents: usize, edits: u32) -> Session {
    let mut session = Session::new(documents);
    session.edit(edits);
    session.reopened()
}

/// The flag with which this program starts itself. A work and the numbers of documents and times follow it.
const COUNTED: &str = "--counted";

fn work(args: &[String]) -> Option<()> {
    let [name, documents, times] = args else { return None };
    let (_, work) = WORKS.into_iter().find(|(known, _)| known == name)?;
    work(documents.parse().ok()?, times.parse().ok()?);
    Some(())
}

/// The instructions of a work, each time: the difference between two runs of this program, so its start is not counted.
fn instructions(work: &str, documents: usize) -> Result<f64, String> {
    let count = |times: u32| {
        counted_instructions(&[COUNTED, work, &documents.to_string(), &times.to_string()].map(str::to_owned))
    };
    Ok((count(2 * STEPS)? - count(STEPS)?) / f64::from(STEPS))
}

fn counted() -> Result<(), String> {
    let mut steps = [0.0; 2];
    for (name, _) in WORKS {
        let mut counts = [instructions(name, FEW)?, instructions(name, MANY)?];
        if name.starts_with("reopen") {
            // Without the steps before, which this work makes as well.
            counts.iter_mut().zip(steps).for_each(|(count, step)| *count -= step);
        }
        let [few, many] = counts;
        figure(&format!("{name}_500_instructions"), few, "instructions");
        figure(&format!("{name}_50k_instructions"), many, "instructions");
        if name == "step" {
            steps = counts;
            bar("step_50k_over_500", many / few, 1.3);
        } else {
            figure(&format!("{name}_50k_over_500"), many / few, "x");
        }
    }
    Ok(())
}

/// The median times, where instructions cannot be counted.
fn times() {
    let [mut few, mut many] = [FEW, MANY].map(Session::new);
    let [few, many] = medians(ROUNDS, [&mut || few.edit(STEPS), &mut || many.edit(STEPS)]);
    figure("step_500_us", micros_each(few, STEPS), "us");
    figure("step_50k_us", micros_each(many, STEPS), "us");
    figure("step_50k_over_500_in_time", over(many, few), "x");
}

/// The whole text of a request with many documents, against one copy of it. Each request is read for the first time.
fn reading() {
    let mut session = Session::new(MANY);
    let request = session.request();
    let mut read = || {
        session.edit(1);
        timed(|| drop(black_box(session.request())))
    };
    let mut contenders: [Contender<'_>; 2] =
        [Box::new(&mut read), Box::new(|| timed(|| drop(black_box(black_box(&request).clone()))))];
    let times = self_timed_medians(ROUNDS, &mut contenders);
    let &[read, copy] = &*times else { return };
    figure("read_50k_us", micros_each(read, 1), "us");
    figure("copy_50k_us", micros_each(copy, 1), "us");
    figure("read_50k_over_copy", over(read, copy), "x");
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((COUNTED, rest)) = args.split_first().map(|(first, rest)| (&**first, rest)) {
        return work(rest).expect("a work and two numbers");
    }
    if let Err(error) = counted() {
        println!("SKIPPED instructions: {error}");
        times();
    }
    reading();
}
