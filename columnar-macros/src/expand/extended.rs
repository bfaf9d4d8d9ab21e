//! The flow that is extended, as the types of its extension name it.
//!
//! Its path stands in one place, an alias, so that what is wrong with it is told once:
//!
//! ```text
//! pub type FeltBase<M> = Chat<M>;
//! ```

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Path};

use super::{Private, at};
use crate::syntax::Header;

pub(super) struct Extended<'e> {
    private: &'e Private,
    path: &'e Path,
    /// The name of the flow.
    name: &'e Ident,
    alias: Ident,
    /// The parameters of the header that the path uses.
    params: Vec<&'e GenericParam>,
}

impl<'e> Extended<'e> {
    /// `None` where nothing is extended, or nobody knows what.
    pub(super) fn new(private: &'e Private, header: &'e Header) -> Option<Self> {
        let base = header.base.as_ref()?;
        let (path, name) = (base.path.as_ref()?, base.name()?);
        let used = names(path.to_token_stream());
        let params = header.generics.params.iter().filter(|param| used.contains(&name_of(param).to_string()));
        let alias = format_ident!("{}Base", header.name.unraw(), span = at(header.keyword.span));
        Some(Self { private, path, name, alias, params: params.collect() })
    }

    /// The name of the flow.
    pub(super) fn name(&self) -> &Ident {
        self.name
    }

    /// Whether the path uses parameters that the struct and the enum of the columns do not have.
    fn is_generic(&self) -> bool {
        self.params.iter().any(|param| !matches!(param, GenericParam::Lifetime(_)))
    }

    /// The alias.
    pub(super) fn definition(&self, header: &Header) -> TokenStream {
        let (vis, alias, path) = (&header.vis, &self.alias, self.path);
        let params = self.params.iter().map(|param| match param {
            GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
            GenericParam::Type(param) => param.ident.to_token_stream(),
            GenericParam::Const(param) => {
                let (name, ty) = (&param.ident, &param.ty);
                quote!(const #name: #ty)
            }
        });
        let docs = format!(" The flow that a [`{}`] extends.", header.name.unraw());
        quote! {
            #[doc = #docs]
            #[allow(dead_code, unreachable_pub)]
            #vis type #alias<#(#params),*> = #path;
        }
    }

    /// The flow, where the parameters of the header are known.
    pub(super) fn ty(&self) -> TokenStream {
        let (alias, params) = (&self.alias, self.params.iter().map(|param| name_of(param)));
        quote!(#alias<#(#params),*>)
    }

    /// A type that goes with the flow, where the parameters of the header are known.
    pub(super) fn part(&self, part: &str) -> TokenStream {
        let (private, ty, part) = (self.private, self.ty(), Ident::new(part, Span::call_site()));
        quote!(<#ty as #private::Base>::#part)
    }

    /// The same where they are not, in the definitions of the struct and the enum of the columns.
    pub(super) fn inner_part(&self, part: &str) -> TokenStream {
        if self.is_generic() {
            return quote!(Base);
        }
        let (private, alias, part) = (self.private, &self.alias, Ident::new(part, Span::call_site()));
        // The columns of a flow are the same whatever its steps borrow.
        let lifetimes = self.params.iter().map(|_| quote!('static));
        quote!(<#alias<#(#lifetimes),*> as #private::Base>::#part)
    }

    /// A type, for what rustc says of the path. Not for bodies, nor for fields, which derives put there.
    pub(super) fn blamed(&self, ty: TokenStream) -> TokenStream {
        located(ty, self.path.span())
    }

    /// What the struct or the enum of the columns has in angle brackets when it is used.
    pub(super) fn arguments(&self, part: &str) -> Option<TokenStream> {
        let part = self.is_generic().then(|| self.part(part))?;
        Some(quote!(<#part>))
    }

    /// The same where it is defined.
    pub(super) fn params(&self, bound: &TokenStream) -> Option<TokenStream> {
        self.is_generic().then(|| quote!(<Base: #bound>))
    }

    /// The same in its own impls.
    pub(super) fn own_arguments(&self) -> Option<TokenStream> {
        self.is_generic().then(|| quote!(<Base>))
    }

    /// The length of an array that has a place for each of so many columns and those of the flow.
    pub(super) fn places(&self, own: usize) -> TokenStream {
        let private = self.private;
        if self.is_generic() {
            return quote!({ #private::MANY });
        }
        let base = self.inner_part("Columns");
        quote!({ <#base as #private::Columns>::GRAPH.__len() + #own })
    }
}

/// The tokens, for what rustc says of them at `place`.
fn located(tokens: TokenStream, place: Span) -> TokenStream {
    let tokens = tokens.into_iter().map(|mut tree| {
        if let TokenTree::Group(group) = &tree {
            tree = Group::new(group.delimiter(), located(group.stream(), place)).into();
        }
        tree.set_span(tree.span().located_at(place));
        tree
    });
    tokens.collect()
}

fn name_of(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    }
}

/// The identifiers and lifetimes among the tokens.
fn names(tokens: TokenStream) -> Vec<String> {
    let mut names = Vec::new();
    let mut quote = "";
    for tree in tokens {
        let is_quote = matches!(&tree, TokenTree::Punct(punct) if punct.as_char() == '\'');
        match tree {
            TokenTree::Ident(ident) => names.push(format!("{quote}{ident}")),
            TokenTree::Group(group) => names.extend(self::names(group.stream())),
            _ => {}
        }
        quote = if is_quote { "'" } else { "" };
    }
    names
}
