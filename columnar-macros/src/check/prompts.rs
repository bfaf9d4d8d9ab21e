//! The rule about the text of a prompt, which is sent as it is written.

use std::collections::HashSet;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprLit, Lit, LitStr};

use crate::diagnostics::{Errors, quote};
use crate::ident::ident_text;
use crate::syntax::ComputedDecl;

/// The text of a prompt has no column in braces, unless the lint is allowed. Wrong:
///
/// ```text
/// column answer(user.latest) = prompt("Answer this: {user}");
/// ```
pub(super) fn check_braces(
    name: &Ident,
    derived: &ComputedDecl,
    columns: &HashSet<String>,
    errors: &mut Errors,
) {
    let Ok(step) = syn::parse2::<Expr>(derived.step.clone()) else { return };
    let mut texts = PromptTexts::default();
    texts.visit_expr(&step);
    for text in texts.0 {
        if let Some(column) = braced(&text.value()).find(|braced| columns.contains(*braced)) {
            let own = ident_text(name) == column;
            let is_read =
                derived.reads().any(|view| view.is_self && own || ident_text(view.last()) == column);
            let view = if own { "self" } else { column };
            errors.at(&text, literal_braces(column, name, (!is_read).then_some(view)));
        }
    }
}

/// The literals that are the text of a prompt.
#[derive(Default)]
struct PromptTexts(Vec<LitStr>);

impl Visit<'_> for PromptTexts {
    fn visit_expr_call(&mut self, call: &ExprCall) {
        if let Expr::Path(function) = &*call.func
            && function.path.segments.last().is_some_and(|last| last.ident == "prompt")
            && let Some(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) = call.args.first()
        {
            self.0.push(text.clone());
        }
        visit::visit_expr_call(self, call);
    }
}

/// The names in braces: `user` in `{user}` and in `{user.latest}`. Doubled braces are none, as in `format!`.
fn braced(text: &str) -> impl Iterator<Item = &str> {
    let mut is_escaped = false;
    text.split('{').skip(1).filter_map(move |after| {
        let was_escaped = is_escaped;
        is_escaped = !was_escaped && after.is_empty();
        let (inside, _) = after.split_once('}').filter(|_| !was_escaped)?;
        inside.split('.').next()
    })
}

// Messages.

/// `prompt("Answer this: {user}")`
fn literal_braces(column: &str, name: &Ident, unread: Option<&str>) -> String {
    let help = match unread {
        Some(view) => format!("read it, as in `column {name}({view}.latest)`, and drop the braces"),
        None => format!("{} reads `{column}`, so the model sees the value: drop the braces", quote(name)),
    };
    format!(
        "a prompt is sent as it is written, with no value in place of `{{{column}}}`\n\n\
         help: {help}; `#[allow(literal_braces)]` before the column sends them"
    )
}

#[cfg(test)]
mod tests {
    use super::braced;

    fn names(text: &str) -> Vec<&str> {
        braced(text).collect()
    }

    #[test]
    fn names_are_in_single_braces() {
        assert_eq!(names("hi {user}, {topics.latest} and {x"), ["user", "topics"]);
        assert_eq!(names("{{user}} {{{user}}} {{ {topics} }}"), ["user", "topics"]);
        assert_eq!(names(r#"{"user": {"name": 1}}"#), [r#""name": 1"#]);
    }
}
