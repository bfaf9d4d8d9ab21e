//! The prefix that the contexts of several columns share.

use std::ops::Range;

use super::snapshot::Snapshot;
use super::turns::ContextTurns;
use crate::declare::Name;

/// What a context shows before the first value of the column itself: the same in all columns that read the same at
/// this step. Prefixes of earlier steps are less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SharedPrefix {
    step: usize,
    inputs: Vec<PrefixInput>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PrefixInput {
    column: Name,
    tag: Name,
    start: usize,
    end: usize,
    elided: bool,
}

impl SharedPrefix {
    /// The prefix of a context, and its tokens.
    pub(super) fn of(snapshot: &Snapshot) -> (Self, usize) {
        let own = snapshot.own().filter(|own| !own.steps.is_empty());
        let end = own.map_or(snapshot.step, |own| own.steps.start) + 1;
        let omitted = snapshot.truncation().map(|truncation| &truncation.omitted);
        // The first step whose turn of inputs a budget omits.
        let cut = omitted.filter(|omitted| !omitted.is_empty()).map(|omitted| omitted.start.div_ceil(2));
        let steps = 0..cut.map_or(end, |cut| cut.min(end));
        let inputs = snapshot.reads.inputs.iter().zip(&*snapshot.views);
        let inputs = inputs.map(|(input, view)| {
            let Range { start, end } = view.steps;
            PrefixInput {
                column: input.name.clone(),
                tag: input.tag.clone(),
                start,
                end: end.min(steps.end),
                elided: input.spec.elided,
            }
        });
        let tokens = ContextTurns::at(snapshot, snapshot.step).inputs_in(&steps).tokens;
        (Self { step: snapshot.step, inputs: inputs.collect() }, tokens)
    }
}
