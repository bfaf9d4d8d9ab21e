//! Errors in the header of a flow, and in the flow as a whole.

use proc_macro2::Ident;
use syn::Lifetime;
use syn::ext::IdentExt;

use super::errors::quote;
use crate::ident::ident_text;
use crate::keywords::nearest;

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
    let help = match nearest(found, ["crate", "self", "super"].into_iter()) {
        Some(near) => format!("did you mean `pub({near})`?"),
        None => "as in `pub(crate)`".to_owned(),
    };
    format!("expected a visibility, found `pub({found})`\n\nhelp: {help}")
}

/// `struct Chat::Inner { source user; ... }`
pub(crate) fn path_as_name(name: &Ident) -> String {
    format!("the name of a flow is no path\n\nhelp: write `struct {}`", name.unraw())
}

pub(crate) const NO_FLOW_NAME: &str =
    "expected the name of the flow after this\n\nhelp: as in `pub struct Chat { ... }`";

pub(crate) const NO_BODY: &str = "expected the declarations of the flow, in braces, after this";

/// `pub struct Chat(style: String) = { ... }`
pub(crate) fn stray(found: &str) -> String {
    format!("expected the declarations of the flow, in braces, found `{found}`\n\nhelp: drop `{found}`")
}

pub(crate) const BODY_IN_PARENTHESES: &str =
    "the declarations of a flow are in braces\n\nhelp: as in `pub struct Chat { source user; ... }`";

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

pub(crate) const NO_PARAM: &str =
    "expected a parameter of the flow\n\nhelp: as in `pub struct Chat(style: String)`";

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

/// `pub struct Chat(style: String, ..)`
pub(crate) const REST_PARAM: &str =
    "a flow has the parameters that it lists, and no others\n\nhelp: drop this";

/// `pub struct Chat(style: String)(most: usize)`, where `all` is `style: String, most: usize`.
pub(crate) fn second_params(all: &str) -> String {
    format!("a flow has one list of parameters\n\nhelp: write `({all})`")
}

/// `pub struct Chat(style: str)`, where `sized` is `String`.
pub(crate) fn unsized_param(sized: &str) -> String {
    format!("a parameter has no type of unknown size\n\nhelp: write `{sized}`")
}

/// `pub struct Chat(type: String)`
pub(crate) fn keyword_as_param(name: &Ident) -> String {
    format!("`{name}` is a keyword of Rust\n\nhelp: write `r#{name}`")
}

/// `pub struct Chat("style": String)`
pub(crate) fn param_in_quotes(name: &Ident) -> String {
    format!("the name of a parameter has no quotes\n\nhelp: write `{name}`")
}

/// `pub struct Chat(max-words: usize)`, where `better` is `max_words`.
pub(crate) fn param_with_hyphens(better: &str) -> String {
    format!("the name of a parameter has no hyphens\n\nhelp: as in `{better}`")
}

/// `pub struct Chat(style: String = "kind".to_owned())`
pub(crate) const DEFAULT_VALUE: &str =
    "a parameter has no default value\n\nhelp: drop this, and write the value where `new` is called";

/// `pub struct Chat { style: String } { source user; ... }`
/// or `pub struct Chat[style: String] { ... }`
pub(crate) fn params_in_brackets(name: &Ident) -> String {
    format!(
        "the parameters of a flow are in parentheses\n\nhelp: as in `struct {}(style: String) {{ ... }}`",
        name.unraw()
    )
}

/// `pub struct Chat(source user)`
pub(crate) const DECLARED_PARAM: &str = "parameters are values, and declarations such as `source user;` are in the braces\n\nhelp: put this there";

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

pub(crate) fn no_param_type(name: &Ident) -> String {
    let text = name.unraw();
    format!("expected `:` and the type of {}\n\nhelp: as in `{text}: String`", quote(name))
}

/// `pub struct Chat(style: )`
pub(crate) fn no_type_after_colon(name: &Ident) -> String {
    format!("expected the type of {} after this\n\nhelp: as in `{}: String`", quote(name), name.unraw())
}

/// `pub struct Chat(String style)`
pub(crate) fn param_without_colon(name: &Ident, ty: &str) -> String {
    format!("a parameter is a name, a colon and a type\n\nhelp: write `{}: {ty}`", name.unraw())
}

/// `pub struct Chat(String)`
pub(crate) const NO_PARAM_NAME: &str =
    "a parameter is a name, a colon and a type\n\nhelp: as in `style: String`";

/// `pub struct Chat(count: 5)`
pub(crate) fn bad_param_type(name: &Ident) -> String {
    format!("expected the type of {}\n\nhelp: as in `{}: String`", quote(name), name.unraw())
}

/// `pub struct Chat<M Model>(model: M)`
pub(crate) fn no_bound_colon(name: &Ident, bound: &Ident) -> String {
    format!("expected `:` after {}\n\nhelp: write `{name}: {bound}`", quote(name))
}

/// `pub struct Chat<M: Model(model: M)`
pub(crate) const NO_ANGLE: &str =
    "expected `>` after this\n\nhelp: as in `struct Chat<M: Model>(model: M) { ... }`";

/// `pub struct Chat[M: Model](model: M)`, where `better` is `Chat<M: Model>`.
pub(crate) fn generics_in_brackets(better: &str) -> String {
    format!("generic parameters are in angle brackets\n\nhelp: write `struct {better}`")
}

/// `pub struct Chat(model: M)<M: Model>`, where `better` is `Chat<M: Model>`.
pub(crate) fn late_generics(better: &str) -> String {
    format!("the generic parameters of a flow come after its name\n\nhelp: write `struct {better}(...)`")
}

/// `pub struct Chat<M> where M: Model (model: M)`
pub(crate) const EARLY_WHERE: &str =
    "`where` comes after the parameters\n\nhelp: as in `struct Chat<M>(model: M) where M: Model { ... }`";

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

pub(crate) fn no_colon(name: &Ident, base: &str) -> String {
    format!("expected `:` before this\n\nhelp: a flow extends another as in {}", extension(name, base))
}

pub(crate) fn not_colon(found: &str, name: &Ident, base: &str) -> String {
    format!("expected `:`, found `{found}`\n\nhelp: a flow extends another as in {}", extension(name, base))
}

/// `struct Felt(Chat) { column ... }`
pub(crate) fn base_in_parentheses(name: &Ident, base: &str) -> String {
    format!(
        "the flow that {} extends comes after `:`\n\nhelp: write `struct {}: {base}`",
        quote(name),
        name.unraw()
    )
}

/// `struct Felt: Chat::new() { ... }`
pub(crate) fn called_base(base: &str) -> String {
    format!("a flow extends another one itself, without a call\n\nhelp: write `{base}`")
}

pub(crate) fn not_a_base(name: &Ident) -> String {
    format!("expected the name of a flow\n\nhelp: as in {}", extension(name, "Chat"))
}

pub(crate) fn own_base(name: &Ident) -> String {
    format!("{} extends itself", quote(name))
}

pub(crate) const SECOND_BASE: &str =
    "a flow extends one flow only\n\nhelp: drop this, or extend a flow that extends it";

pub(crate) const LATE_PARAMS: &str =
    "the parameters of a flow come after its name\n\nhelp: as in `struct Felt(style: String): Chat { ... }`";

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
