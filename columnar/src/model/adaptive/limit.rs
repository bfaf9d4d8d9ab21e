//! The adaptive limit on concurrent calls, as TCP finds the capacity of a network: twice as many after a wave of answers
//! until the first refusal, half as many after each refusal, and then a few more after a wave.
//!
//! A wave is as many answers as the limit allows calls.
//!
//! The limit is a state machine without a clock or I/O: the time and the number of calls in flight are arguments. The
//! only randomness is the jitter of the pauses.

use std::mem;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use tokio::time::Instant;

/// The longest pause, even if the model asks for a longer one: the state of the model may have changed by then.
const LONGEST_PAUSE: Duration = Duration::from_hours(1);

/// The limit at the beginning, unless the maximum is lower.
const INITIAL: usize = 32;

/// The waves after which the increase doubles. A provider that was busy for a while has room again by then.
const WAVES: u32 = 8;

/// The period between two refusals that halved the limit. The round distinguishes calls that began after a refusal
/// from earlier calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Round(u64);

/// Whether a call may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// The call may begin, in this round.
    Now(Round),
    /// The call may not begin before another call ends.
    Full,
    /// The call may not begin before `opens`: the model asks for a pause.
    Closed {
        /// The end of the pause.
        opens: Instant,
        /// The first refusal since the last answer, if there is one.
        silent: Option<Instant>,
    },
}

#[derive(Debug)]
pub(super) struct ConcurrencyLimit {
    /// The limit: at least 1, at most the maximum.
    calls: usize,
    max: usize,
    round: Round,
    /// The answered calls of the wave.
    answers: usize,
    /// Whether the limit was reached during the wave.
    reached: bool,
    /// The waves since the last refusal that raised the limit; `None` before the first refusal.
    waves: Option<u32>,
    /// The time before which no call begins.
    opens: Option<Instant>,
    /// The first refusal since the last answer, with the round of the refused call.
    silent: Option<(Instant, Round)>,
    /// The growth of the pauses: one pause for each round without any answer.
    growth: ExponentialBuilder,
    pauses: ExponentialBackoff,
}

impl ConcurrencyLimit {
    /// A limit with a maximum of at least 1.
    pub(super) fn new(max: usize, growth: ExponentialBuilder) -> Self {
        // By default backon stops after three pauses, and a later refusal would have none.
        let growth = growth.without_max_times();
        let max = max.max(1);
        Self {
            calls: INITIAL.min(max),
            max,
            round: Round(0),
            answers: 0,
            reached: false,
            waves: None,
            opens: None,
            silent: None,
            pauses: growth.build(),
            growth,
        }
    }

    /// Admits a call if it may begin beside `in_flight` others.
    pub(super) fn admit(&mut self, in_flight: usize, now: Instant) -> Admission {
        match self.opens {
            Some(opens) if opens > now => {
                Admission::Closed { opens, silent: self.silent.map(|(since, _)| since) }
            }
            _ if in_flight >= self.calls => Admission::Full,
            _ => {
                self.reached |= in_flight + 1 == self.calls;
                Admission::Now(self.round)
            }
        }
    }

    /// Notes that a call was answered.
    pub(super) fn answered(&mut self, round: Round) {
        // A call that began before the first refusal does not show that the model answers again.
        self.silent = self.silent.filter(|(_, refused)| round <= *refused);
        // An answer to a call that began before the last refusal says nothing about the limit now.
        if round != self.round {
            return;
        }
        self.pauses = self.growth.build();
        self.answers += 1;
        if self.answers >= self.calls {
            self.answers = 0;
            // Answers below the limit do not show that the model would take more.
            if mem::take(&mut self.reached) {
                self.calls = self.calls.saturating_add(self.increase()).min(self.max);
                self.waves = self.waves.map(|waves| waves.saturating_add(1));
            }
        }
    }

    /// The time for which no call begins.
    pub(super) fn pause(&self, now: Instant) -> Duration {
        self.opens.map(|opens| opens.duration_since(now)).unwrap_or_default()
    }

    fn increase(&self) -> usize {
        match self.waves {
            None => self.calls,
            Some(waves) => 1_usize.checked_shl(waves / WAVES).unwrap_or(self.max),
        }
    }

    /// Notes that a call was refused. The model may ask for a pause.
    pub(super) fn refused(&mut self, round: Round, retry_after: Option<Duration>, now: Instant) {
        self.silent.get_or_insert((now, round));
        let mut pause = retry_after.unwrap_or_default();
        // Calls that were refused together are one refusal.
        if round == self.round {
            self.round = Round(round.0 + 1);
            self.calls = (self.calls / 2).max(1);
            (self.answers, self.reached, self.waves) = (0, false, Some(0));
            // The pause that the model asks for may be too short each time.
            pause = pause.max(self.pauses.next().unwrap_or_default());
        }
        // `None` is less than any time. A shorter pause does not replace a longer one, and the upper
        // bound keeps the sum within the range of an instant.
        self.opens = self.opens.max(Some(now + pause.min(LONGEST_PAUSE)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROWTH: ExponentialBuilder =
        ExponentialBuilder::new().with_min_delay(secs(1)).with_max_delay(secs(4));

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// An event of a limit, at a second.
    #[derive(Clone, Copy, Debug)]
    enum Event {
        /// A call begins, with this many others in flight.
        Began(usize),
        /// A call of this round is answered.
        Answered(u64),
        /// A call of this round is refused, and the model asks for a pause of this many seconds.
        Refused(u64, Option<u64>),
    }

    use Event::{Answered, Began, Refused};

    /// The limit after these events, and the second at which the next call may begin.
    fn after(max: usize, events: &[(u64, Event)]) -> (usize, u64) {
        let zero = Instant::now();
        let mut limit = ConcurrencyLimit::new(max, GROWTH);
        for (second, event) in events {
            match *event {
                Began(others) => {
                    let admission = limit.admit(others, zero + secs(*second));
                    assert!(matches!(admission, Admission::Now(_)), "{admission:?} at {second}");
                }
                Answered(round) => limit.answered(Round(round)),
                Refused(round, pause) => {
                    limit.refused(Round(round), pause.map(secs), zero + secs(*second));
                }
            }
        }
        (limit.calls, limit.opens.map_or(0, |opens| (opens - zero).as_secs()))
    }

    #[test]
    fn a_refusal_halves_the_limit_once_per_round() {
        for (max, rounds, calls) in [
            (32, &[0][..], 16),
            (1000, &[0], 16),
            (32, &[0, 0, 0], 16),
            (32, &[0, 1], 8),
            (32, &[0, 1, 0, 1], 8),
            (32, &[0, 1, 2, 3, 4, 5, 6], 1),
            (5, &[0], 2),
            (1, &[0], 1),
            (0, &[], 1),
        ] {
            let events: Vec<_> = rounds.iter().map(|round| (0, Refused(*round, None))).collect();
            assert_eq!(after(max, &events).0, calls, "{max}, {rounds:?}");
        }
    }

    /// The limit after a number of waves, each of them in full use.
    fn after_waves(limit: &mut ConcurrencyLimit, waves: usize) -> usize {
        let now = Instant::now() + secs(3600);
        for _ in 0..waves {
            for _ in 0..limit.calls {
                let Admission::Now(round) = limit.admit(limit.calls - 1, now) else { panic!("it is open") };
                limit.answered(round);
            }
        }
        limit.calls
    }

    /// The limit stayed at 32, for any number of answered calls.
    #[test]
    fn the_limit_doubles_until_the_first_refusal() {
        for (max, waves, calls) in [
            (1000, 0, 32),
            (1000, 1, 64),
            (1000, 4, 512),
            (1000, 5, 1000),
            (1000, 50, 1000),
            (40, 2, 40),
            (8, 9, 8),
        ] {
            let mut limit = ConcurrencyLimit::new(max, GROWTH);
            assert_eq!(after_waves(&mut limit, waves), calls, "{max}, {waves}");
        }
        let mut limit = ConcurrencyLimit::new(usize::MAX, GROWTH);
        let idle = (0..1000).map(|_| limit.answered(Round(0))).count();
        assert_eq!((limit.calls, idle), (32, 1000), "answers below the limit show nothing");
    }

    #[test]
    fn after_a_refusal_the_increase_doubles_with_every_eight_waves() {
        let mut limit = ConcurrencyLimit::new(1000, GROWTH);
        limit.refused(Round(0), None, Instant::now());
        let calls: Vec<_> = (0..7).map(|_| after_waves(&mut limit, 8)).collect();
        assert_eq!(calls, [24, 40, 72, 136, 264, 520, 1000]);
        limit.refused(Round(1), None, Instant::now());
        assert_eq!((limit.calls, after_waves(&mut limit, 1)), (500, 501), "a refusal begins again");
    }

    #[test]
    fn a_wave_of_answers_after_a_refusal_is_one_call_more() {
        let halved = (0, Refused(0, None));
        // Each answer comes while the limit is reached.
        let busy = |answers: usize| {
            let mut events = vec![halved];
            for _ in 0..answers {
                let (calls, _) = after(8, &events);
                events.extend([(1, Began(calls - 1)), (1, Answered(1))]);
            }
            after(8, &events).0
        };
        for (answers, calls) in [(0, 4), (3, 4), (4, 5), (8, 5), (9, 6), (15, 7), (22, 8), (100, 8)] {
            assert_eq!(busy(answers), calls, "{answers} answers");
        }
        let idle = [(1, Began(2)), (1, Answered(1))].repeat(100);
        assert_eq!(after(8, &[&[halved], &idle[..]].concat()).0, 4, "3 of 4 calls at once");
        let old = [(1, Began(3)), (1, Answered(0))].repeat(100);
        assert_eq!(after(8, &[&[halved], &old[..]].concat()).0, 4, "calls from before the refusal");
        let wave = [(1, Began(2)), (1, Began(3)), (1, Answered(1)), (1, Answered(1)), (2, Answered(1))];
        assert_eq!(after(8, &[&[halved], &wave[..], &[(2, Answered(1))]].concat()).0, 5);
        let again = [(2, Refused(1, None)), (4, Began(1)), (4, Answered(2))];
        assert_eq!(after(8, &[&[halved], &wave[..], &again].concat()).0, 2, "a refusal begins a new count");
        assert_eq!(after(8, &[&[halved], &wave[..], &again, &[(4, Answered(2))]].concat()).0, 3);
    }

    #[test]
    fn nothing_begins_before_the_pause_is_over() {
        let cases: &[(&[(u64, Event)], u64)] = &[
            (&[], 0),
            (&[(10, Refused(0, None))], 11),
            (&[(10, Refused(0, Some(20)))], 30),
            (&[(10, Refused(0, Some(0)))], 11),
            // Refused together: the longest pause applies.
            (&[(10, Refused(0, Some(20))), (10, Refused(0, None)), (11, Refused(0, Some(5)))], 30),
            (&[(10, Refused(0, None)), (11, Refused(0, Some(20)))], 31),
            // One after the other: 1 s, 2 s, 4 s, 4 s.
            (&[(0, Refused(0, None)), (1, Refused(1, None))], 3),
            (&[(0, Refused(0, None)), (1, Refused(1, None)), (3, Refused(2, None))], 7),
            (
                &[(0, Refused(0, None)), (1, Refused(1, None)), (3, Refused(2, None)), (7, Refused(3, None))],
                11,
            ),
            // An answer resets the pauses, unless the answered call began before the refusal.
            (&[(0, Refused(0, None)), (1, Answered(1)), (2, Refused(1, None))], 3),
            (&[(0, Refused(0, None)), (1, Answered(0)), (2, Refused(1, None))], 4),
            // The model repeatedly asks for too short a pause.
            (&[(0, Refused(0, Some(1))), (1, Refused(1, Some(1))), (3, Refused(2, Some(1)))], 7),
            (&[(0, Refused(0, Some(u64::MAX)))], 60 * 60),
        ];
        for (events, opens) in cases {
            assert_eq!(after(8, events).1, *opens, "{events:?}");
        }
    }

    #[test]
    fn a_model_is_silent_from_its_first_refusal_to_its_next_answer() {
        let now = Instant::now();
        let mut limit = ConcurrencyLimit::new(8, GROWTH);
        let silent = |limit: &mut ConcurrencyLimit, second| match limit.admit(0, now + secs(second)) {
            Admission::Closed { silent, .. } => silent,
            admission => panic!("{admission:?}"),
        };
        limit.refused(Round(0), Some(secs(100)), now + secs(10));
        limit.refused(Round(0), None, now + secs(11));
        limit.answered(Round(0));
        limit.refused(Round(1), Some(secs(100)), now + secs(12));
        assert_eq!(silent(&mut limit, 13), Some(now + secs(10)), "the answer was to a call from before");
        limit.answered(Round(1));
        assert_eq!(silent(&mut limit, 14), None);
        limit.refused(Round(2), None, now + secs(15));
        assert_eq!(silent(&mut limit, 16), Some(now + secs(15)));
    }

    #[test]
    fn a_call_is_admitted_below_the_limit_and_after_the_pause() {
        let now = Instant::now();
        let mut limit = ConcurrencyLimit::new(2, GROWTH);
        assert_eq!(limit.admit(1, now), Admission::Now(Round(0)));
        assert_eq!(limit.admit(2, now), Admission::Full);
        limit.refused(Round(0), None, now);
        assert_eq!(limit.admit(0, now), Admission::Closed { opens: now + secs(1), silent: Some(now) });
        assert_eq!(limit.admit(0, now + secs(1)), Admission::Now(Round(1)));
        assert_eq!(limit.admit(1, now + secs(1)), Admission::Full);
    }
}
