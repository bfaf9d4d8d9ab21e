//! A section: documents that stand together in a request.

use std::sync::{Arc, OnceLock};

use crate::context::documents::{Documents, FencedText, Key, push_items};
use crate::context::tiers::{Item, SectionPlace, Tier, Tracker};
use crate::history::Value;
use crate::history::tokens::{Counter, Sum};

/// The documents of a step, and the tiers.
#[derive(Clone, Debug)]
pub(super) struct Placement {
    pub(super) documents: Documents,
    pub(super) tracker: Tracker,
}

impl Placement {
    /// The documents in a tier with the texts, in the order of the request.
    pub(super) fn texts(&self, tier: Tier) -> impl Iterator<Item = (&Key, Option<&Value>)> {
        self.tracker.items(tier).filter_map(|(item, ..)| match item {
            Item::Document(key) => Some((key, self.documents.get(key))),
            Item::Exchange(_) => None,
        })
    }
}

/// A document in tiers, in the part that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TieredDocument<'m> {
    /// The kind of the document, and the path or URL.
    pub key: &'m Key,
    /// The number of responses since the last change, within the limits of the [tier](Tier).
    pub n: u32,
    /// The tokens of the document, with the path and the fence.
    pub tokens: usize,
}

/// Documents that stand together in a request.
#[derive(Debug)]
pub(crate) struct Section {
    place: SectionPlace,
    /// The documents of the step that changed the section last.
    placement: Arc<Placement>,
    tokens: usize,
    /// Made at the first reading.
    text: OnceLock<String>,
}

impl Section {
    /// The section at a place; `None` if it has no documents.
    pub(super) fn new(
        place: SectionPlace,
        placement: &Arc<Placement>,
        counter: &dyn Counter,
    ) -> Option<Arc<Self>> {
        let Placement { documents, tracker } = &**placement;
        let alone = place.alone(documents);
        let sums = place.titles().iter().map(|(kind, _)| tracker.documents(place.tier(), *kind));
        let sum: Sum = sums.sum();
        if sum.count == 0 && alone.is_none() {
            return None;
        }
        let placement = Arc::clone(placement);
        let mut section = Self { place, placement, tokens: sum.tokens, text: OnceLock::new() };
        section.tokens += section.title_tokens(counter);
        section.tokens += alone.map_or(0, |(_, text)| tokens_of(None, text, counter));
        Some(Arc::new(section))
    }

    /// The same section, whose text is not made yet.
    pub(super) fn unread(&self) -> Arc<Self> {
        let placement = Arc::clone(&self.placement);
        let text = OnceLock::new();
        Arc::new(Self { placement, text, ..*self })
    }

    pub(crate) fn place(&self) -> SectionPlace {
        self.place
    }

    pub(crate) fn tier(&self) -> Tier {
        self.place.tier()
    }

    /// The tokens of the documents and the titles.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens
    }

    /// Whether the section begins with a text without a path: the legend or the tree.
    pub(crate) fn has_text_alone(&self) -> bool {
        self.place.alone(&self.placement.documents).is_some()
    }

    /// The tokens of the titles, without the documents under them.
    pub(crate) fn title_tokens(&self, counter: &dyn Counter) -> usize {
        let Placement { documents, tracker } = &*self.placement;
        let alone = self.place.alone(documents).map(|(title, _)| title);
        let others =
            self.place.titles().iter().filter(|(kind, title)| {
                tracker.documents(self.tier(), *kind).count > 0 && alone != Some(*title)
            });
        let titles = alone.into_iter().chain(others.map(|(_, title)| *title));
        titles.map(|title| title_tokens(title, counter)).sum()
    }

    /// The documents in order, with the tokens of each and its N in a tracker. A section keeps the text while N goes on, so the
    /// tracker belongs to the step which shows the section.
    pub(crate) fn items<'t>(
        &self,
        tracker: &'t Tracker,
    ) -> impl Iterator<Item = TieredDocument<'t>> + use<'t> {
        let kinds = self.place.titles();
        tracker.items(self.tier()).filter_map(move |(item, n, tokens)| match item {
            Item::Document(key) if kinds.iter().any(|(kind, _)| *kind == key.kind()) => {
                Some(TieredDocument { key, n, tokens })
            }
            _ => None,
        })
    }

    pub(crate) fn text(&self) -> &str {
        self.text.get_or_init(|| self.rendered())
    }

    fn rendered(&self) -> String {
        let documents = &self.placement.documents;
        let mut shown = String::new();
        let alone = self.place.alone(documents);
        let items = self.items(&self.placement.tracker);
        let mut items: Vec<_> = items.filter_map(|item| Some((item.key, documents.get(item.key)?))).collect();
        for (kind, title) in self.place.titles() {
            let of_kind = items.iter().take_while(|(key, _)| key.kind() == *kind).count();
            let of_kind =
                items.drain(..of_kind).map(|(key, text)| FencedText { path: Some(key.path()), text });
            let alone = alone.filter(|(of, _)| of == title).map(|(_, text)| FencedText { path: None, text });
            push_items(&mut shown, title, alone.into_iter().chain(of_kind));
        }
        if let Some((title, text)) = alone.filter(|_| shown.is_empty()) {
            push_items(&mut shown, title, [FencedText { path: None, text }]);
        }
        shown
    }
}

/// Separates titles and documents.
const GAP: &str = "\n\n";

/// The tokens of a title, with the empty line after it.
fn title_tokens(title: &str, counter: &dyn Counter) -> usize {
    counter.count(title) + counter.count(GAP)
}

/// The tokens of a document as a section shows it, with the empty line before it.
pub(super) fn tokens_of(path: Option<&str>, text: &str, counter: &dyn Counter) -> usize {
    let [opening, closing] = FencedText { path, text }.delimiters();
    counter.count(text) + counter.count(&[&opening, &closing, GAP].concat())
}
