//! Where to mark a request, so that the next one pays the fraction for what the two have in common.
//!
//! A provider that takes marks keeps what stands before them and looks nowhere else, so a mark at the end of
//! a request is worth nothing where the next request goes another way. Where it does is known from the
//! declaration; see [`StablePrefix`](super::StablePrefix).
//!
//! # What a mark gains
//!
//! A column marks a prefix of `T` tokens, and each request adds `d` of them. The next one follows in time
//! with a chance of `p`. With the factors `r` of reading and `w` of writing it pays
//!
//! ```text
//! in time     r T + w d
//! too late    w T + w d
//! unmarked      T +   d
//! ```
//!
//! so the mark gains `p (w - r) - (w - 1) - (w - 1) d / T` for each token of the prefix. The n-th request of a
//! column takes `d / T` to be `1 / n`, as it was until then on average. So nothing but the pace decides where it
//! begins and ends to be worth it, and a column that goes on changes its lifetime once at most: a provider need
//! not find in one lifetime what was written in the other.
//!
//! The lifetime that gains most is taken. For 1.25 and 2 over 0.1, that is the long one if nothing outlives it
//! and `T / d` is above 0.65 over the chance that the short one is outlived.

use alloc::vec::Vec;

use super::mark::{Lifetime, Mark, Place};
use super::pace::Pace;
use super::provider::{Provider, Write};
use crate::context::{Fate, Messages};

/// The marks of one request.
///
/// Made by [`Derived::cache_plan`](crate::flow::Handle::cache_plan) and
/// [`LiveFlow::cache_plan`](crate::flow::LiveFlow::cache_plan). It depends on the declaration and the stored
/// values alone, never on the order in which they were computed.
///
/// ```
/// use columnar::cache::{CachePlan, Pace, Place, Provider};
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("List the topics.");
///     column summary(user, self.latest) = prompt("Update the summary.");
///     column assistant(user, self) = prompt("You are a helpful assistant.");
/// };
/// chat.user.push("What do you think of this? ".repeat(200)).await?;
/// chat.user.push("And now?").await?;
/// chat.run().await?;
///
/// let provider = Provider::of("anthropic/claude-sonnet-4-5");
/// let plan = |column| -> Result<Vec<Place>> {
///     let CachePlan { marks, .. } = chat.cache_plan(column, 1, provider, Pace::batch())?;
///     Ok(marks.iter().map(|mark| mark.place).collect())
/// };
/// assert_eq!(plan("assistant")?, [Place::Part(2)]);   // the next request repeats everything
/// assert_eq!(plan("summary")?, [Place::Part(0)]);     // everything up to the old summary
/// assert_eq!(plan("topics")?, []);                    // nothing but the instruction
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachePlan {
    /// In the order of the request, all with the same lifetime.
    pub marks: Vec<Mark>,
}

impl CachePlan {
    /// The plan for a request that consists of an instruction of so many tokens and these messages.
    pub fn of(messages: &Messages, instruction: usize, provider: &Provider, pace: Pace) -> Self {
        if provider.most_marks == 0 {
            return Self::default();
        }
        let requests = messages.step() + 1;
        let Some(lifetime) = lifetime(provider, pace, requests) else {
            return Self::default();
        };
        let Ends { system, stable, repeated } = Ends::of(messages, instruction, provider.minimum);
        // What the request before had kept is read once more, even if no other repeats it.
        let kept = repeated.filter(|_| self::lifetime(provider, pace, requests - 1) == Some(lifetime));
        let Some(deepest) = kept.max(stable).max(system) else {
            return Self::default();
        };
        // Everything before the deepest mark is paid for with it, so further ones cost nothing. They are in
        // the order of their worth, should a provider take fewer.
        let far = repeated.filter(|end| block(*end) + provider.look_back <= block(deepest));
        let mut places = Vec::from([deepest]);
        for place in [stable, far, system].into_iter().flatten() {
            if place < deepest && !places.contains(&place) {
                places.push(place);
            }
        }
        places.truncate(provider.most_marks);
        places.sort_unstable();
        Self { marks: places.into_iter().map(|place| Mark { place, lifetime }).collect() }
    }
}

/// How long the n-th request of a column is to be kept, if that gains anything.
fn lifetime(provider: &Provider, pace: Pace, requests: usize) -> Option<Lifetime> {
    // No column has so many that it would not fit.
    let requests = f64::from(u32::try_from(requests).unwrap_or(u32::MAX));
    let gain = |lifetime| {
        let Write { factor, lifetime: within } = provider.write(lifetime)?;
        let fee = factor - 1.0;
        Some(pace.chance(within) * (factor - provider.read) - fee - fee / requests)
    };
    let gains = [Lifetime::Short, Lifetime::Long].into_iter().filter_map(|it| Some((gain(it)?, it)));
    let best = gains.filter(|(gain, _)| *gain > 0.0).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, lifetime)| lifetime)
}

/// Where prefixes of a request end that other requests have, too; without those that are too short.
struct Ends {
    /// The instruction, which all requests of the column have.
    system: Option<Place>,
    /// What the next request repeats beyond that.
    stable: Option<Place>,
    /// What this request repeats of the one before, beyond the instruction.
    repeated: Option<Place>,
}

impl Ends {
    fn of(messages: &Messages, instruction: usize, minimum: usize) -> Self {
        let system = (instruction >= minimum).then_some(Place::System);
        let mut ends = Self { system, stable: None, repeated: None };
        let (mut stays, mut repeats, mut tokens) = (true, true, instruction);
        let previous = messages.previous();
        let mut before = previous.iter().flat_map(Messages::parts);
        for (at, part) in messages.parts().enumerate() {
            stays &= part.fate() == Fate::Stays;
            let then = before.next();
            repeats &= then.is_some_and(|then| then.fate() == Fate::Stays && then.origin() == part.origin());
            if !stays && !repeats {
                break;
            }
            tokens += part.tokens();
            // A constant is not worth a mark of its own.
            if tokens >= minimum && part.origin().is_some() {
                ends.stable = stays.then_some(Place::Part(at)).or(ends.stable);
                ends.repeated = repeats.then_some(Place::Part(at)).or(ends.repeated);
            }
        }
        ends
    }
}

/// How many blocks stand before a mark.
fn block(place: Place) -> usize {
    match place {
        Place::System => 1,
        Place::Part(at) => at + 2,
    }
}
