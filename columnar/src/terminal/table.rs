//! The table of a flow.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

use super::text::{columns, cut, printable, width};
use crate::flow::LiveFlow;
use crate::history::Value;
use crate::run::{CellState, FlowState, SharedFlow};
use crate::schedule::Cell;

/// The width where there is no terminal.
const DEFAULT_WIDTH: usize = 80;

/// The least columns of a cell that is cut.
const LEAST: usize = 3;

const SEPARATOR: &str = " │ ";

/// The table of a flow, which prints a line for each step: a value is on one line, and its end is cut with `…` where it
/// does not fit. A cell without a value has a word for its state in parentheses. Made by [`LiveFlow::table`].
///
/// The values are read when the table is printed. The same values make the same table.
#[derive(Clone)]
#[must_use]
pub struct FlowTable {
    shared: Arc<SharedFlow>,
    width: usize,
    steps: (Bound<usize>, Bound<usize>),
}

impl FlowTable {
    /// Sets the width of the longest line. By default, it is the width of the terminal on standard output, and 80 where there
    /// is none.
    pub fn width(self, columns: usize) -> Self {
        Self { width: columns.max(1), ..self }
    }

    /// Sets the steps that are printed; all by default.
    pub fn steps(self, steps: impl RangeBounds<usize>) -> Self {
        Self { steps: (steps.start_bound().cloned(), steps.end_bound().cloned()), ..self }
    }

    /// The cells by row, each as one line, with the names of the columns and the numbers of the steps.
    fn rows(&self) -> Vec<Vec<String>> {
        let state = self.shared.lock();
        let schema = state.plan.schema();
        let end = schema.sources().map(|source| state.scheduler.len(source)).max().unwrap_or(0);
        let steps = (0..end).filter(|step| self.steps.contains(step));
        let names = schema.columns().iter().map(|column| column.name.to_string());
        let head: Vec<String> = ["step".to_owned()].into_iter().chain(names).collect();
        let values = steps.map(|step| {
            let cells = (0..head.len() - 1).map(|column| value(&state, Cell { column, step }));
            (step, cells.collect::<Vec<_>>())
        });
        let values: Vec<_> = values.collect();
        // Long texts are not read under the lock.
        drop(state);
        let rows = values.into_iter().map(|(step, cells)| {
            let cells = cells.into_iter().map(|cell| match cell {
                Ok(value) => self.line(&value.in_words()),
                Err(word) => format!("({word})"),
            });
            [step.to_string()].into_iter().chain(cells).collect()
        });
        [head].into_iter().chain(rows).collect()
    }

    /// The beginning of a text on one line, at least as much of it as fits.
    fn line(&self, text: &str) -> String {
        let mut line = String::new();
        let mut used = 0;
        for word in text.split_whitespace() {
            let word = printable(word);
            used += 1 + columns(&word);
            line += if line.is_empty() { "" } else { " " };
            line += &word;
            if used > self.width + 1 {
                break;
            }
        }
        line
    }
}

impl fmt::Display for FlowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let mut widths = vec![0; rows.first().map_or(0, Vec::len)];
        for row in &rows {
            widths.iter_mut().zip(row).for_each(|(width, cell)| *width = columns(cell).max(*width));
        }
        let room = self.width.saturating_sub(columns(SEPARATOR) * (widths.len() - 1));
        let most = most(&widths, room);
        // Half of a number is none, so the steps are not cut.
        widths.iter_mut().skip(1).for_each(|width| *width = most.min(*width));
        for (at, row) in rows.into_iter().enumerate() {
            let cells = row.into_iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, width))| padded(cut(cell, *width), *width, column == 0));
            let line = cells.collect::<Vec<_>>().join(SEPARATOR);
            // In a terminal that is too narrow for all columns, the last ones are cut off.
            let line = cut(line.trim_end().to_owned(), self.width);
            write!(f, "{}{line}", if at == 0 { "" } else { "\n" })?;
            if at == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                write!(f, "\n{}", cut(rules.join("─┼─"), self.width))?;
            }
        }
        Ok(())
    }
}

/// The value of a cell, or the word for the state of a cell without a value.
fn value(state: &FlowState, cell: Cell) -> Result<Value, &'static str> {
    Err(match state.cell(cell) {
        CellState::Stored(value) => return Ok(value),
        CellState::Skipped(_) => "skipped",
        CellState::NotLoaded => "not loaded",
        CellState::Waiting if state.scheduler.is_running(cell) => "running",
        CellState::Waiting if state.scheduler.has_failed(cell) => "failed",
        CellState::Waiting => "waiting",
        CellState::Pending => "pending",
    })
}

/// The most columns that each cell may have, so that all cells of a row fit: narrow columns leave their room to the others.
fn most(widths: &[usize], room: usize) -> usize {
    (LEAST..=room)
        .take_while(|most| widths.iter().map(|width| most.min(width)).sum::<usize>() <= room)
        .last()
        .unwrap_or(LEAST)
}

/// A cell with spaces before or after the text.
fn padded(cell: String, width: usize, is_right: bool) -> String {
    let spaces = " ".repeat(width.saturating_sub(columns(&cell)));
    // Two texts from right to left would change places in a terminal that orders a line by direction, if no character from
    // left to right stood between them. This mark is such a character, and has no width.
    let mark = if cell.contains(is_right_to_left) { "\u{200e}" } else { "" };
    if is_right { spaces + &cell } else { cell + mark + &spaces }
}

/// Whether the character is of a script that is written from right to left.
// Source: the default classes R and AL in DerivedBidiClass.txt of Unicode.
fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

impl<C, I> LiveFlow<'_, C, I> {
    /// The table of the flow for a terminal: steps as rows, columns as columns.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = script(["Since when is it slow?"]);
    /// };
    /// chat.user.push("The site is slow.\nWhat now?").await?;
    /// chat.run().await?;
    /// chat.user.push("Since Monday.").await?;
    ///
    /// let table = "\
    /// step │ user             │ answer
    /// ─────┼──────────────────┼─────────────────
    ///    0 │ The site is slo… │ Since when is i…
    ///    1 │ Since Monday.    │ (waiting)";
    /// assert_eq!(chat.table().width(42).to_string(), table);
    /// # Ok(()) }
    /// ```
    pub fn table(&self) -> FlowTable {
        FlowTable {
            shared: Arc::clone(&self.shared),
            width: width().unwrap_or(DEFAULT_WIDTH),
            steps: (Bound::Unbounded, Bound::Unbounded),
        }
    }
}

impl fmt::Debug for FlowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without the texts of a conversation.
        f.debug_struct("FlowTable").field("width", &self.width).finish_non_exhaustive()
    }
}
