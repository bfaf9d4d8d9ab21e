//! Repositories as documents: the time of the first map against parsing alone and against the map of aider, the cost of an
//! edit by the size of the repository, and the entries that an edit changes.
//!
//! `cargo bench -p columnar-tests --features repo --bench repo` reads this repository, the standard library of `python3`
//! and crates from the registry of cargo. `-- FOLDER …` reads other ones in place of these two.
//! `-- --instructions` counts the instructions of an edit of 50,000 files and of 1,000, which needs valgrind and takes some
//! minutes.
//!
//! All of them are copies, which are edited. For aider, `python3 -m pip install aider-chat`; `COLUMNAR_PEERS_PYTHON` selects
//! another interpreter.

mod bills;
mod editor;
mod names;
mod parsing;
mod subjects;

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use columnar::documents::Kind;
use columnar::repo::Repository;
use columnar::tokens::{Counter, Estimate};
use columnar_tests::figures::{
    Contender, bar, counted_instructions, figure, medians, micros_each, over, ratio, self_timed_medians,
    timed,
};
use columnar_tests::peers::interpreter;
use editor::{Editor, OPERATIONS, Operation};
use parsing::Parsing;
use subjects::{Subject, generate, path, text};

const ROUNDS: usize = 5;
/// The edits of a repository.
const EDITS: usize = 50;
/// The number of files from which on the bars count.
const LARGE: usize = 1_000;
/// The limit of the map of aider: that of the library.
const LIMIT: usize = 32_000;
const AIDER_ROUNDS: usize = 3;
/// A limit with which each file with symbols has an entry, so that none of their changes is hidden.
const NO_LIMIT: usize = 1 << 40;

/// The sizes of generated repositories, in files.
const SIZES: [usize; 2] = [1_000, 50_000];
/// The edits of a measurement of a generated repository.
const STEPS: usize = 100;

/// A repository that was scanned.
fn scanned(root: &Path) -> Repository {
    let mut repo = Repository::open(root).expect("a folder");
    repo.scan().expect("nothing is selected");
    repo
}

/// Prints a ratio: with its bar, if the repository is large enough for it.
fn report(subject: &Subject, name: &str, files: usize, ratio: f64, at_most: f64) {
    let name = format!("{}.{name}", subject.name);
    if files >= LARGE { bar(&name, ratio, at_most) } else { figure(&name, ratio, "x") }
}

/// The size of the map.
fn sizes(subject: &Subject, repo: &Repository) {
    let documents = repo.documents();
    let entries = documents.iter().filter(|(key, _)| key.kind() == Kind::Symbol);
    let tokens: Vec<_> =
        entries.map(|(key, text)| Estimate.count(text) + Estimate.count(key.path())).collect();
    let around = documents.tree().into_iter().chain(documents.legend()).map(|text| Estimate.count(text));
    let parsing = Parsing::new(subject.root(), repo.paths());
    for (name, count, unit) in [
        ("files", repo.paths().count(), "files"),
        ("files_with_grammar", parsing.files(), "files"),
        ("entries", tokens.len(), "entries"),
        ("map_tokens", tokens.iter().chain(&around.collect::<Vec<_>>()).sum(), "tokens"),
    ] {
        figure(&format!("{}.{name}", subject.name), ratio(count, 1), unit);
    }
}

/// The times of scans, and of parsing alone. Both read the files.
fn scans(subject: &Subject, repo: &mut Repository) -> Duration {
    let root = subject.root();
    let parsing = Parsing::new(root, repo.paths());
    let mut cold = || {
        let mut repo = Repository::open(root).expect("a folder");
        timed(|| drop(black_box(repo.scan())))
    };
    let mut again = || timed(|| assert!(repo.scan().expect("nothing is selected").is_empty()));
    let mut contenders: [Contender<'_>; 3] =
        [Box::new(&mut cold), Box::new(|| timed(|| assert!(parsing.run() > 0))), Box::new(&mut again)];
    let times = self_timed_medians(ROUNDS, &mut contenders);
    let &[cold, parse, again] = &*times else { return Duration::ZERO };
    for (name, time) in [("cold_ms", cold), ("parse_ms", parse), ("unchanged_scan_ms", again)] {
        figure(&format!("{}.{name}", subject.name), time.as_secs_f64() * 1e3, "ms");
    }
    report(subject, "map_cold_over_parse", parsing.files(), over(cold, parse), 1.6);
    cold
}

/// The cost of edits. The library reads the file after each one.
fn edits(subject: &Subject, repo: &mut Repository, cold: Duration) {
    let mut unlimited = Repository::open(subject.root()).expect("a folder").limit(NO_LIMIT);
    unlimited.scan().expect("nothing is selected");
    let Some(mut editor) = Editor::new(subject.root().to_owned(), repo.paths()) else {
        return println!("SKIPPED {}.entries_changed_per_edit: it has too few files to edit", subject.name);
    };
    let (mut limited, mut all, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..EDITS {
        let Some((path, operation)) = editor.edit() else {
            return println!("SKIPPED {}.entries_changed_per_edit: nothing to edit", subject.name);
        };
        let mut changed = 0;
        times.push(timed(|| changed = entries_changed(repo, &path)));
        limited.push((operation, changed));
        all.push((operation, entries_changed(&mut unlimited, &path)));
    }
    times.sort_unstable();
    let time = times.get(times.len() / 2).copied().unwrap_or_default();
    figure(&format!("{}.edit_ms", subject.name), time.as_secs_f64() * 1e3, "ms");
    figure(&format!("{}.edit_over_cold", subject.name), over(time, cold), "x");
    let name = format!("{}.entries_changed_per_edit", subject.name);
    let of_limit = spread(&format!("{name}_in_limit"), &limited);
    figure(&format!("{name}_in_limit"), of_limit, "entries");
    for (operation, _) in OPERATIONS {
        let of = all.iter().filter(|(made, _)| *made == operation).map(|(_, count)| *count);
        figure(&format!("{name}_{}", operation.name()), mean(&of.collect::<Vec<_>>()), "entries");
    }
    bar(&name, spread(&name, &all), 2.0);
}

/// The number of entries that the library changes for an edit of a file.
fn entries_changed(repo: &mut Repository, path: &str) -> usize {
    let before = repo.documents().clone();
    let update = repo.changed([path]).expect("nothing is selected");
    let (_, changes) = before.apply(&update).expect("it follows from them");
    let keys = changes.added().iter().chain(changes.changed()).chain(changes.removed());
    keys.filter(|key| key.kind() == Kind::Symbol).count()
}

fn mean(counts: &[usize]) -> f64 {
    ratio(counts.iter().sum(), counts.len())
}

/// Prints how many entries the edits change, and returns the median.
fn spread(name: &str, counts: &[(Operation, usize)]) -> f64 {
    let mut counts: Vec<usize> = counts.iter().map(|(_, count)| *count).collect();
    counts.sort_unstable();
    let at = |part: usize| counts.get(counts.len() * part / 100).map_or(f64::NAN, |count| ratio(*count, 1));
    for (part, value) in [("mean", mean(&counts)), ("p90", at(90)), ("most", at(99))] {
        figure(&format!("{name}_{part}"), value, "entries");
    }
    at(50)
}

/// The first map against that of aider: all its files, the same limit, and no cache.
fn beside_aider(subject: &Subject, files: usize, cold: Duration) {
    let interpreter = interpreter();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/repo/aider_map.py");
    let run = Command::new(&interpreter)
        .arg(script)
        .arg(subject.root())
        .args([LIMIT.to_string(), AIDER_ROUNDS.to_string()])
        .stderr(Stdio::null())
        .output();
    let shown = run.ok().filter(|run| run.status.success()).map(|run| run.stdout);
    let shown = shown.map(|text| String::from_utf8_lossy(&text).into_owned());
    let numbers = shown.and_then(|shown| {
        let (seconds, tokens) = shown.trim().lines().last()?.split_once(' ')?;
        Some((seconds.parse::<f64>().ok()?, tokens.parse::<f64>().ok()?))
    });
    let Some((seconds, tokens)) = numbers else {
        return println!(
            "SKIPPED {}.map_cold_over_aider: {interpreter} has no aider, or it failed \
             ({interpreter} -m pip install aider-chat; COLUMNAR_PEERS_PYTHON may name another)",
            subject.name
        );
    };
    figure(&format!("{}.aider_ms", subject.name), seconds * 1e3, "ms");
    figure(&format!("{}.aider_map_tokens", subject.name), tokens, "tokens");
    report(subject, "map_cold_over_aider", files, cold.as_secs_f64() / seconds, 0.2);
}

/// Edits the files of a generated repository, always another one.
fn edit_generated(root: &Path, repo: &mut Repository, files: usize, edits: std::ops::Range<usize>) {
    for edit in edits {
        // A prime, so that the edits are all over the files.
        let file = edit * 7919 % files;
        fs::write(root.join(path(file)), text(file, edit)).expect("a file");
        black_box(repo.changed([path(file)]).expect("nothing is selected"));
    }
}

/// The times of an edit, and of the first map of a large repository.
fn generated() {
    let [few, many] = SIZES.map(|files| {
        let folder = tempfile::tempdir().expect("a folder");
        generate(folder.path(), files);
        let mut repo = None;
        let cold = timed(|| repo = Some(scanned(folder.path())));
        (files, folder, repo.expect("it was scanned"), cold, 0)
    });
    figure("generated.cold_50k_ms", many.3.as_secs_f64() * 1e3, "ms");
    let [few, many] = [few, many].map(|(files, folder, mut repo, _, mut edits)| {
        move || {
            edit_generated(folder.path(), &mut repo, files, edits..edits + STEPS);
            edits += STEPS;
        }
    });
    let (mut few, mut many) = (few, many);
    let [few, many] = medians(ROUNDS, [&mut few, &mut many]);
    let steps = u32::try_from(STEPS).expect("a small number");
    figure("generated.edit_1k_us", micros_each(few, steps), "us");
    figure("generated.edit_50k_us", micros_each(many, steps), "us");
    figure("map_edit_50k_over_1k_in_time", over(many, few), "x");
}

/// The flag with which this program starts itself. The folder and the numbers of files and edits follow it.
const COUNTED: &str = "--counted";

fn counted_edits(args: &[String]) -> Option<()> {
    let [folder, files, edits] = args else { return None };
    let folder = Path::new(folder);
    edit_generated(folder, &mut scanned(folder), files.parse().ok()?, 0..edits.parse().ok()?);
    Some(())
}

/// The instructions of an edit: the difference between two runs of this program, so the first map is not counted.
fn instructions() -> Result<(), String> {
    let mut counts = [0.0; SIZES.len()];
    for (count, files) in counts.iter_mut().zip(SIZES) {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let run = |edits: usize| {
            generate(folder.path(), files);
            let folder = folder.path().display().to_string();
            counted_instructions(&[COUNTED.into(), folder, files.to_string(), edits.to_string()])
        };
        *count = (run(5 * STEPS)? - run(STEPS)?) / ratio(4 * STEPS, 1);
        figure(&format!("generated.edit_{}k_instructions", files / 1000), *count, "instructions");
    }
    let [few, many] = counts;
    bar("map_edit_50k_over_1k", many / few, 1.5);
    Ok(())
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some((COUNTED, rest)) = args.split_first().map(|(first, rest)| (&**first, rest)) {
        return counted_edits(rest).expect("a folder and two numbers");
    }
    if args.iter().any(|arg| arg == "--instructions") {
        return instructions().unwrap_or_else(|error| println!("SKIPPED map_edit_50k_over_1k: {error}"));
    }
    let folders: Vec<String> = args.into_iter().filter(|arg| !arg.starts_with('-')).collect();
    for subject in Subject::all(&folders) {
        let mut repo = scanned(subject.root());
        sizes(&subject, &repo);
        let cold = scans(&subject, &mut repo);
        beside_aider(&subject, repo.paths().count(), cold);
        let other = subject.again();
        edits(&subject, &mut repo, cold);
        bills::print(&other);
        println!();
    }
    generated();
    println!(
        "`-- --instructions` counts the instructions of an edit, which do not depend on the load of the machine"
    );
}
