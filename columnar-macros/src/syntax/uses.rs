//! The uses of names in tokens of Rust, without a parser of Rust.
//!
//! A pattern that binds a name hides it: in the rest of the block after a `let`, in the body of a closure, an arm or a loop.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::cursor::{is_group, is_ident, is_punct, trees, trees_of, ungrouped};
use crate::ident::{self, ident_text, is_variable};

/// A use of a name: as an identifier, or in the text of a macro as in `format!("{style}")`.
pub(crate) struct Use {
    pub(crate) name: String,
    pub(crate) ident: Option<Ident>,
    pub(crate) at: Span,
}

/// The uses of these names that mean a variable outside of the tokens.
pub(crate) fn uses(names: &[String], tokens: &TokenStream) -> Vec<Use> {
    let mut walk = Walk { names, found: Vec::new(), hidden: Vec::new() };
    walk.level(&trees(tokens), Context::Code);
    walk.found
}

/// The names of these that the statements bind for those after them.
pub(crate) fn bound(names: &[String], statements: &TokenStream) -> Vec<String> {
    let mut walk = Walk { names, found: Vec::new(), hidden: Vec::new() };
    walk.parts(&trees(statements), Context::Code);
    walk.hidden
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Code,
    /// Between the braces of a struct or a block, where `style: 3` sets a field.
    Braces,
    /// Directly between the delimiters of a macro, where `style = 3` names an argument.
    Macro,
    /// Further inside a macro.
    InMacro,
}

struct Walk<'n> {
    names: &'n [String],
    found: Vec<Use>,
    /// The names that mean another variable here.
    hidden: Vec<String>,
}

impl Walk<'_> {
    /// The tokens between delimiters. The names that they bind end with them.
    fn level(&mut self, trees: &[TokenTree], context: Context) {
        self.scoped(|walk| walk.parts(trees, context));
    }

    fn scoped(&mut self, walk: impl FnOnce(&mut Self)) {
        let outer = self.hidden.len();
        walk(self);
        self.hidden.truncate(outer);
    }

    fn parts(&mut self, trees: &[TokenTree], context: Context) {
        let mut at = 0;
        while at < trees.len() {
            at += self.part(trees, at, context).max(1);
        }
    }

    /// One part of a level, which begins at `at`. Returns the number of its tokens.
    fn part(&mut self, trees: &[TokenTree], at: usize, context: Context) -> usize {
        let rest = trees.get(at..).unwrap_or_default();
        let before = at.checked_sub(1).and_then(|before| trees.get(before));
        match rest {
            [TokenTree::Ident(word), TokenTree::Ident(_), ..] if word == "fn" => function(rest),
            [TokenTree::Ident(word), ..] if word == "let" => {
                let is_condition = before.is_some_and(|before| {
                    is_ident(Some(before), "if")
                        || is_ident(Some(before), "while")
                        || is_punct(Some(before), '&')
                });
                if is_condition { self.condition(rest, context) } else { self.binding(rest, context) }
            }
            [TokenTree::Ident(word), after, ..] if word == "for" && !is_punct(Some(after), '<') => {
                self.loop_over(rest, context)
            }
            [TokenTree::Punct(bar), ..] if bar.as_char() == '|' && begins_operand(before) => {
                self.closure(rest, context)
            }
            // `a || b`
            [bar, second, ..] if [bar, second].iter().all(|tree| is_punct(Some(tree), '|')) => 2,
            [TokenTree::Ident(name), ..] => {
                self.name(name, trees, at, context);
                1
            }
            [TokenTree::Group(group), ..] => {
                self.group(group, trees, at, context);
                1
            }
            _ => 1,
        }
    }

    fn group(&mut self, group: &Group, trees: &[TokenTree], at: usize, context: Context) {
        let inside = trees_of(group);
        let is_macro = at.checked_sub(2).is_some_and(|name| {
            matches!(trees.get(name), Some(TokenTree::Ident(_))) && is_punct(trees.get(name + 1), '!')
        });
        let is_in_macro = matches!(context, Context::Macro | Context::InMacro);
        match group.delimiter() {
            // A token of a macro of the user.
            Delimiter::None => self.level(&inside, context),
            _ if is_macro => self.macro_call(&inside),
            _ if is_in_macro => self.level(&inside, Context::InMacro),
            Delimiter::Brace if position_of_arrow(&inside).is_some() => self.arms(&inside),
            Delimiter::Brace => self.level(&inside, Context::Braces),
            _ => self.level(&inside, Context::Code),
        }
    }

    /// The arguments of a macro: texts that may be formats, and expressions.
    fn macro_call(&mut self, arguments: &[TokenTree]) {
        let is_own = |at: usize| is_punct(arguments.get(at + 1), '=') && is_argument(arguments, at);
        let own = arguments.iter().enumerate().filter_map(|(at, tree)| match tree {
            TokenTree::Ident(name) if is_own(at) => Some(ident_text(name)),
            _ => None,
        });
        let own: Vec<String> = own.collect();
        for tree in arguments {
            if let TokenTree::Literal(text) = ungrouped(tree) {
                self.format(&text.to_string(), text.span(), &own);
            }
        }
        self.level(arguments, Context::Macro);
    }

    fn format(&mut self, text: &str, at: Span, own: &[String]) {
        for name in names_in_format(text) {
            let is_used =
                |known: &&String| *known == &name && !own.contains(known) && !self.hidden.contains(known);
            if let Some(name) = self.names.iter().find(is_used).cloned() {
                self.found.push(Use { name, ident: None, at });
            }
        }
    }

    fn name(&mut self, name: &Ident, trees: &[TokenTree], at: usize, context: Context) {
        let Some(text) = self.names.iter().find(|text| is_variable(name, text)) else { return };
        let sign = |at: Option<usize>| match at.and_then(|at| trees.get(at)) {
            Some(TokenTree::Punct(punct)) => Some(punct.as_char()),
            _ => None,
        };
        let (before, earlier) = (sign(at.checked_sub(1)), sign(at.checked_sub(2)));
        let (after, later) = (sign(Some(at + 1)), sign(Some(at + 2)));
        // A field, a part of a path, a lifetime, a macro, an argument of one.
        let is_other = before == Some('.') && earlier != Some('.')
            || before == Some(':') && earlier == Some(':')
            || before == Some('\'')
            || after == Some(':') && (later == Some(':') || context == Context::Braces)
            || after == Some('!') && later != Some('=')
            || after == Some('=') && context == Context::Macro && is_argument(trees, at);
        if !is_other && !self.hidden.contains(text) {
            self.found.push(Use { name: text.clone(), ident: Some(name.clone()), at: name.span() });
        }
    }

    /// `let pattern = value;`
    fn binding(&mut self, rest: &[TokenTree], context: Context) -> usize {
        let end = rest.iter().position(|tree| is_punct(Some(tree), ';')).unwrap_or(rest.len());
        let (statement, _) = rest.split_at(end);
        let (pattern, value) = split_pattern(statement);
        self.parts(value, context.inside());
        self.bind(pattern, false);
        end + 1
    }

    /// `let pattern = value {`, after `if` or `while`, up to the end of the block.
    fn condition(&mut self, rest: &[TokenTree], context: Context) -> usize {
        let (pattern, value) = split_pattern(rest);
        let begin = rest.len() - value.len();
        let is_end = |&at: &usize| {
            let is_and = |at| is_punct(value.get(at), '&');
            value.get(at).is_some_and(|tree| is_group(tree, Delimiter::Brace)) || is_and(at) && is_and(at + 1)
        };
        let length = (0..value.len()).find(is_end).unwrap_or(value.len());
        self.parts(value.get(..length).unwrap_or_default(), context.inside());
        let mut at = begin + length;
        self.scoped(|walk| {
            walk.bind(pattern, false);
            while at < rest.len() {
                at += walk.part(rest, at, context).max(1);
                if rest.get(at - 1).is_some_and(|last| is_group(last, Delimiter::Brace)) {
                    break;
                }
            }
        });
        at
    }

    /// `for pattern in values { … }`
    fn loop_over(&mut self, rest: &[TokenTree], context: Context) -> usize {
        let find = |is_it: &dyn Fn(&TokenTree) -> bool| rest.iter().position(is_it);
        let (Some(word), Some(block)) =
            (find(&|tree| is_ident(Some(tree), "in")), find(&|tree| is_group(tree, Delimiter::Brace)))
        else {
            return 1;
        };
        self.parts(rest.get(word + 1..block).unwrap_or_default(), context.inside());
        self.scoped(|walk| {
            walk.bind(rest.get(1..word).unwrap_or_default(), false);
            walk.part(rest, block, context);
        });
        block + 1
    }

    /// `|pattern| body`, up to the end of the argument or of the statement.
    fn closure(&mut self, rest: &[TokenTree], context: Context) -> usize {
        let is_bar = |tree: &TokenTree| is_punct(Some(tree), '|');
        let Some(closing) = rest.iter().skip(1).position(is_bar).map(|at| at + 1) else { return 1 };
        let body = rest.get(closing + 1..).unwrap_or_default();
        let is_arrow = is_punct(body.first(), '-') && is_punct(body.get(1), '>');
        let is_end = |tree: &TokenTree| is_punct(Some(tree), ',') || is_punct(Some(tree), ';');
        let length = if is_arrow {
            body.iter().position(|tree| is_group(tree, Delimiter::Brace)).map(|block| block + 1)
        } else {
            body.iter().position(is_end)
        };
        let length = length.unwrap_or(body.len());
        self.scoped(|walk| {
            walk.bind(rest.get(1..closing).unwrap_or_default(), false);
            walk.parts(body.get(..length).unwrap_or_default(), context.inside());
        });
        closing + 1 + length
    }

    /// `pattern if guard => body,` for each arm of a `match`.
    fn arms(&mut self, trees: &[TokenTree]) {
        let mut rest = trees;
        while let Some(arrow) = position_of_arrow(rest) {
            let (head, body) = rest.split_at(arrow);
            let body = body.get(2..).unwrap_or_default();
            let guard = head.iter().position(|tree| is_ident(Some(tree), "if")).unwrap_or(head.len());
            let (pattern, guard) = head.split_at(guard);
            let is_block = body.first().is_some_and(|tree| is_group(tree, Delimiter::Brace));
            let end = body.iter().position(|tree| is_punct(Some(tree), ','));
            let length = if is_block { 1 } else { end.unwrap_or(body.len()) };
            let (body, after) = body.split_at(length);
            self.scoped(|walk| {
                walk.bind(pattern, false);
                walk.parts(guard, Context::Code);
                walk.parts(body, Context::Code);
            });
            rest = if is_punct(after.first(), ',') { after.get(1..).unwrap_or_default() } else { after };
        }
        self.parts(rest, Context::Code);
    }

    /// Hides the names that a pattern binds.
    fn bind(&mut self, pattern: &[TokenTree], is_in_braces: bool) {
        for (at, tree) in pattern.iter().enumerate() {
            let after = |count| pattern.get(at + count);
            match tree {
                TokenTree::Group(group) => self.bind(&trees_of(group), group.delimiter() == Delimiter::Brace),
                TokenTree::Ident(name) => {
                    let is_path = is_punct(after(1), ':') && (is_in_braces || is_punct(after(2), ':'));
                    let bound = self.names.iter().find(|text| is_variable(name, text) && !is_path).cloned();
                    self.hidden.extend(bound);
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

impl Context {
    /// That of an expression between these delimiters.
    fn inside(self) -> Self {
        match self {
            Self::Macro | Self::InMacro => Self::InMacro,
            Self::Code | Self::Braces => Self::Code,
        }
    }
}

/// The pattern and the value of a `let`.
fn split_pattern(statement: &[TokenTree]) -> (&[TokenTree], &[TokenTree]) {
    let is_sign = |at: usize, sign| is_punct(statement.get(at), sign);
    // The `=` of `..=` is a part of the pattern.
    let is_equals = |&at: &usize| is_sign(at, '=') && !is_sign(at - 1, '.');
    let equals = (1..statement.len()).find(is_equals).unwrap_or(statement.len());
    let is_colon = |&at: &usize| is_sign(at, ':') && !is_sign(at + 1, ':') && !is_sign(at - 1, ':');
    let end = (1..equals).find(is_colon).unwrap_or(equals);
    (statement.get(1..end).unwrap_or_default(), statement.get(equals + 1..).unwrap_or_default())
}

/// Skips `fn name(…) { … }`, which sees no variables around it.
fn function(rest: &[TokenTree]) -> usize {
    let is_end = |tree: &TokenTree| is_group(tree, Delimiter::Brace) || is_punct(Some(tree), ';');
    rest.iter().position(is_end).map_or(rest.len(), |end| end + 1)
}

/// Whether an operand begins after this token, so that a `|` begins a closure.
fn begins_operand(before: Option<&TokenTree>) -> bool {
    match before {
        None => true,
        Some(TokenTree::Ident(word)) => {
            ident::is_one_of(word, &["async", "break", "else", "in", "move", "return", "static"])
        }
        Some(TokenTree::Punct(punct)) => punct.as_char() != '?',
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(TokenTree::Literal(_)) => false,
    }
}

/// Whether a name begins `style = 3` in the arguments of a macro.
fn is_argument(arguments: &[TokenTree], at: usize) -> bool {
    let is_first = at.checked_sub(1).is_none_or(|before| is_punct(arguments.get(before), ','));
    is_first && !['=', '>'].iter().any(|&sign| is_punct(arguments.get(at + 2), sign))
}

fn position_of_arrow(trees: &[TokenTree]) -> Option<usize> {
    trees.windows(2).position(|pair| is_punct(pair.first(), '=') && is_punct(pair.get(1), '>'))
}

/// The names in the braces of a format: `{style}`, `{style:>5}`, `{text:.most$}`.
fn names_in_format(text: &str) -> Vec<String> {
    // `{{` is no brace, and neither is a brace in the text of it.
    let text = text.replace("{{", "");
    let mut names = Vec::new();
    for braces in text.split('{').skip(1).filter_map(|part| part.split('}').next()) {
        let (name, format) = braces.split_once(':').unwrap_or((braces, ""));
        names.push(name.trim().to_owned());
        let counts = format.split('$').collect::<Vec<_>>();
        let counts = counts.split_last().map_or(&[][..], |(_, counts)| counts);
        let is_sign = |sign: char| sign != '_' && !sign.is_alphanumeric();
        names.extend(counts.iter().filter_map(|count| count.rsplit(is_sign).next()).map(str::to_owned));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses_of_style(tokens: &str) -> usize {
        uses(&["style".to_owned()], &tokens.parse().expect("tokens")).len()
    }

    #[test]
    fn a_use_is_no_field_and_no_part_of_a_path() {
        assert_eq!(uses_of_style("f(style) + style.len() + g(&style) + (style != 3)"), 4);
        assert_eq!(uses_of_style("S { a: style } + S { style } + (0..style) + (0..=style)"), 4);
        assert_eq!(uses_of_style("json!({ style: 3, \"b\": { style: 4 } })"), 2);
        assert_eq!(
            uses_of_style("a.style + style::b + b::style + S { style: 3 } + style!(1) + f::<'style>()"),
            0
        );
    }

    #[test]
    fn a_name_may_be_in_a_format() {
        for (tokens, count) in [
            (r#"async move { format!("{style}") }"#, 1),
            (r#"write!(text, "{style:>5} {0}", 3)"#, 1),
            (r#"format!("{user:.style$} {style } {user:>style$.3}")"#, 3),
            (r#"format!("{{style}} {styles}"); prompt("{style}")"#, 0),
            (r#"format!("{style} {}", style = 3)"#, 0),
            (r#"format!("{style} {}", f("{style}"))"#, 1),
        ] {
            assert_eq!(uses_of_style(tokens), count, "{tokens}");
        }
    }

    #[test]
    fn a_pattern_hides_a_name() {
        for (tokens, count) in [
            ("|style| style", 0),
            ("|a, style: T| style", 0),
            ("f(|style| style, style)", 1),
            ("a || style || style", 2),
            ("a | style", 1),
            ("let style = f(style); style", 1),
            ("{ let style = f(); style } style", 1),
            ("let S { style, .. } = f(); style", 0),
            ("let S { style: other } = f(); style", 1),
            ("let Some(x): Option<style::T> = f() else { return style }; style", 2),
            ("if let Some(style) = f(style) { style } else { style }", 2),
            ("if let Some(a) = f() && let Some(style) = g(style) { style } style", 2),
            ("for (style, _) in f(style) { style } style", 2),
            ("match f(style) { None => style, Some(style) if style > 3 => style, _ => { style } }", 3),
            ("match style { style::A | B => 1, S { style } => style, style => style }", 1),
            ("fn f(style: u8) -> u8 { style } style", 1),
            ("items.iter().map(|style| -> u8 { style }).chain(style)", 1),
        ] {
            assert_eq!(uses_of_style(tokens), count, "{tokens}");
        }
    }

    #[test]
    fn a_raw_name_is_no_keyword() {
        let uses = |tokens: &str| uses(&["match".to_owned()], &tokens.parse().expect("tokens")).len();
        assert_eq!((uses("match user { _ => 3 }"), uses("f(r#match)")), (0, 1));
    }

    #[test]
    fn statements_bind_names_for_those_after_them() {
        let bound = |tokens: &str| bound(&["style".to_owned()], &tokens.parse().expect("tokens")).len();
        assert_eq!(bound("let style = style.clone();"), 1);
        assert_eq!(
            bound("let a = f(|style| style); if let Some(style) = b { c(style) } { let style = 3; }"),
            0
        );
    }
}
