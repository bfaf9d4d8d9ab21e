//! How this library marks its requests.

use std::collections::BTreeSet;

use columnar::Result;
use columnar::cache::{CachePolicy, Pace, Position};

use super::cache::{Mark, Marks};
use super::trace::{Ask, Trace};

/// What the user of the library says about time.
#[derive(Clone, Copy, Debug)]
pub struct TimeHints {
    /// How long it takes from step to step.
    pub pace: Pace,
    /// Whether the last step of a session is marked as such.
    pub last: bool,
}

/// The marks of each request of a trace, by the plan of its column. Requests that do not come from a flow
/// have none.
///
/// # Errors
///
/// Those of [`Flow::cache_plan`](columnar::flow::LiveFlow::cache_plan).
pub fn ours(trace: &Trace, provider: &CachePolicy, hints: TimeHints) -> Result<Vec<Marks>> {
    let followed: BTreeSet<usize> = trace.turns.iter().filter_map(|turn| turn.after).collect();
    let marks = |ask: &Ask| {
        let Some(cell) = &ask.cell else { return Ok(Marks::default()) };
        let is_last = hints.last && !followed.contains(&ask.turn);
        let pace = if is_last { hints.pace.last() } else { hints.pace };
        let plan = cell.flow.cache_plan(&cell.column, cell.step, provider, pace)?;
        let marks = plan.marks.iter().map(|mark| {
            let at = match mark.position {
                Position::System => 0,
                Position::Part(part) => part + 1,
            };
            Mark { at, lifetime: mark.lifetime }
        });
        Ok(Marks { explicit: marks.collect(), automatic: false })
    };
    trace.asks.iter().map(marks).collect()
}
