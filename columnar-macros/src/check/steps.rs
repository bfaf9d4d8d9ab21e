//! The rules about the settings of a compute step: the interval, the name of a model, and the condition.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Expr, ExprMethodCall, LitInt, LitStr};

use crate::diagnostics::{Errors, late_was, quoted};
use crate::ident;
use crate::keywords::{OFFLINE, PROVIDERS, is_setting_of_prompts, nearest};
use crate::syntax::{AsyncClosure, Closure, ComputedDecl, closure, trees};

/// A setting that is no literal is known only at run time. Wrong:
///
/// ```text
/// column digest(user.window(5)) = prompt("Summarise.").every(0);
/// column topics(user.latest) = prompt("List the topics.").model("opnai/gpt-5.4-mini");
/// column praise(user.latest) = prompt("Praise the user.").when(async |cx| cx.step() > 3);
/// column topics(user.latest) = prompt("List the topics.").was("subjects");
/// column shout(user.latest) = (|cx: Context| shout(cx)).retry(3).model("openai/gpt-5.4-mini");
/// ```
pub(super) fn check_settings(name: &Ident, derived: &mut ComputedDecl, errors: &mut Errors) {
    for setting in settings(&derived.step) {
        derived.is_step_for_editors |= !setting.check(name, errors);
    }
}

/// The conditions of a compute step.
pub(super) fn conditions(step: &TokenStream) -> impl Iterator<Item = Closure> {
    settings(step).into_iter().filter_map(|setting| setting.condition())
}

/// A setting of a prompt.
pub(super) enum PromptSetting {
    Unset,
    /// The arguments of the last call.
    Set(TokenStream),
    /// Only rustc can read the step, or it is no prompt.
    Unread,
}

impl PromptSetting {
    pub(super) fn of(step: &TokenStream, method: &str) -> Self {
        let mut settings = Vec::new();
        let operand = syn::parse2(step.clone()).ok().and_then(|step| collect(step, &mut settings));
        if operand != Some(Operand::Prompt) {
            return Self::Unread;
        }
        let last = settings.into_iter().rfind(|setting| ident::is(&setting.method, method));
        last.map_or(Self::Unset, |setting| Self::Set(setting.arguments))
    }
}

/// A call of a method after the first operand: `prompt("…")`, a path, or an expression in parentheses.
struct Setting {
    method: Ident,
    /// The arguments.
    arguments: TokenStream,
    operand: Operand,
}

/// The value that has the settings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Prompt,
    Closure,
    /// Any other value, whose methods may belong to any type.
    Other,
}

/// The settings of a step; none if only rustc can read it.
fn settings(step: &TokenStream) -> Vec<Setting> {
    let mut settings = Vec::new();
    if let Ok(step) = syn::parse2(step.clone()) {
        collect(step, &mut settings);
    }
    settings
}

/// Collects the settings of a value. `None` for a block or a condition: its methods may belong to any type.
fn collect(value: Expr, settings: &mut Vec<Setting>) -> Option<Operand> {
    match value {
        Expr::MethodCall(ExprMethodCall { receiver, method, args, .. }) => {
            let operand = collect(*receiver, settings)?;
            settings.push(Setting { method, arguments: args.into_token_stream(), operand });
            Some(operand)
        }
        Expr::Paren(inner) => Some(collect(*inner.expr, settings).unwrap_or(Operand::Other)),
        Expr::Group(inner) => Some(collect(*inner.expr, settings).unwrap_or(Operand::Other)),
        Expr::Call(call) => match *call.func {
            Expr::Path(function) => {
                let is_prompt = function.path.segments.last().is_some_and(|last| last.ident == "prompt");
                Some(if is_prompt { Operand::Prompt } else { Operand::Other })
            }
            _ => None,
        },
        Expr::Path(_) => Some(Operand::Other),
        Expr::Closure(_) => Some(Operand::Closure),
        _ => None,
    }
}

impl Setting {
    /// Returns whether rustc can check the setting.
    fn check(&self, column: &Ident, errors: &mut Errors) -> bool {
        let Self { method, arguments, operand } = self;
        if ident::is(method, "was") && *operand != Operand::Other {
            errors.at(method, late_was(column, &arguments.to_string()));
            return false;
        }
        if ident::is(method, "every") {
            let count = syn::parse2::<LitInt>(arguments.clone()).ok();
            if let Some(zero) = count.filter(|count| count.base10_digits() == "0") {
                errors.at(zero, INTERVAL_OF_ZERO);
            }
        } else if ident::is(method, "model")
            && *operand == Operand::Prompt
            && let Ok(name) = syn::parse2::<LitStr>(arguments.clone())
            && !is_model(&name.value())
        {
            errors.at(&name, unknown_model(&name.value()));
        } else if *operand == Operand::Closure && is_setting_of_prompts(method) {
            errors.at(method, only_of_prompts(method));
            return false;
        } else if *operand != Operand::Other
            && let Some(condition) = self.condition()
            && let Some(AsyncClosure { asynchronous, .. }) = condition.as_async()
        {
            errors.at(asynchronous, ASYNC_CONDITION);
            return false;
        }
        true
    }

    fn condition(&self) -> Option<Closure> {
        ident::is(&self.method, "when").then(|| closure(&trees(&self.arguments)))?
    }
}

/// Whether the runtime finds a model by this name.
fn is_model(name: &str) -> bool {
    let (provider, model) = name.split_once('/').unwrap_or_default();
    name == OFFLINE || PROVIDERS.contains(&provider) && !model.is_empty()
}

// Messages.

/// `prompt("...").every(0)`
const INTERVAL_OF_ZERO: &str = "an interval of 0 computes nothing\n\nhelp: write the number of steps, as in `.every(5)`, or drop the column";

/// `prompt("...").when(async |cx| ...)`
const ASYNC_CONDITION: &str = "a condition is not async\n\nhelp: write `.when(|cx| ...)`, which returns whether to compute a value at this step";

/// `(|cx: Context| ...).retry(3).model("openai/gpt-5.4-mini")`
fn only_of_prompts(setting: &Ident) -> String {
    format!(
        "a closure has no `{setting}`, which only prompts have\n\nhelp: drop it, or write `prompt(\"...\")`"
    )
}

/// `prompt("...").model("opnai/gpt-5.4-mini")`
fn unknown_model(name: &str) -> String {
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
        None => format!("the providers are {}", quoted(PROVIDERS)),
    };
    format!("no model is named `{shown}`\n\nhelp: {help}")
}
