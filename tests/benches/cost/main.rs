//! The cost of requests with the marks of this library and of other policies, over the lower bound: all traces, clocks
//! and providers, simulated by the documented rules of providers.
//!
//! `cargo bench -p columnar-tests --bench cost`
//!
//! Each line of the table is the worst provider for the library. `-- --all` prints all of them, and `-- --columns` prints
//! each column as well. Then come the strategies of budgets and the layouts of edited files, with one provider, and the layouts of documents with eight models.
//!
//! `-- --documents` prints the last part alone, and `-- --threads` the columns that comment. `-- --record FOLDER STYLE ADDRESS` prints the sizes of sessions from the
//! history of a repository, for the folder `traces/histories`; a style is `person`, `agent` or `map`.

mod documents;
mod threads;

use std::collections::BTreeMap;
use std::env;
use std::path::Path;

use columnar::cache::{CachePolicy, Pace};
use columnar::{Result, View};
use columnar_tests::cost::cache::Marks;
use columnar_tests::cost::clock::Clock;
use columnar_tests::cost::lifetimes::lifetime_figures;
use columnar_tests::cost::outcome::{Column, Outcome, Worst};
use columnar_tests::cost::policies::{POLICIES, TimeHints, library_marks, oracle_at};
use columnar_tests::cost::rules::{Rules, marked_providers, name_of};
use columnar_tests::cost::scenario::Scenario;
use columnar_tests::cost::trace::{Kind, Trace};
use columnar_tests::cost::traces;
use columnar_tests::cost::traces::coding::{self, Circumstances};
use columnar_tests::cost::traces::edits::{GENERATED, Project};
use columnar_tests::cost::traces::layouts::Layout;
use columnar_tests::cost::traces::record::{WorkStyle, record};
use columnar_tests::figures::{bar, figure};

/// The model of the tables of budgets and layouts.
const MODEL: &str = "anthropic/claude-sonnet-5";

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let mut recorded = arguments.iter().skip_while(|argument| *argument != "--record").skip(1);
    if let (Some(folder), Some(style), Some(address)) = (recorded.next(), recorded.next(), recorded.next()) {
        let style = WorkStyle::by_name(style).expect("a style is `person`, `agent` or `map`");
        match record(Path::new(folder), style, address) {
            Ok(sizes) => print!("{sizes}"),
            Err(error) => println!("nothing is recorded: {error}"),
        }
        return Ok(());
    }
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    if has("--documents") {
        return documents::compare();
    }
    if has("--threads") {
        return threads::compare();
    }
    let providers = marked_providers();
    let mut outcomes = Vec::new();
    for trace in traces::all()? {
        for (provider, rules) in &providers {
            outcomes.extend(Outcome::of(&trace, provider, rules)?);
        }
    }
    let worst = worst_of_each(&outcomes);
    table(if has("--all") { outcomes.iter().collect() } else { worst.clone() }, has("--columns"));
    if let Some((provider, rules)) =
        providers.iter().find(|(_, rules)| Some(rules.name) == name_of(&providers, MODEL))
    {
        budgets(outcomes.iter().filter(|outcome| outcome.provider == rules.name));
        layout_figures(&layouts(provider, rules)?);
    }
    figures(&outcomes);
    policy_figures(&outcomes);
    lifetime_figures(&providers)?;
    threads::compare()?;
    documents::compare()
}

/// The outcome of each trace and clock with the provider for which the library is farthest above the bound.
fn worst_of_each(outcomes: &[Outcome]) -> Vec<&Outcome> {
    let mut worst: Vec<&Outcome> = Vec::new();
    for outcome in outcomes {
        let same =
            worst.iter_mut().find(|known| (&known.trace, known.clock) == (&outcome.trace, outcome.clock));
        match same {
            None => worst.push(outcome),
            Some(known) if known.total().over_bound() < outcome.total().over_bound() => *known = outcome,
            Some(_) => {}
        }
    }
    worst
}

/// Costs over the bound with the short lifetime: of the library and of other policies, and of the library if longer
/// entries refresh shorter ones. Costs over the bound with both lifetimes: of the library with the pace and, in a batch,
/// the last requests as hints.
fn table(outcomes: Vec<&Outcome>, columns: bool) {
    print!("{:13} {:6} {:26} {:>8}", "trace", "clock", "provider", "library");
    POLICIES.iter().for_each(|policy| print!(" {:>10}", policy.name()));
    println!(" | {:>7} {:>7} {:>9}", "kept", "hinted", "/uncached");
    for outcome in outcomes {
        let (Outcome { trace, clock, provider, others, .. }, total) = (outcome, outcome.total());
        print!("{trace:13} {:6} {provider:26} {:8.3}", clock.name(), total.over_bound());
        others.iter().for_each(|cost| print!(" {:10.3}", cost / total.bound));
        more(&total);
        for column in outcome.columns.iter().filter(|_| columns) {
            let others = 11 * POLICIES.len();
            print!("{:20} {:26} {:8.3}{:others$}", "", column.name, column.over_bound(), "");
            more(column);
        }
    }
}

fn more(column: &Column) {
    let hinted = Some(column.hinted_over_bound()).filter(|hinted| hinted.is_finite());
    let hinted = hinted.map_or(String::from("-"), |hinted| format!("{hinted:.3}"));
    println!(" | {:7.3} {hinted:>7} {:9.3}", column.kept_over_bound(), column.over_uncached());
}

/// Long chats with a budget: the cost of each strategy over the cost of the whole chat without any cache.
fn budgets<'o>(outcomes: impl Iterator<Item = &'o Outcome>) {
    println!("\n{:12} {:6} {:>9} {:>11} {:>10}", "budget", "clock", "cost", "uncached", "over bound");
    for outcome in outcomes.filter(|outcome| outcome.kind == Kind::Budget) {
        let whole = outcome.columns.first().map_or(f64::NAN, |all| all.uncached);
        for column in &outcome.columns {
            let (cost, uncached) = (column.library / whole, column.uncached / whole);
            print!("{:12} {:6} {cost:9.3} {uncached:11.3}", column.name, outcome.clock.name());
            println!(" {:10.3}", column.over_bound());
        }
    }
}

/// The costs of the coding sessions of a project in each layout, over those of files first without a cache, which sends
/// each file once.
struct Layouts {
    project: Project,
    clock: Clock,
    files_first: f64,
    files_last: f64,
    append: f64,
    tiers: f64,
    tiers_over_bound: f64,
    /// Over marks at the ends of tiers that are chosen with knowledge of later requests.
    tiers_over_oracle: f64,
}

/// Coding sessions in the layouts of other programs with their marks, and in those of the library.
fn layouts(provider: &'static CachePolicy, rules: &Rules) -> Result<Vec<Layouts>> {
    let heads = ["project", "clock", "first", "last", "append", "tiers", "/bound", "/oracle"];
    println!("\nedits: costs over files without a cache, and the tokens of the largest request");
    let [project, clock, first, last, append, tiers, bound, oracle] = heads;
    print!("{project:10} {clock:6} {first:>7} {last:>7} {append:>7} {tiers:>7} {bound:>7} {oracle:>7}");
    println!(" | {first:>8} {append:>8} {tiers:>8}");
    let mut all = Vec::new();
    for project in GENERATED {
        let sessions = project.sessions();
        let [first, last] =
            [Layout::FilesFirst, Layout::FilesLast].map(|layout| layout.trace(project.name(), &sessions));
        let append = in_layout(project, "append", &columnar::documents("files").all())?;
        let tiers = in_layout(project, "tiers", &columnar::documents("files").tiered().into())?;
        let largest = [&first.0, &append, &tiers].map(Trace::largest);
        let marks = library_marks(&tiers, provider, TimeHints { pace: Pace::default(), last: false })?;
        let oracle = |clock| {
            let costs = |scenario: &Scenario<'_>| {
                scenario.cost(&oracle_at(scenario, &marks)).expect("the marks are valid")
            };
            Scenario::sum(&tiers, rules, clock, costs)
        };
        for (append, tiers) in
            Outcome::of(&append, provider, rules)?.iter().zip(&Outcome::of(&tiers, provider, rules)?)
        {
            let costs = Layouts::new(project, [&first, &last], append, tiers, oracle(tiers.clock), rules);
            costs.print();
            println!(" | {:8} {:8} {:8}", largest[0], largest[1], largest[2]);
            all.push(costs);
        }
    }
    println!();
    Ok(all)
}

fn in_layout(project: Project, layout: &str, files: &View) -> Result<Trace> {
    coding::trace(project, layout, files, Circumstances { model: MODEL, times: &[] })
}

type Ratio = fn(&Layouts) -> f64;

impl Layouts {
    fn new(
        project: Project,
        [first, last]: [&(Trace, Vec<Marks>); 2],
        append: &Outcome,
        tiers: &Outcome,
        oracle: f64,
        rules: &Rules,
    ) -> Self {
        let clock = tiers.clock;
        let uncached = Scenario::sum(&first.0, rules, clock, Scenario::uncached);
        let of = |(trace, marks): &(Trace, Vec<Marks>)| {
            let costs = |scenario: &Scenario<'_>| scenario.cost(marks).expect("the marks are valid");
            Scenario::sum(trace, rules, clock, costs) / uncached
        };
        Self {
            project,
            clock,
            files_first: of(first),
            files_last: of(last),
            append: append.total().library / uncached,
            tiers: tiers.total().library / uncached,
            tiers_over_bound: tiers.total().over_bound(),
            tiers_over_oracle: tiers.total().library / oracle,
        }
    }

    fn print(&self) {
        let Self { project, clock, files_first, files_last, append, tiers, .. } = self;
        print!("{:10} {:6} {files_first:7.3} {files_last:7.3}", project.name(), clock.name());
        print!(" {append:7.3} {tiers:7.3} {:7.3} {:7.3}", self.tiers_over_bound, self.tiers_over_oracle);
    }
}

/// The layouts of the library, each with its worst project. The bars are those of a batch, whose entries do not expire,
/// and of projects whose edits are short beside the rest.
fn layout_figures(layouts: &[Layouts]) {
    let worst = |clock: Clock, ratio: Ratio| {
        let of = layouts.iter().filter(|of| of.clock == clock && of.project != Project::Rewritten);
        Worst::of(of.map(|of| (ratio(of), format!("{}, {}", of.project.name(), clock.name()))))
    };
    let ratios: [(&str, f64, Ratio); 5] = [
        ("tiers_over_uncached", 0.6, |of| of.tiers),
        ("tiers_over_files_on_top", 0.8, |of| of.tiers / of.files_first),
        ("append_over_uncached", 0.3, |of| of.append),
        ("tiers_over_bound", 1.05, |of| of.tiers_over_bound),
        ("tiers_over_oracle", 1.06, |of| of.tiers_over_oracle),
    ];
    for (name, at_most, of) in ratios {
        let (batch, human) = (worst(Clock::Batch, of), worst(Clock::Human, of));
        figure(name, batch.ratio, &format!("({})", batch.case));
        figure(&format!("human_{name}"), human.ratio, &format!("({})", human.case));
        bar(name, batch.ratio, at_most);
    }
}

fn figures(outcomes: &[Outcome]) {
    let of = |kind: Kind, clock: Option<Clock>, ratio: fn(&Column) -> f64| {
        let outcomes = outcomes.iter().filter(|outcome| outcome.kind == kind);
        let outcomes = outcomes.filter(|outcome| clock.is_none_or(|clock| clock == outcome.clock));
        Worst::of(outcomes.map(|outcome| (ratio(&outcome.total()), outcome.title())))
    };
    let (batch, human) = (Some(Clock::Batch), Some(Clock::Human));
    let columns = outcomes.iter().flat_map(|outcome| {
        outcome
            .columns
            .iter()
            .map(|column| (column.over_uncached(), format!("{}, {}", outcome.title(), column.name)))
    });
    let bars = [
        ("batch_over_bound", 1.01, of(Kind::AppendOnly, batch, Column::hinted_over_bound)),
        ("human_over_bound", 1.03, of(Kind::AppendOnly, human, Column::batch_over_bound)),
        ("adversarial_over_bound", 1.05, adversarial(outcomes)),
        ("worst_over_uncached", 1.0, Worst::of(columns)),
    ];
    let others = [
        ("human_learnt_over_bound", of(Kind::AppendOnly, human, Column::over_bound)),
        ("human_of_all_over_both_lifetimes", of(Kind::AppendOnly, human, Column::over_both)),
        ("batch_unhinted_over_bound", of(Kind::AppendOnly, batch, Column::over_bound)),
        ("human_hinted_over_bound", of(Kind::AppendOnly, human, Column::hinted_over_bound)),
        ("human_kept_over_bound", of(Kind::AppendOnly, human, Column::kept_over_bound)),
        ("adversarial_part_over_bound", of(Kind::Adversarial, None, Column::hinted_over_bound)),
        ("adversarial_part_unhinted_over_bound", of(Kind::Adversarial, None, Column::over_bound)),
        ("adversarial_part_kept_over_bound", of(Kind::Adversarial, None, Column::kept_over_bound)),
    ];
    let all = bars
        .iter()
        .map(|(name, _, worst)| (name, worst))
        .chain(others.iter().map(|(name, worst)| (name, worst)));
    for (name, Worst { ratio, case }) in all {
        figure(name, *ratio, &format!("({case})"));
    }
    for (name, at_most, Worst { ratio, .. }) in bars {
        bar(name, ratio, at_most);
    }
}

/// All parts of the adversarial trace together, for the worst provider.
fn adversarial(outcomes: &[Outcome]) -> Worst {
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.kind == Kind::Adversarial) {
        let (sum, total) = (sums.entry(outcome.provider).or_default(), outcome.total());
        (sum.0, sum.1) = (sum.0 + total.hinted, sum.1 + total.both);
    }
    Worst::of(sums.into_iter().map(|(provider, (hinted, both))| (hinted / both, format!("T7, {provider}"))))
}

/// The cost of each policy over the lower bound, in the median and in the worst case.
fn policy_figures(outcomes: &[Outcome]) {
    let names = ["library"].into_iter().chain(POLICIES.iter().map(|policy| policy.name()));
    for (at, name) in names.enumerate() {
        let mut ratios: Vec<f64> = Vec::new();
        for outcome in outcomes {
            let total = outcome.total();
            let cost = if at == 0 { Some(&total.library) } else { outcome.others.get(at - 1) };
            ratios.extend(cost.map(|cost| cost / total.bound));
        }
        ratios.sort_by(f64::total_cmp);
        let [median, worst] = [ratios.get(ratios.len() / 2), ratios.last()];
        figure(&format!("{name}_over_bound_median"), median.copied().unwrap_or_default(), "x");
        figure(&format!("{name}_over_bound_worst"), worst.copied().unwrap_or_default(), "x");
    }
}
