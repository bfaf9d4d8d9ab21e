//! The values of columns that stream at the same time, one below the other.

use std::collections::VecDeque;
use std::fmt::{self, Display};
use std::io::{self, Write};
use std::mem;

use super::text::printable;
use super::wrap::WrapWriter;
use crate::run::Event;

/// Prints the values of a run while they stream: a label, and the text beside a gutter. Columns stream at the same time, so the
/// first cell is printed at once, and the others when the first is complete.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::terminal::{self, ValueStream, WrapWriter};
/// use columnar::testing::script;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let chat = flow! {
///     source user;
///     column title(user.latest) = script(["Slow Mondays"]);
///     column answer(user, self) = script(["Since when is it slow?"]);
/// };
/// chat.user.push("The site is slow.").await?;
///
/// let mut out = WrapWriter::new(std::io::stdout(), terminal::width());
/// let mut values = ValueStream::new();
/// let mut run = chat.run();
/// while let Some(event) = run.try_next().await? {
///     values.show(&mut out, &event)?;
/// }
/// # Ok(()) }
/// ```
///
/// ```text
/// title 0      │ Slow Mondays
/// answer 0     │ Since when is it slow?
/// ```
pub struct ValueStream<C> {
    /// The cells that are not printed as a whole, in the order in which they began.
    cells: VecDeque<StreamedCell<C>>,
    label: Box<CellLabel<C>>,
}

/// The label of a column and a step.
type CellLabel<C> = dyn Fn(&C, usize) -> String + Send;

struct StreamedCell<C> {
    column: C,
    step: usize,
    /// The text that is not printed.
    text: String,
    /// Whether the present attempt has a text.
    has_text: bool,
    is_begun: bool,
    is_complete: bool,
}

impl<C: Display + Clone + PartialEq> ValueStream<C> {
    /// A stream with labels of the column and the step.
    #[expect(clippy::new_without_default, reason = "a stream without events is of no use")]
    pub fn new() -> Self {
        Self {
            cells: VecDeque::new(),
            label: Box::new(|column, step| format!("{:<12} │ ", format!("{column} {step}"))),
        }
    }

    /// Sets the text before a value, perhaps with colours; see [`WrapWriter::begin_block`].
    #[must_use]
    pub fn label(self, label: impl Fn(&C, usize) -> String + Send + 'static) -> Self {
        Self { label: Box::new(label), ..self }
    }

    /// Shows an event of a run.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn show(&mut self, out: &mut WrapWriter<impl Write>, event: &Event<C>) -> io::Result<()> {
        self.take(event);
        while let Some(cell) = self.cells.front_mut() {
            if !mem::replace(&mut cell.is_begun, true) {
                out.begin_block(&(self.label)(&cell.column, cell.step))?;
            }
            write!(out, "{}", printable(mem::take(&mut cell.text)))?;
            // The cells behind wait, so that pieces of two columns are never mixed.
            if !cell.is_complete {
                break;
            }
            out.end_block()?;
            self.cells.pop_front();
        }
        out.flush()
    }

    fn take(&mut self, event: &Event<C>) {
        let is_shown = matches!(
            event,
            Event::Delta { .. }
                | Event::Retry { .. }
                | Event::Failed { .. }
                | Event::Skipped { .. }
                | Event::Value { .. }
        );
        if !is_shown {
            return;
        }
        let mut cells = self.cells.iter_mut();
        match cells.find(|cell| cell.column == *event.column() && cell.step == event.step()) {
            Some(cell) => cell.take(event),
            None => {
                let mut cell = StreamedCell::new(event);
                cell.take(event);
                self.cells.push_back(cell);
            }
        }
    }
}

impl<C: Clone> StreamedCell<C> {
    fn new(event: &Event<C>) -> Self {
        Self {
            column: event.column().clone(),
            step: event.step(),
            text: String::new(),
            has_text: false,
            is_begun: false,
            is_complete: false,
        }
    }

    fn take(&mut self, event: &Event<C>) {
        match event {
            Event::Delta { text, .. } => {
                self.text += text;
                self.has_text = true;
                return;
            }
            Event::Retry { .. } => {
                self.take_back();
                if !self.text.is_empty() {
                    self.text += "(not stored)\n";
                }
                return;
            }
            Event::Failed { error, .. } => {
                self.take_back();
                self.text.extend(["(failed: ", error.as_str(), ")"]);
            }
            Event::Skipped { .. } => {
                self.take_back();
                self.text += "(skipped)";
            }
            // A compute step that does not stream has no deltas.
            Event::Value { value, .. } if !self.has_text => self.text += &value.in_words(),
            _ => {}
        }
        self.is_complete = true;
    }

    /// Takes the text of an attempt back, as far as it is not printed.
    fn take_back(&mut self) {
        let is_printed = mem::take(&mut self.has_text) && self.is_begun;
        self.text = if is_printed { " … ".to_owned() } else { String::new() };
    }
}

impl<C> fmt::Debug for ValueStream<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ValueStream").field("cells", &self.cells.len()).finish_non_exhaustive()
    }
}
