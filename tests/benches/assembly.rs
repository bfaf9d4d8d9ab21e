//! The cost of assembling the messages of a step, for each of the four patterns, against the naive assembler of the tests
//! and against a lower bound: serializing an array that exists already.
//!
//! `cargo bench -p columnar-tests --bench assembly`; `-- --bodies` measures only whole request bodies, and
//! `-- --instructions` counts the instructions of a step, which do not depend on the load of the machine. It needs
//! valgrind.

use std::hint::black_box;
use std::sync::Arc;

use columnar::prelude::*;
use columnar_tests::figures::{bar, counted_instructions, figure, medians, micros_each, over};
use columnar_tests::naive::{self, Reads, Window};
use criterion::{BenchmarkId, Criterion, criterion_group};
use tokio::runtime::Builder;

const ROUNDS: usize = 15;
/// Short measurements have more rounds, so that a disturbance of the machine affects only a few of them.
const SHORT_ROUNDS: usize = 20 * ROUNDS;
/// A step takes less than a microsecond, so many of them are measured together.
const REPEATS: u32 = 200;
const STEPS: [usize; 4] = [100, 1000, 10_000, 100_000];
const PATTERNS: [(&str, Window, Option<Window>); 4] = [
    ("accumulator", Window::All, Some(Window::All)),
    ("reducer", Window::All, Some(Window::Last(1))),
    ("journal", Window::Last(1), Some(Window::All)),
    ("window", Window::Last(20), Some(Window::Last(20))),
];

/// A flow of one source and one column with a history, and its description for the naive assembler.
struct Subject {
    flow: Flow,
    described: naive::Flow,
    newest: usize,
}

impl Subject {
    fn new(input: Window, own: Option<Window>, steps: usize) -> Self {
        let user = source("user");
        let mut views = vec![shown(user.all(), input)];
        views.extend(own.map(|own| shown(this(), own)));
        let values: Vec<String> =
            (0..steps).map(|step| format!("{step:>6} {}", "word ".repeat(80))).collect();
        // Each answer is a new text, like that of a model.
        let answers: Arc<[String]> = values.clone().into();
        let answer = move |cx: Context| std::future::ready(answers.get(cx.step()).cloned().ok_or("no more"));
        let flow = flow([column("column", views, answer)]).expect("a sound flow");
        let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
        runtime.block_on(async {
            for (step, value) in values.iter().enumerate() {
                flow.push("user", value.clone()).await.expect("memory takes it");
                if step + 1 < steps {
                    flow.run().await.expect("nothing fails");
                }
            }
        });
        let view = naive::View {
            column: "user".into(),
            window: input,
            lagged: false,
            tag: "user".into(),
            groups: Vec::new(),
            filter: None,
            elided: false,
        };
        let reads = Reads { views: vec![view], self_history: own, self_elided: false, self_position: 0 };
        let columns = vec![
            naive::Column { name: "user".into(), values: values.clone(), reads: None },
            naive::Column { name: "column".into(), values, reads: Some(reads) },
        ];
        Self { flow, described: naive::Flow { columns }, newest: steps - 1 }
    }

    fn assemble(&self) -> Messages {
        self.assemble_at(self.newest)
    }

    fn assemble_at(&self, step: usize) -> Messages {
        self.flow.messages("column", step).expect("everything is stored")
    }

    /// The new work of a step: its context, and its last message as JSON.
    fn step(&self) -> String {
        json(&self.assemble().last_text())
    }

    /// The new work of a step, up to the text that a client is handed.
    fn text(&self) -> String {
        self.assemble().last_text().into_owned()
    }

    /// The whole request body, with assembly.
    fn body(&self) -> String {
        self.assemble().to_json()
    }

    /// All steps in turn.
    fn session(&self) {
        (0..=self.newest).for_each(|step| drop(black_box(json(&self.assemble_at(step).last_text()))));
    }

    /// The lower bound of a step: its new value as JSON.
    fn escape(&self) -> String {
        let value = self.described.value("user", self.newest).expect("it is described");
        json(value)
    }

    fn assemble_naively(&self) -> naive::Messages {
        let (column, reads) = self.described.derived().next().expect("there is one");
        naive::messages(&self.described, &column.name, reads, self.newest).expect("everything is stored")
    }
}

fn json(text: &str) -> String {
    serde_json::to_string(text).expect("strings serialise")
}

fn repeat<T>(times: u32, step: impl Fn() -> T) {
    for _ in 0..times {
        drop(black_box(step()));
    }
}

fn shown(view: View, window: Window) -> View {
    match window {
        Window::All => view,
        Window::Last(count) => view.window(count),
    }
}

fn figures() {
    for (pattern, input, own) in PATTERNS {
        let subjects = STEPS.map(|steps| Subject::new(input, own, steps));
        let [short, middle, long, longest] = &subjects;
        let [at_1e2, at_1e3, at_1e4, at_1e5, assembly, assembly_and_text, escape] = medians(
            SHORT_ROUNDS,
            [
                &mut || repeat(REPEATS, || short.step()),
                &mut || repeat(REPEATS, || middle.step()),
                &mut || repeat(REPEATS, || long.step()),
                &mut || repeat(REPEATS, || longest.step()),
                // The parts of a step: the figures below tell which of them a change made slower.
                &mut || repeat(REPEATS, || short.assemble()),
                &mut || repeat(REPEATS, || short.text()),
                &mut || repeat(REPEATS, || short.escape()),
            ],
        );
        // Alone, because it evicts the data of the others from the CPU caches.
        let [naively] = medians(ROUNDS, [&mut || drop(black_box(middle.assemble_naively()))]);
        for (steps, time) in STEPS.into_iter().zip([at_1e2, at_1e3, at_1e4, at_1e5]) {
            figure(&format!("{pattern}.step_{steps}_us"), micros_each(time, REPEATS), "us");
        }
        figure(&format!("{pattern}.assembly_us"), micros_each(assembly, REPEATS), "us");
        figure(&format!("{pattern}.assembly_and_text_us"), micros_each(assembly_and_text, REPEATS), "us");
        figure(&format!("{pattern}.escape_us"), micros_each(escape, REPEATS), "us");
        figure(&format!("{pattern}.naive_1000_us"), micros_each(naively, 1), "us");
        bar(&format!("{pattern}.step_1e5_over_1e2"), over(at_1e5, at_1e2), 1.1);
        // Up to the text that a client is handed.
        bar(&format!("{pattern}.text_over_escape"), over(assembly_and_text, escape), 1.5);
    }
}

/// A whole request body of 1,000 steps: with assembly, and from assembled messages.
fn bodies() {
    for (pattern, input, own) in PATTERNS {
        // Figures without a pattern are those of a chat.
        let name = if pattern == "accumulator" { String::new() } else { format!("{pattern}.") };
        body(&name, &Subject::new(input, own, 1000));
    }
}

fn body(name: &str, subject: &Subject) {
    let messages = subject.assemble();
    let array: serde_json::Value = serde_json::to_value(&messages).expect("strings serialise");
    let [cold, warm, serde] = medians(
        SHORT_ROUNDS,
        [&mut || drop(black_box(subject.body())), &mut || drop(black_box(messages.to_json())), &mut || {
            drop(black_box(serde_json::to_string(&array)));
        }],
    );
    figure(&format!("{name}body_us"), micros_each(cold, 1), "us");
    figure(&format!("{name}body_warm_us"), micros_each(warm, 1), "us");
    figure(&format!("{name}body_serde_us"), micros_each(serde, 1), "us");
    bar(&format!("{name}body_over_serde"), over(cold, serde), 1.2);
}

/// Whole sessions, step by step: ten of 1,000 steps against one of 10,000, with the same amount of text.
fn sessions() {
    let session = |steps| Subject::new(Window::All, Some(Window::All), steps);
    let (short, long): (Vec<_>, _) = ((0..10).map(|_| session(1000)).collect(), session(10_000));
    let [at_1e3, at_1e4] =
        medians(ROUNDS, [&mut || short.iter().for_each(Subject::session), &mut || long.session()]);
    figure("total_1e3_us", micros_each(at_1e3, 10), "us");
    figure("total_1e4_us", micros_each(at_1e4, 1), "us");
    bar("total_1e4_over_10_times_1e3", over(at_1e4, at_1e3), 1.1);
}

fn assembly(criterion: &mut Criterion) {
    // First, while the heap is not fragmented: scattered texts take three times as long to read, and the values that
    // serde writes are always new.
    bodies();
    sessions();
    let mut group = criterion.benchmark_group("assembly");
    for (pattern, input, own) in PATTERNS {
        let subject = Subject::new(input, own, 1000);
        assert_eq!(subject.assemble().len(), subject.assemble_naively().len());
        group
            .bench_function(BenchmarkId::new(pattern, "columnar"), |bench| bench.iter(|| subject.assemble()));
        group.bench_function(BenchmarkId::new(pattern, "naive"), |bench| {
            bench.iter(|| subject.assemble_naively());
        });
    }
    group.finish();
    figures();
}

/// The number of instructions of a step: the difference between two runs of this program. One has `REPEATS` more steps.
fn instructions() {
    for (pattern, ..) in PATTERNS {
        let mut counts = [0.0; 4];
        let works = [("step", 100), ("step", 100_000), ("text", 100_000), ("escape", 100)];
        for (count, (work, steps)) in counts.iter_mut().zip(works) {
            let args = |repeats: u32| {
                [REPEAT, pattern, work, &steps.to_string(), &repeats.to_string()].map(str::to_owned)
            };
            let difference = counted_instructions(&args(2 * REPEATS))
                .and_then(|more| Ok(more - counted_instructions(&args(REPEATS))?));
            match difference {
                Ok(difference) => *count = difference / f64::from(REPEATS),
                Err(error) => return println!("SKIPPED instructions: {error}"),
            }
            figure(&format!("{pattern}.{work}_{steps}_instructions"), *count, "instructions");
        }
        let [short, long, text, escape] = counts;
        bar(&format!("{pattern}.instructions_1e5_over_1e2"), long / short, 1.1);
        bar(&format!("{pattern}.text_instructions_over_escape"), text / escape, 1.5);
    }
}

/// The flag with which [`instructions`] starts this program. A pattern, the work and the numbers of steps and repeats
/// follow it.
const REPEAT: &str = "--repeat";

fn repeated(args: &[String]) -> Option<()> {
    let [name, work, steps, repeats] = args else { return None };
    let (_, input, own) = PATTERNS.into_iter().find(|(pattern, ..)| pattern == name)?;
    let subject = Subject::new(input, own, steps.parse().ok()?);
    let work = match work.as_str() {
        "step" => Subject::step,
        "text" => Subject::text,
        "escape" => Subject::escape,
        "body" => Subject::body,
        _ => return None,
    };
    repeat(repeats.parse().ok()?, || work(&subject));
    Some(())
}

criterion_group!(benches, assembly);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((first, rest)) if first == REPEAT => {
            repeated(rest).expect("a pattern, the work and two numbers");
        }
        _ if args.iter().any(|arg| arg == "--bodies") => bodies(),
        _ if args.iter().any(|arg| arg == "--instructions") => instructions(),
        _ => {
            benches();
            Criterion::default().configure_from_args().final_summary();
        }
    }
}
