//! The constant part of a system text, and how its texts are joined.

use crate::declare::Reads;

/// Separates the texts of a system text, and neighbours of equal role in messages.
pub(super) const SEPARATOR: &str = "\n\n";

/// Joins the texts that are not blank, without the white space around them.
pub(super) fn join<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut joined = String::new();
    for text in texts.into_iter().map(str::trim).filter(|text| !text.is_empty()) {
        if !joined.is_empty() {
            joined.push_str(SEPARATOR);
        }
        joined.push_str(text);
    }
    joined
}

/// The texts that are the same at every step, in their order: those of the column and of the flow, and the notes.
pub(super) fn constant<'t>(
    instruction: &'t str,
    flow: Option<&'t str>,
    reads: &'t Reads,
) -> impl Iterator<Item = &'t str> {
    [Some(instruction), flow, reads.notes.as_deref()].into_iter().flatten()
}
