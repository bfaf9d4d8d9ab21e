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
//! so the mark gains `T (p (w - r) - (w - 1)) - d (w - 1)` a request. Each lifetime has its own `p` and `w`, and
//! the one that gains most is taken. For 1.25 and 2 over 0.1, that is the long one when it is never outlived
//! and `T / d` is above 0.65 over the chance that the short one is. Where no mark gains anything, there is none.

use alloc::vec::Vec;

use super::mark::{Lifetime, Mark, Place};
use super::pace::Pace;
use super::provider::Provider;
use crate::context::{Messages, Part};
use crate::tokens::{Chars, Counter};

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
        let ends = Ends::of(messages, instruction, provider.minimum);
        let Some((deepest, lifetime)) = ends.deepest(provider, pace) else {
            return Self::default();
        };
        // Everything before the deepest mark is paid for with it, so further ones cost nothing. They are in
        // the order of their worth, should a provider take fewer.
        let far = ends.repeated.filter(|end| end.block() + provider.look_back <= deepest.block());
        let further = [ends.stable, far, ends.system].into_iter().flatten();
        let mut places: Vec<Place> = Vec::from([deepest.place]);
        for place in further.filter(|end| end.place < deepest.place).map(|end| end.place) {
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places.truncate(provider.most_marks);
        places.sort_unstable();
        Self { marks: places.into_iter().map(|place| Mark { place, lifetime }).collect() }
    }
}

/// The end of a prefix, and the tokens before it.
#[derive(Clone, Copy, Debug)]
struct End {
    place: Place,
    tokens: usize,
}

/// Where prefixes of a request end that other requests have, too; without those that are too short.
#[derive(Clone, Copy, Debug)]
struct Ends {
    /// The instruction, which all requests of the column have.
    system: Option<End>,
    /// What the next request repeats beyond that.
    stable: Option<End>,
    /// What this request repeats of the one before, beyond the instruction.
    repeated: Option<End>,
}

impl Ends {
    fn of(messages: &Messages, instruction: usize, minimum: usize) -> Self {
        let (mut stays, mut repeats) = (true, true);
        let (mut stable, mut repeated) = (None, None);
        let previous = messages.previous();
        let mut before = previous.iter().flat_map(Messages::parts);
        let mut tokens = instruction;
        for (at, part) in messages.parts().enumerate() {
            tokens += tokens_of(&part);
            stays &= part.fate().1;
            repeats &= before.next().is_some_and(|then| then.fate().1 && then.origin() == part.origin());
            if !stays && !repeats {
                break;
            }
            // A constant is not worth a mark of its own.
            let end = part.origin().map(|_| End { place: Place::Part(at), tokens });
            stable = end.filter(|_| stays).or(stable);
            repeated = end.filter(|_| repeats).or(repeated);
        }
        let system = Some(End { place: Place::System, tokens: instruction });
        let long_enough = |end: &End| end.tokens >= minimum;
        Self {
            system: system.filter(long_enough),
            stable: stable.filter(long_enough),
            repeated: repeated.filter(long_enough),
        }
    }

    /// The mark that gains most, if any gains anything.
    fn deepest(&self, provider: &Provider, pace: Pace) -> Option<(End, Lifetime)> {
        let known = [self.repeated, self.system].into_iter().flatten().map(|end| end.tokens).max();
        let lifetimes = [Lifetime::Short, Lifetime::Long].into_iter();
        let gains = lifetimes.filter_map(|lifetime| {
            let write = provider.write(lifetime)?;
            let fee = write.factor - 1.0;
            let rate = pace.chance(write.lifetime) * (write.factor - provider.read) - fee;
            // What the request before had kept is read once more, even if no other repeats it. It was kept
            // for sure if that paid when all of it was new.
            let repeated = self.repeated.filter(|_| rate > fee);
            let ends = [self.system, repeated, self.stable].into_iter().flatten();
            Some(ends.map(move |end| {
                let added = end.tokens.saturating_sub(known.unwrap_or(0));
                (count(end.tokens) * rate - count(added) * fee, end, lifetime)
            }))
        });
        let best = gains.flatten().filter(|(gain, ..)| *gain > 0.0).max_by(|(a, ..), (b, ..)| a.total_cmp(b));
        best.map(|(_, end, lifetime)| (end, lifetime))
    }
}

impl End {
    /// How many blocks stand before it.
    fn block(self) -> usize {
        match self.place {
            Place::System => 1,
            Place::Part(at) => at + 2,
        }
    }
}

fn tokens_of(part: &Part<'_>) -> usize {
    Chars.count(&part.text())
}

/// A number to reckon with. No request has so many tokens that it would not fit.
fn count(tokens: usize) -> f64 {
    f64::from(u32::try_from(tokens).unwrap_or(u32::MAX))
}
