//! The uses of names in tokens of Rust, without a parser of Rust.
//!
//! A name that a pattern binds may be a variable in all of the tokens, so it has no certain uses there.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};

use super::cursor::{is_ident, is_punct};
use crate::ident::ident_text;

/// The certain uses of these names.
pub(crate) fn uses(names: &[String], tokens: TokenStream) -> Vec<Ident> {
    let mut uses = Uses { names, found: Vec::new(), bound: Vec::new() };
    uses.collect(tokens);
    let Uses { found, bound, .. } = uses;
    found.into_iter().filter(|name| !bound.contains(&ident_text(name))).collect()
}

/// Everything that may be a use of these names.
pub(crate) fn mentions(names: &[String], tokens: TokenStream) -> Vec<Ident> {
    let mut uses = Uses { names, found: Vec::new(), bound: Vec::new() };
    uses.collect(tokens);
    uses.found
}

/// The names of these that patterns bind.
pub(crate) fn bound(names: &[String], tokens: TokenStream) -> Vec<String> {
    let mut uses = Uses { names, found: Vec::new(), bound: Vec::new() };
    uses.collect(tokens);
    uses.bound
}

/// The first text in a call of a macro that has one of these names in braces, as `format!("{style}")` has.
pub(crate) fn formatted(names: &[String], tokens: TokenStream) -> Option<Span> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    trees.iter().enumerate().find_map(|(at, tree)| {
        let TokenTree::Group(group) = tree else { return None };
        let is_call = at.checked_sub(1).is_some_and(|before| is_punct(trees.get(before), '!'));
        let mut texts = group.stream().into_iter().filter(|_| is_call);
        let text = texts.find_map(|tree| match tree {
            TokenTree::Literal(text) => has_name_in_braces(names, &text.to_string()).then(|| text.span()),
            _ => None,
        });
        text.or_else(|| formatted(names, group.stream()))
    })
}

fn has_name_in_braces(names: &[String], text: &str) -> bool {
    // `{{` is no brace, and neither is a brace in the text of it.
    let text = text.replace("{{", "");
    names
        .iter()
        .any(|name| [format!("{{{name}}}"), format!("{{{name}:")].iter().any(|part| text.contains(part)))
}

struct Uses<'n> {
    names: &'n [String],
    found: Vec<Ident>,
    bound: Vec<String>,
}

impl Uses<'_> {
    fn collect(&mut self, tokens: TokenStream) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        self.bind_patterns(&trees);
        for (at, tree) in trees.iter().enumerate() {
            match tree {
                TokenTree::Group(group) => self.collect(group.stream()),
                TokenTree::Ident(name) if self.names.contains(&ident_text(name)) => {
                    let before = |count| at.checked_sub(count).and_then(|before| trees.get(before));
                    let after = trees.get(at + 1);
                    // A field, a part of a path, a lifetime. A single `:` is before the value of a field.
                    let is_in_path = sign(before(1)) == Some(':') && sign(before(2)) == Some(':');
                    let is_range = sign(before(1)) == Some('.') && sign(before(2)) == Some('.');
                    let is_other = is_in_path
                        || !is_range && [Some('.'), Some('\'')].contains(&sign(before(1)))
                        || sign(after) == Some(':')
                        || sign(after) == Some('!') && !is_punct(trees.get(at + 2), '=');
                    if !is_other {
                        self.found.push(name.clone());
                    }
                }
                _ => {}
            }
        }
    }

    /// Binds the names in the patterns of closures, `let`, `for` and `match`.
    fn bind_patterns(&mut self, trees: &[TokenTree]) {
        for (at, tree) in trees.iter().enumerate() {
            let rest = trees.get(at + 1..).unwrap_or_default();
            let end = match tree {
                TokenTree::Ident(word) if word == "let" => {
                    rest.iter().position(|tree| [Some('='), Some(';')].contains(&sign(Some(tree))))
                }
                TokenTree::Ident(word) if word == "for" => {
                    rest.iter().position(|tree| is_ident(Some(tree), "in"))
                }
                // A `|` between two values is none of a closure, and then some uses are not certain.
                _ if is_punct(Some(tree), '|') => rest.iter().position(|tree| is_punct(Some(tree), '|')),
                _ if is_punct(Some(tree), '=') && is_punct(rest.first(), '>') => {
                    self.bind_arm(trees.get(..at).unwrap_or_default());
                    None
                }
                _ => None,
            };
            if let Some(pattern) = end.and_then(|end| rest.get(..end)) {
                self.bind(pattern);
            }
        }
    }

    /// Binds the names before a `=>`, up to the end of the arm before.
    fn bind_arm(&mut self, before: &[TokenTree]) {
        let is_end = |tree: &TokenTree| {
            let is_block = matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            is_block || is_punct(Some(tree), ',')
        };
        let begin = before.iter().rposition(is_end).map_or(0, |end| end + 1);
        self.bind(before.get(begin..).unwrap_or_default());
    }

    fn bind(&mut self, pattern: &[TokenTree]) {
        for tree in pattern {
            match tree {
                TokenTree::Group(group) => {
                    self.bind(&group.stream().into_iter().collect::<Vec<TokenTree>>());
                }
                TokenTree::Ident(name) if self.names.contains(&ident_text(name)) => {
                    self.bound.push(ident_text(name));
                }
                _ => {}
            }
        }
    }
}

fn sign(tree: Option<&TokenTree>) -> Option<char> {
    match tree {
        Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses_of_style(tokens: &str) -> usize {
        uses(&["style".to_owned()], tokens.parse().expect("tokens")).len()
    }

    #[test]
    fn a_use_is_no_field_and_no_part_of_a_path() {
        assert_eq!(uses_of_style("f(style) + style.len() + g(&style) + (style != 3)"), 4);
        assert_eq!(uses_of_style("S { a: style } + S { style } + (0..style) + (0..=style)"), 4);
        assert_eq!(
            uses_of_style("a.style + style::b + b::style + S { style: 3 } + style!(1) + f::<'style>()"),
            0
        );
    }

    #[test]
    fn a_name_may_be_in_a_format() {
        let name = |tokens: &str| formatted(&["style".to_owned()], tokens.parse().expect("tokens"));
        assert!(name(r#"async move { format!("{style}") }"#).is_some());
        assert!(name(r#"write!(text, "{style:>5} {0}", 3)"#).is_some());
        assert!(name(r#"format!("{{style}} {styles}"); prompt("{style}")"#).is_none());
    }

    #[test]
    fn a_name_that_a_pattern_binds_has_no_certain_uses() {
        for bound in [
            "|style| style",
            "|a, style: T| style",
            "{ let style = f(); style }",
            "{ if let Some(style) = f() { style } }",
            "{ for (style, _) in f() { style } }",
            "match f() { None => 1, Some(style) => style }",
        ] {
            assert_eq!(uses_of_style(bound), 0, "{bound}");
        }
        assert_eq!(uses_of_style("match style { Some(other) => other, None => style }"), 2);
    }
}
