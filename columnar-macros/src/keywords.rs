//! The words of the language, and suggestions for misspelt ones.

use proc_macro2::Ident;

use crate::ident::{self, ident_text};

/// The modifiers of a view.
pub(crate) const MODIFIERS: [&str; 17] = [
    "latest",
    "window",
    "prev",
    "as",
    "note",
    "filter",
    "sample",
    "elided",
    "text_only",
    "context",
    "instruction",
    "compacted",
    "edits",
    "at_most",
    "tiered",
    "target",
    "thread",
];

/// The methods of the handle of a column that are no modifiers. rustc takes such a word after the column of another flow for
/// the method. A test of the workspace compares the list with the library.
pub(crate) const METHODS_OF_HANDLES: [&str; 25] = [
    "accept",
    "answer",
    "cache_plan",
    "cell",
    "decline",
    "documents",
    "exclude",
    "explain_cache",
    "get",
    "include",
    "is_empty",
    "iter",
    "last",
    "len",
    "messages",
    "name",
    "pending",
    "push",
    "push_all",
    "push_stream",
    "read",
    "receipt",
    "system",
    "value",
    "values",
];

/// The lints that `#[deny(...)]` and `#[allow(...)]` take.
pub(crate) const LINTS: [&str; 4] = ["unbounded", "unstable_prefix", "literal_braces", "unshared"];

/// The methods that set how any compute step runs.
const METHODS_OF_POLICIES: [&str; 12] = [
    "retry", "timeout", "limit", "rate", "every", "when", "or_skip", "or_wait", "budget", "repairs",
    "document", "version",
];

/// The methods that set what a prompt asks a model for.
const METHODS_OF_PROMPTS: [&str; 16] = [
    "model",
    "or_model",
    "effort",
    "temperature",
    "top_p",
    "seed",
    "cache_key",
    "lenient",
    "max_tokens",
    "stop",
    "strip_thoughts",
    "keep_thoughts",
    "allow_empty",
    "allow_truncated",
    "pace",
    "after",
];

/// Whether a word sets how a compute step runs.
pub(crate) fn is_setting(word: &Ident) -> bool {
    ident::is_one_of(word, &METHODS_OF_POLICIES) || is_setting_of_prompts(word)
}

/// Whether a word sets what a prompt asks a model for.
pub(crate) fn is_setting_of_prompts(word: &Ident) -> bool {
    ident::is_one_of(word, &METHODS_OF_PROMPTS)
}

/// The model that needs no provider.
pub(crate) const OFFLINE: &str = "offline";

/// The providers of models, as in the registry of the library. A test of the workspace compares both.
pub(crate) const PROVIDERS: [&str; 21] = [
    "aliyun",
    "anthropic",
    "cohere",
    "deepseek",
    "fireworks",
    "gemini",
    "groq",
    "kimi",
    "minimax",
    "mistral",
    "moonshot",
    "nebius",
    "ollama",
    "ollama_cloud",
    "open_router",
    "openai",
    "openai_resp",
    "qwen_cloud",
    "together",
    "xai",
    "zai",
];

/// Words for the condition of a compute step in other languages.
pub(crate) const CONDITIONS: [&str; 5] = ["if", "unless", "where", "while", "until"];

/// Whether this is the name of a type of the language.
pub(crate) fn is_primitive(name: &str) -> bool {
    const PRIMITIVES: [&str; 17] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char", "str",
    ];
    PRIMITIVES.contains(&name)
}

/// The candidate nearest to `text`, if at most a third of the letters differ.
pub(crate) fn nearest<'c>(text: &str, candidates: impl Iterator<Item = &'c str>) -> Option<&'c str> {
    candidates
        // Damerau counts two exchanged letters as one slip, so `topcis` is near to `topics`.
        .map(|known| (strsim::damerau_levenshtein(text, known), known))
        // `max`, because a third of a word of one or two letters would allow no slip.
        .filter(|(distance, known)| *distance <= known.chars().count().max(3) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// `source` or `column`, if `ident` is a misspelling or the beginning of either.
pub(crate) fn nearest_keyword(ident: &Ident) -> Option<&'static str> {
    const KEYWORDS: [&str; 2] = ["source", "column"];
    let text = ident_text(ident).to_lowercase();
    // Before `nearest`, which finds `col` too far from `column`.
    let completed = KEYWORDS.into_iter().find(|keyword| text.len() > 1 && keyword.starts_with(&text));
    completed.or_else(|| nearest(&text, KEYWORDS.into_iter()))
}

/// Whether `ident` is a misspelling of `use`.
pub(crate) fn is_misspelt_use(ident: &Ident) -> bool {
    nearest(&ident_text(ident).to_lowercase(), ["use"].into_iter()).is_some()
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
