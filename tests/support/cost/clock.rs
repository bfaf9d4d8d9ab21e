//! The times of the requests of a trace.

use std::time::Duration;

use columnar::cache::Pace;

use super::random::Random;
use super::rules::Rules;
use super::trace::{Call, Pause, Trace, Turn};

/// A distribution of the pauses between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// Steps one after the other.
    Batch,
    /// People think before an answer: the median is 75 seconds, and one pause in seven is longer than 5 minutes.
    Human,
    /// Bursts of a few steps, with long pauses in between.
    Bursty,
    /// Each pause ends a second before the short lifetime does, or a second after.
    Edge,
    /// A pause of ten minutes before each step, twice the usual short lifetime.
    TenMinutes,
    /// A pause of hours before each step, longer than most long lifetimes.
    Hours,
}

/// The median of the time that people think, in seconds.
const THOUGHT: f64 = 75.0;

/// The standard deviation of the logarithm of that time.
// ln(300 / 75) / 1.3 is 1.07 deviations, so one pause in seven is longer than 5 minutes.
const SPREAD: f64 = 1.3;

/// The downtime of a program, in seconds.
const DOWN: f64 = 7200.0;

/// The duration of a reply, in seconds.
const ANSWER: f64 = 3.0;

/// The seeds of each clock.
pub const SEEDS: [u64; 3] = [12, 13, 14];

impl Clock {
    /// The name of the clock in the tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Human => "human",
            Self::Bursty => "bursty",
            Self::Edge => "edge",
            Self::TenMinutes => "10 min",
            Self::Hours => "hours",
        }
    }

    /// The pace that a user with knowledge of the clock and the trace would declare; `None` if no pace describes the
    /// clock.
    pub fn pace(self, trace: &Trace, rules: &Rules) -> Option<Pace> {
        let thoughts = trace.turns.iter().filter(|turn| turn.pause == Pause::Thought).count();
        match self {
            Self::Human if 2 * thoughts > trace.turns.len() => {
                Some(Pace::think(Duration::from_secs_f64(THOUGHT)))
            }
            Self::Batch | Self::Human => Some(Pace::batch()),
            Self::Edge => Some(Pace::think(Duration::from_secs_f64(rules.short.seconds))),
            Self::TenMinutes => Some(Pace::every(Duration::from_mins(10))),
            Self::Hours => Some(Pace::every(Duration::from_hours(4))),
            Self::Bursty => None,
        }
    }

    /// The time of each request of a trace, in seconds.
    pub fn times(self, trace: &Trace, rules: &Rules, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut starts: Vec<f64> = Vec::with_capacity(trace.turns.len());
        let mut sessions = 0.0;
        for &Turn { after, pause } in &trace.turns {
            let start = match after.and_then(|after| starts.get(after)) {
                Some(before) => before + self.gap(pause, rules, &mut random),
                None => {
                    sessions += 1.0;
                    self.arrival(sessions, &mut random)
                }
            };
            starts.push(start);
        }
        let start = |turn: usize| starts.get(turn).copied().unwrap_or_default();
        // A request that waits for others of the same turn is sent when the replies to these are complete. Of requests with
        // one beginning, the library sends the first, and the others when the reply to it begins.
        let waits = |call: &Call| {
            let led = if trace.is_led(call.column) { rules.ready } else { 0.0 };
            ANSWER * f64::from(call.depth) + led
        };
        trace.calls.iter().map(|call| start(call.turn) + waits(call)).collect()
    }

    fn gap(self, pause: Pause, rules: &Rules, random: &mut Random) -> f64 {
        match (self, pause) {
            (_, Pause::Down) => DOWN,
            (Self::Batch, _) => random.between(10.0, 15.0),
            (_, Pause::Tool) => random.between(3.0, 6.0),
            (Self::Human, _) => random.log_normal(THOUGHT, SPREAD).max(10.0),
            (Self::Bursty, _) if random.happens(0.8) => random.between(10.0, 20.0),
            (Self::Bursty, _) => random.between(120.0, 2400.0),
            (Self::TenMinutes, _) => random.between(590.0, 620.0),
            (Self::Hours, _) => random.between(7200.0, 30_000.0),
            (Self::Edge, _) => rules.short.seconds + if random.happens(0.5) { 1.0 } else { -1.0 },
        }
    }

    /// The start of a session. Sessions of a batch start together, others one by one.
    fn arrival(self, sessions: f64, random: &mut Random) -> f64 {
        match self {
            Self::Batch => random.between(0.0, 60.0),
            _ => sessions * random.between(60.0, 600.0),
        }
    }
}
