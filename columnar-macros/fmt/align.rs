//! The `=` of columns, one below the other.

/// A column on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AlignedLine {
    /// All text before the `=`.
    pub(crate) head: String,
    /// The `=`, and all text behind.
    pub(crate) step: String,
}

/// A part of a flow, and whether its `=` may move.
pub(crate) enum Laid {
    Fixed(String),
    Line(AlignedLine),
}

/// The most spaces that may be before a `=`, beside the one that always is.
const MOST_SPACES: usize = 24;

/// The texts of columns that follow each other, in `room` characters.
///
/// The `=` are below each other where all lines have room for that. Otherwise the longest heads are left out, one after
/// the other, until the other lines have room.
pub(crate) fn align(lines: &[AlignedLine], room: usize) -> Vec<String> {
    let target = target(lines, room);
    let texts = lines.iter().map(|line| {
        let head = width(&line.head);
        let spaces = if width_of(line) > room { 0 } else { target.saturating_sub(head) };
        format!("{}{} {}", line.head, " ".repeat(spaces), line.step)
    });
    texts.collect()
}

/// The width of the heads.
fn target(lines: &[AlignedLine], room: usize) -> usize {
    let mut aligned: Vec<&AlignedLine> = lines.iter().filter(|line| width_of(line) <= room).collect();
    aligned.sort_by_key(|line| width(&line.head));
    let narrowest = aligned.first().map_or(0, |line| width(&line.head));
    while let Some(widest) = aligned.last().map(|line| width(&line.head)) {
        let fits = aligned.iter().all(|line| widest + 1 + width(&line.step) <= room);
        if fits && widest - narrowest <= MOST_SPACES {
            return widest;
        }
        aligned.pop();
    }
    0
}

fn width_of(line: &AlignedLine) -> usize {
    width(&line.head) + 1 + width(&line.step)
}

/// The number of characters.
pub(crate) fn width(text: &str) -> usize {
    text.chars().count()
}
