//! What a trace has cost at a clock and a provider, with the marks of everybody.

use columnar::Result;
use columnar::cache::{Lifetime, Pace, Provider};

use super::cache::Marks;
use super::clock::Clock;
use super::ours::{ours, told_the_last, with_forks};
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
    /// The same if it is told how time goes by.
    pub paced: f64,
    /// The same as `ours` if it is told which requests are the last.
    pub told: f64,
    /// The same as `ours` with a mark where the nearest fork went another way.
    pub forks: f64,
    /// The same as `ours` if what is read keeps alive what stands before it.
    pub kept: f64,
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
    /// The outcomes of a trace at all its clocks.
    ///
    /// # Errors
    ///
    /// Those of the plans.
    pub fn of(trace: &Trace, provider: &Provider, rules: &Rules) -> Result<Vec<Self>> {
        let unpaced = ours(trace, provider, Pace::default())?;
        let told = told_the_last(trace, &unpaced);
        let outcome = |clock: &Clock| {
            let paced = match clock.pace(trace, rules) {
                pace if pace == Pace::default() => unpaced.clone(),
                pace => ours(trace, provider, pace)?,
            };
            Ok(Self::at(trace, *clock, rules, [&unpaced, &paced, &told]))
        };
        trace.clocks.iter().map(outcome).collect()
    }

    fn at(trace: &Trace, clock: Clock, rules: &Rules, [ours, paced, told]: [&[Marks]; 3]) -> Self {
        let scene = Scene::new(trace, rules, clock, SEED);
        let keeping = Rules { keeps_prefixes: true, ..rules.clone() };
        let kept = Scene::new(trace, &keeping, clock, SEED);
        let totals = [
            accepted(&scene, ours),
            accepted(&scene, paced),
            accepted(&scene, told),
            accepted(&scene, &with_forks(&scene, ours)),
            accepted(&kept, ours),
            scene.bound(&[Lifetime::Short]),
            scene.bound(&[Lifetime::Short, Lifetime::Long]),
            scene.uncached(),
        ];
        let column = |(at, name): (usize, &String)| {
            let [ours, paced, told, forks, kept, bound, both, uncached] =
                totals.each_ref().map(|columns| columns.get(at).copied().unwrap_or_default());
            Column { name: name.clone(), ours, paced, told, forks, kept, bound, both, uncached }
        };
        let names = trace.columns.iter().map(|column| &column.name);
        let others = POLICIES.iter().map(|policy| accepted(&scene, &policy.marks(&scene)).iter().sum());
        Self {
            trace: trace.name,
            kind: trace.kind,
            clock,
            provider: rules.name,
            columns: names.enumerate().map(column).collect(),
            others: others.collect(),
        }
    }

    /// All columns together.
    pub fn total(&self) -> Column {
        let sum = |of: fn(&Column) -> f64| self.columns.iter().map(of).sum();
        Column {
            name: String::from("all"),
            ours: sum(|column| column.ours),
            paced: sum(|column| column.paced),
            told: sum(|column| column.told),
            forks: sum(|column| column.forks),
            kept: sum(|column| column.kept),
            bound: sum(|column| column.bound),
            both: sum(|column| column.both),
            uncached: sum(|column| column.uncached),
        }
    }

    /// Which one it is.
    pub fn title(&self) -> String {
        format!("{}, {}, {}", self.trace, self.clock.name(), self.provider)
    }
}

impl Column {
    /// What ours costs over the least that it can cost with the short lifetime.
    pub fn over_bound(&self) -> f64 {
        self.ours / self.bound
    }

    /// The same if it is told which requests are the last.
    pub fn told_over_bound(&self) -> f64 {
        self.told / self.bound
    }

    /// The same with a mark where the nearest fork went another way.
    pub fn forks_over_bound(&self) -> f64 {
        self.forks / self.bound
    }

    /// The same if what is read keeps alive what stands before it.
    pub fn kept_over_bound(&self) -> f64 {
        self.kept / self.bound
    }

    /// The same if it is told how time goes by, over the least with both lifetimes.
    pub fn paced_over_bound(&self) -> f64 {
        self.paced / self.both
    }

    /// What ours costs over what it costs without any cache.
    pub fn over_uncached(&self) -> f64 {
        self.ours / self.uncached
    }
}

fn accepted(scene: &Scene<'_>, marks: &[Marks]) -> Vec<f64> {
    scene.cost(marks).unwrap_or_else(|refused| unreachable!("nobody sends marks that are {refused:?}"))
}
