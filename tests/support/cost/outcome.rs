//! The costs of a trace with a clock and a provider, for all marking policies.

use columnar::Result;
use columnar::cache::{CachePolicy, Lifetime, Pace};

use super::cache::Marks;
use super::clock::{Clock, SEEDS};
use super::learning::Learner;
use super::policies::{POLICIES, TimeHints, library_marks};
use super::rules::Rules;
use super::scenario::Scenario;
use super::trace::{Kind, Trace};

/// A cost of a column, selected from the costs.
type Field = fn(&mut Column) -> &mut f64;

/// The marks of this library.
struct LibraryMarks<'m> {
    without_hints: &'m Learner<'m>,
    /// With the short lifetime at any pace, as for a batch.
    of_batch: &'m [Marks],
    with_hints: Option<Vec<Marks>>,
}

/// The costs of a column, in prices of a plain token.
#[derive(Clone, Debug, Default)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The cost with the marks of this library, without hints about time.
    pub library: f64,
    /// The cost if the pace of a batch is stated, whatever the clock.
    pub batch: f64,
    /// The cost with the pace as a hint and, in a batch, with the last requests; NaN if no pace describes the clock.
    pub hinted: f64,
    /// The same as `library` if reading an entry refreshes shorter ones.
    pub kept: f64,
    /// The lower bound with the short lifetime.
    pub bound: f64,
    /// The lower bound with both lifetimes.
    pub both: f64,
    /// The cost without any cache.
    pub uncached: f64,
}

/// The costs of a trace with a clock and a provider.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the trace.
    pub trace: String,
    /// The kind of the trace.
    pub kind: Kind,
    /// The clock.
    pub clock: Clock,
    /// The provider.
    pub provider: &'static str,
    /// The columns.
    pub columns: Vec<Column>,
    /// The costs with the marks of the other policies, in order of [`POLICIES`].
    pub others: Vec<f64>,
}

impl Outcome {
    /// The outcomes of a trace with all its clocks.
    ///
    /// # Errors
    ///
    /// The errors of the plans.
    pub fn of(trace: &Trace, provider: &CachePolicy, rules: &Rules) -> Result<Vec<Self>> {
        let without_hints = Learner::new(trace, provider)?;
        let of_batch = library_marks(trace, provider, TimeHints { pace: Pace::batch(), last: false })?;
        let outcome = |clock: &Clock| {
            let last = *clock == Clock::Batch;
            let hinted =
                clock.pace(trace, rules).map(|pace| library_marks(trace, provider, TimeHints { pace, last }));
            Self::at(
                trace,
                *clock,
                rules,
                &LibraryMarks {
                    without_hints: &without_hints,
                    of_batch: &of_batch,
                    with_hints: hinted.transpose()?,
                },
            )
        };
        trace.clocks.iter().map(outcome).collect()
    }

    /// The sums over all seeds of the clock.
    fn at(trace: &Trace, clock: Clock, rules: &Rules, ours: &LibraryMarks<'_>) -> Result<Self> {
        let names = trace.columns.iter().map(|column| column.name.as_str());
        let mut outcome = Self {
            trace: trace.name.clone(),
            kind: trace.kind,
            clock,
            provider: rules.name,
            columns: names.map(Column::named).collect(),
            others: vec![0.0; POLICIES.len()],
        };
        let keeping = Rules { keeps_prefixes: true, ..rules.clone() };
        for seed in SEEDS {
            let scenario = Scenario::new(trace, rules, clock, seed);
            outcome.add(&scenario, &Scenario::new(trace, &keeping, clock, seed), ours)?;
            for (sum, policy) in outcome.others.iter_mut().zip(POLICIES) {
                *sum += accepted(&scenario, &policy.marks(&scenario)).iter().sum::<f64>();
            }
        }
        Ok(outcome)
    }

    fn add(&mut self, scenario: &Scenario<'_>, kept: &Scenario<'_>, ours: &LibraryMarks<'_>) -> Result<()> {
        let without_hints = ours.without_hints.marks(scenario)?;
        let no_hints = vec![f64::NAN; self.columns.len()];
        let costs: [(Field, Vec<f64>); 7] = [
            (|column| &mut column.batch, accepted(scenario, ours.of_batch)),
            (|column| &mut column.library, accepted(scenario, &without_hints)),
            (
                |column| &mut column.hinted,
                ours.with_hints.as_ref().map_or(no_hints, |marks| accepted(scenario, marks)),
            ),
            (|column| &mut column.kept, accepted(kept, &without_hints)),
            (|column| &mut column.bound, scenario.bound(&[Lifetime::Short])),
            (|column| &mut column.both, scenario.bound(&[Lifetime::Short, Lifetime::Long])),
            (|column| &mut column.uncached, scenario.uncached()),
        ];
        for (of, costs) in costs {
            self.columns.iter_mut().zip(costs).for_each(|(column, cost)| *of(column) += cost);
        }
        Ok(())
    }

    /// The sum of all columns.
    pub fn total(&self) -> Column {
        let mut total = Column::named("all");
        for column in &self.columns {
            total.library += column.library;
            total.batch += column.batch;
            total.hinted += column.hinted;
            total.kept += column.kept;
            total.bound += column.bound;
            total.both += column.both;
            total.uncached += column.uncached;
        }
        total
    }

    /// The trace, the clock and the provider.
    pub fn title(&self) -> String {
        format!("{}, {}, {}", self.trace, self.clock.name(), self.provider)
    }
}

impl Column {
    fn named(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// The cost with the marks of this library over the lower bound with the short lifetime.
    pub fn over_bound(&self) -> f64 {
        self.library / self.bound
    }

    /// The cost with the marks of a batch over the lower bound with the short lifetime, which these marks have.
    pub fn batch_over_bound(&self) -> f64 {
        self.batch / self.bound
    }

    /// The cost with the marks of this library over the lower bound with both lifetimes.
    pub fn over_both(&self) -> f64 {
        self.library / self.both
    }

    /// The cost with hints about time, over the lower bound with both lifetimes.
    pub fn hinted_over_bound(&self) -> f64 {
        self.hinted / self.both
    }

    /// The same if reading an entry refreshes shorter ones.
    pub fn kept_over_bound(&self) -> f64 {
        self.kept / self.bound
    }

    /// The cost with the marks of this library over the cost without any cache.
    pub fn over_uncached(&self) -> f64 {
        self.library / self.uncached
    }
}

fn accepted(scenario: &Scenario<'_>, marks: &[Marks]) -> Vec<f64> {
    scenario.cost(marks).unwrap_or_else(|refused| unreachable!("the marks are valid, but {refused:?}"))
}

/// The largest of many ratios, and its case.
#[derive(Clone, Debug, Default)]
pub struct Worst {
    /// The ratio.
    pub ratio: f64,
    /// The case of the ratio.
    pub case: String,
}

impl Worst {
    /// The largest of these ratios, each of which has a case.
    pub fn of(ratios: impl IntoIterator<Item = (f64, String)>) -> Self {
        let worst = ratios.into_iter().max_by(|(one, _), (other, _)| one.total_cmp(other));
        worst.map_or_else(Self::default, |(ratio, case)| Self { ratio, case })
    }
}
