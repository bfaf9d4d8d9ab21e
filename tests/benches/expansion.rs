//! What `flow!` costs the compiler, against the same flow written by hand over the run-time API.
//!
//! `cargo bench -p columnar-tests --bench expansion`
//!
//! Each program is checked by `rustc --emit=metadata`, as `cargo check` does it, against the library
//! that this benchmark was built with.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

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
struct Compiler {
    rustc: String,
    deps: PathBuf,
    library: PathBuf,
    folder: PathBuf,
}

impl Compiler {
    fn new() -> Self {
        let program = env::current_exe().expect("the benchmark is a file");
        let deps = program.parent().expect("in a folder").to_owned();
        let library = newest(&deps, "libcolumnar-", ".rlib").expect("the benchmark is linked with it");
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("expansion");
        fs::create_dir_all(&folder).expect("the target folder can be written to");
        Self { rustc: env::var("RUSTC").unwrap_or_else(|_| "rustc".into()), deps, library, folder }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.join(name).with_extension("rs");
        fs::write(&path, text).expect("the target folder can be written to");
        path
    }

    fn check(&self, source: &Path) {
        let status = Command::new(&self.rustc)
            .args(["--edition=2024", "--crate-type=lib", "--emit=metadata", "--cap-lints=allow", "--out-dir"])
            .arg(&self.folder)
            .arg("--extern")
            .arg(format!("columnar={}", self.library.display()))
            .arg("-L")
            .arg(format!("dependency={}", self.deps.display()))
            .arg(source)
            .status()
            .expect("there is a rustc");
        assert!(status.success(), "{} compiles", source.display());
    }
}

fn newest(folder: &Path, start: &str, end: &str) -> Option<PathBuf> {
    let files = fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    let wanted = files.filter(|path| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| name.starts_with(start) && name.ends_with(end))
    });
    wanted.max_by_key(|path| path.metadata().and_then(|metadata| metadata.modified()).ok())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn figures(compiler: &Compiler) {
    let mut bars = Vec::new();
    for columns in [5, 50, 500] {
        let sources = [("hand", by_hand(columns)), ("item", item(columns)), ("inline", inline(columns))]
            .map(|(name, text)| compiler.write(&format!("{name}_{columns}"), &text));
        let [hand, item, inline] = &sources;
        let [hand, item, inline] = medians(
            ROUNDS,
            [&mut || compiler.check(hand), &mut || compiler.check(item), &mut || compiler.check(inline)],
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
    let compiler = Compiler::new();
    let mut group = criterion.benchmark_group("expansion");
    group.sample_size(10);
    for (name, text) in [("by hand", by_hand(50)), ("item", item(50)), ("inline", inline(50))] {
        let source = compiler.write(&name.replace(' ', "_"), &text);
        group.bench_function(BenchmarkId::new(name, 50), |bench| bench.iter(|| compiler.check(&source)));
    }
    group.finish();
    figures(&compiler);
}

criterion_group!(benches, expansion);
criterion_main!(benches);
