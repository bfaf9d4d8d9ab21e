//! Finds the end of the first expression in a list of tokens.
//!
//! It knows the shape of expressions, and of types, patterns and blocks only where they end. `syn` knows more with its
//! feature `full`, which every program with a flow would have to compile. Where it is not certain, it says so, and rustc
//! reports what is wrong.

use proc_macro2::{Delimiter, Group, Ident, Spacing, TokenTree};
use quote::ToTokens;

use super::cursor::{Angles, Cursor, is_group, is_ident, is_punct, trees_of, ungrouped};
use crate::ident::{self, ident_text, without_marker};

/// Keywords that begin a statement, an item or a part of an expression, where only rustc says what is wrong.
const OTHERS: [&str; 22] = [
    "return", "break", "continue", "yield", "become", "let", "as", "in", "else", "where", "fn", "struct",
    "enum", "impl", "trait", "type", "use", "mod", "pub", "extern", "ref", "_",
];

const OPERATORS: [&str; 29] = [
    "<<=", ">>=", "&&", "||", "<<", ">>", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "^=", "&=",
    "|=", "+", "-", "*", "/", "%", "^", "&", "|", "<", ">", "=",
];

/// Two characters that are no operator of an expression, though the first one alone is.
const NO_OPERATORS: [&str; 3] = ["->", "=>", "|>"];

/// The first expression, and what is after it.
pub(super) struct Expression<'t> {
    pub(super) tokens: &'t [TokenTree],
    pub(super) after: &'t [TokenTree],
    /// Whether it is a name alone, or parentheses alone.
    pub(super) is_bare: bool,
    /// Whether it is a closure without a body, before an `=>`.
    pub(super) is_closure_without_body: bool,
}

/// The first expression. `None` if there is none, or if only rustc can say where it ends.
pub(super) fn first(trees: &[TokenTree]) -> Option<Expression<'_>> {
    let mut parser = Parser { cursor: Cursor::new(trees), is_bare: true, is_closure_without_body: false };
    loop {
        let is_path = parser.operand()?;
        parser.calls(is_path)?;
        if !parser.operator()? {
            break;
        }
    }
    let Parser { cursor, is_bare, is_closure_without_body } = parser;
    let after = cursor.rest();
    let tokens = trees.get(..trees.len() - after.len()).unwrap_or_default();
    Some(Expression { tokens, after, is_bare, is_closure_without_body })
}

/// The part of an expression that an identifier begins.
enum Word {
    /// A keyword before an operand.
    Prefix,
    Path,
    /// Blocks, or a macro.
    Block,
}

/// Keywords of expressions with a block.
const BLOCKS: [&str; 7] = ["async", "const", "if", "loop", "match", "unsafe", "while"];

struct Parser<'t> {
    cursor: Cursor<'t>,
    is_bare: bool,
    is_closure_without_body: bool,
}

impl Parser<'_> {
    /// Takes an operand with the operators before it. Returns whether it is a path.
    fn operand(&mut self) -> Option<bool> {
        loop {
            match self.cursor.peek()? {
                TokenTree::Punct(punct) => match punct.as_char() {
                    '&' | '*' | '-' | '!' => drop(self.cursor.next()),
                    '|' if self.closure()? => return Some(false),
                    '|' => {}
                    '#' => drop(self.cursor.attribute()?),
                    '<' => {
                        self.angles();
                        self.path_separator()?;
                        return Some(self.path());
                    }
                    ':' => self.path_separator()?,
                    '\'' => self.label()?,
                    _ => return None,
                },
                TokenTree::Literal(_) | TokenTree::Group(_) => {
                    self.cursor.next();
                    return Some(false);
                }
                TokenTree::Ident(ident) => match self.word(ident)? {
                    Word::Prefix => {}
                    Word::Path => return Some(true),
                    Word::Block => return Some(false),
                },
            }
        }
    }

    /// Takes what begins with an identifier: a path, or a keyword.
    fn word(&mut self, ident: &Ident) -> Option<Word> {
        let next = self.cursor.rest().get(1);
        let is_before = |words| matches!(next, Some(TokenTree::Ident(next)) if ident::is_one_of(next, words));
        let has_braces = || next.is_some_and(|tree| is_group(&ungrouped(tree), Delimiter::Brace));
        let is_closure = || is_punct(next, '|') || is_before(&["move", "async", "static"]);
        // A raw identifier is no keyword.
        let word = without_marker(ident.to_string());
        let is_prefix = match &*word {
            "" => return None,
            other if OTHERS.contains(&other) => return None,
            "if" | "while" | "match" | "for" => {
                self.is_bare = false;
                self.conditional(ident)?;
                return Some(Word::Block);
            }
            "mut" => true,
            "raw" => is_before(&["const", "mut"]),
            "const" => is_closure() || has_braces() || is_before(&["mut"]),
            "move" | "static" | "async" | "gen" => is_closure() || has_braces(),
            "unsafe" | "try" | "loop" => has_braces(),
            _ => false,
        };
        // Also that of `&raw const value`.
        if is_prefix || word == "const" {
            self.is_bare &= !is_prefix;
            self.cursor.next();
            return Some(Word::Prefix);
        }
        Some(if self.path() { Word::Path } else { Word::Block })
    }

    /// Takes `if`, `while`, `match` or `for`, with all of its blocks.
    fn conditional(&mut self, keyword: &Ident) -> Option<()> {
        self.cursor.next();
        if ident::is(keyword, "for") {
            while !is_ident(Some(self.cursor.next()?), "in") {}
        }
        loop {
            self.block_of_conditional()?;
            if !ident::is(keyword, "if") || !is_ident(self.cursor.peek(), "else") {
                return Some(());
            }
            self.cursor.next();
            if !is_ident(self.cursor.peek(), "if") {
                return self.cursor.next().map(drop);
            }
            self.cursor.next();
        }
    }

    /// Takes a condition and the block after it.
    fn block_of_conditional(&mut self) -> Option<()> {
        // A pattern may have braces; it ends at the `=`. So may the condition, as in `if unsafe { f() } {`.
        let (mut in_pattern, mut inner_blocks, mut may_begin) = (false, 0_usize, true);
        let mut before: Option<&TokenTree> = None;
        loop {
            let tree = self.cursor.next()?;
            match tree {
                TokenTree::Ident(word) if ident::is(word, "let") => in_pattern = true,
                TokenTree::Ident(word) if ident::is_one_of(word, &BLOCKS) => inner_blocks += 1,
                TokenTree::Punct(equals) if equals.as_char() == '=' && !is_punct(self.cursor.peek(), '=') => {
                    in_pattern = false;
                }
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !in_pattern => {
                    let is_operand = may_begin || is_punct(before, '!') || is_ident(before, "else");
                    let is_block = !is_operand && inner_blocks == 0;
                    let has_more = self.cursor.peek().is_some_and(|next| {
                        is_group(next, Delimiter::Brace)
                            || is_punct(Some(next), '.')
                            || is_punct(Some(next), '?')
                    });
                    if is_block || may_begin && !has_more {
                        return Some(());
                    }
                    inner_blocks = inner_blocks.saturating_sub(usize::from(!is_operand));
                }
                _ => {}
            }
            may_begin = false;
            before = Some(tree);
        }
    }

    /// Takes the head of a closure. `true` if its body is taken as well, or missing.
    fn closure(&mut self) -> Option<bool> {
        self.is_bare = false;
        self.cursor.next();
        let mut angles = Angles::default();
        loop {
            let tree = self.cursor.next()?;
            if angles.open == 0 && is_punct(Some(tree), '|') {
                break;
            }
            angles.pass(tree);
        }
        match self.cursor.rest() {
            [equals, more, ..] if is_punct(Some(equals), '=') && is_punct(Some(more), '>') => {
                self.is_closure_without_body = true;
                Some(true)
            }
            [minus, more, ..] if is_punct(Some(minus), '-') && is_punct(Some(more), '>') => {
                // The block after a type.
                let mut angles = Angles::default();
                loop {
                    let tree = self.cursor.next()?;
                    if angles.open == 0 && is_group(&ungrouped(tree), Delimiter::Brace) {
                        return Some(true);
                    }
                    angles.pass(tree);
                }
            }
            _ => Some(false),
        }
    }

    /// Takes `'label:`.
    fn label(&mut self) -> Option<()> {
        match self.cursor.rest() {
            [_, TokenTree::Ident(_), colon, ..] if is_punct(Some(colon), ':') => {
                self.cursor.take(3);
                Some(())
            }
            _ => None,
        }
    }

    fn path_separator(&mut self) -> Option<()> {
        match self.cursor.rest() {
            [colon, more, ..] if is_punct(Some(colon), ':') && is_punct(Some(more), ':') => {
                self.cursor.take(2);
                Some(())
            }
            _ => None,
        }
    }

    /// Takes everything up to the `>` of the `<` that comes next.
    fn angles(&mut self) {
        let mut angles = Angles::default();
        while let Some(tree) = self.cursor.next() {
            angles.pass(tree);
            if angles.open == 0 {
                break;
            }
        }
    }

    /// Takes a path, or the invocation of a macro. Returns whether it is a path.
    fn path(&mut self) -> bool {
        while let Some(TokenTree::Ident(_)) = self.cursor.peek() {
            self.cursor.next();
            if self.path_separator().is_none() {
                break;
            }
            if is_punct(self.cursor.peek(), '<') {
                self.angles();
                if self.path_separator().is_none() {
                    break;
                }
            }
        }
        match self.cursor.rest() {
            [bang, TokenTree::Group(_), ..] if is_punct(Some(bang), '!') => {
                self.is_bare = false;
                self.cursor.take(2);
                false
            }
            _ => true,
        }
    }

    /// Takes calls, fields and the braces of a struct.
    fn calls(&mut self, mut is_path: bool) -> Option<()> {
        loop {
            match self.cursor.rest() {
                [dot, next, ..] if is_punct(Some(dot), '.') => {
                    if !matches!(next, TokenTree::Ident(_) | TokenTree::Literal(_)) {
                        return None;
                    }
                    self.cursor.take(2);
                    if self.path_separator().is_some() {
                        self.angles();
                    }
                }
                [dot] if is_punct(Some(dot), '.') => return None,
                [question, ..] if is_punct(Some(question), '?') => drop(self.cursor.next()),
                [TokenTree::Group(group), ..] if is_call(group) || is_path && is_struct(group) => {
                    self.cursor.next();
                }
                _ => return Some(()),
            }
            self.is_bare = false;
            is_path = false;
        }
    }

    /// Takes the operator before another operand. `false` if there is none.
    fn operator(&mut self) -> Option<bool> {
        let mut text = String::new();
        for tree in self.cursor.rest().iter().take(3) {
            let TokenTree::Punct(punct) = tree else { break };
            text.push(punct.as_char());
            if punct.spacing() == Spacing::Alone {
                break;
            }
        }
        match self.cursor.rest() {
            // A cast, or a range: rustc knows where they end.
            [TokenTree::Ident(ident), next, ..]
                if ident::is(ident, "as") && !matches!(next, TokenTree::Literal(_)) =>
            {
                return None;
            }
            [TokenTree::Ident(marker)] if ident_text(marker).is_empty() => return None,
            _ if text.starts_with("..") => return None,
            _ => {}
        }
        if NO_OPERATORS.iter().any(|other| text.starts_with(other)) {
            return Some(false);
        }
        let operator = OPERATORS.iter().find(|operator| text.starts_with(*operator));
        self.is_bare &= operator.is_none();
        Some(operator.is_some_and(|operator| !self.cursor.take(operator.len()).is_empty()))
    }
}

fn is_call(group: &Group) -> bool {
    matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Bracket)
}

/// Whether braces after a path may be those of a struct, and not a text in braces.
fn is_struct(group: &Group) -> bool {
    group.delimiter() == Delimiter::Brace
        && !matches!(trees_of(group).first(), Some(TokenTree::Literal(literal))
            if syn::parse2::<syn::LitStr>(literal.to_token_stream()).is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use proc_macro2::TokenStream;

    use super::super::cursor::tokens;
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
            ("|cx| => a", "=>a"),
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
            ("a <- b", ""),
            ("1.0.max(2.) 3", "3"),
        ] {
            assert_eq!(after(text).as_deref(), Some(end), "{text}");
        }
        for text in ["a.", "a +", "a as u8", "a..b", "return a", "", "|a", "fn a() {}"] {
            assert_eq!(after(text), None, "{text}");
        }
    }

    /// Each value that is assigned in the source files of this repository, and each argument.
    #[test]
    fn a_valid_expression_is_never_cut() {
        let mut files = Vec::new();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for folder in ["columnar", "columnar-macros", "examples", "tests"] {
            collect(&root.join(folder), &mut files);
        }
        let (mut count, mut known) = (0, 0);
        for file in files {
            let Ok(source) = file.parse::<TokenStream>() else { continue };
            check(&source.into_iter().collect::<Vec<_>>(), &mut count, &mut known);
        }
        assert!(count > 10_000 && known * 10 > count * 9, "{known} of {count}");
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

    fn check(trees: &[TokenTree], count: &mut usize, known: &mut usize) {
        for part in trees.split(|tree| [';', ','].iter().any(|&end| is_punct(Some(tree), end))) {
            let equals = part.iter().position(|tree| is_punct(Some(tree), '=')).map_or(0, |at| at + 1);
            for expression in [part, part.get(equals..).unwrap_or_default()] {
                if syn::parse2::<syn::Expr>(tokens(expression)).is_ok() {
                    let first = first(expression);
                    let is_cut = first.as_ref().is_some_and(|first| !first.after.is_empty());
                    assert!(!is_cut, "{}", tokens(expression));
                    *count += 1;
                    *known += usize::from(first.is_some());
                }
            }
        }
        for tree in trees {
            if let TokenTree::Group(group) = tree {
                check(&trees_of(group), count, known);
            }
        }
    }
}
