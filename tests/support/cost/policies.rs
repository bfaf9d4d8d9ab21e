//! Marking policies: the policies of other clients, as far as these depend on the request alone, and the policy of this
//! library.

use std::collections::{BTreeSet, HashMap};

use columnar::Result;
use columnar::cache::{CachePlan, CachePolicy, Lifetime, Pace, Position};

use super::cache::{Mark, Marks};
use super::request::{Request, Speaker};
use super::scenario::Scenario;
use super::trace::{Call, Trace};

/// A marking policy of other clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// No marks.
    None,
    /// The provider adds a mark at the last block.
    Automatic,
    /// The instruction.
    System,
    /// The instruction and the last block, as most clients do.
    SystemAndLast,
    /// The same with the long lifetime for the instruction, as is often advised.
    SystemLongAndLast,
    /// The instruction and the last two messages of the user.
    SystemAndTwo,
    /// The four best positions with knowledge of later requests.
    Oracle,
}

/// All policies.
pub const POLICIES: [Policy; 7] = [
    Policy::None,
    Policy::Automatic,
    Policy::System,
    Policy::SystemAndLast,
    Policy::SystemLongAndLast,
    Policy::SystemAndTwo,
    Policy::Oracle,
];

impl Policy {
    /// The name of the policy in the tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Automatic => "automatic",
            Self::System => "system",
            Self::SystemAndLast => "sys+last",
            Self::SystemLongAndLast => "sys1h+last",
            Self::SystemAndTwo => "sys+two",
            Self::Oracle => "oracle-4",
        }
    }

    /// The marks of each request of a scenario.
    pub fn marks(self, scenario: &Scenario<'_>) -> Vec<Marks> {
        let each = |mark: fn(&Request) -> Marks| {
            scenario.trace.calls.iter().map(|call| mark(&call.request)).collect()
        };
        match self {
            Self::None => each(|_| Marks::default()),
            Self::Automatic => each(|_| Marks::automatic()),
            Self::System => each(|request| Marks::short(system(request))),
            Self::SystemAndLast => {
                each(|request| Marks::short(system(request).into_iter().chain(last(request))))
            }
            Self::SystemLongAndLast => {
                let lifetime = scenario.rules.long.map_or(Lifetime::Short, |_| Lifetime::Long);
                let mut marks = Self::SystemAndLast.marks(scenario);
                for first in marks.iter_mut().filter_map(|marks| marks.explicit.first_mut()) {
                    // Without an instruction, the mark of the last block is the first mark.
                    first.lifetime = if first.at == 0 { lifetime } else { Lifetime::Short };
                }
                marks
            }
            Self::SystemAndTwo => {
                each(|request| Marks::short(system(request).into_iter().chain(last_two(request))))
            }
            Self::Oracle => oracle(scenario),
        }
    }
}

fn system(request: &Request) -> Option<usize> {
    request.block(0).filter(|block| block.speaker == Speaker::System).map(|_| 0)
}

fn last(request: &Request) -> Option<usize> {
    request.blocks.len().checked_sub(1)
}

/// The ends of the last two messages of the user.
fn last_two(request: &Request) -> impl Iterator<Item = usize> {
    let blocks = request.blocks.iter().enumerate().rev();
    blocks.filter(|(_, block)| block.ends && block.speaker == Speaker::User).map(|(at, _)| at).take(2)
}

/// The marks with knowledge of later requests. Each request reads as deep as an earlier one of the last minutes had the
/// same beginning, and is marked there and where later requests will read. Of more marks than a request may carry, the
/// deepest are kept.
fn oracle(scenario: &Scenario<'_>) -> Vec<Marks> {
    let mut positions = vec![Vec::new(); scenario.trace.calls.len()];
    let mut visits: HashMap<usize, (usize, f64)> = HashMap::new();
    for (which, at, call) in scenario.calls() {
        let is_seen = |prefix: usize| {
            let (writer, then) = *visits.get(&prefix)?;
            let lives = at - then <= scenario.rules.short.seconds && at - then >= scenario.rules.ready;
            lives.then_some(writer)
        };
        let blocks = call.request.blocks.iter().enumerate().rev();
        let mut long_enough = blocks.take_while(|(_, block)| block.until >= scenario.rules.minimum);
        if let Some((position, writer)) =
            long_enough.find_map(|(at, block)| Some((at, is_seen(block.prefix)?)))
        {
            for marked in [which, writer] {
                if let Some(positions) = positions.get_mut(marked) {
                    positions.push(position);
                }
            }
        }
        visits.extend(call.request.blocks.iter().map(|block| (block.prefix, (which, at))));
    }
    let most = scenario.rules.most_marks;
    let deepest = |mut positions: Vec<usize>| {
        positions.sort_unstable();
        positions.dedup();
        positions.split_off(positions.len().saturating_sub(most))
    };
    positions.into_iter().map(|positions| Marks::short(deepest(positions))).collect()
}

/// The marks of [`Policy::Oracle`], each moved back to the nearest permitted mark of the same request.
pub fn oracle_at(scenario: &Scenario<'_>, permitted: &[Marks]) -> Vec<Marks> {
    let moved = |(oracle, permitted): (Marks, &Marks)| {
        let nearest = |mark: &Mark| permitted.explicit.iter().map(|it| it.at).rfind(|at| *at <= mark.at);
        Marks::short(oracle.explicit.iter().filter_map(nearest))
    };
    oracle(scenario).into_iter().zip(permitted).map(moved).collect()
}

/// The hints about time that a user of the library may give.
#[derive(Clone, Copy, Debug)]
pub struct TimeHints {
    /// The pace of the steps.
    pub pace: Pace,
    /// Whether the last step of a session is marked as such.
    pub last: bool,
}

/// The marks of this library with hints, for each request of a trace, by the plan of the column. Requests that do not come from a
/// flow have none.
///
/// # Errors
///
/// The errors of [`Flow::cache_plan`](columnar::flow::LiveFlow::cache_plan).
pub fn library_marks(trace: &Trace, provider: &CachePolicy, hints: TimeHints) -> Result<Vec<Marks>> {
    let followed: BTreeSet<usize> = trace.turns.iter().filter_map(|turn| turn.after).collect();
    let marks = |call: &Call| {
        let Some(cell) = &call.cell else { return Ok(Marks::default()) };
        let is_last = hints.last && !followed.contains(&call.turn);
        let pace = if is_last { hints.pace.last() } else { hints.pace };
        Ok(marks_of(&cell.flow.cache_plan(&cell.column, cell.step, provider, pace)?))
    };
    trace.calls.iter().map(marks).collect()
}

/// The marks of a plan, in the form of the simulator.
pub(super) fn marks_of(plan: &CachePlan) -> Marks {
    let marks = plan.marks.iter().map(|mark| {
        let at = match mark.position {
            Position::System => 0,
            // Block 0 is the instruction.
            Position::Part(part) => part + 1,
        };
        Mark { at, lifetime: mark.lifetime }
    });
    Marks { explicit: marks.collect(), automatic: false }
}
