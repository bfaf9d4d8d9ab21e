//! The lifetime of marks, learnt from the pauses between the requests of a column.
//!
//! Each pause tells what the request would have cost without marks, with marks of the short lifetime, and with marks of
//! the long one. The differences are added up. A column switches when the switch would have saved, since the last one, what
//! the switch costs now: a prefix with one lifetime need not be found with the other, so the prefix is written anew. After
//! a pause that was too long, that must be done in any case, and only the difference of the fees counts. A column that
//! gives up marks loses the cheap read of the next request that follows in time, so that much must have been saved.
//!
//! From the short lifetime to the long one, one long pause would be reason enough, which is wrong for a dialogue of few
//! steps: it ends before the switch pays. So this switch follows the [experience](Experience) of all conversations with the
//! same instruction: what the long lifetime saves of a token that is repeated, less the fees of new tokens, for all
//! requests to come. A conversation is expected to become as long as others, and to go on for as many requests as it had.

use std::time::Duration;

use super::mark::Lifetime;
use super::pace::Pace;
use super::plan::PrefixTokens;
use crate::model::registry::CachePolicy;

/// The lifetime that would have cost least over the pauses between the requests of a column so far: none, the short one
/// or the long one. A flow keeps one for each column, and marks follow it unless the program [states](Pace) a pace.
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
///     let request = PrefixTokens { repeated: 2_000 + 300 * step, marked: 2_300 + 300 * step };
///     learnt = learnt.next(request, Some(Duration::from_mins(10)), policy, Experience::default());
/// }
/// assert_eq!(learnt.lifetime(), Some(Lifetime::Long));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LearntLifetime {
    lifetime: Option<Lifetime>,
    /// What each choice would have saved since the last switch, in prices of a plain token.
    saved: [f64; 3],
    /// What the requests of this column have shown.
    own: Experience,
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
}

/// The number of conversations from which on earlier ones count half.
const REMEMBERED: f64 = 64.0;

/// The expected number of requests of a conversation before a few are known.
const LENGTH: f64 = 40.0;

/// The number of conversations that are a few.
const FEW: f64 = 4.0;

const CHOICES: [Option<Lifetime>; 3] = [None, Some(Lifetime::Short), Some(Lifetime::Long)];

impl Default for LearntLifetime {
    /// The lifetime before anything is known: the short one.
    fn default() -> Self {
        Self { lifetime: Some(Lifetime::Short), saved: [0.0; 3], own: Experience::default() }
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
        let (Some(cost), false) = (price.of_choice(before), request.marked == 0) else { return next };
        next.own.count(&price);
        others.count(&price);
        // A program that opens the flow for each step knows no others.
        let known = if others.requests < next.own.requests { next.own } else { others };
        let sent = next.own.requests;
        let expected = known.saving_of_a_request(&price) * sent.max(known.length() - sent);
        let mut most = 0.0;
        for (choice, saved) in CHOICES.into_iter().zip(&mut next.saved) {
            let Some(other) = price.of_choice(choice).filter(|_| choice != before) else { continue };
            *saved += cost - other;
            let is_longer = before == Some(Lifetime::Short) && choice == Some(Lifetime::Long);
            let gain = if is_longer { expected } else { *saved };
            let left = gain - price.of_switch(choice, cost);
            if gain > 0.0 && left >= most {
                most = left;
                next.lifetime = choice;
            }
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
        if request.marked > 0 {
            self.count(&RequestPrice::of(request, pause, policy));
        }
    }

    fn count(&mut self, price: &RequestPrice<'_>) {
        if self.conversations > REMEMBERED {
            let Self { conversations, requests, repeated, saved, fees } = self;
            for sum in [conversations, requests, repeated, saved, fees] {
                *sum /= 2.0;
            }
        }
        self.requests += 1.0;
        if price.pause.is_none() {
            self.conversations += 1.0;
            return;
        }
        let [short, long] = [Lifetime::Short, Lifetime::Long].map(|lifetime| price.of_choice(Some(lifetime)));
        if let (Some(short), Some(long), Some(write)) = (short, long, price.policy.long) {
            let fees = (write.factor - price.policy.short.factor) * (price.marked - price.repeated);
            self.repeated += price.repeated;
            self.saved += short - long + fees;
            self.fees += fees;
        }
    }

    /// What the long lifetime is expected to save of each request of this size.
    fn saving_of_a_request(&self, price: &RequestPrice<'_>) -> f64 {
        let later = (self.requests - self.conversations).max(1.0);
        self.saved / self.repeated.max(1.0) * price.marked - self.fees / later
    }

    /// The expected number of requests of a conversation. Most of those that are known go on, so they become twice as long.
    fn length(&self) -> f64 {
        if self.conversations < FEW { LENGTH } else { LENGTH.min(2.0 * self.requests / self.conversations) }
    }
}

/// A request by what marks can change about its price.
struct RequestPrice<'p> {
    policy: &'p CachePolicy,
    repeated: f64,
    marked: f64,
    pause: Option<Duration>,
}

impl<'p> RequestPrice<'p> {
    fn of(request: PrefixTokens, pause: Option<Duration>, policy: &'p CachePolicy) -> Self {
        let PrefixTokens { repeated, marked } = request;
        let [repeated, marked] = [repeated.min(marked), marked]
            .map(|tokens| u32::try_from(tokens).map_or(f64::from(u32::MAX), f64::from));
        Self { policy, repeated, marked, pause }
    }

    /// The price if this request and the one before were marked so; `None` if the provider has no such lifetime.
    fn of_choice(&self, choice: Option<Lifetime>) -> Option<f64> {
        let Some(lifetime) = choice else { return Some(self.marked) };
        let write = self.policy.write(lifetime)?;
        let read = if self.pause.is_some_and(|pause| pause <= write.lifetime) { self.repeated } else { 0.0 };
        Some(self.policy.read * read + write.factor * (self.marked - read))
    }

    /// What must have been saved for a switch at this request, which costs this much without the switch.
    fn of_switch(&self, to: Option<Lifetime>, cost: f64) -> f64 {
        match to.and_then(|lifetime| self.policy.write(lifetime)) {
            Some(write) => (write.factor * self.marked - cost).max(0.0),
            None => (1.0 - self.policy.read) * self.marked,
        }
    }
}
