//! What a trace has cost at a clock and a provider, with the marks of everybody.

use columnar::Result;
use columnar::cache::{CachePolicy, Lifetime, Pace};

use super::cache::Marks;
use super::clock::Clock;
use super::ours::{TimeHints, ours};
use super::policies::POLICIES;
use super::rules::Rules;
use super::scene::Scene;
use super::trace::{Kind, Trace};

/// One of the figures of a column.
type Field = fn(&mut Column) -> &mut f64;

/// The dice of the clocks.
pub const SEEDS: [u64; 3] = [12, 13, 14];

/// The marks of this library.
struct Ours<'m> {
    without_hints: &'m [Marks],
    with_hints: Option<Vec<Marks>>,
}

/// A column of an outcome: everything in prices of a plain token.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// With the marks of this library, if it is told nothing of the time.
    pub ours: f64,
    /// The same if it is told how time goes by and, in a batch, which requests are the last; not a number
    /// where there are no words for the time.
    pub hinted: f64,
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
    pub fn of(trace: &Trace, provider: &CachePolicy, rules: &Rules) -> Result<Vec<Self>> {
        let without_hints = ours(trace, provider, TimeHints { pace: Pace::default(), last: false })?;
        let outcome = |clock: &Clock| {
            let last = *clock == Clock::Batch;
            let hinted = clock.pace(trace, rules).map(|pace| ours(trace, provider, TimeHints { pace, last }));
            Ok(Self::at(
                trace,
                *clock,
                rules,
                &Ours { without_hints: &without_hints, with_hints: hinted.transpose()? },
            ))
        };
        trace.clocks.iter().map(outcome).collect()
    }

    /// The sums of what the dice of each seed make of the clock.
    fn at(trace: &Trace, clock: Clock, rules: &Rules, ours: &Ours<'_>) -> Self {
        let names = trace.columns.iter().map(|column| column.name.as_str());
        let mut outcome = Self {
            trace: trace.name,
            kind: trace.kind,
            clock,
            provider: rules.name,
            columns: names.map(Column::named).collect(),
            others: vec![0.0; POLICIES.len()],
        };
        let keeping = Rules { keeps_prefixes: true, ..rules.clone() };
        for seed in SEEDS {
            let scene = Scene::new(trace, rules, clock, seed);
            outcome.add(&scene, &Scene::new(trace, &keeping, clock, seed), ours);
            for (sum, policy) in outcome.others.iter_mut().zip(POLICIES) {
                *sum += accepted(&scene, &policy.marks(&scene)).iter().sum::<f64>();
            }
        }
        outcome
    }

    fn add(&mut self, scene: &Scene<'_>, kept: &Scene<'_>, ours: &Ours<'_>) {
        let wordless = vec![f64::NAN; self.columns.len()];
        let costs: [(Field, Vec<f64>); 6] = [
            (|column| &mut column.ours, accepted(scene, ours.without_hints)),
            (
                |column| &mut column.hinted,
                ours.with_hints.as_ref().map_or(wordless, |marks| accepted(scene, marks)),
            ),
            (|column| &mut column.kept, accepted(kept, ours.without_hints)),
            (|column| &mut column.bound, scene.bound(&[Lifetime::Short])),
            (|column| &mut column.both, scene.bound(&[Lifetime::Short, Lifetime::Long])),
            (|column| &mut column.uncached, scene.uncached()),
        ];
        for (of, costs) in costs {
            self.columns.iter_mut().zip(costs).for_each(|(column, cost)| *of(column) += cost);
        }
    }

    /// All columns together.
    pub fn total(&self) -> Column {
        let mut total = Column::named("all");
        for column in &self.columns {
            total.ours += column.ours;
            total.hinted += column.hinted;
            total.kept += column.kept;
            total.bound += column.bound;
            total.both += column.both;
            total.uncached += column.uncached;
        }
        total
    }

    /// Which one it is.
    pub fn title(&self) -> String {
        format!("{}, {}, {}", self.trace, self.clock.name(), self.provider)
    }
}

impl Column {
    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// What ours costs over the least that it can cost with the short lifetime.
    pub fn over_bound(&self) -> f64 {
        self.ours / self.bound
    }

    /// The same if it is told how time goes by, over the least with both lifetimes.
    pub fn hinted_over_bound(&self) -> f64 {
        self.hinted / self.both
    }

    /// The same if what is read keeps alive what stands before it.
    pub fn kept_over_bound(&self) -> f64 {
        self.kept / self.bound
    }

    /// What ours costs over what it costs without any cache.
    pub fn over_uncached(&self) -> f64 {
        self.ours / self.uncached
    }
}

fn accepted(scene: &Scene<'_>, marks: &[Marks]) -> Vec<f64> {
    scene.cost(marks).unwrap_or_else(|refused| unreachable!("nobody sends marks that are {refused:?}"))
}
