//! The difference of two texts, in the form that models read and write.

use similar::{Algorithm, TextDiff};

use crate::history::Value;

/// The lines around a change, which say where the change is.
const CONTEXT: usize = 3;

/// The unified diff of two texts; `None` if the diff is not shorter than the new text.
pub(super) fn edit(before: &str, after: &str) -> Option<Value> {
    // The algorithm gives up on the shortest diff where that would take the square of the length.
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(before, after);
    let text = diff.unified_diff().context_radius(CONTEXT).to_string();
    (text.len() < after.len()).then(|| text.into())
}
