//! The log of a store in files: which cells are stored, and what their values are recognised by. Text that
//! everybody can read; this file alone knows its form.
//!
//! ```text
//! value user 0 22 9a2b4e8c11d0f3a7 5d0c81f4a2be9137
//! skipped topics 0 c0ffee1290ab34de
//! done 2 77b1c2d3e4f50617
//! ```
//!
//! A value has its length in bytes and its checksum; `done` says how many cells stand before it. The last word
//! of a line is the checksum of the words before it. Checksums are those of XXH64, which `xxhsum` prints, too.
//!
//! Lines are made durable before the files of their values are there, and `done` is written when those are
//! durable. So what stands behind the last `done` has not been confirmed to anybody: lines there may be torn, and
//! values may be missing. A damaged line before a `done` has been whole.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::str::FromStr;

use twox_hash::XxHash64;

use crate::name::Name;

/// Which cells are stored.
pub(super) type Cells = BTreeMap<Name, BTreeMap<usize, Kept>>;

/// What is stored of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    Value(Seal),
    Skipped,
}

/// What bytes are recognised by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seal {
    pub(super) len: u64,
    sum: u64,
}

impl Seal {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { len: bytes.len() as u64, sum: sum(bytes) }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (len, sum) = text.split_once(' ')?;
        Some(Self { len: number(len)?, sum: hexadecimal(sum)? })
    }
}

impl fmt::Display for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:016x}", self.len, self.sum)
    }
}

/// What a log says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// What is done.
    pub(super) cells: Cells,
    /// What may be done or not.
    pub(super) begun: Vec<(Name, usize, Kept)>,
    /// It ends in the middle of a line.
    pub(super) torn: bool,
}

impl Log {
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut log = Self::default();
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..);
        let mut count = 0;
        while let Some((line, at)) = lines.next() {
            let Some(words) = verified(line) else {
                if lines.any(|(line, _)| verified(line).is_some_and(|words| words.starts_with("done "))) {
                    return Err(format!("line {at} is not as it was written"));
                }
                log.torn = true;
                break;
            };
            match Line::parse(words) {
                Some(Line::Cell(column, step, kept)) => {
                    count += 1;
                    log.begun.push((column, step, kept));
                }
                Some(Line::Done(cells)) if cells == count => log.finish(at)?,
                Some(Line::Done(cells)) => {
                    return Err(format!(
                        "line {at} says that {cells} cells stand before it, and there are {count}"
                    ));
                }
                None => return Err(format!("line {at} says nothing that is known here")),
            }
        }
        Ok(log)
    }

    fn finish(&mut self, at: usize) -> Result<(), String> {
        for (column, step, kept) in self.begun.drain(..) {
            if self.cells.entry(column.clone()).or_default().insert(step, kept).is_some() {
                return Err(format!("`{column}` at step {step} stands before line {at} twice"));
            }
        }
        Ok(())
    }

    /// Whether everything is done and nothing is torn.
    pub(super) fn is_whole(&self) -> bool {
        self.begun.is_empty() && !self.torn
    }
}

/// A whole log of cells that are done.
pub(super) fn write(cells: &Cells) -> String {
    let mut text = String::new();
    let mut count = 0;
    for (column, steps) in cells {
        for (step, kept) in steps {
            text.push_str(&cell(column, *step, *kept));
        }
        count += steps.len();
    }
    text + &done(count)
}

/// The line of a cell.
pub(super) fn cell(column: &Name, step: usize, kept: Kept) -> String {
    match kept {
        Kept::Value(seal) => line(format!("value {column} {step} {seal}")),
        Kept::Skipped => line(format!("skipped {column} {step}")),
    }
}

/// The line that says that the cells before it are done.
pub(super) fn done(cells: usize) -> String {
    line(format!("done {cells}"))
}

fn line(mut words: String) -> String {
    let sum = sum(words.as_bytes());
    // Writing to a text does not fail.
    let _ = writeln!(words, " {sum:016x}");
    words
}

enum Line {
    Cell(Name, usize, Kept),
    Done(usize),
}

impl Line {
    fn parse(words: &str) -> Option<Self> {
        let (kind, rest) = words.split_once(' ')?;
        if kind == "done" {
            return Some(Self::Done(number(rest)?));
        }
        let (column, rest) = rest.split_once(' ')?;
        let column = Name::new(column).ok()?;
        match kind {
            "value" => {
                let (step, seal) = rest.split_once(' ')?;
                Some(Self::Cell(column, number(step)?, Kept::Value(Seal::parse(seal)?)))
            }
            "skipped" => Some(Self::Cell(column, number(rest)?, Kept::Skipped)),
            _ => None,
        }
    }
}

/// The words of a line, if they are those that were written.
fn verified(line: &[u8]) -> Option<&str> {
    let (words, sum_of_words) = str::from_utf8(line).ok()?.strip_suffix('\n')?.rsplit_once(' ')?;
    (hexadecimal(sum_of_words)? == sum(words.as_bytes())).then_some(words)
}

fn sum(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// A number in its only spelling.
pub(super) fn number<T: FromStr>(text: &str) -> Option<T> {
    let plain = text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// A checksum in its only spelling.
fn hexadecimal(text: &str) -> Option<u64> {
    let plain = text.len() == 16 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if plain { u64::from_str_radix(text, 16).ok() } else { None }
}
