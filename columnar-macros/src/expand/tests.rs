//! The expansion of flows, in the files of `snapshots/`. `cargo insta review` shows and accepts changes.

use crate::diagnostics::Errors;
use proc_macro2::TokenStream;
use quote::quote;

#[test]
fn a_chat_becomes_structs_an_enum_and_their_impls() {
    let expansion = expand(&quote! {
        /// A chat.
        pub struct Chat {
            /// What the person typed.
            source user;
            column topics(user.latest) = prompt("List the topics.");
            column assistant(user, topics.window(2).as("subjects"), self) = prompt("Answer.");
        }
    });
    assert_expansion("chat", &syn::parse2(expansion).unwrap());
}

#[test]
fn generics_are_those_of_the_struct_and_its_constructors() {
    let expansion = expand(&quote! {
        pub struct Chat<M: Model, const N: usize>(model: M) where M: Clone {
            source user;
            column topics(user.window(N)) = prompt("List the topics.").model(model.clone());
        }
    });
    assert_expansion("generics", &items_with(expansion, "M : Model"));
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
    assert_expansion("captures", &items_with(expansion, "column_with_values"));
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
    assert_expansion("typed", &items_with(expansion, "Typed"));
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
    assert_expansion("documents", &items_with(expansion, "files"));
}

#[test]
fn a_filter_is_a_function_in_a_constant() {
    let expansion = expand(&quote! {
        pub struct Chat {
            source user;
            column topics(user.window(3).filter(|text| text.ends_with('?'))) = prompt("List the topics.");
        }
    });
    assert_expansion("filters", &items_with(expansion, "ends_with"));
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
fn a_flow_with_errors_has_its_columns_and_its_errors_come_last() {
    let expansion = expand_with(
        &quote! {
            pub struct Chat(model) {
                source user = 3;
                colum topics(usr);
            }
        },
        5,
    );
    let mut file: syn::File = syn::parse2(expansion).unwrap();
    file.items.retain(|item| matches!(item, syn::Item::Struct(_) | syn::Item::Macro(_)));
    assert_expansion("errors", &file);
}

/// The items of an expansion that contain some text.
fn items_with(expansion: TokenStream, text: &str) -> syn::File {
    let mut file: syn::File = syn::parse2(expansion).unwrap();
    file.items.retain(|item| quote!(#item).to_string().contains(text));
    file
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
