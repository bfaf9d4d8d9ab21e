//! What has happened to every cell, and what may not.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use crate::declare::Name;
use crate::run::Event;
use crate::store::{Entry, StoredSteps};

/// The account of one world. Each method notes what has happened, and tells what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Account {
    cells: BTreeMap<(Name, usize), Cell>,
    /// Whether the flow keeps its values in a store of the world.
    has_store: bool,
    /// The last step of each column that the run that goes on has shown.
    last_shown: BTreeMap<Name, usize>,
    log: String,
}

#[derive(Debug, Default)]
struct Cell {
    computing: bool,
    successes: usize,
    /// How often the value was on its way when something went wrong.
    interruptions: usize,
    /// What the compute was given, as JSON.
    saw: Option<String>,
    deltas: String,
    stored: Option<Entry>,
    shown: bool,
}

impl Cell {
    /// Whether the store has this of it.
    fn holds(&self, value: Option<&str>) -> bool {
        self.stored.as_ref().is_some_and(|stored| stored.value.as_deref() == value)
    }
}

/// What is wrong; `Ok` if nothing is.
pub(super) type Verdict = Result<(), String>;

impl Account {
    /// What has happened so far, a line each, without any text of the flow.
    pub(super) fn log(&self) -> &str {
        &self.log
    }

    fn note(&mut self, what: &str, column: &Name, step: usize) {
        let written = writeln!(self.log, "{what} {column} {step}");
        debug_assert!(written.is_ok(), "a string takes everything");
    }

    fn cell(&mut self, column: &Name, step: usize) -> &mut Cell {
        self.cells.entry((column.clone(), step)).or_default()
    }

    pub(super) fn was_computed(&self, column: &Name, step: usize) -> bool {
        self.cells.get(&(column.clone(), step)).is_some_and(|cell| cell.saw.is_some())
    }

    pub(super) fn starts(&mut self, column: &Name, step: usize, saw: String) -> Verdict {
        self.note("computes", column, step);
        let cell = self.cell(column, step);
        if cell.shown || cell.stored.is_some() && cell.interruptions == 0 {
            return Err(format!("`{column}` at step {step} is computed though it is stored"));
        }
        if std::mem::replace(&mut cell.computing, true) {
            return Err(format!("`{column}` at step {step} is computed twice at the same time"));
        }
        cell.saw = Some(saw);
        Ok(())
    }

    /// The compute is over or was dropped.
    pub(super) fn ends(&mut self, column: &Name, step: usize, success: bool) -> Verdict {
        self.note(if success { "computed" } else { "gave up" }, column, step);
        let cell = self.cell(column, step);
        cell.computing = false;
        cell.successes += usize::from(success);
        if cell.successes > 1 + cell.interruptions {
            return Err(format!(
                "`{column}` at step {step} was paid for {} times, and interrupted {} times",
                cell.successes, cell.interruptions
            ));
        }
        Ok(())
    }

    /// The store has the entry, and has said so if it is `told`.
    pub(super) fn stored(&mut self, column: &Name, step: usize, entry: &Entry, told: bool) -> Verdict {
        self.note(if told { "stored" } else { "stored, unknown" }, column, step);
        self.has_store = true;
        let cell = self.cell(column, step);
        cell.interruptions += usize::from(!told);
        match cell.stored.replace(entry.clone()) {
            Some(earlier) if earlier != *entry => {
                Err(format!("`{column}` at step {step} was stored, and is stored again as something else"))
            }
            _ => Ok(()),
        }
    }

    /// The store has not taken the entry.
    pub(super) fn refused(&mut self, column: &Name, step: usize) {
        self.note("not stored", column, step);
        self.cell(column, step).interruptions += 1;
    }

    /// A store is read; it must hold what it has confirmed.
    pub(super) fn extends(&self, column: &Name, stored_steps: &StoredSteps) -> Verdict {
        let lost = |step| stored_steps.prefix <= step && !stored_steps.beyond.contains(&step);
        match self
            .cells
            .iter()
            .find(|((name, step), cell)| name == column && cell.stored.is_some() && lost(*step))
        {
            Some(((name, step), _)) => Err(format!("`{name}` at step {step} was stored and is lost")),
            None => Ok(()),
        }
    }

    pub(super) fn loaded(&self, column: &Name, steps: &Range<usize>, entries: &[(usize, Entry)]) -> Verdict {
        let asked = |(name, step): &(Name, usize)| name == column && steps.contains(step);
        for ((name, step), cell) in self.cells.iter().filter(|(cell, _)| asked(cell)) {
            let Some(stored) = &cell.stored else { continue };
            match entries.iter().find(|(at, _)| at == step) {
                Some((_, entry)) if entry == stored => {}
                Some(_) => return Err(format!("`{name}` at step {step} has changed in the store")),
                None => return Err(format!("`{name}` at step {step} was stored and is lost")),
            }
        }
        Ok(())
    }

    pub(super) fn run_begins(&mut self) {
        self.log.push_str("run\n");
        self.last_shown.clear();
        self.cells.values_mut().for_each(|cell| cell.deltas.clear());
    }

    /// What was on its way in the run, and is not `known` to the flow, may be computed again.
    pub(super) fn run_was_dropped(&mut self, known: impl Fn(&Name, usize) -> bool) {
        self.log.push_str("run dropped\n");
        for ((column, step), cell) in &mut self.cells {
            cell.interruptions += usize::from(!known(column, *step));
        }
    }

    pub(super) fn run_failed(&mut self, column: &Name, step: usize) {
        self.note("run failed for", column, step);
    }

    /// A run shows an event; `now` is what the flow says is stored.
    pub(super) fn shows(&mut self, event: &Event, now: Option<&str>) -> Verdict {
        let (column, step) = (event.column().clone(), event.step());
        self.note(kind(event), &column, step);
        match event {
            Event::Delta { text, .. } => self.cell(&column, step).deltas.push_str(text),
            Event::Retry { .. } | Event::Failed { .. } => self.cell(&column, step).deltas.clear(),
            Event::Value { value, .. } => {
                return self.settles(column, step, now, Some(value));
            }
            Event::Skipped { .. } => return self.settles(column, step, now, None),
        }
        Ok(())
    }

    /// The one event that shows how a cell ended.
    fn settles(&mut self, column: Name, step: usize, now: Option<&str>, value: Option<&str>) -> Verdict {
        let (has_store, last) = (self.has_store, self.last_shown.get(&column).copied());
        let cell = self.cell(&column, step);
        if std::mem::replace(&mut cell.shown, true) {
            return Err(format!("`{column}` at step {step} is shown twice"));
        }
        if last.is_some_and(|last| last >= step) {
            return Err(format!("`{column}` at step {step} is shown after a later step"));
        }
        if now != value || has_store && !cell.holds(value) {
            return Err(format!("`{column}` at step {step} is shown and not what is stored"));
        }
        // What the store had already is adopted, whatever was said this time.
        let streamed = !cell.deltas.is_empty() && value.is_some() && cell.interruptions == 0;
        if streamed && Some(cell.deltas.as_str()) != value {
            return Err(format!("the deltas of `{column}` at step {step} are not its value"));
        }
        self.last_shown.insert(column, step);
        Ok(())
    }

    /// What the compute of a cell was given last.
    pub(super) fn saw(&self) -> impl Iterator<Item = (&Name, usize, &str)> {
        self.cells.iter().filter_map(|((name, step), cell)| Some((name, *step, cell.saw.as_deref()?)))
    }
}

fn kind(event: &Event) -> &'static str {
    match event {
        Event::Delta { .. } => "shows a delta of",
        Event::Retry { .. } => "shows a retry of",
        Event::Failed { .. } => "shows the failure of",
        Event::Skipped { .. } => "shows the skipping of",
        Event::Value { .. } => "shows",
    }
}
