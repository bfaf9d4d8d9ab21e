//! Modules in forms of other languages: `module Debate { … } as debate;`, `column debate = Debate { … };`,
//! `debate: Debate { … },`. Each is one error, and the module is there all the same.

use proc_macro2::{Delimiter, Ident, Punct, Spacing, TokenTree};

use super::cursor::{Angles, Cursor, begins_declaration, is_group, is_ident, is_punct, tokens, trees_of};
use crate::diagnostics::{Errors, declarations, modules};
use crate::ident::{self, ident_text};

/// Words before the name of a type that make another item of Rust.
const ITEMS: [&str; 13] = [
    "struct", "enum", "trait", "impl", "union", "unsafe", "extern", "fn", "type", "const", "static", "let",
    "use",
];

/// A module in another form.
pub(super) enum Form {
    /// After a word that is not `use`, which is taken.
    Keyword(Ident),
    /// The tokens after the `use` that is missing, and the word in its place.
    Rewritten(Ident, Vec<TokenTree>),
}

/// Takes a module in another form, or the word before it.
pub(super) fn take(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Form> {
    // Not `declaration`: a keyword in front would end it. A module ends with its braces.
    let trees = cursor.rest();
    let [TokenTree::Ident(word), rest @ ..] = trees else { return None };
    if !ident::is_one_of(word, &ITEMS)
        && let Some(length) = flow(rest)
        && !is_punct(rest.get(length), '=')
    {
        errors.at(word, declarations::misspelt_use(word));
        cursor.next();
        return Some(Form::Keyword(word.clone()));
    }
    let (name, flow_at) = match trees {
        [TokenTree::Ident(name), colon, ..] if is_punct(Some(colon), ':') => (name, 2),
        [_, TokenTree::Ident(name), equals, ..] if is_punct(Some(equals), '=') && !ident::is(word, "let") => {
            (name, 3)
        }
        _ => return None,
    };
    let rest = trees.get(flow_at..)?;
    let length = flow(rest)?;
    let module = rest.get(..length)?;
    errors.at(tokens(trees.get(..flow_at)?), modules::other_form(&name_of(module), &ident_text(name)));
    cursor.take(flow_at + length);
    // A field ends with a comma.
    if cursor.punct(',').is_none() {
        cursor.punct(';');
    }
    let mut written = module.to_vec();
    let semicolon = Punct::new(';', Spacing::Alone);
    written.extend([Ident::new("as", name.span()).into(), name.clone().into(), semicolon.into()]);
    Some(Form::Rewritten(Ident::new("use", word.span()), written))
}

/// The name of the flow that begins here, for a message.
fn name_of(module: &[TokenTree]) -> String {
    let names = module.iter().take_while(|tree| !matches!(tree, TokenTree::Group(_)));
    let last = names.filter_map(|tree| match tree {
        TokenTree::Ident(name) if is_type(name) => Some(ident_text(name)),
        _ => None,
    });
    last.last().unwrap_or_else(|| "Debate".to_owned())
}

fn is_type(name: &Ident) -> bool {
    ident_text(name).starts_with(|first: char| first.is_ascii_uppercase())
}

/// The number of tokens up to the inputs, if a path to a flow begins here, its arguments and its inputs.
fn flow(trees: &[TokenTree]) -> Option<usize> {
    let is_path = |first: &TokenTree| matches!(first, TokenTree::Ident(_)) || is_punct(trees.get(1), ':');
    trees.first().filter(|first| is_path(first))?;
    let mut angles = Angles::default();
    let mut last = None;
    for (at, tree) in trees.iter().enumerate() {
        angles.pass(tree);
        match tree {
            _ if angles.open > 0 => {}
            TokenTree::Ident(name) => {
                // Two names in a row are no path.
                let is_first = at == 0 || is_punct(trees.get(at - 1), ':');
                if !is_first || ident::is_one_of(name, &ITEMS) {
                    return None;
                }
                last = Some(name);
            }
            TokenTree::Punct(punct) if ![':', '<', '>'].contains(&punct.as_char()) => return None,
            TokenTree::Group(inputs) if inputs.delimiter() == Delimiter::Brace => {
                // Declarations in braces are another flow.
                let is_flow = last.is_some_and(is_type) && !begins_declaration(&trees_of(inputs));
                return is_flow.then_some(at + 1);
            }
            TokenTree::Group(arguments) if arguments.delimiter() != Delimiter::Parenthesis => return None,
            // Without braces, which is an error of its own.
            TokenTree::Group(_) if is_ident(trees.get(at + 1), "as") => {
                return last.is_some_and(is_type).then_some(at + 1);
            }
            _ => {}
        }
    }
    None
}

/// The tokens of a module with its `as` before the inputs, in their right order. Wrong: `Debate as debate { topic: user }`.
pub(super) fn with_as_at_the_end(trees: &[TokenTree], errors: &mut Errors) -> Option<Vec<TokenTree>> {
    let at = (0..trees.len()).find(|&at| {
        matches!(trees.get(at..), Some([word, TokenTree::Ident(_), TokenTree::Group(_), ..]) if is_ident(Some(word), "as"))
    })?;
    let is_braces = |tree: &TokenTree| is_group(tree, Delimiter::Brace);
    let (flow, after) = trees.split_at_checked(at)?;
    let (name, after) = after.split_at_checked(2)?;
    if flow.iter().any(is_braces) || !after.iter().any(is_braces) {
        return None;
    }
    errors.at(name.first(), modules::EARLY_AS);
    let groups = after.iter().take_while(|tree| matches!(tree, TokenTree::Group(_))).count();
    let (groups, after) = after.split_at_checked(groups)?;
    Some([flow, groups, name, after].concat())
}
