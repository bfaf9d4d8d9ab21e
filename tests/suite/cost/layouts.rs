//! The ruler of layouts of documents: the bound for all layouts, compared with all ways to cache a few texts; the records
//! of histories; and the caches of providers without marks.

use columnar::cache::{CachePolicy, Lifetime};
use columnar::tokens::{Counter, Estimate};
use columnar_tests::cost::cache::{Cache, Marks};
use columnar_tests::cost::certificate::random_session;
use columnar_tests::cost::clock::Clock;
use columnar_tests::cost::documents::{MODELS, VIEWS, bills_of};
use columnar_tests::cost::random::Random;
use columnar_tests::cost::request::{Piece, Prefixes, Speaker};
use columnar_tests::cost::rules::Rules;
use columnar_tests::cost::scenario::Scenario;
use columnar_tests::cost::trace::{ColumnSpec, Kind, Pause, Trace};
use columnar_tests::cost::traces::edits::RECORDED;
use columnar_tests::cost::traces::histories;
use columnar_tests::cost::traces::sessions::ChangedText;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::subsequence;

fn text(letter: usize, tokens: u32) -> Piece {
    Piece { speaker: Speaker::User, identity: letter as u64, tokens, ends: true }
}

/// The cheapest of all ways to send a text plainly, to write, or to read it at each of its requests.
fn cheapest(times: &[f64], rules: &Rules) -> f64 {
    let ways = 0..3_usize.pow(u32::try_from(times.len()).unwrap());
    let cost = |way: usize| {
        let mut known: Option<f64> = None;
        let prices = times.iter().enumerate().map(|(at, now)| {
            let lives = known.is_some_and(|then| now - then <= rules.short.seconds);
            match way / 3_usize.pow(u32::try_from(at).unwrap()) % 3 {
                0 => 1.0,
                1 => {
                    known = Some(*now);
                    rules.short.write
                }
                _ if lives => {
                    known = Some(*now);
                    rules.read
                }
                _ => f64::INFINITY,
            }
        });
        prices.sum::<f64>()
    };
    ways.map(cost).fold(f64::INFINITY, f64::min)
}

fn apart(requests: &[Vec<usize>]) -> Trace {
    let column = ColumnSpec { name: "coder".into(), instruction: String::new(), depth: 0, thread: None };
    let mut trace = Trace::new("apart", Kind::Mutable, vec![column]);
    let mut after = None;
    for letters in requests {
        let turn = trace.turn(after, Pause::Thought);
        trace.call_apart(turn, letters.iter().map(|letter| text(*letter, 100)));
        after = Some(turn);
    }
    trace
}

proptest! {
    #[test]
    fn the_bound_of_texts_apart_is_the_cheapest_way_for_each_text(
        requests in vec(subsequence(vec![0, 1, 2], 0..=3), 1..6),
        gaps in vec(prop_oneof![Just(20.0), Just(400.0)], 6),
    ) {
        let rules = Rules { minimum: 0, ..Rules::documented() };
        let mut times = vec![0.0];
        requests.iter().zip(gaps).skip(1).for_each(|(_, gap)| times.push(times.last().unwrap() + gap));
        let expected: f64 = (0..3)
            .map(|letter| {
                let with = requests.iter().zip(&times).filter(|(letters, _)| letters.contains(&letter));
                let with: Vec<f64> = with.map(|(_, at)| *at).collect();
                100.0 * cheapest(&with, &rules)
            })
            .sum();
        let trace = apart(&requests);
        let scenario = Scenario::at(&trace, &rules, times);
        let bound: f64 = scenario.bound(&[Lifetime::Short]).iter().sum();
        prop_assert!((bound - expected).abs() < 1e-6, "{} for {}", bound, expected);
    }
}

#[test]
fn no_layout_costs_less_than_the_bound_for_all_layouts() {
    let mut random = Random::new(21);
    for number in 0..24 {
        let model = MODELS[number % MODELS.len()];
        let sessions = [random_session(&mut random)];
        for bills in bills_of("random", &sessions, &[model], &[Clock::Batch], &VIEWS).unwrap() {
            for bill in &bills.bills {
                // The log of changes with diffs has fewer tokens than the texts.
                assert!(bill.cost >= 0.999 * bills.free, "{}: {bill:?} for {}", bills.title(), bills.free);
            }
        }
    }
}

#[test]
fn texts_of_a_record_have_the_recorded_sizes() {
    let record = "# style agent\nsession a..b\n500 30 0:1000 1:200\n10 60 0:1100:150\n10 30 -1 2:77\n";
    let sessions = histories::sessions(record);
    let [session] = sessions.as_slice() else { panic!("there is one session") };
    let sizes = |at: usize| -> Vec<(usize, Option<usize>)> {
        let changes = session.steps[at].changes.iter();
        changes.map(|it| (it.document, it.text.as_deref().map(|text| Estimate.count(text)))).collect()
    };
    assert_eq!(sizes(0), [(0, Some(1000)), (1, Some(200))]);
    assert_eq!(sizes(1), [(0, Some(1100))]);
    assert_eq!(sizes(2), [(1, None), (2, Some(80))]);
    let pauses: Vec<Pause> = session.steps.iter().map(|step| step.pause).collect();
    assert_eq!(pauses, [Pause::Thought, Pause::Tool, Pause::Tool]);
    assert_eq!(Estimate.count(&session.steps[0].message), 500);
    assert_eq!(Estimate.count(&session.steps[1].reply), 60);

    let texts = |at: usize| session.steps[at].changes[0].text.clone().unwrap();
    let (before, after) = (texts(0), texts(1));
    let kept = before.lines().filter(|line| after.contains(*line)).count();
    assert!(kept > 90 && after.lines().count() == 110, "{kept} of 100 lines are kept");
}

#[test]
fn each_record_has_six_sessions_whose_changes_fit_together() {
    for project in RECORDED {
        let sessions = project.sessions();
        assert_eq!(sessions.len(), 6, "{}", project.name());
        for session in sessions {
            let mut known = std::collections::BTreeSet::new();
            assert!((35..200).contains(&session.steps.len()), "{}", session.steps.len());
            for ChangedText { document, text } in session.steps.iter().flat_map(|step| &step.changes) {
                match text {
                    Some(text) => {
                        known.insert(*document);
                        assert!(Estimate.count(text) <= 20_010, "{}", project.name());
                    }
                    None => assert!(known.remove(document), "{document} was never put"),
                }
            }
        }
    }
}

#[test]
fn a_provider_without_marks_reads_the_longest_prefix_that_it_saw() {
    let rules = Rules::of_model("openai/gpt-5.4");
    assert_eq!(CachePolicy::by_model("openai/gpt-5.4").most_marks, 0);
    let (mut prefixes, mut cache) = (Prefixes::default(), Cache::new(&rules));
    // One text is below the minimum, and two are above.
    let size = rules.minimum * 2 / 3;
    let mut send = |letters: &[usize], now: f64| {
        let request = prefixes.request(letters.iter().map(|letter| text(*letter, size)));
        let bill = cache.send(&request, &Marks::short(0..letters.len()), now).expect("the marks are valid");
        (bill.read, bill.cost(&rules))
    };
    assert_eq!(send(&[0, 1, 2], 0.0).0, 0);
    assert_eq!(send(&[0, 1, 3], 10.0).0, 2 * size);
    // Each prefix that was sent stays, and is kept alive by longer ones.
    assert_eq!(send(&[0, 1, 2, 4], 20.0).0, 3 * size);
    assert_eq!(send(&[0, 5], 299.0).0, 0, "one text is below the minimum");
    let (read, cost) = send(&[0, 1], 300.0);
    assert_eq!(read, 2 * size);
    assert!((cost - f64::from(2 * size) * rules.read).abs() < 1e-9, "{cost}");
}
