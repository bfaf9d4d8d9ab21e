//! The forecast of the next run.

use std::fmt;
use std::sync::Arc;

use super::dry_run::{DryRun, TokenSums, waves};
use super::sharing::{SharedForecast, outline};
use crate::declare::Name;
use crate::model::usage::{Dollars, Price, Usage, grouped};
use crate::model::{ContextWindow, MaxTokens};
use crate::run::shared::SharedFlow;
use crate::run::state::FlowState;
use crate::run::user_code::caught;

/// A forecast of the next run, if no cell fails and nothing is pushed. A forecast prints as a table with a line for each
/// column.
///
/// A cell that is [not in memory](crate::reopen::OpenOptions::recent) counts with the average length of the column, even if
/// the cell is skipped.
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
    /// The number of these cells that call a model, as far as the compute steps declare calls with an
    /// [instruction](crate::Compute::instruction): prompts do, closures do not.
    pub calls: usize,
    /// The tokens of all contexts and instructions, within the budgets, by the counter of the flow. A missing value has the
    /// average length of the values of the column, or of all columns.
    pub input_tokens: usize,
    /// The tokens of the values that will be computed, counted in the same way, and at most
    /// [`max_tokens`](crate::Prompt::max_tokens) for each.
    pub output_tokens: usize,
    /// The cost of these tokens for the calls whose model has a known [price](crate::usage::Price), if nothing is cached.
    pub cost: Dollars,
    /// The number of calls without a known price.
    pub unpriced: usize,
    /// The cost of these calls [by batches](crate::guide::batches), where the library knows batches of the provider; of the
    /// other calls as in [`cost`](Self::cost).
    pub batch_cost: Dollars,
    /// The number of batches that follow each other: one for all calls of a column that reads sources alone, one more for a
    /// column that reads such a column, and one for each step of a column with self history.
    pub waves: usize,
    /// The number of cells that wait for an [answer](crate::compute::external) from outside when the run ends. The cells that
    /// depend on these are not counted.
    pub pending: usize,
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
    /// The number of cells that will be computed.
    pub cells: usize,
    /// The number of these cells that call a model.
    pub calls: usize,
    /// The tokens of the contexts and instructions.
    pub input_tokens: usize,
    /// The tokens of the longest of these contexts with the instruction.
    pub longest_input: usize,
    /// The tokens of the values.
    pub output_tokens: usize,
    /// The cost if nothing is cached; `None` if the column calls no model with a known price.
    pub cost: Option<Dollars>,
    /// The same by batches, where the library knows batches of the provider.
    pub batch_cost: Option<Dollars>,
    /// The maximum number of cells that will be computed at once.
    pub width: usize,
    /// The first context that does not fit, if there is one and the [window](ContextWindow) of the model is known.
    pub overflow: Option<Overflow>,
    /// What the requests have in common with requests of another column, which are sent before.
    pub shared: Option<SharedForecast>,
}

/// The first step of a column in a [`Forecast`] at which the context, the instruction and the longest reply do not fit into
/// the context window of the model. A [budget](crate::guide::budgets) or a smaller view keeps contexts below the window. An
/// overflow prints as a part of a sentence.
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
    /// The context window of the model.
    pub window: ContextWindow,
}

impl fmt::Display for Overflow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { step, model, window } = self;
        let tokens = grouped(window.tokens);
        let step = grouped(*step);
        write!(f, "reaches the context window of `{model}` ({tokens} tokens) at step {step}")
    }
}

impl fmt::Display for Forecast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const HEADERS: [&str; 6] = ["cells", "calls", "tokens in", "tokens out", "at once", "cost"];
        let Self { cells, calls, input_tokens, output_tokens, width, rounds, columns, .. } = self;
        let pending = match self.pending {
            0 => String::new(),
            1 => "; 1 cell waits for an answer".to_owned(),
            cells => format!("; {} cells wait for an answer", grouped(cells)),
        };
        if columns.is_empty() {
            return write!(f, "nothing to compute{pending}");
        }
        let name = columns.iter().map(|part| part.column.len()).max().unwrap_or(0).max("column".len());
        let is_priced = self.cost > Dollars::ZERO;
        let headers = if is_priced { &HEADERS[..] } else { &HEADERS[..5] };
        let all = figures([*cells, *calls, *input_tokens, *output_tokens, *width], Some(self.cost));
        let columns_alone = columns.iter().map(|part| {
            let ColumnForecast { column, cells, calls, input_tokens, output_tokens, width, .. } = part;
            (column.as_str(), figures([*cells, *calls, *input_tokens, *output_tokens, *width], part.cost))
        });
        let names = headers.iter().map(|header| (*header).to_owned()).collect();
        let lines = [("column", names)].into_iter().chain(columns_alone);
        for (column, figures) in lines.chain([("all", all.clone())]) {
            write!(f, "{column:name$}")?;
            // No figure of a column is longer than the sum of all columns.
            for ((figure, header), all) in figures.iter().zip(headers).zip(&all) {
                write!(f, "  {figure:>0$}", header.len().max(all.len()))?;
            }
            writeln!(f)?;
        }
        let plural = if *rounds == 1 { "" } else { "s" };
        write!(f, "in {} round{plural}{pending}; tokens are estimates", grouped(*rounds))?;
        if is_priced {
            f.write_str(", and the cost is that of calls without a cache")?;
        }
        if is_priced && self.unpriced > 0 {
            write!(f, ", without {} calls that have no price", grouped(self.unpriced))?;
        }
        if self.batch_cost < self.cost {
            let plural = if self.waves == 1 { "" } else { "s" };
            write!(f, "; by batches {:.2} in {} wave{plural}", self.batch_cost, grouped(self.waves))?;
        }
        let mut overflows = columns.iter().filter_map(|part| Some((&part.column, part.overflow.as_ref()?)));
        overflows.try_for_each(|(column, overflow)| write!(f, "\n`{column}` {overflow}"))?;
        let mut shared = columns.iter().filter_map(|part| Some((&part.column, part.shared.as_ref()?)));
        shared.try_for_each(|(column, shared)| write!(f, "\n`{column}` {shared}"))
    }
}

/// The figures of a line. A cost is rounded up to a cent.
fn figures(numbers: [usize; 5], cost: Option<Dollars>) -> Vec<String> {
    let cost = cost.map(|cost| format!("{cost:.2}")).unwrap_or_default();
    numbers.map(grouped).into_iter().chain([cost]).collect()
}

impl SharedFlow {
    /// Forecasts the next run, on a copy of the state that no lock guards: counters and models are called.
    pub(crate) fn forecast(&self) -> Forecast {
        let mut copy = self.lock().before(usize::MAX);
        copy.forecast()
    }
}

impl FlowState {
    fn forecast(&mut self) -> Forecast {
        let dry_run = DryRun::of(self.scheduler.clone(), self.plan.schema().columns().len());
        let waves = waves(self.scheduler.clone(), |column| {
            self.settings.get(column).is_some_and(|settings| settings.model.is_some())
        });
        let sums = TokenSums::of(self, &dry_run);
        let outline = outline(&self.plan, &self.settings, &self.defaults.model);
        let pending = dry_run.scheduler.progress().pending;
        let mut forecast =
            Forecast { rounds: dry_run.rounds, width: dry_run.width, pending, waves, ..Forecast::default() };
        for (column, cells) in dry_run.columns.into_iter().enumerate() {
            let part = self.forecast_column(&sums, column, &cells.steps);
            let Some(mut part) = part.map(|part| ColumnForecast { width: cells.width, ..part }) else {
                continue;
            };
            let shares = outline.columns.get(column).map_or(&[][..], |outline| &outline.shares);
            part.shared = self.forecast_shared(&sums, column, &cells.steps, shares);
            forecast.cells += part.cells;
            forecast.calls += part.calls;
            forecast.input_tokens += part.input_tokens;
            forecast.output_tokens += part.output_tokens;
            forecast.cost += part.cost.unwrap_or_default();
            forecast.batch_cost += part.batch_cost.or(part.cost).unwrap_or_default();
            forecast.unpriced += if part.cost.is_none() { part.calls } else { 0 };
            forecast.columns.push(part);
        }
        forecast
    }

    /// The forecast of a column at these steps; `None` if there are none.
    fn forecast_column(
        &mut self,
        sums: &TokenSums,
        column: usize,
        steps: &[usize],
    ) -> Option<ColumnForecast> {
        let &first = steps.first()?;
        let inputs = self.request_tokens(sums, column, steps)?;
        let calls_model = self.contexts_now(column)?.assembler.overhead().instruction.is_some();
        // The name of a model is code of users, as the counter is. A run says what is wrong with the name.
        let overflow = caught(|| self.overflow(column, steps, &inputs)).flatten();
        // All missing values of a column have the same assumed length, so the first one is enough.
        let output = sums.values(column, first..first + 1);
        let [cost, batch_cost] =
            [false, true].map(|by_batch| caught(|| self.cost(column, &inputs, output, by_batch)).flatten());
        Some(ColumnForecast {
            column: self.name(column).clone(),
            cells: steps.len(),
            calls: if calls_model { steps.len() } else { 0 },
            input_tokens: inputs.iter().sum(),
            longest_input: inputs.into_iter().max().unwrap_or(0),
            output_tokens: steps.len() * output,
            cost,
            batch_cost,
            width: 0,
            overflow,
            shared: None,
        })
    }

    /// The tokens of the requests of a column at these steps, which ascend.
    pub(super) fn request_tokens(
        &mut self,
        sums: &TokenSums,
        column: usize,
        steps: &[usize],
    ) -> Option<Vec<usize>> {
        if let Some(other) = self.other_contexts(column) {
            return other.request_tokens(steps);
        }
        let contexts = self.contexts_now(column)?;
        let plan = Arc::clone(&self.plan);
        let reads = plan.schema().reads(column)?;
        let assembler = &contexts.assembler;
        let overhead = assembler.overhead();
        let last = steps.last().copied().unwrap_or(0);
        let documents = assembler.document_tokens(reads, last + 1, |source| self.table.history(source));
        let threads = self.thread_tokens(sums, column, steps);
        let requests = steps.iter().enumerate().map(|(at, step)| {
            let fixed =
                documents.get(*step).or(threads.get(at)).copied().unwrap_or(0) + overhead.own_tokens();
            let context = sums.context(reads, column, *step, overhead) + fixed;
            // The limit is for the messages alone: the instruction has been subtracted from the budget.
            context.min(assembler.max_tokens()) + overhead.instruction.unwrap_or(0)
        });
        Some(requests.collect())
    }

    /// The tokens of the conversations that a column continues at these steps; none if it continues none.
    fn thread_tokens(&mut self, sums: &TokenSums, column: usize, steps: &[usize]) -> Vec<usize> {
        let Some(thread) = self.plan.schema().thread_of(column) else { return Vec::new() };
        let steps = sums.last_values(thread, steps);
        let requests = self.request_tokens(sums, thread, &steps).unwrap_or_default();
        let replies = steps.iter().map(|step| sums.values(thread, *step..*step + 1));
        requests.into_iter().zip(replies).map(|(request, reply)| request + reply).collect()
    }

    /// The cost of requests with these tokens, by batches or not; `None` without a known price of the column's model.
    fn cost(&self, column: usize, inputs: &[usize], output: usize, by_batch: bool) -> Option<Dollars> {
        let model = self.settings.get(column)?.model.as_ref()?.model_name(&self.defaults.model)?;
        let price = if by_batch { Price::by_batch(&model)? } else { *Price::by_model(&model)? };
        Some(inputs.iter().map(|input| price.cost(&Usage::new(*input as u64, output as u64))).sum())
    }

    /// The first of these steps whose request does not fit, if the window of the model of a column is known.
    fn overflow(&self, column: usize, steps: &[usize], inputs: &[usize]) -> Option<Overflow> {
        let settings = self.settings.get(column)?;
        let model = settings.model.as_ref()?.model_name(&self.defaults.model)?;
        let window = ContextWindow::by_model(&model)?;
        let max_tokens = settings.max_tokens.unwrap_or_else(|| MaxTokens::by_model(&model).default);
        let mut requests = steps.iter().zip(inputs);
        let (step, _) = requests.find(|(_, input)| !window.holds(**input, max_tokens))?;
        Some(Overflow { step: *step, model, window })
    }
}
