//! How this library marks its requests.

use std::collections::BTreeSet;

use columnar::Result;
use columnar::cache::{CachePolicy, Pace, Position};

use super::cache::{Mark, Marks};
use super::trace::{Ask, Trace};

/// What somebody says who uses the library.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// How long it takes from step to step.
    pub pace: Pace,
    /// Whether it is said of the last step of a session that it is.
    pub last: bool,
}

/// The marks of each request of a trace, by the plan of its column. Requests that do not come from a flow
/// have none.
///
/// # Errors
///
/// Those of [`Flow::cache_plan`](columnar::flow::LiveFlow::cache_plan).
pub fn ours(trace: &Trace, provider: &CachePolicy, told: Told) -> Result<Vec<Marks>> {
    let followed: BTreeSet<usize> = trace.turns.iter().filter_map(|turn| turn.after).collect();
    let marks = |ask: &Ask| {
        let Some(cell) = &ask.cell else { return Ok(Marks::default()) };
        let is_last = told.last && !followed.contains(&ask.turn);
        let pace = if is_last { told.pace.last() } else { told.pace };
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
