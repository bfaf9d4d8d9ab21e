//! The conversations that begin alike: the share of these that go on, and what their requests have shown.
//!
//! Marking the first request of a conversation costs `w - 1` for each token, and saves `w - r` if a second request
//! follows in time. So the mark pays if more than `(w - 1) / (w - r)` of the conversations go on.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::learnt::Experience;
use super::plan::PrefixTokens;
use crate::model::registry::{CachePolicy, Write};

/// The conversations that began with the same instruction and model, counted from any moment.
///
/// A conversation has gone on with the second request, and has ended if that does not come within the lifetime of a mark.
/// Conversations that wait are neither: a program may begin many at once. Before anything is known, all go on.
///
/// ```
/// use std::time::Duration;
///
/// use columnar::cache::{Beginnings, CachePolicy, Lifetime};
///
/// let policy = CachePolicy::by_model("anthropic/claude-sonnet-5-5");
/// let mut questions = Beginnings::default();
/// for hour in 0..4 {
///     let now = Duration::from_hours(hour);
///     assert!(questions.are_worth_marking(now, policy, policy.short));
///     questions.begin(now);
/// }
/// // None of the four went on.
/// assert!(!questions.are_worth_marking(Duration::from_hours(4), policy, policy.short));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Beginnings {
    went_on: u32,
    ended: u32,
    /// The beginnings of the conversations that wait, in order of time.
    waiting: VecDeque<Duration>,
}

/// The number of conversations from which on earlier ones count half.
const REMEMBERED: u32 = 64;

impl Beginnings {
    /// A conversation begins.
    pub fn begin(&mut self, now: Duration) {
        let at = self.waiting.partition_point(|begun| *begun <= now);
        self.waiting.insert(at, now);
    }

    /// The conversation that began then sends a second request.
    pub fn go_on(&mut self, begun: Duration) {
        // Otherwise the second request came too late.
        if let Ok(at) = self.waiting.binary_search(&begun) {
            self.waiting.remove(at);
            self.went_on += 1;
        }
    }

    /// Whether enough conversations go on for marks of this lifetime in the first request.
    pub fn are_worth_marking(&mut self, now: Duration, policy: &CachePolicy, write: Write) -> bool {
        while self.waiting.front().is_some_and(|begun| now.saturating_sub(*begun) > write.lifetime) {
            self.waiting.pop_front();
            self.ended += 1;
        }
        if self.went_on + self.ended > REMEMBERED {
            self.went_on /= 2;
            self.ended /= 2;
        }
        let known = f64::from(self.went_on + self.ended + 1);
        f64::from(self.went_on + 1) * (write.factor - policy.read) > (write.factor - 1.0) * known
    }
}

/// What this process knows about the conversations with an instruction and a model.
#[derive(Debug, Default)]
struct InstructionRecord {
    beginnings: Beginnings,
    experience: Experience,
}

/// By a hash of the model and the instruction.
static OF_PROCESS: LazyLock<Mutex<BTreeMap<u64, InstructionRecord>>> = LazyLock::new(Mutex::default);

/// The moment from which this process counts.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The most instructions that are remembered. Then all are forgotten.
const INSTRUCTIONS: usize = 1024;

/// The conversations of this process that begin with an instruction and a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InstructionKey(u64);

impl InstructionKey {
    pub(crate) fn of(model: &str, instruction: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        (model, instruction).hash(&mut hasher);
        Self(hasher.finish())
    }

    /// Whether a first request now is worth marks of this lifetime.
    pub(crate) fn is_worth_marking(self, policy: &CachePolicy, write: Write) -> bool {
        self.with(|known| known.beginnings.are_worth_marking(time_of(Instant::now()), policy, write))
    }

    pub(crate) fn begin(self, at: Instant) {
        self.with(|known| known.beginnings.begin(time_of(at)));
    }

    pub(crate) fn go_on(self, begun: Instant) {
        self.with(|known| known.beginnings.go_on(time_of(begun)));
    }

    pub(crate) fn experience(self) -> Experience {
        self.with(|known| known.experience)
    }

    /// Adds a request to the experience.
    pub(crate) fn add(self, request: PrefixTokens, pause: Option<Duration>, policy: &CachePolicy) {
        self.with(|known| known.experience.add(request, pause, policy));
    }

    fn with<T>(self, of: impl FnOnce(&mut InstructionRecord) -> T) -> T {
        // Each change is complete, so a panic elsewhere leaves nothing behind.
        let mut all = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= INSTRUCTIONS && !all.contains_key(&self.0) {
            all.clear();
        }
        of(all.entry(self.0).or_default())
    }
}

fn time_of(at: Instant) -> Duration {
    at.saturating_duration_since(*START)
}
