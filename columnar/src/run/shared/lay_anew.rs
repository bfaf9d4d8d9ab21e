//! The decision of a log, when an update of documents is pushed: which part the update lays anew. The decision is stored in
//! the update, so contexts depend on stored values alone.

use std::sync::Arc;

use super::SharedFlow;
use crate::context::compaction::{DocumentLog, LogForm, LogReader, first_laid_anew};
use crate::context::documents::{LogPlace, Update, UpdateError};
use crate::context::{FlowPast, LogTurns, StoredCells, TakenViews};
use crate::declare::Plan;
use crate::history::Value;
use crate::run::contexts::ColumnContexts;
use crate::run::state::damaged_update;
use crate::run::{Error, Result};
use crate::schedule::Cell;

/// A column that reads the log, with the values of its views.
struct LogReading {
    contexts: Arc<ColumnContexts>,
    taken: TakenViews,
    /// Whether the provider has forgotten the last request.
    is_late: bool,
    /// The fee of writing, over the price of a token, where the lifetime of marks changes it.
    write: Option<f64>,
}

impl SharedFlow {
    /// The text of an update that lays a part of the log anew; `None` if the update stays as it is, because nothing is worth
    /// it, the update says itself what is laid anew, or no column reads a log. `value` is the text of an update that can be
    /// applied.
    pub(super) fn laid_anew(&self, plan: &Plan, cell: Cell, value: &Value) -> Result<Option<Value>> {
        let readers: Vec<usize> = log_readers(plan, cell.column).collect();
        if readers.is_empty() {
            return Ok(None);
        }
        let before = self.log_before(plan, cell, form(plan, &readers))?;
        self.decided(plan, cell, value, &before, &readers).map_err(|source| {
            let column = plan.schema().name(cell.column).clone();
            Error::Update { column, step: cell.step, source }
        })
    }

    /// The text of an update with the decision, and without one `None`. The log after the update is remembered.
    fn decided(
        &self,
        plan: &Plan,
        cell: Cell,
        value: &Value,
        before: &DocumentLog,
        readers: &[usize],
    ) -> Result<Option<Value>, UpdateError> {
        let mut update = Update::parse(value.clone())?;
        let log = before.next(cell.step, &update)?;
        let is_decided = update.first_laid_anew().is_some();
        let from = (!is_decided).then(|| self.first_laid_anew(&log, cell.step, readers)).flatten();
        let Some(from) = from else {
            self.remember_log(plan, cell, log);
            return Ok(None);
        };
        update = update.laid_anew_from(from);
        self.remember_log(plan, cell, before.next(cell.step, &update)?);
        update.to_text().map(Some)
    }

    /// The first step of the part that is worth it for the columns that read the log. Calls counters.
    fn first_laid_anew(&self, log: &DocumentLog, step: usize, readers: &[usize]) -> Option<LogPlace> {
        let readings: Vec<LogReading> =
            readers.iter().filter_map(|column| self.reading(*column, step)).collect();
        let turns: Vec<LogTurns> = readings.iter().map(|it| LogTurns::new(&it.taken)).collect();
        let tokens: Vec<_> = turns.iter().map(|turns| |from: usize| turns.tokens(from)).collect();
        let readers = readings.iter().zip(&tokens).filter_map(|(reading, tokens)| {
            let assembler = &reading.contexts.assembler;
            let system = assembler.overhead().instruction.unwrap_or(0);
            let mut prices = assembler.prices()?;
            prices.write = reading.write.unwrap_or(prices.write);
            Some(LogReader { prices, system, turns: tokens, is_late: reading.is_late })
        });
        first_laid_anew(log, step, &readers.collect::<Vec<_>>())
    }

    /// The values that a column shows at a step, as far as they are stored.
    fn reading(&self, column: usize, step: usize) -> Option<LogReading> {
        let contexts = self.prepare(column)?;
        let state = self.lock();
        let reads = Arc::clone(state.plan.schema().reads(column)?);
        let taken = contexts.assembler.take(reads, Cell { column, step }, FlowPast::default(), |column| {
            StoredCells { history: state.table.history(column), skipped: state.scheduler.skipped(column) }
        });
        let since = state.since_last_request(column);
        let lifetime = state.last_write(column, contexts.policy).map(|write| write.lifetime);
        let write = state.write_factor(column, contexts.policy);
        drop(state);
        let is_late = since.is_some_and(|since| lifetime.is_none_or(|lifetime| since > lifetime));
        Some(LogReading { contexts, taken, is_late, write })
    }

    /// The log of a source before a cell, found from the stored updates, which are in memory.
    fn log_before(&self, plan: &Plan, cell: Cell, form: LogForm) -> Result<DocumentLog> {
        let name = plan.schema().name(cell.column);
        let ((first, mut log), updates) = {
            let state = self.lock();
            let known = state.logs.get(name).cloned();
            let known = known.filter(|(steps, log)| *steps <= cell.step && log.form() == form);
            (known.unwrap_or_else(|| (0, DocumentLog::new(form))), state.table.history(cell.column))
        };
        for step in first..cell.step {
            let update = updates.value(step).map_or_else(|| Ok(Update::new()), Update::parse);
            let next = update.and_then(|update| log.next(step, &update));
            log = next.map_err(|error| damaged_update(name, step, &error))?;
        }
        Ok(log)
    }

    fn remember_log(&self, plan: &Plan, cell: Cell, log: DocumentLog) {
        let name = plan.schema().name(cell.column).clone();
        self.lock().logs.insert(name, (cell.step + 1, log));
    }
}

/// The columns that read a source as a log.
fn log_readers(plan: &Plan, source: usize) -> impl Iterator<Item = usize> {
    let readers = plan.readers(source).iter().map(|reader| reader.column);
    readers.filter(move |column| {
        let compacted = plan.schema().reads(*column).and_then(|reads| reads.compacted());
        compacted.is_some_and(|(input, _)| input.column == source)
    })
}

/// The form of the log that is decided about. Where columns differ, the log has whole texts and keeps the old ones, which is
/// the most that any of the columns shows.
fn form(plan: &Plan, readers: &[usize]) -> LogForm {
    let forms = readers.iter().filter_map(|column| {
        let (_, view) = plan.schema().reads(*column)?.compacted()?;
        Some(LogForm::of(view))
    });
    forms.reduce(LogForm::and).unwrap_or_default()
}
