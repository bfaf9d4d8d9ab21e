//! The place of each box and each line. Lengths are in pixels.
#![expect(clippy::indexing_slicing, reason = "an index is a column of the flow, or a level that one has")]

use crate::column::{DrawnColumn, DrawnRead};
use crate::text::{put, shortened};

// In most monospace fonts the width of a letter is about 0.6 of the font size, which is 13 for names and 11 for views.
pub(crate) const LETTER: usize = 8;
const SMALL_LETTER: usize = 7;
pub(crate) const PADDING: usize = 12;
/// The height of a name.
pub(crate) const HEAD: usize = 28;
/// The height of a view.
pub(crate) const LINE: usize = 16;
/// The distance between boxes of one level.
const ROW_GAP: usize = 14;
/// The distance between levels.
const LEVEL_GAP: usize = 56;

/// The places of all boxes and of the lines between them.
pub(crate) struct Layout {
    levels: Vec<DrawnLevel>,
    /// The level of each column.
    level: Vec<usize>,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// The boxes of one level, one below the other, and the lines that pass the level.
struct DrawnLevel {
    left: usize,
    right: usize,
    rows: Vec<DrawnRow>,
}

/// A box, or a line of height 0 that passes between boxes.
struct DrawnRow {
    /// The column of the box, or the one that the line comes from.
    column: usize,
    top: usize,
    height: usize,
}

/// The place of a box.
pub(crate) struct BoxPlace {
    pub(crate) left: usize,
    pub(crate) top: usize,
    pub(crate) width: usize,
    pub(crate) height: usize,
}

/// A line to a view, as paths of SVG.
pub(crate) struct LinePath {
    pub(crate) path: String,
    /// The end, where the arrow is.
    pub(crate) tip: String,
}

impl Layout {
    pub(crate) fn new(columns: &[DrawnColumn]) -> Self {
        let level: Vec<usize> = columns.iter().map(|column| column.level).collect();
        let rows = rows(columns);
        let heights = rows.iter().enumerate().map(|(at, row)| stacked(columns, at, row));
        let height = heights.max().unwrap_or(0);
        let mut levels = Vec::new();
        let mut left = 0;
        for (at, row) in rows.into_iter().enumerate() {
            // Levels are centred.
            let mut top = (height - stacked(columns, at, &row)) / 2;
            let mut right = left;
            let mut drawn = Vec::new();
            for column in row {
                let height = height_at(&columns[column], at);
                drawn.push(DrawnRow { column, top, height });
                top += height + ROW_GAP;
                if level[column] == at {
                    right = right.max(left + width(&columns[column]) + 2 * PADDING);
                }
            }
            levels.push(DrawnLevel { left, right, rows: drawn });
            left = right + LEVEL_GAP;
        }
        Self { levels, level, width: left.saturating_sub(LEVEL_GAP), height }
    }

    /// The place of the box of a column.
    pub(crate) fn place(&self, column: usize) -> BoxPlace {
        let level = &self.levels[self.level[column]];
        let row = level.row(column);
        BoxPlace { left: level.left, top: row.top, width: level.right - level.left, height: row.height }
    }

    /// The line to the view at this row of the reader, through the rows that are kept for the line; `None` if the view has
    /// no line.
    pub(crate) fn line(&self, read: &DrawnRead, reader: usize, at: usize) -> Option<LinePath> {
        let from = read.from?;
        let first = self.level[from];
        let last = self.level[reader];
        let mut x = self.levels[first].right;
        let mut y = self.levels[first].row(from).middle();
        let mut path = format!("M{x} {y}");
        for level in &self.levels[first + 1..=last] {
            let is_last = level.left == self.levels[last].left;
            let to = if is_last {
                level.row(reader).top + HEAD + at * LINE + LINE / 2 - 3
            } else {
                level.row(from).middle()
            };
            let left = level.left;
            let middle = usize::midpoint(x, left);
            put(&mut path, format_args!("C{middle} {y} {middle} {to} {left} {to}"));
            if !is_last {
                put(&mut path, format_args!("H{}", level.right));
            }
            x = level.right;
            y = to;
        }
        Some(LinePath { path, tip: format!("M{} {y}", self.levels[last].left) })
    }
}

impl DrawnLevel {
    fn row(&self, column: usize) -> &DrawnRow {
        let row = self.rows.iter().find(|row| row.column == column);
        row.unwrap_or_else(|| unreachable!("a line has a row in each level that it passes"))
    }
}

impl DrawnRow {
    fn middle(&self) -> usize {
        self.top + self.height / 2
    }
}

/// The width of the texts in a box.
fn width(column: &DrawnColumn) -> usize {
    let kind = column.kind.chars().count();
    let head = column.name.chars().count() * LETTER + kind * SMALL_LETTER + if kind > 0 { LETTER } else { 0 };
    let views = column.reads.iter().map(|read| shortened(&read.text).chars().count() * SMALL_LETTER);
    views.fold(head, usize::max)
}

/// The height of a column at a level: the box at its own level, and a line at the others.
fn height_at(column: &DrawnColumn, level: usize) -> usize {
    match column.reads.len() {
        _ if column.level != level => 0,
        0 => HEAD,
        views => HEAD + views * LINE,
    }
}

/// The height of all rows of a level.
fn stacked(columns: &[DrawnColumn], level: usize, row: &[usize]) -> usize {
    let heights: usize = row.iter().map(|&column| height_at(&columns[column], level) + ROW_GAP).sum();
    heights.saturating_sub(ROW_GAP)
}

/// The rows of each level: columns, and the columns of passing lines.
fn rows(columns: &[DrawnColumn]) -> Vec<Vec<usize>> {
    let count = columns.iter().map(|column| column.level + 1).max().unwrap_or(0);
    let mut rows = vec![Vec::new(); count];
    for (at, column) in columns.iter().enumerate() {
        rows[column.level].push(at);
    }
    for reader in columns {
        for from in reader.reads.iter().filter_map(|read| read.from) {
            // A column is at a later level than the columns that it reads, so the first index is not greater.
            for passed in &mut rows[columns[from].level + 1..reader.level] {
                if !passed.contains(&from) {
                    passed.push(from);
                }
            }
        }
    }
    untangle(columns, &mut rows);
    rows
}

/// Sorts the rows of each level, so that lines are short.
fn untangle(columns: &[DrawnColumn], rows: &mut [Vec<usize>]) {
    // One pass by the mean of the rows before. The best order is NP-hard, and flows are small.
    for at in 1..rows.len() {
        let mut row = rows[at].clone();
        row.sort_by_key(|&column| {
            let is_line = columns[column].level < at;
            let reads = columns[column].reads.iter().filter_map(|read| read.from);
            let from = if is_line { vec![column] } else { reads.collect() };
            let before = rows[at - 1].iter();
            let rows = from.iter().filter_map(|column| before.clone().position(|other| other == column));
            let rows: Vec<usize> = rows.collect();
            // The mean, with one decimal place.
            (10 * rows.iter().sum::<usize>()).checked_div(rows.len()).unwrap_or(0)
        });
        rows[at] = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::chat;

    #[test]
    fn a_column_is_to_the_right_of_those_that_it_reads() {
        let columns = chat();
        let layout = Layout::new(&columns);
        for (reader, column) in columns.iter().enumerate() {
            for from in column.reads.iter().filter_map(|read| read.from) {
                let before = layout.place(from);
                assert!(before.left + before.width + LEVEL_GAP <= layout.place(reader).left);
            }
        }
    }

    /// The line from `user` to `critique` has a row to itself where it passes the level between.
    #[test]
    fn no_line_goes_through_a_box() {
        let columns = chat();
        let layout = Layout::new(&columns);
        let passes = layout.levels[1].row(0).top;
        for place in [1, 2, 4].map(|column| layout.place(column)) {
            assert!(passes < place.top || passes > place.top + place.height);
        }
        let line = layout.line(&columns[3].reads[1], 3, 1).expect("the view is of this step");
        assert!(line.path.contains(&format!(" {passes}H")), "{}", line.path);
    }

    #[test]
    fn boxes_of_a_level_are_apart() {
        let columns = chat();
        let layout = Layout::new(&columns);
        for level in &layout.levels {
            for pair in level.rows.windows(2) {
                assert_eq!(pair[0].top + pair[0].height + ROW_GAP, pair[1].top);
            }
        }
    }
}
