//! The sizes of documents before their layout is known.

use std::collections::BTreeSet;

use super::section::tokens_of;
use crate::context::documents::{Changes, Documents, Key, Kind, Update};
use crate::history::History;
use crate::history::tokens::Counter;

/// The tokens of the documents that each of the first steps shows, without titles. A value that is no update counts as one
/// that changes nothing.
pub(in crate::context) fn document_tokens(
    updates: &History,
    steps: usize,
    counter: &dyn Counter,
) -> Vec<usize> {
    let (mut documents, mut kept) = (Documents::new(), 0);
    let next = |step| {
        let update = updates.value(step).and_then(|value| Update::parse(value).ok()).unwrap_or_default();
        let Ok((next, changes)) = documents.apply(&update) else { return kept };
        let touched = touched(&changes);
        let tokens = |documents: &Documents| -> usize {
            let keys = touched.iter().filter(|key| documents.is_shown(key));
            let texts =
                keys.filter_map(|key| Some(tokens_of(Some(key.path()), documents.get(key)?, counter)));
            let alone = [(changes.tree(), documents.tree()), (changes.legend(), documents.legend())];
            let alone = alone.into_iter().filter(|(changed, _)| *changed).filter_map(|(_, text)| text);
            texts.sum::<usize>() + alone.map(|text| tokens_of(None, text, counter)).sum::<usize>()
        };
        kept = kept + tokens(&next) - tokens(&documents);
        documents = next;
        let pages = documents.pages().map(|(key, text)| tokens_of(Some(key.path()), text, counter));
        kept + pages.sum::<usize>()
    };
    (0..steps).map(next).collect()
}

/// The changed documents, and those of the same path: a file hides its symbols.
fn touched(changes: &Changes) -> BTreeSet<Key> {
    let keys = [changes.added(), changes.changed(), changes.removed()].into_iter().flatten();
    keys.filter(|key| key.kind() != Kind::Url).flat_map(|key| [key.of_file(), key.of_symbols()]).collect()
}
