//! The uses of names in tokens of Rust, without a parser of Rust.
//!
//! A pattern that binds a name hides it: in the rest of the block after a `let`, in the body of a closure, an arm or a loop.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

use super::cursor::{is_group, is_ident, is_punct, trees, trees_of, ungrouped};
use super::extent::{end_of_arm, end_of_expression, end_of_statement, position_of_arrow, split_pattern};
use super::format::{WITH_FORMAT, WITHOUT_FORMAT, names_in_format};
use crate::ident::{self, ident_text, is_variable};

/// A use of a name: as an identifier, or in the text of a macro as in `format!("{style}")`.
pub(crate) struct Use {
    pub(crate) name: String,
    pub(crate) ident: Option<Ident>,
    pub(crate) at: Span,
    /// Whether no macro of the user can give it another meaning.
    pub(crate) is_certain: bool,
}

/// The uses of these names that mean a variable outside of the tokens.
pub(crate) fn uses(names: &[String], tokens: &TokenStream) -> Vec<Use> {
    let mut walk = Walk::new(names);
    walk.level(&trees(tokens), Context::Code);
    walk.found
}

/// The names of these that the statements bind for those after them.
pub(super) fn bound(names: &[String], statements: &TokenStream) -> Vec<String> {
    let mut walk = Walk::new(names);
    walk.parts(&trees(statements), Context::Code);
    walk.hidden
}

/// The names of these that any pattern in the tokens binds.
pub(super) fn rebound(names: &[String], tokens: &TokenStream) -> Vec<String> {
    let mut walk = Walk::new(names);
    walk.level(&trees(tokens), Context::Code);
    walk.rebound
}

/// The names of these that mean other variables in the last group of the tokens.
pub(crate) fn hidden_at_end(names: &[String], tokens: &[TokenTree]) -> Vec<String> {
    let Some((TokenTree::Group(last), before)) = tokens.split_last() else { return Vec::new() };
    let mut walk = Walk::new(names);
    let marked = Group::new(last.delimiter(), TokenTree::from(Ident::new(MARKER, Span::mixed_site())).into());
    let scope: Vec<TokenTree> = before.iter().cloned().chain([marked.into()]).collect();
    let scope = Group::new(Delimiter::Brace, scope.into_iter().collect());
    walk.part(&[scope.into()], 0, Context::Code);
    walk.at_marker
}

/// The first place that has this name, even if it means something else there.
pub(super) fn mention(name: &str, tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().find_map(|tree| match tree {
        TokenTree::Group(group) => mention(name, &group.stream()),
        TokenTree::Ident(ident) => is_variable(&ident, name).then(|| ident.span()),
        // A text of a macro may be a format, whatever is in it.
        TokenTree::Literal(text) => text.to_string().contains(name).then(|| text.span()),
        TokenTree::Punct(_) => None,
    })
}

/// A name in place of the tokens in a group, which is the place to ask about.
const MARKER: &str = "__end";

/// Keywords before a `!` that is the operator.
const KEYWORDS: [&str; 8] = ["break", "else", "if", "in", "match", "move", "return", "while"];

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
    /// All names that have been hidden.
    rebound: Vec<String>,
    /// Those that are hidden at the marker.
    at_marker: Vec<String>,
}

impl<'n> Walk<'n> {
    fn new(names: &'n [String]) -> Self {
        Self { names, found: Vec::new(), hidden: Vec::new(), rebound: Vec::new(), at_marker: Vec::new() }
    }
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
            [TokenTree::Ident(word), TokenTree::Ident(_), ..] if word == "fn" => self.function(rest),
            [TokenTree::Ident(word), ..] if word == "use" => end_of_statement(rest),
            // An attribute.
            [hash, list, ..] if is_punct(Some(hash), '#') && is_group(list, Delimiter::Bracket) => 2,
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
            [TokenTree::Ident(marker), ..] if marker == MARKER => {
                self.at_marker.clone_from(&self.hidden);
                1
            }
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
        let of_macro = at.checked_sub(2).and_then(|name| match (trees.get(name), trees.get(name + 1)) {
            (Some(TokenTree::Ident(name)), bang)
                if is_punct(bang, '!') && !ident::is_one_of(name, &KEYWORDS) =>
            {
                Some(name)
            }
            _ => None,
        });
        let is_in_macro = matches!(context, Context::Macro | Context::InMacro);
        match group.delimiter() {
            // A token of a macro of the user.
            Delimiter::None => self.level(&inside, context),
            _ if of_macro.is_some_and(|name| ident::is(name, "matches")) => self.matches(&inside, context),
            _ if let Some(name) = of_macro => self.macro_call(name, &inside),
            Delimiter::Brace if position_of_arrow(&inside).is_some() => self.arms(&inside, context.inside()),
            _ if is_in_macro => self.level(&inside, Context::InMacro),
            Delimiter::Brace => self.level(&inside, Context::Braces),
            _ => self.level(&inside, Context::Code),
        }
    }

    /// The arguments of a macro: a text that may be a format, and expressions.
    fn macro_call(&mut self, name: &Ident, arguments: &[TokenTree]) {
        let is_own = |at: usize| is_punct(arguments.get(at + 1), '=') && is_argument(arguments, at);
        let own = arguments.iter().enumerate().filter_map(|(at, tree)| match tree {
            TokenTree::Ident(name) if is_own(at) => Some(ident_text(name)),
            _ => None,
        });
        let own: Vec<String> = own.collect();
        let is_comma = |tree: &TokenTree| is_punct(Some(tree), ',');
        // Only the first text that is a whole argument can be the format.
        let text = arguments.split(is_comma).find_map(|argument| match argument {
            [tree] => match ungrouped(tree) {
                TokenTree::Literal(text) => Some(text),
                _ => None,
            },
            _ => None,
        });
        if let Some(text) = text.filter(|_| !ident::is_one_of(name, &WITHOUT_FORMAT)) {
            self.format(&text.to_string(), text.span(), &own, ident::is_one_of(name, &WITH_FORMAT));
        }
        self.level(arguments, Context::Macro);
    }

    /// `matches!(value, pattern if guard)`
    fn matches(&mut self, arguments: &[TokenTree], context: Context) {
        let comma = arguments.iter().position(|tree| is_punct(Some(tree), ',')).unwrap_or(arguments.len());
        let (value, arm) = arguments.split_at(comma);
        self.level(value, context.inside());
        let guard = arm.iter().position(|tree| is_ident(Some(tree), "if")).unwrap_or(arm.len());
        let (pattern, guard) = arm.split_at(guard);
        self.scoped(|walk| {
            walk.bind(pattern, false);
            walk.parts(guard, context.inside());
        });
    }

    fn format(&mut self, text: &str, at: Span, own: &[String], is_certain: bool) {
        for name in names_in_format(text) {
            let is_used =
                |known: &&String| *known == &name && !own.contains(known) && !self.hidden.contains(known);
            if let Some(name) = self.names.iter().find(is_used).cloned() {
                self.found.push(Use { name, ident: None, at, is_certain });
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
            let is_certain = !matches!(context, Context::Macro | Context::InMacro);
            self.found.push(Use {
                name: text.clone(),
                ident: Some(name.clone()),
                at: name.span(),
                is_certain,
            });
        }
    }

    /// `let pattern = value;`
    fn binding(&mut self, rest: &[TokenTree], context: Context) -> usize {
        let end = end_of_statement(rest);
        let (statement, _) = rest.split_at(end.min(rest.len()));
        let (pattern, value) = split_pattern(statement);
        self.parts(value, context.inside());
        if is_punct(statement.last(), ';') {
            self.bind(pattern, false);
        }
        end
    }

    /// `fn name(…) { … }`, which sees no variables around it.
    fn function(&mut self, rest: &[TokenTree]) -> usize {
        let is_end = |tree: &TokenTree| is_group(tree, Delimiter::Brace) || is_punct(Some(tree), ';');
        let end = rest.iter().position(is_end).unwrap_or(rest.len());
        self.scoped(|walk| {
            walk.bind(rest.get(1..end).unwrap_or_default(), false);
            walk.hidden.extend(walk.names.iter().cloned());
            walk.parts(rest.get(end..=end).unwrap_or_default(), Context::Code);
        });
        end + 1
    }

    /// `let pattern = value {`, after `if` or `while`, up to the end of the block.
    fn condition(&mut self, rest: &[TokenTree], context: Context) -> usize {
        let (pattern, value) = split_pattern(rest);
        let begin = rest.len() - value.len();
        let is_end = |&at: &usize| {
            let is_and = |at| is_punct(value.get(at), '&');
            let has_operand = at
                .checked_sub(1)
                .is_some_and(|before| !matches!(value.get(before), Some(TokenTree::Punct(_)) | None));
            value.get(at).is_some_and(|tree| is_group(tree, Delimiter::Brace))
                || has_operand && is_and(at) && is_and(at + 1)
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
        let block = body.iter().position(|tree| is_group(tree, Delimiter::Brace)).map(|block| block + 1);
        let length = if is_arrow { block.unwrap_or(body.len()) } else { end_of_expression(body) };
        let params = rest.get(1..closing).unwrap_or_default();
        self.scoped(|walk| {
            for param in params.split(|tree| is_punct(Some(tree), ',')) {
                let is_colon =
                    |at: &usize| is_punct(param.get(*at), ':') && !is_punct(param.get(at + 1), ':');
                let colon = (0..param.len()).find(is_colon).unwrap_or(param.len());
                walk.bind(param.get(..colon).unwrap_or_default(), false);
            }
            walk.parts(body.get(..length).unwrap_or_default(), context.inside());
        });
        closing + 1 + length
    }

    /// `pattern if guard => body,` for each arm of a `match`.
    fn arms(&mut self, trees: &[TokenTree], context: Context) {
        let mut rest = trees;
        while let Some(arrow) = position_of_arrow(rest) {
            let (head, body) = rest.split_at(arrow);
            let body = body.get(2..).unwrap_or_default();
            let guard = head.iter().position(|tree| is_ident(Some(tree), "if")).unwrap_or(head.len());
            let (pattern, guard) = head.split_at(guard);
            let (body, after) = body.split_at(end_of_arm(body));
            self.scoped(|walk| {
                walk.bind(pattern, false);
                if let [_, word, ..] = guard
                    && is_ident(Some(word), "let")
                {
                    let (pattern, value) = split_pattern(guard.get(1..).unwrap_or_default());
                    walk.parts(value, context);
                    walk.bind(pattern, false);
                } else {
                    walk.parts(guard, context);
                }
                walk.parts(body, context);
            });
            rest = if is_punct(after.first(), ',') { after.get(1..).unwrap_or_default() } else { after };
        }
        self.parts(rest, context);
    }

    /// Hides the names that a pattern binds.
    fn bind(&mut self, pattern: &[TokenTree], is_in_braces: bool) {
        for (at, tree) in pattern.iter().enumerate() {
            let after = |count| pattern.get(at + count);
            let before = at.checked_sub(1).and_then(|before| pattern.get(before));
            match tree {
                // An attribute, a lifetime.
                _ if is_punct(before, '#') || is_punct(before, '\'') => {}
                TokenTree::Group(group) => self.bind(&trees_of(group), group.delimiter() == Delimiter::Brace),
                TokenTree::Ident(name) => {
                    let is_path = is_punct(after(1), ':') && (is_in_braces || is_punct(after(2), ':'));
                    let bound = self.names.iter().find(|text| is_variable(name, text) && !is_path).cloned();
                    self.rebound.extend(bound.clone());
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

/// Whether an operand begins after this token, so that a `|` begins a closure.
fn begins_operand(before: Option<&TokenTree>) -> bool {
    match before {
        None => true,
        Some(TokenTree::Ident(word)) => {
            ident::is_one_of(word, &["async", "break", "else", "in", "move", "return", "static"])
        }
        Some(TokenTree::Punct(punct)) => punct.as_char() != '?',
        Some(TokenTree::Group(_) | TokenTree::Literal(_)) => false,
    }
}

/// Whether a name begins `style = 3` in the arguments of a macro.
fn is_argument(arguments: &[TokenTree], at: usize) -> bool {
    let is_first = at.checked_sub(1).is_none_or(|before| is_punct(arguments.get(before), ','));
    is_first && !['=', '>'].iter().any(|&sign| is_punct(arguments.get(at + 2), sign))
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
            (r#"println!("{}", "{style}")"#, 0),
            (r#"vec!["{style}"]"#, 0),
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
            ("f(|style| Ok::<u8, E>(style), style)", 1),
            ("f(|x: &style| x + style)", 1),
            ("match a { A => Ok::<B, C>(style), Some(style) => style, _ => 3 }", 1),
            ("match a { Some(style) => if b { style } else { 3 } None => style }", 1),
            ("match a { Some(x) if let Some(style) = x => style, _ => style }", 1),
            ("if let style = &&style && style > 3 { style } style", 2),
            ("let a = if b { 1 } else { 2 } | style | 4;", 1),
            ("matches!(style, Some(style) if style > 3)", 1),
            ("if !(\"{style}\" == a) { style }", 1),
            ("use a::{style as b}; style", 1),
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
