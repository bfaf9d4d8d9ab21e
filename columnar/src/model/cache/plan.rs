//! The positions of cache marks in a request, so that the next request pays the cached price for the prefix that both
//! share.
//!
//! A provider that takes marks caches the prefix before each mark and nothing else. A mark at the end of a request is
//! useless if the next request differs before it. The declaration decides where requests differ; see
//! [`StablePrefix`](super::StablePrefix).
//!
//! # The gain of a mark
//!
//! A column marks a prefix of `T` tokens, and each request adds `d` tokens. The next request follows in time with a
//! probability of `p`. With the factors `r` of reading and `w` of writing, the next request pays
//!
//! ```text
//! in time     r T + w d
//! too late    w T + w d
//! unmarked      T +   d
//! ```
//!
//! so the mark gains `p (w - r) - (w - 1) - (w - 1) d / T` for each token of the prefix, and the lifetime that gains
//! most is taken. For 1.25 and 2 over 0.1, that is the long lifetime if no gap outlives it and `T / d` is above 0.65
//! over the probability that a gap outlives the short lifetime.
//!
//! `T / d` grows with each request, but following the growth costs more than it saves. A prefix that was written with
//! one lifetime need not be found with the other, so a column that changes its lifetime pays for the whole history
//! again. `T / d` is assumed to be [`HORIZON`], and the pace alone decides.

use std::collections::BTreeMap;
use std::fmt;
use std::mem;

use super::mark::{Lifetime, Mark, Position, Reason};
use super::pace::Pace;
use crate::context::tiers::{Moves, Tier};
use crate::context::{InNext, Messages, Part, Parts};
use crate::model::registry::{CachePolicy, Write};

/// The assumed number of requests over which a history is used.
const HORIZON: f64 = 10.0;

/// The marks of one request, printed with a line for each mark.
///
/// Made by [`Derived::cache_plan`](crate::flow::Handle::cache_plan) and
/// [`LiveFlow::cache_plan`](crate::flow::LiveFlow::cache_plan). A plan depends on the declaration, the stored values
/// and the forks that were known at the step, never on the order in which values were computed.
///
/// ```
/// use columnar::cache::{CachePlan, Pace, Position, CachePolicy, Reason};
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest)        = prompt("List the topics.");
///     column summary(user, self.latest) = prompt("Update the summary.");
///     column assistant(user, self)      = prompt("You are a helpful assistant.");
/// };
/// chat.user.push("What do you think of this? ".repeat(200)).await?;
/// chat.user.push("And now?").await?;
/// chat.run().await?;
///
/// let provider = CachePolicy::by_model("anthropic/claude-sonnet-5-5");
/// let plan = |column| -> Result<Vec<Position>> {
///     let CachePlan { marks, .. } = chat.cache_plan(column, 1, provider, Pace::batch())?;
///     Ok(marks.iter().filter(|mark| mark.reason == Reason::Next).map(|mark| mark.position).collect())
/// };
/// assert_eq!(plan("assistant")?, [Position::Part(2)]);   // the next request repeats everything
/// assert_eq!(plan("summary")?, [Position::Part(0)]);     // everything up to the old summary
/// assert_eq!(plan("topics")?, []);                    // nothing but the instruction
///
/// let plan = chat.cache_plan("summary", 1, provider, Pace::batch())?;
/// assert_eq!(plan.to_string(), "after part 0, short lifetime, for the next request");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachePlan {
    /// The marks in the order of the request, all with the same lifetime.
    pub marks: Vec<Mark>,
}

impl CachePlan {
    /// The plan for a request of an instruction with `instruction` tokens and these messages.
    pub fn of(messages: &Messages, instruction: usize, policy: &CachePolicy, pace: Pace) -> Self {
        if policy.most_marks == 0 {
            return Self::default();
        }
        let Some((lifetime, write)) = lifetime(policy, pace).and_then(|it| Some((it, policy.write(it)?)))
        else {
            return Self::default();
        };
        let messages = &Messages(messages.snapshot().clone().written_at(write.factor));
        let root = messages.root();
        if !has_stable_system(messages) {
            return Self::default();
        }
        if let Some(moves) = root.moves() {
            return Self { marks: tiers(messages, moves, instruction, policy, lifetime, pace) };
        }
        let PrefixEnds { system, stable, repeated, blocks, cuts, spare, .. } =
            PrefixEnds::of(messages, instruction, policy.minimum);
        let stable = stable.filter(|_| !pace.is_last);
        // A prefix that the request before wrote is read once more, even if no other request repeats it. `None` is
        // less than any position, and the instruction is less than any part.
        let Some(deepest) = repeated.max(stable).max(system) else {
            return Self::default();
        };
        // The provider looks `look_back` blocks back from a mark, so an earlier entry needs another mark.
        let far = repeated.filter(|end| *end == deepest || policy.look_back <= blocks);
        // The deepest mark pays for the whole prefix, so further marks are free. The most useful marks come first, in
        // case the provider takes fewer.
        let worth = [(stable, Reason::Next), (far, Reason::Previous)].into_iter();
        let cuts =
            in_turn(&cuts, messages.step()).map(|at| (at.filter(|at| *at < deepest), Reason::Documents));
        let worth = worth.chain(cuts).chain([(system, Reason::Instruction)]);
        let spare = spare.map(|position| (position.filter(|position| *position < deepest), Reason::Forks));
        let mut marks: Vec<Mark> = Vec::new();
        for (position, reason) in worth.chain(spare) {
            if let Some(position) = position
                && marks.iter().all(|mark| mark.position != position)
            {
                marks.push(Mark { position, lifetime, reason });
            }
        }
        // The deepest mark is kept in any case. The sort is stable, so the others stay in the order of their worth.
        marks.sort_by_key(|mark| mark.position != deepest);
        marks.truncate(policy.most_marks);
        marks.sort_unstable_by_key(|mark| mark.position);
        Self { marks }
    }
}

impl fmt::Display for CachePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, rest)) = self.marks.split_first() else { return f.write_str("no marks") };
        write!(f, "{first}")?;
        rest.iter().try_for_each(|mark| write!(f, "\n{mark}"))
    }
}

/// The tokens of a request that a cache can save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrefixTokens {
    /// The tokens that the request repeats of the request before.
    pub repeated: usize,
    /// The tokens up to the deepest mark; zero if no mark is possible.
    pub marked: usize,
    /// The tokens of texts that are no longer valid, which the request need not have.
    pub stale: usize,
    /// The tokens that the request would repeat if no documents were laid anew with it; zero if none are. After a pause,
    /// documents are laid anew because of the lifetime, so the lifetime must not follow what is repeated then.
    pub repeatable: usize,
    /// The tokens that the request would add to these.
    pub added: usize,
}

impl PrefixTokens {
    /// The tokens of a request of an instruction with `instruction` tokens and these messages.
    pub fn of(messages: &Messages, instruction: usize, policy: &CachePolicy) -> Self {
        if policy.most_marks == 0 || !has_stable_system(messages) {
            return Self::default();
        }
        let previous = messages.previous();
        let [repeated, marked] = if let Some(moves) = messages.moves() {
            let mut ends = tier_ends(messages, instruction);
            ends.retain(|_, (_, tokens)| *tokens >= policy.minimum);
            let deepest = ends.values().map(|(_, tokens)| *tokens).max();
            ends.retain(|tier, _| moves.broken().iter().all(|broken| tier < broken));
            [ends.values().map(|(_, tokens)| *tokens).max(), deepest].map(Option::unwrap_or_default)
        } else {
            let ends = PrefixEnds::of(messages, instruction, policy.minimum);
            let system = if ends.system.is_some() { instruction } else { 0 };
            let [stable, repeated] = ends.tokens;
            [repeated.max(system), stable.max(repeated).max(system)]
        };
        let stale = messages.stale_tokens();
        let Some(previous) = previous else { return Self { marked, stale, ..Self::default() } };
        let added = messages.added_to(&previous);
        let repeatable = if added.is_some() { instruction + previous.tokens() } else { 0 };
        Self { repeated, marked, stale, repeatable, added: added.unwrap_or_default() }
    }
}

/// Whether the system text is the same as before. Instructions may change with each step. An instruction that did not
/// change with this step is taken for stable.
fn has_stable_system(messages: &Messages) -> bool {
    let root = messages.root();
    !root.has_instructions() || root.previous().is_some_and(|previous| root.has_instructions_of(&previous))
}

/// The marks of a tiered context: one at the end of each cached tier that has anything, if the prefix is long enough.
/// Nothing before such a mark changed lately.
fn tiers(
    messages: &Messages,
    moves: &Moves,
    instruction: usize,
    policy: &CachePolicy,
    lifetime: Lifetime,
    pace: Pace,
) -> Vec<Mark> {
    let mut ends = tier_ends(messages, instruction);
    // Without a further request, only the prefix that the request before wrote is read.
    ends.retain(|tier, (_, tokens)| {
        *tokens >= policy.minimum && (!pace.is_last || moves.broken().iter().all(|broken| tier < broken))
    });
    let marks = ends.into_iter().map(|(tier, (position, _))| (position, Reason::Tier(tier)));
    let mut marks: Vec<Mark> = marks.map(|(position, reason)| Mark { position, lifetime, reason }).collect();
    // The deepest marks are kept: a provider looks back from them.
    marks.drain(..marks.len().saturating_sub(policy.most_marks));
    marks
}

/// The end of each cached tier that has anything, with the tokens up to there.
fn tier_ends(messages: &Messages, instruction: usize) -> BTreeMap<Tier, (Position, usize)> {
    let mut ends = BTreeMap::from([(Tier::L0, (Position::System, instruction))]);
    let mut tokens = instruction;
    for (at, part) in messages.parts().enumerate() {
        tokens += part.tokens();
        // The tiers of the parts are ascending, so nothing follows.
        let Some(tier) = part.tier().filter(|tier| tier.is_cached()) else { break };
        ends.insert(tier, (Position::Part(at), tokens));
    }
    ends
}

/// The lifetime that gains most for a column, if any lifetime gains.
pub(super) fn lifetime(policy: &CachePolicy, pace: Pace) -> Option<Lifetime> {
    let gains = [Lifetime::Short, Lifetime::Long].into_iter().filter_map(|lifetime| {
        let Write { factor, lifetime: within } = policy.write(lifetime)?;
        let fee = factor - 1.0;
        let gain = pace.chance(lifetime, within) * (factor - policy.read) - fee - fee / HORIZON;
        (gain > 0.0).then_some((gain, lifetime))
    });
    gains.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, lifetime)| lifetime)
}

/// The ends of prefixes that a request shares with others, apart from prefixes below the minimum.
#[derive(Default)]
struct PrefixEnds {
    /// The instruction, which all requests of the column share.
    system: Option<Position>,
    /// The last part after the instruction that the next request repeats.
    stable: Option<Position>,
    /// The last part after the instruction that this request repeats of the request before.
    repeated: Option<Position>,
    /// The tokens up to these two ends.
    tokens: [usize; 2],
    /// The number of blocks between the last two: the text of a part, and each attachment.
    blocks: usize,
    /// The ends of documents behind which later requests may lay documents anew. They are inside a prefix that is read, so
    /// their marks are free, and keep the entries there alive.
    cuts: Vec<Position>,
    /// The parts that forks of the flow share with this request: up to where the nearest fork differs, up to where a
    /// fork at this step would differ, and some positions further back. Reading a longer prefix need not keep a
    /// shorter entry alive, so these parts have separate marks.
    spare: [Option<Position>; 4],
}

impl PrefixEnds {
    fn of(messages: &Messages, instruction: usize, minimum: usize) -> Self {
        let system = (instruction >= minimum).then_some(Position::System);
        let mut ends = Self { system, ..Self::default() };
        let mut before = system;
        let mut later_blocks = 0;
        let previous = messages.previous();
        let fork = messages.before_fork();
        let mut previous = RepeatedPrefix::new(previous.as_ref());
        let mut fork = RepeatedPrefix::new(fork.as_ref());
        let mut stays = true;
        let mut tokens = instruction;
        let mut has_documents = false;
        let forks = fork_steps(messages.step());
        for (at, part) in messages.parts().enumerate() {
            stays &= is_worth_marking(&part);
            // Both are called for each part, because both walk along with the parts.
            let repeats = previous.has(&part);
            let is_shared = fork.has(&part);
            if !stays && !repeats {
                break;
            }
            tokens += part.tokens();
            later_blocks += 1 + part.attachments().len();
            if part.log_place().is_some() && !mem::replace(&mut has_documents, true) && stays {
                // All documents may be laid anew behind the turns before the first ones.
                ends.cuts.extend(before.filter(|before| *before > Position::System));
            }
            before = (tokens >= minimum).then_some(Position::Part(at));
            ends.cuts.extend(before.filter(|_| stays && part.is_before_cut()));
            // A constant part is not worth a mark.
            let Some(origin) = part.origin().filter(|_| tokens >= minimum) else { continue };
            let position = Some(Position::Part(at));
            if stays {
                (ends.stable, ends.tokens[0], ends.blocks) = (position, tokens, later_blocks);
            }
            if repeats {
                (ends.repeated, ends.tokens[1], ends.blocks) = (position, tokens, 0);
                later_blocks = 0;
            }
            let are_before = forks.map(|step| origin.step < step);
            for (spare, is_spare) in ends.spare.iter_mut().zip([is_shared].into_iter().chain(are_before)) {
                *spare = position.filter(|_| stays && is_spare).or(*spare);
            }
        }
        ends
    }
}

/// The prefix of an earlier request that was worth a mark, read part by part.
struct RepeatedPrefix<'m>(Option<Parts<'m>>);

impl<'m> RepeatedPrefix<'m> {
    fn new(request: Option<&'m Messages>) -> Self {
        Self(request.map(Messages::parts))
    }

    /// Whether the other request begins with all parts up to this one.
    fn has(&mut self, part: &Part<'_>) -> bool {
        let then = self.0.as_mut().and_then(Iterator::next);
        let has = then.is_some_and(|then| {
            // Values never change, so the same cell has the same text between its delimiters.
            let is_same = (then.origin(), then.hidden()) == (part.origin(), part.hidden());
            // The documents of a step are in several parts, and some are laid anew.
            let is_same = is_same && (part.log_place().is_none() || then == *part);
            is_worth_marking(&then) && is_same && then.delimiters() == part.delimiters()
        });
        if !has {
            self.0 = None;
        }
        has
    }
}

/// Two past steps at which a later fork may begin. A mark inside a prefix that is read is free, so each request marks
/// other positions, and many positions are alive at a time. The golden ratio spreads any number of positions evenly.
fn fork_steps(step: usize) -> [usize; 3] {
    // 2^64 over the golden ratio.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let index = (step as u64).wrapping_mul(2);
    let [one, other] = [index, index.wrapping_add(1)].map(|index| {
        let share = u128::from(index.wrapping_mul(GOLDEN)) * step as u128;
        // The upper half of the product is a share of the step, and below it.
        usize::try_from(share >> u64::BITS).unwrap_or(usize::MAX)
    });
    [step, one, other]
}

/// Two of these positions, other ones at each step: more marks than a request takes would be of use, and each keeps an entry
/// alive for some steps.
fn in_turn(positions: &[Position], step: usize) -> impl Iterator<Item = Option<Position>> {
    [0, 1].into_iter().map(move |number| {
        let at = step.wrapping_mul(2).wrapping_add(number).checked_rem(positions.len())?;
        positions.get(at).copied()
    })
}

/// Whether a part is marked for the next request. A part that may be cut or may stay is marked. If the next request lacks
/// the part, the mark was wasted; otherwise a missing mark would cost the whole prefix again.
fn is_worth_marking(part: &Part<'_>) -> bool {
    let in_next = part.in_next_messages();
    matches!(in_next, InNext::Repeated | InNext::MayBeTruncated | InNext::Leaves { may_stay: true, .. })
}
