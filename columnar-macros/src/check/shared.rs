//! The lint about threads: what a request must have in common with the thread that it continues, to be served from the cache
//! of a provider.

use std::collections::HashMap;

use proc_macro2::TokenStream;
use syn::{LitStr, Path};

use super::steps::PromptSetting;
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
        let name = &ident_text(&column.name);
        let threads = derived.reads().filter(|view| view.is_thread() && view.is_valid());
        for view in threads {
            let Some(thread) = columns.get(&view.name()) else { continue };
            for part in SharedPart::all(column, thread).into_iter().filter(SharedPart::differs) {
                // The setting is missing where the other column has one.
                let at = part.own.clone().unwrap_or_else(|| view.written.clone());
                errors.at(at, part.message(name, &view.name()));
            }
        }
    }
}

/// A part of a request in a column, and in the column whose thread it continues.
struct SharedPart {
    what: &'static str,
    own: Option<TokenStream>,
    of_thread: Option<TokenStream>,
}

impl SharedPart {
    /// The parts that are known.
    fn all(column: &ColumnDecl, thread: &ColumnDecl) -> Vec<Self> {
        let [own, of_thread] = [column, thread].map(|column| column.ty.as_ref().map(|ty| ty.ty.clone()));
        let ty = Self { what: "type", own, of_thread };
        let settings = ["model", "effort"].into_iter().filter_map(|what| Self::setting(what, column, thread));
        settings.chain([ty]).collect()
    }

    fn setting(what: &'static str, column: &ColumnDecl, thread: &ColumnDecl) -> Option<Self> {
        let mut values = [column, thread].into_iter().map(|column| {
            match PromptSetting::of(&column.derived.as_ref()?.step, what) {
                PromptSetting::Unset => Some(TokenStream::new()),
                PromptSetting::Set(value) => is_literal(what, &value).then_some(value),
                PromptSetting::Unread => None,
            }
        });
        let [own, of_thread] = [values.next()??, values.next()??];
        let [own, of_thread] = [own, of_thread].map(|value| Some(value).filter(|value| !value.is_empty()));
        Some(Self { what, own, of_thread })
    }

    fn differs(&self) -> bool {
        let [own, of_thread] =
            [&self.own, &self.of_thread].map(|part| part.as_ref().map(ToString::to_string));
        own != of_thread
    }

    /// `prompt("...").model("openai/gpt-5.4-mini")`, where the thread has another model.
    fn message(&self, name: &str, thread: &str) -> String {
        let Self { what, of_thread, .. } = self;
        let has = of_thread.as_ref().map_or_else(|| "none".to_owned(), |value| format!("`{value}`"));
        format!(
            "with another `{what}` the request shares nothing with the thread, and `{name}` denies `unshared`\n\n\
             help: `{thread}` has {has}: write the same, or drop the lint"
        )
    }
}

/// Whether the value of a setting is a text, or an effort such as `Effort::High`. Only rustc knows any other one.
fn is_literal(what: &str, value: &TokenStream) -> bool {
    let is_variant = syn::parse2::<Path>(value.clone()).is_ok_and(|path| path.segments.len() > 1);
    what == "effort" && is_variant || syn::parse2::<LitStr>(value.clone()).is_ok()
}
