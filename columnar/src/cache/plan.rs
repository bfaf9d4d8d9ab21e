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
//! so the mark gains `p (w - r) - (w - 1) - (w - 1) d / T` for each token of the prefix, and the lifetime that
//! gains most is taken. For 1.25 and 2 over 0.1, that is the long one if nothing outlives it and `T / d` is above
//! 0.65 over the chance that the short one is outlived.
//!
//! `T / d` grows with each request, but to follow it costs more than it saves: what was written in one lifetime
//! need not be found in the other, so a column that changes pays for all of its history again. It is taken to be
//! [`HORIZON`], and the pace alone decides.

use super::mark::{Lifetime, Mark, Position, Reason};
use super::pace::Pace;
use super::policy::CachePolicy;
use crate::context::{Fate, Messages, Part, Parts};
use crate::registry::Write;

/// For how many requests a history is at work, as far as anybody knows in advance.
const HORIZON: f64 = 10.0;

/// The marks of one request.
///
/// Made by [`Derived::cache_plan`](crate::flow::Handle::cache_plan) and
/// [`LiveFlow::cache_plan`](crate::flow::LiveFlow::cache_plan). It depends on the declaration, the stored values
/// and the forks that were known at the step, never on the order in which values were computed.
///
/// ```
/// use columnar::cache::{CachePlan, Pace, Position, CachePolicy, Reason};
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
/// let provider = CachePolicy::of("anthropic/claude-sonnet-4-5");
/// let plan = |column| -> Result<Vec<Position>> {
///     let CachePlan { marks, .. } = chat.cache_plan(column, 1, provider, Pace::batch())?;
///     Ok(marks.iter().filter(|mark| mark.reason == Reason::Next).map(|mark| mark.position).collect())
/// };
/// assert_eq!(plan("assistant")?, [Position::Part(2)]);   // the next request repeats everything
/// assert_eq!(plan("summary")?, [Position::Part(0)]);     // everything up to the old summary
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
    pub fn of(messages: &Messages, instruction: usize, provider: &CachePolicy, pace: Pace) -> Self {
        if provider.most_marks == 0 {
            return Self::default();
        }
        let Some(lifetime) = lifetime(provider, pace) else {
            return Self::default();
        };
        let Ends { system, stable, repeated, spare } = Ends::of(messages, instruction, provider.minimum);
        let stable = stable.filter(|_| !pace.is_last());
        // What the request before had kept is read once more, even if no other repeats it.
        let Some(deepest) = repeated.max(stable).max(system) else {
            return Self::default();
        };
        let far =
            repeated.filter(|end| *end == deepest || block(*end) + provider.look_back <= block(deepest));
        // Everything before the deepest mark is paid for with it, so further ones cost nothing. They are in
        // the order of their worth, should a provider take fewer.
        let worth = [(stable, Reason::Next), (far, Reason::Previous), (system, Reason::Instruction)];
        let spare = spare.map(|position| (position.filter(|position| *position < deepest), Reason::Forks));
        let mut marks: Vec<Mark> = Vec::new();
        for (position, reason) in worth.into_iter().chain(spare) {
            let known = |position: &Position| marks.iter().any(|mark| mark.position == *position);
            if let Some(position) = position.filter(|position| !known(position)) {
                marks.push(Mark { position, lifetime, reason });
            }
        }
        // The deepest comes first in any case.
        marks.sort_by_key(|mark| mark.position != deepest);
        marks.truncate(provider.most_marks);
        marks.sort_unstable_by_key(|mark| mark.position);
        Self { marks }
    }
}

/// How long the requests of a column are to be kept, if that gains anything.
fn lifetime(provider: &CachePolicy, pace: Pace) -> Option<Lifetime> {
    let gain = |lifetime| {
        let Write { factor, lifetime: within } = provider.write(lifetime)?;
        let fee = factor - 1.0;
        Some(pace.chance(within) * (factor - provider.read) - fee - fee / HORIZON)
    };
    let gains = [Lifetime::Short, Lifetime::Long].into_iter().filter_map(|it| Some((gain(it)?, it)));
    let best = gains.filter(|(gain, _)| *gain > 0.0).max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.map(|(_, lifetime)| lifetime)
}

/// Where prefixes of a request end that other requests have, too; without those that are too short.
struct Ends {
    /// The instruction, which all requests of the column have.
    system: Option<Position>,
    /// What the next request repeats beyond that.
    stable: Option<Position>,
    /// What this request repeats of the one before, beyond the instruction.
    repeated: Option<Position>,
    /// What forks of the flow share with this request: where the nearest one went another way, where one would
    /// that begins at this step, and some places further back. What a longer prefix is read for need not keep an
    /// entry alive, so there are marks of its own.
    spare: [Option<Position>; 4],
}

impl Ends {
    fn of(messages: &Messages, instruction: usize, minimum: usize) -> Self {
        let system = (instruction >= minimum).then_some(Position::System);
        let mut ends = Self { system, stable: None, repeated: None, spare: [None; 4] };
        let (previous, fork) = (messages.previous(), messages.before_fork());
        let (mut previous, mut fork) = (Kept::new(previous.as_ref()), Kept::new(fork.as_ref()));
        let (mut stays, mut tokens) = (true, instruction);
        let [one, other] = of_the_past(messages.step());
        for (at, part) in messages.parts().enumerate() {
            stays &= is_worth_it(&part);
            let (repeats, is_shared) = (previous.has(&part), fork.has(&part));
            if !stays && !repeats {
                break;
            }
            tokens += part.tokens();
            // A constant is not worth a mark of its own.
            let Some(origin) = part.origin().filter(|_| tokens >= minimum) else { continue };
            let position = Some(Position::Part(at));
            ends.stable = position.filter(|_| stays).or(ends.stable);
            ends.repeated = position.filter(|_| repeats).or(ends.repeated);
            let is_before = |step| stays && origin.step < step;
            let is_spare = [stays && is_shared, is_before(messages.step()), is_before(one), is_before(other)];
            for (spare, is_spare) in ends.spare.iter_mut().zip(is_spare) {
                *spare = position.filter(|_| is_spare).or(*spare);
            }
        }
        ends
    }
}

/// What an earlier request had kept for the one behind it, part by part.
struct Kept<'m>(Option<Parts<'m>>);

impl<'m> Kept<'m> {
    fn new(request: Option<&'m Messages>) -> Self {
        Self(request.map(Messages::parts))
    }

    /// Whether it begins with all parts up to this one.
    fn has(&mut self, part: &Part<'_>) -> bool {
        let then = self.0.as_mut().and_then(Iterator::next);
        let has = then.is_some_and(|then| {
            let is_same = (then.origin(), then.hidden()) == (part.origin(), part.hidden());
            is_worth_it(&then) && is_same
        });
        if !has {
            self.0 = None;
        }
        has
    }
}

/// Steps of the past where a fork may begin of which nothing is known yet. A mark inside what is read costs
/// nothing, so each request marks other places, and while an entry lives there are many of them. By the golden
/// ratio they are spread evenly, however many that are.
fn of_the_past(step: usize) -> [usize; 2] {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = u64::try_from(step).unwrap_or(u64::MAX);
    let step_at = |index: u64| {
        let share = u128::from(index.wrapping_mul(GOLDEN)) * u128::from(step);
        usize::try_from(share >> u64::BITS).unwrap_or(usize::MAX)
    };
    let index = step.wrapping_mul(2);
    [step_at(index), step_at(index.wrapping_add(1))]
}

/// Whether a part is kept for the next request: also where that is most likely cut. If it is, a mark was paid for in
/// vain; but without one the whole would be paid for again if it is not.
fn is_worth_it(part: &Part<'_>) -> bool {
    matches!(part.fate(), Fate::Stays | Fate::MayBeCut)
}

/// How many blocks stand before a mark.
fn block(position: Position) -> usize {
    match position {
        Position::System => 1,
        Position::Part(at) => at + 2,
    }
}
