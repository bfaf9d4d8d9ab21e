//! A layout of documents that knows the changes to come: the cheapest one that a beam search finds.
//!
//! A request is a stack of texts. The first ones are kept from the request before, and are read. All other valid texts are
//! laid anew: the turns in order, then the documents, of which the one that changes next is last, then the message. A
//! replaced text may stay among those that are kept, and is read with the others. Of the texts that are laid anew, the
//! ones that the next request keeps are written, and the rest is plain.
//!
//! ```text
//! one request    instruction  message  reply  a  b  c  message
//! the next one   instruction  message  reply  a  c  message  reply  b  message
//!                └── kept: b has changed ─────┘  └── laid anew ───────────────┘
//! ```
//!
//! The search follows the prices of a provider. The simulator makes the bill, as for all other layouts. The words that say
//! that a text was replaced or removed are left out, so the layout is a little cheaper than a real one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use columnar::cache::Lifetime;

use super::cache::{Mark, Marks};
use super::request::{Piece, Speaker};
use super::rules::{Rules, Term};
use super::trace::{Kind, Trace};
use super::traces::coding::instruction;
use super::traces::layouts::file;
use super::traces::sessions::{ChangedText, CodingSession, CodingStep};

/// The number of layouts that the search follows at each step.
const BEAM: usize = 96;

/// The steps before a change at which a document may move behind texts that stay, so that nothing stands behind the
/// replaced text.
const SOON: usize = 3;

/// The requests of sessions in a clairvoyant layout, and the marks. Each step has a time.
///
/// # Panics
///
/// If there are fewer times than steps.
pub fn clairvoyant(sessions: &[CodingSession], rules: &Rules, times: &[f64]) -> (Trace, Vec<Marks>) {
    let coder = instruction();
    let first = Piece::new(Speaker::System, &coder.instruction, true);
    let mut trace = Trace::new("clairvoyant", Kind::Mutable, vec![coder]);
    let mut marks = Vec::new();
    let mut times = times;
    for session in sessions {
        let texts = SessionTexts::new(session, &first);
        let (now, later) = times.split_at(session.steps.len());
        times = later;
        let searches = [Lifetime::Short, Lifetime::Long].into_iter().filter_map(|lifetime| {
            let term = rules.term(lifetime)?;
            Some((Search { texts: &texts, rules, term, times: now }.cheapest(), lifetime))
        });
        let cheapest = searches.min_by(|(one, _), (other, _)| one.paid.total_cmp(&other.paid));
        let (LaidRequests { cuts, .. }, lifetime) = cheapest.expect("every provider has the short lifetime");
        let mut after = None;
        let mut stack = Vec::new();
        for (step, (&cut, CodingStep { pause, .. })) in cuts.iter().zip(&session.steps).enumerate() {
            stack = texts.lay(&stack, cut, step);
            let turn = trace.turn(after, *pause);
            trace.call(turn, stack.iter().map(|&text| texts.piece(text).clone()));
            after = Some(turn);
            let next = cuts.get(step + 1).copied().unwrap_or_default();
            // Other sessions may read the instruction.
            let ends: BTreeSet<usize> = [1, cut, next].into_iter().filter(|kept| *kept > 0).collect();
            let explicit = ends.into_iter().map(|kept| Mark { at: kept - 1, lifetime }).collect();
            marks.push(Marks { explicit, automatic: false });
        }
    }
    (trace, marks)
}

/// The texts of a session.
struct SessionTexts {
    all: Vec<DatedText>,
    /// The valid texts of each step, in the order in which they are laid.
    valid: Vec<Vec<usize>>,
}

/// A text, and the first step at which the text is not valid any more.
struct DatedText {
    piece: Piece,
    until: usize,
}

#[expect(clippy::indexing_slicing, reason = "the numbers of texts and steps come from the same session")]
impl SessionTexts {
    fn new(session: &CodingSession, instruction: &Piece) -> Self {
        let mut texts = Self { all: Vec::new(), valid: Vec::new() };
        let mut turns = vec![texts.add(instruction.clone())];
        let mut documents: BTreeMap<usize, usize> = BTreeMap::new();
        for (step, CodingStep { message, changes, reply, .. }) in session.steps.iter().enumerate() {
            for ChangedText { document, text } in changes {
                if let Some(replaced) = documents.remove(document) {
                    texts.all[replaced].until = step;
                }
                if let Some(text) = text {
                    documents.insert(*document, texts.add(file(*document, text)));
                }
            }
            let message = texts.add(Piece::new(Speaker::User, message, true));
            texts.valid.push(turns.iter().chain(documents.values()).chain([&message]).copied().collect());
            turns.extend([message, texts.add(Piece::new(Speaker::Assistant, reply, true))]);
        }
        for valid in &mut texts.valid {
            // Stable: the instruction and the turns never change, so they stay first and in order.
            let before_message = valid.len() - 1;
            valid[..before_message].sort_by_key(|text| Reverse(texts.all[*text].until));
        }
        texts
    }

    fn add(&mut self, piece: Piece) -> usize {
        self.all.push(DatedText { piece, until: usize::MAX });
        self.all.len() - 1
    }

    fn piece(&self, text: usize) -> &Piece {
        &self.all[text].piece
    }

    fn tokens(&self, texts: &[usize]) -> f64 {
        texts.iter().map(|text| f64::from(self.piece(*text).tokens)).sum()
    }

    /// The texts of a request that keeps those before the cut.
    fn lay(&self, before: &[usize], cut: usize, step: usize) -> Vec<usize> {
        let mut stack = before[..cut].to_vec();
        let mut is_kept = vec![false; self.all.len()];
        stack.iter().for_each(|text| is_kept[*text] = true);
        stack.extend(self.valid[step].iter().filter(|text| !is_kept[**text]));
        stack
    }
}

/// The requests of a session up to a step.
#[derive(Default)]
struct LaidRequests {
    /// The texts of the last request.
    stack: Vec<usize>,
    /// The tokens of the last request.
    tokens: f64,
    /// The tokens that the last request keeps.
    kept: f64,
    /// The number of texts that each request keeps of the one before.
    cuts: Vec<usize>,
    /// The cost, without the texts that the last request lays anew.
    paid: f64,
}

/// A request that may come next.
struct NextRequest<'l> {
    before: &'l LaidRequests,
    cut: usize,
    kept: f64,
    paid: f64,
    /// The cost if the texts that are laid anew are written, and the replaced ones are read to the end or cut out next.
    estimate: f64,
}

/// The search for the requests of a session.
struct Search<'s> {
    texts: &'s SessionTexts,
    rules: &'s Rules,
    term: Term,
    times: &'s [f64],
}

#[expect(clippy::indexing_slicing, reason = "the numbers of texts and steps come from the same session")]
impl Search<'_> {
    fn cheapest(&self) -> LaidRequests {
        let mut beam = vec![LaidRequests::default()];
        for step in 0..self.times.len() {
            let mut nexts: Vec<NextRequest<'_>> = Vec::new();
            beam.iter().for_each(|before| self.cuts(before, step, &mut nexts));
            nexts.sort_by(|one, other| one.estimate.total_cmp(&other.estimate));
            let mut known = BTreeSet::new();
            let distinct = nexts.into_iter().filter_map(|NextRequest { before, cut, kept, paid, .. }| {
                let stack = self.texts.lay(&before.stack, cut, step);
                let cuts = before.cuts.iter().copied().chain([cut]).collect();
                let tokens = self.texts.tokens(&stack);
                known.insert(stack.clone()).then_some(LaidRequests { stack, tokens, kept, cuts, paid })
            });
            beam = distinct.take(BEAM).collect();
        }
        beam.iter_mut().for_each(|requests| requests.paid += self.laid(requests, 0.0));
        let cheapest = beam.into_iter().min_by(|one, other| one.paid.total_cmp(&other.paid));
        cheapest.expect("a request may always keep nothing")
    }

    /// The cost of the texts that the last request lays anew, if the next one keeps this number of tokens.
    fn laid(&self, last: &LaidRequests, kept: f64) -> f64 {
        let written = (kept - last.kept).max(0.0);
        self.term.write * written + (last.tokens - last.kept - written)
    }

    /// The pause before a step.
    fn pause(&self, step: usize) -> f64 {
        step.checked_sub(1).map_or(f64::INFINITY, |before| self.times[step] - self.times[before])
    }

    /// Adds the requests that keep nothing, all, or what is before a text that is replaced or will be soon.
    fn cuts<'l>(&self, before: &'l LaidRequests, step: usize, nexts: &mut Vec<NextRequest<'l>>) {
        let Rules { read, minimum, ready, .. } = *self.rules;
        let Term { write, seconds } = self.term;
        let is_readable = (ready..=seconds).contains(&self.pause(step));
        let later = (step + 1..self.times.len()).take_while(|later| self.pause(*later) <= seconds);
        // The price of a replaced token until the end, or until everything is laid anew.
        let rent: f64 = later.map(|_| read).sum();
        let valid = self.texts.tokens(&self.texts.valid[step]);
        // The tokens before the cut.
        let mut kept = 0.0;
        let mut replaced = 0.0;
        let mut cheapest_lower = f64::INFINITY;
        let mut is_after_replaced = false;
        for cut in 0..=before.stack.len() {
            let text = before.stack.get(cut).copied();
            let until = text.map_or(0, |text| self.texts.all[text].until);
            let is_replaced = until <= step && text.is_some();
            let may_keep = is_readable && kept >= f64::from(minimum) && until <= step + SOON;
            // A cut between two replaced texts would keep the first one for nothing.
            if cut == 0 || may_keep && !(is_replaced && is_after_replaced) {
                let laid = valid - (kept - replaced);
                let paid = before.paid + self.laid(before, kept) + read * kept;
                let to_come = f64::min(rent * replaced, cheapest_lower);
                nexts.push(NextRequest { before, cut, kept, paid, estimate: paid + write * laid + to_come });
                cheapest_lower = cheapest_lower.min(rent * replaced + (write - read) * laid);
            }
            let tokens = text.map_or(0.0, |text| self.texts.tokens(&[text]));
            kept += tokens;
            replaced += if is_replaced { tokens } else { 0.0 };
            is_after_replaced = is_replaced;
        }
    }
}
