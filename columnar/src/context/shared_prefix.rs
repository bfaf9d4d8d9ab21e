//! The prefix that the contexts of several columns share.

use std::ops::Range;

use super::overhead::ContextForm;
use super::snapshot::Snapshot;
use super::turns::ContextTurns;
use crate::declare::Name;

/// The part of a context before the first value of the column itself. All columns with the same inputs at this step share
/// it. A prefix of an earlier step is ordered before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SharedPrefix {
    // The first field, because warm-ups forget the smallest prefixes, which have the earliest steps.
    step: usize,
    form: ContextForm,
    inputs: Vec<PrefixInput>,
    /// The column whose conversation is the prefix, and the step of its last value.
    thread: Option<(Name, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct PrefixInput {
    column: Name,
    tag: Name,
    start: usize,
    end: usize,
    elided: bool,
    text_only: bool,
    /// How documents are compacted, as a declaration has it.
    compaction: Option<String>,
}

impl SharedPrefix {
    /// The prefix of a context, and the tokens.
    pub(super) fn of(snapshot: &Snapshot) -> (Self, usize) {
        let form = snapshot.overhead.form;
        if let Some(thread) = snapshot.thread() {
            let [_, tokens] = snapshot.thread_tokens();
            let inputs = Vec::new();
            let thread = Some((thread.column().clone(), thread.step));
            return (Self { step: snapshot.step, form: ContextForm::default(), inputs, thread }, tokens);
        }
        let history = snapshot.self_history().filter(|history| !history.steps.is_empty());
        // The inputs of a step precede the column's value of that step, and belong to the prefix.
        let end = history.map_or(snapshot.step, |history| history.steps.start) + 1;
        let omitted = snapshot.truncation().map(|truncation| &truncation.omitted);
        // The first step with inputs that a budget omits.
        let cut = omitted.filter(|omitted| !omitted.is_empty()).map(|omitted| omitted.start.div_ceil(2));
        let steps = 0..cut.map_or(end, |cut| cut.min(end));
        let inputs = snapshot.inputs().map(|(input, view)| {
            let Range { start, end } = view.steps;
            PrefixInput {
                column: input.name.clone(),
                tag: input.tag.clone(),
                start,
                end: end.min(steps.end),
                elided: input.spec.elided,
                text_only: input.spec.text_only,
                compaction: input.spec.compaction.map(|compaction| compaction.to_string()),
            }
        });
        let turns = ContextTurns::at(snapshot, snapshot.step).inputs_in(&steps).tokens;
        // Without self history the prefix is the whole context, and otherwise the documents are a part of it.
        let tokens = turns + snapshot.documents_in(&steps);
        (Self { step: snapshot.step, form, inputs: inputs.collect(), thread: None }, tokens)
    }
}
