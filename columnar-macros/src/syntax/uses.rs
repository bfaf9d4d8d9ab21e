//! The uses of names in Rust, by its scopes.
//!
//! Code that is half typed and the arguments of macros are read as far as they are expressions. Any other name there may be
//! a use.

use std::collections::HashMap;
use std::mem;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::visit::{self, Visit};
use syn::{
    Arm, Attribute, Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprLet, ExprLit, ExprPath, ExprWhile,
    Item, Lit, LitStr, Local, Macro, PatIdent, Type, parse2,
};

use super::cursor::{is_punct, tokens, trees};
use crate::ident::{self, ident_text, is_variable};

/// Macros whose first text is certainly a format.
const WITH_FORMAT: [&str; 6] = ["format", "format_args", "panic", "println", "write", "writeln"];

/// Macros without a format.
const WITHOUT_FORMAT: [&str; 6] = ["concat", "env", "include_str", "line", "stringify", "vec"];

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
    let mut scopes = Scopes::new(names);
    scopes.enter(tokens);
    scopes.found
}

/// An identifier in place of other tokens, which is a place to ask about.
pub(crate) fn mark(number: usize) -> Ident {
    format_ident!("__mark{number}")
}

/// The names of these that mean other variables at each mark.
pub(crate) fn hidden_at_marks(names: &[String], marked: &TokenStream) -> HashMap<Ident, Vec<String>> {
    let mut scopes = Scopes::new(names);
    scopes.enter(marked);
    scopes.at_marks
}

/// The variables at a place in the code.
pub(super) struct Scopes<'n> {
    names: &'n [String],
    pub(super) found: Vec<Use>,
    /// The names that mean another variable here.
    hidden: Vec<String>,
    at_marks: HashMap<Ident, Vec<String>>,
    is_certain: bool,
}

impl<'n> Scopes<'n> {
    pub(super) fn new(names: &'n [String]) -> Self {
        Self { names, found: Vec::new(), hidden: Vec::new(), at_marks: HashMap::new(), is_certain: true }
    }

    /// Visits statements. The names that they bind stay hidden.
    pub(super) fn enter(&mut self, statements: &TokenStream) {
        match Block::parse_within.parse2(statements.clone()) {
            Ok(statements) => statements.iter().for_each(|statement| self.visit_stmt(statement)),
            Err(_) => self.maybe(&expressions(statements)),
        }
    }

    /// Visits expressions that may mean something else.
    fn maybe(&mut self, expressions: &[Expr]) {
        let is_certain = mem::replace(&mut self.is_certain, false);
        for expression in expressions {
            // `style = 3` names an argument.
            self.visit_expr(if let Expr::Assign(argument) = expression {
                &argument.right
            } else {
                expression
            });
        }
        self.is_certain = is_certain;
    }

    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = self.hidden.len();
        visit(self);
        self.hidden.truncate(outer);
    }

    pub(super) fn hide(&mut self, name: &Ident) {
        self.hidden.extend(self.names.iter().find(|text| is_variable(name, text)).cloned());
    }

    fn format(&mut self, text: &LitStr, own: &[String], is_certain: bool) {
        for name in names_in_format(&text.value()) {
            if self.names.contains(&name) && !own.contains(&name) && !self.hidden.contains(&name) {
                self.found.push(Use { name, ident: None, at: text.span(), is_certain });
            }
        }
    }
}

impl<'ast> Visit<'ast> for Scopes<'_> {
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        let Some(name) = path.path.get_ident() else { return };
        if let Some(text) = self.names.iter().find(|text| is_variable(name, text))
            && !self.hidden.contains(text)
        {
            let ident = Some(name.clone());
            let at = name.span();
            self.found.push(Use { name: text.clone(), ident, at, is_certain: self.is_certain });
        }
        if name.to_string().starts_with("__mark") {
            self.at_marks.insert(name.clone(), self.hidden.clone());
        }
    }

    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.hide(&pattern.ident);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_local(&mut self, local: &'ast Local) {
        local.init.iter().for_each(|init| self.visit_local_init(init));
        self.visit_pat(&local.pat);
    }

    fn visit_expr_let(&mut self, condition: &'ast ExprLet) {
        self.visit_expr(&condition.expr);
        self.visit_pat(&condition.pat);
    }

    fn visit_expr_if(&mut self, branches: &'ast ExprIf) {
        self.scoped(|scopes| {
            scopes.visit_expr(&branches.cond);
            scopes.visit_block(&branches.then_branch);
        });
        branches.else_branch.iter().for_each(|(_, branch)| self.visit_expr(branch));
    }

    fn visit_expr_while(&mut self, repeated: &'ast ExprWhile) {
        self.scoped(|scopes| visit::visit_expr_while(scopes, repeated));
    }

    fn visit_expr_for_loop(&mut self, repeated: &'ast ExprForLoop) {
        self.visit_expr(&repeated.expr);
        self.scoped(|scopes| {
            scopes.visit_pat(&repeated.pat);
            scopes.visit_block(&repeated.body);
        });
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.scoped(|scopes| visit::visit_expr_closure(scopes, closure));
    }

    fn visit_arm(&mut self, arm: &'ast Arm) {
        self.scoped(|scopes| visit::visit_arm(scopes, arm));
    }

    fn visit_block(&mut self, block: &'ast Block) {
        self.scoped(|scopes| visit::visit_block(scopes, block));
    }

    fn visit_macro(&mut self, call: &'ast Macro) {
        let Some(name) = call.path.segments.last().map(|last| &last.ident) else { return };
        if let Some(matched) = as_match(call).filter(|_| ident::is(name, "matches")) {
            return self.maybe(&[matched]);
        }
        let arguments = expressions(&call.tokens);
        let own: Vec<String> = arguments.iter().filter_map(name_of_argument).collect();
        let is_certain = ident::is_one_of(name, &WITH_FORMAT);
        // Any text of another macro may be a format.
        let texts = arguments.iter().filter_map(as_text).take(if is_certain { 1 } else { usize::MAX });
        for text in texts.filter(|_| !ident::is_one_of(name, &WITHOUT_FORMAT)) {
            self.format(text, &own, is_certain);
        }
        self.maybe(&arguments);
    }

    // None of these sees the variables around it.
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_item(&mut self, _: &'ast Item) {}
    fn visit_type(&mut self, _: &'ast Type) {}
}

/// The expressions among the tokens. A name that begins none is one.
fn expressions(tokens: &TokenStream) -> Vec<Expr> {
    // Every token is taken, so there is no error to report.
    take_expressions.parse2(tokens.clone()).unwrap_or_default()
}

fn take_expressions(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let mut found = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        if let Ok(expression) = ahead.parse() {
            input.advance_to(&ahead);
            found.push(expression);
            continue;
        }
        match input.parse()? {
            TokenTree::Ident(name) => {
                found.push(Expr::Path(ExprPath { attrs: Vec::new(), qself: None, path: name.into() }));
            }
            TokenTree::Group(group) => found.extend(expressions(&group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    Ok(found)
}

/// `match value { pattern if guard => {} }` for `matches!(value, pattern if guard)`.
fn as_match(call: &Macro) -> Option<Expr> {
    let arguments = trees(&call.tokens);
    let comma = arguments.iter().position(|tree| is_punct(tree, ','))?;
    let value = tokens(arguments.get(..comma)?);
    let pattern = tokens(arguments.get(comma + 1..)?);
    parse2(quote!(match (#value) { #pattern => {} })).ok()
}

fn as_text(argument: &Expr) -> Option<&LitStr> {
    match argument {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
        // A token of a macro of the user.
        Expr::Group(group) => as_text(&group.expr),
        _ => None,
    }
}

/// The name of `style = 3`.
fn name_of_argument(argument: &Expr) -> Option<String> {
    let Expr::Assign(argument) = argument else { return None };
    let Expr::Path(name) = &*argument.left else { return None };
    name.path.get_ident().map(ident_text)
}

/// The names in the braces of a format: `{style}`, `{style:>5}`, `{text:.most$}`.
fn names_in_format(text: &str) -> Vec<String> {
    // `{{` is no brace, and neither is a brace in the text of it.
    let text = text.replace("{{", "");
    let mut names = Vec::new();
    for braces in text.split('{').skip(1).filter_map(|part| part.split('}').next()) {
        let (name, format) = braces.split_once(':').unwrap_or((braces, ""));
        names.push(name.trim().to_owned());
        // A count is before each `$`: the name that ends there.
        names.extend(format.match_indices('$').filter_map(|(end, _)| {
            let count = format.get(..end)?.rsplit(|sign: char| sign != '_' && !sign.is_alphanumeric());
            count.map(str::to_owned).next()
        }));
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
            (r#"println!("{}", "{style}")"#, 0),
            (r#"vec!["{style}"]"#, 0),
            (r#"log!(level, "a", "{style}")"#, 1),
            (r#"json!({ "a": format!("{style}"), "b": [a.style, 3] })"#, 1),
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
    fn a_half_typed_statement_may_use_a_name() {
        for (tokens, count) in [
            ("let a = style.len(); a.", 1),
            ("{ let a = b + style.len() c }", 1),
            ("f(style, |a| a.)", 1),
            ("match style { Some(a) => a. }", 1),
        ] {
            assert_eq!(uses_of_style(tokens), count, "{tokens}");
        }
    }

    #[test]
    fn a_raw_name_is_no_keyword() {
        let counts = ["match user { _ => 3 }", "f(r#match)"]
            .map(|tokens| uses(&["match".to_owned()], &tokens.parse().expect("tokens")).len());
        assert_eq!(counts, [0, 1]);
    }

    #[test]
    fn statements_bind_names_for_those_after_them() {
        let bound = |tokens: &str| {
            let names = ["style".to_owned()];
            let mut scopes = Scopes::new(&names);
            scopes.enter(&tokens.parse().expect("tokens"));
            scopes.hidden.len()
        };
        assert_eq!(bound("let style = style.clone();"), 1);
        assert_eq!(
            bound("let a = f(|style| style); if let Some(style) = b { c(style) } { let style = 3; }"),
            0
        );
    }
}
