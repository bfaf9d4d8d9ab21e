//! A table of many rows with three columns of functions, in processes that are killed and started again: rows a second, the
//! peak of memory, and whether the table is the same, beside pandas by hand and LangGraph.
//!
//! ```text
//! cargo bench -p columnar-tests --features csv,sqlite --bench rows [-- ROWS]     100,000 rows, all of it
//! cargo test  -p columnar-tests --features csv,sqlite --bench rows [-- ROWS]     5,000 rows, one kill, no peers
//! ```
//!
//! For the peers, `python3 -m pip install pandas==3.1.1 langgraph==1.2.22 langgraph-checkpoint-sqlite==3.1.2`. LangGraph with
//! its checkpoints in SQLite gets a fiftieth of the rows, and without them a tenth. `peers/rows.py` has the same functions.
//! A time is the one of whole processes, from the start to the table.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use columnar::BoxError;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::rows::{read_csv, write_csv};
use columnar::store::SqliteStore;
use columnar_tests::peers::interpreter;
use tempfile::TempDir;

/// The characters of a row.
const WIDTH: usize = 200;
/// The reports of a process about its progress, of which each is a place to be killed.
const REPORTS: usize = 300;

flow! {
    struct Reviews {
        source review;
        column words(review.latest) = async |review| review.split_whitespace().count().to_string();
        column longest(review.latest) = async |review| {
            let words = review.split_whitespace().rev();
            words.max_by_key(|word| word.len()).unwrap_or_default().to_owned()
        };
        column label(words.latest, longest.latest) = async |words, longest| format!("{longest}:{words}");
    }
}

/// Writes a table of random words.
fn make(path: &Path, rows: usize) -> io::Result<()> {
    let mut random = fastrand::Rng::with_seed(7);
    let mut file = BufWriter::new(File::create(path)?);
    writeln!(file, "review")?;
    for row in 0..rows {
        let mut text = row.to_string();
        while text.len() < WIDTH {
            text.push(' ');
            text.extend((0..random.usize(2..12)).map(|_| random.lowercase()));
        }
        writeln!(file, "{}", &text[..WIDTH])?;
    }
    file.flush()
}

/// Computes the table, or what is missing, and tells of the progress.
#[tokio::main(flavor = "current_thread")]
async fn compute(input: &Path, output: &Path, rows: usize) -> Result<(), BoxError> {
    let store = || SqliteStore::new(output.with_extension("db"), "reviews");
    println!("reading");
    read_csv(&store(), BufReader::new(File::open(input)?)).await?;
    let reviews = Reviews::open(OpenOptions::new(store()).recent(0)).await?;
    let mut run = reviews.run();
    let mut values = 0;
    while let Some(event) = run.try_next().await? {
        values += usize::from(matches!(event, Event::Value { .. }));
        if values % (3 * rows / REPORTS).max(1) == 0 {
            println!("{values}");
        }
    }
    drop(run);
    write_csv(&reviews, BufWriter::new(File::create(output)?)).await?;
    println!("peak {}", peak()?);
    Ok(())
}

/// The most memory of this process, in KiB.
fn peak() -> Result<u64, BoxError> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).ok_or("the system has no VmHWM")?;
    Ok(line.trim_end_matches("kB").trim().parse()?)
}

/// The cost of the processes that made a table.
struct Cost {
    rows: usize,
    time: Duration,
    /// The most memory of the last process: the others are killed before they tell.
    kib: u64,
}

/// Runs a process to its end, or kills it after this number of its reports. Returns its peak of memory if it ended.
fn run(command: &mut Command, reports: usize) -> Result<Option<u64>, BoxError> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let mut peak = None;
    for (report, line) in BufReader::new(child.stdout.take().ok_or("it is piped")?).lines().enumerate() {
        if report == reports {
            // On Unix this is SIGKILL: nothing of the process runs any more.
            child.kill()?;
        }
        peak = line?.strip_prefix("peak ").map(str::parse).transpose()?;
    }
    let is_well = child.wait()?.success() || reports < usize::MAX;
    if is_well { Ok(peak) } else { Err("the process failed".into()) }
}

/// Makes the table of all rows in processes of which some are killed, each with at most a quarter of the values.
fn compute_killed(input: &Path, table: &Path, rows: usize, kills: usize) -> Result<Cost, BoxError> {
    let begun = Instant::now();
    let mut command = Command::new(env::current_exe()?);
    command.arg("compute").args([input, table]).arg(rows.to_string());
    for _ in 0..kills {
        let reports = fastrand::usize(..REPORTS / 4);
        assert!(run(&mut command, reports)?.is_none(), "a process that is killed makes no table");
        println!("a process was killed after report {reports} of {REPORTS}");
    }
    let kib = run(&mut command, usize::MAX)?.ok_or("a process without a peak")?;
    Ok(Cost { rows, time: begun.elapsed(), kib })
}

/// Makes a table of the first rows with a peer; `None` if it is not installed.
fn peer(name: &str, input: &Path, expected: &str, rows: usize) -> Result<Option<Cost>, BoxError> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/rows.py");
    let table = input.with_file_name(name);
    let begun = Instant::now();
    let mut command = Command::new(interpreter());
    command.arg(script).arg(name).args([input, &table]).arg(rows.to_string());
    let Ok(Some(kib)) = run(&mut command, usize::MAX) else {
        println!("SKIPPED {name}: see above; COLUMNAR_PEERS_PYTHON may name an interpreter that has it");
        return Ok(None);
    };
    let time = begun.elapsed();
    let expected: String = expected.split_inclusive('\n').take(rows + 1).collect();
    assert!(fs::read_to_string(table)? == expected, "{name} makes another table");
    Ok(Some(Cost { rows, time, kib }))
}

#[expect(clippy::cast_precision_loss, reason = "a figure has a few digits")]
fn show(name: &str, cost: &Cost, first: &Cost) {
    let [rate, of_first] = [cost, first].map(|cost| cost.rows as f64 / cost.time.as_secs_f64());
    let [mib, of_first_mib] = [cost, first].map(|cost| cost.kib as f64 / 1024.0);
    let [speed, memory] = [rate / of_first, mib / of_first_mib];
    let Cost { rows, time, .. } = cost;
    println!("{name:18} {rows:>9} {time:>9.1?} {rate:>9.0} {speed:>7.3} {mib:>8.1} {memory:>7.2}");
}

fn main() -> Result<(), BoxError> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [command, input, output, rows] = &*arguments
        && command == "compute"
    {
        return compute(input.as_ref(), output.as_ref(), rows.parse()?);
    }
    // Cargo adds this argument to a benchmark and not to a test.
    let is_bench = arguments.iter().any(|argument| argument == "--bench");
    let rows = arguments.iter().find_map(|argument| argument.parse().ok());
    let rows = rows.unwrap_or(if is_bench { 100_000 } else { 5_000 });
    let folder = TempDir::new_in(env!("CARGO_TARGET_TMPDIR"))?;
    let [input, whole, killed] = ["in.csv", "whole.csv", "killed.csv"].map(|name| folder.path().join(name));
    make(&input, rows)?;
    let first = compute_killed(&input, &whole, rows, 0)?;
    let again = compute_killed(&input, &killed, rows, if is_bench { 3 } else { 1 })?;
    let table = fs::read_to_string(whole)?;
    assert!(table == fs::read_to_string(killed)?, "a table after kills is another one");
    println!("{rows} rows are the same, byte for byte");
    println!("{:18}      rows      time    rows/s   ratio peak MiB   ratio", "");
    show("columnar", &first, &first);
    show("columnar, killed", &again, &first);
    for (name, part) in [("pandas", 1), ("langgraph", 10), ("langgraph_sqlite", 50)] {
        if is_bench && let Some(cost) = peer(name, &input, &table, rows / part)? {
            show(name, &cost, &first);
        }
    }
    Ok(())
}
