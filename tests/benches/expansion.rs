//! The compile time of `flow!`, against the same flow written by hand over the run-time API.
//!
//! `cargo bench -p columnar-tests --bench expansion`
//!
//! Each program is checked by `rustc --emit=metadata`, as in `cargo check`, against the library of this benchmark.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use columnar_compiler_tests::rustc::Rustc;
use columnar_tests::figures::{bar, figure, medians, over};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

const ROUNDS: usize = 7;

/// The views and the step of the column `c{at}`, in the language of the macro.
fn declaration(at: usize) -> (String, String) {
    let views = match at {
        0 => "user.latest".to_owned(),
        _ if at.is_multiple_of(3) => format!("c{}.latest, self", at - 1),
        _ => format!("c{}.latest.as(\"before\"), user.window(3)", at - 1),
    };
    (views, format!("prompt(\"instruction {at}\")"))
}

fn item(columns: usize) -> String {
    let mut text =
        String::from("use columnar::prelude::*;\nflow! {\n    pub struct Chat {\n        source user;\n");
    for at in 0..columns {
        let (views, step) = declaration(at);
        let _ = writeln!(text, "        column c{at}({views}) = {step};");
    }
    text + "    }\n}\n"
}

fn inline(columns: usize) -> String {
    let mut text = String::from(
        "use columnar::prelude::*;\npub fn chat() {\n    let _chat = flow! {\n        source user;\n",
    );
    for at in 0..columns {
        let (views, step) = declaration(at);
        let _ = writeln!(text, "        column c{at}({views}) = {step};");
    }
    text + "    };\n}\n"
}

/// The same API as that of the macro: a flow with a typed and documented field and a function for each column, with and
/// without a store; the order; and an enum for events. Unlike with the macro, nothing is checked at compile time.
fn by_hand(columns: usize) -> String {
    let (mut fields, mut functions, mut calls, mut names) = <(String, String, String, String)>::default();
    let (mut variants, mut shown, mut parsed) = <(String, String, String)>::default();
    let (mut bound, mut order) = <(String, String)>::default();
    for at in 0..columns {
        let views = match at {
            0 => "[user.latest()]".to_owned(),
            _ if at.is_multiple_of(3) => "[before.latest(), this()]".to_owned(),
            _ => "[before.latest().named(\"before\"), user.window(3)]".to_owned(),
        };
        let before = if at == 0 { "user".to_owned() } else { format!("c{}", at - 1) };
        let _ = writeln!(fields, "    /// The column `c{at}`.\n    pub c{at}: Derived,");
        let _ = writeln!(
            functions,
            "    #[allow(unused)] fn c{at}(user: &Column, before: &Column) -> Column {{ \
                 column(\"c{at}\", {views}, prompt(\"instruction {at}\")) }}"
        );
        let _ = writeln!(calls, "        let c{at} = Self::c{at}(&user, &{before});");
        let _ = write!(names, "c{at}, ");
        let _ = writeln!(bound, "            c{at}: Derived::of(&flow, \"c{at}\"),");
        let _ = write!(order, "\"c{at}\", ");
        let _ = writeln!(variants, "    /// The column `c{at}`.\n    C{at},");
        let _ = writeln!(shown, "            Self::C{at} => \"c{at}\",");
        let _ = writeln!(parsed, "            \"c{at}\" => Self::C{at},");
    }
    format!(
        "use std::sync::Arc;
use columnar::{{Value, store::Store}};
use columnar::prelude::*;
{HANDLES}
pub struct Chat {{
    /// The flow of the columns.
    pub flow: Arc<Flow>,
    /// The source `user`.
    pub user: Source,
{fields}}}
impl Chat {{
    pub const ORDER: &'static [&'static str] = &[\"user\", {order}];
{functions}
    fn columns() -> Vec<Column> {{
        let user = source(\"user\");
{calls}
        vec![user, {names}]
    }}
    fn bound(flow: Flow) -> Self {{
        let flow = Arc::new(flow);
        Self {{
            user: Source::of(&flow, \"user\"),
{bound}
            flow,
        }}
    }}
    pub fn new() -> Result<Self> {{ Ok(Self::bound(flow(Self::columns())?)) }}
    pub async fn open(store: impl Store) -> Result<Self> {{
        Ok(Self::bound(Flow::open(store, Self::columns()).await?))
    }}
}}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChatColumn {{
{variants}}}
impl ChatColumn {{
    pub const fn name(self) -> &'static str {{
        match self {{
{shown}        }}
    }}
    pub fn of(name: &str) -> Self {{
        match name {{
{parsed}            _ => unreachable!(),
        }}
    }}
}}
impl std::fmt::Display for ChatColumn {{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {{ f.pad(self.name()) }}
}}
"
    )
}

/// The types of fields.
const HANDLES: &str = "
#[derive(Clone, Debug)]
pub struct Source { flow: Arc<Flow>, name: &'static str }
impl Source {
    fn of(flow: &Arc<Flow>, name: &'static str) -> Self { Self { flow: Arc::clone(flow), name } }
    pub fn get(&self, step: usize) -> Option<Value> { self.flow.get(self.name, step) }
    pub async fn push(&self, value: impl Into<Value>) -> Result<usize> { self.flow.push(self.name, value).await }
}
#[derive(Clone, Debug)]
pub struct Derived { flow: Arc<Flow>, name: &'static str }
impl Derived {
    fn of(flow: &Arc<Flow>, name: &'static str) -> Self { Self { flow: Arc::clone(flow), name } }
    pub fn get(&self, step: usize) -> Option<Value> { self.flow.get(self.name, step) }
    pub fn messages(&self, step: usize) -> Result<columnar::Messages> { self.flow.messages(self.name, step) }
}
";

/// Checks a program; the caller measures the time.
fn check(rustc: &Rustc, source: &Path) {
    rustc.compile(source, &["--emit=metadata"]).expect("the program is sound");
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn figures(compiler: &Rustc) {
    let mut bars = Vec::new();
    for columns in [5, 50, 500] {
        let sources = [("hand", by_hand(columns)), ("item", item(columns)), ("inline", inline(columns))]
            .map(|(name, text)| compiler.write(&format!("{name}_{columns}"), &text));
        let [hand, item, inline] = &sources;
        let [hand, item, inline] = medians(
            ROUNDS,
            [&mut || check(compiler, hand), &mut || check(compiler, item), &mut || check(compiler, inline)],
        );
        for (name, time) in [("hand", hand), ("item", item), ("inline", inline)] {
            figure(&format!("{name}_ms_{columns}"), millis(time), "ms");
        }
        match columns {
            50 => bars.push(("hand_plus_ms_50", millis(item) - millis(hand), 10.0)),
            500 => {
                bars.push(("over_hand_500", over(item, hand), 1.75));
                bars.push(("inline_over_hand_500", over(inline, hand), 1.75));
            }
            _ => {}
        }
    }
    bars.push(("us_per_column", us_per_column(compiler), 250.0));
    for (name, value, at_most) in bars {
        bar(name, value, at_most);
    }
}

/// The expansion time of one more column, in microseconds.
fn us_per_column(compiler: &Rustc) -> f64 {
    let [few, many] = [5, 500].map(|columns| compiler.write(&format!("expanded_{columns}"), &item(columns)));
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| compiler.expansion(&many).as_secs_f64() - compiler.expansion(&few).as_secs_f64())
        .collect();
    times.sort_by(f64::total_cmp);
    times.get(ROUNDS / 2).map_or(0.0, |median| median / 495.0 * 1e6)
}

fn expansion(criterion: &mut Criterion) {
    let compiler = Rustc::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("expansion"));
    let mut group = criterion.benchmark_group("expansion");
    group.sample_size(10);
    for (name, text) in [("by hand", by_hand(50)), ("item", item(50)), ("inline", inline(50))] {
        let source = compiler.write(&name.replace(' ', "_"), &text);
        group.bench_function(BenchmarkId::new(name, 50), |bench| bench.iter(|| check(&compiler, &source)));
    }
    group.finish();
    figures(&compiler);
}

criterion_group!(benches, expansion);
criterion_main!(benches);
