//! A word as its user has typed it.
//!
//! To complete a word, rust-analyzer expands a flow twice: as it is, and with a marker glued to the
//! word at the cursor, or standing there alone. It finds its way from one expansion to the other by
//! the place in the text, so both must have one shape. Whatever depends on a word goes by what was
//! typed of it, and only the token of the user's that an editor looks for keeps the marker.

use proc_macro2::Ident;
use quote::format_ident;

pub(crate) const MARKER: &str = "raCompletionMarker";

/// The word without marker and `r#`; nothing, where the marker stands alone.
pub(crate) fn typed(word: &Ident) -> String {
    let mut text = word.to_string();
    if text.starts_with("r#") {
        text.drain(..2);
    }
    if text.contains(MARKER) { text.replace(MARKER, "") } else { text }
}

/// What was typed of a token that is no word.
pub(crate) fn without_marker(text: &str) -> String {
    text.replace(MARKER, "")
}

/// Whether this was typed.
pub(crate) fn is(word: &Ident, wanted: &str) -> bool {
    let text = word.to_string();
    text == wanted || text.contains(MARKER) && text.replace(MARKER, "") == wanted
}

/// The word without the marker; `None` where that stands alone.
pub(crate) fn plain(word: &Ident) -> Option<Ident> {
    let text = word.to_string();
    if !text.contains(MARKER) {
        return Some(word.clone());
    }
    match text.strip_prefix("r#").unwrap_or(&text).replace(MARKER, "") {
        alone if alone.is_empty() => None,
        plain if text.starts_with("r#") => Some(Ident::new_raw(&plain, word.span())),
        plain => Some(Ident::new(&plain, word.span())),
    }
}

/// Another word in the place of this one, where an editor finds it.
pub(crate) fn instead(of: &Ident, word: &Ident) -> Ident {
    let is_at_cursor = of.to_string().contains(MARKER);
    let mut word = if is_at_cursor { format_ident!("{word}{MARKER}") } else { word.clone() };
    word.set_span(of.span());
    word
}
