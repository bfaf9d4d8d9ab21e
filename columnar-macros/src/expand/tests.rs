//! The expansion of flows, in the files of `snapshots/`. `cargo insta review` shows and accepts changes.

use crate::diagnostics::Errors;
use proc_macro2::TokenStream;
use quote::quote;

#[test]
fn an_item_becomes_structs_an_enum_and_their_impls() {
    let expansion = expand(&quote! {
        /// A chat.
        pub struct Chat<M: Model>(model: M) where M: Clone {
            /// What the person typed.
            source user;
            column topics(user.latest) = prompt("List the topics.").model(model.clone());
            column assistant(user, topics.window(2).as("subjects"), self) = prompt("Answer.").model(model.clone());
        }
    });
    assert_expansion("item", &syn::parse2(expansion).unwrap());
}

#[test]
fn an_extension_refers_to_the_columns_of_another_flow() {
    let expansion = expand(&quote! {
        /// A chat, and what was felt.
        pub struct Felt<'a>(style: &'a str): other::Chat<'a> {
            column mood(tone, user.latest, summary.window(2).as("digest"), self.latest) = prompt("Name the mood.");
            /// How it was said.
            column tone(user) = prompt(style);
        }
    });
    assert_expansion("extension", &syn::parse2(expansion).unwrap());
}

#[test]
fn an_extension_with_parameters_is_generic_over_its_base() {
    let expansion = expand(&quote! {
        struct Felt<M: Model, const N: usize>: Chat<M> {
            column mood(user.latest) = prompt("Name the mood.");
        }
    });
    assert_expansion("extension_with_parameters", &syn::parse2(expansion).unwrap());
}

#[test]
fn a_module_is_a_field_and_constants_find_its_columns() {
    let expansion = expand(&quote! {
        /// A chat that has a debate.
        pub struct Chat<M: Model>(model: M) {
            source user;
            /// What was argued.
            use Debate<M>(model.clone()) { topic: user } as debate;
            column verdict(debate.critic.latest.as("case"), user.latest) = prompt("Judge.");
        }
    });
    assert_expansion("module", &syn::parse2(expansion).unwrap());
}

#[test]
fn parameters_of_a_step_are_inputs() {
    let expansion = expand(&quote! {
        pub struct Desk: Chat {
            column score(user.latest): Score = prompt("Rate it.");
            column shout(user.latest, score.window(3).as("scores"), self) =
                async |user, mut scores: Vec<Score>, shout, cx: Context| user.to_uppercase();
        }
    });
    assert_expansion("inputs", &syn::parse2(expansion).unwrap());
}

#[test]
fn closures_have_clones_of_the_parameters_that_they_use() {
    let expansion = expand(&quote! {
        pub struct Chat(
            /// The style of the answer,
            /// such as `formal`.
            style: String,
            most: usize,
        ) {
            source user;
            column styled(user.latest) =
                (async |user| format!("{style}: {user}")).when(|cx| cx.step() < *most);
        }
    });
    let mut file: syn::File = syn::parse2(expansion).unwrap();
    file.items.retain(|item| quote!(#item).to_string().contains("column_with_values"));
    assert_expansion("captures", &file);
}

#[test]
fn typed_columns_take_their_types_from_their_fields() {
    let expansion = expand(&quote! {
        pub struct Chat<T: Tell + 'static> {
            source user;
            column score(user.latest): Score = prompt("Rate it.");
            column others(score): Vec<T> was "more" = prompt("Go on.");
        }
    });
    assert_expansion("typed", &syn::parse2(expansion).unwrap());
}

#[test]
fn documents_are_sources_with_a_type_and_tiered_views_are_constants() {
    let expansion = expand(&quote! {
        pub struct Coder {
            source files: Documents was "code";
            source user;
            column coder(files.tiered().target(TOKENS), user, self) = prompt("You write Rust.");
            column log(files.as("changes"), user) = prompt("Describe each change.");
        }
    });
    assert_expansion("documents", &syn::parse2(expansion).unwrap());
}

#[test]
fn views_with_a_purpose_are_constants() {
    let expansion = expand(&quote! {
        pub struct Chat {
            source user;
            source docs;
            source rules;
            column answer(rules.window(2).instruction(), user, docs.context().as("facts"), self) = prompt("Be brief.");
            column title(user.latest) = prompt("Find a title.");
        }
    });
    assert_expansion("purposes", &syn::parse2(expansion).unwrap());
}

#[test]
fn an_inline_flow_becomes_an_expression() {
    let flow = expand(&quote! {
        source user;
        column styled(user.latest, self.latest) = prompt(style);
    });
    let statement = quote!(fn around() { let chat = #flow; });
    assert_expansion("inline", &syn::parse2(statement).unwrap());
}

#[test]
fn a_flow_with_errors_has_a_complete_expansion() {
    let expansion = expand_with(
        &quote! {
            pub struct Chat(model) {
                source user = 3;
                colum topics(usr);
            }
        },
        5,
    );
    assert_expansion("broken", &syn::parse2(expansion).unwrap());
}

#[test]
fn a_half_typed_flow_keeps_its_shape_for_editors() {
    let expansion = expand_with(
        &quote! {
            pub struct Chat {
                source user;
                column topics(user.) =
                column summary(user, to, self.window(), ) = prompt(sty);
                col
            }
        },
        5,
    );
    assert_expansion("half_typed", &syn::parse2(expansion).unwrap());
}

fn expand(flow: &TokenStream) -> TokenStream {
    expand_with(flow, 0)
}

fn expand_with(flow: &TokenStream, mistakes: usize) -> TokenStream {
    let mut errors = Errors::default();
    let expansion = crate::expand(quote!([::columnar] #flow), &mut errors);
    assert_eq!(errors.len(), mistakes, "{}", errors.tokens());
    expansion
}

/// Compares the expansion with the file of this name.
fn assert_expansion(name: &str, expansion: &syn::File) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, prettyplease::unparse(expansion)));
}
