//! The prompt of a compute step and its settings, for the documentation of the flow.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::LitStr;

use crate::expand::tokens::text_of;
use crate::ident::{self, ident_text};
use crate::keywords::is_setting;

/// The most letters of a prompt.
const MOST_OF_PROMPT: usize = 80;

/// The most letters of the arguments of a setting.
const MOST_OF_SETTING: usize = 40;

/// What the declaration says about a compute step.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ShownStep {
    /// The first line of a prompt that is a literal.
    pub(super) prompt: String,
    /// The settings in order, such as `temperature(0.2)`.
    pub(super) settings: Vec<String>,
}

impl ShownStep {
    pub(super) fn new(step: TokenStream) -> Self {
        let mut shown = Self::default();
        // The body of a closure may call anything.
        let trees: Vec<TokenTree> = step.into_iter().take_while(|tree| !is_punct(tree, '|')).collect();
        let mut is_method = false;
        for pair in trees.windows(2) {
            if let [TokenTree::Ident(word), TokenTree::Group(arguments)] = pair
                && arguments.delimiter() == Delimiter::Parenthesis
            {
                if is_method && is_setting(word) {
                    shown.settings.push(format!("{}({})", ident_text(word), shown_arguments(arguments)));
                } else if !is_method && ident::is(word, "prompt") {
                    let text = syn::parse2::<LitStr>(arguments.stream());
                    shown.prompt = text.map(|text| first_line(&text.value())).unwrap_or_default();
                }
            }
            is_method = pair.first().is_some_and(|tree| is_punct(tree, '.'));
        }
        shown
    }
}

/// Whether a compute step is `external()`, by any path and with any settings: the values come from outside.
pub(super) fn is_external(step: &TokenStream) -> bool {
    let trees = step.clone().into_iter();
    let path = trees.take_while(|tree| matches!(tree, TokenTree::Ident(_)) || is_punct(tree, ':'));
    matches!(path.last(), Some(TokenTree::Ident(word)) if ident::is(&word, "external"))
}

fn is_punct(tree: &TokenTree, expected: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == expected)
}

/// The arguments, if they are short and no closure.
fn shown_arguments(arguments: &Group) -> String {
    let text = text_of(arguments.stream());
    let is_shown = text.chars().count() <= MOST_OF_SETTING && !text.contains(['|', '{', '\n']);
    if is_shown { text } else { "…".to_owned() }
}

/// The first line of a text that has letters.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let begin: String = first.chars().take(MOST_OF_PROMPT).collect();
    let is_cut = begin.len() < first.len() || lines.next().is_some();
    if is_cut { format!("{} …", begin.trim_end()) } else { begin }
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;

    fn shown(prompt: &str, settings: &[&str]) -> ShownStep {
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        ShownStep { prompt: prompt.to_owned(), settings }
    }

    #[test]
    fn a_prompt_has_its_first_line_and_its_settings() {
        let step = quote! {
            columnar::prompt("\n  List the topics.  \n\n  One a line.").model("openai/gpt-5.4-mini")
                .temperature(-0.2).budget(Budget::of(900).token_buffer(80)).or_skip()
        };
        let settings = [
            "model(\"openai/gpt-5.4-mini\")",
            "temperature(-0.2)",
            "budget(Budget::of(900).token_buffer(80))",
            "or_skip()",
        ];
        assert_eq!(ShownStep::new(step), shown("List the topics. …", &settings));
    }

    #[test]
    fn values_from_outside_are_found_by_the_path() {
        for step in [quote!(external()), quote!(columnar::external().default(|cx| text(cx)).or_skip())] {
            assert!(is_external(&step), "{step}");
        }
        for step in [quote!(prompt("external()")), quote!(|cx| external()), quote!()] {
            assert!(!is_external(&step), "{step}");
        }
    }

    #[test]
    fn what_is_no_literal_or_long_is_left_out() {
        let step = quote!(
            prompt(format!("{style}"))
                .when(|cx| cx.step() > 2)
                .after("A text of more than forty letters, for sure.")
        );
        assert_eq!(ShownStep::new(step), shown("", &["when(…)", "after(…)"]));
        let long = "x".repeat(81);
        assert_eq!(ShownStep::new(quote!(prompt(#long))).prompt, format!("{} …", "x".repeat(80)));
        assert_eq!(ShownStep::new(quote!(prompt("")).into_iter().collect()), shown("", &[]));
    }

    #[test]
    fn only_settings_of_the_step_itself_are_shown() {
        assert_eq!(
            ShownStep::new(quote!((async |user| ask(user).retry(5)).retry(3))),
            shown("", &["retry(3)"])
        );
        assert_eq!(ShownStep::new(quote!(|cx| prompt("a").retry(3))), shown("", &[]));
        assert_eq!(ShownStep::new(quote!(client.prompt("a").send(3))), shown("", &[]));
    }
}
