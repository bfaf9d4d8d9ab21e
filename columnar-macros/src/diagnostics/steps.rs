//! Errors in the shape of a compute step. rustc words those inside it.

use proc_macro2::Ident;
use syn::ext::IdentExt;

use super::errors::quote;
use crate::keywords::{OFFLINE, PROVIDERS, nearest};

/// `prompt("...") retry(3)`
pub(crate) fn no_dot(word: &str, call: &str) -> String {
    format!("expected `.` before `{word}`\n\nhelp: write `{call}`")
}

/// `prompt("...").retry 3` or `prompt("...").retry: 3`
pub(crate) fn not_parentheses(word: &Ident, call: &str) -> String {
    format!("expected parentheses after {}\n\nhelp: write `{call}`", quote(word))
}

/// `prompt("..."), retry(3)` or `prompt("..."), temperature = 0.2`
pub(crate) fn setting(call: &str) -> String {
    format!("a setting of a compute step is a method of it\n\nhelp: write `{call}` after the step")
}

/// `prompt("...") was "feeling"`
pub(crate) fn late_was(name: &Ident, earlier: &str) -> String {
    format!("`was` comes before the `=`\n\nhelp: as in `column {}(...) was {earlier} = ...`", name.unraw())
}

/// `prompt("...") -> Score` or `prompt("..."): Score`
pub(crate) fn late_type(name: &Ident, ty: &str) -> String {
    format!(
        "the type of {} comes before the `=`\n\nhelp: as in `column {}(...): {ty} = ...`",
        quote(name),
        name.unraw()
    )
}

/// `prompt("...") if x`
pub(crate) fn condition(word: &str) -> String {
    format!(
        "a compute step has no `{word}`\n\nhelp: write `.when(|cx| ...)` after the step, which gets its context"
    )
}

/// `prompt "..."` or `prompt { "..." }`
pub(crate) fn no_parentheses(function: &str) -> String {
    format!("expected parentheses around this text\n\nhelp: as in `{function}(\"...\")`")
}

/// `prompt("..." "...")`
pub(crate) const TWO_TEXTS: &str =
    "a prompt is one text\n\nhelp: write one string, which may have several lines, or `format!(\"...\")`";

/// `prompt("..." temperature)`
pub(crate) const ONE_TEXT: &str = "a prompt is one text\n\nhelp: drop this, or write a setting as a method, as in `.temperature(0.2)` after the step";

/// `(cx) => ...` or `lambda cx: ...`
pub(crate) const NOT_A_CLOSURE: &str =
    "the arguments of a closure are between `|` and `|`\n\nhelp: as in `async |cx: Context| ...`";

/// `|cx| => ...`
pub(crate) const CLOSURE_ARROW: &str = "a closure has no `=>` before its body\n\nhelp: drop it";

/// `prompt("...").as("tone")`
pub(crate) const TAGGED_STEP: &str =
    "a compute step has no tag\n\nhelp: write the tag where the column is read, as in `mood.as(\"tone\")`";

/// `prompt("...").every(0)`
pub(crate) const INTERVAL_OF_ZERO: &str = "an interval of 0 computes nothing\n\nhelp: write the number of steps, as in `.every(5)`, or drop the column";

/// `prompt("...").when(async |cx| ...)`
pub(crate) const ASYNC_CONDITION: &str = "a condition is not async\n\nhelp: write `.when(|cx| ...)`, which returns whether to compute a value at this step";

/// `prompt("...").model("opnai/gpt-5.4-mini")`
pub(crate) fn unknown_model(name: &str) -> String {
    // The address after the `@` may hold a password, and its slashes are none of the name.
    let name = name.split('@').next().unwrap_or_default();
    let (provider, model) = name.split_once(['/', ':']).unwrap_or((name, ""));
    // The literal may be a whole text, and its beginning is enough to find it.
    let shown: String = name.chars().take(40).flat_map(char::escape_debug).collect();
    let near = nearest(&provider.to_lowercase(), PROVIDERS.into_iter());
    let help = match near {
        _ if model.is_empty() && nearest(name, [OFFLINE].into_iter()).is_some() => {
            format!("did you mean `{OFFLINE}`?")
        }
        Some(near) if !model.is_empty() && shown.len() == name.len() => {
            format!("did you mean `{near}/{model}`?")
        }
        Some(near) => format!("write the provider, a slash and the model: `{near}/...`"),
        None if model.is_empty() => {
            "write the provider before the model, as in `openai/gpt-5.4-mini`".to_owned()
        }
        None => {
            let list = PROVIDERS.map(|provider| format!("`{provider}`"));
            format!("the providers are {}", list.join(", "))
        }
    };
    format!("no model is named `{shown}`\n\nhelp: {help}")
}

/// `the mood`
pub(crate) fn words(name: &Ident) -> String {
    format!(
        "expected one expression as the compute step of {}\n\nhelp: as in `prompt(\"...\")`, or the name of a function",
        quote(name)
    )
}

/// Any other tokens after a complete step. `found` is the first one, if a message can show it.
pub(crate) fn after(name: &Ident, found: Option<&str>) -> String {
    let found = found.map_or_else(|| "before this".to_owned(), |found| format!("before `{found}`"));
    format!(
        "expected `;` {found}: the compute step of {} is complete\n\n\
         help: drop the rest, or write a setting as a method, as in `.retry(3)`",
        quote(name)
    )
}

/// `|_: Context| ready(style.clone())`, where `style` is a parameter of the flow.
pub(crate) fn borrowed_param(name: &Ident, is_copied_by_deref: bool) -> String {
    let text = name.unraw();
    let copy = if is_copied_by_deref { format!("*{text}") } else { format!("{text}.clone()") };
    format!(
        "a compute step cannot borrow the parameter {}\n\n\
         help: write an `async` closure, which has a clone of it, or `{{ let {text} = {copy}; move |...| ... }}`",
        quote(name)
    )
}
