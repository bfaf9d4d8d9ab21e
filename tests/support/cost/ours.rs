//! How this library marks its requests.

use std::collections::{BTreeMap, BTreeSet};
use std::iter;

use columnar::Result;
use columnar::cache::{Pace, Place, Provider};

use super::cache::{Mark, Marks};
use super::scene::Scene;
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

/// Where the request of the same column was marked, turn by turn.
struct Marked<'m>(BTreeMap<(usize, usize), &'m Marks>);

impl<'m> Marked<'m> {
    fn new(trace: &Trace, marks: &'m [Marks]) -> Self {
        Self(trace.asks.iter().zip(marks).map(|(ask, marks)| ((ask.turn, ask.column), marks)).collect())
    }

    fn at(&self, turn: usize, column: usize) -> Option<&'m Marks> {
        self.0.get(&(turn, column)).copied()
    }
}

/// The same marks for somebody who says which requests are the last of a session: these are marked where the
/// request before was, to read what it wrote, and write nothing.
pub fn told_the_last(trace: &Trace, marks: &[Marks]) -> Vec<Marks> {
    let followed: BTreeSet<usize> = trace.turns.iter().filter_map(|turn| turn.after).collect();
    let marked = Marked::new(trace, marks);
    let told = trace.asks.iter().zip(marks).map(|(ask, marks)| {
        if followed.contains(&ask.turn) {
            return marks.clone();
        }
        let before = trace.turns.get(ask.turn).and_then(|turn| turn.after);
        let mut marks = before.and_then(|turn| marked.at(turn, ask.column)).cloned().unwrap_or_default();
        // A request that is cut may have fewer blocks than the one before.
        marks.explicit.retain(|mark| mark.at < ask.request.blocks.len());
        marks
    });
    told.collect()
}

/// The same marks, and one more where the nearest fork went another way: on both ways, from the first request
/// of the fork on.
pub fn with_forks(scene: &Scene<'_>, marks: &[Marks]) -> Vec<Marks> {
    let trace = scene.trace;
    let marked = Marked::new(trace, marks);
    let mut forked: BTreeSet<usize> = BTreeSet::new();
    let mut more = marks.to_vec();
    for (which, _, ask) in scene.asks() {
        let before = |turn: usize| trace.turns.get(turn).and_then(|turn| turn.after);
        // The turns of a session stand one behind the other.
        forked.extend(before(ask.turn).filter(|before| before + 1 != ask.turn));
        let fork =
            iter::successors(before(ask.turn), |turn| before(*turn)).find(|turn| forked.contains(turn));
        let mark = fork.and_then(|turn| marked.at(turn, ask.column)?.explicit.last().copied());
        if let (Some(mark), Some(marks)) = (mark, more.get_mut(which)) {
            add(&mut marks.explicit, mark, scene.rules.most_marks);
        }
    }
    more
}

/// Adds a mark before the last one. Where there are as many as there may be, it takes the place of the first
/// one behind the instruction.
fn add(marks: &mut Vec<Mark>, mark: Mark, most: usize) {
    if marks.iter().any(|known| known.at == mark.at) || marks.last().is_none_or(|last| last.at < mark.at) {
        return;
    }
    if marks.len() >= most
        && let Some(first) =
            marks.iter().position(|known| known.at > 0).filter(|first| first + 1 < marks.len())
    {
        marks.remove(first);
    }
    if marks.len() < most {
        let place = marks.partition_point(|known| known.at < mark.at);
        marks.insert(place, mark);
    }
}
