//! The figures of lifetimes that are learnt: without any hint about time.

use columnar::Result;
use columnar::cache::CachePolicy;

use super::clock::Clock;
use super::outcome::{Column, Outcome, Worst};
use super::rules::Rules;
use super::trace::Trace;
use super::traces::{chat, lifetimes};
use crate::figures::{bar, figure};

/// Prints the figures and their bars: over the bound with both lifetimes, and over no cache, each for the worst provider.
///
/// # Errors
///
/// The errors of the plans. None is expected.
pub fn lifetime_figures(providers: &[(&'static CachePolicy, Rules)]) -> Result<()> {
    let chats = outcomes(&chat::trace()?, providers)?;
    let short = outcomes(&lifetimes::short()?, providers)?;
    let slow = outcomes(&lifetimes::slow()?, providers)?;
    let [one, many] = [1, 60].map(|conversations| {
        lifetimes::one_step(conversations).and_then(|trace| outcomes(&trace, providers))
    });
    let human = chats.iter().filter(|outcome| outcome.clock == Clock::Human);
    let bars = [
        ("human_over_both_lifetimes", 1.15, worst(human, Column::over_both)),
        ("slow_over_uncached", 1.03, worst(&slow, Column::over_uncached)),
        ("one_step_over_uncached", 1.25, worst(&one?, Column::over_uncached)),
    ];
    let bursty = chats.iter().filter(|outcome| outcome.clock == Clock::Bursty);
    let ten_minutes = slow.iter().filter(|outcome| outcome.clock == Clock::TenMinutes);
    let others = [
        ("bursty_over_both_lifetimes", worst(bursty, Column::over_both)),
        ("ten_minutes_over_both_lifetimes", worst(ten_minutes, Column::over_both)),
        ("short_chats_over_both_lifetimes", worst(&short, Column::over_both)),
        ("short_chats_over_uncached", worst(&short, Column::over_uncached)),
        ("one_step_of_many_over_uncached", worst(&many?, Column::over_uncached)),
    ];
    for (name, Worst { ratio, case }) in others {
        figure(name, ratio, &format!("({case})"));
    }
    for (name, at_most, Worst { ratio, case }) in bars {
        figure(name, ratio, &format!("({case})"));
        bar(name, ratio, at_most);
    }
    Ok(())
}

fn outcomes(trace: &Trace, providers: &[(&'static CachePolicy, Rules)]) -> Result<Vec<Outcome>> {
    let all = providers.iter().map(|(policy, rules)| Outcome::of(trace, policy, rules));
    Ok(all.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

fn worst<'o>(outcomes: impl IntoIterator<Item = &'o Outcome>, ratio: fn(&Column) -> f64) -> Worst {
    Worst::of(outcomes.into_iter().map(|outcome| (ratio(&outcome.total()), outcome.title())))
}
