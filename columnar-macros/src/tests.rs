//! Random flows: any tokens have an expansion or an error.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use crate::check::check;
use crate::diagnostics::Errors;
use crate::syntax::{self, ComputedDecl, FlowForm};

/// A sequence of numbers that is the same in every run (splitmix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % end
    }

    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn tokens(&mut self, choices: &[&str]) -> TokenStream {
        self.of(choices).parse().unwrap()
    }
}

const WORDS: &[&str] = &[
    "source",
    "column",
    "source user;",
    "source files: Documents;",
    ": Documents",
    "files",
    "tiered",
    ".tiered().target(3)",
    "context",
    ".context()",
    ".instruction()",
    ".text_only()",
    "text_only",
    "column topics(user) = x;",
    "use Debate { topic: user } as debate;",
    "self",
    "Self",
    "_",
    "user",
    "topics",
    "summary",
    "latest",
    "window",
    "as",
    "r#as",
    "named",
    "let",
    "use",
    "pub",
    "struct",
    "enum",
    "where",
    "type",
    "r#type",
    "gen",
    "__",
    "_1",
    "é",
    "Upper",
    "colum",
    "Source",
    "\"tag\"",
    "\"\"",
    "0",
    "3",
    "'a",
    "/// doc\n",
    "//! doc\n",
    "#[cfg(x)]",
    "#[",
    "#",
    "!",
    ",",
    ";",
    ".",
    ":",
    "::",
    "=",
    "==",
    "=>",
    "->",
    ":=",
    "&",
    "?",
    "|",
    "<",
    ">",
    "(",
    "{",
    "[",
    "x",
    "window(0)",
    ".latest",
    ".as(\"a\")",
];

/// Any tokens, in groups of any kind.
fn soup(chance: &mut Chance, length: usize, depth: usize) -> TokenStream {
    let mut soup = TokenStream::new();
    for _ in 0..chance.below(length + 1) {
        let word = chance.of(WORDS);
        match (word.parse::<TokenStream>(), depth) {
            (Ok(tokens), _) => soup.extend(tokens),
            // An opening bracket without its other half.
            (Err(_), 0) => {}
            (Err(_), _) => {
                let delimiter = chance.of(&[
                    Delimiter::Parenthesis,
                    Delimiter::Parenthesis,
                    Delimiter::Brace,
                    Delimiter::Bracket,
                    Delimiter::None,
                ]);
                let inner = self::soup(chance, length, depth - 1);
                soup.extend([TokenTree::from(Group::new(delimiter, inner))]);
            }
        }
    }
    soup
}

/// A valid flow, with tokens taken out, doubled and exchanged at any depth.
fn mutated(chance: &mut Chance, tokens: TokenStream) -> TokenStream {
    let mut mutated: Vec<TokenTree> = Vec::new();
    for tree in tokens {
        let tree = match tree {
            TokenTree::Group(group) => {
                TokenTree::from(Group::new(group.delimiter(), self::mutated(chance, group.stream())))
            }
            other => other,
        };
        match chance.below(40) {
            0 => {}
            1 => mutated.extend([tree.clone(), tree]),
            2 => mutated.extend(soup(chance, 2, 1)),
            3 => mutated.insert(mutated.len().saturating_sub(1), tree),
            _ => mutated.push(tree),
        }
    }
    mutated.into_iter().collect()
}

/// Declarations with errors in the grammar of flows, and none in the grammar of tokens.
pub(crate) fn declarations(chance: &mut Chance) -> TokenStream {
    const KEYWORDS: &[&str] =
        &["column", "column", "column", "colum", "source", "pub column", "/// doc\ncolumn"];
    const NAMES: &[&str] =
        &["topics", "summary", "a", "user", "type", "gen", "r#type", "_", "__", "_1", "A", ""];
    const VIEWS: &[&str] = &[
        "user",
        "user.latest",
        "self",
        "self.latest",
        "topics",
        "summary.window(3)",
        "a.as(\"b\")",
        "type",
        "",
        "user.as",
        "user.window(0)",
        "user.latest{}",
        "a.window[2]",
        "user.",
        "a::b",
        "3",
        "&user",
        "a b",
        "user.type",
        "a.as(\"B\")",
        "self.as(\"x\")",
        "a.latest().latest",
        "_",
        "super",
        "Self",
        "user.lastest",
        "debate",
        "debate.critic.latest",
        "user.latest.elided()",
        "self.elided()",
        "user.elided(3).elided",
        "debate.type",
        "debate.topic",
        "debate.",
        "files.tiered()",
        "files.tiered().target(0)",
        "files.tiered",
        "files.latest",
        "user.tiered()",
        "self.tiered()",
        "user.target(\"x\")",
        "files.tiered().tiered().target.target(3)",
        "debate.critic.tiered()",
        "debate.target",
        "user.context()",
        "summary.latest.instruction()",
        "user.latest.context(3).instruction",
        "a.as(\"b\").instruction()",
        "a.instruction().elided()",
        "self.context",
        "self.text_only().text_only",
        "debate.text_only.text_only(3)",
        "files.tiered().text_only()",
        "user.context",
        "debate.context.instruction()",
        "files.tiered().context()",
        "group(\"facts\", user.context(), a)",
        "group(\"facts\", group(\"more\", a.instruction(), user), topics)",
    ];
    const STEPS: &[&str] = &[
        "= x;",
        "= x;",
        "= x + 1;",
        "= |cx: Context| async { x };",
        "== x;",
        "= ;",
        ";",
        "-> T = x;",
        "=> x;",
        ": T = x;",
    ];
    let mut flow = chance.tokens(&[
        "source user;",
        "source user; source files: Documents;",
        "source user; source files: ;",
        "source user",
        "",
    ]);
    for _ in 0..chance.below(6) {
        let views: Vec<_> = (0..chance.below(4)).map(|_| chance.tokens(VIEWS)).collect();
        let keyword = chance.tokens(KEYWORDS);
        let name = chance.tokens(NAMES);
        let step = chance.tokens(STEPS);
        let list = match chance.below(10) {
            0 => quote!([#(#views),*]),
            1 => quote!({#(#views),*}),
            2 => quote!(),
            _ => quote!((#(#views),*)),
        };
        flow.extend(quote!(#keyword #name #list #step));
        if chance.below(3) == 0 {
            flow.extend(module(chance));
        }
    }
    flow
}

/// A module, valid or not.
fn module(chance: &mut Chance) -> TokenStream {
    let path =
        chance.tokens(&["Debate", "chat::Debate<M>", "Debate", "crate", "", "3", "Debate::<u8>(a, b)"]);
    let inputs = chance.tokens(&[
        "{ topic: user }",
        "{ user }",
        "{ topic: summary.critic, user, }",
        "{ topic: user.latest }",
        "{ topic: self }",
        "{ topic: user, topic: user }",
        "{ topic = user, , : a, b: }",
        "[topic: user]",
        "",
    ]);
    let name =
        chance.tokens(&["as debate;", "as debate;", "as topics;", "as", ";", "debate;", "as debate, user;"]);
    quote!(use #path #inputs #name)
}

fn header(chance: &mut Chance) -> TokenStream {
    chance.tokens(&[
        "",
        "",
        "struct Chat",
        "pub struct Chat",
        "pub struct Chat<'a, M: Model, const N: usize>(model: M) where M: Clone",
        "pub struct Chat(model)",
        "pub struct Chat(&self, a: b c, d: e)",
        "pub struct Chat<M:>(m: M)",
        "pub struct Felt: Chat",
        "pub struct Felt<'a, M: Model>(model: M): chat::Chat<'a, M> where M: Clone",
        "struct Felt:",
        "struct Felt: Felt",
        "struct Felt: Chat + Debate",
        "struct Felt: &Chat",
        "struct Felt: crate",
        "struct Felt: Chat<u8, { 3 }, fn() -> (u8, u8)>",
        "struct Felt: Chat(model: M) where",
        "struct Felt extends Chat",
        "struct Felt = Chat",
        "struct Felt Chat",
        "pub Chat",
        "pub struct",
        "pub enum Chat",
        "/// doc\n#[derive(Clone)] #[cfg(x)] pub(crate) struct Chat",
    ])
}

pub(crate) fn flow(chance: &mut Chance, declarations: &TokenStream) -> TokenStream {
    let header = header(chance);
    if header.is_empty() { declarations.clone() } else { quote!(#header { #declarations }) }
}

/// Expands, and checks the properties of all expansions.
fn expand(flow: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut parsed = syntax::parse(flow.clone(), &mut errors);
    let plan = check(&mut parsed, &mut errors);
    let mut seen = vec![false; parsed.columns.len()];
    for &at in &plan.order {
        assert!(!std::mem::replace(&mut seen[at], true), "twice in the order: {flow}");
        let column = &parsed.columns[at];
        for view in column.derived.iter().flat_map(ComputedDecl::reads) {
            let read = parsed.columns.iter().position(|other| other.name == view.base);
            let is_before = read.is_some_and(|read| read != at && (seen[read] || !parsed.modules.is_empty()));
            let is_there = view.is_self || view.is_inherited || !view.path.is_empty() || is_before;
            assert!(is_there || errors.len() > 0, "reads an unknown column: {flow}");
        }
    }
    assert!(seen.iter().all(|seen| *seen), "not in the order: {flow}");
    let is_declared = matches!(parsed.form, FlowForm::Item(_) | FlowForm::Inline);
    assert!(is_declared || errors.len() > 0, "neither an expansion nor an error: {flow}");
    let has_source = parsed.base().is_some() || parsed.columns.iter().any(|column| column.derived.is_none());
    assert!(has_source || errors.len() > 0, "no source and no error: {flow}");

    let expansion = crate::expand::expand(&quote!(::columnar), &parsed, Span::call_site(), &plan, &errors);
    let reported = expansion.to_string().matches("compile_error").count();
    assert!(reported >= errors.len(), "not all errors are reported: {flow}");
    expansion
}

#[test]
fn any_tokens_have_an_expansion_or_an_error() {
    let mut chance = Chance(1);
    for _ in 0..1000 {
        let tokens = soup(&mut chance, 12, 3);
        expand(&flow(&mut chance, &tokens));
    }
}

#[test]
fn a_mutated_flow_has_an_expansion_or_an_error() {
    let valid = quote! {
        /// A chat.
        pub struct Chat<M: Model>(model: M, style: Map<u8, u8>) where M: Clone {
            /// What the person typed.
            source user;
            column topics(user.latest) = prompt("List the topics.").model(model.clone());
            column summary(user, topics.as("subjects"), self.latest) = |cx: Context| async move { cx.text() };
            column assistant(user.window(3), summary.latest.context(), topics.latest.instruction(), self) = prompt("Answer.");
            source files: Documents;
            column coder(files.tiered().target(1_536), user, self) = prompt("Write.");
            use chat::Debate<M>(model.clone()) { topic: user, facts: summary } as debate;
            column verdict(debate.critic.latest.as("case"), user) = prompt("Judge.");
        }
    };
    let extension = quote! {
        /// A chat, and what was felt.
        pub struct Felt<M: Model>(model: M): chat::Chat<M, u8> where M: Clone {
            column mood(user.latest, tone.as("voice"), self) = prompt("Name the mood.").model(model.clone());
            column tone(summary) = prompt("Name the tone.");
        }
    };
    let mut chance = Chance(2);
    for _ in 0..800 {
        expand(&mutated(&mut chance, valid.clone()));
        expand(&mutated(&mut chance, extension.clone()));
    }
}

#[test]
fn the_expansion_of_an_invalid_flow_is_rust() {
    let mut chance = Chance(3);
    for _ in 0..800 {
        let declarations = declarations(&mut chance);
        let flow = flow(&mut chance, &declarations);
        let expansion = expand(&flow);
        let parsed = match syn::parse2::<syn::File>(expansion.clone()) {
            Ok(_) => Ok(()),
            Err(_) => syn::parse2::<syn::Block>(quote!({ #expansion })).map(|_| ()),
        };
        assert!(parsed.is_ok(), "{flow}\n\nbecomes\n\n{expansion}");
    }
}

/// An inline flow without a column was expanded without an error, so a flow that can never have a step compiled.
#[test]
fn a_flow_without_a_source_has_an_error() {
    for declarations in
        ["", ";", "; ;", "use Debate { topic: user } as debate;", "use Debate {} as debate; ;"]
    {
        let declarations: TokenStream = declarations.parse().unwrap();
        expand(&declarations);
        expand(&quote!(struct Chat { #declarations }));
    }
}

/// A width of 65,536 characters panics.
#[test]
fn a_name_of_any_length_is_a_mistake() {
    let long = "a".repeat(70_000);
    for declarations in [
        format!("source user; column {long}(user) = x;"),
        format!("source {long}; column a({long}) = x;"),
        format!("source user; column {long}(user, b) = x; column b({long}) = x;"),
        format!("source user; use Debate {{ topic: user }} as {long}; column a({long}.critic) = x;"),
    ] {
        let declarations: TokenStream = declarations.parse().unwrap();
        expand(&declarations);
        expand(&quote!(struct Chat { #declarations }));
    }
}

#[test]
fn a_panic_is_reported_as_a_bug_of_this_crate() {
    let panic = std::panic::catch_unwind(|| panic!("out of {}", "ideas")).unwrap_err();
    assert!(crate::bug(&*panic).to_token_stream().to_string().contains("out of ideas"));
}
