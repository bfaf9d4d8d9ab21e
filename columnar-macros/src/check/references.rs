//! The rules about parameters that are references, and about compute steps that borrow a parameter.

use std::collections::HashSet;

use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::visit::{self, Visit};
use syn::{
    BoundLifetimes, Expr, GenericParam, Lifetime, ParenthesizedGenericArguments, TypeFnPtr, TypeReference,
};

use super::steps::conditions;
use crate::diagnostics::{Errors, quote};
use crate::ident::ident_text;
use crate::syntax::{Capture, ComputedDecl, FlowDecl, FlowForm, Param, shown, sized};

/// Each lifetime in a parameter is a lifetime of the flow. Wrong:
///
/// ```text
/// pub struct Chat<'a>(style: &'a str, tone: &'b str) { ... }
/// ```
///
/// rustc would report the lifetime at each function that has the parameter.
pub(super) fn check_lifetimes(flow: &mut FlowDecl, errors: &mut Errors) {
    let FlowForm::Item(header) = &mut flow.form else { return };
    // The lifetimes of generics that could not be read are unknown.
    if !header.is_complete {
        return;
    }
    let of_flow = header.generics.lifetimes().map(|param| ident_text(&param.lifetime.ident));
    let of_rust = ["static", "_"].into_iter().map(str::to_owned);
    let declared: HashSet<String> = of_flow.chain(of_rust).collect();
    let first = header.generics.lifetimes().next().map(|param| param.lifetime.clone());
    let mut reported = HashSet::new();
    for param in &mut header.params {
        let mut lifetimes = Lifetimes { known: declared.clone(), unknown: Vec::new() };
        param.ty.iter().for_each(|ty| lifetimes.visit_type(ty));
        if !lifetimes.unknown.is_empty() {
            // Without a type, calls of `new` are no further errors.
            param.ty = None;
            header.is_complete = false;
        }
        for lifetime in lifetimes.unknown {
            if reported.insert(ident_text(&lifetime.ident)) {
                errors.at(&lifetime, no_lifetime(&header.name, &lifetime, first.as_ref()));
            }
        }
    }
}

/// The lifetimes in a type.
struct Lifetimes {
    /// The lifetimes of the flow, and the lifetimes that the type declares itself: `for<'a> Fn(&'a str)`.
    known: HashSet<String>,
    unknown: Vec<Lifetime>,
}

impl<'ast> Visit<'ast> for Lifetimes {
    fn visit_lifetime(&mut self, lifetime: &'ast Lifetime) {
        if !self.known.contains(&ident_text(&lifetime.ident)) {
            self.unknown.push(lifetime.clone());
        }
    }

    fn visit_bound_lifetimes(&mut self, binder: &'ast BoundLifetimes) {
        let names = binder.lifetimes.iter().filter_map(|param| match param {
            GenericParam::Lifetime(param) => Some(ident_text(&param.lifetime.ident)),
            _ => None,
        });
        self.known.extend(names);
    }

    // It has labels.
    fn visit_expr(&mut self, _: &'ast Expr) {}
}

/// A closure keeps only references with a lifetime. Wrong:
///
/// ```text
/// pub struct Chat(style: &str) { source user; column shout(user.latest) = async |user| format!("{style}: {user}"); }
/// ```
///
/// Any other step may use such a parameter, as in `prompt(*style)`, since such a step copies the text before `new`
/// returns. rustc would report the whole flow.
pub(super) fn check_closures(flow: &mut FlowDecl, errors: &mut Errors) {
    let FlowForm::Item(header) = &flow.form else { return };
    let elided = header.params.iter().filter_map(|param| {
        let mut elided = ElidedReference::default();
        param.ty.iter().for_each(|ty| elided.visit_type(ty));
        Some((param, elided.0?))
    });
    let elided: Vec<(&Param, &TypeReference)> = elided.collect();
    let params: Vec<&Param> = elided.iter().map(|(param, _)| *param).collect();
    let mut kept = HashSet::new();
    for derived in flow.columns.iter_mut().filter_map(|column| column.derived.as_mut()) {
        let of_column = kept_by(derived, &params);
        derived.is_step_for_editors |= !of_column.is_empty();
        kept.extend(of_column);
    }
    for (param, reference) in elided.into_iter().filter(|(param, _)| kept.contains(&param.name)) {
        let lifetime = header.generics.lifetimes().next().map(|param| &param.lifetime);
        let borrowed = shown(&reference.elem);
        let owned = sized(&reference.elem).unwrap_or_else(|| borrowed.clone());
        errors.at(reference, kept_reference(&header.name, &param.name, &owned, &borrowed, lifetime));
    }
}

/// A compute step lives as long as the flow, and its declaration has each parameter by reference. A closure that is async
/// gets a clone; any other one has a value of its own. Wrong, where `style` is a parameter of the flow:
///
/// ```text
/// column shout(user.latest) = |_: Context| ready(style.clone());
/// ```
///
/// rustc would report the lifetime of the reference at the whole flow.
pub(super) fn check_captures(flow: &mut FlowDecl, errors: &mut Errors) {
    let FlowForm::Item(header) = &flow.form else { return };
    for derived in flow.columns.iter_mut().filter_map(|column| column.derived.as_mut()) {
        let closure = derived.closure.as_ref().filter(|closure| closure.as_async().is_none());
        if let Some(Capture { param, at }) =
            closure.and_then(|closure| closure.certain_capture(&header.params))
        {
            errors.on(at, borrowed_param(&param.name, param.is_copied_by_deref()));
            derived.is_step_for_editors = true;
        }
    }
}

/// The first reference without a lifetime, which rustc does not infer from its place, as in `Fn(&str) -> &str`.
#[derive(Default)]
struct ElidedReference<'t>(Option<&'t TypeReference>);

impl<'t> Visit<'t> for ElidedReference<'t> {
    fn visit_type_reference(&mut self, reference: &'t TypeReference) {
        let is_elided = reference.lifetime.as_ref().is_none_or(|lifetime| lifetime.ident == "_");
        if self.0.is_none() && is_elided && reference.mutability.is_none() {
            self.0 = Some(reference);
        }
        visit::visit_type_reference(self, reference);
    }

    // The result of a call may borrow from its arguments.
    fn visit_parenthesized_generic_arguments(&mut self, _: &'t ParenthesizedGenericArguments) {}
    fn visit_type_fn_ptr(&mut self, _: &'t TypeFnPtr) {}
    // A length is no type.
    fn visit_expr(&mut self, _: &'t Expr) {}
}

/// The parameters that closures of a compute step keep: a step that is async, and conditions.
fn kept_by(derived: &ComputedDecl, params: &[&Param]) -> Vec<Ident> {
    if params.is_empty() {
        return Vec::new();
    }
    let step = derived.closure.as_ref().filter(|closure| closure.as_async().is_some());
    let of_step = step.map(|step| step.captures(params.iter().copied()));
    let of_conditions = conditions(&derived.step).map(|condition| condition.captures(params.iter().copied()));
    let kept = of_step.into_iter().chain(of_conditions).flatten();
    kept.map(|capture| capture.param.name.clone()).collect()
}

// Messages.

/// `struct Chat<'a>(tone: &'b str)`, where `of_flow` is `'a`.
fn no_lifetime(name: &Ident, lifetime: &Lifetime, of_flow: Option<&Lifetime>) -> String {
    let help = match of_flow {
        Some(known) => format!("write `{known}`, or declare it after the name of the flow"),
        None => format!("declare it: `struct {}<{lifetime}>(...)`", name.unraw()),
    };
    format!("`{lifetime}` is not declared\n\nhelp: {help}")
}

/// `struct Chat(style: &str) { ... async |user| format!("{style}: {user}") ... }`, where `owned` is `String`, and `borrowed`
/// is `str`.
fn kept_reference(
    flow: &Ident,
    param: &Ident,
    owned: &str,
    borrowed: &str,
    of_flow: Option<&Lifetime>,
) -> String {
    let lifetime = of_flow.map_or_else(|| "'a".to_owned(), ToString::to_string);
    let declared = match of_flow {
        Some(_) => String::new(),
        None => format!(", with `struct {}<{lifetime}>(...)`", flow.unraw()),
    };
    format!(
        "a closure keeps {}, so this reference needs a lifetime\n\n\
         help: write `{owned}`, or `&{lifetime} {borrowed}`{declared}",
        quote(param)
    )
}

/// `|_: Context| ready(style.clone())`, where `style` is a parameter of the flow.
fn borrowed_param(name: &Ident, is_copied_by_deref: bool) -> String {
    let text = name.unraw();
    let copy = if is_copied_by_deref { format!("*{text}") } else { format!("{text}.clone()") };
    format!(
        "a compute step cannot borrow the parameter {}\n\n\
         help: write an `async` closure, which has a clone of it, or `{{ let {text} = {copy}; move |...| ... }}`",
        quote(name)
    )
}
