//! Errors in the header of a flow, and in the flow as a whole.

use proc_macro2::Ident;
use syn::Lifetime;
use syn::ext::IdentExt;

use super::errors::quote;
use crate::ident::ident_text;

pub(crate) const EMPTY_FLOW: &str = "this flow is empty\n\nhelp: begin with a source, as in `source user;`";

/// rustc prints it inside a sentence, on one line and in backticks.
pub(crate) const NO_HEADER: &str = "a flow without a header is an expression: write pub struct Chat { ... } around it, or let chat = flow! { ... }; in a function";

/// `name` is one that is read and not declared, if there is one.
pub(crate) fn no_source(name: Option<&Ident>) -> String {
    let name = name.map_or_else(|| "user".to_owned(), ident_text);
    format!("this flow has no source\n\nhelp: declare one, as in `source {name};`")
}

pub(crate) const NO_STRUCT: &str = "expected `struct` and the name of the flow after this";

/// `pub(crat) struct Chat { ... }`, where `found` is `crat`.
pub(crate) fn bad_visibility(found: &str) -> String {
    format!("expected a visibility, found `pub({found})`\n\nhelp: as in `pub(crate)`")
}

pub(crate) const NO_FLOW_NAME: &str =
    "expected the name of the flow after this\n\nhelp: as in `pub struct Chat { ... }`";

pub(crate) const NO_BODY: &str = "expected the declarations of the flow, in braces, after this";

/// `pub struct Chat(style: String) = { ... }`
pub(crate) fn stray(found: &str) -> String {
    format!(
        "expected the declarations of the flow, in braces, found `{found}`\n\n\
         help: as in `struct Chat(style: String) {{ ... }}` or `struct Felt: Chat {{ ... }}`"
    )
}

pub(crate) const AFTER_BODY: &str = "expected the end of `flow!`, which declares one flow";

pub(crate) const FLOW_CFG: &str = "`#[cfg(...)]` cannot be inside `flow!`\n\nhelp: put this before `flow!`";

/// `#[derive(PartialEq)] pub struct Chat { ... }`
pub(crate) fn underivable(name: &str) -> String {
    let help = match name {
        "Default" => "drop it: a flow without parameters has a `Default`",
        _ => "drop it: a flow is a handle, which has no value to compare or to copy",
    };
    format!("a flow cannot derive `{name}`\n\nhelp: {help}")
}

/// `#[warn(unbounded)] pub struct Chat { ... }`
pub(crate) const LINT_LEVEL: &str =
    "the lints of columnar have no other level than `deny`\n\nhelp: write `#[deny(...)]`, or drop this";

/// `pub struct Chat(#[serde(default)] style: String)`
pub(crate) const PARAM_ATTRIBUTE: &str =
    "a parameter has no other attribute than its documentation\n\nhelp: drop this";

/// `pub struct Chat(mut style: String)` or `pub struct Chat(pub style: String)`
pub(crate) fn before_param(word: &str) -> String {
    format!(
        "expected the name of a parameter, found `{word}`\n\nhelp: drop `{word}`: compute steps have each parameter by reference"
    )
}

/// `pub struct Chat(&self, style: String)`
pub(crate) const SELF_PARAM: &str =
    "a flow has no `self`\n\nhelp: drop this; the parameters are those of `new`";

/// `pub struct Chat(style: str)`, where `sized` is `String`.
pub(crate) fn unsized_param(sized: &str) -> String {
    format!("a parameter has no type of unknown size\n\nhelp: write `{sized}`")
}

/// `pub struct Chat(type: String)`
pub(crate) fn keyword_as_param(name: &Ident) -> String {
    format!("`{name}` is a keyword of Rust\n\nhelp: write `r#{name}`")
}

/// `pub struct Chat { style: String } { source user; ... }`
pub(crate) fn params_in_braces(name: &Ident) -> String {
    format!(
        "the parameters of a flow are in parentheses\n\nhelp: as in `struct {}(style: String) {{ ... }}`",
        name.unraw()
    )
}

/// `pub struct Chat(style: String) -> String`
pub(crate) const RETURN_TYPE: &str = "a flow has no return type\n\nhelp: drop it; a column holds text, or values of its own type: `column score(user.latest): Score = ...`";

pub(crate) const PARAM_COMMA: &str = "expected `,` before this";

/// `pub enum Chat { ... }`, where `found` is `enum`.
pub(crate) fn no_struct(found: &Ident) -> String {
    format!(
        "expected `struct`, found {}\n\nhelp: a flow is declared as a struct: `pub struct Chat {{ ... }}`",
        quote(found)
    )
}

/// `pub struct Chat(String)`
pub(crate) const NO_PARAM: &str = "a parameter is a name, a colon and a type\n\nhelp: as in `style: String`";

/// `pub struct Chat(count: 5)`
pub(crate) fn no_param_type(name: &Ident) -> String {
    format!("expected the type of {}\n\nhelp: as in `{}: String`", quote(name), name.unraw())
}

pub(crate) fn param_twice(name: &Ident) -> String {
    format!("two parameters are named {}", quote(name))
}

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

/// `pub struct Chat<M Model>(model: M)`
pub(crate) fn bad_generics(error: &syn::Error) -> String {
    format!("{error}\n\nhelp: as in `struct Chat<M: Model>(model: M) where M: Clone {{ ... }}`")
}

// The base: the flow that this one extends.

/// An example of the declaration of an extension.
fn extension(name: &Ident, base: &str) -> String {
    format!("`struct {}: {base} {{ ... }}`", name.unraw())
}

pub(crate) fn no_base(name: &Ident) -> String {
    format!(
        "expected the flow that {} extends after this\n\nhelp: as in {}",
        quote(name),
        extension(name, "Chat")
    )
}

pub(crate) fn not_a_base(name: &Ident) -> String {
    format!("expected the name of a flow\n\nhelp: as in {}", extension(name, "Chat"))
}

pub(crate) fn own_base(name: &Ident) -> String {
    format!("{} extends itself", quote(name))
}

/// `struct Felt: Chat {}`, where `base` is `Chat`.
pub(crate) fn empty_extension(base: Option<&Ident>) -> String {
    let base = base.map_or_else(|| "the flow that it extends".to_owned(), quote);
    format!(
        "this flow adds no column to {base}\n\nhelp: add a column, as in `column topics(user.latest) = ...;`"
    )
}

/// `struct Felt: Chat { source mood; }`, where `base` is `Chat`.
pub(crate) fn late_source(name: &Ident, base: Option<&Ident>) -> String {
    let (text, base) = (name.unraw(), base.map_or_else(|| "the flow that is extended".to_owned(), quote));
    format!(
        "a flow cannot add a source to the flow that it extends: earlier steps of {base} have no value for it\n\n\
         help: declare {} in {base}, or compute it: `column {text}(...) = ...`",
        quote(name)
    )
}

pub(crate) fn bug(message: &str) -> String {
    format!(
        "`flow!` panicked, which is a bug in columnar: {message}\n\n\
         help: please report it, together with this flow, to the issue tracker of columnar"
    )
}
