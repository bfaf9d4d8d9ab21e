//! How this library marks its requests.

use std::collections::{BTreeMap, BTreeSet};

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

/// The same marks for somebody who says which requests are the last of a session: these are marked where the
/// request before was, to read what it wrote, and write nothing.
pub fn told_the_last(trace: &Trace, marks: &[Marks]) -> Vec<Marks> {
    let followed: BTreeSet<usize> = trace.turns.iter().filter_map(|turn| turn.after).collect();
    let by_cell: BTreeMap<(usize, usize), &Marks> =
        trace.asks.iter().zip(marks).map(|(ask, marks)| ((ask.turn, ask.column), marks)).collect();
    let told = trace.asks.iter().zip(marks).map(|(ask, marks)| {
        if followed.contains(&ask.turn) {
            return marks.clone();
        }
        let before = trace.turns.get(ask.turn).and_then(|turn| turn.after);
        let before = before.and_then(|turn| by_cell.get(&(turn, ask.column)));
        before.map_or_else(Marks::default, |marks| (*marks).clone())
    });
    told.collect()
}
