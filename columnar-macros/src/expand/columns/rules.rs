//! The rules that only rustc can check, because they are about columns of other flows or about constants:
//!
//! ```text
//! const _: () = {
//!     #[diagnostic::on_unimplemented(message = "`topics` is already a column of `Chat` …", label = "")]
//!     trait __Rule<const HOLDS: bool> { type Checked; }
//!     impl<T> __Rule<true> for T { type Checked = (); }
//!     fn __check<T>(_: <T as __Rule<{ !FeltColumns::__BASE.__has("topics") }>>::Checked) {}
//! };
//! ```
//!
//! Where a type parameter lacks a trait, rustc prints the message of the trait and nothing else. Around the message of a
//! panic in a constant it would print the constant, and each place that uses it. Where the struct of the columns has
//! parameters, rustc knows their values only in the program that uses the flow, and a rule is an assertion there.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::diagnostics::{flow, modules, reads, views};
use crate::expand::dependencies::Dependency;
use crate::expand::emitter::Emitter;
use crate::expand::tokens::{constant_ident, hidden_ident, list, located, unlocated};
use crate::ident::ident_text;
use crate::syntax::{Column, Input, Module, State, View};

struct Rule {
    /// The position of the error.
    at: Span,
    /// A constant expression of type `bool`.
    holds: TokenStream,
    /// The error.
    message: String,
}

impl Emitter<'_> {
    /// The rules as items, where no parameter is needed to evaluate them. `name` is that of the struct of the columns.
    pub(super) fn checks(&self, name: &Ident) -> Option<TokenStream> {
        if !self.dependencies.has_constant_graph() {
            return None;
        }
        // Conditions are bodies, where no generated token is located among the user's lines.
        let (private, name) = (self.private, unlocated(name));
        let arguments = self.dependencies.any_struct_arguments();
        let graph = quote!(<#name #arguments as #private::Columns>::GRAPH);
        let checks = self.rules(&quote!(#name #arguments), &graph).into_iter().map(Rule::item);
        let checks: Vec<TokenStream> = checks.collect();
        (!checks.is_empty()).then(|| {
            quote! {
                // An editor would take the positions of the errors for mentions of the names there.
                #[allow(dead_code, unexpected_cfgs)]
                const _: () = {
                    #[cfg(not(rust_analyzer))]
                    const _: () = { #(#checks)* };
                };
            }
        })
    }

    /// The value of a graph, after the assertion of the rules where it depends on parameters.
    pub(super) fn checked_graph(&self, graph: TokenStream) -> TokenStream {
        if self.dependencies.has_constant_graph() {
            return graph;
        }
        let private = self.private;
        let assertions = self.rules(&quote!(Self), &quote!(__graph)).into_iter();
        let assertions = assertions.map(|Rule { at, holds, message }| {
            quote_spanned!(located(at)=> #private::assert_rule(#holds, #message);)
        });
        quote!({
            let __graph = #graph;
            #(#assertions)*
            __graph
        })
    }

    /// `columns` is the type of the columns, and `graph` the value of their graph.
    fn rules(&self, columns: &TokenStream, graph: &TokenStream) -> Vec<Rule> {
        let mut rules = Vec::new();
        if let Some(base) = &self.dependencies.base {
            rules.extend(self.names().map(|name| rule_of_name(name, base, columns)));
            rules.extend(self.flow.columns.iter().flat_map(|column| rules_of_documents(column, columns)));
        }
        for (module, dependency) in self.modules() {
            rules.extend(self.rules_of_module(module, dependency, columns));
        }
        let windows = self.flow.columns.iter().filter_map(|column| self.rule_of_windows(column, columns));
        rules.extend(windows);
        rules.extend(self.rules_of_cycles(columns, graph));
        rules
    }

    /// The names of the columns and modules.
    fn names(&self) -> impl Iterator<Item = &Ident> {
        let columns = self.flow.columns.iter().map(|column| &column.name);
        columns.chain(self.flow.modules.iter().map(|module| &module.name))
    }

    fn rules_of_module(
        &self,
        module: &Module,
        dependency: &Dependency<'_>,
        columns: &TokenStream,
    ) -> Vec<Rule> {
        let at = hidden_ident("AT_", &module.name);
        let mut rules = vec![Rule {
            at: module.keyword.span(),
            holds: quote!(#columns::#at.__fits()),
            message: modules::too_deep(&module.name),
        }];
        // Elsewhere a struct has the inputs as its fields.
        if dependency.inputs().is_none() && module.is_complete {
            let used = constant_ident("inputs", &module.name);
            rules.push(Rule {
                at: module.keyword.span(),
                holds: quote!(#columns::#used.__is_complete()),
                message: modules::input_missing(&module.name),
            });
        }
        let reads = self.flow.columns.iter().flat_map(Column::reads);
        let reads = reads.filter(|view| view.state != State::NoColumn);
        let of_module = reads.filter_map(|view| Some((view, view.inside(&module.name)?)));
        rules.extend(of_module.map(|(view, name)| {
            let mut inputs = module.inputs.iter().filter(|input| ident_text(&input.name) == name);
            let (is_other, message) = match inputs.find_map(Input::read) {
                Some(bound) => {
                    (quote!(__is_source), modules::input_read(view.last(), &module.name, &bound.name()))
                }
                None => (quote!(__is_module), modules::module_read(view.last())),
            };
            Rule { at: view.last().span(), holds: quote!(!#columns::#at.#is_other(#name)), message }
        }));
        let inputs = module.inputs.iter().filter_map(|input| Some((&input.name, input.read()?)));
        rules.extend(inputs.flat_map(|(input, column)| self.rules_of_input(module, input, column, columns)));
        rules
    }

    /// An input takes documents if the column that it is bound to holds documents, and text if that holds text.
    fn rules_of_input(
        &self,
        module: &Module,
        input: &Ident,
        column: &View,
        columns: &TokenStream,
    ) -> Vec<Rule> {
        let (name, read) = (ident_text(input), column.name());
        let of_module = hidden_ident("AT_", &module.name);
        let takes_documents = quote!(#columns::#of_module.__takes_documents(#name));
        let takes_text = quote!(#columns::#of_module.__takes_text(#name));
        let rule = |needs_documents, holds| {
            let message = modules::input_of_another_kind(input, &module.name, needs_documents, &read);
            Rule { at: input.span(), holds, message }
        };
        if column.is_inherited {
            // Only rustc knows the sources of the base.
            let is_documents = quote!(#columns::__BASE.__is_documents(#read));
            return vec![
                rule(true, quote!(#is_documents || !#takes_documents)),
                rule(false, quote!(!#is_documents || !#takes_text)),
            ];
        }
        if self.flow.documents().contains(&read) {
            vec![rule(false, quote!(!#takes_text))]
        } else {
            vec![rule(true, quote!(!#takes_documents))]
        }
    }

    /// A window whose count is a constant shows at least one value.
    fn rule_of_windows(&self, column: &Column, columns: &TokenStream) -> Option<Rule> {
        let private = self.private;
        let mut valid = column.reads().filter(|view| view.state == State::Valid);
        let at = valid.find_map(View::computed_window)?;
        let views = constant_ident("views", &column.name);
        Some(Rule {
            at,
            holds: quote!(#private::View::__show_values(#columns::#views)),
            message: views::EMPTY_WINDOW.to_owned(),
        })
    }

    /// Cycles that may be there, depending on which inputs a column of a module waits for.
    fn rules_of_cycles(&self, columns: &TokenStream, graph: &TokenStream) -> impl Iterator<Item = Rule> {
        let (count, _) = self.dependencies.graph_sizes(self.private, columns);
        self.plan.possible_cycles.iter().map(move |cycle| {
            let modules = list(cycle.modules.iter().map(|name| format!("{name:?}")));
            Rule {
                at: cycle.at,
                holds: quote!(#graph.__is_acyclic::<#count>(&[#modules])),
                message: cycle.message.clone(),
            }
        })
    }
}

impl Rule {
    fn item(self) -> TokenStream {
        let Self { at, holds, message } = self;
        // All tokens of the type are there, because rustc underlines from the first to the last.
        let (begin, end) = (quote_spanned!(at=> <T as __Rule), quote_spanned!(at=> >::Checked));
        let (open, close) = (quote_spanned!(at=> <), quote_spanned!(at=> >));
        quote! {
            const _: () = {
                #[diagnostic::on_unimplemented(message = #message, label = "")]
                trait __Rule<const HOLDS: bool> { type Checked; }
                impl<T> __Rule<true> for T { type Checked = (); }
                fn __check<T>(_: #begin #open { #holds } #close #end) {}
            };
        }
    }
}

/// No column or module has the name of one of the base.
fn rule_of_name(name: &Ident, base: &Dependency<'_>, columns: &TokenStream) -> Rule {
    let text = ident_text(name);
    Rule {
        at: name.span(),
        holds: quote!(!#columns::__BASE.__has(#text)),
        message: flow::inherited_twice(name, base.name()),
    }
}

/// A tiered view shows documents. A column of the base of which a view shows a part, or that is read beside a tiered view,
/// holds text.
fn rules_of_documents(column: &Column, columns: &TokenStream) -> Vec<Rule> {
    // The same documents once more are reported.
    let is_tiered = |name: &str| column.reads().any(|view| view.is_tiered() && view.name() == name);
    let has_tiers = column.reads().any(View::is_tiered);
    let rules = column.reads().filter(|view| view.is_inherited).filter_map(|view| {
        let (at, name) = (view.base.span(), view.name());
        let is_documents = quote!(#columns::__BASE.__is_documents(#name));
        let (holds, message) = if view.is_tiered() {
            // A name that the base does not have is reported where it is mentioned.
            let is_known = quote!(#columns::__BASE.__has(#name));
            (quote!(#is_documents || !#is_known), views::inherited_tiered_text(&name))
        } else if view.part().is_some() {
            (quote!(!#is_documents), views::part_of_documents(&name))
        } else if has_tiers && !is_tiered(&name) {
            (quote!(!#is_documents), reads::OTHER_DOCUMENTS.to_owned())
        } else {
            return None;
        };
        Some(Rule { at, holds, message })
    });
    rules.collect()
}
