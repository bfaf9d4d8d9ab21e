//! Draws the figures that benchmarks record, as the file `plots.toml` beside this program says.
//!
//! `cargo bench -p columnar-tests --features providers,sqlite --bench plots` draws what was measured before; `-- --run` measures
//! everything first, which takes half an hour.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use columnar_tests::figures::recorded;
use columnar_tests::plots::{Plot, Plots};

fn main() -> Result<(), Box<dyn Error>> {
    let Plots { plot } = toml::from_str(include_str!("plots.toml"))?;
    let is_run = env::args().any(|argument| argument == "--run");
    for plot in plot {
        if is_run {
            run(&plot.bench)?;
        }
        draw(&plot)?;
    }
    Ok(())
}

/// Runs a benchmark, which records its figures.
fn run(bench: &str) -> Result<(), Box<dyn Error>> {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["bench", "-p", "columnar-tests", "--features", "providers,sqlite", "--bench", bench]);
    if !command.status()?.success() {
        println!("FAILED {bench}: its plot has the figures so far");
    }
    Ok(())
}

fn draw(plot: &Plot) -> Result<(), Box<dyn Error>> {
    let Plot { bench, file, .. } = plot;
    let figures: BTreeMap<String, f64> = recorded(bench);
    match plot.draw(&figures)? {
        Some(svg) => {
            fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(file), svg)?;
            println!("{file}");
        }
        None => {
            println!(
                "SKIPPED {file}: run `cargo bench -p columnar-tests --features providers,sqlite --bench {bench}`"
            );
        }
    }
    Ok(())
}
