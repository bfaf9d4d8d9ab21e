//! A compute step whose parameters are inputs:
//!
//! ```text
//! Declare.column_with_inputs(
//!     |__inputs: Inputs<'_>| Result::Ok((
//!         <Inputs<'_>>::one(&__inputs, of::<Value>(), "user")?,
//!         <Inputs<'_>>::all(&__inputs, of_column(|__here: &BaseColumns| &__here.topics), "topics")?,
//!     )),
//!     async |(user, topics,)| user.to_uppercase(),
//! )
//! ```
//!
//! An async closure that owns values, as `async move |user| …`, is called in a future of the macro's:
//!
//! ```text
//! Declare.column_with_values(|__inputs: Inputs<'_>| …, async move |(user,)| …, |__step, __inputs| async move {
//!     __step(__inputs).await
//! })
//! ```
//!
//! The type of a column of this flow is in the declaration. The type of a column of another flow is in the struct of
//! the columns of that flow.

use proc_macro2::{Group, Ident, Span, TokenStream};
use quote::quote;

use super::captures::Clones;
use super::emitter::Emitter;
use super::tokens::{Private, located, underlined};
use crate::ident::ident_text;
use crate::syntax::{Around, AsyncClosure, Closure, ClosureParam, ColumnDecl, ComputedDecl, ViewDecl};

impl Emitter<'_> {
    /// `None` for a compute step that is no closure, or one that rustc refuses.
    pub(super) fn step_of_closure(&self, column: &ColumnDecl, derived: &ComputedDecl) -> Option<TokenStream> {
        let closure = derived.closure.as_ref()?;
        let clones = Clones::of(&closure.captures(self.params()));
        // rustc has no `Fn` for an async closure that owns values.
        let with_values = closure.as_async().filter(|_| closure.is_async_move() || !clones.is_empty());
        let Closure { asynchronous, by_value, bars: [opening, closing], params, body, .. } = closure;
        let head = quote!(#asynchronous #by_value #opening);
        // rustc reports a wrong result at the name of the method.
        let at = located(opening.span());
        let inputs = Ident::new("__inputs", Span::mixed_site());
        let names = params.iter().map(|ClosureParam { mutable, name, .. }| quote!(#mutable #name));
        let list = quote!((#(#names,)*) #closing);
        let step = match (with_values, params.as_slice()) {
            (Some(with_values), _) => {
                let values = self.values(column, closure, &inputs);
                let call = Ident::new("column_with_values", at);
                let step = Ident::new("__step", Span::mixed_site());
                let AsyncClosure { asynchronous, by_value, body } = &with_values;
                let by_value = by_value.clone().unwrap_or_else(|| Ident::new("move", asynchronous.span()));
                let head = quote!(#asynchronous #by_value #opening);
                let body = clones.body(body);
                // The future has the closure, so it may borrow from it.
                let future = underlined(opening.span(), quote!({ #step(#inputs).await }));
                let [awaiting, owning] = ["async", "move"].map(|word| Ident::new(word, at));
                quote!(#Private::Declare.#call(
                    #values,
                    #head #list #body,
                    |#step, #inputs| #awaiting #owning #future
                ))
            }
            (None, [context]) if context.is_context() => {
                let ClosureParam { mutable, name, ty } = context;
                let call = Ident::new("column_of_context", at);
                quote!(#Private::Declare.#call(#head #mutable #name: #ty #closing #body))
            }
            (None, _) if derived.closure_of_inputs(&column.name).is_some() => {
                let values = self.values(column, closure, &inputs);
                let call = Ident::new("column_with_inputs", at);
                quote!(#Private::Declare.#call(#values, #head #list #body))
            }
            _ => return None,
        };
        Some(self.around(closure, &clones.statements, step))
    }

    /// The closure that reads the values of the parameters.
    fn values(&self, column: &ColumnDecl, closure: &Closure, inputs: &Ident) -> TokenStream {
        let values = closure.params.iter().map(|param| {
            let value = self.input(column, param, inputs);
            let Some(ty) = &param.ty else { return value };
            // An empty type is reported. Then an editor completes this one.
            let ty = if ty.is_empty() { &quote!(__) } else { ty };
            let named = Ident::new("named", located(closure.bars[0].span()));
            // Without the comma, the `>` of the user and the other one would be one token.
            quote!(#Private::Input(#value).#named::<#ty,>())
        });
        quote!(|#inputs: #Private::Inputs<'_>| #Private::Result::Ok((#(#values,)*)))
    }

    /// The step with the tokens of the user around the closure, and with the statements before the step.
    fn around(&self, closure: &Closure, statements: &TokenStream, step: TokenStream) -> TokenStream {
        let step = if statements.is_empty() { step } else { quote!({ #statements #step }) };
        closure.around.iter().rfold(step, |step, Around { group, before, after }| {
            let mut whole = Group::new(group.delimiter(), quote!(#before #step));
            whole.set_span(group.span());
            let after = self.with_conditions(after);
            quote!(#whole #after)
        })
    }

    /// The value of a parameter.
    fn input(&self, reader: &ColumnDecl, param: &ClosureParam, inputs: &Ident) -> TokenStream {
        let Some(view) = reader.view_of(param) else { return quote!(#inputs.context()) };
        let method = match () {
            () if !view.is_single() => "all",
            () if view.may_be_empty() || param.is_optional() => "optional",
            () => "one",
        };
        let ty = self.type_of(reader, view).unwrap_or_else(|| quote!(#Private::of::<#Private::Value>()));
        let tag = view.input(&reader.name);
        let method = Ident::new(method, Span::call_site());
        let value = quote!(<#Private::Inputs<'_>>::#method(&#inputs, #ty, #tag));
        let value = underlined(param.name.span(), value);
        quote!(#value?)
    }

    /// The type of the values in a view; `None` for text.
    fn type_of(&self, reader: &ColumnDecl, view: &ViewDecl) -> Option<TokenStream> {
        if !view.is_valid() {
            return None;
        }
        let own = if view.is_self {
            Some(reader)
        } else {
            let mut own = self.flow.columns.iter().filter(|_| !view.is_inherited);
            own.find(|column| ident_text(&column.name) == view.name())
        };
        let Some(column) = own else { return self.type_in_dependency(view) };
        let ty = &column.value_type()?.ty;
        Some(quote!(#Private::of::<#ty>()))
    }

    /// The type of a column of the flow that this one extends, or of a module.
    fn type_in_dependency(&self, view: &ViewDecl) -> Option<TokenStream> {
        let (dependency, fields) = if view.is_inherited {
            let fields = [&view.base].into_iter().chain(&view.path);
            (self.dependencies.base.as_ref()?, fields.cloned().collect::<Vec<_>>())
        } else {
            let base = ident_text(&view.base);
            let (_, dependency) = self.modules().find(|(module, _)| ident_text(&module.name) == base)?;
            (dependency, view.path.clone())
        };
        let columns = dependency.associated("ColumnsOf");
        Some(quote!(#Private::of_column(|__here: &#columns| &__here #(.#fields)*)))
    }
}
