//! The progress of a run: at a terminal a bar for each column and one for all, elsewhere a line every five seconds.
//! Copy this file into your own program. The file needs `indicatif` 0.18, and `printable` of `support.rs`.
//!
//! ```text
//! forecast ──▶ Progress ◀── every event of the run
//!                  └──▶ standard error
//! ```

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, IsTerminal};
use std::mem;
use std::time::{Duration, Instant};

use columnar::{ColumnForecast, Event, Forecast};
use columnar_examples::printable;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

/// The pause between two lines.
const PAUSE: Duration = Duration::from_secs(5);

const BAR: &str = "{prefix} {bar:24.cyan/dim} {pos:>6}/{len:<6} {rate:>7} {eta:>4} {msg}";

/// Shows the progress of a run.
pub(crate) struct Progress {
    tally: Tally,
    display: Display,
}

enum Display {
    /// One bar for each column of the tally; the last bar is for all columns.
    Bars(Vec<ProgressBar>),
    Lines {
        began: Instant,
        /// The time of the last line.
        printed: Instant,
    },
}

impl Progress {
    /// The progress of the run that the forecast is about.
    pub(crate) fn new(forecast: &Forecast) -> Self {
        let (tally, now) = (Tally::new(forecast), Instant::now());
        let display = if io::stderr().is_terminal() {
            // Bars redraw lines, which only a terminal can do: a log file would fill with such lines.
            Display::Bars(bars(&tally))
        } else {
            Display::Lines { began: now, printed: now }
        };
        Self { tally, display }
    }

    /// Counts an event and shows it.
    pub(crate) fn update<C: fmt::Display>(&mut self, event: &Event<C>) {
        let Some((at, counts, error)) = self.tally.update(event) else { return };
        match &mut self.display {
            Display::Bars(bars) => {
                if let (Some(error), Some(bar)) = (error, bars.first()) {
                    // Through a bar, because a line that is printed past the bars would tear the bars.
                    bar.println(error);
                }
                show(bars.get(at), counts);
                show(bars.last(), self.tally.all());
            }
            Display::Lines { began, printed } => {
                if let Some(error) = error {
                    anstream::eprintln!("{error}");
                }
                if printed.elapsed() >= PAUSE {
                    *printed = Instant::now();
                    anstream::eprintln!("{}", self.tally.line(began.elapsed()));
                }
            }
        }
    }

    /// Leaves the progress on the screen. The run is complete, or was dropped.
    pub(crate) fn finish(self) {
        match self.display {
            Display::Bars(bars) => {
                bars.iter().for_each(ProgressBar::abandon);
                // The cursor is at the end of the last bar.
                anstream::eprintln!();
            }
            Display::Lines { began, .. } => anstream::eprintln!("{}", self.tally.line(began.elapsed())),
        }
    }
}

fn bars(tally: &Tally) -> Vec<ProgressBar> {
    let width = tally.columns.iter().map(|column| column.name.len()).max().unwrap_or_default();
    let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
    let rate = |state: &ProgressState, out: &mut dyn fmt::Write| {
        // A bar that cannot be written has no place for an error.
        let _ = write!(out, "{:.0}/s", state.per_sec());
    };
    let style = style.with_key("rate", rate);
    let screen = MultiProgress::new();
    let bar = |name: &str, counts: Counts| {
        let bar = screen.add(ProgressBar::new(counts.total as u64));
        bar.set_style(style.clone());
        bar.set_prefix(format!("{name:<width$}"));
        bar
    };
    let mut bars: Vec<_> = tally.columns.iter().map(|column| bar(&column.name, column.counts)).collect();
    bars.push(bar("all", tally.all()));
    bars
}

fn show(bar: Option<&ProgressBar>, counts: Counts) {
    if let Some(bar) = bar {
        bar.set_length(counts.total as u64);
        bar.set_position(counts.settled() as u64);
        bar.set_message(counts.trouble());
    }
}

/// The cells of a run, counted by column.
#[derive(Debug)]
struct Tally {
    /// The columns of the forecast, which have cells to compute.
    columns: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    name: String,
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

impl Tally {
    fn new(forecast: &Forecast) -> Self {
        let column = |part: &ColumnForecast| Column {
            name: part.column.to_string(),
            counts: Counts { total: part.cells, ..Counts::default() },
            failed: BTreeSet::new(),
            has_failed: false,
        };
        Self { columns: forecast.columns.iter().map(column).collect() }
    }

    /// Counts an event. Returns the index of its column, the column's counts, and the error if it is the column's
    /// first: the next thousand cells may fail for the same reason.
    fn update<C: fmt::Display>(&mut self, event: &Event<C>) -> Option<(usize, Counts, Option<String>)> {
        // Deltas are many and count for nothing.
        if matches!(event, Event::Delta { .. }) {
            return None;
        }
        let name = event.column().to_string();
        let at = self.columns.iter().position(|column| column.name == name)?;
        let column = self.columns.get_mut(at)?;
        let error = column.update(event);
        Some((at, column.counts, error))
    }

    fn all(&self) -> Counts {
        self.columns.iter().map(|column| column.counts).fold(Counts::default(), Counts::and)
    }

    /// The tally on one line.
    fn line(&self, elapsed: Duration) -> String {
        // At least 1, because the rate divides by this number.
        let (all, millis) = (self.all(), elapsed.as_millis().max(1));
        let (settled, left) = (all.settled() as u128, (all.total - all.settled()) as u128);
        // `None` while no cell is settled, as there is no rate yet.
        let to_go = match (left * millis).checked_div(settled * 1000) {
            Some(seconds) if left > 0 => format!(", {seconds} s to go"),
            _ => String::new(),
        };
        let done = format!("{settled}/{} cells, {}/s{to_go}", all.total, settled * 1000 / millis);
        let column = |column: &Column| format!("{} {}", column.name, column.counts.settled());
        let columns: Vec<String> = self.columns.iter().map(column).collect();
        let parts = [done, all.trouble(), columns.join(", ")];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

impl Column {
    fn update<C>(&mut self, event: &Event<C>) -> Option<String> {
        let (counts, mut first_error) = (&mut self.counts, None);
        match event {
            Event::Value { .. } => counts.stored += 1,
            Event::Retry { .. } => counts.retried += 1,
            Event::Failed { step, error, .. } => {
                self.failed.insert(*step);
                let is_first = !mem::replace(&mut self.has_failed, true);
                first_error =
                    is_first.then(|| format!("`{}` failed at step {step}: {}", self.name, printable(error)));
            }
            Event::Skipped { step, .. } => {
                // A column with `or_skip` reports the failure of a cell before the skip.
                self.failed.remove(step);
                counts.skipped += 1;
            }
            _ => {}
        }
        counts.failed = self.failed.len();
        // The forecast does not know the values that are pushed during the run.
        counts.total = counts.total.max(counts.settled());
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

#[cfg(test)]
mod tests {
    use columnar::prelude::*;

    use super::*;

    /// The tally and the errors of a run over four messages. One of the two columns skips the steps of failed cells.
    async fn a_run() -> Result<(Tally, Vec<String>)> {
        let user = source("user");
        let fails = |at: usize| {
            move |cx: Context| async move { if cx.step() >= at { Err("no answer") } else { Ok("yes") } }
        };
        let skips = column("skips", user.latest(), fails(3).or_skip());
        let waits = column("waits", user.latest(), fails(2).or_wait());
        let f = flow([skips, waits])?;
        for text in ["one", "two", "three", "four"] {
            f.push("user", text).await?;
        }
        let (mut tally, mut errors) = (Tally::new(&f.forecast()), Vec::new());
        let mut run = f.run();
        while let Some(event) = run.try_next().await? {
            errors.extend(tally.update(&event).and_then(|(_, _, error)| error));
        }
        Ok((tally, errors))
    }

    #[tokio::test]
    async fn every_cell_is_counted_once() -> Result<()> {
        let (tally, _) = a_run().await?;
        let counts: Vec<_> = tally.columns.iter().map(|column| column.counts).collect();
        let [skips, waits] = counts[..] else { unreachable!("there are two columns") };
        assert_eq!(skips, Counts { total: 4, stored: 3, skipped: 1, ..Counts::default() });
        assert_eq!(waits, Counts { total: 4, stored: 2, failed: 2, ..Counts::default() });
        assert_eq!(tally.all().trouble(), "1 skipped, 2 failed");
        Ok(())
    }

    #[tokio::test]
    async fn the_first_failure_of_a_column_is_reported() -> Result<()> {
        let (_, errors) = a_run().await?;
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(errors.iter().all(|error| error.contains("no answer")));
        Ok(())
    }

    #[tokio::test]
    async fn a_line_has_all_counts() -> Result<()> {
        let (mut tally, _) = a_run().await?;
        let line = "6/8 cells, 1/s, 1 s to go; 1 skipped, 2 failed; skips 4, waits 2";
        assert_eq!(tally.line(Duration::from_secs(4)), line);
        tally.columns.truncate(1);
        assert_eq!(tally.line(Duration::from_secs(2)), "4/4 cells, 2/s; 1 skipped; skips 4");
        Ok(())
    }

    #[tokio::test]
    async fn there_is_a_bar_for_each_column_and_one_for_all() -> Result<()> {
        let (tally, _) = a_run().await?;
        assert!(ProgressStyle::with_template(BAR).is_ok());
        let prefixes: Vec<_> = bars(&tally).iter().map(ProgressBar::prefix).collect();
        assert_eq!(prefixes, ["skips", "waits", "all  "]);
        Ok(())
    }
}
