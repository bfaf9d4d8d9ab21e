//! The rules that only rustc can check, because the rules are about columns of other flows or about constants:
//!
//! ```text
//! fn __check<T>(
//!     _: <T as rules::new_name::Rule<{ !FeltColumns::__BASE.__has("topics") }>>::Checked<()>,
//! ) {}
//! ```
//!
//! Where a type parameter lacks a trait, rustc prints the message of the trait and nothing else. Around the message of
//! a panic in a constant, rustc would print the constant and each place that uses it. Where the struct of the columns
//! has parameters, rustc knows their values only in the program that uses the flow, and a rule is an assertion there.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};

use super::linked::inside;
use crate::expand::dependencies::Dependency;
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{Tokens, constant_ident, hidden_ident, list, unlocated};
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, ModuleDecl, ViewDecl, ViewState};

struct RuleCheck {
    /// The module of the rule in the runtime crate.
    name: &'static str,
    /// The position of the error.
    at: Span,
    /// A constant expression of type `bool`.
    holds: TokenStream,
    /// A trait for this rule alone, with a message that has a drawing.
    own: Option<(Ident, String)>,
}

impl Emitter<'_> {
    /// The rules as items, where no parameter is needed to evaluate them. `name` is the name of the struct of the
    /// columns.
    pub(super) fn checks(&self, name: &Ident) -> Option<TokenStream> {
        if !self.dependencies.has_constant_graph() {
            return None;
        }
        // Conditions are bodies, where no generated token is located among the user's lines.
        let private = self.private;
        let name = unlocated(name);
        let arguments = self.dependencies.any_struct_arguments();
        let graph = quote!(<#name #arguments as #private::Columns>::GRAPH);
        let rules = self.rules(&quote!(#name #arguments), &graph);
        let traits = rules.iter().filter_map(RuleCheck::own_trait);
        // rustc reports a parameter that lacks a trait once, so each rule has a separate parameter.
        let params = (0..rules.len()).map(|at| format_ident!("__T{at}", span = Span::mixed_site()));
        let params: Vec<Ident> = params.collect();
        let checks = rules.iter().zip(&params).map(|(rule, param)| rule.check(private, param));
        (!rules.is_empty()).then(|| {
            quote! {
                // An editor would take the positions of the errors for mentions of the names there.
                #[allow(dead_code, unexpected_cfgs, clippy::too_many_arguments)]
                const _: () = {
                    #[cfg(not(rust_analyzer))]
                    const _: () = {
                        #(#traits)*
                        fn __check<#(#params),*>(#(_: #checks),*) {}
                    };
                };
            }
        })
    }

    /// The value of a graph, after the assertion of the rules where the graph depends on parameters.
    pub(super) fn checked_graph(&self, graph: TokenStream) -> TokenStream {
        if self.dependencies.has_constant_graph() {
            return graph;
        }
        let private = self.private;
        let assertions = self.rules(&quote!(Self), &quote!(__graph)).into_iter();
        let assertions = assertions.map(|RuleCheck { name, at, holds, .. }| {
            let rule = Ident::new(name, Span::call_site());
            let opening = private.opening(at);
            quote!(#opening #private::rules::#rule::Assertion>::check(#holds);)
        });
        quote!({
            let __graph = #graph;
            #(#assertions)*
            __graph
        })
    }

    /// `columns` is the type of the columns, and `graph` the value of the graph.
    fn rules(&self, columns: &TokenStream, graph: &TokenStream) -> Vec<RuleCheck> {
        let mut rules = Vec::new();
        if self.dependencies.base.is_some() {
            rules.extend(self.flow.names().map(|name| rule_of_name(name, columns)));
            rules.extend(self.flow.columns.iter().flat_map(|column| rules_of_documents(column, columns)));
        }
        let views = self.flow.columns.iter().flat_map(ColumnDecl::reads);
        rules.extend(views.filter_map(|view| rule_of_view(view, columns)));
        for (module, dependency) in self.modules() {
            rules.extend(self.rules_of_module(module, dependency, columns));
        }
        let windows = self.flow.columns.iter().filter_map(|column| self.rule_of_windows(column, columns));
        rules.extend(windows);
        rules.extend(self.rules_of_cycles(columns, graph));
        rules
    }

    fn rules_of_module(
        &self,
        module: &ModuleDecl,
        dependency: &Dependency<'_>,
        columns: &TokenStream,
    ) -> Vec<RuleCheck> {
        let at = hidden_ident("AT_", &module.name);
        let keyword = module.keyword.span();
        let mut rules = vec![RuleCheck::new("few_levels", keyword, quote!(<#columns>::#at.__fits()))];
        // Elsewhere a struct has the inputs as fields.
        if !dependency.has_struct_of_inputs() && module.is_complete {
            let used = constant_ident("inputs", &module.name);
            rules.push(RuleCheck::new("all_inputs", keyword, quote!(<#columns>::#used.__is_complete())));
        }
        let reads = self.flow.columns.iter().flat_map(ColumnDecl::reads);
        let reads = reads.filter(|view| view.state != ViewState::NoColumn);
        let of_module = reads.filter_map(|view| Some((view, view.inside(&module.name)?)));
        rules.extend(of_module.map(|(view, name)| {
            let is_input = module.inputs.iter().any(|input| ident_text(&input.name) == name);
            let (rule, is_other) = if is_input {
                ("no_input", quote!(__is_source))
            } else {
                ("column_of_module", quote!(__is_module))
            };
            RuleCheck::new(rule, view.last().span(), quote!(!<#columns>::#at.#is_other(#name)))
        }));
        let inputs = module.inputs.iter().filter_map(|input| Some((&input.name, input.read()?)));
        rules.extend(inputs.flat_map(|(input, column)| self.rules_of_input(module, input, column, columns)));
        rules
    }

    /// An input takes documents if the column for the input holds documents, and text if the column holds text.
    fn rules_of_input(
        &self,
        module: &ModuleDecl,
        input: &Ident,
        column: &ViewDecl,
        columns: &TokenStream,
    ) -> Vec<RuleCheck> {
        let read = column.name();
        let name = ident_text(input);
        let of_module = hidden_ident("AT_", &module.name);
        let takes_documents = quote!(<#columns>::#of_module.__takes_documents(#name));
        let takes_text = quote!(<#columns>::#of_module.__takes_text(#name));
        let rules = if column.is_inherited {
            // Only rustc knows the sources of the base.
            let is_documents = quote!(<#columns>::__BASE.__is_documents(#read));
            vec![
                ("takes_text", quote!(#is_documents || !#takes_documents)),
                ("takes_documents", quote!(!#is_documents || !#takes_text)),
            ]
        } else if self.flow.documents().contains(&read) {
            vec![("takes_documents", quote!(!#takes_text))]
        } else {
            vec![("takes_text", quote!(!#takes_documents))]
        };
        rules.into_iter().map(|(name, holds)| RuleCheck::new(name, input.span(), holds)).collect()
    }

    /// A window whose count is a constant shows at least one value.
    fn rule_of_windows(&self, column: &ColumnDecl, columns: &TokenStream) -> Option<RuleCheck> {
        let private = self.private;
        let mut valid = column.reads().filter(|view| view.is_valid());
        let at = valid.find_map(ViewDecl::computed_window)?;
        let views = constant_ident("views", &column.name);
        Some(RuleCheck::new("some_values", at, quote!(#private::View::__show_values(<#columns>::#views))))
    }

    /// Cycles that may be there, depending on which inputs a column of a module waits for.
    fn rules_of_cycles(&self, columns: &TokenStream, graph: &TokenStream) -> impl Iterator<Item = RuleCheck> {
        let (count, _) = self.dependencies.graph_sizes(self.private, columns);
        self.plan.possible_cycles.iter().enumerate().map(move |(at, cycle)| {
            let modules = list(cycle.modules.iter().map(|name| format!("{name:?}")));
            let holds = quote!(#graph.__is_acyclic::<#count>(&[#modules]));
            let own = format_ident!("__Acyclic{at}", span = Span::mixed_site());
            RuleCheck {
                own: Some((own, cycle.message.clone())),
                ..RuleCheck::new("acyclic", cycle.at, holds)
            }
        })
    }
}

impl RuleCheck {
    fn new(name: &'static str, at: Span, holds: TokenStream) -> Self {
        Self { name, at, holds, own: None }
    }

    fn own_trait(&self) -> Option<TokenStream> {
        let (name, message) = self.own.as_ref()?;
        Some(quote! {
            #[diagnostic::on_unimplemented(message = #message, label = "")]
            trait #name<const HOLDS: bool> { type Checked<U>; }
            impl<T> #name<true> for T { type Checked<U> = (); }
        })
    }

    /// A type that exists if the rule holds. `param` is a type parameter.
    fn check(&self, private: &Tokens, param: &Ident) -> TokenStream {
        let Self { name, at, holds, own } = self;
        let name = Ident::new(name, Span::call_site());
        let rule = own.as_ref().map_or_else(|| quote!(#private::rules::#name::Rule), |(own, _)| quote!(#own));
        // rustc underlines from the first token to the last.
        let first = quote_spanned!(*at=> <);
        let last = quote_spanned!(*at=> >);
        quote!(#first #param as #rule<{ #holds }>>::Checked<() #last)
    }
}

/// No column or module has the name of one of the base.
fn rule_of_name(name: &Ident, columns: &TokenStream) -> RuleCheck {
    let text = ident_text(name);
    RuleCheck::new("new_name", name.span(), quote!(!<#columns>::__BASE.__has(#text)))
}

/// A word after a column of another flow is no method of that column.
fn rule_of_view(view: &ViewDecl, columns: &TokenStream) -> Option<RuleCheck> {
    let before = view.before_a_method().filter(|_| view.state != ViewState::NoColumn)?;
    let name = view.name();
    let at = view.last().span();
    let (of, before, name) = if view.is_inherited {
        (quote!(<#columns>::__BASE), &*before, &*name)
    } else {
        let module = hidden_ident("AT_", &view.base);
        (quote!(<#columns>::#module), inside(&before), inside(&name))
    };
    // An unknown column before the word is reported where it is mentioned.
    Some(RuleCheck::new("known_view", at, quote!(#of.__has(#name) || !#of.__has(#before))))
}

/// A tiered view shows documents. A column of the base holds text if a view shows a part of it, or if it is read beside
/// a tiered view.
fn rules_of_documents(column: &ColumnDecl, columns: &TokenStream) -> Vec<RuleCheck> {
    let tiers: Vec<String> = column.reads().filter(|view| view.is_tiered()).map(ViewDecl::name).collect();
    let rules = column.reads().filter(|view| view.is_inherited).filter_map(|view| {
        let at = view.base.span();
        let name = view.name();
        let is_documents = quote!(<#columns>::__BASE.__is_documents(#name));
        let (rule, holds) = if view.is_tiered() {
            // A name that the base does not have is reported at the mention of the name.
            let is_known = quote!(<#columns>::__BASE.__has(#name));
            ("tiered_documents", quote!(#is_documents || !#is_known))
        } else if view.part().is_some() {
            ("whole_documents", quote!(!#is_documents))
        } else if !tiers.is_empty() && !tiers.contains(&name) {
            // Two views of the same documents are reported elsewhere.
            ("one_source_of_documents", quote!(!#is_documents))
        } else {
            return None;
        };
        Some(RuleCheck::new(rule, at, holds))
    });
    rules.collect()
}
