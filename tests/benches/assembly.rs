//! What it costs to assemble the messages of a step, for each of the four patterns, against the
//! naive assembler of the tests and against what no assembler can go below: serialising an array
//! that is there already, and copying the text.
//!
//! `cargo bench -p columnar-tests --bench assembly`

use std::hint::black_box;

use columnar::Name;
use columnar::prelude::*;
use columnar::store::{MemoryStore, Store};
use columnar::testing::script;
use columnar_tests::figures::{bar, figure, medians, micros_each, over};
use columnar_tests::naive::{self, Reads, Window};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use tokio::runtime::Builder;

const ROUNDS: usize = 15;
/// A step takes less than a microsecond, so many of them are measured together.
const REPEATS: u32 = 200;
const STEPS: [usize; 4] = [100, 1000, 10_000, 100_000];
const PATTERNS: [(&str, Window, Option<Window>); 4] = [
    ("accumulator", Window::All, Some(Window::All)),
    ("reducer", Window::All, Some(Window::Last(1))),
    ("journal", Window::Last(1), Some(Window::All)),
    ("window", Window::Last(20), Some(Window::Last(20))),
];

/// A flow of one source and one column with a history, and the same as a description.
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
        let store = MemoryStore::new();
        let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
        let flow = runtime.block_on(async {
            for (step, value) in values.iter().enumerate() {
                put(&store, "user", step, value).await;
                if step + 1 < steps {
                    put(&store, "column", step, value).await;
                }
            }
            let answer = script(Vec::<String>::new());
            Flow::open(store, [column("column", views, answer)]).await.expect("a sound flow")
        });
        let view = naive::View { column: "user".into(), window: input, tag: "user".into() };
        let reads = Reads { views: vec![view], own, own_at: 0 };
        let columns = vec![
            naive::Column { name: "user".into(), values: values.clone(), reads: None },
            naive::Column { name: "column".into(), values, reads: Some(reads) },
        ];
        Self { flow, described: naive::Flow { columns }, newest: steps - 1 }
    }

    fn assemble(&self) -> Messages {
        self.flow.messages("column", self.newest).expect("everything is stored")
    }

    /// What a step costs that is new in it: its context, and its last message as JSON.
    fn step(&self) -> String {
        serde_json::to_string(&*self.assemble().last_text()).expect("strings serialise")
    }

    /// The least that it could cost: its new value as JSON.
    fn escape(&self) -> String {
        let value = self.described.value("user", self.newest).expect("it is described");
        serde_json::to_string(value).expect("strings serialise")
    }

    fn assemble_naively(&self) -> naive::Messages {
        let (column, reads) = self.described.derived().next().expect("there is one");
        naive::messages(&self.described, &column.name, reads, self.newest).expect("everything is stored")
    }
}

fn repeat(step: impl Fn() -> String) {
    for _ in 0..REPEATS {
        drop(black_box(step()));
    }
}

fn shown(view: View, window: Window) -> View {
    match window {
        Window::All => view,
        Window::Last(count) => view.window(count),
    }
}

async fn put(store: &MemoryStore, column: &str, step: usize, value: &str) {
    let name = Name::new(column).expect("it is a name");
    store.put(name, step, Value::from(value).into()).await.expect("memory takes it");
}

fn figures() {
    for (pattern, input, own) in PATTERNS {
        let subjects = STEPS.map(|steps| Subject::new(input, own, steps));
        let [short, middle, long, longest] = &subjects;
        let [at_1e2, at_1e3, at_1e4, at_1e5, escape, naively] = medians(
            ROUNDS,
            [
                &mut || repeat(|| short.step()),
                &mut || repeat(|| middle.step()),
                &mut || repeat(|| long.step()),
                &mut || repeat(|| longest.step()),
                &mut || repeat(|| short.escape()),
                &mut || drop(black_box(middle.assemble_naively())),
            ],
        );
        for (steps, time) in STEPS.into_iter().zip([at_1e2, at_1e3, at_1e4, at_1e5]) {
            figure(&format!("{pattern}.step_{steps}_us"), micros_each(time, REPEATS), "us");
        }
        figure(&format!("{pattern}.escape_us"), micros_each(escape, REPEATS), "us");
        figure(&format!("{pattern}.naive_1000_us"), micros_each(naively, 1), "us");
        bar(&format!("{pattern}.step_1e5_over_1e2"), over(at_1e5, at_1e2), 1.1);
        bar(&format!("{pattern}.step_over_escape"), over(at_1e5, escape), 1.5);
    }
    bodies();
}

/// A whole request body of 1,000 steps: from nothing, and from messages that are there already.
fn bodies() {
    let subject = Subject::new(Window::All, Some(Window::All), 1000);
    let messages = subject.assemble();
    let array: serde_json::Value = serde_json::to_value(&messages).expect("strings serialise");
    let bytes = messages.to_json().into_bytes();
    let [cold, warm, serde, memcpy] = medians(
        ROUNDS,
        [
            &mut || drop(black_box(subject.assemble().to_json())),
            &mut || drop(black_box(messages.to_json())),
            &mut || drop(black_box(serde_json::to_string(&array))),
            &mut || drop(black_box(bytes.clone())),
        ],
    );
    figure("body_us", micros_each(cold, 1), "us");
    figure("body_serde_us", micros_each(serde, 1), "us");
    figure("body_memcpy_us", micros_each(memcpy, 1), "us");
    bar("body_over_serde", over(cold, serde), 1.2);
    bar("body_over_memcpy", over(warm, memcpy), 2.0);
}

fn assembly(criterion: &mut Criterion) {
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

criterion_group!(benches, assembly);
criterion_main!(benches);
