//! The other flows that a flow is made with, as its types name them: the one that it extends, and its modules.
//!
//! The path of each stands in one place, an alias, so that what is wrong with it is told once:
//!
//! ```text
//! pub type FeltBase<M> = Chat<M>;
//! type __FeltDebate = Debate;
//! ```
//!
//! And the types of columns that name parameters of the flow, which the struct of the columns knows nothing of.

use std::collections::HashSet;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{GenericParam, Path, PathArguments};

use super::{Tokens, again, at, literal};
use crate::ident::{camel_case, ident_text};
use crate::syntax::{Column, Flow, Form, Header, Module};

/// All of them.
pub(super) struct Others<'e> {
    pub(super) extended: Option<Other<'e>>,
    pub(super) modules: Vec<Other<'e>>,
    pub(super) types: Vec<Generic<'e>>,
}

impl<'e> Others<'e> {
    pub(super) fn new(private: &'e Tokens, flow: &'e Flow) -> Self {
        let header = match &flow.form {
            Form::Item(header) => Some(&**header),
            _ => None,
        };
        let extended = header.and_then(|header| Other::extended(private, header));
        let mut taken: HashSet<String> = extended.iter().map(|extended| literal(extended.flow)).collect();
        let columns = flow.columns.iter().filter(|column| column.derived.is_some() && !column.is_duplicate);
        let types = columns.filter_map(|column| {
            let variant = tell_apart(&column.name, &mut taken);
            Generic::new(header?, column, &variant)
        });
        let types = types.collect();
        // The parameter that stands for what is extended.
        taken.insert("Base".to_owned());
        let modules = flow.modules.iter().map(|module| {
            let name = Ident::new(&tell_apart(&module.name, &mut taken), Span::call_site());
            Other::module(private, header, module, name)
        });
        let modules = modules.collect();
        Self { extended, modules, types }
    }

    pub(super) fn are_none(&self) -> bool {
        self.extended.is_none() && self.modules.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Other<'e>> {
        self.extended.iter().chain(&self.modules)
    }

    fn generic(&self) -> impl Iterator<Item = &Other<'e>> {
        self.all().filter(|other| other.is_generic)
    }

    /// The aliases.
    pub(super) fn definitions(&self, header: &Header) -> TokenStream {
        let types = self.types.iter().map(|generic| generic.definition(header));
        self.all().map(|other| other.definition(header)).chain(types).collect()
    }

    /// What the enum of the columns has in angle brackets when it is used.
    pub(super) fn enum_arguments(&self) -> Option<TokenStream> {
        angled(self.generic().map(|other| other.part("Column")))
    }

    /// The same where it is defined.
    pub(super) fn params(&self, bound: &TokenStream) -> Option<TokenStream> {
        angled(self.generic().map(|Other { param, .. }| quote!(#param: #bound)))
    }

    /// The same in its own impls.
    pub(super) fn own_arguments(&self) -> Option<TokenStream> {
        angled(self.generic().map(|other| other.param.to_token_stream()))
    }

    /// What the struct of the columns has in angle brackets when it is used.
    pub(super) fn struct_arguments(&self) -> Option<TokenStream> {
        let types = self.types.iter().map(Generic::ty);
        angled(self.generic().map(|other| other.part("Columns")).chain(types))
    }

    /// The same where it is defined.
    pub(super) fn struct_params(&self, private: &Tokens) -> Option<TokenStream> {
        let types = self.types.iter().map(|Generic { param, .. }| quote!(#param: 'static));
        angled(self.generic().map(|Other { param, .. }| quote!(#param: #private::Columns)).chain(types))
    }

    /// The same in its own impls.
    pub(super) fn own_struct_arguments(&self) -> Option<TokenStream> {
        let types = self.types.iter().map(|Generic { param, .. }| param.to_token_stream());
        angled(self.generic().map(|other| other.param.to_token_stream()).chain(types))
    }

    /// The same in the impls of the enum, which knows no types.
    pub(super) fn arguments_by_enum(&self) -> Option<TokenStream> {
        let types = self.types.iter().map(|_| quote!(()));
        let others = self.generic();
        let others =
            others.map(|Other { private, param, .. }| quote!(<#param as #private::ColumnEnum>::Columns));
        angled(others.chain(types))
    }

    /// How many places the columns need, and how many bytes their names.
    pub(super) fn sizes(&self, private: &Tokens, columns: &impl ToTokens) -> (TokenStream, TokenStream) {
        if self.generic().next().is_some() || !self.types.is_empty() {
            return (quote!({ #private::MANY }), quote!({ #private::MUCH }));
        }
        let graph = quote!(<#columns as #private::Columns>::GRAPH);
        (quote!({ #graph.__len() }), quote!({ #graph.__text_len() }))
    }
}

/// In angle brackets, if there is anything to stand there.
fn angled(items: impl Iterator<Item = TokenStream>) -> Option<TokenStream> {
    let mut items = items.peekable();
    items.peek()?;
    Some(quote!(<#(#items),*>))
}

/// A variant for a column or a module that no other has.
pub(super) fn tell_apart(name: &Ident, taken: &mut HashSet<String>) -> String {
    let mut variant = camel_case(&literal(name));
    while !taken.insert(variant.clone()) {
        variant.push('_');
    }
    variant
}

pub(super) struct Other<'e> {
    private: &'e Tokens,
    path: &'e Path,
    /// The name of the flow.
    flow: &'e Ident,
    /// `None` in the inline form, where types do not know the parameters around them.
    alias: Option<Ident>,
    /// The parameters of the header that the path uses.
    params: Vec<&'e GenericParam>,
    /// Whether the path uses parameters that the struct and the enum of the columns do not have.
    is_generic: bool,
    /// The parameter that they have instead.
    param: Ident,
    pub(super) role: Role<'e>,
}

/// What a flow is to another.
pub(super) enum Role<'e> {
    Extended,
    Module(&'e Module),
}

impl<'e> Other<'e> {
    /// `None` where nothing is extended, or nobody knows what.
    fn extended(private: &'e Tokens, header: &'e Header) -> Option<Self> {
        let base = header.base.as_ref()?;
        let (path, flow) = (base.path.as_ref()?, base.name()?);
        let alias = format_ident!("{}Base", header.name.unraw(), span = at(header.keyword.span));
        let param = Ident::new("Base", Span::call_site());
        Some(Self::new(private, header, path, flow, alias, param, Role::Extended))
    }

    /// `name` is that of its variant.
    fn module(private: &'e Tokens, header: Option<&'e Header>, module: &'e Module, name: Ident) -> Self {
        let (path, role) = (&module.path, Role::Module(module));
        let flow = path.segments.last().map_or(&module.name, |last| &last.ident);
        let Some(header) = header else {
            let has_arguments =
                |segment: &syn::PathSegment| !matches!(segment.arguments, PathArguments::None);
            let is_generic = path.segments.iter().any(has_arguments);
            return Self {
                private,
                path,
                flow,
                alias: None,
                params: Vec::new(),
                is_generic,
                param: name,
                role,
            };
        };
        let alias = format_ident!("__{}{name}", header.name.unraw(), span = at(header.keyword.span));
        Self::new(private, header, path, flow, alias, name, role)
    }

    fn new(
        private: &'e Tokens,
        header: &'e Header,
        path: &'e Path,
        flow: &'e Ident,
        alias: Ident,
        param: Ident,
        role: Role<'e>,
    ) -> Self {
        let params = used(header, path.to_token_stream());
        let is_generic = params.iter().any(|param| !matches!(param, GenericParam::Lifetime(_)));
        Self { private, path, flow, alias: Some(alias), params, is_generic, param, role }
    }

    /// The name of the flow that is extended, or of the module.
    pub(super) fn name(&self) -> &Ident {
        match self.role {
            Role::Extended => self.flow,
            Role::Module(module) => &module.name,
        }
    }

    /// Its variant in the enum of the columns.
    pub(super) fn variant(&self) -> Ident {
        match self.role {
            Role::Extended => again(self.flow),
            Role::Module(_) => self.param.clone(),
        }
    }

    pub(super) fn path(&self) -> &Path {
        self.path
    }

    fn definition(&self, header: &Header) -> TokenStream {
        let (vis, path, Some(alias)) = (&header.vis, self.path, &self.alias) else {
            return TokenStream::new();
        };
        let params = self.params.iter().map(|param| declared(param));
        let (docs, ty) = match self.role {
            Role::Extended => {
                let docs = format!(" The flow that a [`{}`] extends.", header.name.unraw());
                (quote!(#[doc = #docs]), path.to_token_stream())
            }
            Role::Module(_) => (quote!(#[doc(hidden)]), self.checked()),
        };
        quote! {
            #docs
            #[allow(dead_code, unreachable_pub)]
            #vis type #alias<#(#params),*> = #ty;
        }
    }

    /// The path of a module, for a single error if that is none. The compiler takes no parameters there.
    fn checked(&self) -> TokenStream {
        let (private, path) = (self.private, self.path);
        if !self.params.is_empty() || self.alias.is_none() && self.is_generic {
            return path.to_token_stream();
        }
        let is_module = quote_spanned!(at(path.span())=> { #private::is_module::<#path>() });
        quote!(#private::Checked<#path, #is_module>)
    }

    /// The flow, where the parameters of the header are known.
    pub(super) fn ty(&self) -> TokenStream {
        let params = self.params.iter().map(|param| name_of(param));
        match &self.alias {
            Some(alias) => quote!(#alias<#(#params),*>),
            None => self.checked(),
        }
    }

    /// A type that goes with the flow, where the parameters of the header are known.
    pub(super) fn part(&self, part: &str) -> TokenStream {
        self.part_of(&self.ty(), part)
    }

    /// The same where they are not, in the definitions of the struct and the enum of the columns.
    pub(super) fn inner_part(&self, part: &str) -> TokenStream {
        if self.is_generic {
            return self.param.to_token_stream();
        }
        // The columns of a flow are the same whatever its steps borrow.
        let lifetimes = self.params.iter().map(|_| quote!('static));
        let ty = match &self.alias {
            Some(alias) => quote!(#alias<#(#lifetimes),*>),
            None => self.checked(),
        };
        self.part_of(&ty, part)
    }

    fn part_of(&self, ty: &TokenStream, part: &str) -> TokenStream {
        let (private, part) = (self.private, Ident::new(part, Span::call_site()));
        match self.role {
            Role::Extended => quote!(<#ty as #private::Base>::#part),
            Role::Module(_) => quote!(<<#ty as #private::Module>::Flow as #private::Base>::#part),
        }
    }

    /// A type, for what rustc says of the path. Not for bodies, nor for fields, which derives put there.
    pub(super) fn blamed(&self, ty: TokenStream) -> TokenStream {
        located(ty, self.path.span())
    }
}

/// The type of a column that names parameters of the flow. It stands in an alias, and the struct of the columns has a
/// parameter in its place.
pub(super) struct Generic<'e> {
    pub(super) column: &'e Ident,
    alias: Ident,
    ty: &'e TokenStream,
    /// The parameters of the header that it uses.
    params: Vec<&'e GenericParam>,
    pub(super) param: Ident,
}

impl<'e> Generic<'e> {
    /// `None` for a type that is the same in all flows, and for text.
    fn new(header: &'e Header, column: &'e Column, variant: &str) -> Option<Self> {
        let ty = column.derived.as_ref()?.ty.as_ref().filter(|ty| !ty.is_partial)?;
        let ty = &ty.ty;
        let params = used(header, ty.clone());
        let alias = format_ident!("__{}{variant}", header.name.unraw(), span = at(header.keyword.span));
        let param = format_ident!("__{variant}", span = Span::call_site());
        (!params.is_empty()).then_some(Self { column: &column.name, alias, ty, params, param })
    }

    fn definition(&self, header: &Header) -> TokenStream {
        let (vis, Self { alias, ty, .. }) = (&header.vis, self);
        let params = self.params.iter().map(|param| declared(param));
        quote! {
            #[doc(hidden)]
            #[allow(dead_code, unreachable_pub)]
            #vis type #alias<#(#params),*> = #ty;
        }
    }

    /// The type, where the parameters of the header are known.
    fn ty(&self) -> TokenStream {
        let (alias, params) = (&self.alias, self.params.iter().map(|param| name_of(param)));
        quote!(#alias<#(#params),*>)
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

/// The parameters of the header that these tokens use.
fn used(header: &Header, tokens: TokenStream) -> Vec<&GenericParam> {
    let used = names(tokens);
    let is_used = |param: &&GenericParam| names(name_of(param)).iter().all(|name| used.contains(name));
    header.generics.params.iter().filter(is_used).collect()
}

/// A parameter where it is declared, without what is asked of it.
fn declared(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            quote!(const #name: #ty)
        }
        other => name_of(other),
    }
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
            TokenTree::Ident(ident) => names.push(format!("{quote}{}", ident_text(&ident))),
            TokenTree::Group(group) => names.extend(self::names(group.stream())),
            _ => {}
        }
        quote = if is_quote { "'" } else { "" };
    }
    names
}
