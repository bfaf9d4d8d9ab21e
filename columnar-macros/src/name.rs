//! The rule for names, and what a name becomes as a variant.

/// Whether a text can name a column: `[a-z][a-z0-9_]{0,63}`, as `columnar::Name` has it.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 64
        && bytes.next().is_some_and(|first| first.is_ascii_lowercase())
        && bytes.all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The name as a variant of an enum: `running_summary` becomes `RunningSummary`.
pub(crate) fn camel(name: &str) -> String {
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
    }
}
