//! A naive model of the scheduler: a driver with a separate record of every cell.
//!
//! After each report, the driver polls until there is no action, and compares every action with the declaration and
//! the record.

use std::ops::Range;

use std::collections::BTreeSet;

use super::super::*;
use crate::declare::{ColumnDraft, FileOrigin, InputView, Schema, ShownColumn, ViewSpec, Window};

/// A lagged view of this column.
pub(super) fn past(column: usize) -> usize {
    column | PAST
}

const PAST: usize = 1 << 20;

/// A view of this column that counts hidden values.
pub(super) fn counted(column: usize) -> usize {
    column | COUNTED
}

const COUNTED: usize = 1 << 21;

pub(super) type Views<'a> = &'a [(usize, Option<usize>)];

/// The plan of these columns. `None` is a source; a view is a column and the length of the window, `None` for all.
pub(super) fn plan(columns: &[Option<Views<'_>>]) -> Arc<Plan> {
    let draft = |(at, views): (usize, &Option<Views<'_>>)| ColumnDraft {
        name: format!("c{at}"),
        renamed_from: None,
        views: views.map(|views| {
            let view = |(tag, &(column, last)): (usize, &(usize, Option<usize>))| {
                let read = column & !(PAST | COUNTED);
                let spec = ViewSpec {
                    lag: usize::from(column & PAST > 0),
                    elided: column & COUNTED > 0,
                    tag: (column != at).then(|| format!("v{tag}")),
                    ..ViewSpec::all().windowed(last.map_or(Some(Window::All), Window::last))
                };
                (ShownColumn::Column(read), spec)
            };
            views.iter().enumerate().map(view).collect()
        }),
        is_documents: false,
        step_errors: Vec::new(),
        origin: FileOrigin::default(),
    };
    let schema = Schema::new(columns.iter().enumerate().map(draft).collect()).expect("a sound flow");
    let order: Vec<usize> = (0..columns.len()).collect();
    Arc::new(Plan::new(schema, &order))
}

#[derive(Clone)]
pub(super) struct World {
    pub(super) scheduler: Scheduler,
    /// The declaration. The scheduler may have another declaration, which the model must find.
    pub(super) declared: Arc<Plan>,
    pub(super) limit: usize,
    pub(super) pushed: Vec<usize>,
    pub(super) stored: BTreeSet<Cell>,
    /// The stored cells that are skipped.
    pub(super) skipped: BTreeSet<Cell>,
    pub(super) running: BTreeSet<Cell>,
    /// The cells that are being stored, and whether each is skipped.
    pub(super) storing: BTreeSet<(Cell, bool)>,
    pub(super) failed: BTreeSet<Cell>,
    /// The cells that were stored in this run and are not emitted yet.
    pub(super) unemitted: BTreeSet<Cell>,
    /// The policy for the next failures; a failed `put` always stops the run.
    pub(super) on_failure: OnFailure,
    /// A column that is computed at each n-th step.
    pub(super) every: Option<(usize, usize)>,
    /// A column whose values come from outside.
    pub(super) external: Option<usize>,
    /// The cells for which runs have asked, and which have failed since or wait for answers.
    pub(super) asked: BTreeSet<Cell>,
    pub(super) halted: bool,
    /// A reader that reads everything at the end of each run.
    pub(super) reader: TestReader,
    /// The number of faults that may still occur.
    pub(super) faults: usize,
}

impl World {
    pub(super) fn new(plan: Arc<Plan>, limit: usize) -> Self {
        let mut scheduler = Scheduler::new(Arc::clone(&plan), limit);
        scheduler.begin();
        let columns = plan.schema().columns().len();
        Self {
            scheduler,
            pushed: vec![0; columns],
            declared: plan,
            limit,
            stored: BTreeSet::new(),
            skipped: BTreeSet::new(),
            running: BTreeSet::new(),
            storing: BTreeSet::new(),
            failed: BTreeSet::new(),
            unemitted: BTreeSet::new(),
            on_failure: OnFailure::Stop,
            every: None,
            external: None,
            asked: BTreeSet::new(),
            halted: false,
            reader: TestReader { steps: vec![SeenSteps::default(); columns], cells: BTreeSet::new() },
            faults: 0,
        }
    }

    /// The world with this number of faults, and this policy for failed compute steps.
    pub(super) fn with_faults(mut self, faults: usize, on_failure: OnFailure) -> Self {
        self.faults = faults;
        self.on_failure = on_failure;
        self.rule();
        self
    }

    /// The world with a column that is computed at each n-th step.
    pub(super) fn with_every(mut self, column: usize, steps: usize) -> Self {
        self.every = Some((column, steps));
        self.rule();
        self
    }

    /// The world with a column whose values come from outside.
    pub(super) fn with_external(mut self, column: usize) -> Self {
        self.external = Some(column);
        self.rule();
        self
    }

    fn rule(&mut self) {
        for column in 0..self.pushed.len() {
            let every = self.every.filter(|(rare, _)| *rare == column).map(|(_, steps)| steps);
            let is_external = self.external == Some(column);
            let on_failure = self.on_failure;
            self.scheduler.rule(column, Rules { limit: None, every, on_failure, is_external });
        }
    }

    /// The cells that wait for answers.
    pub(super) fn pending(&self) -> BTreeSet<Cell> {
        let cells = self
            .external
            .into_iter()
            .flat_map(|column| (0..self.begun()).map(move |step| Cell { column, step }));
        cells
            .filter(|&cell| self.has_its_inputs(cell) && self.is_untouched(cell))
            .filter(|&cell| !self.is_skipped_at_once(cell))
            .collect()
    }

    pub(super) fn begun(&self) -> usize {
        self.declared.schema().sources().map(|source| self.pushed[source]).min().unwrap_or(0)
    }

    pub(super) fn is_stored(&self, column: usize, step: usize) -> bool {
        if self.declared.schema().is_source(column) {
            step < self.pushed[column]
        } else {
            self.stored.contains(&Cell { column, step })
        }
    }

    /// The steps of a window before a step, if all of them are stored: as many values as the window has, and the skipped
    /// steps between.
    fn window(&self, column: usize, window: Window, before: usize) -> Option<Range<usize>> {
        let mut values = window.most().unwrap_or(usize::MAX);
        let mut start = before;
        while start > 0 && values > 0 {
            start -= 1;
            if !self.is_stored(column, start) {
                return None;
            }
            values -= usize::from(!self.skipped.contains(&Cell { column, step: start }));
        }
        Some(start..before)
    }

    /// The cells that the inputs of a cell show, if all of them are stored, and the cells that are counted, too. A cell that
    /// is not due shows nothing.
    fn shown(&self, cell: Cell) -> Option<Vec<Cell>> {
        let reads = self.declared.schema().reads(cell.column)?;
        let mut shown = Vec::new();
        for InputView { column, spec, .. } in reads.inputs.iter().filter(|_| self.is_due(cell)) {
            let Some(newest) = cell.step.checked_sub(spec.lag) else { continue };
            let counted = if spec.elided { Window::All } else { spec.window };
            self.window(*column, counted, newest + 1)?;
            let steps = self.window(*column, spec.window, newest + 1)?;
            shown.extend(steps.map(|step| Cell { column: *column, step }));
        }
        Some(shown)
    }

    fn is_due(&self, cell: Cell) -> bool {
        let is_rare = |(column, steps)| column == cell.column && !(cell.step + 1).is_multiple_of(steps);
        !self.every.is_some_and(is_rare)
    }

    /// Whether all cells that this cell shows or counts are stored, by the declaration.
    pub(super) fn has_its_inputs(&self, cell: Cell) -> bool {
        let Some(reads) = self.declared.schema().reads(cell.column) else { return false };
        let own = reads.self_view.as_ref().filter(|_| self.is_due(cell));
        cell.step < self.begun()
            && self.shown(cell).is_some()
            && own.is_none_or(|view| self.window(cell.column, view.window, cell.step).is_some())
    }

    /// Whether the cell is skipped without being computed: all inputs are skipped at this step, or the column is not
    /// computed there.
    pub(super) fn is_skipped_at_once(&self, cell: Cell) -> bool {
        if !self.is_due(cell) {
            return true;
        }
        let reads = self.declared.schema().reads(cell.column).expect("it is derived");
        reads.inputs.iter().all(|input| match cell.step.checked_sub(input.spec.lag) {
            None => true,
            Some(step) => self.skipped.contains(&Cell { column: input.column, step }),
        })
    }

    /// The cells that may start.
    pub(super) fn startable(&self) -> BTreeSet<Cell> {
        let columns = 0..self.declared.schema().columns().len();
        let cells = columns.flat_map(|column| (0..self.begun()).map(move |step| Cell { column, step }));
        let pending = self.pending();
        cells
            .filter(|&cell| self.has_its_inputs(cell) && self.is_untouched(cell) && !pending.contains(&cell))
            .collect()
    }

    pub(super) fn is_untouched(&self, cell: Cell) -> bool {
        let on_its_way = self.storing.contains(&(cell, true)) || self.storing.contains(&(cell, false));
        let known = [&self.stored, &self.running, &self.failed];
        !on_its_way && known.iter().all(|cells| !cells.contains(&cell))
    }

    fn holds_nothing_back(&self, column: usize, step: usize) -> bool {
        let cell = Cell { column, step };
        // A cell that is found to have nothing to read is skipped later.
        let is_external =
            self.external == Some(column) && self.has_its_inputs(cell) && self.is_untouched(cell);
        self.failed.contains(&cell) || is_external
    }

    /// Carries out all actions, and checks each action.
    pub(super) fn settle(&mut self) {
        while let Some(action) = self.scheduler.poll() {
            match action {
                Action::Compute(cell) => {
                    assert!(self.startable().contains(&cell), "{cell:?} is started");
                    assert!(!self.is_skipped_at_once(cell) && !self.halted, "{cell:?} is started");
                    self.running.insert(cell);
                }
                Action::Ask(cell) => {
                    assert!(self.pending().contains(&cell) && !self.halted, "{cell:?} is asked for");
                    assert!(self.asked.insert(cell), "{cell:?} is asked for once");
                }
                Action::Store(cell) => assert!(self.storing.contains(&(cell, false)), "{cell:?}"),
                Action::Skip(cell) => {
                    let failed = self.storing.contains(&(cell, true));
                    assert!(
                        failed || self.startable().contains(&cell) && self.is_skipped_at_once(cell),
                        "{cell:?}"
                    );
                    self.storing.insert((cell, true));
                }
                Action::Emit(cell) => self.emitted(cell),
            }
        }
        let busy = self.running.len() + self.storing.len();
        assert!(busy <= self.limit, "{busy} at once");
        if !self.halted && busy < self.limit {
            assert_eq!(self.startable(), BTreeSet::new(), "these could go on");
            assert!(self.pending().is_subset(&self.asked), "a run asks for all");
        }
        assert_eq!(self.scheduler.pending().collect::<BTreeSet<_>>(), self.pending());
        assert!(
            self.pending().iter().all(|cell| self.scheduler.is_asked(*cell) == self.asked.contains(cell))
        );
        let progress = self.scheduler.progress();
        assert_eq!((progress.running, progress.failed), (busy, self.failed.len()));
        assert!(progress.pending >= self.pending().len(), "{progress:?}");
        assert_eq!(
            (progress.done, progress.skipped),
            (self.stored.len() - self.skipped.len(), self.skipped.len())
        );
        let derived = self.pushed.len() - self.declared.schema().sources().count();
        assert_eq!(progress.total(), derived * self.begun(), "every cell of every step is somewhere");
        assert_eq!(self.scheduler.is_idle(), busy == 0 && self.unemitted.is_empty());
        assert!(busy > 0 || self.unemitted.is_empty(), "a run that ends has emitted all events");
    }

    /// Checks that a value is emitted once, after it is stored, in step order, and after the values from which it was
    /// computed.
    pub(super) fn emitted(&mut self, cell: Cell) {
        assert!(self.unemitted.remove(&cell), "{cell:?} is emitted once");
        // Nobody waits for the answers of earlier steps, and these come when they come.
        let in_order = self.external != Some(cell.column);
        let earlier =
            self.unemitted.iter().find(|other| other.column == cell.column && other.step < cell.step);
        let earlier = earlier.filter(|_| in_order);
        assert_eq!(earlier, None, "an earlier step is emitted after {cell:?}");
        let shown = self.shown(cell).expect("it is stored");
        assert!(!shown.iter().any(|input| self.unemitted.contains(input)), "{cell:?} comes first");
    }

    pub(super) fn push(&mut self, source: usize) {
        self.pushed[source] += 1;
        self.scheduler.handle_pushed(source);
        self.settle();
    }

    pub(super) fn computed(&mut self, cell: Cell) {
        self.scheduler.handle_computed(cell).expect("it is running");
        self.running.remove(&cell);
        self.storing.insert((cell, false));
        self.settle();
    }

    /// Lets a compute step skip its cell.
    pub(super) fn skipped(&mut self, cell: Cell) {
        self.faults -= 1;
        self.scheduler.handle_skipped(cell).expect("it is running");
        self.running.remove(&cell);
        self.storing.insert((cell, true));
        self.settle();
    }

    pub(super) fn failed(&mut self, cell: Cell) {
        self.faults -= 1;
        let done = self.scheduler.handle_failed(cell).expect("it is running");
        assert_eq!(done, self.on_failure);
        self.running.remove(&cell);
        match self.on_failure {
            OnFailure::Skip => {
                self.storing.insert((cell, true));
            }
            OnFailure::Wait | OnFailure::Stop => {
                self.failed.insert(cell);
                self.halted |= self.on_failure == OnFailure::Stop;
            }
        }
        self.settle();
    }

    pub(super) fn stored(&mut self, cell: Cell, is_skipped: bool) {
        self.scheduler.handle_stored(cell, is_skipped).expect("it is being stored");
        self.storing.remove(&(cell, is_skipped));
        assert!(self.stored.insert(cell), "{cell:?} is stored once");
        self.unemitted.insert(cell);
        if is_skipped {
            self.skipped.insert(cell);
        }
        self.settle();
    }

    /// Stores the answer of a pending cell, during the run.
    pub(super) fn answered(&mut self, cell: Cell, is_skipped: bool) {
        self.scheduler.handle_answered(cell, is_skipped, true).expect("it is pending");
        assert!(self.stored.insert(cell), "{cell:?} is stored once");
        self.asked.remove(&cell);
        self.unemitted.insert(cell);
        if is_skipped {
            self.skipped.insert(cell);
        }
        self.scheduler.handle_answered(cell, false, true).expect_err("the first answer stays");
        self.settle();
    }

    /// Takes a pending cell into the run, which fails it.
    pub(super) fn declined(&mut self, cell: Cell) {
        self.scheduler.take_pending(cell).expect("it is pending");
        self.asked.remove(&cell);
        self.running.insert(cell);
        self.failed(cell);
    }

    pub(super) fn broken(&mut self, cell: Cell, is_skipped: bool) {
        self.faults -= 1;
        self.scheduler.handle_broken(cell).expect("it is being stored");
        self.storing.remove(&(cell, is_skipped));
        self.failed.insert(cell);
        self.halted = true;
        self.settle();
    }

    /// Ends the run in any state, and begins another run.
    pub(super) fn run_again(&mut self) {
        self.scheduler.stop();
        let mut reader = self.reader.clone();
        reader.read(self, false);
        self.reader = reader;
        self.running.clear();
        self.storing.clear();
        self.failed.clear();
        self.unemitted.clear();
        self.halted = false;
        self.scheduler.begin();
        self.settle();
    }

    pub(super) fn successors(&self) -> Vec<World> {
        let mut next = Vec::new();
        let mut branch = |change: &dyn Fn(&mut World)| {
            let mut world = self.clone();
            change(&mut world);
            next.push(world);
        };
        for &cell in &self.running {
            branch(&|world| world.computed(cell));
        }
        for &(cell, is_skipped) in &self.storing {
            branch(&|world| world.stored(cell, is_skipped));
        }
        for &cell in &self.pending() {
            branch(&|world| world.answered(cell, false));
        }
        if self.faults > 0 {
            self.running.iter().for_each(|&cell| branch(&|world| world.failed(cell)));
            self.running.iter().for_each(|&cell| branch(&|world| world.skipped(cell)));
            for &cell in &self.pending() {
                branch(&|world| {
                    world.faults -= 1;
                    world.answered(cell, true);
                });
                let has_room = self.running.len() + self.storing.len() < self.limit;
                if has_room && self.asked.contains(&cell) {
                    branch(&|world| world.declined(cell));
                }
            }
            self.storing
                .iter()
                .for_each(|&(cell, is_skipped)| branch(&|world| world.broken(cell, is_skipped)));
            branch(&|world| {
                world.faults -= 1;
                world.run_again();
            });
        }
        if self.scheduler.is_idle() && !self.failed.is_empty() {
            branch(&World::run_again);
        }
        next
    }

    /// The part of the state by which states differ.
    pub(super) fn key(&self) -> impl Ord + use<> {
        let cells = (self.stored.clone(), self.skipped.clone(), self.running.clone(), self.unemitted.clone());
        // The key has no reader: one reader for each state is enough.
        let failed = (self.failed.clone(), self.asked.clone());
        (self.pushed.clone(), cells, self.storing.clone(), failed, self.halted, self.faults)
    }
}

/// A reader of the stored cells.
#[derive(Clone)]
pub(super) struct TestReader {
    steps: Vec<SeenSteps>,
    /// All cells that the reader has seen.
    cells: BTreeSet<Cell>,
}

impl TestReader {
    /// Reads all cells that the reader may see, and checks the order. Without a run these are all stored cells.
    fn read(&mut self, world: &World, is_running: bool) {
        let mut last: Vec<Option<usize>> = vec![None; self.steps.len()];
        while let Some(cell) = world.scheduler.next_unseen(&self.steps, is_running) {
            assert!(world.is_stored(cell.column, cell.step), "{cell:?} is not stored");
            assert!(last[cell.column] < Some(cell.step), "{cell:?} comes after a later step");
            last[cell.column] = Some(cell.step);
            let mut passed = self.steps[cell.column].next()..cell.step;
            let holds_back = |step| is_running && !world.holds_nothing_back(cell.column, step);
            assert!(!passed.any(holds_back), "{cell:?} comes before a step that may be stored in this run");
            for input in world.shown(cell).unwrap_or_default() {
                assert!(self.cells.contains(&input), "{cell:?} comes before {input:?}");
            }
            self.steps[cell.column].insert(cell.step);
            assert!(self.cells.insert(cell), "{cell:?} is seen once");
        }
        for (column, seen) in self.steps.iter().enumerate() {
            let mut stored = (0..world.begun()).filter(|&step| world.is_stored(column, step));
            let seen_now = world.scheduler.seen(column);
            assert!((0..world.begun()).all(|step| seen_now.contains(step) == world.is_stored(column, step)));
            let waits = |step: usize| {
                let inputs = world.shown(Cell { column, step }).unwrap_or_default();
                is_running
                    && ((0..step)
                        .any(|early| !seen.contains(early) && !world.holds_nothing_back(column, early))
                        || inputs.iter().any(|input| !self.cells.contains(input)))
            };
            assert!(stored.all(|step| seen.contains(step) || waits(step)), "column {column} is behind");
        }
    }
}

/// Visits every state that is reachable from this one with pushes of this number of steps. Returns the number of
/// states.
pub(super) fn search(first: World, steps: usize) -> usize {
    let sources: Vec<usize> = first.declared.schema().sources().collect();
    let derived = first.pushed.len() - sources.len();
    let mut seen = BTreeSet::new();
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
        [true, false].into_iter().for_each(|is_running| world.reader.clone().read(&world, is_running));
        let mut next = world.successors();
        for &source in &sources {
            if world.pushed[source] < steps {
                let mut pushed = world.clone();
                pushed.push(source);
                next.push(pushed);
            }
        }
        if next.is_empty() {
            assert!(world.scheduler.is_idle());
            assert_eq!(world.stored.len(), derived * steps, "a quiet flow is a finished one");
            assert_eq!(world.scheduler.steps(), steps);
        }
        open.extend(next);
    }
    seen.len()
}

pub(super) fn world(columns: &[Option<Views<'_>>], limit: usize) -> World {
    World::new(plan(columns), limit)
}
