//! Every reachable state of small flows, held against the rule as a reader would state it.

use std::collections::BTreeSet;

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
    pushed: Vec<usize>,
    stored: BTreeSet<Cell>,
    running: BTreeSet<Cell>,
}

impl World {
    fn new(plan: Arc<Plan>, limit: usize) -> Self {
        let pushed = vec![0; plan.schema().columns().len()];
        Self {
            scheduler: Scheduler::new(plan, limit),
            pushed,
            stored: BTreeSet::new(),
            running: BTreeSet::new(),
        }
    }

    fn begun(&self) -> usize {
        self.scheduler.plan.schema().sources().map(|source| self.pushed[source]).min().unwrap_or(0)
    }

    /// The cells that may start, from the declaration alone.
    fn startable(&self) -> BTreeSet<Cell> {
        let schema = self.scheduler.plan.schema();
        let begun = self.begun();
        let stored = |column: usize, step: usize| {
            if schema.is_source(column) {
                step < self.pushed[column]
            } else {
                self.stored.contains(&Cell { column, step })
            }
        };
        let mut cells = BTreeSet::new();
        for column in 0..schema.columns().len() {
            let Some(reads) = schema.reads(column) else { continue };
            for step in 0..begun {
                let cell = Cell { column, step };
                let inputs =
                    reads.inputs.iter().all(|i| i.window.of_input(step).all(|s| stored(i.column, s)));
                let own = reads.own.is_none_or(|own| own.of_own(step).all(|s| stored(column, s)));
                if inputs && own && !self.stored.contains(&cell) && !self.running.contains(&cell) {
                    cells.insert(cell);
                }
            }
        }
        cells
    }

    /// What the scheduler would hand out if it were asked for everything.
    fn offered(&self) -> BTreeSet<Cell> {
        let mut scheduler = self.scheduler.clone();
        scheduler.limit = usize::MAX;
        std::iter::from_fn(|| scheduler.poll_start()).collect()
    }

    fn successors(&self) -> Vec<World> {
        let mut next = Vec::new();
        let mut started = self.clone();
        if let Some(cell) = started.scheduler.poll_start() {
            started.running.insert(cell);
            next.push(started);
        }
        for &cell in &self.running {
            let mut world = self.clone();
            world.scheduler.handle_stored(cell).expect("it is running");
            world.running.remove(&cell);
            world.stored.insert(cell);
            next.push(world);
        }
        next
    }

    fn push(&mut self, source: usize) {
        self.pushed[source] += 1;
        self.scheduler.handle_pushed(source);
    }

    fn key(&self) -> (Vec<usize>, BTreeSet<Cell>, BTreeSet<Cell>) {
        (self.pushed.clone(), self.stored.clone(), self.running.clone())
    }
}

/// Walks every state, pushes included, and returns how many there are.
fn walk(columns: &[Option<Views<'_>>], steps: usize, limit: usize) -> usize {
    let plan = plan(columns);
    let sources: Vec<usize> = plan.schema().sources().collect();
    let derived = columns.len() - sources.len();
    let mut seen = BTreeSet::new();
    let mut open = vec![World::new(plan, limit)];
    while let Some(world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
        assert_eq!(
            world.offered(),
            world.startable(),
            "stored {:?}, running {:?}",
            world.stored,
            world.running
        );
        assert!(world.running.len() <= limit);
        let progress = world.scheduler.progress();
        assert_eq!((progress.done, progress.running), (world.stored.len(), world.running.len()));
        assert_eq!(progress.total(), derived * world.begun(), "every cell of every step is somewhere");
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

const ALL: Option<usize> = None;
const LATEST: Option<usize> = Some(1);

#[test]
fn the_chat_of_the_readme_in_every_state() {
    let columns: [Option<Views<'_>>; 5] = [
        None,
        Some(&[(0, LATEST)]),
        Some(&[(0, ALL), (2, LATEST)]),
        Some(&[(2, LATEST), (0, LATEST)]),
        Some(&[(0, ALL), (4, ALL)]),
    ];
    let states = walk(&columns, 2, 32);
    assert!(states > 200, "{states} states");
    walk(&columns, 2, 1);
}

#[test]
fn windows_over_a_column_that_finishes_out_of_order() {
    walk(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(2))])], 4, 32);
    walk(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(3)), (1, LATEST)])], 4, 3);
    walk(&[None, Some(&[(0, LATEST)]), Some(&[(1, ALL)]), Some(&[(2, Some(2)), (3, Some(2))])], 3, 32);
}

#[test]
fn a_step_waits_for_all_sources() {
    walk(&[None, None, Some(&[(0, LATEST)]), Some(&[(1, ALL), (3, ALL)])], 2, 32);
}

#[test]
fn a_column_added_at_any_time_is_filled_from_step_0() {
    let before = plan(&[None, Some(&[(0, LATEST)]), Some(&[(1, ALL), (2, LATEST)])]);
    let after = plan(&[
        None,
        Some(&[(0, LATEST)]),
        Some(&[(1, ALL), (2, LATEST)]),
        Some(&[(1, Some(2)), (2, ALL), (3, ALL)]),
    ]);
    let mut seen = BTreeSet::new();
    let mut first = World::new(before, 2);
    (0..3).for_each(|_| first.push(0));
    let mut open = vec![first];
    while let Some(world) = open.pop() {
        if !seen.insert(world.key()) {
            continue;
        }
        open.extend(world.successors());
        let mut extended = world.clone();
        extended.scheduler.extend(Arc::clone(&after));
        extended.pushed.push(0);
        assert_eq!(extended.offered(), extended.startable());
    }
    assert!(seen.len() > 30, "{} states", seen.len());
}

#[test]
fn what_was_restored_is_not_handed_out() {
    let plan = plan(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(2)), (2, LATEST)])]);
    for restored in 0..8_usize {
        let mut world = World::new(Arc::clone(&plan), 32);
        (0..3).for_each(|_| world.push(0));
        for step in (0..3).filter(|step| restored >> step & 1 == 1) {
            let cell = Cell { column: 1, step };
            world.scheduler.handle_restored(cell).expect("the step has begun");
            world.stored.insert(cell);
        }
        assert_eq!(world.offered(), world.startable(), "{restored:03b}");
    }
}

#[test]
fn a_failed_or_stopped_cell_is_handed_out_again_by_the_next_run() {
    let mut world = World::new(plan(&[None, Some(&[(0, LATEST)]), Some(&[(0, LATEST)])]), 32);
    (0..2).for_each(|_| world.push(0));
    let first = world.scheduler.poll_start().expect("ready");
    let second = world.scheduler.poll_start().expect("ready");
    world.scheduler.handle_failed(first).expect("it is running");
    assert_eq!(world.scheduler.poll_start(), None, "nothing new starts after a failure");
    assert!(!world.scheduler.is_idle(), "a sibling still runs");
    world.scheduler.handle_stored(second).expect("it is running");
    assert!(world.scheduler.is_idle());
    world.stored.insert(second);
    world.scheduler.stop();
    assert_eq!(world.offered(), world.startable());
    assert!(world.offered().contains(&first));

    let again = world.scheduler.poll_start().expect("ready");
    world.scheduler.stop();
    assert!(world.offered().contains(&again));
}

#[test]
fn a_report_about_a_cell_that_does_not_run_changes_nothing() {
    let mut world = World::new(plan(&[None, Some(&[(0, LATEST)])]), 32);
    world.push(0);
    let cell = world.scheduler.poll_start().expect("ready");
    world.scheduler.handle_stored(cell).expect("it is running");
    for stranger in
        [cell, Cell { column: 0, step: 0 }, Cell { column: 1, step: 7 }, Cell { column: 9, step: 0 }]
    {
        assert_eq!(world.scheduler.handle_stored(stranger), Err(Misuse));
        assert_eq!(world.scheduler.handle_failed(stranger), Err(Misuse));
        assert_eq!(world.scheduler.handle_restored(stranger), Err(Misuse));
    }
    assert!(world.scheduler.is_idle());
    assert_eq!(world.scheduler.steps(), 1);
}

#[test]
fn no_more_cells_of_a_column_run_than_may_and_others_go_ahead() {
    let mut world = World::new(plan(&[None, Some(&[(0, LATEST)]), Some(&[(0, LATEST)])]), 32);
    world.scheduler.limit_column(1, 2);
    (0..5).for_each(|_| world.push(0));
    let started: Vec<Cell> = core::iter::from_fn(|| world.scheduler.poll_start()).collect();
    let of = |column: usize| started.iter().filter(|cell| cell.column == column).count();
    assert_eq!((of(1), of(2)), (2, 5));
    world.scheduler.handle_stored(started[0]).expect("it is running");
    assert_eq!(world.scheduler.poll_start(), Some(Cell { column: 1, step: 2 }));
    assert_eq!(world.scheduler.poll_start(), None);
    world.scheduler.stop();
    let again: Vec<Cell> = core::iter::from_fn(|| world.scheduler.poll_start()).collect();
    assert_eq!(again.iter().filter(|cell| cell.column == 1).count(), 2, "a stopped run has given all back");
    world.scheduler.stop();
    world.scheduler.limit(3);
    assert_eq!(core::iter::from_fn(|| world.scheduler.poll_start()).count(), 3);
}
