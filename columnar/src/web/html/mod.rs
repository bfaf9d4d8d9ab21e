//! The readable text of HTML, as Markdown.
//!
//! ```text
//! HTML ──▶ tokens ──▶ balanced HTML within limits ──▶ a tree ──▶ the part of the page with its content ──▶ Markdown
//! ```

mod attributes;
mod balanced;
mod content;
mod elements;

use content::Html;
use reqwest::Url;

/// Reads HTML in any state.
pub(super) fn read(html: &str, url: &Url) -> Html {
    content::content(balanced::balanced(html, url))
}

#[cfg(test)]
mod tests;
