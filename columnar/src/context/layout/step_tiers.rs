//! The documents and the tiers of one step, from the ones of the step before, and of earlier steps.
//!
//! Tiers are a function of the updates and the values, since past contexts must be the same after a restart and in a fork. So
//! nothing of them is stored, and all that is kept here is a cache.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::budget::{FixedText, Turns};
use super::super::elisions::MarkedViews;
use super::super::forked_list::ForkedList;
use super::super::turns::ContextTurns;
use super::section::{Placement, Section, tokens_of};
use crate::context::documents::{Changes, Documents, Key, Kind, Update, UpdateError};
use crate::context::tiers::{Item, Moves, SectionPlace, Step, Tier, Tracker};
use crate::declare::Window;
use crate::history::History;
use crate::history::tokens::Counter;

/// The number of steps from one checkpoint to the next. The first one is after step 0, which often has most documents.
const CHECKPOINT: usize = 8;

/// The tiers of a column so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct TierMemory {
    /// The tiers of each step that is a multiple of [`CHECKPOINT`].
    checkpoints: ForkedList<Arc<StepTiers>>,
    /// The step that was asked for last, and the tiers.
    last: Option<(usize, Arc<StepTiers>)>,
    /// The tokens of the documents by step.
    tokens: ForkedList<usize>,
}

/// The documents and the tiers of one step. A clone costs a few reference counts.
#[derive(Clone, Debug)]
pub(crate) struct StepTiers {
    /// The documents that the updates since `before` touched.
    touched: Touched,
    /// The tiers of the last step with a response. A step without one leaves no trace, except in the documents.
    before: Arc<RequestTiers>,
    /// The tiers of the request of this step.
    now: Arc<RequestTiers>,
}

/// The tiers of a request.
#[derive(Debug)]
struct RequestTiers {
    placement: Arc<Placement>,
    moves: Moves,
    /// The first step whose exchange the tracker does not have.
    exchanges: usize,
    /// In the order of [`SectionPlace::ALL`].
    sections: [Option<Arc<Section>>; 7],
    /// The tokens of the sections in messages, with the replies to them.
    tokens: usize,
}

#[derive(Clone, Debug, Default)]
struct Touched {
    keys: BTreeSet<Key>,
    tree: bool,
    legend: bool,
}

impl TierMemory {
    /// The tiers of the step of these views.
    ///
    /// # Errors
    ///
    /// A step, and the reason why the value is no update of the documents before. A flow refuses such a value, so
    /// something else wrote it.
    pub(crate) fn at(
        &mut self,
        updates: &History,
        views: &MarkedViews,
        target: usize,
    ) -> Result<Arc<StepTiers>, (usize, UpdateError)> {
        let step = views.step;
        let last = self.last.as_ref().filter(|(last, _)| *last <= step);
        let last = last.map(|(last, tiers)| (*last, tiers));
        let at = self.checkpoints.len().min(step / CHECKPOINT + 1).checked_sub(1);
        let checkpoint = at.and_then(|at| Some((at * CHECKPOINT, self.checkpoints.get(at)?)));
        // At the same step, the last tiers have the texts of sections, too.
        let known = checkpoint.into_iter().chain(last).max_by_key(|(step, _)| *step);
        let (mut next, mut tiers) = match known {
            Some((step, tiers)) => (step + 1, Arc::clone(tiers)),
            None => (0, Arc::new(StepTiers::new(target))),
        };
        while next <= step {
            tiers = Arc::new(tiers.next(updates, views, next).map_err(|error| (next, error))?);
            if self.tokens.len() == next {
                self.tokens.push(tiers.system_tokens() + tiers.message_tokens());
            }
            if next.is_multiple_of(CHECKPOINT) && self.checkpoints.len() == next / CHECKPOINT {
                self.checkpoints.push(Arc::new(tiers.unread()));
            }
            next += 1;
        }
        self.last = Some((step, Arc::clone(&tiers)));
        Ok(tiers)
    }

    /// The tokens of the documents at a step up to the last one that was asked for.
    pub(crate) fn tokens(&self, step: usize) -> usize {
        self.tokens.get(step).copied().unwrap_or(0)
    }

    /// The memory of a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        Self {
            checkpoints: self.checkpoints.before(step.div_ceil(CHECKPOINT)),
            last: self.last.clone().filter(|(last, _)| *last < step),
            tokens: self.tokens.before(step),
        }
    }
}

impl StepTiers {
    /// The tiers before the first step.
    fn new(target: usize) -> Self {
        let documents = Documents::new();
        let tracker = Tracker::new(target);
        let now = Arc::new(RequestTiers {
            placement: Arc::new(Placement { documents, tracker }),
            moves: Moves::default(),
            exchanges: 0,
            sections: Default::default(),
            tokens: 0,
        });
        Self { touched: Touched::default(), before: Arc::clone(&now), now }
    }

    /// The next step, from the update, the response to the step before and the turns that are final now.
    fn next(&self, updates: &History, views: &MarkedViews, step: usize) -> Result<Self, UpdateError> {
        let update = updates.value(step).map_or_else(|| Ok(Update::new()), Update::parse)?;
        let (documents, changes) = self.documents().apply(&update)?;
        let answers = views.self_history();
        let is_answered = step.checked_sub(1).zip(answers).is_some_and(|(before, own)| own.has(before));
        let (before, touched) = if is_answered {
            (Arc::clone(&self.now), Touched::default())
        } else {
            (Arc::clone(&self.before), self.touched.clone())
        };
        Ok(Self::after(before, documents, touched.with(&changes), views, step))
    }

    /// The step after this one, if nothing is updated and the column has a value.
    pub(crate) fn rehearsed(&self, views: &MarkedViews) -> Self {
        let (documents, _) = match self.documents().apply(&Update::new()) {
            Ok(next) => next,
            Err(error) => unreachable!("an empty update has no fault: {error}"),
        };
        Self::after(Arc::clone(&self.now), documents, Touched::default(), views, views.step + 1)
    }

    fn after(
        before: Arc<RequestTiers>,
        documents: Documents,
        touched: Touched,
        views: &MarkedViews,
        step: usize,
    ) -> Self {
        let first = first_that_changes(views, step).max(before.exchanges);
        // No later context shows the exchanges otherwise.
        let turns = ContextTurns::at(views, step.max(views.step));
        let mut changed = touched.changed(&before, &documents, &*views.overhead.counter);
        for exchange in before.exchanges..first {
            let sum = turns.sum(2 * exchange..2 * exchange + 2);
            if sum.count > 0 {
                changed = changed.exchange(exchange, sum.tokens);
            }
        }
        let now = before.next(documents, &changed, touched.tree, first, views);
        Self { touched, before, now: Arc::new(now) }
    }

    /// The same tiers, with no text of a section.
    fn unread(&self) -> Self {
        let [before, now] = [&self.before, &self.now].map(|tiers| Arc::new(tiers.unread()));
        Self { touched: self.touched.clone(), before, now }
    }

    pub(super) fn section(&self, place: SectionPlace) -> Option<&Arc<Section>> {
        self.now.section(place)
    }

    /// The boundaries of the tiers in the history.
    pub(crate) fn history(&self) -> [usize; 4] {
        self.now.placement.tracker.history()
    }

    /// The tiers of the last request with a response.
    pub(crate) fn answered(&self) -> Self {
        let [before, now] = [&self.before; 2].map(Arc::clone);
        Self { touched: Touched::default(), before, now }
    }

    /// Whether the documents of a cached tier are not the ones of the last request with a response.
    pub(crate) fn has_other_documents(&self, tier: Tier) -> bool {
        // Of a tier that is not broken nothing differs, and so nothing is compared.
        self.moves().broken().contains(&tier) && {
            let before = &self.before.placement;
            let now = &self.now.placement;
            let legends = [before, now].map(|placement| placement.documents.legend());
            (tier == Tier::L0 && legends[0] != legends[1]) || !before.texts(tier).eq(now.texts(tier))
        }
    }

    pub(crate) fn tracker(&self) -> &Tracker {
        &self.now.placement.tracker
    }

    /// The documents of the step.
    pub(crate) fn documents(&self) -> &Documents {
        &self.now.placement.documents
    }

    /// The moves since the last request with a response, if no budget omits turns.
    pub(crate) fn moves(&self) -> &Moves {
        &self.now.moves
    }

    /// The documents in tiers, the legend and the tree, with the tokens of each.
    pub(crate) fn texts(&self, counter: &dyn Counter) -> impl Iterator<Item = (FixedText, usize)> {
        let documents = self.documents();
        let alone = [(FixedText::Legend, documents.legend()), (FixedText::Tree, documents.tree())];
        let alone = alone.map(|(name, text)| Some((name, tokens_of(None, text?, counter))));
        let items = Tier::ALL.into_iter().flat_map(|tier| self.tracker().items(tier));
        let documents = items.filter_map(|(item, _, tokens)| match item {
            Item::Document(key) => Some((FixedText::Document(key.clone()), tokens)),
            Item::Exchange(_) => None,
        });
        documents.chain(alone.into_iter().flatten())
    }

    /// The tokens of the documents in the system text.
    pub(crate) fn system_tokens(&self) -> usize {
        self.section(SectionPlace::System).map_or(0, |section| section.tokens())
    }

    /// The tokens of the messages, without turns.
    pub(crate) fn message_tokens(&self) -> usize {
        self.now.tokens
    }
}

/// The first exchange that the context of a step may show otherwise than a later one. A finite window shows the inputs of
/// an exchange for some steps, and no exchange is complete at its own step.
fn first_that_changes(views: &MarkedViews, step: usize) -> usize {
    let finite = views.inputs().filter(|(input, _)| input.spec.window != Window::All);
    finite
        .map(|(input, view)| view.turns(&input.spec, step).start)
        .min()
        .map_or(step, |first| first.min(step))
}

impl RequestTiers {
    fn section(&self, place: SectionPlace) -> Option<&Arc<Section>> {
        self.sections.get(place as usize)?.as_ref()
    }

    /// The tiers of the next request, whose tracker has the exchanges before one.
    fn next(
        &self,
        documents: Documents,
        changed: &Step,
        has_other_tree: bool,
        exchanges: usize,
        views: &MarkedViews,
    ) -> Self {
        let counter = &*views.overhead.counter;
        let separator = views.overhead.separator;
        let mut tracker = self.placement.tracker.clone();
        let moves = tracker.update(changed);
        let placement = Arc::new(Placement { documents, tracker });
        let sections = SectionPlace::ALL.map(|place| {
            let is_same = match place {
                SectionPlace::System | SectionPlace::L1 | SectionPlace::L2 | SectionPlace::L3 => {
                    !moves.broken().contains(&place.tier())
                }
                SectionPlace::Tree => !has_other_tree,
                SectionPlace::Pages | SectionPlace::Working => false,
            };
            if is_same { self.section(place).cloned() } else { Section::new(place, &placement, counter) }
        });
        let in_messages = sections.iter().flatten().filter(|section| section.place() != SectionPlace::System);
        let tokens = in_messages.map(|section| {
            section.tokens() + counter.count(section.place().acknowledgement()) + 2 * separator
        });
        let tokens = tokens.sum();
        Self { placement, moves, exchanges, sections, tokens }
    }

    fn unread(&self) -> Self {
        Self {
            placement: Arc::clone(&self.placement),
            moves: self.moves.clone(),
            sections: self.sections.each_ref().map(|section| Some(section.as_ref()?.unread())),
            ..*self
        }
    }
}

impl Touched {
    fn with(mut self, changes: &Changes) -> Self {
        self.keys.extend(changes.keys().cloned());
        self.tree |= changes.tree();
        self.legend |= changes.legend();
        self
    }

    /// The changes of the documents since a request.
    fn changed(&self, before: &RequestTiers, documents: &Documents, counter: &dyn Counter) -> Step {
        let shown = &before.placement.documents;
        let mut step = Step::new();
        for key in &self.keys {
            match (shown.get(key), documents.get(key)) {
                (Some(_), None) => step = step.remove(key.clone()),
                (shown, Some(text)) if shown != Some(text) => {
                    step = step.put(key.clone(), tokens_of(Some(key.path()), text, counter));
                    if let Some(cluster) = documents.cluster(key) {
                        step = step.cluster(key, cluster.id).references(key, cluster.references);
                    }
                }
                _ => {}
            }
        }
        let pages = documents.pages().map(|(key, text)| (key, tokens_of(Some(key.path()), text, counter)));
        let step = pages.fold(step, |step, (key, tokens)| step.put(key.clone(), tokens));
        if self.legend && shown.legend() != documents.legend() { step.legend() } else { step }
    }
}

/// The tokens of the documents that each of the first steps shows, without titles, before any layout is known. A value that
/// is no update counts as one that changes nothing.
pub(crate) fn document_tokens(updates: &History, steps: usize, counter: &dyn Counter) -> Vec<usize> {
    let mut documents = Documents::new();
    let mut kept = 0;
    let tokens = (0..steps).map(|step| {
        let update = updates.value(step).and_then(|value| Update::parse(value).ok()).unwrap_or_default();
        let Ok((next, changes)) = documents.apply(&update) else { return kept };
        // A file hides the symbols, so a change concerns both documents of the path.
        let keys = changes.keys().filter(|key| key.kind() != Kind::Url);
        let touched: BTreeSet<Key> = keys.flat_map(|key| [key.of_file(), key.of_symbols()]).collect();
        let [then, now] = [&documents, &next].map(|documents| {
            let keys = touched.iter().filter(|key| documents.is_shown(key));
            let texts =
                keys.filter_map(|key| Some(tokens_of(Some(key.path()), documents.get(key)?, counter)));
            let alone = [(changes.tree(), documents.tree()), (changes.legend(), documents.legend())];
            let alone = alone.into_iter().filter(|(changed, _)| *changed).filter_map(|(_, text)| text);
            texts.sum::<usize>() + alone.map(|text| tokens_of(None, text, counter)).sum::<usize>()
        });
        kept = kept + now - then;
        documents = next;
        let pages = documents.pages().map(|(key, text)| tokens_of(Some(key.path()), text, counter));
        kept + pages.sum::<usize>()
    });
    tokens.collect()
}
