//! Every reachable state of small flows, compared with a naive model of the scheduler.
//!
//! The model is in [`world`].

mod world;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::history::StoredSteps;
use world::{Views, World, counted, past, plan, search, world};

const ALL: Option<usize> = None;
const LATEST: Option<usize> = Some(1);

/// The columns user, topics, summary, critique and assistant.
const CHAT: [Option<Views<'static>>; 5] = [
    None,
    Some(&[(0, LATEST)]),
    Some(&[(0, ALL), (2, LATEST)]),
    Some(&[(2, LATEST), (0, LATEST)]),
    Some(&[(0, ALL), (4, ALL)]),
];

#[test]
fn r6_whatever_the_order_of_completion_every_cell_is_computed_stored_and_told_once() {
    let states = search(world(&CHAT, 32), 2);
    assert!(states > 500, "{states} states");
    search(world(&CHAT, 1), 2);
    search(world(&CHAT, 3), 2);
}

#[test]
fn windows_over_a_column_that_finishes_out_of_order() {
    search(world(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(2))])], 32), 3);
    search(world(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(3)), (1, LATEST)])], 3), 3);
    search(
        world(&[None, Some(&[(0, LATEST)]), Some(&[(1, ALL)]), Some(&[(2, Some(2)), (3, Some(2))])], 4),
        2,
    );
}

/// The count would otherwise depend on the order of completion.
#[test]
fn hidden_values_that_are_counted_are_waited_for() {
    search(world(&[None, Some(&[(0, LATEST)]), Some(&[(counted(1), LATEST)])], 32), 3);
    search(world(&[None, Some(&[(0, LATEST)]), Some(&[(counted(1), Some(2)), (1, LATEST)])], 3), 3);
    let past: [Option<Views<'_>>; 3] =
        [None, Some(&[(0, LATEST)]), Some(&[(0, LATEST), (past(counted(1)), LATEST)])];
    search(world(&past, 32).with_faults(1, OnFailure::Skip), 2);
}

#[test]
fn r12_a_step_begins_when_all_sources_have_it() {
    search(world(&[None, None, Some(&[(0, LATEST)]), Some(&[(1, ALL), (3, ALL)])], 32), 2);
}

const SMALL: [Option<Views<'static>>; 4] =
    [None, Some(&[(0, LATEST)]), Some(&[(1, LATEST), (2, LATEST)]), Some(&[(1, Some(2)), (0, LATEST)])];

/// Every cell and every `put` fails in every state, and runs are dropped in every state.
#[test]
fn r7_after_any_failure_the_next_run_does_what_is_missing_and_nothing_else() {
    for on_failure in [OnFailure::Stop, OnFailure::Wait, OnFailure::Skip] {
        let states = search(world(&SMALL, 32).with_faults(1, on_failure), 2);
        assert!(states > 200, "{on_failure:?}: {states} states");
        search(world(&SMALL, 2).with_faults(2, on_failure), 2);
    }
}

/// A column whose inputs are all skipped is not computed.
#[test]
fn a_cell_whose_inputs_are_all_skipped_is_skipped_too() {
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
    search(world, 2);
}

/// Two columns read each other's previous values, in every order of completion and with every failure.
#[test]
fn columns_read_the_past_of_each_other() {
    let debate: [Option<Views<'_>>; 3] =
        [None, Some(&[(0, LATEST), (past(2), LATEST)]), Some(&[(0, LATEST), (past(1), ALL)])];
    let states = search(world(&debate, 32), 3);
    assert!(states > 50, "{states} states");
    for on_failure in [OnFailure::Stop, OnFailure::Wait, OnFailure::Skip] {
        search(world(&debate, 32).with_faults(1, on_failure), 3);
    }
    let chained: [Option<Views<'_>>; 4] = [
        None,
        Some(&[(0, LATEST), (past(3), Some(2))]),
        Some(&[(1, LATEST)]),
        Some(&[(2, LATEST), (past(2), ALL)]),
    ];
    search(world(&chained, 32), 3);
}

#[test]
fn a_column_is_computed_now_and_then() {
    for steps in [1, 2, 3] {
        let rare = world(&SMALL, 32).with_every(1, steps).with_faults(1, OnFailure::Stop);
        assert!(search(rare, 2) > 100);
    }
    // A column that skips a step knows nothing of the inputs there, and its events come after theirs all the same.
    search(world(&SMALL, 32).with_every(2, 2), 2);
    let chain: [Option<Views<'_>>; 4] =
        [None, Some(&[(0, LATEST)]), Some(&[(1, LATEST), (2, LATEST)]), Some(&[(2, LATEST), (0, LATEST)])];
    search(world(&chain, 32).with_every(2, 2), 3);
}

/// What a window shows may depend on earlier cells, if a column skips steps: in every order of completion, and with every
/// cell skipped.
#[test]
fn a_window_over_skipped_cells_waits_for_the_cells_that_decide_it() {
    for faults in [2, 3] {
        let latest: [Option<Views<'_>>; 3] = [None, Some(&[(0, LATEST)]), Some(&[(0, LATEST), (1, LATEST)])];
        let states = search(world(&latest, 32).with_faults(faults, OnFailure::Skip), 3);
        assert!(states > 1000, "{states} states");
    }
    let two: [Option<Views<'_>>; 3] =
        [None, Some(&[(0, LATEST)]), Some(&[(0, LATEST), (1, Some(2)), (past(1), LATEST), (2, LATEST)])];
    search(world(&two, 32).with_faults(2, OnFailure::Skip), 3);
    search(world(&two, 32).with_every(1, 2).with_faults(1, OnFailure::Skip), 3);
}

/// Answers come at any time, in any order, and twice; refusals skip, wait or stop.
#[test]
fn cells_that_are_answered_from_outside_delay_nobody() {
    for (columns, external) in [(SMALL, 1), (SMALL, 2)] {
        let states = search(world(&columns, 32).with_external(external), 2);
        assert!(states > 50, "{states} states");
        for on_failure in [OnFailure::Stop, OnFailure::Wait, OnFailure::Skip] {
            search(world(&columns, 2).with_external(external).with_faults(1, on_failure), 2);
        }
    }
    search(world(&SMALL, 32).with_every(2, 2).with_external(2), 2);
    // A column that reads its own answers.
    search(world(&[None, Some(&[(0, LATEST), (1, ALL)]), Some(&[(1, LATEST)])], 32).with_external(1), 3);
}

/// Opening finds out which cells are skipped only after it knows which ones are stored.
#[test]
fn skipped_cells_that_are_loaded_later_move_the_windows() {
    let plan = plan(&[None, Some(&[(0, LATEST)]), Some(&[(0, LATEST), (1, LATEST)])]);
    // Steps 1 and 2 are stored, and skipped or not; step 0 is missing.
    for gaps in [vec![], vec![1], vec![2], vec![1, 2]] {
        let mut world = World::new(Arc::clone(&plan), 32);
        world.pushed[0] = 3;
        let stored_by_column = [(0..3).collect(), (1..3).collect(), StoredSteps::default()];
        world.scheduler.restore(0, &stored_by_column).expect("three steps have begun");
        for step in &gaps {
            world.scheduler.restore_skipped(1, [*step].into_iter());
        }
        world.stored.extend((1..3).map(|step| Cell { column: 1, step }));
        world.skipped.extend(gaps.iter().map(|&step| Cell { column: 1, step }));
        world.settle();
        search(world, 3);
    }
}

/// Each look at a gap of this length would take longer than anybody waits.
#[test]
fn a_long_gap_of_skipped_cells_costs_no_more_than_a_short_one() {
    const STEPS: usize = 20_000;
    let plan = plan(&[None, Some(&[(0, LATEST)]), Some(&[(0, LATEST), (1, Some(2)), (2, LATEST)])]);
    for is_reversed in [false, true] {
        let mut scheduler = Scheduler::new(Arc::clone(&plan), usize::MAX);
        scheduler.rule(1, Rules { every: Some(STEPS / 2), ..Rules::default() });
        scheduler.begin();
        (0..STEPS).for_each(|_| scheduler.handle_pushed(0));
        loop {
            let mut started: Vec<Action> = std::iter::from_fn(|| scheduler.poll()).collect();
            if started.is_empty() {
                break;
            }
            if is_reversed {
                started.reverse();
            }
            for action in started {
                let reported = match action {
                    Action::Compute(cell) => scheduler.handle_computed(cell),
                    Action::Store(cell) => scheduler.handle_stored(cell, false),
                    Action::Skip(cell) => scheduler.handle_stored(cell, true),
                    Action::Ask(_) | Action::Emit(_) => Ok(()),
                };
                reported.expect("the scheduler asked for it");
            }
        }
        assert_eq!((scheduler.steps(), scheduler.progress().skipped), (STEPS, STEPS - 2));
    }
}

/// The search finds schedulers that wait for too little: without an edge, with a window that is too short, without a
/// wait for a self history.
#[test]
fn the_search_catches_a_scheduler_that_starts_too_early() {
    let pairs: [(Views<'_>, Views<'_>); 4] = [
        (&[(0, LATEST), (past(1), LATEST)], &[(0, LATEST)]),
        (&[(1, LATEST), (0, LATEST)], &[(0, LATEST)]),
        (&[(1, Some(2)), (0, LATEST)], &[(1, LATEST), (0, LATEST)]),
        (&[(1, LATEST), (2, LATEST)], &[(1, LATEST)]),
    ];
    for (declared, assumed) in pairs {
        let columns = |views| [None, Some(&[(0, LATEST)][..]), Some(views)];
        let mut world = world(&columns(assumed), 32);
        world.declared = plan(&columns(declared));
        let result = catch_unwind(AssertUnwindSafe(|| search(world, 3)));
        assert!(result.is_err(), "{assumed:?} passed for {declared:?}");
    }
}

/// The search finds a scheduler that waits for too much.
#[test]
fn the_search_catches_a_scheduler_that_starts_too_late() {
    let mut world = world(&[None, Some(&[(0, LATEST)]), Some(&[(1, ALL), (0, LATEST)])], 32);
    world.declared = plan(&[None, Some(&[(0, LATEST)]), Some(&[(1, LATEST), (0, LATEST)])]);
    assert!(catch_unwind(AssertUnwindSafe(|| search(world, 3))).is_err());
}

/// Visits every state in which a column may be added, then every state after it.
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
        extended.scheduler.extend(Arc::clone(&after), &[]).expect("nothing is stored of it");
        extended.declared = Arc::clone(&after);
        extended.pushed.push(0);
        extended.faults = 1;
        extended.settle();
        search(extended, 2);
    }
    assert!(seen.len() > 10, "{} states", seen.len());
}

/// A fork at any step, of any state, has the cells stored before that step, and continues from there.
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
            fork.scheduler = world.scheduler.derive(Arc::clone(&world.declared), &origins, step, None);
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

/// Continues until every cell is stored.
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

/// A derived scheduler may lack a column that no other reads, and may compute a column again.
#[test]
fn columns_may_be_removed_and_computed_again() {
    let mut world = world(&CHAT, 32);
    (0..2).for_each(|_| world.push(0));
    finish_some(&mut world, 7);
    let fewer = plan(&[CHAT[0], CHAT[1], CHAT[2], Some(&[(0, ALL), (3, ALL)])]);
    let mut without = World::new(Arc::clone(&fewer), 32);
    let origins = [Some(0), Some(1), Some(2), Some(4)];
    without.scheduler = world.scheduler.derive(fewer, &origins, usize::MAX, None);
    without.pushed[0] = 2;
    let kept =
        |cell: &Cell| Some(Cell { column: origins.iter().position(|o| *o == Some(cell.column))?, ..*cell });
    without.stored = world.stored.iter().filter_map(kept).collect();
    without.scheduler.begin();
    without.settle();
    search(without, 3);

    let mut anew = World::new(plan(&CHAT), 32);
    let origins = [Some(0), Some(1), None, None, Some(4)];
    anew.scheduler = world.scheduler.derive(plan(&CHAT), &origins, usize::MAX, None);
    anew.pushed[0] = 2;
    anew.stored = world.stored.iter().copied().filter(|cell| origins[cell.column].is_some()).collect();
    anew.scheduler.begin();
    anew.settle();
    search(anew, 3);
}

fn finish_some(world: &mut World, cells: usize) {
    for _ in 0..cells {
        let cell = *world.running.last().expect("more is to be done");
        world.computed(cell);
        world.stored(cell, false);
    }
}

#[test]
fn a_restored_cell_is_not_computed_again() {
    let plan = plan(&[None, Some(&[(0, LATEST)]), Some(&[(1, Some(2)), (2, LATEST)])]);
    for restored in 0..27_usize {
        let mut world = World::new(Arc::clone(&plan), 32);
        world.pushed[0] = 3;
        let state = |step: usize| restored / 3_usize.pow(u32::try_from(step).expect("it is small")) % 3;
        let of = |states: &[usize]| (0..3).filter(|&step| states.contains(&state(step))).collect::<Vec<_>>();
        let stored_by_column = [(0..3).collect(), of(&[1, 2]).into_iter().collect(), StoredSteps::default()];
        world.scheduler.restore(0, &stored_by_column).expect("three steps have begun");
        world.scheduler.restore_skipped(1, of(&[2]).into_iter());
        world.stored.extend(of(&[1, 2]).into_iter().map(|step| Cell { column: 1, step }));
        world.skipped.extend(of(&[2]).into_iter().map(|step| Cell { column: 1, step }));
        world.settle();
        search(world, 3);
    }
}

/// The stored steps of the sources limit the stored steps of the other columns, in any order.
#[test]
fn restored_columns_are_checked_together() {
    let mut scheduler = Scheduler::new(plan(&[None, Some(&[(0, LATEST)]), None]), 32);
    let stored_steps = |steps: &[usize]| steps.iter().copied().collect::<StoredSteps>();
    let gap = scheduler.restore(0, &[stored_steps(&[0, 3, 1]), stored_steps(&[]), stored_steps(&[0])]);
    assert_eq!(gap, Err((0, InvalidHistory::Gap { missing: 2, found: 3 })));
    let early =
        scheduler.restore(0, &[stored_steps(&[2, 0, 1]), stored_steps(&[0, 2]), stored_steps(&[1, 0])]);
    assert_eq!(early, Err((1, InvalidHistory::NotBegun { step: 2, begun: 2 })));
    assert_eq!((scheduler.len(0), scheduler.len(2)), (0, 0), "what is refused changes nothing");
    scheduler
        .restore(0, &[stored_steps(&[2, 0, 1]), stored_steps(&[0, 1]), stored_steps(&[1, 0])])
        .expect("both have begun");
    scheduler.restore_skipped(1, [1].into_iter());
    assert_eq!((scheduler.steps(), scheduler.progress().skipped), (2, 1));
    assert!(scheduler.is_idle() || scheduler.poll().is_none());
}

/// The time to resume does not depend on the number of stored steps.
#[test]
fn a_long_past_is_restored_as_its_length() {
    let mut scheduler = Scheduler::new(plan(&[None, Some(&[(0, LATEST)])]), 32);
    scheduler
        .restore(
            0,
            &[usize::MAX / 4, usize::MAX / 4 - 1].map(|prefix| StoredSteps { prefix, beyond: Vec::new() }),
        )
        .expect("all have begun");
    assert_eq!(scheduler.progress().waiting, 1);
    assert_eq!(scheduler.poll(), Some(Action::Compute(Cell { column: 1, step: usize::MAX / 4 - 1 })));
}

#[test]
fn r9_nothing_new_starts_after_a_failure_and_siblings_are_stored() {
    let columns: [Option<Views<'_>>; 3] = [None, Some(&[(0, LATEST)]), Some(&[(0, LATEST)])];
    let mut world = world(&columns, 2).with_faults(1, OnFailure::Stop);
    (0..2).for_each(|_| world.push(0));
    let bad = Cell { column: 1, step: 0 };
    let sibling = Cell { column: 2, step: 0 };
    world.failed(bad);
    assert!(world.running.contains(&sibling) && !world.scheduler.is_idle());
    world.computed(sibling);
    world.stored(sibling, false);
    assert!(world.scheduler.is_idle() && world.running.is_empty(), "two cells of step 1 could have started");
    world.run_again();
    assert!(world.running.contains(&bad));
}

/// Every report about every cell in every state: an impossible one is refused and changes nothing.
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
            let storing = [true, false].iter().any(|&empty| world.storing.contains(&(cell, empty)));
            let scheduler = &mut world.scheduler;
            if !world.running.contains(&cell) {
                assert_eq!(scheduler.handle_computed(cell), Err(InvalidTransition));
                assert_eq!(scheduler.handle_failed(cell), Err(InvalidTransition));
                assert!(storing || scheduler.handle_broken(cell) == Err(InvalidTransition));
            }
            assert!(storing || scheduler.handle_stored(cell, false) == Err(InvalidTransition));
        }
        assert_eq!(format!("{:?}", world.scheduler), before);
    }
}

#[test]
fn a_column_at_its_limit_does_not_delay_the_others() {
    let mut scheduler = Scheduler::new(plan(&[None, Some(&[(0, LATEST)]), Some(&[(0, LATEST)])]), 32);
    scheduler.rule(1, Rules { limit: Some(2), ..Rules::default() });
    scheduler.begin();
    (0..5).for_each(|_| scheduler.handle_pushed(0));
    let started = |scheduler: &mut Scheduler| -> Vec<Cell> {
        std::iter::from_fn(|| scheduler.poll())
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

/// The same reports lead to the same actions, so the recording of a driver can be replayed.
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
                        world.scheduler.handle_stored(cell, false).expect("it is on its way");
                    }
                    Action::Ask(_) | Action::Skip(_) | Action::Emit(_) => {}
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
