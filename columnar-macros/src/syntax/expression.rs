//! Finds the end of the first expression in a list of tokens.
//!
//! `syn` finds it with all brackets empty, so a mistake inside one does not hide the end. Where the expression itself is
//! unfinished, rustc reports what is wrong.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::{Expr, LitStr};

use super::cursor::{is_ident, is_punct, tokens, trees_of};
use crate::ident::{self, ident_text};

/// The first expression, and what is after it.
pub(super) struct Expression<'t> {
    pub(super) tokens: &'t [TokenTree],
    pub(super) after: &'t [TokenTree],
    /// Whether it is a name alone, or brackets alone.
    pub(super) is_bare: bool,
}

/// The first expression. `None` if there is none, or if only rustc can say where it ends.
pub(super) fn first(trees: &[TokenTree]) -> Option<Expression<'_>> {
    let shape = shape(trees);
    // Tokens that are no part of an expression may begin with an operator, as in `-> String`.
    let mut shorter = (1..=trees.len()).rev().filter_map(|end| shape.get(..end));
    let (expression, length) = shorter.find_map(|shape| {
        let (expression, after) = with_rest::<Expr>.parse2(tokens(shape)).ok()?;
        Some((expression, shape.len().checked_sub(after.into_iter().count())?))
    })?;
    let (tokens, after) = trees.split_at_checked(length)?;
    let is_bare = matches!(
        expression,
        Expr::Array(_)
            | Expr::Block(_)
            | Expr::Group(_)
            | Expr::Lit(_)
            | Expr::Paren(_)
            | Expr::Path(_)
            | Expr::Tuple(_)
    );
    (!goes_on(after)).then_some(Expression { tokens, after, is_bare })
}

/// Takes a `T`, and all tokens after it.
pub(crate) fn with_rest<T: Parse>(input: ParseStream<'_>) -> syn::Result<(T, TokenStream)> {
    Ok((input.parse()?, input.parse()?))
}

/// The tokens without those in brackets, and without the marker of an editor, which may be in a keyword.
pub(super) fn shape(trees: &[TokenTree]) -> Vec<TokenTree> {
    trees.iter().map(emptied).collect()
}

fn emptied(tree: &TokenTree) -> TokenTree {
    let group = match tree {
        TokenTree::Group(group) => group,
        TokenTree::Ident(ident) => {
            return ident::unmarked(ident).map_or_else(|| tree.clone(), TokenTree::Ident);
        }
        TokenTree::Punct(_) | TokenTree::Literal(_) => return tree.clone(),
    };
    let inside = match group.delimiter() {
        Delimiter::None => return tree.clone(),
        // It makes no struct of the name before it.
        Delimiter::Brace if trees_of(group).first().is_some_and(is_string) => return tree.clone(),
        Delimiter::Parenthesis | Delimiter::Brace => quote!(),
        // An index, an array or the type of a slice.
        Delimiter::Bracket => quote!(x),
    };
    Group::new(group.delimiter(), inside).into()
}

pub(super) fn is_string(tree: &TokenTree) -> bool {
    syn::parse2::<LitStr>(tree.to_token_stream()).is_ok()
}

/// Whether an expression that is not finished goes on with these tokens: with an operator, or a method that is being typed.
fn goes_on(after: &[TokenTree]) -> bool {
    match after {
        [TokenTree::Punct(sign), ..] if is_punct(after.get(1), '>') => {
            !['-', '=', '|'].contains(&sign.as_char())
        }
        [TokenTree::Punct(sign), ..] => ![',', ':', ';'].contains(&sign.as_char()),
        [TokenTree::Ident(marker)] => ident_text(marker).is_empty(),
        [word, TokenTree::Ident(_)] => is_ident(word, "as"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// The tokens after the first expression; `None` if it is not known where that ends.
    fn after(text: &str) -> Option<String> {
        let trees: Vec<TokenTree> = text.parse::<TokenStream>().expect("tokens").into_iter().collect();
        first(&trees).map(|expression| tokens(expression.after).to_string().replace(' ', ""))
    }

    #[test]
    fn an_expression_ends_where_no_operator_follows() {
        for (text, end) in [
            ("prompt(a) retry(3)", "retry(3)"),
            ("prompt \"a\".retry(3)", "\"a\".retry(3)"),
            ("count::<2>(a)? was \"b\"", "was\"b\""),
            ("async |cx: Context<A, B>| cx.text(), retry(3)", ",retry(3)"),
            ("async move |a, b| -> Vec<u8> { a } -> b", "->b"),
            ("(cx) => a", "=>a"),
            ("<A as B>::c::<D>(e) f", "f"),
            ("vec![1, 2] [3] a!{} b", "a!{}b"),
            ("Step { a: 1 }.b() c", "c"),
            ("prompt { \"a\" }", "{\"a\"}"),
            ("if let A { b } = c { d } else if e { f } else { g } h", "h"),
            ("match a { b => c }.d[0] e", "e"),
            ("'a: loop { break } b", "b"),
            ("-a + !b && *c || &mut d e", "e"),
            ("a |> b", "|>b"),
            ("1.0.max(2.) 3", "3"),
        ] {
            assert_eq!(after(text).as_deref(), Some(end), "{text}");
        }
        for text in ["a as u8", "a..b", "return a", "f(a b)", "match a { b c }", "|a| { a. }"] {
            assert_eq!(after(text).as_deref(), Some(""), "{text}");
        }
        for text in ["a.", "a +", "a <- b", "", "|a", "|a| => b", "fn a() {}"] {
            assert_eq!(after(text), None, "{text}");
        }
    }

    /// Each value that is assigned in the source files of this repository, and each argument.
    #[test]
    fn a_valid_expression_is_never_cut() {
        let mut files = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for folder in ["columnar-macros", "examples"] {
            collect(&root.join(folder), &mut files);
        }
        let mut count = 0;
        for file in files {
            let Ok(source) = file.parse::<TokenStream>() else { continue };
            check(&source.into_iter().collect::<Vec<_>>(), &mut count);
        }
        assert!(count > 5_000, "{count}");
    }

    fn collect(folder: &Path, files: &mut Vec<String>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") {
                collect(&path, files);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.extend(fs::read_to_string(path));
            }
        }
    }

    fn check(trees: &[TokenTree], count: &mut usize) {
        for part in trees.split(|tree| [';', ','].iter().any(|&end| is_punct(tree, end))) {
            let equals = part.iter().position(|tree| is_punct(tree, '=')).map_or(0, |at| at + 1);
            for expression in [part, part.get(equals..).unwrap_or_default()] {
                if syn::parse2::<Expr>(tokens(expression)).is_ok() {
                    let is_whole = first(expression).is_some_and(|first| first.after.is_empty());
                    assert!(is_whole, "{}", tokens(expression));
                    *count += 1;
                }
            }
        }
        for tree in trees {
            if let TokenTree::Group(group) = tree {
                check(&trees_of(group), count);
            }
        }
    }
}
