//! How this library marks its requests.

use columnar::Result;
use columnar::cache::{Pace, Place, Provider};

use super::cache::{Mark, Marks};
use super::trace::{Ask, Trace};

/// The marks of each request of a trace, by the plan of its column. Requests that do not come from a flow
/// have none.
///
/// # Errors
///
/// Those of [`Flow::cache_plan`](columnar::flow::LiveFlow::cache_plan).
pub fn ours(trace: &Trace, provider: &Provider, pace: Pace) -> Result<Vec<Marks>> {
    let marks = |ask: &Ask| {
        let Some(cell) = &ask.cell else { return Ok(Marks::default()) };
        let plan = cell.flow.cache_plan(&cell.column, cell.step, provider, pace)?;
        let marks = plan.marks.iter().map(|mark| {
            let at = match mark.place {
                Place::System => 0,
                Place::Part(part) => part + 1,
            };
            Mark { at, lifetime: mark.lifetime }
        });
        Ok(Marks { explicit: marks.collect(), automatic: false })
    };
    trace.asks.iter().map(marks).collect()
}
