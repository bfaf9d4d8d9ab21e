//! The rule for names, and what a name becomes in Rust.

use proc_macro2::Ident;

use crate::word::typed;

/// The keywords of Rust that can be raw. `gen` is one since edition 2024, and raw it is the same name in all
/// of them.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
    "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait",
    "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Whether a text can name a column: `[a-z][a-z0-9_]{0,63}`, as `columnar::Name` has it.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 64
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The nearest text that can name a column, if there is one.
pub(crate) fn to_name(text: &str) -> Option<String> {
    let mut name = String::new();
    for letter in text.chars().take(64) {
        if letter.is_ascii_uppercase() && name.ends_with(|last: char| last.is_ascii_lowercase()) {
            name.push('_');
        }
        name.push(if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' });
    }
    let name = name.trim_matches('_').to_owned();
    is_name(&name).then_some(name)
}

/// The name as an identifier: raw if it is a keyword, `None` if it cannot be one.
pub(crate) fn identifier(name: &Ident) -> Option<Ident> {
    let text = name.to_string();
    match typed(name).as_str() {
        "_" | "self" | "Self" | "super" | "crate" => None,
        word if KEYWORDS.contains(&word) && !text.starts_with("r#") => {
            Some(Ident::new_raw(&text, name.span()))
        }
        _ => Some(name.clone()),
    }
}

/// The name as a variant of an enum: `running_summary` becomes `RunningSummary`. What cannot name a
/// column stays as it is.
pub(crate) fn camel(name: &str) -> String {
    if !is_name(name) {
        return name.to_owned();
    }
    let mut camel = String::with_capacity(name.len());
    for part in name.split('_') {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    // The one word in upper camel case that Rust keeps for itself.
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
        assert_eq!(camel("running_summary"), "RunningSummary");
        assert_eq!(camel("r2_d2__x_"), "R2D2X");
        assert_eq!(camel("self_"), "Self_");
        assert_eq!(camel("_1"), "_1");
    }

    #[test]
    fn identifiers() {
        let identifier = |text| identifier(&Ident::new(text, Span::call_site())).map(|name| name.to_string());
        assert_eq!(identifier("user").as_deref(), Some("user"));
        assert_eq!(identifier("type").as_deref(), Some("r#type"));
        assert_eq!(identifier("gen").as_deref(), Some("r#gen"));
        assert_eq!(identifier("super"), None);
        for keyword in KEYWORDS.into_iter().filter(|keyword| *keyword != "gen") {
            assert!(syn::parse_str::<Ident>(keyword).is_err(), "{keyword}");
            assert_eq!(identifier(keyword), Some(format!("r#{keyword}")));
        }
    }
}
