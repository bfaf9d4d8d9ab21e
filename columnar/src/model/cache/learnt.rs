//! The lifetime of marks, learnt from the pauses between the requests of a column.
//!
//! Each pause tells what the request would have cost without marks, with marks of the short lifetime, and with marks of
//! the long one. The differences are added up. A column switches when the switch would have saved, since the last one, what
//! the switch costs now: a prefix with one lifetime need not be found with the other, so the prefix is written anew. After
//! a pause that was too long, that must be done in any case, and only the difference of the fees counts. A column that
//! gives up marks loses the cheap read of the next request that follows in time, so that much must have been saved.
//!
//! The fees of the long lifetime while all pauses are short are not held against it when the pauses change: the price of
//! the switch has them again. So one pause that was too long may be reason enough, which is wrong for a dialogue of few
//! steps: it ends before the switch pays. The [experience](Experience) of many conversations with the same instruction
//! tells how long they are, and what the long lifetime saves. It also tells with what the next one begins.

use std::time::Duration;

use super::mark::Lifetime;
use super::pace::Pace;
use super::plan::PrefixTokens;
use crate::model::registry::CachePolicy;

/// The lifetime that would have cost least over the pauses between the requests of a column so far: none, the short one
/// or the long one. A flow keeps one for each column, and marks follow it unless the program [states](Pace) a pace. Columns
/// that continue a conversation learn together with its column.
///
/// ```
/// use std::time::Duration;
///
/// use columnar::cache::{CachePolicy, Experience, LearntLifetime, Lifetime, PrefixTokens};
///
/// let policy = CachePolicy::by_model("anthropic/claude-sonnet-5-5");
/// let mut learnt = LearntLifetime::default();
/// assert_eq!(learnt.lifetime(), Some(Lifetime::Short));
/// // A chat with pauses of ten minutes: each request repeats the one before, and adds 300 tokens.
/// for step in 1..5 {
///     let [repeated, marked] = [2_000, 2_300].map(|tokens| tokens + 300 * step);
///     let request = PrefixTokens { repeated, marked, ..PrefixTokens::default() };
///     learnt = learnt.next(request, Some(Duration::from_mins(10)), policy, Experience::default());
/// }
/// assert_eq!(learnt.lifetime(), Some(Lifetime::Long));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearntLifetime {
    lifetime: Option<Lifetime>,
    /// What each choice would have saved since the last switch, in prices of a plain token.
    saved: [f64; 3],
    /// The number of requests.
    requests: f64,
}

/// What the requests of conversations have shown about the long lifetime.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Experience {
    conversations: f64,
    requests: f64,
    /// The tokens that requests repeated.
    repeated: f64,
    /// What the long lifetime would have saved of these, in prices of a plain token.
    saved: f64,
    /// The fees of the long lifetime for the tokens that were new in later requests than the first ones.
    fees: f64,
    /// What no marks would have saved in later requests than the first ones, over the short lifetime.
    unmarked: f64,
}

/// The number of conversations from which on earlier ones count half.
const REMEMBERED: f64 = 64.0;

const CHOICES: [Option<Lifetime>; 3] = [None, Some(Lifetime::Short), Some(Lifetime::Long)];

/// The number of conversations from which on their experience counts.
const MANY: f64 = 16.0;

/// The most requests that a conversation is expected to have.
const LONGEST: f64 = 40.0;

impl Default for LearntLifetime {
    /// The lifetime before anything is known: the short one.
    fn default() -> Self {
        Self { lifetime: Some(Lifetime::Short), saved: [0.0; 3], requests: 0.0 }
    }
}

impl LearntLifetime {
    /// The lifetime to mark with; `None` for no marks.
    pub fn lifetime(self) -> Option<Lifetime> {
        self.lifetime
    }

    /// The pace for a plan that follows the lifetime.
    pub fn pace(self) -> Pace {
        Pace::of_lifetime(self.lifetime)
    }

    /// The lifetime with one more request, whose marks follow it: `pause` is the time since the request before, `None` for
    /// the first request; `others` is the experience of all conversations with the same instruction.
    #[must_use]
    pub fn next(
        self,
        request: PrefixTokens,
        pause: Option<Duration>,
        policy: &CachePolicy,
        mut others: Experience,
    ) -> Self {
        // A backup may lack the lifetime.
        let is_unknown = self.lifetime.is_some_and(|lifetime| policy.write(lifetime).is_none());
        let mut next = if is_unknown { Self::default() } else { self };
        let before = next.lifetime;
        let price = RequestPrice::of(request, pause, policy);
        next.requests += 1.0;
        others.count(&price);
        // A request below the minimum tells nothing but that a conversation began or goes on.
        let Some(cost) = price.of_choice(before).filter(|cost| *cost > 0.0) else { return next };
        let expected = others.expected(&price, next.requests);
        let mut most = 0.0;
        for (choice, saved) in CHOICES.into_iter().zip(&mut next.saved) {
            let Some(other) = price.of_choice(choice).filter(|_| choice != before) else { continue };
            *saved += cost - other;
            let is_longer = before == Some(Lifetime::Short) && choice == Some(Lifetime::Long);
            if is_longer {
                *saved = saved.max(0.0);
            }
            let gain = match expected.filter(|_| is_longer) {
                Some(expected) if pause.is_none() => expected,
                Some(expected) => saved.min(expected),
                None => *saved,
            };
            let left = gain - price.of_switch(choice, cost);
            if gain > 0.0 && left >= most {
                most = left;
                next.lifetime = choice;
            }
        }
        if pause.is_none() && next.lifetime == before && others.is_better_unmarked() {
            next.lifetime = None;
        }
        if next.lifetime != before {
            next.saved = [0.0; 3];
        }
        next
    }
}

impl Experience {
    /// Adds a request, as [`LearntLifetime::next`] sees it.
    pub fn add(&mut self, request: PrefixTokens, pause: Option<Duration>, policy: &CachePolicy) {
        self.count(&RequestPrice::of(request, pause, policy));
    }

    fn count(&mut self, price: &RequestPrice<'_>) {
        if self.conversations > REMEMBERED {
            let Self { conversations, requests, repeated, saved, fees, unmarked } = self;
            for sum in [conversations, requests, repeated, saved, fees, unmarked] {
                *sum /= 2.0;
            }
        }
        self.requests += 1.0;
        if price.pause.is_none() {
            self.conversations += 1.0;
            return;
        }
        let [short, long] = [Lifetime::Short, Lifetime::Long].map(|lifetime| price.of_choice(Some(lifetime)));
        let Some(short) = short else { return };
        self.unmarked += short - price.live;
        if let (Some(long), Some(write)) = (long, price.policy.long) {
            let fees = (write.factor - price.policy.short.factor) * price.added;
            self.repeated += price.repeated;
            self.saved += short - long + fees;
            self.fees += fees;
        }
    }

    /// What the long lifetime is expected to save in a conversation from this request on, which is the one with this number;
    /// `None` before there are many conversations. Most of these go on, so they become twice as long.
    fn expected(&self, price: &RequestPrice<'_>, number: f64) -> Option<f64> {
        let later = (self.requests - self.conversations).max(1.0);
        let each = self.saved / self.repeated.max(1.0) * price.marked - self.fees / later;
        let length = LONGEST.min(2.0 * self.requests / self.conversations);
        (self.conversations >= MANY).then(|| each * number.max(length - number))
    }

    /// Whether later requests of many conversations would have cost least without marks.
    fn is_better_unmarked(&self) -> bool {
        self.conversations >= MANY && self.unmarked > (self.saved - self.fees).max(0.0)
    }
}

/// A request by what marks can change about its price.
struct RequestPrice<'p> {
    policy: &'p CachePolicy,
    /// The tokens that are read and written if the provider still has the request before.
    repeated: f64,
    added: f64,
    marked: f64,
    /// The tokens that are written if the provider has nothing.
    live: f64,
    pause: Option<Duration>,
}

impl<'p> RequestPrice<'p> {
    fn of(request: PrefixTokens, pause: Option<Duration>, policy: &'p CachePolicy) -> Self {
        let PrefixTokens { repeated, marked, stale, repeatable, added } = request;
        let repeated = repeated.min(marked);
        // Documents are laid anew because the request is late. With a longer lifetime, it would not be.
        let is_late = pause.is_some_and(|pause| pause > policy.short.lifetime);
        let (repeated, added) =
            if is_late && repeatable > 0 { (repeatable, added) } else { (repeated, marked - repeated) };
        let [repeated, added, marked, live] = [repeated, added, marked, marked.saturating_sub(stale)]
            .map(|tokens| u32::try_from(tokens).map_or(f64::from(u32::MAX), f64::from));
        Self { policy, repeated, added, marked, live, pause }
    }

    /// The price if this request and the one before were marked so; `None` if the provider has no such lifetime.
    fn of_choice(&self, choice: Option<Lifetime>) -> Option<f64> {
        let Some(lifetime) = choice else { return Some(self.live) };
        let write = self.policy.write(lifetime)?;
        let is_kept = self.pause.is_some_and(|pause| pause <= write.lifetime);
        let kept = self.policy.read * self.repeated + write.factor * self.added;
        Some(if is_kept { kept } else { write.factor * self.live })
    }

    /// What must have been saved for a switch at this request, which costs this much without the switch.
    fn of_switch(&self, to: Option<Lifetime>, cost: f64) -> f64 {
        match to.and_then(|lifetime| self.policy.write(lifetime)) {
            Some(write) => (write.factor * self.marked - cost).max(0.0),
            None => (1.0 - self.policy.read) * self.marked,
        }
    }
}
