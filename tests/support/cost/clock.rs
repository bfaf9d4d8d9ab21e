//! When the requests of a trace are sent.

use std::time::Duration;

use columnar::cache::Pace;

use super::dice::Dice;
use super::rules::Rules;
use super::trace::{Pause, Trace, Turn};

/// How time goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// One step after the other.
    Batch,
    /// People think before they answer: the median is 75 seconds, and one pause in seven is longer than 5
    /// minutes.
    Human,
    /// A few steps in a row, then nothing for a while.
    Bursty,
    /// Each pause ends a second before the short lifetime does, or a second after.
    Edge,
}

/// The median of the time that people think, in seconds.
const THOUGHT: f64 = 75.0;

/// The standard deviation of its logarithm.
const SPREAD: f64 = 1.3;

/// For how long a program is down, in seconds.
const DOWN: f64 = 7200.0;

/// How long a model answers, in seconds.
const ANSWER: f64 = 3.0;

impl Clock {
    /// What the tables of results call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => "batch",
            Self::Human => "human",
            Self::Bursty => "bursty",
            Self::Edge => "edge",
        }
    }

    /// What somebody says of it who knows the clock and what happens between the turns of a trace; `None` if
    /// there are no words for it.
    pub fn pace(self, trace: &Trace, rules: &Rules) -> Option<Pace> {
        let thoughts = trace.turns.iter().filter(|turn| turn.pause == Pause::Thought).count();
        match self {
            Self::Human if 2 * thoughts > trace.turns.len() => {
                Some(Pace::think(Duration::from_secs_f64(THOUGHT)))
            }
            Self::Batch | Self::Human => Some(Pace::batch()),
            Self::Edge => Some(Pace::think(Duration::from_secs_f64(rules.short.seconds))),
            Self::Bursty => None,
        }
    }

    /// When each request of a trace is sent, in seconds.
    pub fn times(self, trace: &Trace, rules: &Rules, seed: u64) -> Vec<f64> {
        let mut dice = Dice::new(seed);
        let mut starts: Vec<f64> = Vec::with_capacity(trace.turns.len());
        let mut sessions = 0.0;
        for &Turn { after, pause } in &trace.turns {
            let start = match after.and_then(|after| starts.get(after)) {
                Some(before) => before + self.gap(pause, rules, &mut dice),
                None => {
                    sessions += 1.0;
                    self.arrival(sessions, &mut dice)
                }
            };
            starts.push(start);
        }
        let start = |turn: usize| starts.get(turn).copied().unwrap_or_default();
        trace.asks.iter().map(|ask| start(ask.turn) + ANSWER * f64::from(ask.depth)).collect()
    }

    fn gap(self, pause: Pause, rules: &Rules, dice: &mut Dice) -> f64 {
        match (self, pause) {
            (_, Pause::Down) => DOWN,
            (Self::Batch, _) => dice.between(10.0, 15.0),
            (_, Pause::Tool) => dice.between(3.0, 6.0),
            (Self::Human, _) => dice.log_normal(THOUGHT, SPREAD).max(10.0),
            (Self::Bursty, _) if dice.happens(0.8) => dice.between(10.0, 20.0),
            (Self::Bursty, _) => dice.between(120.0, 2400.0),
            (Self::Edge, _) => rules.short.seconds + if dice.happens(0.5) { 1.0 } else { -1.0 },
        }
    }

    /// When a session begins. Those of a batch begin together, people come one by one.
    fn arrival(self, sessions: f64, dice: &mut Dice) -> f64 {
        match self {
            Self::Batch => dice.between(0.0, 60.0),
            _ => sessions * dice.between(60.0, 600.0),
        }
    }
}
