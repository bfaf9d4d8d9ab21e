//! Columns that comment on a chat: threads over views of their own, at a person's pace.
//!
//! Alone, each column writes its own history anew after a pause that outlives the lifetime of its marks. Threads read what
//! the assistant wrote. With a lifetime of half an hour, there is nearly nothing to save: all columns read their histories,
//! and a thread pays its instruction in each request. The lower bounds tell what any marks could save.

use columnar::Result;
use columnar::cache::{CachePolicy, Lifetime};
use columnar_tests::cost::clock::{Clock, SEEDS};
use columnar_tests::cost::learning::Learner;
use columnar_tests::cost::outcome::Worst;
use columnar_tests::cost::rules::{Rules, marked_providers};
use columnar_tests::cost::scenario::Scenario;
use columnar_tests::cost::trace::Trace;
use columnar_tests::cost::traces::threads::trace;
use columnar_tests::figures::{bar, figure};

/// The numbers of columns that comment.
const COMMENTS: [usize; 2] = [4, 8];

/// The costs of the columns that comment and of all columns, in prices of a plain token.
struct CommentCosts {
    comments: f64,
    all: f64,
}

/// Prints the cost of the columns for each provider, and the figures for four of them.
pub(crate) fn compare() -> Result<()> {
    let [alone, minutes, bound] = ["thread_over_alone", "thread_over_alone_of_minutes", "threads_over_bound"];
    println!("\nthreads over views: the columns that comment, their lower bound, and with the assistant");
    println!(
        "{:26} {:>11} {:>7} {:>7} {:>7} {:>7} {:>8}",
        "provider", "lifetimes", "columns", "cost", "bound", "all", "/bound"
    );
    let mut figures = Vec::new();
    for comments in COMMENTS {
        let traces = [trace(comments, true)?, trace(comments, false)?];
        for (provider, rules) in marked_providers() {
            let [threads, views] = traces.each_ref().map(|trace| costs(trace, provider, &rules));
            let ([threads, threads_bound], [views, views_bound]) = (threads?, views?);
            let over_alone = threads.comments / views.comments;
            let over_bound = threads.all / threads_bound.all;
            let lifetimes = rules.long.map_or(String::new(), |long| format!(", {} s", long.seconds));
            let lifetimes = format!("{} s{lifetimes}", rules.short.seconds);
            print!("{:26} {lifetimes:>11} {comments:7} {over_alone:7.3}", rules.name);
            print!(" {:7.3}", threads_bound.comments / views_bound.comments);
            println!(" {:7.3} {over_bound:8.3}", threads.all / views.all);
            if comments == COMMENTS[0] {
                figures.push((alone, over_alone, rules.name));
                figures.push((bound, over_bound, rules.name));
            }
            if comments == COMMENTS[0] && rules.long.is_none() && rules.short.seconds < 600.0 {
                figures.push((minutes, over_alone, rules.name));
            }
        }
    }
    for (name, at_most) in [(alone, 0.65), (minutes, 0.65), (bound, 1.06)] {
        let of = figures.iter().filter(|(figure, ..)| *figure == name);
        let Worst { ratio, case } = Worst::of(of.map(|(_, ratio, case)| (*ratio, (*case).to_owned())));
        figure(name, ratio, &format!("({case})"));
        bar(name, ratio, at_most);
    }
    Ok(())
}

/// The costs with the marks of the library, and the lower bounds with both lifetimes.
fn costs(trace: &Trace, provider: &CachePolicy, rules: &Rules) -> Result<[CommentCosts; 2]> {
    let learner = Learner::new(trace, provider)?;
    let mut sums = [const { Vec::new() }; 2];
    for seed in SEEDS {
        let scenario = Scenario::new(trace, rules, Clock::Human, seed);
        sums[0].extend(scenario.cost(&learner.marks(&scenario)?).expect("the marks are valid"));
        sums[1].extend(scenario.bound(&[Lifetime::Short, Lifetime::Long]));
    }
    let of = |costs: Vec<f64>| {
        let all = costs.iter().sum();
        // The first column of each seed is the assistant.
        let comments = costs.chunks(trace.columns.len()).flat_map(|columns| columns.iter().skip(1)).sum();
        CommentCosts { comments, all }
    };
    Ok(sums.map(of))
}
