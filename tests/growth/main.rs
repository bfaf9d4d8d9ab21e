//! A law of everything that others send: twice the input costs at most 2.3 times the instructions.
//!
//! Instructions do not depend on the load of the machine, so each entrance runs alone under valgrind, at two sizes. The cost
//! of the smallest input, which is the cost of starting, does not count.
//!
//! ```sh
//! cargo test -p columnar-tests --all-features --test growth           # of all entrances
//! cargo test -p columnar-tests --all-features --test growth -- urls   # of those with this word in the name
//! ```

#![allow(clippy::panic, reason = "a panic is how the law fails")]

#[path = "../../examples/coder/blocks.rs"]
#[allow(dead_code, reason = "the example has the rest")]
mod blocks;
mod declared;
mod sent;
mod trees;

use std::env;
use std::process::{Command, ExitCode};

use columnar_tests::figures::counted_instructions;

/// Work with an input of this size.
type Work = fn(usize);

struct Entrance {
    name: &'static str,
    /// A size at which quadratic work would be the larger part.
    size: usize,
    work: Work,
}

const ENTRANCES: &[Entrance] = &[
    Entrance { name: "urls of a text of brackets", size: 4_000, work: sent::brackets },
    Entrance { name: "urls of a text of addresses", size: 1_000, work: sent::addresses },
    Entrance { name: "a reply of braces", size: 2_000, work: sent::braces },
    Entrance { name: "a reply of unfinished blocks", size: 1_000, work: sent::blocks },
    Entrance { name: "a position with gaps", size: 2_000, work: sent::gaps },
    Entrance {
        name: "a position with gaps that the flow does not have",
        size: 2_000,
        work: sent::foreign_gaps,
    },
    Entrance { name: "rows as JSON Lines", size: 500, work: sent::json_lines },
    Entrance { name: "a text in the markup of contexts", size: 4_000, work: sent::markup },
    Entrance { name: "an update of documents", size: 500, work: sent::update },
    Entrance { name: "an edge with one source again and again", size: 2_000, work: trees::repeated_source },
    Entrance { name: "an imported chain", size: 500, work: trees::chain },
    Entrance { name: "an imported star", size: 500, work: trees::star },
    Entrance { name: "imported pictures", size: 250, work: trees::pictures },
    Entrance { name: "imported links", size: 250, work: trees::links },
    Entrance { name: "a flow of columns", size: 250, work: declared::columns },
    Entrance { name: "a flow of mistakes", size: 250, work: declared::mistakes },
    Entrance { name: "a push into each source", size: 1_000, work: declared::pushes },
];

/// The most instructions of twice the input, for each instruction of the input.
const MOST: f64 = 2.3;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // The child process, whose instructions are counted.
    if let [flag, name, size] = &arguments[..]
        && flag == "--work"
    {
        let entrance = ENTRANCES.iter().find(|entrance| entrance.name == name).expect("it is in the list");
        (entrance.work)(size.parse().expect("a size is a number"));
        return ExitCode::SUCCESS;
    }
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("SKIPPED: the law of growth needs valgrind, which is not installed");
        return ExitCode::SUCCESS;
    }
    let words: Vec<&String> = arguments.iter().filter(|word| !word.starts_with('-')).collect();
    let mut failures = 0;
    let chosen = ENTRANCES.iter().filter(|entrance| words.iter().all(|word| entrance.name.contains(*word)));
    for entrance in chosen {
        match growth(entrance) {
            Ok((each, growth)) => {
                let verdict = if growth <= MOST { "ok" } else { "TOO MUCH" };
                println!(
                    "{:<50} {each:>9.0} instructions a unit, twice the input {growth:.2}: {verdict}",
                    entrance.name
                );
                failures += usize::from(growth > MOST);
            }
            Err(error) => {
                println!("{}: {error}", entrance.name);
                failures += 1;
            }
        }
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The instructions of a unit of an input, and those of twice the input by those of the input.
fn growth(entrance: &Entrance) -> Result<(f64, f64), String> {
    let count = |size: usize| {
        counted_instructions(&["--work".to_owned(), entrance.name.to_owned(), size.to_string()])
    };
    let (none, once, twice) = (count(1)?, count(entrance.size)?, count(2 * entrance.size)?);
    let size = u32::try_from(entrance.size).map_or(f64::MAX, f64::from);
    Ok(((once - none) / size, (twice - none) / (once - none)))
}
