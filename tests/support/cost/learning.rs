//! The marks of this library without hints: each column learns the lifetime from the pauses of a scenario, threads together
//! with the column that they continue, and all conversations together how many go on.

use std::cell::RefCell;
use std::time::Duration;

use columnar::Result;
use columnar::cache::{Beginnings, CachePolicy, Experience, LearntLifetime, Pace, PrefixTokens};

use super::cache::Marks;
use super::policies::marks_of;
use super::scenario::Scenario;
use super::trace::{Cell, Trace};

/// The requests of a trace, whose marks are planned for one provider.
#[derive(Debug)]
pub struct Learner<'t> {
    policy: &'t CachePolicy,
    /// By call; `None` for requests that do not come from a flow.
    requests: Vec<Option<Planned<'t>>>,
}

/// A request with the plans so far: scenarios differ in times, and plans depend on the pace alone.
#[derive(Debug)]
struct Planned<'t> {
    cell: &'t Cell,
    tokens: PrefixTokens,
    plans: RefCell<Vec<(Pace, Marks)>>,
}

/// The last request of a column, after a turn.
#[derive(Clone, Copy, Debug)]
struct LastRequest {
    at: f64,
    learnt: LearntLifetime,
    /// The same after the requests that continue this one.
    learnt_since: LearntLifetime,
    is_first: bool,
}

impl<'t> Learner<'t> {
    /// The requests of a trace.
    ///
    /// # Errors
    ///
    /// The errors of [`Flow::messages`](columnar::flow::LiveFlow::messages).
    pub fn new(trace: &'t Trace, policy: &'t CachePolicy) -> Result<Self> {
        let requests = trace.calls.iter().map(|call| {
            let Some(cell) = &call.cell else { return Ok(None) };
            let instruction = usize::try_from(call.request.until(0)).unwrap_or(usize::MAX);
            let tokens = PrefixTokens::of(&cell.messages()?, instruction, policy);
            Ok(Some(Planned { cell, tokens, plans: RefCell::default() }))
        });
        Ok(Self { policy, requests: requests.collect::<Result<_>>()? })
    }

    /// The marks of each request at the times of a scenario of the trace.
    ///
    /// # Errors
    ///
    /// The errors of [`Flow::cache_plan`](columnar::flow::LiveFlow::cache_plan).
    #[expect(clippy::indexing_slicing, reason = "a trace has the turns and columns of its calls")]
    pub fn marks(&self, scenario: &Scenario<'_>) -> Result<Vec<Marks>> {
        let trace = scenario.trace;
        let mut beginnings = vec![Beginnings::default(); trace.columns.len()];
        let mut experience = vec![Experience::default(); trace.columns.len()];
        let mut last: Vec<Vec<Option<LastRequest>>> =
            vec![vec![None; trace.columns.len()]; trace.turns.len()];
        let mut all = vec![Marks::default(); trace.calls.len()];
        for (which, at, call) in scenario.calls() {
            let Some(request) = &self.requests[which] else { continue };
            let thread = trace.columns[call.column].thread;
            let before = match thread {
                // The threads of a turn start together.
                Some(thread) => last[call.turn][thread],
                None => {
                    let own = trace.turns[call.turn].after.and_then(|turn| last[turn][call.column]);
                    own.map(|own| LastRequest { learnt: own.learnt_since, ..own })
                }
            };
            let pause = before.map(|before| Duration::from_secs_f64(at - before.at));
            let learnt = before.map_or_else(LearntLifetime::default, |before| before.learnt);
            // Known by the system text, which a thread has of the column that it continues.
            let instruction = thread.unwrap_or(call.column);
            let tokens = request.tokens;
            // The conversation counts the new text of a thread with its own next request.
            let marked = if thread.is_some() { tokens.repeated } else { tokens.marked };
            let tokens = PrefixTokens { marked, ..tokens };
            let learnt = learnt.next(tokens, pause, self.policy, experience[instruction]);
            experience[instruction].add(tokens, pause, self.policy);
            let beginnings = &mut beginnings[instruction];
            let mut pace = learnt.pace();
            match before {
                None => {
                    let now = Duration::from_secs_f64(at);
                    let write = learnt.lifetime().and_then(|lifetime| self.policy.write(lifetime));
                    if write.is_some_and(|write| !beginnings.are_worth_marking(now, self.policy, write)) {
                        pace = pace.last();
                    }
                    beginnings.begin(now);
                }
                Some(before) if before.is_first => beginnings.go_on(Duration::from_secs_f64(before.at)),
                Some(_) => {}
            }
            all[which] = request.marks(self.policy, pace)?;
            if let Some(continued) = thread.and_then(|thread| last[call.turn][thread].as_mut()) {
                continued.learnt_since = learnt;
            }
            last[call.turn][call.column] =
                Some(LastRequest { at, learnt, learnt_since: learnt, is_first: before.is_none() });
        }
        Ok(all)
    }
}

impl Planned<'_> {
    fn marks(&self, policy: &CachePolicy, pace: Pace) -> Result<Marks> {
        let mut plans = self.plans.borrow_mut();
        if let Some((_, marks)) = plans.iter().find(|(known, _)| *known == pace) {
            return Ok(marks.clone());
        }
        let Cell { flow, column, step } = self.cell;
        let marks = marks_of(&flow.cache_plan(column, *step, policy, pace)?);
        plans.push((pace, marks.clone()));
        Ok(marks)
    }
}
