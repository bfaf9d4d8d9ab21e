//! Errors in the use of another flow as a module, and in views of its columns.

use std::fmt::Display;

use proc_macro2::Ident;
use syn::ext::IdentExt;

use super::errors::quote;

/// An example of the use of a module.
pub(crate) const EXAMPLE: &str = "as in `use Debate { topic: user } as debate;`";

pub(crate) fn no_flow() -> String {
    format!("expected the name of a flow after this\n\nhelp: {EXAMPLE}")
}

pub(crate) fn not_a_flow() -> String {
    format!("expected the name of a flow\n\nhelp: {EXAMPLE}")
}

/// `use std::fmt;` inside a flow.
pub(crate) fn import() -> String {
    format!(
        "a flow contains only declarations\n\nhelp: put the import before `flow!`; a module has inputs, \
         {EXAMPLE}"
    )
}

pub(crate) fn no_inputs(path: impl Display) -> String {
    format!("expected the inputs of `{path}`, in braces, before this\n\nhelp: {EXAMPLE}")
}

pub(crate) fn brackets(path: impl Display) -> String {
    format!("expected the inputs of `{path}` in braces\n\nhelp: {EXAMPLE}")
}

/// `use Debate { topic: user };`
pub(crate) fn no_as(name: &str) -> String {
    format!("expected `as` and a name after this\n\nhelp: as in `as {name}`")
}

/// `use Debate { topic: user } debate;`
pub(crate) fn not_as(found: impl Display, name: &str) -> String {
    format!("expected `as` and a name, found `{found}`\n\nhelp: as in `as {name}`")
}

pub(crate) fn no_name_after_as(name: &str) -> String {
    format!("expected a name after `as`\n\nhelp: as in `as {name}`")
}

/// `use Debate::new(model) { topic: user } as debate;`
pub(crate) fn constructor(flow: &str) -> String {
    format!(
        "a module is the flow itself, without a function\n\nhelp: drop this, and write arguments as in \
         `use {flow}(model) {{ topic: user }} as debate;`"
    )
}

/// `use Chat { user } as inner;` inside `Chat`.
pub(crate) fn itself(flow: &Ident) -> String {
    format!("{} cannot be a module of itself\n\nhelp: name another flow", quote(flow))
}

pub(crate) const LINTED_MODULE: &str =
    "lints apply to columns, not to modules\n\nhelp: put this on the columns of that flow";

pub(crate) const NOT_AN_INPUT: &str = "expected an input and its column\n\nhelp: as in `topic: user`";

pub(crate) const EMPTY_INPUT: &str = "expected an input before this comma";

pub(crate) fn no_colon(name: &Ident, found: impl Display) -> String {
    format!(
        "expected `:` or `,` after {}, found `{found}`\n\nhelp: as in `{}: user`",
        quote(name),
        name.unraw()
    )
}

pub(crate) fn no_column(name: &Ident) -> String {
    format!(
        "expected the column for the input {} after this\n\nhelp: as in `{}: user`",
        quote(name),
        name.unraw()
    )
}

pub(crate) fn not_a_column(name: &Ident) -> String {
    format!("expected the column for the input {}\n\nhelp: as in `{}: user`", quote(name), name.unraw())
}

/// `use Debate { topic: user.latest } as debate;`
pub(crate) fn input_is_view(column: impl Display) -> String {
    format!("an input is a column, not a view of one\n\nhelp: write `{column}`")
}

/// `use Debate { topic: user, model: model.clone() } as debate;`
pub(crate) const INPUT_IS_VALUE: &str = "an input is a column, not a value\n\nhelp: arguments come before the inputs, \
     as in `use Debate(model) { topic: user } as debate;`";

pub(crate) const INPUT_IS_SELF: &str =
    "an input is a column, not `self`\n\nhelp: name a column, as in `topic: user`";

pub(crate) fn input_twice(name: &Ident) -> String {
    format!("the input {} is bound twice\n\nhelp: drop one of the two", quote(name))
}

// Views of modules.

pub(crate) fn module_read(module: &Ident) -> String {
    format!(
        "{} is a module, not a column\n\nhelp: read one of its columns, as in `{}.verdict`",
        quote(module),
        module.unraw()
    )
}
