//! Errors in the inputs that a compute step names.

use proc_macro2::Ident;

use super::errors::quote;
use crate::ident::ident_text;
use crate::keywords::nearest;

/// `async |usr| …` for a column that reads `user`.
pub(crate) fn unknown_param(param: &Ident, column: &Ident, tags: &[String]) -> String {
    let text = ident_text(param);
    let help = match text.as_str() {
        "cx" | "ctx" | "context" | "_" => format!("the context needs its type: `{text}: Context`"),
        _ if text == ident_text(column) => "add the view `self` for its values at earlier steps".to_owned(),
        _ => known(&text, tags),
    };
    format!("{} reads nothing with the tag `{text}`\n\nhelp: {help}", quote(column))
}

/// `async |user, style| …` where `style` is a parameter of the flow.
pub(crate) fn param_of_flow(param: &Ident) -> String {
    format!(
        "{} is a parameter of the flow\n\nhelp: drop it here: a closure uses it by its name",
        quote(param)
    )
}

/// `async |user.latest| …` or `async |(user, topics)| …`, with the tags that are probably meant.
pub(crate) fn pattern(tags: &[String]) -> String {
    let help = match tags {
        [] => "write the tag, as in `|user|`".to_owned(),
        [tag] => format!("write the tag, as in `|{tag}|`"),
        tags => format!("write `|{}|`", tags.join(", ")),
    };
    format!("a parameter of a compute step is the tag of a view\n\nhelp: {help}")
}

/// `cx.input("usr")` in the step of a column that reads `user`.
pub(crate) fn unknown_tag(tag: &str, column: &Ident, tags: &[String]) -> String {
    // The literal may be a whole text, and its beginning is enough to find it.
    let text: String = tag.chars().take(40).collect();
    format!("{} reads nothing with the tag `{text}`\n\nhelp: {}", quote(column), known(&text, tags))
}

/// `async |files| …` for a column that reads documents.
pub(crate) fn documents(param: &Ident) -> String {
    format!(
        "{} are documents, which cannot be a parameter of a compute step\n\n\
         help: take the context, as in `|cx: Context|`: `cx.messages().documents()` has them",
        quote(param)
    )
}

fn known(text: &str, tags: &[String]) -> String {
    match nearest(text, tags.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let list: Vec<String> = tags.iter().map(|tag| format!("`{tag}`")).collect();
            format!("its inputs are {}", list.join(", "))
        }
    }
}
