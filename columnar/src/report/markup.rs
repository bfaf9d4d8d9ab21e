//! Text of users and models as markup.

use std::fmt::Display;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, Render, html};
use sha2::{Digest as _, Sha256};

use crate::declare::error::Printable;
use crate::model::usage::{Dollars, grouped};

/// The characters of a text in a table.
const EXCERPT: usize = 120;

/// The beginning of a text on one line. Characters that nobody sees, or that turn a line around, are escapes.
pub(super) fn excerpt(text: &str) -> Markup {
    let mut chars = text.trim().chars();
    let begin: String =
        chars.by_ref().take(EXCERPT).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    let more = if chars.next().is_some() { "…" } else { "" };
    html! { @if begin.is_empty() { "(empty)" } @else { (line(begin)) (more) } }
}

/// A short text of a provider or of an error, in full.
pub(super) fn line(text: impl Display) -> Markup {
    html! { bdi { (maud::display(Printable(text))) } }
}

/// A text exactly as it is, with its line breaks.
pub(super) fn block(text: &str) -> Markup {
    // A parser drops the first line break of the element.
    html! { pre dir="auto" { "\n" (ExactText(text)) } }
}

struct ExactText<'t>(&'t str);

impl Render for ExactText<'_> {
    fn render_to(&self, buffer: &mut String) {
        // A parser makes a line feed of a carriage return, and HTML has no way to write the character 0.
        for text in self.0.split_inclusive(['\r', '\0']) {
            let plain = text.trim_end_matches(['\r', '\0']);
            plain.render_to(buffer);
            buffer.push_str(match text.strip_prefix(plain) {
                Some("\r") => "&#13;",
                Some("\0") => "\\u{0}",
                _ => "",
            });
        }
    }
}

/// A table that scrolls by itself where the page is narrow.
pub(super) fn table(name: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<Markup>>) -> Markup {
    html! {
        div.scroll role="region" tabindex="0" aria-label=(name) {
            table {
                caption { (name) }
                thead { tr { @for head in head { th scope="col" { (head) } } } }
                tbody { @for row in rows { (cells(row)) } }
            }
        }
    }
}

/// The row of a table, whose first cell is the head.
fn cells(row: Vec<Markup>) -> Markup {
    html! {
        tr {
            @for (at, cell) in row.into_iter().enumerate() {
                @if at == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
            }
        }
    }
}

/// Text of the library as the cell of a table.
pub(super) fn plain(text: impl Display) -> Markup {
    html! { (maud::display(text)) }
}

pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// An amount of dollars as a number.
pub(super) fn number(amount: Dollars) -> f64 {
    format!("{amount:.12}").trim_start_matches('$').parse().unwrap_or_default()
}

/// The head of a page, which forbids itself all but this script, the style sheet, and these sources.
pub(super) fn head(title: &str, script: PreEscaped<&str>, sources: &str) -> Markup {
    let [script, style] = [script, STYLE].map(|text| STANDARD.encode(Sha256::digest(text.0)));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}'; {sources}; \
         base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    );
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width";
            meta http-equiv="Content-Security-Policy" content=(policy);
            title { (title) }
            style { (STYLE) }
        }
    }
}

/// The style sheet, which the page allows by its hash.
const STYLE: PreEscaped<&str> = PreEscaped(include_str!("page.css"));

/// The script, which the page allows by its hash.
pub(super) const SCRIPT: PreEscaped<&str> = PreEscaped(include_str!("page.js"));
