//! A trace with times and a provider.

use columnar::cache::Lifetime;

use super::bound::{TimedRequest, bound};
use super::cache::{Cache, Marks, Refused};
use super::clock::{Clock, SEEDS};
use super::rules::Rules;
use super::trace::{Call, Trace};

/// A trace with times and a provider.
#[derive(Clone, Debug)]
pub struct Scenario<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The rules of the provider.
    pub rules: &'t Rules,
    times: Vec<f64>,
    order: Vec<usize>,
}

impl<'t> Scenario<'t> {
    /// A scenario with the times of a clock.
    pub fn new(trace: &'t Trace, rules: &'t Rules, clock: Clock, seed: u64) -> Self {
        Self::at(trace, rules, clock.times(trace, rules, seed))
    }

    /// A scenario with these times, one for each request.
    pub fn at(trace: &'t Trace, rules: &'t Rules, times: Vec<f64>) -> Self {
        let mut order: Vec<usize> = (0..trace.calls.len()).collect();
        let time = |which: &usize| times.get(*which).copied().unwrap_or_default();
        // Stable: requests of one time keep the order of the trace.
        order.sort_by(|one, other| time(one).total_cmp(&time(other)));
        Self { trace, rules, times, order }
    }

    /// The sum of the costs of all columns, with all seeds of a clock.
    pub fn sum(trace: &'t Trace, rules: &'t Rules, clock: Clock, costs: impl Fn(&Self) -> Vec<f64>) -> f64 {
        SEEDS.iter().flat_map(|seed| costs(&Self::new(trace, rules, clock, *seed))).sum()
    }

    /// The requests in order of time: index, time, request.
    pub fn calls(&self) -> impl Iterator<Item = (usize, f64, &'t Call)> {
        self.order
            .iter()
            .filter_map(|&which| Some((which, *self.times.get(which)?, self.trace.calls.get(which)?)))
    }

    /// The cost of each column with these marks, one set for each request of the trace.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub fn cost(&self, marks: &[Marks]) -> Result<Vec<f64>, Refused> {
        let mut cache = Cache::new(self.rules);
        let mut columns = vec![0.0; self.trace.columns.len()];
        let none = Marks::default();
        for (which, at, call) in self.calls() {
            let bill = cache.send(&call.request, marks.get(which).unwrap_or(&none), at)?;
            if let Some(cost) = columns.get_mut(call.column) {
                *cost += bill.cost(self.rules);
            }
        }
        Ok(columns)
    }

    /// The lower bound of the cost of each column.
    pub fn bound(&self, lifetimes: &[Lifetime]) -> Vec<f64> {
        let requests = self.calls().map(|(_, at, call)| TimedRequest {
            request: &call.request,
            at,
            column: call.column,
        });
        bound(requests, self.rules, lifetimes)
    }

    /// The cost of each column without any cache.
    pub fn uncached(&self) -> Vec<f64> {
        let mut columns = vec![0.0; self.trace.columns.len()];
        for call in &self.trace.calls {
            if let Some(tokens) = columns.get_mut(call.column) {
                *tokens += f64::from(call.request.tokens());
            }
        }
        columns
    }
}
