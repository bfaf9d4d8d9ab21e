//! The parameters of a flow in closures: in a compute step that is async, and in a condition.
//!
//! ```text
//! let style = Clone::clone(style);
//! async move |user| { let style = &style; format!("{style}: {user}") }
//! ```
//!
//! So a parameter has the same type in a closure as in any other step. An editor sees the closure without these
//! variables, which would count as the definitions of the parameter there.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use quote::quote;

use super::emitter::Emitter;
use super::tokens::unlocated_param;
use crate::ident::{self, ident_text};
use crate::syntax::{
    Capture, Closure, ClosureParam, Param, closure, hidden_at_end, is_punct, trees, ungrouped,
};

/// The clones of the parameters that a closure uses.
pub(super) struct Clones {
    /// The statements before the closure.
    pub(super) statements: TokenStream,
    /// The statements at the beginning of the body.
    references: TokenStream,
}

impl Clones {
    pub(super) fn is_empty(&self) -> bool {
        self.statements.is_empty()
    }

    /// The body of the closure.
    pub(super) fn body(&self, body: &TokenStream) -> TokenStream {
        if self.is_empty() {
            return body.clone();
        }
        let (references, trees) = (&self.references, trees(body));
        let Some((last, before)) = trees.split_last() else { return body.clone() };
        let (before, inside) = match ungrouped(last) {
            // A block, maybe after the type that the closure returns.
            TokenTree::Group(block)
                if block.delimiter() == Delimiter::Brace && (before.is_empty() || is_arrow(before)) =>
            {
                // The items of the block may have the names of parameters.
                (before, if has_items(&block) { quote!(#block) } else { block.stream() })
            }
            _ => (&[][..], body.clone()),
        };
        let mut block = Group::new(Delimiter::Brace, quote!(#references #inside));
        // rustc underlines the closure from the first token to the last.
        block.set_span(last.span());
        quote!(#(#before)* #block)
    }
}

fn is_arrow(trees: &[TokenTree]) -> bool {
    is_punct(trees.first(), '-') && is_punct(trees.get(1), '>')
}

/// Whether a block has items or inner attributes.
fn has_items(block: &Group) -> bool {
    const ITEMS: [&str; 9] = ["const", "enum", "fn", "macro_rules", "mod", "static", "struct", "type", "use"];
    let trees = trees(&block.stream());
    let is_item = |tree: &TokenTree| matches!(tree, TokenTree::Ident(word) if ident::is_one_of(word, &ITEMS));
    trees.iter().any(is_item) || is_punct(trees.first(), '#') && is_punct(trees.get(1), '!')
}

impl Emitter<'_> {
    pub(super) fn clones(&self, captures: &[Capture<'_>]) -> Clones {
        let private = self.private;
        let names: Vec<Ident> = captures.iter().map(|capture| unlocated_param(&capture.param.name)).collect();
        // rustc reports a parameter without `Clone` at its use.
        let clones = captures.iter().map(|capture| {
            let mut used = capture.param.name.clone();
            used.set_span(used.span().located_at(capture.at));
            quote!(#private::Clone::clone(#used))
        });
        // The body may have a variable of this name instead.
        let of_rustc = quote!(#[cfg(not(rust_analyzer))] #[allow(unused_variables)]);
        let statements = quote!(#(#of_rustc let #names = #clones;)*);
        let references = quote!(#(#of_rustc let #names = &#names;)*);
        Clones { statements, references }
    }

    pub(super) fn params(&self) -> &[Param] {
        self.flow.header().map_or(&[], |header| &header.params)
    }

    /// A compute step, or the settings after one, whose conditions have clones of parameters.
    pub(super) fn with_conditions(&self, step: &TokenStream) -> TokenStream {
        let names = self.flow.params();
        let changed = (!names.is_empty()).then(|| self.conditions(&trees(step), &names, true));
        changed.flatten().unwrap_or_else(|| step.clone())
    }

    /// `names` are the parameters that no variable hides. `None` if no condition uses one.
    fn conditions(&self, trees: &[TokenTree], names: &[String], is_step: bool) -> Option<TokenStream> {
        let mut changed = trees.to_vec();
        let mut is_changed = false;
        for (at, tree) in trees.iter().enumerate() {
            let TokenTree::Group(group) = tree else { continue };
            let hidden = hidden_at_end(names, trees.get(..=at).unwrap_or_default());
            let names: Vec<String> = names.iter().filter(|name| !hidden.contains(name)).cloned().collect();
            let before = |count| at.checked_sub(count).and_then(|before| trees.get(before));
            let is_when = matches!(before(1), Some(TokenTree::Ident(word)) if ident::is(word, "when"));
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            let condition =
                (is_when && is_punct(before(2), '.')).then(|| self.condition(&inside, &names, is_step));
            // `(prompt("…").when(…)).retry(3)`
            let is_step = is_step && at == 0 && group.delimiter() == Delimiter::Parenthesis;
            let inside = condition.flatten().or_else(|| self.conditions(&inside, &names, is_step));
            let Some(inside) = inside else { continue };
            let mut with_clones = Group::new(group.delimiter(), inside);
            with_clones.set_span(group.span());
            if let Some(tree) = changed.get_mut(at) {
                *tree = with_clones.into();
                is_changed = true;
            }
        }
        is_changed.then(|| changed.into_iter().collect())
    }

    /// `None` for a condition that uses no parameter. Inside a step, other types may have a method `when`, too.
    fn condition(&self, condition: &[TokenTree], names: &[String], is_step: bool) -> Option<TokenStream> {
        if let [TokenTree::Group(token)] = condition
            && token.delimiter() == Delimiter::None
        {
            return self.condition(&trees(&token.stream()), names, is_step);
        }
        let closure = closure(condition)
            .filter(|closure| closure.around.is_empty() && (is_step || is_condition(closure)))?;
        let params = self.params().iter().filter(|param| names.contains(&ident_text(&param.name)));
        let clones = self.clones(&closure.captures(params));
        if clones.is_empty() {
            return None;
        }
        let Closure { bars: [opening, closing], params, body, .. } = &closure;
        let params = params.iter().map(|ClosureParam { mutable, name, ty }| {
            let ty = ty.as_ref().map(|ty| quote!(: #ty));
            quote!(#mutable #name #ty)
        });
        let (statements, body) = (&clones.statements, clones.body(body));
        let by_value = Ident::new("move", opening.span());
        Some(quote!({ #statements #by_value #opening #(#params),* #closing #body }))
    }
}

/// Whether the closure takes a context alone, as far as the body tells.
fn is_condition(closure: &Closure) -> bool {
    const METHODS: [&str; 7] = ["column", "input", "inputs", "messages", "notes", "step", "values"];
    let [context] = closure.params.as_slice() else { return false };
    let body = trees(&closure.body);
    context.is_context()
        || ident_text(&context.name).starts_with('_')
        || calls(&body, &context.name, &METHODS)
}

/// Whether a method of these is called on a variable.
fn calls(trees: &[TokenTree], variable: &Ident, methods: &[&str]) -> bool {
    let is_call = |part: &[TokenTree]| {
        matches!(part, [TokenTree::Ident(name), dot, TokenTree::Ident(method)]
            if name == variable && is_punct(Some(dot), '.') && ident::is_one_of(method, methods))
    };
    let is_inside = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => calls(&self::trees(&group.stream()), variable, methods),
        _ => false,
    };
    trees.windows(3).any(is_call) || trees.iter().any(is_inside)
}
