//! The forecast of the next run.
//!
//! A dry run of the scheduler counts the cells and the width, which are exact if nothing fails and all cells take equally
//! long. Tokens are estimated, because the new values are not known yet.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::table::Table;
use crate::context::{Assembler, Exclusions, Overhead};
use crate::declare::{Name, Plan};
use crate::model::ContextWindow;
use crate::model::usage::Grouped;
use crate::schedule::{Action, Cell, Scheduler};

/// The assumed number of tokens of a value while no column has computed values.
const DEFAULT_TOKENS: usize = 100;

/// A forecast of the next run, if no cell fails and nothing is pushed. It prints as a table with a line for each column.
///
/// A cell that is [not in memory](crate::reopen::OpenOptions::recent) counts with the average length of its column, even if
/// it is skipped.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let user = source("user");
/// let topics = column("topics", user.latest(), prompt("List the topics."));
/// let f = flow([&topics])?;
/// for text in ["one", "two", "three"] {
///     f.push("user", text).await?;
/// }
/// f.run().await?;
///
/// f.add_column(column("mood", (&topics, this().latest()), prompt("Name the mood."))).await?;
/// let forecast = f.forecast();
/// assert_eq!((forecast.cells, forecast.calls), (3, 3));
/// assert_eq!((forecast.width, forecast.rounds), (1, 3)); // each step waits for the one before
/// let table = "\
/// column  cells  calls  tokens in  tokens out  at once
/// mood        3      3         73           6        1
/// all         3      3         73           6        1
/// in 3 rounds; tokens are estimates";
/// assert_eq!(forecast.to_string(), table);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Forecast {
    /// The number of cells that will be computed.
    pub cells: usize,
    /// The number of these cells that call a model, as far as their compute steps declare it with an
    /// [instruction](crate::Compute::instruction): prompts do, closures do not.
    pub calls: usize,
    /// The tokens of all contexts and instructions, within their budgets, counted with the counter of the flow. A missing
    /// value has the average length of its column's values, or of those of all columns.
    pub input_tokens: usize,
    /// The tokens of the values that will be computed, counted in the same way.
    pub output_tokens: usize,
    /// The maximum number of cells that will be computed at once.
    pub width: usize,
    /// The duration of the run in cells, if all cells take equally long: at least this many follow each other.
    pub rounds: usize,
    /// The columns with cells that will be computed, in order of declaration.
    pub columns: Vec<ColumnForecast>,
}

/// The forecast of one column in a [`Forecast`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnForecast {
    /// The column.
    pub column: Name,
    /// The number of its cells that will be computed.
    pub cells: usize,
    /// The number of these cells that call a model.
    pub calls: usize,
    /// The tokens of their contexts and instructions.
    pub input_tokens: usize,
    /// The tokens of the longest of these contexts with the instruction.
    pub longest_input: usize,
    /// The tokens of their values.
    pub output_tokens: usize,
    /// The maximum number of its cells that will be computed at once.
    pub width: usize,
    /// The first context that does not fit, if there is one and the [window](ContextWindow) of the model is known.
    pub overflow: Option<Overflow>,
}

/// The first step of a column in a [`Forecast`] at which the context, the instruction and the longest reply do not fit into
/// the context window of the model. A [budget](crate::guide::budgets) or a smaller view keeps contexts below it. It prints
/// as a part of a sentence.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let user = source("user");
/// let reply = prompt("You are a helpful assistant.").model("anthropic/claude-haiku-4-5").max_tokens(20_000);
/// let f = flow([column("assistant", (&user, this()), reply)])?;
/// for chapter in 0..3 {
///     f.push("user", format!("{chapter} ").repeat(150_000)).await?;
/// }
/// let forecast = f.forecast();
/// let overflow = forecast.columns[0].overflow.as_ref().expect("three chapters do not fit");
/// assert_eq!((overflow.step, overflow.window.tokens), (2, 200_000));
///
/// let line = "`assistant` reaches the context window of `anthropic/claude-haiku-4-5` (200,000 tokens) at step 2";
/// assert_eq!(forecast.to_string().lines().last(), Some(line));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overflow {
    /// The step.
    pub step: usize,
    /// The model.
    pub model: Arc<str>,
    /// Its context window.
    pub window: ContextWindow,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, model, window } = self;
        let (tokens, step) = (grouped(window.tokens), grouped(*step));
        write!(f, "reaches the context window of `{model}` ({tokens} tokens) at step {step}")
    }
}

/// The most tokens that a column may send and receive.
pub(super) struct Limits {
    pub(super) model: Arc<str>,
    pub(super) window: ContextWindow,
    pub(super) max_tokens: u32,
}

impl Limits {
    /// The first of these steps whose request does not fit.
    fn overflow(self, steps: &[usize], input: impl Fn(&usize) -> usize) -> Option<Overflow> {
        let step = *steps.iter().find(|step| !self.window.holds(input(step), self.max_tokens))?;
        Some(Overflow { step, model: self.model, window: self.window })
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEADERS: [&str; 5] = ["cells", "calls", "tokens in", "tokens out", "at once"];
        let Self { cells, calls, input_tokens, output_tokens, width, rounds, columns } = self;
        if columns.is_empty() {
            return f.write_str("nothing to compute");
        }
        let name = columns.iter().map(|part| part.column.len()).max().unwrap_or(0).max("column".len());
        let all = [*cells, *calls, *input_tokens, *output_tokens, *width].map(grouped);
        let mut line = |column: &str, figures: [&str; 5]| {
            write!(f, "{column:name$}")?;
            // No figure of a column is longer than that of all columns.
            for ((figure, header), all) in figures.iter().zip(HEADERS).zip(&all) {
                write!(f, "  {figure:>0$}", header.len().max(all.len()))?;
            }
            writeln!(f)
        };
        line("column", HEADERS)?;
        for part in columns {
            let ColumnForecast { column, cells, calls, input_tokens, output_tokens, width, .. } = part;
            let figures = [*cells, *calls, *input_tokens, *output_tokens, *width].map(grouped);
            line(column, figures.each_ref().map(String::as_str))?;
        }
        line("all", all.each_ref().map(String::as_str))?;
        let plural = if *rounds == 1 { "" } else { "s" };
        write!(f, "in {} round{plural}; tokens are estimates", grouped(*rounds))?;
        let mut overflows = columns.iter().filter_map(|part| Some((&part.column, part.overflow.as_ref()?)));
        overflows.try_for_each(|(column, overflow)| write!(f, "\n`{column}` {overflow}"))
    }
}

fn grouped(figure: usize) -> String {
    Grouped(u64::try_from(figure).unwrap_or(u64::MAX)).to_string()
}

/// Forecasts the next run of this scheduler. Each derived column has an assembler, and each of a model with a known window
/// has limits.
pub(super) fn forecast<'a>(
    plan: &Plan,
    scheduler: Scheduler,
    (table, exclusions): (&Table, &Exclusions),
    assembler: impl Fn(usize) -> Option<&'a Assembler>,
    limits: impl Fn(usize) -> Option<Limits>,
) -> Forecast {
    let sums = TokenSums::of(plan, &scheduler, table, exclusions);
    let dry_run = DryRun::of(scheduler, plan.schema().columns().len());
    let mut forecast = Forecast { rounds: dry_run.rounds, width: dry_run.width, ..Forecast::default() };
    for (column, (cells, width)) in dry_run.columns.into_iter().enumerate() {
        let Some(&first) = cells.first() else { continue };
        let Some(assembler) = assembler(column) else { continue };
        let overhead = assembler.overhead();
        let tiered = plan.schema().reads(column).and_then(|reads| reads.tiered.as_ref());
        let documents = tiered.map_or_else(Vec::new, |tiered| {
            assembler.document_tokens(&table.history(tiered.column), cells.last().map_or(0, |last| last + 1))
        });
        let context = |&step: &usize| {
            sums.context(plan, column, step, overhead) + documents.get(step).copied().unwrap_or(0)
        };
        // The limit is for the messages alone: the instruction has been subtracted from the budget.
        let input =
            |step: &usize| context(step).min(assembler.max_tokens()) + overhead.instruction.unwrap_or(0);
        let part = ColumnForecast {
            column: plan.schema().name(column).clone(),
            cells: cells.len(),
            calls: if overhead.instruction.is_some() { cells.len() } else { 0 },
            input_tokens: cells.iter().map(input).sum(),
            longest_input: cells.iter().map(input).max().unwrap_or(0),
            // All missing values of a column have the same assumed length, so the first one is enough.
            output_tokens: cells.len() * sums.values(column, first..first + 1),
            width,
            overflow: limits(column).and_then(|limits| limits.overflow(&cells, input)),
        };
        forecast.cells += part.cells;
        forecast.calls += part.calls;
        forecast.input_tokens += part.input_tokens;
        forecast.output_tokens += part.output_tokens;
        forecast.columns.push(part);
    }
    forecast
}

/// A run in which every cell takes one round.
struct DryRun {
    rounds: usize,
    width: usize,
    /// By column: the computed steps, and the maximum of them in one round.
    columns: Vec<(Vec<usize>, usize)>,
}

impl DryRun {
    fn of(mut scheduler: Scheduler, columns: usize) -> Self {
        let mut dry_run = Self { rounds: 0, width: 0, columns: std::vec![(Vec::new(), 0); columns] };
        // The cells that an active run is computing count as missing.
        scheduler.stop();
        scheduler.begin();
        loop {
            let round = start_round(&mut scheduler);
            if round.is_empty() {
                return dry_run;
            }
            dry_run.add(&round);
            for cell in round {
                let computed = scheduler.handle_computed(cell);
                debug_assert!(computed.is_ok(), "the cell was started just now");
            }
        }
    }

    fn add(&mut self, round: &[Cell]) {
        self.rounds += 1;
        self.width = self.width.max(round.len());
        let mut widths: BTreeMap<usize, usize> = BTreeMap::new();
        for cell in round {
            *widths.entry(cell.column).or_default() += 1;
            if let Some((steps, _)) = self.columns.get_mut(cell.column) {
                steps.push(cell.step);
            }
        }
        for (column, now) in widths {
            if let Some((_, width)) = self.columns.get_mut(column) {
                *width = now.max(*width);
            }
        }
    }
}

/// Stores the computed cells, then starts all that are ready, and returns those.
fn start_round(scheduler: &mut Scheduler) -> Vec<Cell> {
    let mut started = Vec::new();
    while let Some(action) = scheduler.poll() {
        match action {
            Action::Compute(cell) => started.push(cell),
            Action::Store(cell) | Action::Skip(cell) => {
                let stored = scheduler.handle_stored(cell, matches!(action, Action::Skip(_)));
                debug_assert!(stored.is_ok(), "the scheduler asked for it");
            }
            Action::Emit(_) => {}
        }
    }
    started
}

/// Sums of the tokens of all values, stored or assumed, so that the size of a window is a subtraction.
struct TokenSums<'e> {
    /// By column and step: the tokens of all earlier steps.
    before: Vec<Vec<usize>>,
    exclusions: &'e Exclusions,
}

impl<'e> TokenSums<'e> {
    fn of(plan: &Plan, scheduler: &Scheduler, table: &Table, exclusions: &'e Exclusions) -> Self {
        let columns = 0..plan.schema().columns().len();
        let lengths: Vec<Vec<Option<usize>>> =
            columns.map(|column| tokens(scheduler, table, column)).collect();
        let derived = lengths.iter().enumerate().filter(|(column, _)| !plan.schema().is_source(*column));
        let typical = mean(derived.flat_map(|(_, lengths)| lengths)).unwrap_or(DEFAULT_TOKENS);
        let before = |lengths: &Vec<Option<usize>>| {
            let assumed = mean(lengths).unwrap_or(typical);
            let mut sums = Vec::with_capacity(lengths.len() + 1);
            sums.push(0);
            sums.extend(lengths.iter().scan(0, |sum, length| {
                *sum += length.unwrap_or(assumed);
                Some(*sum)
            }));
            sums
        };
        Self { before: lengths.iter().map(before).collect(), exclusions }
    }

    /// The tokens of a column's values within some steps.
    fn values(&self, column: usize, steps: Range<usize>) -> usize {
        let before = |step| self.before.get(column).and_then(|sums| sums.get(step)).copied().unwrap_or(0);
        before(steps.end).saturating_sub(before(steps.start))
    }

    /// The tokens of a column's values within some steps, each with an overhead, as a context of `step` shows them.
    fn shown(
        &self,
        (column, name): (usize, &Name),
        steps: Range<usize>,
        overhead: usize,
        step: usize,
    ) -> usize {
        let excluded =
            if self.exclusions.is_empty() { BTreeSet::new() } else { self.exclusions.at(name, step) };
        let excluded = excluded.range(steps.clone());
        let excluded = excluded.map(|&step| self.values(column, step..step + 1) + overhead).sum();
        (steps.len() * overhead + self.values(column, steps)).saturating_sub(excluded)
    }

    /// The tokens of the context of a cell.
    fn context(&self, plan: &Plan, column: usize, step: usize, overhead: &Overhead) -> usize {
        let Some(reads) = plan.schema().reads(column) else { return 0 };
        let inputs = reads.inputs.iter().zip(&overhead.inputs).map(|(input, delimiters)| {
            self.shown((input.column, &input.name), input.spec.cells(step), *delimiters, step)
        });
        let self_history = reads.self_view.as_ref().map_or(0, |view| {
            self.shown((column, &reads.column), view.self_cells(step), overhead.separator, step)
        });
        let groups = reads.groups.iter().zip(&overhead.groups).map(|(group, tokens)| {
            let members = reads.inputs.get(group.inputs.clone()).unwrap_or_default();
            members.iter().map(|input| input.spec.turns(step).len()).max().unwrap_or(0) * tokens
        });
        let instructions = reads.instructions.iter().map(|input| {
            self.shown((input.column, &input.name), input.spec.cells(step), overhead.separator, step)
        });
        let elided = (0..=reads.inputs.len()).filter(|at| reads.is_elided(*at)).map(|at| {
            let hidden_self = || reads.self_view.as_ref().map_or(0, |view| view.self_cells(step).start);
            let hidden = reads.inputs.get(at).map_or_else(hidden_self, |input| input.spec.cells(step).start);
            if hidden == 0 { 0 } else { overhead.elision(hidden, reads.shown_as(at)).1 + overhead.separator }
        });
        instructions.sum::<usize>()
            + inputs.sum::<usize>()
            + groups.sum::<usize>()
            + self_history
            + elided.sum::<usize>()
    }
}

/// The tokens of a column's value in each step that has begun; `None` for a missing value.
fn tokens(scheduler: &Scheduler, table: &Table, column: usize) -> Vec<Option<usize>> {
    let history = table.history(column);
    let length = |step| {
        let skipped = scheduler.is_skipped(Cell { column, step }).then_some(0);
        // A value that is only in the store has no count here, so it gets the average.
        history.text(step).map(|known| known.tokens).or(skipped)
    };
    (0..scheduler.begun()).map(length).collect()
}

fn mean<'l>(lengths: impl IntoIterator<Item = &'l Option<usize>>) -> Option<usize> {
    let (sum, count) =
        lengths.into_iter().flatten().fold((0, 0), |(sum, count), length| (sum + length, count + 1));
    sum.checked_div(count)
}
