//! What a trace has cost at a clock and a provider, with the marks of everybody.

use std::time::Duration;

use columnar::Result;
use columnar::cache::{Lifetime, Pace, Provider};

use super::cache::{Marks, Refused};
use super::clock::{Clock, THOUGHT};
use super::ours::ours;
use super::policies::POLICIES;
use super::rules::Rules;
use super::scene::Scene;
use super::trace::{Kind, Trace};

/// The dice of the clocks.
const SEED: u64 = 12;

/// A column of an outcome: everything in prices of a plain token.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// With the marks of this library, if it is told nothing of the time.
    pub ours: f64,
    /// The same if it is told how long people think.
    pub declared: f64,
    /// The least that it can cost with the short lifetime.
    pub bound: f64,
    /// The least that it can cost with both.
    pub both: f64,
    /// Without any cache.
    pub uncached: f64,
}

/// What a trace has cost at a clock and a provider.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the trace.
    pub trace: &'static str,
    /// What the trace stands for.
    pub kind: Kind,
    /// The clock.
    pub clock: Clock,
    /// The provider.
    pub provider: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// With the marks of others, in order of [`POLICIES`].
    pub others: Vec<f64>,
}

impl Outcome {
    /// The outcomes of a trace at several clocks.
    ///
    /// # Errors
    ///
    /// Those of the plans.
    ///
    /// # Panics
    ///
    /// If a provider refuses the marks of anybody.
    pub fn of(trace: &Trace, clocks: &[Clock], provider: &Provider, rules: &Rules) -> Result<Vec<Self>> {
        let thought = Pace::think(Duration::from_secs_f64(THOUGHT));
        let [undeclared, declared] = [Pace::default(), thought].map(|pace| ours(trace, provider, pace));
        let (undeclared, declared) = (undeclared?, declared?);
        Ok(clocks.iter().map(|clock| Self::at(trace, *clock, rules, &undeclared, &declared)).collect())
    }

    fn at(trace: &Trace, clock: Clock, rules: &Rules, undeclared: &[Marks], declared: &[Marks]) -> Self {
        let scene = Scene::new(trace, rules, clock, SEED);
        let cost = |marks: &[Marks]| accepted(scene.cost(marks));
        let totals = [
            cost(undeclared),
            cost(declared),
            scene.bound(&[Lifetime::Short]),
            scene.bound(&[Lifetime::Short, Lifetime::Long]),
            scene.uncached(),
        ];
        let column = |(at, name): (usize, &String)| {
            let [ours, declared, bound, both, uncached] =
                totals.each_ref().map(|columns| columns.get(at).copied().unwrap_or_default());
            Column { name: name.clone(), ours, declared, bound, both, uncached }
        };
        let names = trace.columns.iter().map(|column| &column.name);
        Self {
            trace: trace.name,
            kind: trace.kind,
            clock,
            provider: rules.name,
            columns: names.enumerate().map(column).collect(),
            others: POLICIES.iter().map(|policy| cost(&policy.marks(&scene)).iter().sum()).collect(),
        }
    }

    /// All columns together.
    pub fn total(&self, of: impl Fn(&Column) -> f64) -> f64 {
        self.columns.iter().map(of).sum()
    }

    /// With the marks of this library over the least.
    pub fn over_bound(&self) -> f64 {
        self.total(|column| column.ours) / self.total(|column| column.bound)
    }

    /// The same where both lifetimes may be used, and the library is told how long people think.
    pub fn declared_over_bound(&self) -> f64 {
        self.total(|column| column.declared) / self.total(|column| column.both)
    }
}

fn accepted(costs: Result<Vec<f64>, Refused>) -> Vec<f64> {
    costs.unwrap_or_else(|refused| unreachable!("marks are well formed, and this is {refused:?}"))
}
