//! What the attributes of an element say.

use std::collections::BTreeMap;

use html5gum::{HtmlString, Spanned};

pub(super) type TagAttributes = BTreeMap<HtmlString, Spanned<HtmlString, ()>>;

pub(super) fn attribute(attributes: &TagAttributes, name: &str) -> Option<String> {
    let value = attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Whether the attributes hide the element from everybody.
pub(super) fn hides(attributes: &TagAttributes) -> bool {
    if attributes.is_empty() {
        return false;
    }
    let style = attribute(attributes, "style").unwrap_or_default().to_ascii_lowercase();
    let style = style.replace(char::is_whitespace, "");
    attribute(attributes, "hidden").is_some_and(|value| value != "until-found")
        || attribute(attributes, "aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

/// The language of code: `language-rust`, `lang-rust`, `highlight-source-rust`.
pub(super) fn language(attributes: &TagAttributes) -> Option<String> {
    let class = attribute(attributes, "class")?;
    let prefixes = ["language-", "lang-", "highlight-source-"];
    let words = class.split_ascii_whitespace();
    words
        .flat_map(|word| prefixes.iter().filter_map(|prefix| word.strip_prefix(prefix)))
        .next()
        .map(str::to_owned)
}
