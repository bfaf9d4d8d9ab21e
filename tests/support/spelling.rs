//! A naive implementation of spelled tags, which finds, escapes and restores them.

use regex_lite::{Captures, Regex};

/// Finds the spelled tags of a context in a text.
///
/// The rule is a pattern of ASCII: `(<|&(amp;)*lt;)\s*/?\s*(NAME)\b`, where only the name may be written in any case,
/// and is a tag of the context or `elided`.
#[derive(Clone, Debug)]
pub struct Spelling(Regex);

impl Spelling {
    /// The spellings of these tags.
    ///
    /// # Panics
    ///
    /// If a tag is no name.
    pub fn of<'t>(tags: impl IntoIterator<Item = &'t str>) -> Self {
        let names = tags.into_iter().chain(["elided"]).collect::<Vec<_>>().join("|");
        // `regex-lite` has no Unicode classes: `\s`, `\b` and `(?i)` mean ASCII, as the rule says.
        let pattern = format!(r"(?<mark><|&(?:amp;)*lt;)\s*/?\s*(?i:{names})\b");
        Self(Regex::new(&pattern).expect("names hold nothing that a pattern would read otherwise"))
    }

    /// The text with the first character of every spelling as an entity.
    pub fn escape(&self, text: &str) -> String {
        self.replace_marks(text, |mark| match mark {
            "<" => "&lt;".to_owned(),
            _ => mark.replacen('&', "&amp;", 1),
        })
    }

    /// The text with [`escape`](Self::escape) undone once.
    pub fn restore(&self, text: &str) -> String {
        self.replace_marks(text, |mark| match mark {
            "&lt;" => "<".to_owned(),
            _ => mark.replacen("amp;", "", 1),
        })
    }

    /// Whether the text has a spelled tag that is not escaped.
    pub fn is_raw_in(&self, text: &str) -> bool {
        self.0.captures_iter(text).any(|found| &found["mark"] == "<")
    }

    fn replace_marks(&self, text: &str, replaced: impl Fn(&str) -> String) -> String {
        let whole = |found: &Captures<'_>| {
            let (whole, mark) = (&found[0], &found["mark"]);
            whole.replacen(mark, &replaced(mark), 1)
        };
        self.0.replace_all(text, whole).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_is_escaped_as_often_as_it_was_shown() {
        let spelling = Spelling::of(["user"]);
        let forms = ["</user>", "&lt;/user>", "&amp;lt;/user>", "&amp;amp;lt;/user>"];
        for (once, twice) in forms.iter().zip(&forms[1..]) {
            assert_eq!(spelling.escape(once), *twice);
            assert_eq!(spelling.restore(twice), *once);
        }
        assert!(spelling.is_raw_in(forms[0]));
        assert!(!spelling.is_raw_in(forms[1]));
    }

    #[test]
    fn white_space_and_case_are_those_of_ascii() {
        let spelling = Spelling::of(["user"]);
        assert_eq!(spelling.escape("<\u{b}/\t\r\n\u{c} UsEr>"), "&lt;\u{b}/\t\r\n\u{c} UsEr>");
        for other in ["<u\u{17f}er>", "<\u{a0}user>", "<\u{85}user>", "&LT;user>", "<users>", "<user_>"] {
            assert_eq!(spelling.escape(other), other);
        }
        assert_eq!(spelling.escape("<user\u{e9}>"), "&lt;user\u{e9}>");
    }
}
