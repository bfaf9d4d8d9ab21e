//! The lint about threads: what a request must have in common with the thread that it continues, to be served from the cache
//! of a provider.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use syn::{LitStr, Path};

use super::steps;
use crate::diagnostics::Errors;
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, FlowDecl, Lint};

/// A column that continues a thread has the literal model, the effort and the type of the column whose thread it is, if the
/// lint is denied. Wrong:
///
/// ```text
/// column assistant(user, self) = prompt("...").model("openai/gpt-5.4");
/// #[deny(unshared)]
/// column critic(assistant.thread()) = prompt("...").model("openai/gpt-5.4-mini");
/// ```
pub(super) fn check_shared(flow: &FlowDecl, errors: &mut Errors) {
    let columns: HashMap<String, &ColumnDecl> =
        flow.columns.iter().map(|column| (ident_text(&column.name), column)).collect();
    for column in &flow.columns {
        let is_denied = [&*column.lints, flow.lints()].concat().contains(&Lint::Unshared);
        let Some(derived) = column.derived.as_ref().filter(|_| is_denied) else { continue };
        let threads = derived.reads().filter(|view| view.is_thread() && view.is_valid());
        for view in threads {
            let Some(thread) = columns.get(&view.name()) else { continue };
            for (what, own, of_thread) in differences(column, thread) {
                // The setting is missing where the other column has one.
                let at = own.unwrap_or_else(|| view.written.clone());
                errors.at(at, unshared(what, &view.name(), of_thread.as_ref()));
            }
        }
    }
}

/// A part of the request that differs: its name, and the tokens in both columns, where they have some.
type UnsharedPart = (&'static str, Option<TokenStream>, Option<TokenStream>);

fn differences(column: &ColumnDecl, thread: &ColumnDecl) -> Vec<UnsharedPart> {
    let parts = [
        ("model", literal(column, "model").zip(literal(thread, "model"))),
        ("effort", literal(column, "effort").zip(literal(thread, "effort"))),
        ("type", Some((ty(column), ty(thread)))),
    ];
    let known = parts.into_iter().filter_map(|(what, both)| both.map(|(own, other)| (what, own, other)));
    known.filter(|(_, own, other)| text(own.as_ref()) != text(other.as_ref())).collect()
}

/// The literal or the path of a setting of a prompt, if the prompt has the setting; `None` if only rustc knows the value.
fn literal(column: &ColumnDecl, method: &str) -> Option<Option<TokenStream>> {
    let Some(value) = steps::of_prompt(&column.derived.as_ref()?.step, method)? else { return Some(None) };
    let is_path = syn::parse2::<Path>(value.clone()).is_ok_and(|path| path.segments.len() > 1);
    let is_known = is_path || syn::parse2::<LitStr>(value.clone()).is_ok();
    is_known.then_some(Some(value))
}

fn ty(column: &ColumnDecl) -> Option<TokenStream> {
    column.ty.as_ref().map(|ty| ty.ty.clone())
}

fn text(tokens: Option<&TokenStream>) -> Option<String> {
    tokens.map(ToString::to_string)
}

// Messages.

/// `what` is the model, the effort or the type of a column with another one than the column `thread`.
fn unshared(what: &str, thread: &str, of_thread: Option<&TokenStream>) -> String {
    let has = match of_thread {
        Some(of_thread) => format!("`{thread}` has `{of_thread}`"),
        None => format!("`{thread}` has none"),
    };
    format!(
        "with another {what} the request shares nothing with the thread, and this column denies `unshared`\n\nhelp: {has}"
    )
}
