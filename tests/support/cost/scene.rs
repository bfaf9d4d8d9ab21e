//! A trace at its times, in front of a provider.

use columnar::cache::Lifetime;

use super::bound::{Asked, bound};
use super::cache::{Cache, Marks, Refused};
use super::clock::Clock;
use super::rules::Rules;
use super::trace::{Ask, Trace};

/// A trace at its times, in front of a provider.
#[derive(Clone, Debug)]
pub struct Scene<'t> {
    /// What is asked.
    pub trace: &'t Trace,
    /// The rules of the provider.
    pub rules: &'t Rules,
    times: Vec<f64>,
    order: Vec<usize>,
}

impl<'t> Scene<'t> {
    /// Lets the clock go.
    pub fn new(trace: &'t Trace, rules: &'t Rules, clock: Clock, seed: u64) -> Self {
        Self::at(trace, rules, clock.times(trace, rules, seed))
    }

    /// With the time of each request.
    pub fn at(trace: &'t Trace, rules: &'t Rules, times: Vec<f64>) -> Self {
        let mut order: Vec<usize> = (0..trace.asks.len()).collect();
        let time = |which: &usize| times.get(*which).copied().unwrap_or_default();
        order.sort_by(|one, other| time(one).total_cmp(&time(other)));
        Self { trace, rules, times, order }
    }

    /// The requests in order of time: which it is, when, and what.
    pub fn asks(&self) -> impl Iterator<Item = (usize, f64, &'t Ask)> {
        self.order
            .iter()
            .filter_map(|&which| Some((which, *self.times.get(which)?, self.trace.asks.get(which)?)))
    }

    /// What each column costs with these marks, one for each request of the trace.
    ///
    /// # Errors
    ///
    /// [`Refused`].
    pub fn cost(&self, marks: &[Marks]) -> Result<Vec<f64>, Refused> {
        let mut cache = Cache::new(self.rules);
        let mut columns = vec![0.0; self.trace.columns.len()];
        let none = Marks::default();
        for (which, at, ask) in self.asks() {
            let bill = cache.ask(&ask.request, marks.get(which).unwrap_or(&none), at)?;
            if let Some(cost) = columns.get_mut(ask.column) {
                *cost += bill.cost(self.rules);
            }
        }
        Ok(columns)
    }

    /// The least that each column can cost.
    pub fn bound(&self, lifetimes: &[Lifetime]) -> Vec<f64> {
        let asked = self.asks().map(|(_, at, ask)| Asked { request: &ask.request, at, column: ask.column });
        bound(asked, self.rules, lifetimes)
    }

    /// What each column costs without any cache.
    pub fn uncached(&self) -> Vec<f64> {
        let mut columns = vec![0.0; self.trace.columns.len()];
        for ask in &self.trace.asks {
            if let Some(tokens) = columns.get_mut(ask.column) {
                *tokens += f64::from(ask.request.tokens());
            }
        }
        columns
    }
}
