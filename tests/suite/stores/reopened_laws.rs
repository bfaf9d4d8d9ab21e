//! The law of reopened flows: a random flow that is closed and opened again, whole or in part, then forked and with a
//! replaced column, says the same as one that was never closed, in every public method.

use std::collections::BTreeMap;

use columnar::CellState;
use columnar::budget::Budget;
use columnar::cache::{CachePlan, CachePolicy, Pace, Reason};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::rows::write_json_lines;
use columnar::store::MemoryStore;
use columnar_tests::live::{Gaps, Live, block_on};
use columnar_tests::naive;
use columnar_tests::strategies::flows;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

/// A random flow and its life.
#[derive(Clone, Debug)]
struct Life {
    described: naive::Flow,
    gaps: Gaps,
    /// The number of steps before the flow is closed.
    closed_at: usize,
    /// The step of the fork.
    fork: usize,
    /// The derived column that is replaced.
    replaced: String,
    /// The tokens of the flow's budget, and its low-water mark.
    budget: Option<(usize, f64)>,
}

/// How a flow is opened again.
#[derive(Clone, Copy, Debug)]
enum Reopened {
    Never,
    Whole,
    Recent(usize),
}

/// The result of a method that reads a value which is not in memory.
const NOT_LOADED: &str = "not loaded";

/// The results of all methods, by method and arguments.
type Report = BTreeMap<String, String>;

fn lives() -> impl Strategy<Value = Life> {
    let gaps = vec((any::<Index>(), 0..7_usize), 0..4);
    let budget = option::of((15..90_usize, prop_oneof![Just(1.0), Just(0.4), Just(0.7)]));
    (flows(), gaps, 0..7_usize, any::<Index>(), any::<Index>(), budget).prop_map(
        |(described, gaps, closed_at, fork, replaced, budget)| {
            let derived: Vec<_> = described.derived().map(|(column, _)| column.name.clone()).collect();
            let gaps = gaps.into_iter().map(|(column, step)| (column.get(&derived).clone(), step)).collect();
            let closed_at = closed_at.min(described.steps());
            let (fork, replaced) = (fork.index(closed_at + 1), replaced.get(&derived).clone());
            Life { described, gaps, closed_at, fork, replaced, budget }
        },
    )
}

/// The reports of a flow, of a fork and of one with a replaced column, at several times of their lives.
async fn reports(life: &Life, reopened: Reopened) -> Result<Vec<(String, Report)>> {
    let Life { described, gaps, closed_at, .. } = life;
    let store = MemoryStore::new();
    let mut live = Live::open_with_gaps(store.clone(), described, gaps).await?;
    set_budget(&live.flow, life);
    for step in 0..*closed_at {
        live.push(described, step).await?;
    }
    live.flow.run().await.ok();
    let options = match reopened {
        Reopened::Never => None,
        Reopened::Whole => Some(OpenOptions::new(store)),
        Reopened::Recent(steps) => Some(OpenOptions::new(store).recent(steps)),
    };
    if let Some(options) = options {
        drop(live);
        live = Live::open_with_gaps(options, described, gaps).await?;
        set_budget(&live.flow, life);
    }
    let mut reports = vec![("opened".to_owned(), report(&live.flow, life).await?)];

    let fork = live.flow.fork(life.fork)?;
    let source = &live.columns[0];
    let echo = |cx: Context| async move { format!("replaced: {}", cx.messages().last_text().len()) };
    let other = live.flow.replace_column(column(&life.replaced, (source.window(2), this().latest()), echo));
    // A replaced column may close a cycle, or be read by a view that needs its former window.
    let flows = [("first", Some(live.flow)), ("fork", Some(fork)), ("replaced", other.ok())];
    let flows: Vec<_> = flows.into_iter().filter_map(|(name, flow)| Some((name, flow?))).collect();
    for (name, flow) in &flows {
        reports.push((format!("{name}, made"), report(flow, life).await?));
    }
    for (name, flow) in &flows {
        let from = if *name == "fork" { life.fork } else { *closed_at };
        for step in from..described.steps() {
            for source in described.columns.iter().filter(|column| column.reads.is_none()) {
                flow.push(&source.name, format!("{}{name}", source.values[step])).await?;
            }
        }
        // It may end with an error: a gap, or a budget without room.
        let failure = flow.run().await.err().map(|error| error.to_string());
        let mut after = report(flow, life).await?;
        after.insert("run".into(), format!("{failure:?}"));
        reports.push((format!("{name}, run"), after));
    }
    for (name, flow) in &flows {
        flow.load(0).await?;
        reports.push((format!("{name}, loaded"), report(flow, life).await?));
    }
    Ok(reports)
}

fn set_budget(flow: &Flow, life: &Life) {
    if let Some((tokens, low_water)) = life.budget {
        flow.set_budget(Budget::of(tokens).token_buffer(0).minimum_recent(1).low_water(low_water));
    }
}

/// Calls every method that reads a flow.
async fn report(flow: &Flow, life: &Life) -> Result<Report> {
    let mut report = Report::new();
    // A provider that caches everything, and searches nothing: each shared prefix has a mark.
    let mut policy = CachePolicy::by_model("anthropic/claude-sonnet-4-5").clone();
    (policy.minimum, policy.most_marks, policy.look_back) = (0, 9, 0);
    for column in flow.order() {
        let mut add = |method: &str, result: Result<String>| {
            let result = match result {
                Err(Error::NotLoaded { .. }) => NOT_LOADED.to_owned(),
                Err(error) => error.to_string(),
                Ok(result) => result,
            };
            report.insert(format!("{method} {column}"), result);
        };
        // Backwards: contexts must not depend on earlier ones having been read.
        for step in (0..=life.described.steps()).rev() {
            let mut add = |method: &str, result| add(&format!("{method} {step}"), result);
            let cell = flow.cell(&column, step)?;
            let stored = if let CellState::Stored(value) = &cell { Some(value.clone()) } else { None };
            assert_eq!(flow.get(&column, step), stored);
            let is_loaded = cell != CellState::NotLoaded;
            add("cell", Ok(if is_loaded { format!("{cell:?}") } else { NOT_LOADED.to_owned() }));
            add("try_get", flow.try_get(&column, step).map(|value| format!("{value:?}")));
            add("value", flow.value(&column, step).await.map(|value| format!("{value:?}")));
            add("messages", flow.messages(&column, step).map(|messages| messages.to_json()));
            add("budget", flow.messages(&column, step).map(|messages| format!("{:?}", messages.report())));
            add("explain_cache", flow.explain_cache(&column, step).map(|prefix| format!("{prefix:?}")));
            let plan = flow.cache_plan(&column, step, &policy, Pace::batch());
            add("cache_plan", plan.map(|plan| without_forks(&plan)));
        }
        add("len", flow.len(&column).map(|len| len.to_string()));
        add("last", flow.last(&column).map(|last| format!("{last:?}")));
        add("iter", flow.iter(&column).map(|values| format!("{:?}", values.collect::<Vec<_>>())));
        let values = flow.values(&column, 1..).try_collect::<Vec<_>>().await;
        add("values", values.map(|values| format!("{values:?}")));
    }
    let progress = flow.progress();
    let stored = progress.done + progress.skipped + progress.not_loaded;
    report.insert("stored".into(), format!("{stored} of {}", progress.total()));
    report.insert("missing".into(), format!("{:?}", flow.missing()));
    report.insert("progress".into(), format!("{:?}", flow.progress()));
    report.insert("steps".into(), format!("{:?}", flow.steps()));
    report.insert("forecast".into(), format!("{:?}", flow.forecast()));
    let mut lines = Vec::new();
    write_json_lines(flow, &mut lines).await.expect("it can be read");
    report.insert("rows".into(), String::from_utf8_lossy(&lines).into_owned());
    Ok(report)
}

/// Marks for forks are set only if their steps are in memory.
fn without_forks(plan: &CachePlan) -> String {
    let marks = plan.marks.iter().filter(|mark| mark.reason != Reason::Forks);
    format!("{:?}", marks.map(|mark| (mark.position, mark.reason)).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if cfg!(debug_assertions) { 30 } else { 1000 }) })]

    #[test]
    fn a_reopened_flow_says_the_same_as_one_that_was_never_closed(life in lives()) {
        let expected = block_on(reports(&life, Reopened::Never)).expect("nothing fails");
        let whole = block_on(reports(&life, Reopened::Whole)).expect("nothing fails");
        for ((at, expected), (_, report)) in expected.iter().zip(&whole) {
            for (method, result) in report {
                assert_eq!(Some(result), expected.get(method), "whole, {at}: {method}");
            }
        }
        for recent in 0..3 {
            let partly = block_on(reports(&life, Reopened::Recent(recent))).expect("nothing fails");
            for ((at, expected), (_, report)) in expected.iter().zip(&partly) {
                for (method, result) in report {
                    let is_estimate = method == "progress" || method == "forecast";
                    if !at.ends_with("loaded") && (result == NOT_LOADED || is_estimate) {
                        continue;
                    }
                    assert_eq!(Some(result), expected.get(method), "recent {recent}, {at}: {method}");
                }
            }
        }
    }
}
