//! The documents and the tiers of one step, from those of the step before.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::budget::FixedText;
use super::section::{Place, Placement, Section, tokens_of};
use crate::context::documents::{Changes, Documents, Key, Update, UpdateError};
use crate::context::tiers::{Item, Moves, Step, Tier, Tracker};
use crate::history::Value;
use crate::history::tokens::Counter;

/// The steps of a flow up to that of a context, as far as tiers depend on them.
pub(in crate::context) trait Steps {
    /// The update of the documents.
    fn update(&self, step: usize) -> Option<Value>;

    /// Whether the column has a value.
    fn is_answered(&self, step: usize) -> bool;

    /// The first exchange that the context of a step may show otherwise than a later one.
    fn first_that_changes(&self, step: usize) -> usize;

    /// The tokens of an exchange before that one, in the context of a step; `None` if it has no text. The newest exchange
    /// is expected to have a reply like the one before.
    fn exchange(&self, exchange: usize, step: usize) -> Option<usize>;

    /// The counter, and the tokens of a separator.
    fn counter(&self) -> (&dyn Counter, usize);
}

/// The documents and the tiers of one step. A clone costs a few reference counts.
#[derive(Clone, Debug)]
pub(in crate::context) struct StepTiers {
    /// The documents that the updates since `before` touched.
    touched: Touched,
    /// The tiers of the last step with a response. A step without one leaves no trace, except in the documents.
    before: Arc<Tiers>,
    /// Those of the request of this step.
    now: Arc<Tiers>,
}

/// The tiers of a request.
#[derive(Debug)]
struct Tiers {
    placement: Arc<Placement>,
    moves: Moves,
    /// The first step whose exchange the tracker does not have.
    exchanges: usize,
    /// In the order of [`Place::ALL`].
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

impl StepTiers {
    /// Before the first step.
    pub(super) fn new(target: usize) -> Self {
        let (documents, tracker) = (Documents::new(), Tracker::new(target));
        let now = Arc::new(Tiers {
            placement: Arc::new(Placement { documents, tracker }),
            moves: Moves::default(),
            exchanges: 0,
            sections: Default::default(),
            tokens: 0,
        });
        Self { touched: Touched::default(), before: Arc::clone(&now), now }
    }

    /// The next step, from its update, the response to the step before and the turns that are final now.
    ///
    /// # Errors
    ///
    /// If the value is no update of the documents before it. A flow refuses such a value, so something else wrote it.
    pub(super) fn next(&self, steps: &dyn Steps, step: usize) -> Result<Self, UpdateError> {
        let update = steps.update(step).map_or_else(|| Ok(Update::new()), Update::parse)?;
        let (documents, changes) = self.documents().apply(&update)?;
        let is_answered = step.checked_sub(1).is_some_and(|before| steps.is_answered(before));
        let (before, touched) = if is_answered {
            (Arc::clone(&self.now), Touched::default())
        } else {
            (Arc::clone(&self.before), self.touched.clone())
        };
        Ok(Self::after(before, documents, touched.with(&changes), steps, step))
    }

    /// The step after this one, if nothing is updated and the column has a value.
    pub(super) fn rehearsed(&self, steps: &dyn Steps, step: usize) -> Self {
        let (documents, _) = match self.documents().apply(&Update::new()) {
            Ok(next) => next,
            Err(error) => unreachable!("an empty update has no fault: {error}"),
        };
        Self::after(Arc::clone(&self.now), documents, Touched::default(), steps, step)
    }

    fn after(
        before: Arc<Tiers>,
        documents: Documents,
        touched: Touched,
        steps: &dyn Steps,
        step: usize,
    ) -> Self {
        let first = steps.first_that_changes(step).max(before.exchanges);
        let exchanges = (before.exchanges..first).filter_map(|at| Some((at, steps.exchange(at, step)?)));
        let changed = touched.changed(&before, &documents, steps.counter().0);
        let changed = exchanges.fold(changed, |changed, (step, tokens)| changed.exchange(step, tokens));
        let now = before.next(documents, (&changed, &touched), first, steps.counter());
        Self { touched, before, now: Arc::new(now) }
    }

    /// The same tiers, with no text of a section.
    pub(super) fn unread(&self) -> Self {
        let unread = |tiers: &Arc<Tiers>| Arc::new(tiers.unread());
        Self { touched: self.touched.clone(), before: unread(&self.before), now: unread(&self.now) }
    }

    pub(super) fn section(&self, place: Place) -> Option<&Arc<Section>> {
        self.now.section(place)
    }

    /// The boundaries of the tiers in the history.
    pub(super) fn history(&self) -> [usize; 4] {
        self.now.placement.tracker.history()
    }

    /// The boundaries in the last request with a response, and in that of this step.
    pub(super) fn histories(&self) -> [[usize; 4]; 2] {
        [self.before.placement.tracker.history(), self.history()]
    }

    /// Whether the documents of a cached tier are not those of the last request with a response.
    pub(super) fn has_other_documents(&self, tier: Tier) -> bool {
        // Of a tier that is not broken nothing differs, and so nothing is compared.
        self.moves().broken().contains(&tier) && {
            let (before, now) = (&self.before.placement, &self.now.placement);
            let legends = [before, now].map(|placement| placement.documents.legend());
            (tier == Tier::L0 && legends[0] != legends[1]) || !before.texts(tier).eq(now.texts(tier))
        }
    }

    pub(super) fn tracker(&self) -> &Tracker {
        &self.now.placement.tracker
    }

    pub(super) fn documents(&self) -> &Documents {
        &self.now.placement.documents
    }

    pub(super) fn moves(&self) -> &Moves {
        &self.now.moves
    }

    /// The documents in tiers, the legend and the tree, each with its tokens.
    pub(super) fn texts(&self, counter: &dyn Counter) -> impl Iterator<Item = (FixedText, usize)> {
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

    pub(super) fn system_tokens(&self) -> usize {
        self.section(Place::System).map_or(0, |section| section.tokens())
    }

    pub(super) fn message_tokens(&self) -> usize {
        self.now.tokens
    }
}

impl Tiers {
    fn section(&self, place: Place) -> Option<&Arc<Section>> {
        Place::ALL.into_iter().zip(&self.sections).find(|(of, _)| *of == place)?.1.as_ref()
    }

    /// The tiers of the next request.
    fn next(
        &self,
        documents: Documents,
        (changed, touched): (&Step, &Touched),
        exchanges: usize,
        (counter, separator): (&dyn Counter, usize),
    ) -> Self {
        let mut tracker = self.placement.tracker.clone();
        let moves = tracker.update(changed);
        let placement = Arc::new(Placement { documents, tracker });
        let sections = Place::ALL.map(|place| {
            let is_same = match place {
                Place::System | Place::L1 | Place::L2 | Place::L3 => !moves.broken().contains(&place.tier()),
                Place::Tree => !touched.tree,
                Place::Pages | Place::Working => false,
            };
            if is_same { self.section(place).cloned() } else { Section::new(place, &placement, counter) }
        });
        let in_messages = sections.iter().flatten().filter(|section| section.place() != Place::System);
        let tokens = in_messages
            .map(|section| section.tokens() + counter.count(section.acknowledgement()) + 2 * separator);
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
        let keys = [changes.added(), changes.changed(), changes.removed()];
        self.keys.extend(keys.into_iter().flatten().cloned());
        self.tree |= changes.tree();
        self.legend |= changes.legend();
        self
    }

    /// The changes of the documents since a request.
    fn changed(&self, before: &Tiers, documents: &Documents, counter: &dyn Counter) -> Step {
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
