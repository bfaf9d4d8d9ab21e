//! What `flow!` costs the compiler, against the same flow written by hand over the run-time API.
//!
//! `cargo bench -p columnar-tests --bench expansion`
//!
//! Each program is checked by `rustc --emit=metadata`, as `cargo check` does it, against the library
//! that this benchmark was built with.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use columnar_tests::figures::{bar, figure, medians, over};
use columnar_tests::rustc::Rustc;
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

/// A struct with a field for each column and a function that declares it, and an enum to match on in
/// events: what the macro offers, as far as a hand can.
fn by_hand(columns: usize) -> String {
    let (mut fields, mut functions, mut calls, mut names) = <(String, String, String, String)>::default();
    let (mut variants, mut shown, mut parsed) = <(String, String, String)>::default();
    for at in 0..columns {
        let views = match at {
            0 => "[user.latest()]".to_owned(),
            _ if at.is_multiple_of(3) => "[before.latest(), this()]".to_owned(),
            _ => "[before.latest().named(\"before\"), user.window(3)]".to_owned(),
        };
        let before = if at == 0 { "user".to_owned() } else { format!("c{}", at - 1) };
        let _ = writeln!(fields, "    pub c{at}: Column,");
        let _ = writeln!(
            functions,
            "    #[allow(unused)] fn c{at}(user: &Column, before: &Column) -> Column {{ \
                 column(\"c{at}\", {views}, prompt(\"instruction {at}\")) }}"
        );
        let _ = writeln!(calls, "        let c{at} = Self::c{at}(&user, &{before});");
        let _ = write!(names, "c{at}, ");
        let _ = write!(variants, "C{at}, ");
        let _ = writeln!(shown, "            Self::C{at} => \"c{at}\",");
        let _ = writeln!(parsed, "            \"c{at}\" => Self::C{at},");
    }
    format!(
        "use columnar::prelude::*;
pub struct Chat {{
    pub user: Column,
{fields}}}
impl Chat {{
{functions}
    pub fn new() -> Self {{
        let user = source(\"user\");
{calls}
        Self {{ user, {names} }}
    }}
}}
impl Default for Chat {{ fn default() -> Self {{ Self::new() }} }}
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChatColumn {{ {variants} }}
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

/// Checks a program, and returns nothing: who calls it measures it.
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
            500 => bars.push(("over_hand_500", over(item, hand), 1.75)),
            _ => {}
        }
    }
    for (name, value, at_most) in bars {
        bar(name, value, at_most);
    }
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
