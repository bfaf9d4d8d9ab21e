//! The description of a request that is not recorded: the nearest recording, and the first difference.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::recording::{ATTACHMENT, RecordedCell, Recording};

/// The equal lines shown on each side of a difference.
const CONTEXT: usize = 3;

/// The different lines shown of each request.
const DIFFERENT: usize = 5;

/// The characters shown of a line.
const WIDTH: usize = 100;

/// Describes the request of a cell, which is given as its lines and not recorded, as the end of a sentence. `origins` are
/// the cells of the attachments.
pub(super) fn describe(
    cell: &RecordedCell,
    requested: &[String],
    origins: &[String],
    recordings: &BTreeMap<Vec<String>, Recording>,
) -> String {
    let mut text = format!("for `{}` at step {}", cell.column, cell.step);
    // Among equally near recordings, the recording of the same cell comes first, so that the message helps most.
    let nearest = recordings.iter().min_by_key(|(lines, recording)| {
        (RequestDifference::of(lines, requested).lines(), recording.cell != *cell, &recording.cell)
    });
    if let Some((recorded, Recording { cell, .. })) = nearest {
        let difference = RequestDifference::of(recorded, requested);
        // A `String` takes everything.
        let _ = write!(
            text,
            "\nthe nearest one is for `{}` at step {}, and differs first in {}; - is recorded, + is requested:\n{}",
            cell.column,
            cell.step,
            difference.section(origins),
            difference.shown(),
        );
    }
    text
}

/// The difference of two requests.
struct RequestDifference<'l> {
    recorded: &'l [String],
    requested: &'l [String],
    /// The number of equal lines at the beginning.
    before: usize,
    /// The number of equal lines at the end.
    after: usize,
}

impl<'l> RequestDifference<'l> {
    fn of(recorded: &'l [String], requested: &'l [String]) -> Self {
        let before = recorded.iter().zip(requested).take_while(|(one, other)| one == other).count();
        // The end excludes the equal beginning, because no line counts twice.
        let [one, other] = [recorded, requested].map(|lines| lines.iter().skip(before).rev());
        let after = one.zip(other).take_while(|(one, other)| one == other).count();
        Self { recorded, requested, before, after }
    }

    /// The number of lines that differ.
    fn lines(&self) -> usize {
        self.recorded.len() + self.requested.len() - 2 * (self.before + self.after)
    }

    /// The lines of one request that differ.
    fn own<'a>(&self, lines: &'a [String]) -> &'a [String] {
        lines.get(self.before..lines.len() - self.after).unwrap_or_default()
    }

    /// The first line that differs.
    fn first(&self) -> &'l str {
        let first = self.own(self.requested).first().or(self.own(self.recorded).first());
        first.map_or("", String::as_str)
    }

    /// The heading of the section of the first line that differs, unless that line is a heading itself.
    fn heading(&self) -> Option<(usize, &'l str)> {
        if is_heading(self.first()) {
            return None;
        }
        let mut same = self.requested.iter().take(self.before).map(String::as_str).enumerate();
        same.rfind(|(_, line)| is_heading(line))
    }

    /// The name of the section with the first difference.
    fn section(&self, origins: &[String]) -> String {
        let heading = self.heading().map_or(self.first(), |(_, line)| line);
        let same = self.requested.iter().take(self.before);
        let same = same.filter(|line| matches!(line.as_str(), "user" | "assistant")).count();
        let section = match heading.split([':', ' ']).next().unwrap_or_default() {
            "system" => "the instruction".to_owned(),
            "user" | "assistant" => format!("message {}", same + usize::from(self.heading().is_none())),
            "then" => "the follow-up messages".to_owned(),
            setting => format!("`{setting}`"),
        };
        if !self.first().starts_with(ATTACHMENT) {
            return section;
        }
        let same = self.requested.iter().take(self.before).map(String::as_str);
        let before = same.clone().filter(|line| line.starts_with(ATTACHMENT)).count();
        let own = same.rev().take_while(|line| !is_heading(line));
        let own = own.filter(|line| line.starts_with(ATTACHMENT)).count();
        // A recorded attachment that is not requested any more has no cell.
        let origin = self.own(self.requested).first().and_then(|_| origins.get(before));
        let origin = origin.map_or_else(String::new, |origin| format!(" ({origin})"));
        format!("attachment {} of {section}{origin}", own + 1)
    }

    fn shown(&self) -> String {
        let first = self.before.saturating_sub(CONTEXT);
        let heading = self.heading().filter(|(at, _)| *at < first);
        let gap = heading.filter(|(at, _)| at + 1 < first).map(|_| "  …");
        let before = self.requested.iter().take(self.before).skip(first).map(String::as_str);
        let recorded = self.own(self.recorded);
        let requested = self.own(self.requested);
        // After lines that are left out, equal lines would seem to follow the shown lines.
        let is_whole = recorded.len().max(requested.len()) <= DIFFERENT;
        let after = self.requested.iter().skip(self.requested.len() - self.after).map(String::as_str);
        let after = after.take(if is_whole { CONTEXT } else { 0 });
        let before = heading.map(|(_, line)| line).into_iter().chain(gap).chain(before);
        let different = [differing('-', recorded, requested), differing('+', requested, recorded)].concat();
        let lines = before.map(equal).chain(different).chain(after.map(equal));
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Whether a line begins a section: `RecordedRequest::lines` indents all text from outside.
fn is_heading(line: &str) -> bool {
    !line.starts_with(' ') && !line.starts_with(ATTACHMENT)
}

fn equal(line: &str) -> String {
    format!("  {}", cut(line, 0))
}

/// The different lines of one request, each shown around the first difference.
fn differing(mark: char, lines: &[String], others: &[String]) -> Vec<String> {
    let shown = lines.iter().enumerate().take(DIFFERENT).map(|(at, line)| {
        let other = others.get(at).map_or("", String::as_str);
        let same = line.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
        format!("{mark} {}", cut(line, same))
    });
    let more = lines.len().saturating_sub(DIFFERENT);
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
    let after = if first + WIDTH < length { "…" } else { "" };
    let shown: String = line.chars().skip(first).take(WIDTH).collect();
    format!("{before}{shown}{after}")
}
