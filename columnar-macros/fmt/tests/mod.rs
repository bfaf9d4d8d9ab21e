//! Tests of the layout, which run rustfmt.

mod laws;
mod table;

use std::path::Path;

use crate::document::{self, Formatted, Source};
use crate::rustfmt::{Config, Snippets};

/// The settings of this repository.
fn snippets() -> Snippets {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    Snippets::new(Config::of(root, "2024").unwrap())
}

/// Formats a text as the program does.
fn format(text: &str, source: Source, snippets: &mut Snippets) -> Formatted {
    loop {
        let formatted = document::file(text, snippets, source);
        if !snippets.format_missing() {
            return formatted;
        }
    }
}
