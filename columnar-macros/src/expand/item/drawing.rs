//! A flow as a drawing, for its documentation: columns from left to right by level. This module knows no tokens.
//!
//! The lines of the SVG are inside a paragraph of Markdown, so a node is a link as any other text is.
#![expect(clippy::indexing_slicing, reason = "an index is a column of the flow, or a level that one has")]

use std::fmt::Write as _;

use crate::ident::widest;

/// The number of columns above which a list is easier to read than a drawing.
const MANY: usize = 20;

// Lengths, in pixels.
// In most monospace fonts the width of a letter is about 0.6 of the font size, which is 13 here.
const LETTER: usize = 8;
const PADDING: usize = 12;
const HEIGHT: usize = 28;
const ROW: usize = 40;
const GAP: usize = 56;

/// A column, with the indices of the columns that it reads.
#[derive(Default)]
pub(super) struct DrawnColumn {
    pub(super) name: String,
    /// The other columns that are read, and how.
    pub(super) reads: Vec<DrawnRead>,
    /// The views of the column, as the user wrote them.
    pub(super) views: Vec<String>,
    /// Whether the column reads `self`.
    pub(super) reads_self: bool,
    /// Whether the column is a source of documents.
    pub(super) is_documents: bool,
    /// Whether the column reads another one with a lag, which no line shows.
    pub(super) is_lagged: bool,
    /// The target of a link to the column.
    pub(super) link: String,
}

/// A view of another column.
pub(super) struct DrawnRead {
    pub(super) column: usize,
    pub(super) line: DrawnLine,
    /// `context` or `instruction`; `None` for a primary input.
    pub(super) purpose: Option<String>,
}

/// The line from a column to one of its readers.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum DrawnLine {
    /// All of the history.
    All,
    /// A window of the history, as a dashed line.
    Window,
    /// The documents in tiers, as a dotted line.
    Tiers,
    /// The conversation of the column, which the request continues, as a line of dashes and dots.
    Thread,
}

/// The columns by level. A column is one level after the last column that it reads.
///
/// ```text
/// level 0  user
/// level 1  topics    ← user.latest
///          summary   ← user, self.latest
/// level 2  critique  ← summary.latest, topics
/// ```
pub(super) fn list(nodes: &[DrawnColumn], order: &[usize]) -> String {
    let longest = widest(nodes.iter().map(|node| node.name.as_str()));
    let mut text = String::new();
    for (level, columns) in rows(&levels(nodes, order), order).iter().enumerate() {
        let mut head = format!("level {level}");
        for (name, views) in columns.iter().map(|&column| (named(&nodes[column]), &nodes[column].views)) {
            let line = match views.as_slice() {
                [] => name,
                views => format!("{name:longest$}  ← {}", views.join(", ")),
            };
            put(&mut text, format_args!("{head:8} {line}\n"));
            head.clear();
        }
    }
    text
}

/// The flow as SVG, in the colour of the surrounding text. `None` with too many columns.
pub(super) fn svg(nodes: &[DrawnColumn], order: &[usize]) -> Option<String> {
    (nodes.len() <= MANY).then(|| Layout::new(nodes, order).svg(nodes))
}

/// The meaning of the shapes and lines that the drawing has. `base` is the flow that this one extends.
pub(super) fn legend(nodes: &[DrawnColumn], base: Option<&str>) -> String {
    let mut legend = "A round box is a source".to_owned();
    if let Some(base) = base {
        put(&mut legend, format_args!(" or a column of the `{base}`"));
    }
    let lines = [
        (DrawnLine::All, "`──` a view of all values"),
        (DrawnLine::Window, "`╌╌` a view of some of them"),
        (DrawnLine::Tiers, "`···` one of documents in tiers"),
        (DrawnLine::Thread, "`╌·╌` a conversation that continues"),
    ];
    for (line, text) in lines {
        if nodes.iter().flat_map(|node| &node.reads).any(|read| read.line == line) {
            legend.extend([", ", text]);
        }
    }
    if nodes.iter().any(|node| node.reads_self) {
        legend += ", `↻` a view of the column's own values";
    }
    let is_lagged = nodes.iter().any(|node| node.is_lagged);
    legend + if is_lagged { ". Nothing waits for a view of `prev`, so it has no line." } else { "." }
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    let written = text.write_fmt(line);
    debug_assert!(written.is_ok(), "a string takes everything");
}

/// The level of each column.
fn levels(nodes: &[DrawnColumn], order: &[usize]) -> Vec<usize> {
    let mut level = vec![0; nodes.len()];
    for &column in order {
        level[column] = nodes[column].reads.iter().map(|read| level[read.column] + 1).max().unwrap_or(0);
    }
    level
}

/// The columns of each level, in topological order.
fn rows(level: &[usize], order: &[usize]) -> Vec<Vec<usize>> {
    let count = level.iter().max().map_or(0, |last| last + 1);
    (0..count).map(|at| order.iter().copied().filter(|&column| level[column] == at).collect()).collect()
}

/// The position of every column and line.
struct Layout {
    /// The left and the right side of each level.
    sides: Vec<(usize, usize)>,
    /// The rows of each level: columns, and the columns of passing lines.
    rows: Vec<Vec<usize>>,
    /// The level of each column.
    level: Vec<usize>,
}

impl Layout {
    fn new(nodes: &[DrawnColumn], order: &[usize]) -> Self {
        let level = levels(nodes, order);
        let mut rows = rows(&level, order);
        let mut sides = Vec::new();
        let mut left = 0;
        for columns in &rows {
            // Letters and not bytes: `↻` has three bytes.
            let letters = columns.iter().map(|&column| label(&nodes[column]).chars().count()).max();
            let right = left + letters.unwrap_or(0) * LETTER + 2 * PADDING;
            sides.push((left, right));
            left = right + GAP;
        }
        for (reader, node) in nodes.iter().enumerate() {
            for read in node.reads.iter().map(|read| read.column) {
                // A column is at a later level than the columns that it reads, so the first index is not greater.
                for passed in &mut rows[level[read] + 1..level[reader]] {
                    if !passed.contains(&read) {
                        passed.push(read);
                    }
                }
            }
        }
        let mut layout = Self { sides, rows, level };
        layout.untangle(nodes);
        layout
    }

    /// Sorts the rows of each level, so that lines are short.
    fn untangle(&mut self, nodes: &[DrawnColumn]) {
        // One pass by the mean of the rows before. The best order is NP-hard, and flows are small.
        for at in 1..self.rows.len() {
            let mut row = self.rows[at].clone();
            row.sort_by_key(|&column| {
                let reads = nodes[column].reads.iter().map(|read| read.column);
                let is_line = self.level[column] < at;
                let from = if is_line { vec![column] } else { reads.collect() };
                let before = self.rows[at - 1].iter();
                let rows = from.iter().filter_map(|column| before.clone().position(|other| other == column));
                let rows: Vec<usize> = rows.collect();
                // The mean, with one decimal place.
                (10 * rows.iter().sum::<usize>()).checked_div(rows.len()).unwrap_or(0)
            });
            self.rows[at] = row;
        }
    }

    /// The middle of a column, or of the line that begins there, in a level.
    fn height(&self, column: usize, level: usize) -> usize {
        let row = self.rows[level].iter().position(|&other| other == column).unwrap_or(0);
        row * ROW + HEIGHT / 2
    }

    fn svg(&self, nodes: &[DrawnColumn]) -> String {
        let width = self.sides.last().map_or(0, |&(_, right)| right);
        let rows = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        // Without columns there is no row, and no gap to leave out.
        let height = (rows * ROW).saturating_sub(ROW - HEIGHT);
        let mut svg = format!(
            // Half of a line is outside of the rectangle, so there is a margin of 1.
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 {} {}\" width=\"{}\" \
             style=\"max-width:100%\" role=\"img\" aria-label=\"The columns and their views\" fill=\"none\" stroke=\"currentColor\" \
             font-family=\"monospace\" font-size=\"13\">",
            width + 2,
            height + 2,
            width + 2
        );
        for (reader, node) in nodes.iter().enumerate() {
            for &DrawnRead { column: read, line, ref purpose } in &node.reads {
                let dashes = match line {
                    DrawnLine::All => "",
                    DrawnLine::Window => " stroke-dasharray=\"4 3\"",
                    DrawnLine::Tiers => " stroke-dasharray=\"1 3\"",
                    DrawnLine::Thread => " stroke-dasharray=\"6 3 1 3\"",
                };
                // Names begin with a letter, so no character needs escaping for XML or Markdown.
                let purpose = purpose.as_ref().map_or_else(String::new, |purpose| format!(", {purpose}"));
                let title = format!("{} reads {}{purpose}", node.name, nodes[read].name);
                let line = self.line(read, reader);
                put(&mut svg, format_args!("<path d=\"{line}\"{dashes}><title>{title}</title></path>"));
                let tip = self.sides[self.level[reader]].0;
                let middle = self.height(reader, self.level[reader]);
                put(&mut svg, format_args!("<path d=\"M{tip} {middle}l-7 -4v8z\" fill=\"currentColor\"/>"));
            }
        }
        for (column, node) in nodes.iter().enumerate() {
            let (left, right) = self.sides[self.level[column]];
            let middle = self.height(column, self.level[column]);
            let round = if node.views.is_empty() { HEIGHT / 2 } else { 4 };
            put(
                &mut svg,
                format_args!(
                    "[<rect x=\"{left}\" y=\"{}\" width=\"{}\" height=\"{HEIGHT}\" rx=\"{round}\"/>\
                     <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">{}</text>]({})",
                    middle - HEIGHT / 2,
                    right - left,
                    usize::midpoint(left, right),
                    middle + 5,
                    label(node),
                    node.link
                ),
            );
        }
        svg + "</svg>"
    }

    /// The line from a column to a reader, through the rows that are kept for the line.
    fn line(&self, read: usize, reader: usize) -> String {
        let first = self.level[read];
        let last = self.level[reader];
        let mut x = self.sides[first].1;
        let mut y = self.height(read, first);
        let mut line = format!("M{x} {y}");
        for level in first + 1..=last {
            let (left, right) = self.sides[level];
            let to = if level == last { self.height(reader, level) } else { self.height(read, level) };
            let middle = usize::midpoint(x, left);
            put(&mut line, format_args!("C{middle} {y} {middle} {to} {left} {to}"));
            if level < last {
                put(&mut line, format_args!("H{right}"));
            }
            x = right;
            y = to;
        }
        line
    }
}

/// The name, and a sign for the self history.
fn label(node: &DrawnColumn) -> String {
    if node.reads_self { format!("{} ↻", node.name) } else { named(node) }
}

/// The name, and the type of documents.
fn named(node: &DrawnColumn) -> String {
    if node.is_documents { format!("{}: Documents", node.name) } else { node.name.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, reads: &[(usize, bool)], views: &[&str]) -> DrawnColumn {
        let reads = reads.iter().map(|&(column, is_window)| {
            let line = if is_window { DrawnLine::Window } else { DrawnLine::All };
            DrawnRead { column, line, purpose: None }
        });
        let reads = reads.collect();
        let views: Vec<String> = views.iter().map(|&view| view.to_owned()).collect();
        let reads_self = views.iter().any(|view| view.starts_with("self"));
        DrawnColumn { name: name.to_owned(), reads, views, reads_self, ..DrawnColumn::default() }
    }

    fn chat() -> Vec<DrawnColumn> {
        vec![
            node("user", &[], &[]),
            node("topics", &[(0, true)], &["user.latest"]),
            node("summary", &[(0, false)], &["user", "self.latest"]),
            node("critique", &[(2, true), (0, true)], &["summary.latest", "user.latest"]),
            node("assistant", &[(0, false)], &["user", "self"]),
        ]
    }

    #[test]
    fn a_list_has_levels_in_topological_order() {
        let text = "level 0  user\n\
                    level 1  topics     ← user.latest\n         \
                             summary    ← user, self.latest\n         \
                             assistant  ← user, self\n\
                    level 2  critique   ← summary.latest, user.latest\n";
        assert_eq!(list(&chat(), &[0, 1, 2, 3, 4]), text);
    }

    #[test]
    fn a_column_is_drawn_to_the_right_of_those_that_it_reads() {
        let nodes = chat();
        let layout = Layout::new(&nodes, &[0, 1, 2, 3, 4]);
        for (reader, node) in nodes.iter().enumerate() {
            for &DrawnRead { column: read, .. } in &node.reads {
                let sides = [read, reader].map(|column| layout.sides[layout.level[column]]);
                assert!(sides[0].1 + GAP <= sides[1].0, "{read} and {reader}");
            }
        }
    }

    /// The line from `user` to `critique` has a row to itself where it passes the level between.
    #[test]
    fn no_line_goes_through_a_column() {
        let layout = Layout::new(&chat(), &[0, 1, 2, 3, 4]);
        assert_eq!(layout.rows[1].len(), 4);
        let passes = layout.height(0, 1);
        let columns = [1, 2, 4].map(|column| layout.height(column, 1));
        assert!(!columns.contains(&passes), "{columns:?} {passes}");
        assert!(layout.line(0, 3).contains(&format!(" {passes}H")), "{}", layout.line(0, 3));
    }

    #[test]
    fn a_drawing_shows_each_column_and_each_read() {
        let svg = svg(&chat(), &[0, 1, 2, 3, 4]).expect("five are not many");
        assert_eq!(svg.matches("<rect").count(), 5);
        assert_eq!(svg.matches("<title>").count(), 5);
        assert_eq!(svg.matches("dasharray").count(), 3);
        assert_eq!(svg.matches('↻').count(), 2);
        assert!(svg.contains("<title>critique reads summary</title>"));
    }

    #[test]
    fn a_node_is_a_link() {
        let mut nodes = chat();
        nodes[1].link = "#column.topics".to_owned();
        let svg = svg(&nodes, &[0, 1, 2, 3, 4]).expect("five are not many");
        assert!(svg.contains(">topics</text>](#column.topics)[<rect"), "{svg}");
    }

    #[test]
    fn a_legend_has_the_lines_of_its_drawing_alone() {
        let mut nodes = chat();
        assert_eq!(
            legend(&nodes, None),
            "A round box is a source, `──` a view of all values, `╌╌` a view of some of them, \
             `↻` a view of the column's own values."
        );
        nodes.truncate(1);
        nodes[0].is_lagged = true;
        assert_eq!(
            legend(&nodes, Some("Chat")),
            "A round box is a source or a column of the `Chat`. \
             Nothing waits for a view of `prev`, so it has no line."
        );
    }

    #[test]
    fn a_read_has_its_purpose() {
        let mut nodes = chat();
        nodes[3].reads[0].purpose = Some("instruction".to_owned());
        let svg = svg(&nodes, &[0, 1, 2, 3, 4]).expect("five are not many");
        assert!(svg.contains("<title>critique reads summary, instruction</title>"), "{svg}");
    }

    #[test]
    fn many_columns_are_a_list() {
        let mut nodes = vec![node("user", &[], &[])];
        nodes.extend((1..50).map(|at| node(&format!("c{at}"), &[(at - 1, false)], &["before"])));
        let order: Vec<usize> = (0..50).collect();
        assert_eq!(svg(&nodes, &order), None);
        assert_eq!(list(&nodes, &order).lines().count(), 50);
    }
}
