//! Identifiers: the text as the user typed it, and the rule for names of columns.
//!
//! To complete an identifier, rust-analyzer expands a flow twice: once unchanged, and once with a marker appended to
//! the identifier at the cursor, or with the marker alone. rust-analyzer maps positions between the two expansions by
//! the text, so both expansions must have the same shape. Every decision about an identifier therefore ignores the
//! marker, and only the token that the editor searches for keeps the marker.

use proc_macro2::Ident;
use quote::format_ident;

// `COMPLETION_MARKER` in the crate `ide-completion` of rust-analyzer.
pub(crate) const MARKER: &str = "raCompletionMarker";

/// The text without marker and `r#`; empty if the marker is the whole identifier.
pub(crate) fn ident_text(ident: &Ident) -> String {
    let mut text = without_marker(ident.to_string());
    if text.starts_with("r#") {
        text.drain(..2);
    }
    text
}

/// The text of any token without the marker, which is at the cursor, and so may be inside a word.
pub(crate) fn without_marker(text: String) -> String {
    if text.contains(MARKER) { text.replace(MARKER, "") } else { text }
}

/// Whether the identifier is `expected`, marker aside. `r#use` is not `use`.
pub(crate) fn is(ident: &Ident, expected: &str) -> bool {
    is_one_of(ident, &[expected])
}

/// Whether the identifier is one of these words, marker aside. The text of an identifier is a copy, so one copy serves
/// all words.
pub(crate) fn is_one_of(ident: &Ident, words: &[&str]) -> bool {
    words.contains(&&*without_marker(ident.to_string()))
}

/// Whether the rest of an identifier is a number: the marker was before the rest.
fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// The identifier without the marker; `None` if the rest is no identifier.
pub(crate) fn unmarked(ident: &Ident) -> Option<Ident> {
    let text = ident.to_string();
    if !text.contains(MARKER) {
        return Some(ident.clone());
    }
    match text.strip_prefix("r#").unwrap_or(&text).replace(MARKER, "") {
        rest if rest.is_empty() || is_number(&rest) => None,
        plain if text.starts_with("r#") => Some(Ident::new_raw(&plain, ident.span())),
        plain => Some(Ident::new(&plain, ident.span())),
    }
}

/// `replacement` with the span and the marker of `original`, so that an editor finds the replacement there.
pub(crate) fn replace(original: &Ident, replacement: &Ident) -> Ident {
    let is_at_cursor = original.to_string().contains(MARKER);
    let mut replacement =
        if is_at_cursor { format_ident!("{replacement}{MARKER}") } else { replacement.clone() };
    replacement.set_span(original.span());
    replacement
}

/// Whether a text can name a column: `[a-z][a-z0-9_]{0,63}`, the rule of `columnar::Name`.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 64
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The width of a column of texts that has room for these names. A name that is too long is a mistake elsewhere, and a width
/// has a limit.
pub(crate) fn widest<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(str::len).max().unwrap_or(0).min(200)
}

/// The valid name that is nearest to a text, if there is one.
pub(crate) fn nearest_name(text: &str) -> Option<String> {
    let mut name = String::new();
    let mut last = '_';
    for letter in text.chars().take(64) {
        if letter.is_ascii_uppercase() && last.is_ascii_lowercase() {
            name.push('_');
        }
        last = letter;
        name.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
    }
    let name = name.trim_matches('_').to_owned();
    // Each `_` between words adds a letter, so the name may be too long again.
    is_name(&name).then_some(name)
}

/// The name as an identifier of Rust: raw if it is a keyword, `None` if it cannot be raw or is no identifier.
pub(crate) fn rust_ident(name: &Ident) -> Option<Ident> {
    let text = name.to_string();
    match ident_text(name).as_str() {
        "_" | "self" | "Self" | "super" | "crate" => None,
        rest if is_number(rest) => None,
        // `text` and not `keyword`: an editor looks for the token with its marker.
        keyword if is_keyword(keyword) && !text.starts_with("r#") => Some(Ident::new_raw(&text, name.span())),
        _ => Some(name.clone()),
    }
}

/// Whether a word is a name only if it is raw.
fn is_keyword(word: &str) -> bool {
    // `syn` reads every edition, and `gen` is a keyword since 2024.
    word == "gen" || !word.is_empty() && syn::parse_str::<Ident>(word).is_err()
}

/// Whether this is a variable with the name `text`, marker aside. A keyword is a name only if it is raw.
pub(crate) fn is_variable(name: &Ident, text: &str) -> bool {
    let written = without_marker(name.to_string());
    match written.strip_prefix("r#") {
        Some(raw) => raw == text,
        None => written == text && !is_keyword(text),
    }
}

/// Whether this is `gen`, a keyword since edition 2024. No token tells its edition, and the raw form is the same name
/// in each edition.
pub(crate) fn is_gen(name: &Ident) -> bool {
    ident_text(name) == "gen"
}

/// The name as a variant of an enum: `running_summary` becomes `RunningSummary`. A text that is no valid name does not
/// change.
pub(crate) fn camel_case(name: &str) -> String {
    // `_1` would become `1`, which is no identifier.
    if !is_name(name) {
        return name.to_owned();
    }
    let mut camel = String::with_capacity(name.len());
    for part in name.split('_') {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    // The one keyword of Rust in upper camel case.
    if camel == "Self" { "Self_".to_owned() } else { camel }
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

    use super::*;

    #[test]
    fn names() {
        assert!(["a", "user", "a1_b_", &"x".repeat(64)].into_iter().all(is_name));
        assert!(!["", "A", "_a", "1a", "é", "a-b", &"x".repeat(65)].into_iter().any(is_name));
    }

    #[test]
    fn variants() {
        assert_eq!(camel_case("running_summary"), "RunningSummary");
        assert_eq!(camel_case("r2_d2__x_"), "R2D2X");
        assert_eq!(camel_case("self_"), "Self_");
        assert_eq!(camel_case("_1"), "_1");
    }

    #[test]
    fn identifiers() {
        let identifier = |text| rust_ident(&Ident::new(text, Span::call_site())).map(|name| name.to_string());
        assert_eq!(identifier("user").as_deref(), Some("user"));
        assert_eq!(identifier("type").as_deref(), Some("r#type"));
        assert_eq!(identifier("gen").as_deref(), Some("r#gen"));
        assert_eq!(identifier("super"), None);
        for keyword in ["abstract", "async", "dyn", "match", "try", "yield"] {
            assert_eq!(identifier(keyword), Some(format!("r#{keyword}")));
        }
    }
}
