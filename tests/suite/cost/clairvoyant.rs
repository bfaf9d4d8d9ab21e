//! The clairvoyant layout of documents, between the bound for all layouts and simple layouts, and compared with all
//! layouts of short sessions.

use columnar::cache::Lifetime;
use columnar_tests::cost::certificate::random_session;
use columnar_tests::cost::clairvoyant::clairvoyant;
use columnar_tests::cost::clock::{Clock, SEEDS};
use columnar_tests::cost::documents::{MODELS, VIEWS, bills_of};
use columnar_tests::cost::random::Random;
use columnar_tests::cost::request::{Piece, Speaker};
use columnar_tests::cost::rules::Rules;
use columnar_tests::cost::scenario::Scenario;
use columnar_tests::cost::trace::Pause;
use columnar_tests::cost::traces::coding::instruction;
use columnar_tests::cost::traces::layouts::{Layout, file};
use columnar_tests::cost::traces::sessions::{ChangedText, CodingSession, CodingStep};

#[test]
fn the_clairvoyant_layout_is_between_the_bound_and_simple_layouts() {
    let mut random = Random::new(22);
    for number in 0..24 {
        let model = MODELS[number % MODELS.len()];
        let rules = Rules { minimum: 0, ..Rules::of_model(model) };
        let sessions = [random_session(&mut random)];
        for bills in
            bills_of("random", &sessions, &[model], &[Clock::Batch, Clock::Human], &VIEWS[..1]).unwrap()
        {
            let (apart, _) = Layout::Apart.trace("random", &sessions);
            let apart = Scenario::new(&apart, &rules, bills.clock, SEEDS[0]);
            let free: f64 = apart.bound(&[Lifetime::Short, Lifetime::Long]).iter().sum();
            assert!(free <= bills.clairvoyant, "{}: {} for {free}", bills.title(), bills.clairvoyant);
            for bill in &bills.bills {
                assert!(
                    bills.clairvoyant <= bill.cost,
                    "{}: {} for {bill:?}",
                    bills.title(),
                    bills.clairvoyant
                );
            }
        }
    }
}

/// All layouts of a short session without long pauses, by a search that knows nothing about good ones.
struct AllLayouts {
    tokens: Vec<f64>,
    steps: Vec<ValidTexts>,
    read: f64,
    write: f64,
}

/// The valid texts of a step beside the message.
struct ValidTexts {
    turns: Vec<usize>,
    documents: Vec<usize>,
    message: usize,
}

impl AllLayouts {
    fn new(session: &CodingSession, rules: &Rules) -> Self {
        let mut all =
            Self { tokens: Vec::new(), steps: Vec::new(), read: rules.read, write: rules.short.write };
        let mut turns = vec![all.add(&Piece::new(Speaker::System, &instruction().instruction, true))];
        let mut documents = [None; 3];
        for CodingStep { changes, message, reply, .. } in &session.steps {
            for ChangedText { document, text } in changes {
                documents[*document] = text.as_ref().map(|text| all.add(&file(*document, text)));
            }
            let message = all.add(&Piece::new(Speaker::User, message, true));
            let valid = documents.iter().flatten().copied().collect();
            all.steps.push(ValidTexts { turns: turns.clone(), documents: valid, message });
            turns.extend([message, all.add(&Piece::new(Speaker::Assistant, reply, true))]);
        }
        all
    }

    fn add(&mut self, piece: &Piece) -> usize {
        self.tokens.push(f64::from(piece.tokens));
        self.tokens.len() - 1
    }

    fn sum(&self, texts: &[usize]) -> f64 {
        texts.iter().map(|text| self.tokens[*text]).sum()
    }

    /// The least cost of what the last request laid anew and of all later requests.
    fn cheapest(&self, step: usize, stack: &[usize], kept: usize) -> f64 {
        let Some(ValidTexts { turns, documents, message }) = self.steps.get(step) else {
            return self.sum(&stack[kept..]);
        };
        let cuts = (0..=stack.len()).map(|cut| {
            let written = self.sum(&stack[kept.min(cut)..cut]);
            let plain = self.sum(&stack[kept.max(cut)..]);
            let is_new = |text: &&usize| !stack[..cut].contains(text);
            let turns: Vec<usize> = turns.iter().filter(is_new).copied().collect();
            let documents: Vec<usize> = documents.iter().filter(is_new).copied().collect();
            // The instruction is first.
            let (first, turns) = turns.split_at(usize::from(cut == 0));
            let is_last = step + 1 == self.steps.len();
            // The order of the last request costs nothing.
            let orders = if is_last { vec![[turns, &documents].concat()] } else { orders(turns, &documents) };
            let rest = orders.into_iter().map(|order| {
                let next = [&stack[..cut], first, &order, &[*message]].concat();
                self.cheapest(step + 1, &next, cut)
            });
            let rest = rest.fold(f64::INFINITY, f64::min);
            self.write * written + plain + self.read * self.sum(&stack[..cut]) + rest
        });
        cuts.fold(f64::INFINITY, f64::min)
    }
}

/// All orders of texts in which the turns keep theirs.
fn orders(turns: &[usize], documents: &[usize]) -> Vec<Vec<usize>> {
    if turns.is_empty() && documents.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    if let [first, turns @ ..] = turns {
        all.extend(orders(turns, documents).into_iter().map(|rest| [vec![*first], rest].concat()));
    }
    for first in documents {
        let others: Vec<usize> = documents.iter().filter(|other| *other != first).copied().collect();
        all.extend(orders(turns, &others).into_iter().map(|rest| [vec![*first], rest].concat()));
    }
    all
}

fn short_session(random: &mut Random) -> CodingSession {
    let documents = random.count(2, 3);
    // There are too many layouts of three documents in four steps.
    let steps = (0..6 - documents).map(|step| {
        let changed = (0..documents).filter(|_| step == 0 || random.happens(0.4)).collect::<Vec<usize>>();
        let change = |document| {
            let text = (step == 0 || random.happens(0.9)).then(|| random.text(&[100, 1000, 5000]));
            ChangedText { document, text }
        };
        CodingStep {
            changes: changed.into_iter().map(change).collect(),
            pause: Pause::Thought,
            message: random.text(&[50, 1000]),
            reply: random.text(&[50, 1000]),
        }
    });
    CodingSession { steps: steps.collect() }
}

#[test]
fn the_clairvoyant_layout_of_a_short_session_is_nearly_the_cheapest_of_all() {
    let rules = Rules { minimum: 0, long: None, ..Rules::documented() };
    let mut random = Random::new(23);
    let mut worst = 0.0_f64;
    for number in 0..24 {
        let session = short_session(&mut random);
        let cheapest = AllLayouts::new(&session, &rules).cheapest(0, &[], 0);
        let times = [0.0, 20.0, 40.0, 60.0];
        let times = &times[..session.steps.len()];
        let (trace, marks) = clairvoyant(&[session], &rules, times);
        let scenario = Scenario::at(&trace, &rules, times.to_vec());
        let cost: f64 = scenario.cost(&marks).expect("the marks are valid").iter().sum();
        assert!(cost >= cheapest - 1e-6, "{number}: {cost} for {cheapest}");
        worst = worst.max(cost / cheapest);
    }
    println!("at most {worst:.4} of the cheapest layout");
    assert!(worst <= 1.02, "{worst:.4} of the cheapest layout");
}
