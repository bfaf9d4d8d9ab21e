//! The dependencies of a flow: the base of an extension, and the flows that are used as modules.
//!
//! Each path is in the expansion once, in an alias, so that an error in the path is reported once:
//!
//! ```text
//! pub type FeltBase<M> = Chat<M>;
//! type __FeltDebate = Debate;
//! ```

use std::collections::HashSet;
use std::iter;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{ConstParam, GenericParam, Path};

use super::generics::{TypeParam, angled, argument, declaration, type_alias, used_params};
use super::tokens::{Private, located, underlined, unlocated};
use crate::ident::{camel_case, ident_text};
use crate::syntax::{ColumnDecl, FlowDecl, FlowHeader, ModuleDecl, ViewDecl};

pub(super) struct Dependencies<'e> {
    pub(super) base: Option<Dependency<'e>>,
    pub(super) modules: Vec<Dependency<'e>>,
    /// The variant of each computed column in the enum that names these columns.
    pub(super) variants: Vec<String>,
    /// The typed columns whose types name parameters of the header. The struct of the columns has a parameter for each,
    /// as for each dependency with parameters.
    pub(super) types: Vec<TypeParam<'e>>,
    /// The constant parameters of the header that views name, as in `user.window(N)`. The struct of the columns has
    /// these parameters, too.
    pub(super) consts: Vec<&'e ConstParam>,
}

impl<'e> Dependencies<'e> {
    pub(super) fn new(flow: &'e FlowDecl) -> Self {
        let header = flow.header();
        // Without its path, a base could not be read.
        let base = header.and_then(|header| {
            let base = header.base.as_ref()?;
            let param = Ident::new("Base", Span::call_site());
            let path = base.path.as_ref()?;
            Some(Dependency::new(Some(header), path, base.name()?, param, FlowRole::Base))
        });
        let mut taken: HashSet<String> = base.iter().map(|base| ident_text(base.flow)).collect();
        let columns = flow.columns.iter().filter(|column| column.derived.is_some() && !column.is_duplicate);
        // Columns before modules: both are variants of one enum, where no module may take a column's.
        let variants = columns.clone().map(|column| unique_variant(&column.name, &mut taken));
        let variants: Vec<String> = variants.collect();
        let types = iter::zip(columns, &variants);
        let types = types.filter_map(|(column, variant)| TypeParam::new(header?, column, variant)).collect();
        let consts = header.map(|header| consts(header, flow)).unwrap_or_default();
        // The parameter for the base.
        taken.insert("Base".to_owned());
        let modules = flow.modules.iter().map(|module| {
            let variant = Ident::new(&unique_variant(&module.name, &mut taken), Span::call_site());
            let flow = module.path.segments.last().map_or(&module.name, |last| &last.ident);
            Dependency::new(header, &module.path, flow, variant, FlowRole::Module(module))
        });
        let modules = modules.collect();
        Self { base, modules, variants, types, consts }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.base.is_none() && self.modules.is_empty()
    }

    fn all(&self) -> impl Iterator<Item = &Dependency<'e>> {
        self.base.iter().chain(&self.modules)
    }

    fn generic(&self) -> impl Iterator<Item = &Dependency<'e>> {
        self.all().filter(|dependency| dependency.is_generic)
    }

    pub(super) fn alias_definitions(&self, header: &FlowHeader) -> TokenStream {
        let types = self.types.iter().map(|param| param.alias_definition(header));
        self.all().map(|dependency| dependency.alias_definition(header)).chain(types).collect()
    }

    /// The arguments of the enum of the columns, where it is used.
    pub(super) fn enum_arguments(&self) -> Option<TokenStream> {
        angled(self.generic().map(|dependency| dependency.associated("ColumnOf")))
    }

    /// The parameters of the enum of the columns, where it is defined.
    pub(super) fn enum_params(&self) -> Option<TokenStream> {
        angled(self.generic().map(|Dependency { param, .. }| quote!(#param: #Private::ColumnEnum)))
    }

    /// The arguments of the enum of the columns in its own impls.
    pub(super) fn own_enum_arguments(&self) -> Option<TokenStream> {
        angled(self.generic().map(|dependency| dependency.param.to_token_stream()))
    }

    /// The arguments of the struct of the columns, where it is used.
    pub(super) fn struct_arguments(&self) -> Option<TokenStream> {
        self.struct_list(
            |dependency| dependency.associated("ColumnsOf"),
            TypeParam::ty,
            |constant| constant.ident.to_token_stream(),
        )
    }

    /// The parameters of the struct of the columns, where it is defined.
    pub(super) fn struct_params(&self) -> Option<TokenStream> {
        self.struct_list(
            |Dependency { param, .. }| quote!(#param: #Private::Columns),
            // `Columns` is `'static`, so the parameters of the struct must be.
            |TypeParam { param, .. }| quote!(#param: 'static),
            |ConstParam { ident, ty, .. }| quote!(const #ident: #ty),
        )
    }

    /// The arguments of the struct of the columns in its own impls.
    pub(super) fn own_struct_arguments(&self) -> Option<TokenStream> {
        self.struct_list(
            |dependency| dependency.param.to_token_stream(),
            |ty| ty.param.to_token_stream(),
            |constant| constant.ident.to_token_stream(),
        )
    }

    /// The arguments of the struct of the columns in impls of the enum, which knows no types of columns.
    pub(super) fn struct_arguments_in_enum(&self) -> Option<TokenStream> {
        self.struct_list(
            |Dependency { param, .. }| quote!(<#param as #Private::ColumnEnum>::Columns),
            // The names of columns do not depend on the types of values, so any type will do.
            |_| quote!(()),
            any_constant,
        )
    }

    /// A list of the parameters of the struct of the columns, or of arguments for each.
    fn struct_list(
        &self,
        columns: impl Fn(&Dependency<'e>) -> TokenStream,
        ty: impl Fn(&TypeParam<'e>) -> TokenStream,
        constant: impl Fn(&ConstParam) -> TokenStream,
    ) -> Option<TokenStream> {
        let types = self.types.iter().map(ty);
        let consts = self.consts.iter().map(|param| constant(param));
        angled(self.generic().map(columns).chain(types).chain(consts))
    }

    /// Whether rustc can evaluate the graph here, and not only at a use of the flow.
    pub(super) fn has_constant_graph(&self) -> bool {
        self.generic().next().is_none() && self.consts.is_empty()
    }

    /// Any arguments of the struct of the columns, where the graph does not depend on the arguments.
    pub(super) fn any_struct_arguments(&self) -> Option<TokenStream> {
        // The graph has no types of columns, so any type will do.
        angled(self.types.iter().map(|_| quote!(())))
    }

    /// The number of columns and the number of bytes of all names, dependencies included, as constants.
    pub(super) fn graph_sizes(&self, columns: &impl ToTokens) -> (TokenStream, TokenStream) {
        // Stable Rust allows no generic parameter in the length of an array.
        if !self.has_constant_graph() || !self.types.is_empty() {
            return (quote!({ #Private::MAX_COLUMNS }), quote!({ #Private::MAX_NAME_BYTES }));
        }
        let graph = quote!(<#columns as #Private::Columns>::GRAPH);
        (quote!({ #graph.__len() }), quote!({ #graph.__text_len() }))
    }
}

/// The constant parameters of the header that views name.
fn consts<'e>(header: &'e FlowHeader, flow: &'e FlowDecl) -> Vec<&'e ConstParam> {
    if header.generics.const_params().next().is_none() {
        return Vec::new();
    }
    let views = flow.columns.iter().flat_map(ColumnDecl::reads);
    let used = used_params(header, views.map(ViewDecl::constant_modifiers).collect());
    let consts = used.into_iter().filter_map(|param| match param {
        GenericParam::Const(param) => Some(param),
        _ => None,
    });
    consts.collect()
}

/// A value of a constant parameter, for the enum of the columns, where the names do not depend on the value.
fn any_constant(ConstParam { ty, default, .. }: &ConstParam) -> TokenStream {
    match (default, ty.to_token_stream().to_string().as_str()) {
        (Some((_, default)), _) => default.to_token_stream(),
        (None, "bool") => quote!(true),
        (None, "char") => quote!('1'),
        // The least that a window can have.
        (None, _) => quote!(1),
    }
}

/// A variant for a column or a module, different from all others.
fn unique_variant(name: &Ident, taken: &mut HashSet<String>) -> String {
    let mut variant = camel_case(&ident_text(name));
    while !taken.insert(variant.clone()) {
        variant.push('_');
    }
    variant
}

pub(super) struct Dependency<'e> {
    pub(super) path: &'e Path,
    /// The name of the flow.
    flow: &'e Ident,
    /// `None` in the inline form, where an alias could not name the parameters around the flow.
    alias: Option<Ident>,
    /// The alias that a constant checks, so that a path that names no flow is a single error. A constant in a type can use
    /// no parameters.
    checked: Option<Ident>,
    /// The parameters of the header that the path uses.
    params: Vec<&'e GenericParam>,
    /// Whether the path uses parameters that are not in scope where the struct and the enum of the columns are defined.
    is_generic: bool,
    /// The parameter of the struct and the enum for a generic dependency.
    param: Ident,
    pub(super) role: FlowRole<'e>,
}

/// The struct of the inputs of a module.
pub(super) struct InputsAlias {
    /// An alias of the struct. rustc accepts no associated type before the fields of a struct.
    pub(super) definition: TokenStream,
    /// The alias, with the parameters that are in scope.
    pub(super) path: TokenStream,
}

pub(super) enum FlowRole<'e> {
    Base,
    Module(&'e ModuleDecl),
}

impl<'e> Dependency<'e> {
    fn new(
        header: Option<&'e FlowHeader>,
        path: &'e Path,
        flow: &'e Ident,
        param: Ident,
        role: FlowRole<'e>,
    ) -> Self {
        let Some(header) = header else {
            // The parameters around an inline flow are unknown here, and any argument may name one.
            let is_generic = path.segments.iter().any(|segment| !segment.arguments.is_none());
            let params = Vec::new();
            return Self { path, flow, alias: None, checked: None, params, is_generic, param, role };
        };
        let params = used_params(header, path.to_token_stream());
        // A lifetime needs no parameter: `associated_in_definition` writes `'static` instead.
        let is_generic = params.iter().any(|param| !matches!(param, GenericParam::Lifetime(_)));
        // The checked alias has an upper case that no column and no module has.
        let name = header.name.unraw();
        let [alias, checked] = match role {
            FlowRole::Base => [format!("{name}Base"), format!("__{name}BASE")],
            FlowRole::Module(_) => [format!("__{name}{param}"), format!("__{name}{param}MODULE")],
        }
        .map(|name| Ident::new(&name, located(header.keyword.span)));
        let checked = params.is_empty().then_some(checked);
        Self { path, flow, alias: Some(alias), checked, params, is_generic, param, role }
    }

    /// The name of the base, or of the module.
    pub(super) fn name(&self) -> &Ident {
        match self.role {
            FlowRole::Base => self.flow,
            FlowRole::Module(module) => &module.name,
        }
    }

    /// The variant in the enum of the columns.
    pub(super) fn variant(&self) -> Ident {
        match self.role {
            // With the hygiene of the user, a rename in an editor would change another file.
            FlowRole::Base => unlocated(self.flow),
            FlowRole::Module(_) => self.param.clone(),
        }
    }

    fn alias_definition(&self, header: &FlowHeader) -> TokenStream {
        let Some(alias) = &self.alias else { return TokenStream::new() };
        let path = self.path;
        let checked = self.checked.as_ref().map(|checked| self.checked_definition(header, alias, checked));
        if let FlowRole::Module(_) = self.role {
            let alias = self.hidden_alias(header, alias, &path.to_token_stream());
            return quote!(#alias #checked);
        }
        let docs = format!(" The flow that a [`{}`] extends.", header.name.unraw());
        let definition = type_alias(header, alias, &self.params, path);
        quote!(#[doc = #docs] #definition #checked)
    }

    /// An alias. On pages, rustdoc puts the path in the place of an alias that is private.
    fn hidden_alias(&self, header: &FlowHeader, alias: &Ident, ty: &TokenStream) -> TokenStream {
        let path = self.path;
        let params = self.params.iter().map(|param| declaration(param));
        let definition = type_alias(header, alias, &self.params, ty);
        quote! {
            #[cfg(not(doc))]
            #[doc(hidden)]
            #definition
            #[cfg(doc)]
            #[doc(hidden)]
            type #alias<#(#params),*> = #path;
        }
    }

    /// The alias that a constant checks.
    fn checked_definition(&self, header: &FlowHeader, alias: &Ident, checked: &Ident) -> TokenStream {
        let vis = &header.vis;
        let ty = self.checked_type(&quote!(#alias));
        let FlowRole::Base = self.role else { return self.hidden_alias(header, checked, &ty) };
        // rustc reports a public flow that extends a private one at each type of the interface that names the private
        // one. So only a single associated type names the private flow.
        let owner = format_ident!("__{}FLOW", header.name.unraw(), span = alias.span());
        let alias = self.hidden_alias(header, checked, &quote!(<#owner as #Private::BaseOf>::Flow));
        quote! {
            #[doc(hidden)]
            #[allow(missing_copy_implementations, missing_debug_implementations, unreachable_pub)]
            #vis enum #owner {}

            impl #Private::BaseOf for #owner { type Flow = #ty; }

            #alias
        }
    }

    /// A type that a constant checks, so that one that is no flow is a single error, at the path of the user. A constant in
    /// a type can use no parameters.
    fn checked_type(&self, ty: &TokenStream) -> TokenStream {
        let check = match self.role {
            FlowRole::Base => quote!(is_base),
            FlowRole::Module(_) => quote!(is_module),
        };
        let mut path = self.path.to_token_stream().into_iter().map(|tree| tree.span());
        let first = path.next().unwrap_or_else(Span::call_site);
        let last = path.last().unwrap_or(first);
        let first = quote_spanned!(first=> <);
        let last = quote_spanned!(last=> >);
        let at_path = quote!(#first #ty as #Private::Itself>::Type<() #last);
        quote!(#Private::Checked<#ty, { #Private::#check::<#at_path>() }>)
    }

    /// The path of a module of the inline form.
    fn inline_path(&self) -> TokenStream {
        let path = self.path.to_token_stream();
        // A constant in a type can use no parameters.
        if self.is_generic { path } else { self.checked_type(&path) }
    }

    fn has_checked_path(&self) -> bool {
        self.params.is_empty() && !(self.alias.is_none() && self.is_generic)
    }

    /// The flow, where the parameters of the header are in scope.
    pub(super) fn ty(&self) -> TokenStream {
        match (&self.checked, &self.alias) {
            (Some(checked), _) => quote!(#checked),
            (None, Some(_)) => self.unchecked(),
            (None, None) => self.inline_path(),
        }
    }

    /// The flow without a check, where the parameters of the header are in scope.
    pub(super) fn unchecked(&self) -> TokenStream {
        let params = self.params.iter().map(|param| argument(param));
        match &self.alias {
            Some(alias) => quote!(#alias<#(#params),*>),
            None => self.path.to_token_stream(),
        }
    }

    /// Whether the inputs of a module are fields of a struct. In the inline form, an alias of that struct could not
    /// name the parameters around the flow.
    pub(super) fn has_struct_of_inputs(&self) -> bool {
        self.alias.is_some() || !self.is_generic
    }

    /// The struct of the inputs of a module, if there is one. The name of the struct has a position, where rustc
    /// reports missing inputs.
    pub(super) fn inputs(&self, at: Span) -> Option<InputsAlias> {
        if !self.has_struct_of_inputs() {
            return None;
        }
        let flow = self.ty();
        let name = Ident::new("__Inputs", at);
        let params = angled(self.params.iter().map(|param| declaration(param)));
        let arguments = angled(self.params.iter().map(|param| argument(param)));
        let definition = quote!(type #name #params = <#flow as #Private::Module>::Inputs;);
        let arguments = arguments.map(|arguments| quote!(::#arguments));
        // rustc underlines from the first token to the last.
        let path = quote!(#name #arguments).into_iter().map(|mut tree| {
            tree.set_span(at);
            tree
        });
        Some(InputsAlias { definition, path: path.collect() })
    }

    /// An associated type of the flow, where the parameters of the header are in scope: `ColumnsOf` is the struct of the
    /// columns, and `ColumnOf` the enum that names the computed ones. Each is an alias, since rustdoc shows types as written.
    pub(super) fn associated(&self, alias: &str) -> TokenStream {
        self.associated_of(&self.ty(), alias)
    }

    /// An associated type of the flow in the definitions of the struct and the enum of the columns.
    pub(super) fn associated_in_definition(&self, alias: &str) -> TokenStream {
        if self.is_generic {
            return self.param.to_token_stream();
        }
        if let Some(checked) = &self.checked {
            return self.associated_of(&quote!(#checked), alias);
        }
        // The columns of a flow are the same for every lifetime of the steps.
        let lifetimes = self.params.iter().map(|_| quote!('static));
        let ty = match &self.alias {
            Some(alias) => quote!(#alias<#(#lifetimes),*>),
            None => self.inline_path(),
        };
        self.associated_of(&ty, alias)
    }

    fn associated_of(&self, ty: &TokenStream, alias: &str) -> TokenStream {
        // The constant in the checked path of a module finds that the path is a module.
        let is_unchecked = matches!(self.role, FlowRole::Module(_)) && !self.has_checked_path();
        let module = is_unchecked.then(|| quote!(module::));
        let alias = Ident::new(alias, Span::call_site());
        quote!(#Private::#module #alias<#ty>)
    }

    /// Another associated type of the flow, which only a base has.
    pub(super) fn of_base(&self, name: &str) -> TokenStream {
        let ty = self.ty();
        let name = Ident::new(name, Span::call_site());
        quote!(<#ty as #Private::Base>::#name)
    }

    /// A type whose errors rustc reports at the path. The type must not get into bodies, nor into fields, which derives
    /// copy there.
    pub(super) fn at_path(&self, ty: TokenStream) -> TokenStream {
        underlined(self.path.span(), ty)
    }
}
