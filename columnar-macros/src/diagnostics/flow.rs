//! Errors in the header of a flow, and in the flow as a whole.

use proc_macro2::Ident;
use syn::Lifetime;
use syn::ext::IdentExt;

use super::errors::quote;

/// `struct Chat<'a>(tone: &'b str)`, where `of_flow` is `'a`.
pub(crate) fn no_lifetime(name: &Ident, lifetime: &Lifetime, of_flow: Option<&Lifetime>) -> String {
    let help = match of_flow {
        Some(known) => format!("write `{known}`, or declare it after the name of the flow"),
        None => format!("declare it: `struct {}<{lifetime}>(...)`", name.unraw()),
    };
    format!("`{lifetime}` is not declared\n\nhelp: {help}")
}

/// `struct Chat(style: &str) { ... async |user| format!("{style}: {user}") ... }`, where `owned` is `String`, and `borrowed`
/// is `str`.
pub(crate) fn kept_reference(
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
