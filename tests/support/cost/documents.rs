//! The bills of coding sessions in the layouts of the library and of other programs, for several models.

use columnar::cache::{CachePolicy, Lifetime};
use columnar::{Result, View, documents};

use super::cache::Marks;
use super::clairvoyant::clairvoyant;
use super::clock::{Clock, SEEDS};
use super::learning::Learner;
use super::rules::Rules;
use super::scenario::Scenario;
use super::trace::Trace;
use super::traces::coding::{Circumstances, sessions_trace};
use super::traces::edits::Project;
use super::traces::layouts::Layout;
use super::traces::sessions::CodingSession;

/// The models whose prices and rules the bills have: with marks of different minimums, reading prices and look-back, and
/// with automatic caches.
pub const MODELS: [&str; 8] = [
    "anthropic/claude-sonnet-4-5",
    "anthropic/claude-opus-4-5",
    "anthropic/claude-opus-5-5",
    "openai/gpt-5.6",
    "openai/gpt-5.4",
    "openai/gpt-4o",
    "gemini/gemini-3.8-flash",
    "deepseek/deepseek-v4-pro",
];

/// The model of layouts that do not depend on the model: no window is known, which a growing log may exceed.
const ANY_MODEL: &str = "any";

/// The clocks of the bills.
pub const CLOCKS: [Clock; 2] = [Clock::Batch, Clock::Human];

/// A layout of the library.
#[derive(Clone, Copy, Debug)]
pub struct ComparedView {
    /// The name in the tables of results.
    pub name: &'static str,
    /// The view of the files.
    pub view: fn() -> View,
    /// Whether the layout depends on the prices of the model and on the pauses.
    pub adapts: bool,
}

/// The layouts of the library.
pub const VIEWS: [ComparedView; 5] = [
    ComparedView { name: "files", view: || documents("files").all(), adapts: false },
    ComparedView { name: "tiered", view: || documents("files").tiered().into(), adapts: false },
    ComparedView { name: "compacted", view: || documents("files").compacted().into(), adapts: true },
    ComparedView {
        name: "edits",
        view: || documents("files").compacted().edits().at_most(2.0).into(),
        adapts: true,
    },
    ComparedView { name: "once", view: || documents("files").compacted().at_most(1.0).into(), adapts: true },
];

/// The bills of a project with a model and a clock, in prices of a plain token.
#[derive(Clone, Debug)]
pub struct ProjectBills {
    /// The project.
    pub project: &'static str,
    /// The model.
    pub model: &'static str,
    /// The clock.
    pub clock: Clock,
    /// The cost without any cache, with each file once.
    pub uncached: f64,
    /// The lower bound for all layouts with the short lifetime: each text is cached by itself.
    pub free: f64,
    /// The cost of a layout of whole texts that knows the changes to come; diffs may cost less.
    pub clairvoyant: f64,
    /// The bills of files first, of files last, and of [`VIEWS`].
    pub bills: Vec<LayoutBill>,
}

/// The bill of a layout.
#[derive(Clone, Debug)]
pub struct LayoutBill {
    /// The name of the layout.
    pub layout: &'static str,
    /// The cost in prices of a plain token.
    pub cost: f64,
    /// The largest request over the tokens of the same request with each file once.
    pub over_live: f64,
}

impl ProjectBills {
    /// The cost of a layout; NaN if there is no such layout.
    pub fn cost(&self, layout: &str) -> f64 {
        self.bill(layout).map_or(f64::NAN, |bill| bill.cost)
    }

    /// The bill of a layout.
    pub fn bill(&self, layout: &str) -> Option<&LayoutBill> {
        self.bills.iter().find(|bill| bill.layout == layout)
    }

    /// The project, the clock and the model.
    pub fn title(&self) -> String {
        format!("{}, {}, {}", self.project, self.clock.name(), self.model)
    }
}

/// The bills of a project with each model and clock.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn bills(project: Project) -> Result<Vec<ProjectBills>> {
    let sessions = project.sessions();
    bills_of(project.name(), &sessions, &MODELS, &CLOCKS, &VIEWS)
}

/// The bills of any sessions.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn bills_of(
    project: &'static str,
    sessions: &[CodingSession],
    models: &[&'static str],
    clocks: &[Clock],
    views: &[ComparedView],
) -> Result<Vec<ProjectBills>> {
    let fixed =
        [Layout::FilesFirst, Layout::FilesLast].map(|layout| (layout, layout.trace(project, sessions)));
    let (apart, _) = Layout::Apart.trace(project, sessions);
    let mut all = Vec::new();
    let mut still: Vec<Option<Trace>> = Vec::new();
    for view in views {
        still.push(if view.adapts { None } else { Some(view.requests(sessions, ANY_MODEL, &[])?) });
    }
    for &model in models {
        let rules = Rules::of_model(model);
        'clocks: for &clock in clocks {
            let times = clock.times(&apart, &rules, SEEDS[0]);
            let timed = Timed { rules: &rules, times: &times, live: &fixed[0].1.0 };
            let mut bills: Vec<LayoutBill> = fixed
                .iter()
                .map(|(layout, (trace, marks))| timed.bill(layout.name(), trace, marks))
                .collect();
            for (view, still) in views.iter().zip(&still) {
                let adapted: Trace;
                let trace = if let Some(trace) = still {
                    trace
                } else {
                    adapted = match view.requests(sessions, model, &times) {
                        Ok(trace) => trace,
                        // A session may be larger than the window of a model.
                        Err(error) => {
                            println!("{project}, {model}, {}: {error}", clock.name());
                            continue 'clocks;
                        }
                    };
                    &adapted
                };
                let learner = Learner::new(trace, CachePolicy::by_model(model))?;
                bills.push(timed.bill(view.name, trace, &learner.marks(&timed.scenario(trace))?));
            }
            // A bound for all layouts has no minimum, because any text may stand behind another one.
            let no_minimum = Rules { minimum: 0, ..rules.clone() };
            let free = Scenario::at(&apart, &no_minimum, times.clone()).bound(&[Lifetime::Short]);
            let uncached = timed.scenario(timed.live).uncached().iter().sum();
            let free = free.iter().sum();
            let (foreseen, marks) = clairvoyant(sessions, &rules, &times);
            let clairvoyant = cost(&timed.scenario(&foreseen), &marks);
            all.push(ProjectBills { project, model, clock, uncached, free, clairvoyant, bills });
        }
    }
    Ok(all)
}

impl ComparedView {
    /// The requests of a column with this view, which calls a model at these times.
    fn requests(&self, sessions: &[CodingSession], model: &'static str, times: &[f64]) -> Result<Trace> {
        sessions_trace(self.name.to_owned(), sessions, &(self.view)(), Circumstances { model, times })
    }
}

/// The circumstances of a bill.
struct Timed<'t> {
    rules: &'t Rules,
    times: &'t [f64],
    /// The requests with each file once.
    live: &'t Trace,
}

impl Timed<'_> {
    fn bill(&self, layout: &'static str, trace: &Trace, marks: &[Marks]) -> LayoutBill {
        let cost = cost(&self.scenario(trace), marks);
        LayoutBill { layout, cost, over_live: over_live(trace, self.live) }
    }

    fn scenario<'s>(&'s self, trace: &'s Trace) -> Scenario<'s> {
        Scenario::at(trace, self.rules, self.times.to_vec())
    }
}

/// The cost with these marks, or with a mark at each block for a provider that caches all prefixes.
fn cost(scenario: &Scenario<'_>, marks: &[Marks]) -> f64 {
    let everywhere: Vec<Marks>;
    let marks = if scenario.rules.most_marks == usize::MAX {
        let calls = scenario.trace.calls.iter();
        everywhere = calls.map(|call| Marks::short(0..call.request.blocks.len())).collect();
        &everywhere
    } else {
        marks
    };
    scenario.cost(marks).expect("the marks are valid").iter().sum()
}

/// The largest request over the tokens of the request of the same step in another trace.
fn over_live(trace: &Trace, live: &Trace) -> f64 {
    let pairs = trace.calls.iter().zip(&live.calls);
    let over = pairs.map(|(call, live)| f64::from(call.request.tokens()) / f64::from(live.request.tokens()));
    over.fold(0.0, f64::max)
}
