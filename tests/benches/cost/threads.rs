//! Columns that comment on a chat: threads over views of their own.

use columnar::Result;
use columnar_tests::cost::outcome::{Column, Outcome, Worst};
use columnar_tests::cost::rules::marked_providers;
use columnar_tests::cost::traces::threads::trace;
use columnar_tests::figures::{bar, figure};

/// Prints the cost of the commenting columns, for the provider that gains least.
pub(crate) fn compare() -> Result<()> {
    let [threads, views] = [trace(true)?, trace(false)?];
    let mut ratios = Vec::new();
    for (provider, rules) in marked_providers() {
        for (threads, views) in
            Outcome::of(&threads, provider, &rules)?.iter().zip(&Outcome::of(&views, provider, &rules)?)
        {
            ratios.push((comments(threads) / comments(views), threads.title()));
        }
    }
    let Worst { ratio, case } = Worst::of(ratios);
    figure("thread_over_alone", ratio, &format!("({case})"));
    bar("thread_over_alone", ratio, 0.65);
    Ok(())
}

fn comments(outcome: &Outcome) -> f64 {
    outcome.columns.iter().skip(1).map(|Column { library, .. }| library).sum()
}
