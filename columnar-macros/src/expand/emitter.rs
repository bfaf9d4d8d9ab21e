//! The context of every part of the expansion, and the parts that both forms of a flow share.

use std::mem;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::Macro;
use syn::parse::Parser;

use super::dependencies::Dependencies;
use super::tokens::{Private, end_of, unlocated};
use crate::check::ExpansionPlan;
use crate::ident::rust_ident;
use crate::syntax::{ColumnDecl, ComputedDecl, FlowDecl, GroupTag, TypeDecl, is_punct, trees, with_rest};

pub(super) struct Emitter<'f> {
    pub(super) flow: &'f FlowDecl,
    pub(super) plan: &'f ExpansionPlan,
    pub(super) dependencies: Dependencies<'f>,
}

impl Emitter<'_> {
    /// Keywords and types that are being typed, for editors to complete.
    pub(super) fn completions(&self) -> TokenStream {
        let keywords = self.flow.partial_keywords.iter().chain(self.keywords()).filter_map(rust_ident);
        let derived = self.flow.columns.iter().filter_map(|column| column.derived.as_ref());
        let groups = derived.flat_map(|derived| {
            let mut before: &[GroupTag] = &[];
            let views = derived.views.iter();
            views
                .flat_map(move |view| GroupTag::opened(mem::replace(&mut before, &view.groups), &view.groups))
        });
        let groups = groups.map(|GroupTag { word, .. }| quote!(use #Private::words::#word as _;));
        // One more, so that the shape is the same before the first letter is typed.
        let keywords = keywords.chain([Ident::new("column", Span::call_site())]);
        let keywords = keywords.map(|keyword| quote!(use #Private::keywords::#keyword as _;));
        let types = self.completed_types();
        quote! {
            // rustc warns about `cfg(rust_analyzer)`, and an `allow` on the item that this cfg removes has no effect.
            // rustc must not see the imports: a word that is being typed may be no keyword.
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                const _: () = { #(#keywords)* #(#groups)* #types };
            };
        }
    }

    /// The keywords that are nowhere else in the expansion, so that editors show the documentation of these keywords.
    fn keywords(&self) -> impl Iterator<Item = &Ident> {
        let is_linked = !self.dependencies.is_empty();
        let sources = self.flow.columns.iter().filter(move |column| is_linked && column.derived.is_none());
        sources.map(|column| &column.keyword).chain(self.flow.modules.iter().map(|module| &module.keyword))
    }

    /// The types of columns. An editor does not complete types of fields, and a missing type would be no field.
    fn completed_types(&self) -> TokenStream {
        let types = self.flow.columns.iter().filter_map(|column| {
            let ty = &column.ty.as_ref()?.ty;
            // An alias has this type, and an editor completes it there.
            if self.dependencies.types.iter().any(|generic| *generic.column == column.name) {
                return None;
            }
            // An expansion for completions has the marker here, so the other one needs an identifier, too.
            let ty = if ty.is_empty() { &quote!(__) } else { ty };
            Some(quote!(const _: #ty = loop {};))
        });
        types.collect()
    }

    /// A compute step: the expression of the user, inside a call that is located at the keyword.
    pub(super) fn step(&self, column: &ColumnDecl, derived: &ComputedDecl) -> TokenStream {
        let keyword = &column.keyword;
        let step = &derived.step;
        // The missing step is reported, and rustc would report a call without an argument as well.
        let Some(last) = step.clone().into_iter().last() else {
            return quote!(#Private::Declare.#keyword(#Private::broken()));
        };
        if let Some(step) = unwritten(step) {
            return quote!(#Private::Declare.#keyword(#step));
        }
        let step = self.step_of_closure(column, derived).unwrap_or_else(|| self.with_conditions(step));
        // rustc reports an expression that ends too early at the closing parenthesis.
        let mut argument = Group::new(Delimiter::Parenthesis, step);
        argument.set_span(end_of(&last));
        let step = quote!(#Private::Declare.#keyword #argument);
        if !derived.is_step_for_editors {
            return step;
        }
        quote!(#Private::core::convert::identity({
            #[cfg(rust_analyzer)]
            let __step = #step;
            #[cfg(not(rust_analyzer))]
            let __step = #Private::broken();
            __step
        }))
    }
}

/// The call after the step of a typed column.
pub(super) fn type_of_step(column: &ColumnDecl, columns: &impl ToTokens) -> Option<TokenStream> {
    column.value_type().map(|ty| call_at_type(column, ty, "__typed", columns))
}

/// The call of a method that gets a field, and so the type of the field. rustc reports its errors at the declared type, from
/// the `:` to the last token.
pub(super) fn call_at_type(
    column: &ColumnDecl,
    TypeDecl { colon, ty, .. }: &TypeDecl,
    method: &str,
    columns: &impl ToTokens,
) -> TokenStream {
    let field = unlocated(&column.name);
    let method = Ident::new(method, *colon);
    let mut body = Group::new(Delimiter::Brace, quote_spanned!(*colon=> &__here.#field));
    body.set_span(ty.clone().into_iter().last().map_or(*colon, |last| last.span()));
    let closure = quote_spanned!(*colon=> |__here: &#columns|);
    quote!(.#method(#closure #body))
}

/// The step in place of one that is not written yet: `todo!()` or `unimplemented!("…")`, with settings or without. `None` for
/// any other step.
///
/// The macro never returns, so the call is no compute step. The cells of this step fail with the same words.
fn unwritten(step: &TokenStream) -> Option<TokenStream> {
    if let [TokenTree::Group(group), settings @ ..] = trees(step).as_slice()
        && matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::Brace)
    {
        let inner = unwritten(&group.stream())?;
        return Some(quote!(#inner #(#settings)*));
    }
    let (Macro { path, tokens: text, .. }, settings) = with_rest::<Macro>.parse2(step.clone()).ok()?;
    let path: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
    let words = match path.join("::").trim_start_matches("std::").trim_start_matches("core::") {
        "todo" => "not yet implemented",
        "unimplemented" => "not implemented",
        _ => return None,
    };
    // Without arguments `format!` is an error.
    let text = if text.is_empty() { quote!("") } else { text };
    let is_whole = trees(&settings).first().is_none_or(|first| is_punct(first, '.'));
    is_whole.then(|| quote!(#Private::unwritten(#words, &#Private::format!(#text)) #settings))
}
