//! The errors of a flow, which are collected, so that all of them are reported at once; and the messages that several files
//! report. Any other message stands in the file that reports it.
//!
//! A message is a headline in lower case, then a fix after `help:`. The headline is about the tokens that are
//! underlined; the help shows the tokens to write there.

use std::fmt::Display;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Error;
use syn::ext::IdentExt;

use crate::ident::{ident_text, nearest_name};
use crate::keywords::{MODIFIERS, nearest};

/// The most names of a flow that its unknown names are compared with. A comparison costs the product of two lengths, and
/// nobody reads a thousand suggestions.
const MOST_COMPARISONS: usize = 10_000;

/// The most names that a message lists.
const MOST_LISTED: usize = 8;

/// The errors so far. The expansion emits them last.
#[derive(Default)]
pub(crate) struct Errors {
    all: Vec<Error>,
    comparisons: usize,
}

impl Errors {
    /// Adds an error that underlines all tokens of `at`, unless rustc refuses a literal among them.
    pub(crate) fn at(&mut self, at: impl ToTokens, message: impl Display) {
        let at = at.into_token_stream();
        if !has_quoted_text(at.clone()) {
            self.all.push(Error::new_spanned(at, message));
        }
    }

    /// Adds an error about a token that ends the parser of a part.
    pub(crate) fn stop<T>(&mut self, at: impl ToTokens, message: impl Display) -> Option<T> {
        self.at(at, message);
        None
    }

    /// Adds an error at one span.
    pub(crate) fn on(&mut self, span: Span, message: impl Display) {
        self.all.push(Error::new(span, message));
    }

    /// The name that is nearest to `text`, as long as a flow has few mistakes.
    pub(crate) fn nearest<'n>(&mut self, text: &str, names: &'n [String]) -> Option<&'n str> {
        self.comparisons = self.comparisons.saturating_add(names.len());
        let may_compare = self.comparisons <= MOST_COMPARISONS;
        nearest(text, names.iter().filter(|_| may_compare).map(String::as_str))
    }

    pub(crate) fn push(&mut self, error: Error) {
        self.all.push(error);
    }

    /// The errors as invocations of `compile_error!`, in the order of the source text.
    pub(crate) fn tokens(&self) -> TokenStream {
        let mut errors: Vec<&Error> = self.all.iter().collect();
        // rustc prints them in the order of the expansion, and the checks find them in another one.
        errors.sort_by_key(|error| position(error.span()));
        errors.into_iter().map(Error::to_compile_error).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }
}

/// Whether a text is in single quotes, `'digest'`. rustc says so, and that strings have double ones.
fn has_quoted_text(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|tree| match tree {
        TokenTree::Group(group) => has_quoted_text(group.stream()),
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            let inside = text.strip_prefix('\'').and_then(|text| text.strip_suffix('\''));
            inside.is_some_and(|inside| !inside.starts_with('\\') && inside.chars().nth(1).is_some())
        }
        TokenTree::Ident(_) | TokenTree::Punct(_) => false,
    })
}

/// Line and column, where a compiler is there to ask.
fn position(span: Span) -> Option<(usize, usize)> {
    proc_macro::is_available().then(|| {
        let span = span.unwrap();
        (span.line(), span.column())
    })
}

/// The line of a span, where a compiler is there to ask.
pub(crate) fn line(span: Span) -> Option<usize> {
    position(span).map(|(line, _)| line)
}

/// A name in backticks, as messages have it.
pub(crate) fn quote(name: &Ident) -> String {
    format!("`{}`", ident_text(name))
}

/// Names in backticks, with commas between.
pub(crate) fn quoted<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    names.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The first of these names, and the number of the others.
pub(crate) fn listed(names: &[String]) -> String {
    let first = quoted(names.iter().take(MOST_LISTED).map(String::as_str));
    match names.len().saturating_sub(MOST_LISTED) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

// Messages.

pub(crate) const EMPTY_FLOW: &str = "this flow is empty\n\nhelp: begin with a source, as in `source user;`";

pub(crate) const SOURCE_FORM: &str = "as in `source user;` or `source files: Documents;`";

/// Tokens after a complete declaration of this form.
pub(crate) fn no_end(form: &str) -> String {
    format!("expected `;` before this\n\nhelp: {form}")
}

pub(crate) const NAME_RULE: &str =
    "use at most 64 lowercase letters, digits and `_`, beginning with a letter";

pub(crate) fn bad_name(name: &Ident) -> String {
    let help = nearest_name(&ident_text(name));
    let help = help.map_or_else(String::new, |better| format!("\n\nhelp: as in `{better}`"));
    format!("{} cannot name a column: {NAME_RULE}{help}", quote(name))
}

pub(crate) fn rust_keyword(name: &Ident) -> String {
    format!("`{name}` is a keyword of Rust\n\nhelp: write `r#{name}`; its tag stays `{name}`")
}

/// `self.context()`
pub(crate) const PURPOSE_OF_SELF: &str =
    "`self` is shown as assistant messages, so it has no purpose\n\nhelp: drop this";

/// `notes.context` or `user.text_only`
pub(crate) fn not_empty_parentheses(word: &Ident) -> String {
    format!("{}\n\nhelp: write `{}()`", not_parentheses(word), ident_text(word))
}

pub(crate) const TARGET_ALONE: &str =
    "only a tiered view has a target\n\nhelp: as in `files.tiered().target(1_536)`";

pub(crate) const COMPACTION_ALONE: &str =
    "only a compacted view has edits and a bound\n\nhelp: as in `files.compacted().edits().at_most(2.0)`";

pub(crate) fn bad_tag(tag: &str) -> String {
    let help = nearest_name(tag).map_or_else(String::new, |better| format!("\n\nhelp: as in `{better:?}`"));
    format!("{tag:?} cannot be a tag: {NAME_RULE}{help}")
}

pub(crate) fn no_view_named(modifier: &Ident) -> String {
    let help = match nearest(&ident_text(modifier), MODIFIERS.into_iter()) {
        Some("window") => "did you mean `window(n)`?".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "the views are `latest`, `window(n)` and `prev`, and after them, in any order, `filter(...)`, \
                 `sample(...)`, `elided()`, `text_only()`, `as(\"tag\")`, `note(\"...\")`, `context()` and \
                 `instruction()`"
                .to_owned()
        }
    };
    format!("no view is named `{modifier}`\n\nhelp: {help}")
}

pub(crate) fn not_parentheses(modifier: &Ident) -> String {
    format!("expected parentheses after {}", quote(modifier))
}

/// An example of the use of a module.
pub(crate) const EXAMPLE: &str = "as in `use Debate { topic: user } as debate;`";

/// `use Debate { topic: user, model: model.clone() } as debate;`
pub(crate) const INPUT_IS_VALUE: &str = "an input is a column, not a value\n\nhelp: arguments come before the inputs, \
     as in `use Debate(model) { topic: user } as debate;`";

pub(crate) const TYPE_OF_TEXT: &str = "a column without a type holds text\n\nhelp: drop this";

pub(crate) fn no_type(name: &Ident) -> String {
    format!("expected the type of {} after this\n\nhelp: as in `: Vec<String>`, or drop this", quote(name))
}

/// `prompt("...") was "feeling"`
pub(crate) fn late_was(name: &Ident, earlier: &str) -> String {
    format!("`was` comes before the `=`\n\nhelp: as in `column {}(...) was {earlier} = ...`", name.unraw())
}

#[cfg(test)]
mod tests {
    use proc_macro2::Span;

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
