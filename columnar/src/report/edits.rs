//! A request as an edit of the column's previous request: a list of all parts for each request would be quadratic.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::context::{Messages, Part};

/// A piece of a request.
pub(super) enum EditPiece<'m> {
    /// These parts of the previous request, with their tokens.
    Kept {
        parts: Range<usize>,
        tokens: usize,
    },
    New(Part<'m>),
}

impl EditPiece<'_> {
    /// The number of parts.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Kept { parts, .. } => parts.len(),
            Self::New(_) => 1,
        }
    }
}

/// The edit is greedy, and not the smallest one: behind the common beginning, each part continues the run of parts before,
/// else begins a run at the same cell in the rest of the previous request, else is new.
pub(super) fn edit<'m>(previous: Option<&Messages>, messages: &'m Messages) -> Vec<EditPiece<'m>> {
    let previous: Vec<Part<'_>> = previous.map_or_else(Vec::new, |previous| previous.parts().collect());
    let mut places = BTreeMap::<_, Vec<usize>>::new();
    let mut pieces = vec![EditPiece::Kept { parts: 0..0, tokens: 0 }];
    for part in messages.parts() {
        if let Some(EditPiece::Kept { parts, tokens }) = pieces.last_mut()
            && previous.get(parts.end) == Some(&part)
        {
            parts.end += 1;
            *tokens += part.tokens();
            continue;
        }
        // Most requests repeat the whole previous one, so that there is no rest.
        if let [common] = &pieces[..] {
            for (at, part) in previous.iter().enumerate().skip(common.len()) {
                places.entry(cell(part)).or_default().push(at);
            }
        }
        let at = places
            .get(&cell(&part))
            .and_then(|places| places.iter().find(|at| previous.get(**at) == Some(&part)));
        pieces.push(match at {
            Some(&at) => EditPiece::Kept { parts: at..at + 1, tokens: part.tokens() },
            None => EditPiece::New(part),
        });
    }
    // The common beginning may be empty.
    pieces.retain(|piece| piece.len() > 0);
    pieces
}

fn cell<'m>(part: &Part<'m>) -> Option<(&'m str, usize)> {
    part.origin().map(|origin| (origin.column.as_str(), origin.step))
}
