//! Every reachable state of small flows, held against the rule as a reader would state it.
//!
//! A [`World`] does what a driver does, and keeps its own account of every cell. After each report it
//! polls until nothing comes, and holds every action against the declaration alone.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::schema::{Draft, DraftView, Schema};

type Views<'a> = &'a [(usize, Option<usize>)];

/// `None` is a source; a view is a column and the length of its window, `None` for all.
fn plan(columns: &[Option<Views<'_>>]) -> Arc<Plan> {
    let draft = |(at, views): (usize, &Option<Views<'_>>)| Draft {
        name: format!("c{at}"),
        views: views.map(|views| {
            let view = |(tag, &(column, last)): (usize, &(usize, Option<usize>))| DraftView {
                column,
                window: last.map_or(Some(Window::All), Window::last),
                tag: (column != at).then(|| format!("v{tag}")),
            };
            views.iter().enumerate().map(view).collect()
        }),
    };
    let schema = Schema::new(columns.iter().enumerate().map(draft).collect()).expect("a sound flow");
    let order: Vec<usize> = (0..columns.len()).collect();
    Arc::new(Plan::new(schema, &order))
}

#[derive(Clone)]
struct World {
    scheduler: Scheduler,
    /// What the declaration says; the scheduler may have been told something else, to see it caught.
    declared: Arc<Plan>,
    limit: usize,
    pushed: Vec<usize>,
    stored: BTreeSet<Cell>,
    /// Those of the stored ones that are empty.
    skipped: BTreeSet<Cell>,
    running: BTreeSet<Cell>,
    /// On their way into the store, and whether they are empty.
    storing: BTreeSet<(Cell, bool)>,
    failed: BTreeSet<Cell>,
    /// Stored in this run and not told yet.
    untold: BTreeSet<Cell>,
    /// What the next failures do; a failed `put` always stops the run.
    on_failure: OnFailure,
    halted: bool,
    /// How many things may still go wrong.
    faults: usize,
}

impl World {
    fn new(plan: Arc<Plan>, limit: usize) -> Self {
        let mut scheduler = Scheduler::new(Arc::clone(&plan), limit);
        scheduler.begin();
        Self {
            scheduler,
            pushed: vec![0; plan.schema().columns().len()],
            declared: plan,
            limit,
            stored: BTreeSet::new(),
            skipped: BTreeSet::new(),
            running: BTreeSet::new(),
            storing: BTreeSet::new(),
            failed: BTreeSet::new(),
            untold: BTreeSet::new(),
            on_failure: OnFailure::Stop,
            halted: false,
            faults: 0,
        }
    }

    /// In which so many things go wrong, and failures of computes do this.
    fn with_faults(mut self, faults: usize, on_failure: OnFailure) -> Self {
        self.faults = faults;
        self.on_failure = on_failure;
        for column in 0..self.pushed.len() {
            self.scheduler.rule(column, Rules { limit: None, on_failure });
        }
        self
    }

    fn begun(&self) -> usize {
        self.declared.schema().sources().map(|source| self.pushed[source]).min().unwrap_or(0)
    }

    fn is_stored(&self, column: usize, step: usize) -> bool {
        if self.declared.schema().is_source(column) {
            step < self.pushed[column]
        } else {
            self.stored.contains(&Cell { column, step })
        }
    }

    /// Whether everything that the cell shows is stored, from the declaration alone.
    fn has_its_inputs(&self, cell: Cell) -> bool {
        let Some(reads) = self.declared.schema().reads(cell.column) else { return false };
        let stored =
            |column, mut steps: core::ops::Range<usize>| steps.all(|step| self.is_stored(column, step));
        cell.step < self.begun()
            && reads.inputs.iter().all(|input| stored(input.column, input.window.of_input(cell.step)))
            && reads.own.is_none_or(|own| stored(cell.column, own.of_own(cell.step)))
    }

    /// Whether all inputs are empty at the step of the cell.
    fn has_nothing(&self, cell: Cell) -> bool {
        let reads = self.declared.schema().reads(cell.column).expect("it is derived");
        reads.inputs.iter().all(|input| self.skipped.contains(&Cell { column: input.column, ..cell }))
    }

    /// The cells that may start.
    fn startable(&self) -> BTreeSet<Cell> {
        let columns = 0..self.declared.schema().columns().len();
        let cells = columns.flat_map(|column| (0..self.begun()).map(move |step| Cell { column, step }));
        cells.filter(|&cell| self.has_its_inputs(cell) && self.is_untouched(cell)).collect()
    }

    fn is_untouched(&self, cell: Cell) -> bool {
        let on_its_way = self.storing.contains(&(cell, true)) || self.storing.contains(&(cell, false));
        let known = [&self.stored, &self.running, &self.failed];
        !on_its_way && known.iter().all(|cells| !cells.contains(&cell))
    }

    /// Does what the scheduler asks for until it asks for nothing, and holds each thing against the rule.
    fn settle(&mut self) {
        while let Some(action) = self.scheduler.poll() {
            match action {
                Action::Compute(cell) => {
                    assert!(self.startable().contains(&cell), "{cell:?} is started");
                    assert!(!self.has_nothing(cell) && !self.halted, "{cell:?} is started");
                    self.running.insert(cell);
                }
                Action::Store(cell) => assert!(self.storing.contains(&(cell, false)), "{cell:?}"),
                Action::Skip(cell) => {
                    let failed = self.storing.contains(&(cell, true));
                    assert!(failed || self.startable().contains(&cell) && self.has_nothing(cell), "{cell:?}");
                    self.storing.insert((cell, true));
                }
                Action::Emit(cell) => self.hear(cell),
            }
        }
        let busy = self.running.len() + self.storing.len();
        assert!(busy <= self.limit, "{busy} at once");
        if !self.halted && busy < self.limit {
            assert_eq!(self.startable(), BTreeSet::new(), "these could go on");
        }
        let progress = self.scheduler.progress();
        assert_eq!((progress.running, progress.failed), (busy, self.failed.len()));
        assert_eq!(
            (progress.done, progress.skipped),
            (self.stored.len() - self.skipped.len(), self.skipped.len())
        );
        let derived = self.pushed.len() - self.declared.schema().sources().count();
        assert_eq!(progress.total(), derived * self.begun(), "every cell of every step is somewhere");
        assert_eq!(self.scheduler.is_idle(), busy == 0 && self.untold.is_empty());
        assert!(busy > 0 || self.untold.is_empty(), "a run that ends has told everything");
    }

    /// A value is told once, after it is stored, by step, and after what it was computed from.
    fn hear(&mut self, cell: Cell) {
        assert!(self.untold.remove(&cell), "{cell:?} is told");
        let earlier = self.untold.iter().find(|other| other.column == cell.column && other.step < cell.step);
        assert_eq!(earlier, None, "told after {cell:?}");
        let reads = self.declared.schema().reads(cell.column).expect("it is derived");
        for input in &reads.inputs {
            for step in input.window.of_input(cell.step) {
                assert!(!self.untold.contains(&Cell { column: input.column, step }), "{cell:?} comes first");
            }
        }
    }

    fn push(&mut self, source: usize) {
        self.pushed[source] += 1;
        self.scheduler.handle_pushed(source);
        self.settle();
    }

    fn computed(&mut self, cell: Cell) {
        self.scheduler.handle_computed(cell).expect("it is running");
        self.running.remove(&cell);
        self.storing.insert((cell, false));
        self.settle();
    }

    fn failed(&mut self, cell: Cell) {
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

    fn stored(&mut self, cell: Cell, empty: bool) {
        self.scheduler.handle_stored(cell, empty).expect("it is on its way");
        self.storing.remove(&(cell, empty));
        assert!(self.stored.insert(cell), "{cell:?} is stored once");
        self.untold.insert(cell);
        if empty {
            self.skipped.insert(cell);
        }
        self.settle();
    }

    fn broken(&mut self, cell: Cell, empty: bool) {
        self.faults -= 1;
        self.scheduler.handle_broken(cell).expect("it is on its way");
        self.storing.remove(&(cell, empty));
        self.failed.insert(cell);
        self.halted = true;
        self.settle();
    }

    /// The run ends, whatever goes on, and another one begins.
    fn run_again(&mut self) {
        self.scheduler.stop();
        self.running.clear();
        self.storing.clear();
        self.failed.clear();
        self.untold.clear();
        self.halted = false;
        self.scheduler.begin();
        self.settle();
    }

    fn successors(&self) -> Vec<World> {
        let mut next = Vec::new();
        let mut branch = |change: &dyn Fn(&mut World)| {
            let mut world = self.clone();
            change(&mut world);
            next.push(world);
        };
        for &cell in &self.running {
            branch(&|world| world.computed(cell));
        }
        for &(cell, empty) in &self.storing {
            branch(&|world| world.stored(cell, empty));
        }
        if self.faults > 0 {
            self.running.iter().for_each(|&cell| branch(&|world| world.failed(cell)));
            self.storing.iter().for_each(|&(cell, empty)| branch(&|world| world.broken(cell, empty)));
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

    /// All that tells one state from another.
    fn key(&self) -> impl Ord + use<> {
        let cells = (self.stored.clone(), self.skipped.clone(), self.running.clone(), self.untold.clone());
        (self.pushed.clone(), cells, self.storing.clone(), self.failed.clone(), self.halted, self.faults)
    }
}

/// Walks every state from this one, pushes of so many steps included, and returns how many there are.
fn walk(first: World, steps: usize) -> usize {
    let sources: Vec<usize> = first.declared.schema().sources().collect();
    let derived = first.pushed.len() - sources.len();
    let mut seen = BTreeSet::new();
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
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

fn world(columns: &[Option<Views<'_>>], limit: usize) -> World {
    World::new(plan(columns), limit)
}

const ALL: Option<usize> = None;
const LATEST: Option<usize> = Some(1);

/// topics, summary, critique and assistant.
const CHAT: [Option<Views<'static>>; 5] = [
    None,
    Some(&[(0, LATEST)]),
    Some(&[(0, ALL), (2, LATEST)]),
    Some(&[(2, LATEST), (0, LATEST)]),
    Some(&[(0, ALL), (4, ALL)]),
];

#[test]
fn r6_whatever_the_order_of_completion_every_cell_is_computed_stored_and_told_once() {
    let states = walk(world(&CHAT, 32), 2);
    assert!(states > 500, "{states} states");
    walk(world(&CHAT, 1), 2);
    walk(world(&CHAT, 3), 2);
}

#[test]
fn windows_over_a_column_that_finishes_out_of_order() {
    walk(world(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(2))])], 32), 3);
    walk(world(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(3)), (1, LATEST)])], 3), 3);
    walk(world(&[None, Some(&[(0, LATEST)]), Some(&[(1, ALL)]), Some(&[(2, Some(2)), (3, Some(2))])], 4), 2);
}

#[test]
fn r12_a_step_begins_when_all_sources_have_it() {
    walk(world(&[None, None, Some(&[(0, LATEST)]), Some(&[(1, ALL), (3, ALL)])], 32), 2);
}

const SMALL: [Option<Views<'static>>; 4] =
    [None, Some(&[(0, LATEST)]), Some(&[(1, LATEST), (2, LATEST)]), Some(&[(1, Some(2)), (0, LATEST)])];

/// Every cell fails at every moment, and so does every `put`; runs are dropped at every moment.
#[test]
fn r7_after_any_failure_the_next_run_does_what_is_missing_and_nothing_else() {
    for on_failure in [OnFailure::Stop, OnFailure::Wait, OnFailure::Skip] {
        let states = walk(world(&SMALL, 32).with_faults(1, on_failure), 2);
        assert!(states > 200, "{on_failure:?}: {states} states");
        walk(world(&SMALL, 2).with_faults(2, on_failure), 2);
    }
}

/// A column of which all inputs are empty is not asked.
#[test]
fn what_has_nothing_to_read_is_skipped_too() {
    let columns: [Option<Views<'_>>; 4] =
        [None, Some(&[(0, LATEST)]), Some(&[(1, ALL)]), Some(&[(2, LATEST), (3, LATEST)])];
    let mut world = world(&columns, 32).with_faults(1, OnFailure::Skip);
    (0..2).for_each(|_| world.push(0));
    let first = Cell { column: 1, step: 0 };
    world.failed(first);
    world.stored(first, true);
    for column in [2, 3] {
        let cell = Cell { column, step: 0 };
        assert!(world.storing.contains(&(cell, true)), "{column}");
        world.stored(cell, true);
    }
    walk(world, 2);
}

/// The walk finds schedulers that know less than was declared: without an edge, with a window that is
/// too short, with an own past that is not waited for.
#[test]
fn the_walk_catches_a_scheduler_that_starts_too_early() {
    let pairs: [(Views<'_>, Views<'_>); 3] = [
        (&[(1, LATEST), (0, LATEST)], &[(0, LATEST)]),
        (&[(1, Some(2)), (0, LATEST)], &[(1, LATEST), (0, LATEST)]),
        (&[(1, LATEST), (2, LATEST)], &[(1, LATEST)]),
    ];
    for (declared, told) in pairs {
        let columns = |views| [None, Some(&[(0, LATEST)][..]), Some(views)];
        let mut world = world(&columns(told), 32);
        world.declared = plan(&columns(declared));
        let walked = catch_unwind(AssertUnwindSafe(|| walk(world, 3)));
        assert!(walked.is_err(), "{told:?} passed for {declared:?}");
    }
}

/// And one that has more to wait for than was declared.
#[test]
fn the_walk_catches_a_scheduler_that_starts_too_late() {
    let mut world = world(&[None, Some(&[(0, LATEST)]), Some(&[(1, ALL), (0, LATEST)])], 32);
    world.declared = plan(&[None, Some(&[(0, LATEST)]), Some(&[(1, LATEST), (0, LATEST)])]);
    assert!(catch_unwind(AssertUnwindSafe(|| walk(world, 3))).is_err());
}

/// Walks every state in which a column may be added, then every state after it.
#[test]
fn r13_a_column_added_at_any_time_is_filled_from_step_0() {
    let before = [None, Some(&[(0, LATEST)][..]), Some(&[(1, ALL), (2, LATEST)][..])];
    let added: Option<Views<'_>> = Some(&[(1, Some(2)), (2, ALL), (3, ALL)]);
    let after = plan(&[before[0], before[1], before[2], added]);
    let mut seen = BTreeSet::new();
    let mut first = world(&before, 2);
    (0..2).for_each(|_| first.push(0));
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
        open.extend(world.successors());
        let mut extended = world.clone();
        extended.scheduler.extend(Arc::clone(&after));
        extended.declared = Arc::clone(&after);
        extended.pushed.push(0);
        extended.faults = 1;
        extended.settle();
        walk(extended, 2);
    }
    assert!(seen.len() > 10, "{} states", seen.len());
}

/// A fork at any step, of any state, has what was stored before it and goes on from there.
#[test]
fn a_fork_shares_the_past_and_computes_the_rest() {
    let mut seen = BTreeSet::new();
    let mut first = world(&SMALL, 32).with_faults(1, OnFailure::Skip);
    (0..3).for_each(|_| first.push(0));
    let origins: Vec<_> = (0..SMALL.len()).map(Some).collect();
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
        open.extend(world.successors());
        for step in 0..=3 {
            let mut fork = World::new(Arc::clone(&world.declared), 32);
            fork.scheduler = world.scheduler.derive(Arc::clone(&world.declared), &origins, step);
            fork.pushed[0] = step;
            fork.stored = world.stored.iter().copied().filter(|cell| cell.step < step).collect();
            fork.skipped = world.skipped.iter().copied().filter(|cell| cell.step < step).collect();
            fork.scheduler.begin();
            fork.settle();
            (step..3).for_each(|_| fork.push(0));
            finish(fork);
        }
    }
    assert!(seen.len() > 100, "{} states", seen.len());
}

/// Goes on, first come first served, until everything is stored.
fn finish(mut world: World) {
    while !world.scheduler.is_idle() {
        if let Some(&(cell, empty)) = world.storing.first() {
            world.stored(cell, empty);
        } else if let Some(&cell) = world.running.first() {
            world.computed(cell);
        }
    }
    let derived = world.pushed.len() - world.declared.schema().sources().count();
    assert_eq!(world.stored.len(), derived * world.begun());
}

/// Without a column that nobody reads, and with one that is to be computed anew.
#[test]
fn columns_may_go_and_begin_anew() {
    let mut world = world(&CHAT, 32);
    (0..2).for_each(|_| world.push(0));
    finish_some(&mut world, 7);
    let fewer = plan(&[CHAT[0], CHAT[1], CHAT[2], Some(&[(0, ALL), (3, ALL)])]);
    let mut without = World::new(Arc::clone(&fewer), 32);
    let origins = [Some(0), Some(1), Some(2), Some(4)];
    without.scheduler = world.scheduler.derive(fewer, &origins, usize::MAX);
    without.pushed[0] = 2;
    let kept =
        |cell: &Cell| Some(Cell { column: origins.iter().position(|o| *o == Some(cell.column))?, ..*cell });
    without.stored = world.stored.iter().filter_map(kept).collect();
    without.scheduler.begin();
    without.settle();
    walk(without, 3);

    let mut anew = World::new(plan(&CHAT), 32);
    let origins = [Some(0), Some(1), None, None, Some(4)];
    anew.scheduler = world.scheduler.derive(plan(&CHAT), &origins, usize::MAX);
    anew.pushed[0] = 2;
    anew.stored = world.stored.iter().copied().filter(|cell| origins[cell.column].is_some()).collect();
    anew.scheduler.begin();
    anew.settle();
    walk(anew, 3);
}

fn finish_some(world: &mut World, cells: usize) {
    for _ in 0..cells {
        let cell = *world.running.last().expect("more is to be done");
        world.computed(cell);
        world.stored(cell, false);
    }
}

#[test]
fn what_was_restored_is_not_handed_out() {
    let plan = plan(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(2)), (2, LATEST)])]);
    for restored in 0..27_usize {
        let mut world = World::new(Arc::clone(&plan), 32);
        for _ in 0..3 {
            world.pushed[0] += 1;
            world.scheduler.handle_pushed(0);
        }
        for step in 0..3 {
            let cell = Cell { column: 1, step };
            let state = restored / 3_usize.pow(u32::try_from(step).expect("it is small")) % 3;
            if state > 0 {
                world.scheduler.handle_restored(cell, state == 2).expect("the step has begun");
                world.stored.insert(cell);
                world.skipped.extend((state == 2).then_some(cell));
            }
        }
        world.settle();
        walk(world, 3);
    }
}

#[test]
fn r9_nothing_new_starts_after_a_failure_and_siblings_are_stored() {
    let columns: [Option<Views<'_>>; 3] = [None, Some(&[(0, LATEST)]), Some(&[(0, LATEST)])];
    let mut world = world(&columns, 2).with_faults(1, OnFailure::Stop);
    (0..2).for_each(|_| world.push(0));
    let (bad, sibling) = (Cell { column: 1, step: 0 }, Cell { column: 2, step: 0 });
    world.failed(bad);
    assert!(world.running.contains(&sibling) && !world.scheduler.is_idle());
    world.computed(sibling);
    world.stored(sibling, false);
    assert!(world.scheduler.is_idle() && world.running.is_empty(), "two cells of step 1 could have started");
    world.run_again();
    assert!(world.running.contains(&bad));
}

/// Every report about every cell in every state: what cannot be true is refused and changes nothing.
#[test]
fn r15_a_report_that_cannot_be_true_changes_nothing() {
    let columns: [Option<Views<'_>>; 3] = [None, Some(&[(0, LATEST)]), Some(&[(1, LATEST), (2, LATEST)])];
    let mut seen = BTreeSet::new();
    let mut first = world(&columns, 2).with_faults(1, OnFailure::Wait);
    (0..2).for_each(|_| first.push(0));
    let mut open = vec![first];
    while let Some(mut world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
        open.extend(world.successors());
        let before = format!("{:?}", world.scheduler);
        for (column, step) in (0..4).flat_map(|column| [0, 1, 2, usize::MAX].map(|step| (column, step))) {
            let cell = Cell { column, step };
            let storing = world.storing.contains(&(cell, false));
            let scheduler = &mut world.scheduler;
            if !world.running.contains(&cell) {
                assert_eq!(scheduler.handle_computed(cell), Err(Misuse));
                assert_eq!(scheduler.handle_failed(cell), Err(Misuse));
                assert!(storing || scheduler.handle_broken(cell) == Err(Misuse));
            }
            assert!(storing || scheduler.handle_stored(cell, false) == Err(Misuse));
            assert!(
                world.startable().contains(&cell) || waits(&world, cell) || {
                    world.scheduler.handle_restored(cell, false) == Err(Misuse)
                }
            );
        }
        assert_eq!(format!("{:?}", world.scheduler), before);
    }
}

fn waits(world: &World, cell: Cell) -> bool {
    !world.declared.schema().is_source(cell.column) && cell.step < world.begun() && world.is_untouched(cell)
}

#[test]
fn no_more_cells_of_a_column_run_than_may_and_others_go_ahead() {
    let mut scheduler = Scheduler::new(plan(&[None, Some(&[(0, LATEST)]), Some(&[(0, LATEST)])]), 32);
    scheduler.rule(1, Rules { limit: Some(2), ..Rules::default() });
    scheduler.begin();
    (0..5).for_each(|_| scheduler.handle_pushed(0));
    let started = |scheduler: &mut Scheduler| -> Vec<Cell> {
        core::iter::from_fn(|| scheduler.poll())
            .filter_map(|action| if let Action::Compute(cell) = action { Some(cell) } else { None })
            .collect()
    };
    let first = started(&mut scheduler);
    let of = |cells: &[Cell], column: usize| cells.iter().filter(|cell| cell.column == column).count();
    assert_eq!((of(&first, 1), of(&first, 2)), (2, 5));
    scheduler.handle_computed(first[0]).expect("it is running");
    assert_eq!(started(&mut scheduler), [], "it is not stored yet");
    scheduler.handle_stored(first[0], false).expect("it is on its way");
    assert_eq!(started(&mut scheduler), [Cell { column: 1, step: 2 }]);
    scheduler.stop();
    assert_eq!(of(&started(&mut scheduler), 1), 2, "a stopped run has given all back");
    scheduler.stop();
    scheduler.limit(3);
    assert_eq!(started(&mut scheduler).len(), 3);
}

/// The same reports bring the same actions: what a driver has recorded can be replayed.
#[test]
fn r17_a_recorded_order_brings_the_same_actions_again() {
    let record = |choices: &[usize]| {
        let mut world = world(&CHAT, 32);
        (0..3).for_each(|_| world.push(0));
        let mut log = Vec::new();
        for choice in choices {
            let open: Vec<Cell> = world.running.iter().copied().collect();
            let Some(&cell) = open.get(choice % open.len().max(1)) else { break };
            world.running.remove(&cell);
            world.scheduler.handle_computed(cell).expect("it is running");
            while let Some(action) = world.scheduler.poll() {
                log.push(action);
                match action {
                    Action::Compute(cell) => _ = world.running.insert(cell),
                    Action::Store(cell) => {
                        world.scheduler.handle_stored(cell, false).expect("it is on its way")
                    }
                    Action::Skip(_) | Action::Emit(_) => {}
                }
            }
        }
        log
    };
    for seed in 0..200_usize {
        let choices: Vec<usize> = (0..12).map(|at| seed.wrapping_mul(2_654_435_761) >> (at * 2)).collect();
        assert_eq!(record(&choices), record(&choices));
    }
}
