//! The readable text of HTML, as Markdown.
//!
//! ```text
//! HTML ──▶ tokens ──▶ pieces ──▶ the part of the page with its content ──▶ Markdown
//! ```
//!
//! No tree is made: trees of HTML take quadratic time or overflow the stack when a hundred thousand elements are in each
//! other. All that is done here takes time and memory in proportion to the page.

mod elements;
mod extract;
mod markdown;
mod pieces;
mod tables;

use reqwest::Url;

/// The text of a page of HTML.
#[derive(Debug)]
pub(super) struct Html {
    pub(super) title: String,
    pub(super) text: String,
}

/// Reads HTML in any state, and writes a bit more than this number of bytes if there are more.
pub(super) fn read(html: &str, url: &Url, most: usize) -> Html {
    let extract::Extract { title, pieces } = extract::extract(html, url);
    Html { title, text: markdown::write(&pieces, most) }
}

#[cfg(test)]
mod tests;
