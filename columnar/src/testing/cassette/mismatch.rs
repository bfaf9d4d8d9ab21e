//! What is said of a request that nobody recorded: which recording is the nearest, and where they part.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::tape::{Cell, Recording};

/// How many equal lines are shown on each side of a difference.
const AROUND: usize = 3;

/// How many different lines are shown of each request.
const SHOWN: usize = 5;

/// How many characters of a line are shown.
const WIDTH: usize = 100;

/// The end of a sentence about a cell whose request, in these lines, is in none of the recordings.
pub(super) fn tell(cell: &Cell, asked: &[String], recordings: &BTreeMap<Vec<String>, Recording>) -> String {
    let mut text = format!("for `{}` at step {}", cell.column, cell.step);
    let nearest = recordings.iter().min_by_key(|(lines, recording)| {
        (Difference::of(lines, asked).lines(), recording.cell != *cell, &recording.cell)
    });
    if let Some((recorded, Recording { cell, .. })) = nearest {
        let difference = Difference::of(recorded, asked);
        // A `String` takes everything.
        let _ = write!(
            text,
            "\nthe nearest one is for `{}` at step {}, and differs first in {}; - is recorded, + is asked:\n{}",
            cell.column,
            cell.step,
            difference.place(),
            difference.shown(),
        );
    }
    text
}

/// Where two requests are not the same.
struct Difference<'l> {
    recorded: &'l [String],
    asked: &'l [String],
    /// How many lines they begin with that are the same.
    before: usize,
    /// How many lines they end with that are the same.
    behind: usize,
}

impl<'l> Difference<'l> {
    fn of(recorded: &'l [String], asked: &'l [String]) -> Self {
        let before = recorded.iter().zip(asked).take_while(|(one, other)| one == other).count();
        let rest = |lines: &'l [String]| lines.iter().skip(before).rev();
        let behind = rest(recorded).zip(rest(asked)).take_while(|(one, other)| one == other).count();
        Self { recorded, asked, before, behind }
    }

    /// How much they differ.
    fn lines(&self) -> usize {
        self.recorded.len() + self.asked.len() - 2 * (self.before + self.behind)
    }

    /// The lines of one of them that the other one has not.
    fn own<'a>(&self, lines: &'a [String]) -> &'a [String] {
        lines.get(self.before..lines.len() - self.behind).unwrap_or_default()
    }

    /// The first line that differs.
    fn first(&self) -> &'l str {
        let first = self.own(self.asked).first().or(self.own(self.recorded).first());
        first.map_or("", String::as_str)
    }

    /// The last line before the first that differs which begins a section, unless that one does itself.
    fn heading(&self) -> Option<(usize, &'l str)> {
        let is_heading = |line: &str| !line.starts_with(' ');
        if is_heading(self.first()) {
            return None;
        }
        let mut same = self.asked.iter().take(self.before).map(String::as_str).enumerate();
        same.rfind(|(_, line)| is_heading(line))
    }

    /// The section in which they differ first, in words.
    fn place(&self) -> String {
        let heading = self.heading().map_or(self.first(), |(_, line)| line);
        let is_message = |line: &&String| matches!(line.as_str(), "user" | "assistant");
        let same = self.asked.iter().take(self.before).filter(is_message).count();
        match heading.split([':', ' ']).next().unwrap_or_default() {
            "system" => "the instruction".to_owned(),
            "user" | "assistant" => format!("message {}", same + usize::from(self.heading().is_none())),
            "then" => "what is said behind the messages".to_owned(),
            setting => format!("`{setting}`"),
        }
    }

    fn shown(&self) -> String {
        let first = self.before.saturating_sub(AROUND);
        let heading = self.heading().filter(|(at, _)| *at < first);
        let mut text: Vec<String> = heading.iter().map(|(_, line)| equal(line)).collect();
        if heading.is_some_and(|(at, _)| at + 1 < first) {
            text.push(equal("  …"));
        }
        text.extend(self.asked.iter().take(self.before).skip(first).map(|line| equal(line)));
        let (recorded, asked) = (self.own(self.recorded), self.own(self.asked));
        text.extend(differing('-', recorded, asked));
        text.extend(differing('+', asked, recorded));
        if recorded.len().max(asked.len()) <= SHOWN {
            text.extend(
                self.asked.iter().skip(self.asked.len() - self.behind).take(AROUND).map(|line| equal(line)),
            );
        }
        text.join("\n")
    }
}

fn equal(line: &str) -> String {
    format!("  {}", cut(line, 0))
}

/// Lines that the other request has not, each shown where it begins to differ.
fn differing(mark: char, lines: &[String], others: &[String]) -> Vec<String> {
    let shown = lines.iter().enumerate().take(SHOWN).map(|(at, line)| {
        let other = others.get(at).map_or("", String::as_str);
        let same = line.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        format!("{mark} {}", cut(line, same))
    });
    let more = lines.len().saturating_sub(SHOWN);
    shown.chain((more > 0).then(|| format!("{mark}   … {more} more lines"))).collect()
}

/// The part of a line around a character.
fn cut(line: &str, around: usize) -> String {
    let length = line.chars().count();
    if length <= WIDTH {
        return line.to_owned();
    }
    let first = around.saturating_sub(WIDTH / 2).min(length - WIDTH);
    let before = if first > 0 { "…" } else { "" };
    let behind = if first + WIDTH < length { "…" } else { "" };
    let shown: String = line.chars().skip(first).take(WIDTH).collect();
    format!("{before}{shown}{behind}")
}
