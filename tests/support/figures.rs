//! Measuring by pairs, and figures that are printed and recorded.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The record of this program, which begins anew with the first figure of a run.
static RECORD: LazyLock<Option<File>> = LazyLock::new(|| {
    let program = env::current_exe().ok()?;
    // Cargo adds a hash to the name.
    let (bench, _) = program.file_stem()?.to_str()?.rsplit_once('-')?;
    let path = record_of(bench)?;
    fs::create_dir_all(path.parent()?).ok()?;
    File::create(path).ok()
});

/// The file with the figures of a benchmark: a line of JSON for each, in the folder `figures` of the build.
fn record_of(bench: &str) -> Option<PathBuf> {
    // Programs of Cargo are in `target/release/deps`.
    Some(env::current_exe().ok()?.ancestors().nth(3)?.join("figures").join(format!("{bench}.jsonl")))
}

/// The figures of the last run of a benchmark, by name.
pub fn recorded(bench: &str) -> BTreeMap<String, f64> {
    let record = record_of(bench).and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
    record.lines().filter_map(|line| serde_json::from_str::<(String, f64)>(line).ok()).collect()
}

fn record(name: &str, value: f64) {
    if let Some(mut file) = RECORD.as_ref() {
        writeln!(file, "{}", serde_json::json!([name, value])).expect("the folder of the build takes it");
    }
}

/// Prints and records a figure: `figure NAME = VALUE UNIT`.
pub fn figure(name: &str, value: f64, unit: &str) {
    println!("figure {name} = {value:.3} {unit}");
    record(name, value);
}

/// Prints and records a figure and its upper limit.
pub fn bar(name: &str, value: f64, at_most: f64) {
    record(name, value);
    let verdict = if value <= at_most { "met" } else { "not met" };
    println!("ratio {name} = {value:.3}, bar {at_most}: {verdict}");
}

/// Prints and records a figure and its lower limit.
pub fn floor(name: &str, value: f64, at_least: f64) {
    record(name, value);
    let verdict = if value >= at_least { "met" } else { "not met" };
    println!("ratio {name} = {value:.3}, bar at least {at_least}: {verdict}");
}

/// The median times of several contenders that run alternately, so a machine that slows down slows all of them. Each
/// has one warm-up run.
pub fn medians<const N: usize>(rounds: usize, contenders: [&mut dyn FnMut(); N]) -> [Duration; N] {
    let mut contenders = contenders.map(|contender| -> Contender<'_> { Box::new(|| timed(&mut *contender)) });
    let mut medians = self_timed_medians(rounds, &mut contenders).into_iter();
    std::array::from_fn(|_| medians.next().unwrap_or_default())
}

/// A contender that measures the time itself.
pub type Contender<'a> = Box<dyn FnMut() -> Duration + 'a>;

/// The same as [`medians`] for any number of contenders that measure the times themselves.
pub fn self_timed_medians(rounds: usize, contenders: &mut [Contender<'_>]) -> Vec<Duration> {
    let mut times = vec![Vec::with_capacity(rounds); contenders.len()];
    for round in 0..=rounds {
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let took = contender();
            // Round 0 warms up: caches, lazy values, the allocator.
            if round > 0 {
                times.push(took);
            }
        }
    }
    times.into_iter().map(median).collect()
}

/// The duration of a call.
pub fn timed(work: impl FnOnce()) -> Duration {
    let started = Instant::now();
    work();
    started.elapsed()
}

/// The median of some durations.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The ratio of two durations.
pub fn over(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64()
}

/// The microseconds of one of this number of equal parts.
pub fn micros_each(time: Duration, count: u32) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(count)
}

/// The ratio of two counts.
#[expect(clippy::cast_precision_loss, reason = "a figure has a few digits")]
pub fn ratio(a: usize, b: usize) -> f64 {
    a as f64 / b as f64
}

/// The resident memory of this program in bytes, with the overhead of the allocator; `None` if the system does not
/// report the memory.
pub fn resident() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0)
}

/// Makes something of this number of items, and returns the growth of the program per item. Memory that was freed before
/// is used again and does not count.
pub fn grown<T>(count: u32, make: impl FnOnce() -> T) -> (T, Option<f64>) {
    let before = resident();
    let made = make();
    let growth = resident().zip(before).map(|(after, before)| (after - before) / f64::from(count));
    (made, growth)
}

/// The number of instructions of this program with these arguments, which does not depend on the load of the machine.
///
/// # Errors
///
/// If valgrind is not installed, or the program fails under it.
pub fn counted_instructions(args: &[String]) -> Result<f64, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let run = Command::new("valgrind")
        // Only instructions are read, so the slow simulation of caches and the file are left out.
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args(args)
        .output()
        .map_err(|error| format!("valgrind does not start: {error}"))?;
    let report = String::from_utf8_lossy(&run.stderr);
    let count =
        report.lines().find_map(|line| line.split_once("I   refs:")?.1.trim().replace(',', "").parse().ok());
    count.filter(|_| run.status.success()).ok_or_else(|| format!("valgrind did not count:\n{report}"))
}
