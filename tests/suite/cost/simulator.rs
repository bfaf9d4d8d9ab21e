//! The simulator of providers' caches, compared with their documentation; and the lower bound, compared with all
//! possible marks of a few requests.

use columnar::Result;
use columnar::cache::Lifetime;
use columnar_tests::cost::cache::{Bill, Cache, Mark, Marks, Refused};
use columnar_tests::cost::outcome::Outcome;
use columnar_tests::cost::policies::POLICIES;
use columnar_tests::cost::request::{Piece, Prefixes, Request, Speaker};
use columnar_tests::cost::rules::{LookBack, Rules, Term, marked_providers};
use columnar_tests::cost::scenario::Scenario;
use columnar_tests::cost::trace::{ColumnSpec, Kind, Pause, Trace};
use columnar_tests::cost::traces;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

const BOTH: [Lifetime; 2] = [Lifetime::Short, Lifetime::Long];

/// A block with this number of tokens, all the same letter.
fn block(letter: u64, tokens: u32) -> Piece {
    Piece { speaker: Speaker::User, identity: letter, tokens, ends: true }
}

/// The first blocks of one conversation, each of 1,000 tokens.
fn turn(prefixes: &mut Prefixes, blocks: u64) -> Request {
    prefixes.request((0..blocks).map(|letter| block(letter, 1000)))
}

fn read(cache: &mut Cache<'_>, request: &Request, positions: &[usize], now: f64) -> u32 {
    let marks = Marks::short(positions.iter().copied());
    cache.send(request, &marks, now).expect("the marks are well formed").read
}

/// The example of the documentation: after 10 and 15 blocks the third turn has 35, and its mark looks at the
/// blocks 35 to 16. A second mark at the block 15 finds the entry.
#[test]
fn a_mark_looks_twenty_blocks_back() {
    let rules = Rules::documented();
    let (mut prefixes, mut cache) = (Prefixes::default(), Cache::new(&rules));
    assert_eq!(read(&mut cache, &turn(&mut prefixes, 10), &[9], 0.0), 0);
    assert_eq!(read(&mut cache, &turn(&mut prefixes, 15), &[14], 10.0), 10_000);
    let third = turn(&mut prefixes, 35);
    assert_eq!(read(&mut cache.clone(), &third, &[34], 20.0), 0);
    assert_eq!(read(&mut cache.clone(), &third, &[14, 34], 20.0), 15_000);
    assert_eq!(read(&mut cache, &turn(&mut prefixes, 34), &[33], 20.0), 15_000);
}

/// A prefix of 12,000 tokens is written; a request that goes on to 15,000 reads it and writes the rest.
#[test]
fn a_longer_prefix_is_read_up_to_the_cached_entry() {
    let rules = Rules { look_back: LookBack::Blocks(1), ..Rules::documented() };
    let (mut prefixes, mut cache) = (Prefixes::default(), Cache::new(&rules));
    read(&mut cache, &turn(&mut prefixes, 12), &[11], 0.0);
    let bill = cache.send(&turn(&mut prefixes, 16), &Marks::short([11, 14]), 1.0);
    assert_eq!(bill, Ok(Bill { read: 12_000, short: 3_000, long: 0, plain: 1_000 }));
}

/// An extended message is a different one. Only an explicit mark at the earlier end finds the entry.
#[test]
fn an_extended_message_is_a_cache_miss() {
    let (look_back, automatic) = (LookBack::Blocks(1), LookBack::Messages(20));
    let rules = Rules { look_back, automatic, ..Rules::documented() };
    let (mut prefixes, mut cache) = (Prefixes::default(), Cache::new(&rules));
    let [a, b] = [block(0, 2000), block(1, 2000)];
    let first = prefixes.request([a.clone()]);
    cache.send(&first, &Marks::automatic(), 0.0).expect("it is well formed");
    let appended = prefixes.request([a.clone(), b.clone()]);
    let bill = cache.clone().send(&appended, &Marks::automatic(), 1.0).expect("it is well formed");
    assert_eq!(bill.read, 2000, "another message follows");

    let system = block(2, 10);
    let extended = |prefixes: &mut Prefixes| {
        prefixes.request([system.clone(), Piece { ends: false, ..a.clone() }, b.clone()])
    };
    let mut cache = Cache::new(&rules);
    let first = prefixes.request([system.clone(), a.clone()]);
    cache.send(&first, &Marks::automatic(), 0.0).expect("it is well formed");
    let extended = extended(&mut prefixes);
    let bill = cache.clone().send(&extended, &Marks::automatic(), 1.0).expect("it is well formed");
    assert_eq!(bill.read, 0, "the message goes on");
    assert_eq!(read(&mut cache, &extended, &[1], 1.0), 2010);
}

#[test]
fn a_prefix_below_the_minimum_is_silently_not_cached() {
    let rules = Rules::documented();
    let mut prefixes = Prefixes::default();
    for (tokens, found) in [(1023, 0), (1024, 1024)] {
        let mut cache = Cache::new(&rules);
        let request = prefixes.request([block(0, tokens)]);
        let bill = cache.send(&request, &Marks::short([0]), 0.0).expect("it is no error");
        assert_eq!(bill.short, found);
        assert_eq!(read(&mut cache, &request, &[0], 1.0), found);
    }
}

#[test]
fn invalid_marks_are_rejected() {
    let rules = Rules::documented();
    let mut cache = Cache::new(&rules);
    let request = turn(&mut Prefixes::default(), 6);
    let mut send = |marks: &Marks| cache.send(&request, marks, 0.0);
    assert_eq!(send(&Marks::short(0..5)), Err(Refused::TooManyMarks));
    assert_eq!(send(&Marks { automatic: true, ..Marks::short(0..4) }), Err(Refused::TooManyMarks));
    assert_eq!(send(&Marks::short([6])), Err(Refused::NoSuchPosition));
    let mixed = BOTH.into_iter().enumerate().map(|(at, lifetime)| Mark { at, lifetime }).collect();
    assert_eq!(send(&Marks { explicit: mixed, automatic: false }), Err(Refused::ShortBeforeLong));
    let without = Rules { long: None, ..Rules::documented() };
    let long = Marks { explicit: vec![Mark { at: 0, lifetime: Lifetime::Long }], automatic: false };
    assert_eq!(Cache::new(&without).send(&request, &long, 0.0), Err(Refused::NoSuchLifetime));
    assert_eq!(send(&Marks::short(2..6)).map(|bill| bill.short), Ok(6000), "nothing was cached until now");
}

#[test]
fn an_entry_lives_as_long_as_it_is_used() {
    let rules = Rules::documented();
    let (mut prefixes, mut cache) = (Prefixes::default(), Cache::new(&rules));
    let request = turn(&mut prefixes, 2);
    let reads = [0.0, 300.0, 600.0, 901.0].map(|now| read(&mut cache, &request, &[1], now));
    assert_eq!(reads, [0, 2000, 2000, 0]);
}

/// Undocumented: reading an entry does not refresh shorter ones, unless a mark is at their end.
#[test]
fn an_entry_without_a_mark_is_not_kept_alive_by_longer_ones() {
    let rules = Rules::documented();
    let mut prefixes = Prefixes::default();
    let [short, long] = [2, 4].map(|blocks| turn(&mut prefixes, blocks));
    let keeping = Rules { keeps_prefixes: true, ..Rules::documented() };
    let last: &[usize] = &[3];
    for (rules, positions, found) in [(&rules, last, 0), (&rules, &[1, 3], 2000), (&keeping, last, 2000)] {
        let mut cache = Cache::new(rules);
        read(&mut cache, &short, &[1], 0.0);
        for now in [200.0, 400.0] {
            read(&mut cache, &long, positions, now);
        }
        assert_eq!(read(&mut cache, &short, &[1], 600.0), found);
    }
}

#[test]
fn an_entry_can_be_read_once_its_reply_has_begun() {
    let rules = Rules { ready: 2.0, ..Rules::documented() };
    let (mut cache, request) = (Cache::new(&rules), turn(&mut Prefixes::default(), 2));
    let reads = [0.0, 1.0, 2.0].map(|now| read(&mut cache, &request, &[1], now));
    assert_eq!(reads, [0, 0, 2000]);
}

/// The long part is billed first, then the short one.
#[test]
fn each_lifetime_is_billed_for_its_part() {
    let rules = Rules::documented();
    let (mut cache, request) = (Cache::new(&rules), turn(&mut Prefixes::default(), 5));
    let explicit = [(1, Lifetime::Long), (3, Lifetime::Short)].map(|(at, lifetime)| Mark { at, lifetime });
    let marks = Marks { explicit: explicit.to_vec(), automatic: false };
    let bills = [0.0, 400.0].map(|now| cache.send(&request, &marks, now).expect("it is well formed"));
    assert_eq!(
        bills,
        [
            Bill { read: 0, long: 2000, short: 2000, plain: 1000 },
            Bill { read: 2000, long: 0, short: 2000, plain: 1000 },
        ]
    );
    assert!((bills.map(|bill| bill.cost(&rules)).iter().sum::<f64>() - 11_200.0).abs() < 1e-6);
}

/// Questions, calls and lengths of the dialogues that the tool loops model: 4 to 6, 6, and 15 KB.
#[test]
fn tool_loops_have_the_expected_length() -> Result<()> {
    let trace = traces::tools::trace()?;
    let share = |part: f64, whole: f64| part / whole;
    let count = |pause: Pause| trace.turns.iter().filter(|turn| turn.pause == pause).count();
    let number = |count: usize| f64::from(u32::try_from(count).expect("few"));
    let sessions = number(trace.turns.iter().filter(|turn| turn.after.is_none()).count());
    let (questions, calls) =
        (share(number(count(Pause::Thought)), sessions), share(number(count(Pause::Tool)), sessions));
    assert!(
        (4.0..6.0).contains(&questions) && (5.5..6.5).contains(&calls),
        "{questions} questions, {calls} calls"
    );
    let last = |at: usize| trace.turns.get(at + 1).is_none_or(|next| next.after.is_none());
    let ends = trace
        .calls
        .iter()
        .filter(|call| last(call.turn))
        .map(|call| call.request.tokens() - call.request.until(0));
    let bytes = 4.0 * share(ends.map(f64::from).sum(), sessions);
    assert!((13_000.0..17_000.0).contains(&bytes), "{bytes} bytes");
    Ok(())
}

/// A fork sends the requests of its flow up to its step, and then other ones.
#[test]
fn a_fork_repeats_earlier_requests() -> Result<()> {
    for trace in traces::fan::traces()?.iter().take(1) {
        let requests =
            |turn: usize| trace.calls.iter().filter(move |call| call.turn == turn && call.column == 0);
        let forks: Vec<usize> = (0..trace.turns.len())
            .filter(|turn| trace.turns[*turn].after.is_some_and(|after| after + 1 != *turn))
            .collect();
        assert_eq!(forks.len(), 2);
        for fork in forks {
            let before = trace.turns[fork].after.expect("it is a fork");
            let (before, other, fork) =
                (requests(before).next(), requests(before + 1).next(), requests(fork).next());
            let [before, other, fork] =
                [before, other, fork].map(|call| &call.expect("a request").request.blocks);
            assert_eq!(before[..], fork[..before.len()]);
            let same = other.iter().zip(fork).take_while(|(one, two)| one.prefix == two.prefix).count();
            assert_eq!(same, fork.len() - 1, "only the new value differs");
        }
    }
    Ok(())
}

/// The marks of the library at the limits of the rules: too many blocks, too few tokens, pauses of hours.
#[test]
fn our_marks_never_cost_more_than_no_cache() -> Result<()> {
    let traces = traces::adversarial::traces()?;
    for (provider, rules) in marked_providers().iter().filter(|(_, rules)| rules.minimum <= 1024) {
        for trace in &traces {
            for outcome in Outcome::of(trace, provider, rules)? {
                for column in &outcome.columns {
                    let (title, over) = (outcome.title(), column.over_uncached());
                    assert!(over <= 1.0 + 1e-9, "{title}, {}: {over}", column.name);
                }
                // Whether a pause ends before a lifetime does is a matter of chance, and a bound has one lifetime.
                let over = outcome.total().batch_over_bound();
                assert!(trace.name.contains("edge") || over < 1.03, "{}: {over}", outcome.title());
            }
        }
    }
    Ok(())
}

/// Few requests of few blocks, with pauses around the lifetimes between them.
fn traces(requests: usize, blocks: usize) -> impl Strategy<Value = (Trace, Vec<f64>)> {
    let request = vec((0..2_u64, any::<bool>()), 1..=blocks);
    let pause = select(vec![0.0, 1.0, 60.0, 299.0, 300.0, 301.0, 3600.0, 3601.0]);
    vec((request, pause), 1..=requests).prop_map(|requests| {
        let mut trace = Trace::new("random", Kind::Adversarial, vec![column_spec()]);
        let (mut now, mut times) = (0.0, Vec::new());
        for (blocks, pause) in requests {
            let turn = trace.turn(None, Pause::Thought);
            // The letter and the position determine the tokens, so equal prefixes have equal counts.
            let pieces = (1..).zip(blocks).map(|(at, (letter, ends))| Piece {
                speaker: Speaker::User,
                identity: letter,
                tokens: 100 * at + 7 * u32::try_from(letter).unwrap_or(0),
                ends,
            });
            trace.call(turn, pieces);
            now += pause;
            times.push(now);
        }
        (trace, times)
    })
}

fn column_spec() -> ColumnSpec {
    ColumnSpec { name: "random".into(), instruction: String::new(), depth: 0, thread: None }
}

/// Rules, plausible ones and others.
fn rules() -> impl Strategy<Value = Rules> {
    let prices = select(vec![(1.25, 2.0, 0.1), (1.25, 2.0, 0.025), (1.0, 1.5, 0.5), (2.0, 3.0, 0.4)]);
    let look_back = select(vec![LookBack::Blocks(1), LookBack::Blocks(2), LookBack::Messages(2)]);
    (
        prices,
        select(vec![1, 150, 250]),
        select(vec![0.0, 5.0, 61.0]),
        look_back.clone(),
        look_back,
        any::<bool>(),
    )
        .prop_map(|((write, long, read), minimum, ready, look_back, automatic, keeps_prefixes)| Rules {
            name: "random",
            read,
            short: Term { write, seconds: 300.0 },
            long: Some(Term { write: long, seconds: 3600.0 }),
            minimum,
            most_marks: 4,
            look_back,
            automatic,
            keeps_prefixes,
            ready,
        })
}

/// The minimum cost of all possible marks: with the short lifetime, or with the long one for the first blocks.
fn least(scenario: &Scenario<'_>, long: bool, marks: &mut Vec<Marks>) -> f64 {
    let Some(next) = scenario.trace.calls.get(marks.len()) else {
        return total(&scenario.cost(marks).expect("the marks are well formed"));
    };
    let blocks = next.request.blocks.len();
    let longest = if long { blocks } else { 0 };
    let tries = (0..1_usize << blocks).flat_map(|set| (0..=longest).map(move |longest| (set, longest)));
    let tries = tries.map(|(set, longest)| {
        let mut tried = Marks::short((0..blocks).filter(|at| set >> at & 1 == 1));
        let before = tried.explicit.iter_mut().filter(|mark| mark.at < longest);
        before.for_each(|mark| mark.lifetime = Lifetime::Long);
        marks.push(tried);
        let cost = least(scenario, long, marks);
        marks.pop();
        cost
    });
    tries.fold(f64::INFINITY, f64::min)
}

fn total(columns: &[f64]) -> f64 {
    columns.iter().sum()
}

proptest! {
    /// If marks are unlimited and entries can be read at once, the bound is the cost of the best marks.
    #[test]
    fn the_bound_is_reached((trace, times) in traces(4, 3), rules in rules()) {
        let rules = Rules { ready: 0.0, look_back: LookBack::Blocks(9), ..rules };
        let scenario = Scenario::at(&trace, &rules, times);
        let (bound, least) = (total(&scenario.bound(&[Lifetime::Short])), least(&scenario, false, &mut Vec::new()));
        prop_assert!((bound - least).abs() < 1e-6, "the bound is {bound}, the least {least}");
    }

    /// With both lifetimes no marks cost less: a short entry does not become a long one when it is extended.
    #[test]
    fn no_lifetimes_are_below_the_bound((trace, times) in traces(3, 2), rules in rules()) {
        let rules = Rules { look_back: LookBack::Blocks(9), ..rules };
        let scenario = Scenario::at(&trace, &rules, times);
        let (bound, least) = (total(&scenario.bound(&BOTH)), least(&scenario, true, &mut Vec::new()));
        prop_assert!(bound <= least + 1e-6, "the bound is {bound}, the least {least}");
    }

    /// No marks cost less, whatever the rules.
    #[test]
    fn nothing_is_below_the_bound(
        (trace, times) in traces(12, 4),
        rules in rules(),
        drawn in vec((vec((0..4_usize, any::<bool>()), 0..4), any::<bool>()), 12),
    ) {
        let scenario = Scenario::at(&trace, &rules, times);
        let random = drawn.into_iter().zip(&trace.calls).map(|((positions, automatic), call)| {
            let blocks = call.request.blocks.len();
            let longest = positions.iter().filter(|(_, is_long)| *is_long).map(|(at, _)| *at).max();
            let mut marks = Marks::short(positions.iter().map(|(at, _)| *at).filter(|at| *at < blocks));
            for mark in &mut marks.explicit {
                if Some(mark.at) <= longest {
                    mark.lifetime = Lifetime::Long;
                }
            }
            Marks { automatic: automatic && marks.explicit.len() < 4, ..marks }
        });
        let random = random.collect::<Vec<_>>();
        let [short, both] = [&BOTH[..1], &BOTH[..]].map(|lifetimes| total(&scenario.bound(lifetimes)));
        prop_assert!(both <= short + 1e-6);
        let cost = total(&scenario.cost(&random).expect("the marks are well formed"));
        prop_assert!(both <= cost + 1e-6, "the bound is {both}, and it costs {cost}");
        for policy in POLICIES {
            let marks = policy.marks(&scenario);
            // Marks with both lifetimes are compared with the bound of both lifetimes.
            let mut explicit = marks.iter().flat_map(|marks| &marks.explicit);
            let bound = if explicit.any(|mark| mark.lifetime == Lifetime::Long) { both } else { short };
            let cost = total(&scenario.cost(&marks).expect("the marks are well formed"));
            prop_assert!(bound <= cost + 1e-6, "{policy:?}: the bound is {bound}, and it costs {cost}");
        }
    }

    /// Per block: the sum over runs of requests within the lifetime of the less of reading and not.
    #[test]
    fn the_bound_has_a_closed_form((trace, times) in traces(12, 4), rules in rules()) {
        let rules = Rules { ready: 0.0, ..rules };
        let scenario = Scenario::at(&trace, &rules, times.clone());
        let mut expected = 0.0;
        let mut seen = std::collections::BTreeMap::<usize, (f64, Vec<f64>)>::new();
        for (call, at) in trace.calls.iter().zip(times) {
            let mut counted = 0;
            for block in call.request.blocks.iter().filter(|block| block.until >= rules.minimum) {
                let size = f64::from(block.until - counted);
                counted = block.until;
                seen.entry(block.prefix).or_insert((size, Vec::new())).1.push(at);
            }
            expected += f64::from(call.request.tokens() - counted);
        }
        for (size, times) in seen.values() {
            for run in times.chunk_by(|one, other| other - one <= rules.short.seconds) {
                let visits = f64::from(u32::try_from(run.len()).expect("few"));
                expected += size * visits.min(rules.short.write + (visits - 1.0) * rules.read);
            }
        }
        let bound = total(&scenario.bound(&[Lifetime::Short]));
        prop_assert!((bound - expected).abs() < 1e-6, "the bound is {bound}, by hand {expected}");
    }
}
