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
use crate::expand::tokens::{Private, constant_ident, hidden_ident, list, unlocated};
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
        let name = unlocated(name);
        let arguments = self.dependencies.any_struct_arguments();
        let graph = quote!(<#name #arguments as #Private::Columns>::GRAPH);
        let rules = self.rules(&quote!(#name #arguments), &graph);
        let traits = rules.iter().filter_map(RuleCheck::own_trait);
        // rustc reports a parameter that lacks a trait once, so each rule has a separate parameter.
        let params = (0..rules.len()).map(|at| format_ident!("__T{at}", span = Span::mixed_site()));
        let params: Vec<Ident> = params.collect();
        let checks = rules.iter().zip(&params).map(|(rule, param)| rule.check(param));
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
        let assertions = self.rules(&quote!(Self), &quote!(__graph)).into_iter();
        let assertions = assertions.map(|RuleCheck { name, at, holds, .. }| {
            let rule = Ident::new(name, Span::call_site());
            let opening = Private::opening(at);
            quote!(#opening #Private::rules::#rule::Assertion>::check(#holds);)
        });
        quote!({
            let __graph = #graph;
            #(#assertions)*
            __graph
        })
    }

    /// `columns` is the type of the columns, and `graph` the value of the graph.
    fn rules(&self, columns: &TokenStream, graph: &TokenStream) -> Vec<RuleCheck> {
        let mut rules = DeferredRules { emitter: self, columns, found: Vec::new() };
        let all = &self.flow.columns;
        if self.dependencies.base.is_some() {
            self.flow.names().for_each(|name| rules.add_of_name(name));
            all.iter().for_each(|column| rules.add_of_documents(column));
        }
        all.iter().flat_map(ColumnDecl::reads).for_each(|view| rules.add_of_view(view));
        self.modules().for_each(|(module, dependency)| rules.add_of_module(module, dependency));
        all.iter().for_each(|column| rules.add_of_windows(column));
        rules.add_of_cycles(graph);
        rules.found
    }
}

/// The rules that are found so far.
struct DeferredRules<'r> {
    emitter: &'r Emitter<'r>,
    /// The type of the columns.
    columns: &'r TokenStream,
    found: Vec<RuleCheck>,
}

impl DeferredRules<'_> {
    fn add(&mut self, name: &'static str, at: Span, holds: TokenStream) {
        self.found.push(RuleCheck { name, at, holds, own: None });
    }

    /// No column or module has the name of one of the base.
    fn add_of_name(&mut self, name: &Ident) {
        let columns = self.columns;
        let text = ident_text(name);
        self.add("new_name", name.span(), quote!(!<#columns>::__BASE.__has(#text)));
    }

    /// A tiered or compacted view shows documents. A column of the base holds text if a view shows a part of it, or if it is read
    /// beside a tiered view.
    fn add_of_documents(&mut self, column: &ColumnDecl) {
        let columns = self.columns;
        let tiers: Vec<String> = column.reads().filter(|view| view.is_tiered()).map(ViewDecl::name).collect();
        for view in column.reads().filter(|view| view.is_inherited) {
            let at = view.base.span();
            let name = view.name();
            let is_documents = quote!(<#columns>::__BASE.__is_documents(#name));
            if view.has_layout() {
                // A name that the base does not have is reported at the mention of the name.
                let is_known = quote!(<#columns>::__BASE.__has(#name));
                self.add("tiered_documents", at, quote!(#is_documents || !#is_known));
            } else if view.part().is_some() {
                self.add("whole_documents", at, quote!(!#is_documents));
            } else if !tiers.is_empty() && !tiers.contains(&name) {
                // Two views of the same documents are reported elsewhere.
                self.add("one_source_of_documents", at, quote!(!#is_documents));
            }
        }
    }

    /// A word after a column of another flow is no method of that column.
    fn add_of_view(&mut self, view: &ViewDecl) {
        let columns = self.columns;
        let before = view.before_a_method().filter(|_| view.state != ViewState::NoColumn);
        let Some(before) = before else { return };
        let name = view.name();
        let (of, before, name) = if view.is_inherited {
            (quote!(<#columns>::__BASE), &*before, &*name)
        } else {
            let module = hidden_ident("AT_", &view.base);
            (quote!(<#columns>::#module), inside(&before), inside(&name))
        };
        // An unknown column before the word is reported where it is mentioned.
        self.add("known_view", view.last().span(), quote!(#of.__has(#name) || !#of.__has(#before)));
    }

    fn add_of_module(&mut self, module: &ModuleDecl, dependency: &Dependency<'_>) {
        let columns = self.columns;
        let at = hidden_ident("AT_", &module.name);
        let keyword = module.keyword.span();
        self.add("few_levels", keyword, quote!(<#columns>::#at.__fits()));
        // Elsewhere a struct has the inputs as fields.
        if !dependency.has_struct_of_inputs() && module.is_complete {
            let used = constant_ident("inputs", &module.name);
            self.add("all_inputs", keyword, quote!(<#columns>::#used.__is_complete()));
        }
        let reads = self.emitter.flow.columns.iter().flat_map(ColumnDecl::reads);
        for view in reads.filter(|view| view.state != ViewState::NoColumn) {
            let Some(name) = view.inside(&module.name) else { continue };
            let is_input = module.inputs.iter().any(|input| ident_text(&input.name) == name);
            let (rule, is_other) = if is_input {
                ("no_input", quote!(__is_source))
            } else {
                ("column_of_module", quote!(__is_module))
            };
            self.add(rule, view.last().span(), quote!(!<#columns>::#at.#is_other(#name)));
        }
        for input in &module.inputs {
            if let Some(column) = input.read() {
                self.add_of_input(&at, &input.name, column);
            }
        }
    }

    /// An input takes documents if the column for the input holds documents, and text if the column holds text.
    fn add_of_input(&mut self, module: &Ident, input: &Ident, column: &ViewDecl) {
        let columns = self.columns;
        let at = input.span();
        let read = column.name();
        let name = ident_text(input);
        let takes_documents = quote!(<#columns>::#module.__takes_documents(#name));
        let takes_text = quote!(<#columns>::#module.__takes_text(#name));
        if column.is_inherited {
            // Only rustc knows the sources of the base.
            let is_documents = quote!(<#columns>::__BASE.__is_documents(#read));
            self.add("takes_text", at, quote!(#is_documents || !#takes_documents));
            self.add("takes_documents", at, quote!(!#is_documents || !#takes_text));
        } else if self.emitter.flow.documents().contains(&read) {
            self.add("takes_documents", at, quote!(!#takes_text));
        } else {
            self.add("takes_text", at, quote!(!#takes_documents));
        }
    }

    /// A window whose count is a constant shows at least one value.
    fn add_of_windows(&mut self, column: &ColumnDecl) {
        let mut valid = column.reads().filter(|view| view.is_valid());
        if let Some(at) = valid.find_map(ViewDecl::computed_window) {
            let columns = self.columns;
            let views = constant_ident("views", &column.name);
            self.add("some_values", at, quote!(#Private::View::__show_values(<#columns>::#views)));
        }
    }

    /// Cycles that may be there, depending on which inputs a column of a module waits for.
    fn add_of_cycles(&mut self, graph: &TokenStream) {
        let Emitter { dependencies, plan, .. } = self.emitter;
        let (count, _) = dependencies.graph_sizes(self.columns);
        for (at, cycle) in plan.possible_cycles.iter().enumerate() {
            let modules = list(cycle.modules.iter().map(|name| format!("{name:?}")));
            let holds = quote!(#graph.__is_acyclic::<#count>(&[#modules]));
            let own = format_ident!("__Acyclic{at}", span = Span::mixed_site());
            let own = Some((own, cycle.message.clone()));
            self.found.push(RuleCheck { name: "acyclic", at: cycle.at, holds, own });
        }
    }
}

impl RuleCheck {
    fn own_trait(&self) -> Option<TokenStream> {
        let (name, message) = self.own.as_ref()?;
        Some(quote! {
            #[diagnostic::on_unimplemented(message = #message, label = "")]
            trait #name<const HOLDS: bool> { type Checked<U>; }
            impl<T> #name<true> for T { type Checked<U> = (); }
        })
    }

    /// A type that exists if the rule holds. `param` is a type parameter.
    fn check(&self, param: &Ident) -> TokenStream {
        let Self { name, at, holds, own } = self;
        let name = Ident::new(name, Span::call_site());
        let rule = own.as_ref().map_or_else(|| quote!(#Private::rules::#name::Rule), |(own, _)| quote!(#own));
        // rustc underlines from the first token to the last.
        let first = quote_spanned!(*at=> <);
        let last = quote_spanned!(*at=> >);
        quote!(#first #param as #rule<{ #holds }>>::Checked<() #last)
    }
}
