//! What a misspelt word was meant to be.

use proc_macro2::Ident;

use crate::word::typed;

/// The word nearest to `word`, if one is near enough to be meant: a third of its letters may be off.
pub(crate) fn nearest<'w>(word: &str, words: impl Iterator<Item = &'w str>) -> Option<&'w str> {
    words
        .map(|known| (strsim::damerau_levenshtein(word, known), known))
        .filter(|(distance, known)| *distance <= known.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// The keyword that `word` was meant to be, or to become.
pub(crate) fn nearest_keyword(word: &Ident) -> Option<&'static str> {
    const KEYWORDS: [&str; 2] = ["source", "column"];
    let word = typed(word).to_lowercase();
    let begun = KEYWORDS.into_iter().find(|keyword| word.len() > 1 && keyword.starts_with(&word));
    begun.or_else(|| nearest(&word, KEYWORDS.into_iter()))
}

/// Whether `word` was meant to be `use`.
pub(crate) fn is_misspelt_use(word: &Ident) -> bool {
    nearest(&typed(word).to_lowercase(), ["use"].into_iter()).is_some()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_near_and_another_word_is_not() {
        let names = ["user", "topics", "summary"];
        assert_eq!(nearest("usr", names.into_iter()), Some("user"));
        assert_eq!(nearest("sumary", names.into_iter()), Some("summary"));
        assert_eq!(nearest("topcis", names.into_iter()), Some("topics"));
        assert_eq!(nearest("history", names.into_iter()), None);
    }
}
