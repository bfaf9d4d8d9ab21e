//! A section: documents that stand together in a request.

use std::sync::{Arc, OnceLock};

use crate::context::documents::{Documents, FencedText, Key, Kind, push_items};
use crate::context::tiers::{Item, Tier, Tracker};
use crate::history::Value;
use crate::history::tokens::{Counter, Sum};

/// The reply to documents. It is constant, so that a cached prefix stays valid.
const ACKNOWLEDGED: &str = "Ok.";

/// The reply to pages.
const ACKNOWLEDGED_PAGES: &str = "Ok, I've reviewed the URL content.";

/// The title of the legend and the symbols in L0.
const STRUCTURE: &str = "# Repository Structure";

/// The title of other symbols.
const MORE_STRUCTURE: &str = "# Repository Structure (continued)";

/// The place of a section in a request. They are ordered as there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::context) enum SectionPlace {
    /// The end of the system text.
    System,
    L1,
    L2,
    L3,
    Tree,
    Pages,
    /// The files that changed lately, after the symbols that did.
    Working,
}

impl SectionPlace {
    pub(super) const ALL: [Self; 7] =
        [Self::System, Self::L1, Self::L2, Self::L3, Self::Tree, Self::Pages, Self::Working];

    pub(in crate::context) const fn tier(self) -> Tier {
        match self {
            Self::System => Tier::L0,
            Self::L1 => Tier::L1,
            Self::L2 => Tier::L2,
            Self::L3 => Tier::L3,
            Self::Tree | Self::Pages | Self::Working => Tier::Active,
        }
    }

    /// The documents of a kind in the section, under the title.
    const fn titles(self) -> &'static [(Kind, &'static str)] {
        match self {
            Self::System => &[(Kind::Symbol, STRUCTURE), (Kind::File, "# Reference Files (Stable)")],
            Self::L1 => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Reference Files")],
            Self::L2 => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Reference Files (L2)")],
            Self::L3 => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Reference Files (L3)")],
            Self::Tree => &[],
            Self::Pages => &[(Kind::Url, "# URL Context")],
            Self::Working => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Working Files")],
        }
    }

    /// The text without a path that begins the section.
    fn alone(self, documents: &Documents) -> Option<(&'static str, &Value)> {
        match self {
            Self::System => Some((STRUCTURE, documents.legend()?)),
            Self::Tree => Some(("# Repository Files", documents.tree()?)),
            _ => None,
        }
    }
}

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

    pub(in crate::context) fn place(&self) -> SectionPlace {
        self.place
    }

    pub(crate) fn tier(&self) -> Tier {
        self.place.tier()
    }

    /// The tokens of the documents and the titles.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens
    }

    /// The reply that follows.
    pub(in crate::context) fn acknowledgement(&self) -> &'static str {
        if self.place == SectionPlace::Pages { ACKNOWLEDGED_PAGES } else { ACKNOWLEDGED }
    }

    /// Whether the section begins with a text without a path: the legend or the tree.
    pub(crate) fn has_text_alone(&self) -> bool {
        self.place.alone(&self.placement.documents).is_some()
    }

    /// The tokens of the titles, without the documents under them.
    pub(crate) fn title_tokens(&self, counter: &dyn Counter) -> usize {
        let Placement { documents, tracker } = &*self.placement;
        let alone = self.place.alone(documents).map(|(title, _)| title);
        let shown = |kind: Kind| tracker.documents(self.tier(), kind).count > 0;
        let others = self.place.titles().iter().filter(|(kind, title)| shown(*kind) && alone != Some(*title));
        alone
            .into_iter()
            .chain(others.map(|(_, title)| *title))
            .map(|title| title_tokens(title, counter))
            .sum()
    }

    /// The documents in order, with the tokens of each and its N in a tracker. A section keeps the text while N goes on, so the
    /// tracker belongs to the step which shows the section.
    pub(super) fn items<'t>(
        &self,
        tracker: &'t Tracker,
    ) -> impl Iterator<Item = (&'t Key, u32, usize)> + use<'t> {
        let kinds = self.place.titles();
        tracker.items(self.tier()).filter_map(move |(item, n, tokens)| match item {
            Item::Document(key) if kinds.iter().any(|(kind, _)| *kind == key.kind()) => {
                Some((key, n, tokens))
            }
            _ => None,
        })
    }

    pub(in crate::context) fn text(&self) -> &str {
        self.text.get_or_init(|| self.rendered())
    }

    fn rendered(&self) -> String {
        let documents = &self.placement.documents;
        let mut shown = String::new();
        let alone = self.place.alone(documents);
        let items = self.items(&self.placement.tracker);
        let mut items: Vec<_> = items.filter_map(|(key, ..)| Some((key, documents.get(key)?))).collect();
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
