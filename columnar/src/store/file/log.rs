//! The log of the file store: the stored cells, with the checksums of values. The log is plain text, and this file
//! alone knows the format.
//!
//! ```text
//! done 0 3af0c1d24b5e6978
//! value user 0 22 9a2b4e8c11d0f3a7 5d0c81f4a2be9137
//! skipped topics 0 c0ffee1290ab34de
//! value topics 1 7 41be0c6622d1f9a8 {"calls":1,"attempts":1,"input":120,"output":8,"ms":640} 8e1f0a2b3c4d5e6f
//! done 3 77b1c2d3e4f50617
//! ```
//!
//! The first line is a `done` of 0 cells. The line of a value has the length in bytes and the checksum. The receipt
//! follows the checksum, or the step of a skipped cell. A `done` has the number of all earlier cells. The last word of
//! a line is the checksum of the words before. Checksums are XXH64, as `xxhsum` prints them.
//!
//! Format 1 had no receipts, and is the same otherwise.
//!
//! A line is durable before the file of its value exists, and `done` is written when the files are durable. So lines
//! after the last `done` may be torn, and values may be missing: such values were possibly never confirmed. A damaged
//! line before a `done` was complete once.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::io::{self, BufRead, Read};
use std::str::FromStr;

use twox_hash::XxHash64;

use crate::declare::Name;
use crate::history::Value;
use crate::store::Entry;

/// The stored cells, by column and step.
pub(super) type Cells = BTreeMap<Name, BTreeMap<usize, LoggedEntry>>;

/// The most bytes of a line. Receipts are some hundred bytes long.
pub(super) const MAX_LINE: u64 = 1 << 20;

/// The most bytes after the last line. An interrupted write leaves fewer bytes, and reading more bytes takes long.
const MAX_TORN: usize = 1 << 24;

/// The log's entry of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LoggedEntry {
    /// The checksum of the value; `None` for a skipped cell.
    pub(super) value: Option<Checksum>,
    pub(super) receipt: Option<Value>,
}

impl LoggedEntry {
    pub(super) fn of(entry: &Entry) -> Self {
        let value = entry.value.as_ref().map(|value| Checksum::of(value.as_bytes()));
        Self { value, receipt: entry.receipt.clone() }
    }
}

/// The length and hash of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Checksum {
    pub(super) len: u64,
    sum: u64,
}

impl Checksum {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { len: bytes.len() as u64, sum: sum(bytes) }
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let (len, sum) = text.split_once(' ')?;
        Self::of_words(len, sum)
    }

    fn of_words(len: &str, sum: &str) -> Option<Self> {
        Some(Self { len: number(len)?, sum: hexadecimal(sum)? })
    }
}

impl fmt::Display for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:016x}", self.len, self.sum)
    }
}

/// A parsed log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    /// Cells before the last `done`.
    pub(super) cells: Cells,
    /// Cells after the last `done`, whose values may be missing.
    pub(super) unconfirmed: Vec<(Name, usize, LoggedEntry)>,
    /// Whether the log ends in the middle of a line.
    pub(super) torn: bool,
}

impl Log {
    /// Reads a log line by line, up to the first bytes that are no line: the file may be of any size, and memory is
    /// taken for lines alone.
    ///
    /// # Errors
    ///
    /// The outer error is about reading, the inner error about the log.
    pub(super) fn read(mut bytes: impl BufRead) -> io::Result<Result<Self, String>> {
        let mut log = Self::default();
        let mut line = Vec::new();
        let mut count = 0;
        for at in 1.. {
            line.clear();
            // One byte more than a line can have is enough to notice that these bytes are no line.
            bytes.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
            // An emptied or zeroed log must not look like the log of a new store, which has this line.
            if at == 1 && line != done(0).as_bytes() {
                return Ok(Err("it does not begin as it should".into()));
            }
            if line.is_empty() {
                break;
            }
            let Some(words) = verified(&line) else {
                // A loss of power damages the end alone: a line is durable before the next `done` exists.
                if is_damage(line, bytes)? {
                    return Ok(Err(format!("line {at} is not as it was written")));
                }
                log.torn = true;
                break;
            };
            if let Err(reason) = log.add(words, at, &mut count) {
                return Ok(Err(reason));
            }
        }
        Ok(Ok(log))
    }

    #[cfg(test)]
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        Self::read(bytes).expect("the bytes are in memory")
    }

    /// Adds the words of a line.
    fn add(&mut self, words: &str, at: usize, count: &mut usize) -> Result<(), String> {
        if let Some(cell) = parse_cell(words) {
            self.unconfirmed.push(cell);
            *count += 1;
            return Ok(());
        }
        // The count detects lines that were removed as a whole, which no checksum of a line can detect.
        match words.strip_prefix("done ").and_then(number::<usize>) {
            Some(cells) if cells == *count => self.finish(at),
            Some(cells) => Err(format!("line {at} counts {cells} cells before it, and there are {count}")),
            None => Err(format!("line {at} has an unknown form")),
        }
    }

    fn finish(&mut self, at: usize) -> Result<(), String> {
        for (column, step, logged) in self.unconfirmed.drain(..) {
            if self.cells.entry(column.clone()).or_default().insert(step, logged).is_some() {
                return Err(format!("`{column}` at step {step} is listed twice before line {at}"));
            }
        }
        Ok(())
    }

    /// Whether the log ends with a `done`.
    pub(super) fn is_whole(&self) -> bool {
        self.unconfirmed.is_empty() && !self.torn
    }
}

/// A complete log of these cells.
pub(super) fn write(cells: &Cells) -> String {
    let mut text = done(0);
    let mut count = 0;
    for (column, steps) in cells {
        for (step, logged) in steps {
            text.push_str(&cell(column, *step, logged));
        }
        count += steps.len();
    }
    // The first line is the `done` of a log without cells.
    if count > 0 { text + &done(count) } else { text }
}

/// The line of a cell.
pub(super) fn cell(column: &Name, step: usize, logged: &LoggedEntry) -> String {
    let mut words = match logged.value {
        Some(checksum) => format!("value {column} {step} {checksum}"),
        None => format!("skipped {column} {step}"),
    };
    if let Some(receipt) = &logged.receipt {
        words.push(' ');
        words.push_str(&receipt.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"));
    }
    line(words)
}

/// A receipt, whose line breaks and backslashes are escaped in the log.
fn unescape(words: &str) -> Option<Value> {
    let mut text = String::with_capacity(words.len());
    let mut chars = words.chars();
    while let Some(char) = chars.next() {
        text.push(match char {
            '\\' => match chars.next()? {
                '\\' => '\\',
                'n' => '\n',
                'r' => '\r',
                _ => return None,
            },
            char => char,
        });
    }
    Some(text.into())
}

/// The line that marks all earlier cells as done.
pub(super) fn done(cells: usize) -> String {
    line(format!("done {cells}"))
}

/// The line of these words.
pub(super) fn line(mut words: String) -> String {
    let sum = sum(words.as_bytes());
    // Writing to a string cannot fail.
    let _ = writeln!(words, " {sum:016x}");
    words
}

/// The cell of a line.
fn parse_cell(words: &str) -> Option<(Name, usize, LoggedEntry)> {
    let (kind, rest) = words.split_once(' ')?;
    // The number of words before the receipt.
    let (is_value, count) = match kind {
        "value" => (true, 4),
        "skipped" => (false, 2),
        _ => return None,
    };
    // The receipt is the rest of the line, since receipts may have spaces.
    let mut words = rest.splitn(count + 1, ' ');
    let column = Name::new(words.next()?).ok()?;
    let step = number(words.next()?)?;
    let value = if is_value { Some(Checksum::of_words(words.next()?, words.next()?)?) } else { None };
    let receipt = words.next().map(|words| unescape(words).ok_or(())).transpose().ok()?;
    Some((column, step, LoggedEntry { value, receipt }))
}

/// The words of a line, if the checksum is right.
pub(super) fn verified(line: &[u8]) -> Option<&str> {
    let (words, sum_of_words) = str::from_utf8(line).ok()?.strip_suffix('\n')?.rsplit_once(' ')?;
    (hexadecimal(sum_of_words)? == sum(words.as_bytes())).then_some(words)
}

/// Whether bytes that are no line, with all later bytes, are more than the end of an interrupted write: a `done`
/// follows, or there are too many bytes.
fn is_damage(mut line: Vec<u8>, mut bytes: impl BufRead) -> io::Result<bool> {
    let mut left = MAX_TORN;
    loop {
        if ends_in_done(&line) {
            return Ok(true);
        }
        // A part of a line ends in later bytes, and a `done` may begin here.
        let kept = if line.ends_with(b"\n") { 0 } else { DONE.min(line.len()) };
        line.drain(..line.len() - kept);
        match bytes.by_ref().take(1 << 16).read_until(b'\n', &mut line)? {
            0 => return Ok(false),
            read if read > left => return Ok(true),
            read => left -= read,
        }
    }
}

/// More bytes than a `done` has.
const DONE: usize = 64;

/// Whether a damaged line ends in a complete `done`.
fn ends_in_done(line: &[u8]) -> bool {
    let line = line.get(line.len().saturating_sub(DONE)..).unwrap_or_default();
    // A damaged line break joins a line with the next `done`. The last match counts, since receipts may have this
    // word.
    let at = line.windows(5).rposition(|words| words == b"done ");
    at.and_then(|at| line.get(at..)).is_some_and(|done| verified(done).is_some())
}

fn sum(bytes: &[u8]) -> u64 {
    // The seed of `xxhsum`, with which people can check the files of values.
    XxHash64::oneshot(0, bytes)
}

/// Parses a number in its canonical spelling.
pub(super) fn number<T: FromStr>(text: &str) -> Option<T> {
    // `FromStr` accepts `+1` and `01`, too, and `01.txt` would be a second file of step 1.
    let plain = text.bytes().all(|digit| digit.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    if plain { text.parse().ok() } else { None }
}

/// Parses a checksum in its canonical spelling.
fn hexadecimal(text: &str) -> Option<u64> {
    let plain = text.len() == 16 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    if plain { u64::from_str_radix(text, 16).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(name: &str) -> Name {
        Name::new(name).expect("a name")
    }

    const SKIPPED: LoggedEntry = LoggedEntry { value: None, receipt: None };

    fn value(text: &str) -> LoggedEntry {
        LoggedEntry::of(&Entry::from(text))
    }

    fn cells() -> Cells {
        let paid = LoggedEntry::of(&Entry::from("").with_receipt("{\"id\":\"done 0\"} \\ \r\n"));
        let in_vain = LoggedEntry::of(&Entry::SKIPPED.with_receipt(""));
        let user = [(0, value("hello")), (1, SKIPPED), (7, paid), (8, in_vain)];
        let far = LoggedEntry { value: Some(Checksum { len: u64::MAX, sum: 1 }), receipt: None };
        [(name("user"), user.into()), (name("debate.critic"), [(usize::MAX, far)].into())].into()
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let text = write(&cells());
        let log = Log::parse(text.as_bytes()).expect("it can be read");
        assert_eq!(log, Log { cells: cells(), ..Log::default() });
        assert!(log.is_whole());
        let expected = "value debate.critic 18446744073709551615 18446744073709551615 0000000000000001 ";
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with(expected)), "{text}");
        // The checksum of `xxhsum`.
        assert_eq!(Checksum::of(b"hello").to_string(), "5 26c7827d889f6da3");
    }

    #[test]
    fn the_log_may_be_torn_anywhere_after_the_last_done_line() {
        let first = write(&cells());
        let paid = LoggedEntry::of(&Entry::from("x").with_receipt("{\"ms\":7,\"id\":\"done 1\"}"));
        let second = cell(&name("map"), 3, &SKIPPED) + &cell(&name("map"), 4, &paid);
        let text = first.clone() + &second;
        for end in first.len()..text.len() {
            for zeros in [0, 1, text.len() - end] {
                let torn = [&text.as_bytes()[..end], &vec![0; zeros]].concat();
                let log = Log::parse(&torn).unwrap_or_else(|error| panic!("{end}: {error}"));
                assert_eq!(log.cells, cells());
                assert_eq!(log.unconfirmed.len(), second[..end - first.len()].matches('\n').count());
            }
        }
    }

    #[test]
    fn s2_every_flipped_bit_before_the_last_done_line_is_detected() {
        let text = write(&cells()).into_bytes();
        let last_line = text.len() - done(5).len();
        for bit in 0..text.len() * 8 {
            let mut flipped = text.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            match Log::parse(&flipped) {
                // The log reads as if the line had not been written: earlier cells are there.
                Ok(log) if bit / 8 >= last_line => {
                    assert_eq!((log.unconfirmed.len(), log.torn), (5, true), "bit {bit}");
                }
                Ok(log) => panic!("bit {bit}: {log:?}"),
                Err(reason) => assert!(reason.starts_with("line ") || bit / 8 < done(0).len(), "{reason}"),
            }
        }
    }

    /// The whole log was read before the first line was looked at: a sparse file of a terabyte takes no room, and took
    /// all memory.
    #[test]
    fn s18_of_a_log_without_end_a_part_is_read() {
        let valid = write(&cells()) + &cell(&name("map"), 3, &SKIPPED);
        for byte in [0, b'x', b' '] {
            let endless = |text: &'static str| io::BufReader::new(text.as_bytes().chain(io::repeat(byte)));
            for text in ["", "done 0 3af0c1d24b5e6978"] {
                let error = Log::read(endless(text)).expect("it can be read").expect_err("it is none");
                assert_eq!(error, "it does not begin as it should");
            }
            for rest in ["", "value user 9 ", "x\n"] {
                let text = (valid.clone() + rest).leak();
                let error = Log::read(endless(text)).expect("it can be read").expect_err("it is damaged");
                assert_eq!(error, "line 9 is not as it was written");
            }
        }
    }

    /// A `done` after a damaged line is found at any place, also if the line has lost the end.
    #[test]
    fn s18_a_damaged_line_of_any_length_is_no_interrupted_write() {
        let valid = write(&cells());
        for len in [1, 100, (1 << 16) - 20, 1 << 16, (1 << 20) - 20, 1 << 20, (1 << 20) + 20, 3 << 20] {
            let damaged = valid.clone() + &"x".repeat(len);
            let torn = Log::parse(damaged.as_bytes()).expect("it was interrupted");
            assert_eq!((torn.cells, torn.torn), (cells(), true));
            for end in ["", "\n"] {
                let error =
                    Log::parse((damaged.clone() + end + &done(5)).as_bytes()).expect_err("it is damaged");
                assert_eq!(error, "line 8 is not as it was written", "{len}");
            }
        }
    }

    #[test]
    fn s3_missing_and_duplicate_lines_are_detected() {
        let text = write(&cells());
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for at in 1..lines.len() - 1 {
            let without = [&lines[..at], &lines[at + 1..]].concat().concat();
            assert!(Log::parse(without.as_bytes()).is_err(), "{without}");
            let twice = [&lines[..=at], &lines[at..]].concat().concat();
            assert!(Log::parse(twice.as_bytes()).is_err(), "{twice}");
        }
        let twice = lines.concat() + lines[1] + &done(6);
        let error = Log::parse(twice.as_bytes()).expect_err("a cell is stored once");
        assert_eq!(error, "`debate.critic` at step 18446744073709551615 is listed twice before line 9");
    }

    #[test]
    fn i6_impossible_lines_are_rejected() {
        for words in [
            "value user 18446744073709551616 1 0000000000000000",
            "value user -1 1 0000000000000000",
            "value user 01 1 0000000000000000",
            "value user 1 +1 0000000000000000",
            "value user 1 1 000000000000000",
            "value user 1 1 000000000000000G",
            "value user 1 1",
            "value ../user 1 1 0000000000000000",
            "value User 1 1 0000000000000000",
            "skipped user",
            "skipped user 1 1\\",
            "skipped user 1 \\x",
            "value user 1 1 0000000000000000 \\t",
            "skipped  1",
            "done",
            "done 1",
            "done x",
            "removed user 1",
            "value",
        ] {
            let text = done(0) + &line(words.to_owned());
            assert!(Log::parse(text.as_bytes()).is_err(), "{words}");
        }
        for bytes in [&b""[..], b"\n", b"\n\n\n", b"\xff\n", b"done 0", b" \n", b"0000000000000000\n"] {
            assert!(Log::parse(bytes).is_err());
            let log = Log::parse(&[done(0).as_bytes(), bytes].concat()).expect("nothing more was done");
            assert_eq!((log.cells.len(), log.unconfirmed.len(), log.torn), (0, 0, !bytes.is_empty()));
        }
    }
}
