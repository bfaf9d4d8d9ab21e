//! The layouts of documents: ten projects, eight models, two clocks.

use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use columnar::Result;
use columnar_tests::cost::certificate::{adversaries, certificate, random_session};
use columnar_tests::cost::clock::Clock;
use columnar_tests::cost::documents::{ComparedView, MODELS, ProjectBills, VIEWS, bills, bills_of};
use columnar_tests::cost::outcome::Worst;
use columnar_tests::cost::random::Random;
use columnar_tests::cost::rules::Rules;
use columnar_tests::cost::traces::edits::{GENERATED, Project, RECORDED};
use columnar_tests::cost::traces::layouts::Layout;
use columnar_tests::figures::{bar, figure};

/// The number of random sessions.
const CERTIFIED: usize = 160;

/// The layout that the worst cases and the proof are about.
const COMPACTED_VIEW: ComparedView = VIEWS[2];

/// The layouts that follow the prices, with which the bars are about.
const COMPACTED: [&str; 2] = ["compacted", "edits"];

/// Prints the bills of all layouts, and the figures.
pub(crate) fn compare() -> Result<()> {
    let all = all_bills()?;
    for clock in [Clock::Batch, Clock::Human] {
        table(&all, clock);
    }
    medians(&all);
    figures(&all);
    against_adversaries()?;
    against_certificate()
}

/// The bills of sessions made for the worst case, over the free bound.
fn against_adversaries() -> Result<()> {
    let mut ratios = Vec::new();
    for (name, session) in adversaries() {
        for bills in bills_of("adversary", &[session], &MODELS[1..3], &[Clock::Batch], &[COMPACTED_VIEW])? {
            ratios.push((bills.cost(COMPACTED_VIEW.name) / bills.free, format!("{name}, {}", bills.model)));
        }
    }
    let Worst { ratio, case } = Worst::of(ratios);
    figure("documents_adversarial_over_free_bound", ratio, &format!("({case})"));
    bar("documents_adversarial_over_free_bound", ratio, 2.0);
    Ok(())
}

/// The bills of random sessions, over the bound that is proved for all.
fn against_certificate() -> Result<()> {
    let mut random = Random::new(16);
    let mut ratios = Vec::new();
    for (number, model) in MODELS.into_iter().cycle().take(CERTIFIED).enumerate() {
        let session = random_session(&mut random);
        let certified = certificate(&session, &Rules::of_model(model));
        for bills in bills_of("random", &[session], &[model], &[Clock::Batch], &[COMPACTED_VIEW])? {
            ratios.push((bills.cost(COMPACTED_VIEW.name) / certified, format!("{number}, {model}")));
        }
    }
    let violations = ratios.iter().filter(|(ratio, _)| *ratio > 1.0).count();
    let Worst { ratio, case } = Worst::of(ratios);
    figure("documents_over_certificate", ratio, &format!("({case})"));
    figure("documents_certificate_violations", f64::from(u8::try_from(violations).unwrap_or(u8::MAX)), "");
    bar("documents_certificate_violations", f64::from(u8::try_from(violations).unwrap_or(u8::MAX)), 0.0);
    Ok(())
}

/// The bills of all projects, computed by as many threads as there are cores.
fn all_bills() -> Result<Vec<ProjectBills>> {
    // The longest sessions first.
    let mut projects: Vec<Project> = GENERATED.into_iter().chain(RECORDED).collect();
    let order = projects.clone();
    projects.sort_by_key(|project| project.sessions().iter().map(|it| it.steps.len()).sum::<usize>());
    let (projects, done) = (Mutex::new(projects), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let next = projects.lock().expect("no thread panics").pop();
                    let Some(project) = next else { break };
                    let bills = bills(project);
                    done.lock().expect("no thread panics").push(bills);
                }
            });
        }
    });
    let done = done.into_inner().expect("no thread panics");
    let mut all: Vec<ProjectBills> = done.into_iter().collect::<Result<Vec<_>>>()?.concat();
    all.sort_by_key(|bills| order.iter().position(|project| project.name() == bills.project));
    Ok(all)
}

fn layouts() -> impl Iterator<Item = &'static str> {
    let fixed = [Layout::FilesFirst, Layout::FilesLast].map(Layout::name);
    fixed.into_iter().chain(VIEWS.iter().map(|view| view.name))
}

/// The bills over the cost without a cache, with the first model.
fn table(all: &[ProjectBills], clock: Clock) {
    println!("\ndocuments, {}, {}: costs over files without a cache", clock.name(), MODELS[0]);
    print!("{:14}", "project");
    layouts().for_each(|layout| print!(" {layout:>11}"));
    println!(" {:>11} {:>7}", "clairvoyant", "bound");
    for bills in all.iter().filter(|it| it.clock == clock && it.model == MODELS[0]) {
        print!("{:14}", bills.project);
        layouts().for_each(|layout| print!(" {:11.3}", bills.cost(layout) / bills.uncached));
        println!(" {:11.3} {:7.3}", bills.clairvoyant / bills.uncached, bills.free / bills.uncached);
    }
}

/// The median over all projects of the bills over the cost without a cache.
fn medians(all: &[ProjectBills]) {
    println!("\ndocuments: medians of all projects, batch / human");
    print!("{:28}", "model");
    layouts().for_each(|layout| print!(" {layout:>13}"));
    println!(" {:>13} {:>13}", "clairvoyant", "bound");
    for model in MODELS {
        print!("{model:28}");
        let of = |clock: Clock, cost: &dyn Fn(&ProjectBills) -> f64| {
            let bills = all.iter().filter(|it| it.model == model && it.clock == clock);
            median(bills.map(|it| cost(it) / it.uncached))
        };
        let both = |cost: &dyn Fn(&ProjectBills) -> f64| {
            format!("{:.3} / {:.3}", of(Clock::Batch, cost), of(Clock::Human, cost))
        };
        layouts().for_each(|layout| print!(" {:>13}", both(&|it| it.cost(layout))));
        println!(" {:>13} {:>13}", both(&|it| it.clairvoyant), both(&|it| it.free));
        for layout in layouts().filter(|_| model == MODELS[0]) {
            let name = layout.replace(' ', "_");
            figure(&format!("batch_median_{name}"), of(Clock::Batch, &|it| it.cost(layout)), "x");
            figure(&format!("human_median_{name}"), of(Clock::Human, &|it| it.cost(layout)), "x");
        }
    }
    println!();
}

fn figures(all: &[ProjectBills]) {
    let once = |it: &ProjectBills| it.cost("once") / it.cost("tiered");
    let once = Worst::of(all.iter().map(|it| (once(it), it.title())));
    figure("once_over_tiered", once.ratio, &format!("({})", once.case));
    bar("once_over_tiered", once.ratio, 1.0);
    for layout in COMPACTED {
        let worst = |clock: Option<Clock>, ratio: &dyn Fn(&ProjectBills) -> f64| {
            let bills = all.iter().filter(|it| clock.is_none_or(|clock| clock == it.clock));
            Worst::of(bills.map(|it| (ratio(it), it.title())))
        };
        let middle = |clock: Clock| {
            let bills = all.iter().filter(|it| it.clock == clock);
            let ratio = median(bills.map(|it| it.cost(layout) / it.free));
            Worst { ratio, case: clock.name().to_owned() }
        };
        let free = |it: &ProjectBills| it.cost(layout) / it.free;
        let rows = [
            ("over_cheapest_fixed", 1.02, worst(None, &|it| it.cost(layout) / cheapest_fixed(it))),
            ("over_clairvoyant", 1.5, worst(None, &|it| it.cost(layout) / it.clairvoyant)),
            ("over_free_bound_batch", 1.65, worst(Some(Clock::Batch), &free)),
            ("over_free_bound_human", 1.55, worst(Some(Clock::Human), &free)),
            ("over_free_bound_batch_median", 1.4, middle(Clock::Batch)),
            ("over_free_bound_human_median", 1.2, middle(Clock::Human)),
            ("over_uncached", 0.85, worst(None, &|it| it.cost(layout) / it.uncached)),
            ("largest_over_live", 2.01, worst(None, &|it| it.bill(layout).map_or(0.0, |it| it.over_live))),
        ];
        for (name, at_most, Worst { ratio, case }) in rows {
            let name = format!("documents_{name}_{layout}");
            figure(&name, ratio, &format!("({case})"));
            bar(&name, ratio, at_most);
        }
    }
}

/// The cost of the cheapest layout whose rule has no price.
fn cheapest_fixed(bills: &ProjectBills) -> f64 {
    let adapt = |layout: &str| VIEWS.iter().any(|view| view.name == layout && view.adapts);
    let fixed = bills.bills.iter().filter(|bill| !adapt(bill.layout));
    fixed.map(|bill| bill.cost).fold(f64::INFINITY, f64::min)
}

fn median(ratios: impl Iterator<Item = f64>) -> f64 {
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or_default()
}
