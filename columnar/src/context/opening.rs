//! What the contexts of several columns begin with.

use std::ops::Range;

use super::shown::Shown;
use super::turns::Places;
use crate::declare::Name;

/// What a context shows before it shows what the column said: the same in all columns that read the same at
/// this step. Openings of earlier steps are less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Opening {
    step: usize,
    /// By input: the column, the tag, the steps of it, and whether the others are counted.
    inputs: Vec<(Name, Name, usize, usize, bool)>,
}

impl Opening {
    /// The opening of a context, and its tokens.
    pub(super) fn of(shown: &Shown) -> (Self, usize) {
        let own = shown.own().filter(|own| !own.steps.is_empty());
        let end = own.map_or(shown.step, |own| own.steps.start) + 1;
        let steps = 0..shown.uncut().map_or(end, |uncut| uncut.min(end));
        let clip = |shown: &Range<usize>| (shown.start, shown.end.min(steps.end));
        let inputs = shown.reads.inputs.iter().zip(&*shown.views);
        let inputs = inputs.map(|(input, view)| {
            let (start, end) = clip(&view.steps);
            (input.name.clone(), input.tag.clone(), start, end, input.elided)
        });
        let tokens = Places::at(shown, shown.step).read(&steps).tokens;
        (Self { step: shown.step, inputs: inputs.collect() }, tokens)
    }
}
