//! A bound of the bill of a compacted log that holds for every session, and the sessions that come near.
//!
//! `Y` is the price of reading all requests without stale texts, or of sending those that are too short for the cache, `N`
//! the tokens of all texts and turns, `D` the tokens of the texts that were replaced or removed, and a part is laid anew when
//! the rent of stale texts reaches `b` times the cost of that. Without pauses beyond the lifetime, and with requests of at
//! most `k` times the live tokens,
//!
//! ```text
//! bill <= Y + (w - r) N + (1 + 1/b) (r D + sqrt(2 b (w - r) D Y)) + (w - r) D / (k - 1)
//! ```
//!
//! A rewrite costs at most the rent over `b`, and ends that rent. What waits above the instruction is below `b (w - r)` times
//! the live tokens at each step, so the rent of a text grows at most with the square root of that, and Cauchy and Schwarz
//! give the sum. A bound of the size makes rewrites earlier, each of which ends `k - 1` times as many stale tokens as it
//! writes. A request that is too short for the cache carries no stale text. It becomes long enough for the first time once,
//! and again only after a rewrite that made it shorter and cost nothing.

use std::collections::BTreeMap;

use columnar::tokens::{Counter, Estimate};

use super::random::Random;
use super::rules::Rules;
use super::trace::Pause;
use super::traces::coding::INSTRUCTION;
use super::traces::sessions::{ChangedText, CodingSession, CodingStep};

/// The rent at which the library lays a part anew, and the bound of requests.
const RENT: f64 = 2.0;
const AT_MOST: f64 = 2.0;

/// The tokens of the title, the path and the fence of a text.
const FRAME: usize = 24;

/// The bound of the bill of a session.
pub fn certificate(session: &CodingSession, rules: &Rules) -> f64 {
    let (read, fee) = (rules.read, rules.short.write - rules.read);
    let mut live: BTreeMap<usize, usize> = BTreeMap::new();
    let (mut turns, mut stale, mut all, mut reading) = (INSTRUCTION + INSTRUCTION / 4, 0, 0, 0.0);
    for (step, CodingStep { message, changes, reply, .. }) in session.steps.iter().enumerate() {
        for ChangedText { document, text } in changes {
            stale += live.remove(document).unwrap_or_default();
            // A removal is a line.
            all += FRAME;
            if let Some(text) = text {
                let tokens = Estimate.count(text) + FRAME;
                live.insert(*document, tokens);
                all += tokens;
            }
        }
        turns += Estimate.count(message) + FRAME;
        let request = turns + live.values().sum::<usize>();
        // Frames and the instruction may have fewer tokens.
        let least = request - FRAME * (live.len() + 2 * step + 1) - INSTRUCTION / 4;
        let is_cached = least >= rules.minimum as usize;
        reading += tokens(request) * if is_cached { read } else { 1.0 };
        turns += Estimate.count(reply) + FRAME;
    }
    let [all, stale] = [all + turns, stale].map(tokens);
    let rent = read * stale + (2.0 * RENT * fee * stale * reading).sqrt();
    reading + fee * all + (1.0 + 1.0 / RENT) * rent + fee * stale / (AT_MOST - 1.0)
}

#[expect(clippy::cast_precision_loss, reason = "a session has far fewer tokens than 2^53")]
fn tokens(count: usize) -> f64 {
    count as f64
}

/// A session with documents, edits and turns of any size.
pub fn random_session(random: &mut Random) -> CodingSession {
    let largest = *random.one_of(&[50, 500, 5000]);
    let talk = *random.one_of(&[10, 100, 1000]);
    let documents = random.count(1, 12);
    let often = random.between(0.02, 0.8);
    let steps = (0..random.count(2, 60)).map(|_| {
        let changed: Vec<usize> = (0..documents).filter(|_| random.happens(often)).collect();
        step(random, &changed, largest, talk)
    });
    CodingSession { steps: steps.collect() }
}

fn step(random: &mut Random, changed: &[usize], size: usize, talk: usize) -> CodingStep {
    let changes = changed.iter().map(|&document| ChangedText { document, text: Some(random.text(&[size])) });
    CodingStep {
        pause: Pause::Thought,
        changes: changes.collect(),
        message: random.text(&[talk]),
        reply: random.text(&[talk]),
    }
}

/// Sessions with a document that never changes, and one that changes at every step or every few steps, until a rewrite has
/// just been paid for.
pub fn adversaries() -> Vec<(String, CodingSession)> {
    let mut random = Random::new(17);
    let mut all = Vec::new();
    for still in [0, 2000, 20_000] {
        for size in [400, 2000, 10_000] {
            for every in [1, 3] {
                for count in [20, 40, 80] {
                    let name = format!("{size} tokens every {every} of {count} steps beside {still}");
                    let steps = (0..count).map(|number| {
                        let is_changed = number % every == 0;
                        let mut step = step(&mut random, if is_changed { &[1] } else { &[] }, size, 300);
                        if number == 0 && still > 0 {
                            let text = Some(random.text(&[still]));
                            step.changes.insert(0, ChangedText { document: 0, text });
                        }
                        step
                    });
                    all.push((name, CodingSession { steps: steps.collect() }));
                }
            }
        }
    }
    all
}
