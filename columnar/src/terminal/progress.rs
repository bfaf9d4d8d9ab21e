//! The progress of a run, by column.
//!
//! ```text
//! forecast ──▶ ProgressBars ◀── every event of the run
//!                   └──▶ standard error
//! ```

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write as _};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use super::text::printable;
use crate::declare::Name;
use crate::run::{Event, Forecast};

/// The pause between two lines.
const PAUSE: Duration = Duration::from_secs(5);

const BAR: &str = "{prefix} {bar:24.cyan/dim} {pos:>6}/{len:<6} {rate:>7} {eta:>4} {msg}";

/// The progress of a run on standard error: at a terminal a bar for each column and one for all, elsewhere a line every five
/// seconds. The first failure of a column is printed, too.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::terminal::ProgressBars;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let inbox = flow! {
///     source message;
///     column topics(message.latest) = prompt("List the topics.").or_wait();
/// };
/// inbox.message.push("The left pedal is broken.").await?;
///
/// let mut bars = ProgressBars::new(&inbox.forecast());
/// let mut run = inbox.run();
/// while let Some(event) = run.try_next().await? {
///     bars.update(&event);
/// }
/// bars.finish();
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ProgressBars {
    columns: Vec<ColumnProgress>,
    began: Instant,
    /// The time of the last line.
    printed: Instant,
    /// One bar for each column, and the last one for all. Empty where there is no terminal.
    bars: Vec<ProgressBar>,
}

#[derive(Debug)]
struct ColumnProgress {
    column: Name,
    counts: Counts,
    /// The steps that failed and were not skipped.
    failed: BTreeSet<usize>,
    has_failed: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    total: usize,
    stored: usize,
    /// Cells that stay empty for good.
    skipped: usize,
    /// Failed cells, which the next run tries again.
    failed: usize,
    /// Failed attempts that were followed by another one.
    retried: usize,
}

impl ProgressBars {
    /// The progress of the run that the forecast is about.
    pub fn new(forecast: &Forecast) -> Self {
        let columns = forecast.columns.iter().map(|part| ColumnProgress {
            column: part.column.clone(),
            counts: Counts { total: part.cells, ..Counts::default() },
            failed: BTreeSet::new(),
            has_failed: false,
        });
        let now = Instant::now();
        let mut progress = Self { columns: columns.collect(), began: now, printed: now, bars: Vec::new() };
        // Bars redraw lines, which only a terminal can do: a log file would fill with such lines.
        if io::stderr().is_terminal() {
            progress.bars = progress.to_bars();
        }
        progress
    }

    /// Counts an event and shows it.
    pub fn update<C: Display>(&mut self, event: &Event<C>) {
        // Deltas are many and count for nothing.
        if matches!(event, Event::Delta { .. }) {
            return;
        }
        let name = event.column().to_string();
        let found = self.columns.iter_mut().enumerate().find(|(_, column)| *column.column == *name);
        let Some((at, column)) = found else { return };
        let error = column.update(event);
        let counts = column.counts;
        if let Some(error) = error {
            match self.bars.first() {
                // Through a bar, because a line that is printed past the bars would tear the bars.
                Some(bar) => bar.println(error),
                None => print(&error),
            }
        }
        show(self.bars.get(at), counts);
        show(self.bars.last(), self.all());
        if self.bars.is_empty() && self.printed.elapsed() >= PAUSE {
            self.printed = Instant::now();
            print(&self.line(self.began.elapsed()));
        }
    }

    /// Leaves the progress on the screen. The run is complete, or was dropped.
    pub fn finish(self) {
        self.bars.iter().for_each(ProgressBar::abandon);
        // The cursor is at the end of the last bar.
        print(&if self.bars.is_empty() { self.line(self.began.elapsed()) } else { String::new() });
    }

    fn to_bars(&self) -> Vec<ProgressBar> {
        let width = self.columns.iter().map(|column| column.column.len()).max().unwrap_or_default();
        let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
        let style = style.with_key("rate", |state: &ProgressState, out: &mut dyn fmt::Write| {
            // A bar that cannot be written has no place for an error.
            let _ = write!(out, "{:.0}/s", state.per_sec());
        });
        let screen = MultiProgress::new();
        let names = self.columns.iter().map(|column| (column.column.as_str(), column.counts));
        let bars = names.chain([("all", self.all())]).map(|(name, counts)| {
            let bar = screen.add(ProgressBar::new(counts.total as u64));
            bar.set_style(style.clone());
            bar.set_prefix(format!("{name:<width$}"));
            bar
        });
        bars.collect()
    }

    fn all(&self) -> Counts {
        self.columns.iter().map(|column| column.counts).fold(Counts::default(), Counts::and)
    }

    /// All counts on one line.
    fn line(&self, elapsed: Duration) -> String {
        // At least 1, because the rate divides by this number.
        let millis = elapsed.as_millis().max(1);
        let all = self.all();
        let settled = all.settled() as u128;
        let left = (all.total - all.settled()) as u128;
        // `None` while no cell is settled, as there is no rate yet.
        let to_go = match (left * millis).checked_div(settled * 1000) {
            Some(seconds) if left > 0 => format!(", {seconds} s to go"),
            _ => String::new(),
        };
        let done = format!("{settled}/{} cells, {}/s{to_go}", all.total, settled * 1000 / millis);
        let columns =
            self.columns.iter().map(|column| format!("{} {}", column.column, column.counts.settled()));
        let parts = [done, all.trouble(), columns.collect::<Vec<_>>().join(", ")];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

impl ColumnProgress {
    /// Counts an event. Returns the error if it is the first one of the column: the next thousand cells may fail for the same
    /// reason.
    fn update<C>(&mut self, event: &Event<C>) -> Option<String> {
        let mut first_error = None;
        match event {
            Event::Value { .. } => self.counts.stored += 1,
            Event::Retry { .. } => self.counts.retried += 1,
            Event::Failed { step, error, .. } => {
                self.failed.insert(*step);
                if !self.has_failed {
                    let error = printable(error);
                    first_error = Some(format!("`{}` failed at step {step}: {error}", self.column));
                }
                self.has_failed = true;
            }
            Event::Skipped { step, .. } => {
                // A column with `or_skip` reports the failure of a cell before the skip.
                self.failed.remove(step);
                self.counts.skipped += 1;
            }
            _ => {}
        }
        self.counts.failed = self.failed.len();
        // The forecast does not know the values that are pushed during the run.
        self.counts.total = self.counts.total.max(self.counts.settled());
        first_error
    }
}

impl Counts {
    /// The cells that no run computes again.
    fn settled(self) -> usize {
        self.stored + self.skipped
    }

    fn and(self, other: Self) -> Self {
        Self {
            total: self.total + other.total,
            stored: self.stored + other.stored,
            skipped: self.skipped + other.skipped,
            failed: self.failed + other.failed,
            retried: self.retried + other.retried,
        }
    }

    /// The counts of cells that were not simply stored; empty if there are none.
    fn trouble(self) -> String {
        let counts = [(self.skipped, "skipped"), (self.failed, "failed"), (self.retried, "retried")];
        let nonzero = counts.into_iter().filter(|(count, _)| *count > 0);
        nonzero.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
    }
}

fn show(bar: Option<&ProgressBar>, counts: Counts) {
    if let Some(bar) = bar {
        bar.set_length(counts.total as u64);
        bar.set_position(counts.settled() as u64);
        bar.set_message(counts.trouble());
    }
}

/// A report that cannot be written ends no run.
fn print(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;

    /// The bars and the errors of a run over four messages. One of the two columns skips the steps of failed cells.
    async fn a_run() -> Result<(ProgressBars, Vec<String>)> {
        let user = source("user");
        let fails = |at: usize| {
            move |cx: Context| async move { if cx.step() >= at { Err("no\u{1b} answer") } else { Ok("yes") } }
        };
        let skips = column("skips", user.latest(), fails(3).or_skip());
        let waits = column("waits", user.latest(), fails(2).or_wait());
        let f = flow([skips, waits])?;
        for text in ["one", "two", "three", "four"] {
            f.push("user", text).await?;
        }
        let mut bars = ProgressBars::new(&f.forecast());
        let mut errors = Vec::new();
        let mut run = f.run();
        while let Some(event) = run.try_next().await? {
            let column = bars.columns.iter_mut().find(|column| column.column == *event.column());
            errors.extend(column.expect("a column of the forecast").update(&event));
        }
        Ok((bars, errors))
    }

    #[tokio::test]
    async fn every_cell_is_counted_once() -> Result<()> {
        let (bars, _) = a_run().await?;
        let counts: Vec<_> = bars.columns.iter().map(|column| column.counts).collect();
        let [skips, waits] = counts[..] else { unreachable!("there are two columns") };
        assert_eq!(skips, Counts { total: 4, stored: 3, skipped: 1, ..Counts::default() });
        assert_eq!(waits, Counts { total: 4, stored: 2, failed: 2, ..Counts::default() });
        assert_eq!(bars.all().trouble(), "1 skipped, 2 failed");
        Ok(())
    }

    #[tokio::test]
    async fn the_first_failure_of_a_column_is_reported() -> Result<()> {
        let (_, errors) = a_run().await?;
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors.iter().all(|error| error.contains("no\\u{1b} answer")), "{errors:?}");
        Ok(())
    }

    #[tokio::test]
    async fn a_line_has_all_counts() -> Result<()> {
        let (mut bars, _) = a_run().await?;
        let line = "6/8 cells, 1/s, 1 s to go; 1 skipped, 2 failed; skips 4, waits 2";
        assert_eq!(bars.line(Duration::from_secs(4)), line);
        bars.columns.truncate(1);
        assert_eq!(bars.line(Duration::from_secs(2)), "4/4 cells, 2/s; 1 skipped; skips 4");
        Ok(())
    }

    #[tokio::test]
    async fn there_is_a_bar_for_each_column_and_one_for_all() -> Result<()> {
        let (bars, _) = a_run().await?;
        assert!(ProgressStyle::with_template(BAR).is_ok());
        let prefixes: Vec<_> = bars.to_bars().iter().map(ProgressBar::prefix).collect();
        assert_eq!(prefixes, ["skips", "waits", "all  "]);
        Ok(())
    }
}
