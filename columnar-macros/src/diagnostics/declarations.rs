//! Errors in the form of declarations: keywords, names, attributes, and Rust where no Rust can be.

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

use super::errors::{line, quote};
use crate::ident::{ident_text, nearest_name};
use crate::keywords::{LINTS, nearest, nearest_keyword};

pub(crate) const NO_SEMICOLON: &str = "expected `;` after this";

pub(crate) const COMMA: &str = "declarations end with `;`";

pub(crate) const SOURCE_FORM: &str = "as in `source user;` or `source files: Documents;`";

const COLUMN_FORM: &str = "as in `column topics(user.latest) = prompt(\"...\");`";

/// Tokens after a complete declaration of this form.
pub(crate) fn no_end(form: &str) -> String {
    format!("expected `;` before this\n\nhelp: {form}")
}

const NOT_A_DECLARATION: &str = "expected `source`, `column` or `use`";

pub(crate) const BRACES: &str = "a flow without a header has no inner braces\n\nhelp: drop them";

pub(crate) const FLOW_INSIDE: &str =
    "a flow contains only declarations\n\nhelp: put the other `flow!` before this one";

/// `let`, `impl` or another keyword of Rust where a declaration should be.
pub(crate) fn rust_item(found: &str) -> String {
    let help = match found {
        "if" | "for" | "while" | "loop" | "match" => {
            "to declare columns at run time, call the functions `source`, `column` and `flow`".to_owned()
        }
        _ => format!("put `{found}` before `flow!`; compute steps can use it"),
    };
    format!("a flow contains only declarations\n\nhelp: {help}")
}

/// `fn topics(...) { ... }` where a column should be.
pub(crate) fn function(name: &Ident) -> String {
    let text = name.unraw();
    format!("a flow contains columns, not functions\n\nhelp: as in `column {text}(user.latest) = ...;`")
}

/// `mut`, `async` or another modifier before a declaration or a name.
pub(crate) fn modifier(found: &Ident) -> String {
    format!("a declaration takes no `{found}`\n\nhelp: drop it")
}

pub(crate) const DANGLING_DOC: &str = "no declaration follows this doc comment";

pub(crate) const DANGLING_LINT: &str = "no declaration follows this attribute\n\nhelp: put it before a column; before `pub struct`, it is about all columns";

pub(crate) const INNER_DOC: &str = "a doc comment comes before its declaration\n\nhelp: write `///` there";

/// `#![deny(unbounded)]`, where `meta` is `deny(unbounded)`.
pub(crate) fn inner_attribute(meta: &str) -> String {
    format!(
        "an attribute comes before its declaration, without `!`\n\nhelp: write `#[{meta}]`; an attribute before \
         `pub struct` is about the whole flow"
    )
}

pub(crate) const ATTRIBUTE: &str = "a column has no attributes except doc comments and `#[deny(...)]`";

const LINT_MEANINGS: &str = "`unbounded` is a context that grows with every step, `unstable_prefix` a request that shares only its \
                       instruction with the next one";

pub(crate) const EMPTY_LINTS: &str = "expected a lint in `#[deny(...)]`\n\nhelp: write `#[deny(unbounded)]`, `#[deny(unstable_prefix)]` or both";

pub(crate) const LINTED_SOURCE: &str = "a source reads nothing, so no lint applies to it";

pub(crate) fn unknown_lint(name: &Ident) -> String {
    let help = match nearest(&name.to_string(), LINTS.into_iter()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => LINT_MEANINGS.to_owned(),
    };
    format!("no lint is named `{name}`\n\nhelp: {help}")
}

pub(crate) const CFG: &str = "a column cannot depend on `cfg`: the graph must be the same in every build";

pub(crate) const PUB: &str = "the columns of a flow are as public as the flow\n\nhelp: drop `pub`";

const KEYWORDS: &str =
    "a `source` gets its values from your program, a `column` computes them, `use` adds a module";

/// `3 topics;`
pub(crate) fn not_a_declaration() -> String {
    format!("{NOT_A_DECLARATION}\n\nhelp: {KEYWORDS}")
}

/// `colum topics(...)`: an identifier where a keyword should be.
pub(crate) fn unknown_keyword(found: &Ident) -> String {
    let is_of_rust = ["fn", "let", "const", "static", "type"].iter().any(|&word| found == word);
    let intended = nearest_keyword(found).or(is_of_rust.then_some("column"));
    let help = intended.map_or_else(|| KEYWORDS.to_owned(), |keyword| format!("did you mean `{keyword}`?"));
    format!("{NOT_A_DECLARATION}, found {}\n\nhelp: {help}", quote(found))
}

/// `us Debate { ... }`: an identifier where `use` should be.
pub(crate) fn misspelt_use(found: &Ident) -> String {
    format!("{NOT_A_DECLARATION}, found {}\n\nhelp: did you mean `use`?", quote(found))
}

/// `topics(...) = ...;`: a name without a keyword.
pub(crate) fn no_keyword(name: &Ident, keyword: &str) -> String {
    format!("{NOT_A_DECLARATION}, found {}\n\nhelp: write `{keyword} {}`", quote(name), ident_text(name))
}

pub(crate) fn no_name(keyword: &Ident) -> String {
    format!(
        "expected a name after `{keyword}`\n\nhelp: {}",
        if keyword == "source" { SOURCE_FORM } else { COLUMN_FORM }
    )
}

// Names.

pub(super) const NAME_RULE: &str =
    "use at most 64 lowercase letters, digits and `_`, beginning with a letter";

pub(crate) const NAMED_SELF: &str =
    "a column cannot be named `self`: as a view, `self` is the history of the column itself";

pub(crate) fn bad_name(name: &Ident) -> String {
    let help = nearest_name(&ident_text(name));
    let help = help.map_or_else(String::new, |better| format!("\n\nhelp: as in `{better}`"));
    format!("{} cannot name a column: {NAME_RULE}{help}", quote(name))
}

pub(crate) fn rust_keyword(name: &Ident) -> String {
    format!("`{name}` is a keyword of Rust\n\nhelp: write `r#{name}`; its tag stays `{name}`")
}

pub(crate) fn declared_twice(name: &Ident, first: Span) -> String {
    let at = line(first).map_or_else(String::new, |line| format!("\n\nfirst declared at line {line}"));
    format!("{} is declared twice{at}", quote(name))
}

#[cfg(test)]
mod tests {
    use super::super::views::bad_tag;
    use super::*;

    fn ident(text: &str) -> Ident {
        Ident::new(text, Span::call_site())
    }

    #[test]
    fn a_bad_name_gets_a_better_one_if_there_is_one() {
        assert!(bad_name(&ident("RunningSummary")).ends_with("help: as in `running_summary`"));
        assert!(!bad_name(&ident("__")).contains("help"));
        assert!(bad_tag("my tag").ends_with("help: as in `\"my_tag\"`"));
    }
}
