//! The invariants of a flow, checked against everything that happens to the cells.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::declare::Name;
use crate::run::Event;
use crate::store::{Entry, StoredSteps};

/// The history of all cells of a world. Each method records an observation and checks it.
#[derive(Debug, Default)]
pub(super) struct Invariants {
    cells: BTreeMap<(Name, usize), CheckedCell>,
    /// Whether the flow uses a store of the world.
    has_store: bool,
    /// The last step of each column whose value the current run emitted.
    last_emitted: BTreeMap<Name, usize>,
    /// All observations so far, one per line, without any text of the flow.
    pub(super) log: String,
}

#[derive(Debug, Default)]
struct CheckedCell {
    computing: bool,
    successes: usize,
    /// The number of computed values that may have been lost before a store.
    interruptions: usize,
    /// The messages of the last computation, as JSON.
    messages: Option<String>,
    deltas: String,
    stored: Option<Entry>,
    emitted: bool,
}

impl CheckedCell {
    /// Whether the store has this value.
    fn holds(&self, value: Option<&str>) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.value.as_deref() == value)
    }
}

/// The violated invariant as an error.
pub(super) type Check = Result<(), String>;

const LOST: &str = "was stored and is lost";

fn refuse(is_violated: bool, column: &Name, step: usize, fault: &str) -> Check {
    if is_violated { Err(format!("`{column}` at step {step} {fault}")) } else { Ok(()) }
}

impl Invariants {
    fn write(&mut self, event: &str, column: &Name, step: usize) {
        let written = writeln!(self.log, "{event} {column} {step}");
        debug_assert!(written.is_ok(), "a string takes everything");
    }

    fn cell(&mut self, column: &Name, step: usize) -> &mut CheckedCell {
        self.cells.entry((column.clone(), step)).or_default()
    }

    pub(super) fn was_computed(&self, column: &Name, step: usize) -> bool {
        self.cells.get(&(column.clone(), step)).is_some_and(|cell| cell.messages.is_some())
    }

    pub(super) fn compute_started(&mut self, column: &Name, step: usize, messages: String) -> Check {
        self.write("computes", column, step);
        let cell = self.cell(column, step);
        // After a lost confirmation the flow cannot know that the store has the value, and computes it again.
        let is_stored = cell.emitted || cell.stored.is_some() && cell.interruptions == 0;
        let is_computing = std::mem::replace(&mut cell.computing, true);
        cell.messages = Some(messages);
        refuse(is_stored, column, step, "is computed although it is stored")?;
        refuse(is_computing, column, step, "is computed twice at the same time")
    }

    /// Records that the computation ended or was dropped.
    pub(super) fn compute_ended(&mut self, column: &Name, step: usize, success: bool) -> Check {
        self.write(if success { "computed" } else { "gave up" }, column, step);
        let cell = self.cell(column, step);
        cell.computing = false;
        cell.successes += usize::from(success);
        let CheckedCell { successes, interruptions, .. } = cell;
        let fault = format!("was computed {successes} times, but interrupted only {interruptions} times");
        refuse(*successes > 1 + *interruptions, column, step, &fault)
    }

    /// Records that the store has the entry, and has either `confirmed` it or reported an error.
    pub(super) fn stored(&mut self, column: &Name, step: usize, entry: &Entry, confirmed: bool) -> Check {
        self.write(if confirmed { "stored" } else { "stored, unknown" }, column, step);
        self.has_store = true;
        let cell = self.cell(column, step);
        cell.interruptions += usize::from(!confirmed);
        let is_other = cell.stored.replace(entry.clone()).is_some_and(|earlier| earlier != *entry);
        refuse(is_other, column, step, "was stored, and is stored again with another value")
    }

    /// Records that the store reported an error and has not stored the entry.
    pub(super) fn put_failed(&mut self, column: &Name, step: usize) {
        self.write("not stored", column, step);
        self.cell(column, step).interruptions += 1;
    }

    /// Records that the store reported its stored steps, which must include all confirmed steps.
    pub(super) fn steps_read(&self, column: &Name, stored_steps: &StoredSteps) -> Check {
        for ((_, step), cell) in self.cells.iter().filter(|((name, _), _)| name == column) {
            let is_there = *step < stored_steps.prefix || stored_steps.beyond.contains(step);
            refuse(cell.stored.is_some() && !is_there, column, *step, LOST)?;
        }
        Ok(())
    }

    pub(super) fn loaded(&self, column: &Name, steps: &Range<usize>, entries: &[(usize, Entry)]) -> Check {
        for ((_, step), cell) in self.cells.iter().filter(|((name, _), _)| name == column) {
            let Some(stored) = cell.stored.as_ref().filter(|_| steps.contains(step)) else { continue };
            let loaded = entries.iter().find(|(at, _)| at == step).map(|(_, entry)| entry);
            refuse(loaded.is_none(), column, *step, LOST)?;
            refuse(loaded != Some(stored), column, *step, "has changed in the store")?;
        }
        Ok(())
    }

    pub(super) fn run_started(&mut self) {
        self.log.push_str("run\n");
        self.last_emitted.clear();
        self.cells.values_mut().for_each(|cell| cell.deltas.clear());
    }

    /// Records the end of a dropped run, of which the flow may compute the missing cells again.
    pub(super) fn run_dropped(&mut self, is_stored: impl Fn(&Name, usize) -> bool) {
        self.log.push_str("run dropped\n");
        for ((column, step), cell) in &mut self.cells {
            // Any of these cells may have been in progress; the number is an upper bound.
            cell.interruptions += usize::from(!is_stored(column, *step));
        }
    }

    pub(super) fn run_failed(&mut self, column: &Name, step: usize) {
        self.write("run failed for", column, step);
    }

    /// Records that the run emitted an event; `stored` is the value that the flow has for the cell.
    pub(super) fn emitted(&mut self, event: &Event, stored: Option<&str>) -> Check {
        let column = event.column().clone();
        let step = event.step();
        self.write(kind(event), &column, step);
        match event {
            Event::Delta { text, .. } => self.cell(&column, step).deltas.push_str(text),
            Event::Retry { .. } | Event::Failed { .. } => self.cell(&column, step).deltas.clear(),
            Event::Warning { .. }
            | Event::Waiting { .. }
            | Event::Pending { .. }
            | Event::CacheMiss { .. } => {}
            Event::Value { value, .. } => {
                return self.finished(column, step, stored, Some(value));
            }
            Event::Skipped { .. } => return self.finished(column, step, stored, None),
        }
        Ok(())
    }

    /// Records that the run emitted the last event of a cell.
    fn finished(&mut self, column: Name, step: usize, stored: Option<&str>, value: Option<&str>) -> Check {
        let has_store = self.has_store;
        let last = self.last_emitted.get(&column).copied();
        let cell = self.cell(&column, step);
        let is_second = std::mem::replace(&mut cell.emitted, true);
        refuse(is_second, &column, step, "is emitted twice")?;
        refuse(last.is_some_and(|last| last >= step), &column, step, "is emitted after a later step")?;
        let is_stored = stored == value && (!has_store || cell.holds(value));
        refuse(!is_stored, &column, step, "is emitted and is not the stored value")?;
        // The value of the store wins over the value that is computed now, so the deltas may differ.
        let streamed = !cell.deltas.is_empty() && value.is_some() && cell.interruptions == 0;
        if streamed && Some(cell.deltas.as_str()) != value {
            return Err(format!("the deltas of `{column}` at step {step} are not its value"));
        }
        self.last_emitted.insert(column, step);
        Ok(())
    }

    /// The messages of the last computation of each cell.
    pub(super) fn messages(&self) -> impl Iterator<Item = (&Name, usize, &str)> {
        self.cells.iter().filter_map(|((name, step), cell)| Some((name, *step, cell.messages.as_deref()?)))
    }
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::Delta { .. } => "shows a delta of",
        Event::Retry { .. } => "shows a retry of",
        Event::Warning { .. } => "shows a warning about",
        Event::Waiting { .. } => "shows a wait of",
        Event::Pending { .. } => "asks for",
        Event::CacheMiss { .. } => "shows a miss of the cache of",
        Event::Failed { .. } => "shows the failure of",
        Event::Skipped { .. } => "shows the skipping of",
        Event::Value { .. } => "shows",
    }
}
