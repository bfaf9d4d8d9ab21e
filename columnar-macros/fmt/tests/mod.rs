//! Tests of the layout, which run rustfmt.

mod laws;
mod table;

use std::path::Path;

use crate::document::{self, Formatted, SourceText};
use crate::rustfmt::{Config, Snippets};

/// The settings of this repository.
fn snippets() -> Snippets {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Snippets::new(Config::of(root, "2024").unwrap())
}

/// Formats texts as the program does, with one process for all texts.
fn format_all(texts: &[(String, SourceText)], snippets: &mut Snippets) -> Vec<Formatted> {
    loop {
        let format = |(text, source): &(String, SourceText)| document::file(text, snippets, *source);
        let formatted = texts.iter().map(format).collect();
        if !snippets.format_missing() {
            return formatted;
        }
    }
}

fn format(text: &str) -> Formatted {
    format_all(&[(text.to_owned(), SourceText::File)], &mut snippets()).remove(0)
}
