//! The rule that compute steps borrow no parameter of the flow.

use proc_macro2::TokenStream;

use crate::diagnostics::{Errors, steps};
use crate::ident::ident_text;
use crate::syntax::{Closure, Flow, Form, bound, formatted, uses};

/// A compute step lives as long as the flow, and its declaration has each parameter by reference. So a closure has a copy
/// of its own. Wrong, where `style` is a parameter of the flow:
///
/// ```text
/// column shout(user.latest) = move |_: Context| async move { style.clone() };
/// ```
///
/// rustc would report the lifetime of the reference at the whole flow.
pub(super) fn check_captures(flow: &mut Flow, errors: &mut Errors) {
    let Form::Item(header) = &flow.form else { return };
    let names: Vec<String> = header.params.iter().map(|param| ident_text(&param.name)).collect();
    for derived in flow.columns.iter_mut().filter_map(|column| column.derived.as_mut()) {
        let Some(closure) = &derived.closure else { continue };
        let free = without_bound(&names, closure);
        let used = uses(&free, closure.body.clone()).into_iter().next();
        let used = used.map(|name| (name.span(), ident_text(&name)));
        let Some((span, name)) = used.or_else(|| formatted(&free, closure.body.clone())) else { continue };
        if let Some(param) = header.params.iter().find(|param| ident_text(&param.name) == name) {
            errors.on(span, steps::borrowed_param(&param.name, param.is_copied_by_deref()));
            derived.is_step_for_editors = true;
        }
    }
}

/// The names that neither the statements before the closure, nor its parameters, nor patterns in it bind.
fn without_bound(names: &[String], closure: &Closure) -> Vec<String> {
    let before = closure.around.as_ref().map_or_else(TokenStream::new, |around| around.before.clone());
    let mut taken = bound(names, before);
    taken.extend(bound(names, closure.body.clone()));
    taken.extend(closure.params.iter().map(|param| ident_text(&param.name)));
    names.iter().filter(|name| !taken.contains(name)).cloned().collect()
}
