//! Recovery from Rust syntax in a flow. Each case is one error. If the intended declaration is clear, it is added to the
//! flow.

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};

use super::column_type;
use super::cursor::{Cursor, begins_declaration, is_group, is_ident, is_punct, tokens, trees_of};
use super::source_list::Listed;
use super::tree::{Column, ColumnType, Derived};
use crate::diagnostics::{Errors, columns, declarations, modules};
use crate::ident::{self, ident_text, is_gen, is_name, quoted_name, replace, rust_ident};
use crate::keywords::{nearest, nearest_keyword};

/// Items and statements that end with `;`.
const UP_TO_A_SEMICOLON: [&str; 5] = ["let", "const", "static", "type", "return"];

/// Items and statements that end with braces.
const UP_TO_BRACES: [&str; 12] =
    ["struct", "enum", "trait", "impl", "mod", "unsafe", "extern", "if", "for", "while", "loop", "match"];

/// Rust in the position of a declaration.
#[derive(Default)]
pub(super) struct Recovered<'t> {
    /// The intended column, without documentation.
    pub(super) column: Option<Column>,
    /// The tokens that may declare more.
    pub(super) unparsed: &'t [TokenTree],
}

/// Takes a comment of another language, `# text` or `-- text`, up to the next declaration. Returns whether there is one.
pub(super) fn comment(cursor: &mut Cursor<'_>, errors: &mut Errors) -> bool {
    let length = match cursor.rest() {
        [hash, TokenTree::Ident(_) | TokenTree::Punct(_), ..] if is_punct(Some(hash), '#') => 1,
        [minus, more, ..] if is_punct(Some(minus), '-') && is_punct(Some(more), '-') => 2,
        _ => return false,
    };
    let sign = tokens(cursor.take(length));
    errors.at(&sign, declarations::foreign_comment(&sign.to_string().replace(' ', "")));
    while !cursor.is_empty() && !is_no_text(cursor.rest()) {
        cursor.next();
    }
    true
}

/// Whether a declaration begins here that is no part of a text, which may have words such as `source` or `use`.
fn is_no_text(trees: &[TokenTree]) -> bool {
    let is_name = |name: &Ident| is_name(&ident_text(name));
    begins_declaration(trees)
        && match trees {
            [TokenTree::Ident(word), TokenTree::Ident(flow), next, ..] if ident::is(word, "use") => {
                !is_name(flow) || is_punct(Some(next), ':')
            }
            [TokenTree::Ident(_), TokenTree::Ident(name), TokenTree::Group(_), ..] => is_name(name),
            [TokenTree::Ident(_), TokenTree::Ident(name), next, ..] => {
                is_name(name) && [':', ';'].iter().any(|&sign| is_punct(Some(next), sign))
            }
            // Attributes.
            _ => !matches!(trees.first(), Some(TokenTree::Ident(_))),
        }
}

/// Takes the modifiers of an item before a declaration: `pub`, `async`.
pub(super) fn modifiers(cursor: &mut Cursor<'_>, errors: &mut Errors) {
    while let Some(TokenTree::Ident(ident)) = cursor.peek() {
        // Elsewhere `async` and `const` begin a Rust item, which `declaration` reports as a whole.
        let before_a_declaration = cursor.rest().get(1..).is_some_and(begins_declaration);
        if ident::is(ident, "pub") {
            // The field of a struct is one error, with its `pub`.
            if !is_punct(cursor.rest().get(2), ':') {
                errors.at(ident, declarations::PUB);
            }
        } else if before_a_declaration && ident::is_one_of(ident, &["async", "const", "static", "unsafe"]) {
            errors.at(ident, declarations::modifier(ident));
        } else {
            return;
        }
        cursor.next();
        cursor.parentheses();
    }
}

/// Takes a statement, an item or the field of a struct, if one comes next.
pub(super) fn declaration<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Recovered<'t>> {
    match cursor.rest() {
        [TokenTree::Ident(ident), rest @ ..] if ident::is(ident, "fn") || is_async_fn(ident, rest) => {
            function(cursor, errors)
        }
        [TokenTree::Ident(ident), bang, TokenTree::Group(_), ..] if is_punct(Some(bang), '!') => {
            if ident::is(ident, "flow") {
                errors.at(ident, declarations::FLOW_INSIDE);
            } else {
                errors.at(ident, declarations::rust_item(&format!("{ident}!")));
            }
            let unparsed = cursor.take(3);
            cursor.punct(';');
            Some(Recovered { unparsed, ..Recovered::default() })
        }
        [TokenTree::Ident(ident), TokenTree::Ident(_), TokenTree::Group(list), ..]
        | [_, TokenTree::Ident(ident), TokenTree::Ident(_), TokenTree::Group(list), ..]
            if is_def(ident, list) =>
        {
            foreign_function(cursor, errors)
        }
        [TokenTree::Ident(ident), rest @ ..] if is_import(ident, rest) => {
            errors.at(ident, modules::FOREIGN_IMPORT);
            Some(Recovered { unparsed: cursor.skip_declaration(), ..Recovered::default() })
        }
        [TokenTree::Ident(name), colon, ..] if is_punct(Some(colon), ':') => field(name, cursor, errors),
        [TokenTree::Ident(ident), TokenTree::Ident(_), end, ..]
            if is_end(end) && ident::is_one_of(ident, &["documents", "Documents"]) =>
        {
            documents(cursor, errors)
        }
        [TokenTree::Ident(source), TokenTree::Ident(ty), TokenTree::Ident(name), end, ..]
            if ident::is(source, "source")
                && is_end(end)
                && is_type_name(ty)
                && is_name(&ident_text(name)) =>
        {
            type_before_name(cursor, errors)
        }
        // `let topics(user) = …` is a column with a wrong keyword.
        [TokenTree::Ident(ident), TokenTree::Ident(_), TokenTree::Group(_), next, ..]
            if ident::is_one_of(ident, &UP_TO_A_SEMICOLON) && !is_punct(Some(next), ';') =>
        {
            None
        }
        // A keyword alone, as in `type;`, is rather a name whose `source` is missing.
        [TokenTree::Ident(ident), next, ..] if !is_punct(Some(next), ';') => {
            let unparsed = match () {
                () if ident::is_one_of(ident, &UP_TO_A_SEMICOLON) => cursor.skip_declaration(),
                () if ident::is_one_of(ident, &UP_TO_BRACES) => skip_braces(cursor),
                () => return None,
            };
            errors.at(ident, declarations::rust_item(&ident.to_string()));
            Some(Recovered { unparsed, ..Recovered::default() })
        }
        _ => None,
    }
}

/// The keyword of a function in another language.
fn is_def(ident: &Ident, list: &Group) -> bool {
    let is_keyword = ident::is_one_of(ident, &["def", "func", "fun", "function"]);
    is_keyword && list.delimiter() == Delimiter::Parenthesis
}

/// `from chats import Debate`, `import chats`, `include "chats"`; not `import user;`, a source with a wrong keyword.
fn is_import(ident: &Ident, rest: &[TokenTree]) -> bool {
    let is_from = ident::is(ident, "from") && rest.iter().any(|tree| is_ident(Some(tree), "import"));
    let is_import = ident::is_one_of(ident, &["import", "include", "require"]);
    let is_dotted = |sign: char| is_punct(rest.get(1), sign);
    let is_text = matches!(rest.first(), Some(TokenTree::Literal(_) | TokenTree::Group(_)));
    is_from || is_import && (is_text || is_dotted('.') || is_dotted(':') || is_ident(rest.get(1), "from"))
}

/// Takes `def topics(user): ...` or `async function topics(user) { ... }`. It leaves `def topics(user) = ...`, a column with
/// a wrong keyword.
fn foreign_function<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Recovered<'t>> {
    let declaration = cursor.declaration();
    let before = declaration.iter().position(|tree| matches!(tree, TokenTree::Group(_)))?.checked_sub(2)?;
    let [TokenTree::Ident(keyword), TokenTree::Ident(name), list, rest @ ..] = declaration.get(before..)?
    else {
        return None;
    };
    let is_async = declaration.get(..before)?.iter().all(|tree| is_ident(Some(tree), "async"));
    if !is_async || rest.is_empty() || rest.iter().any(|tree| is_punct(Some(tree), '=')) {
        return None;
    }
    errors.at(keyword, declarations::function(name));
    let column = rust_ident(name).map(|name| column_named(cursor.peek(), name, list.span()));
    Some(Recovered { column, unparsed: skip_braces(cursor) })
}

fn is_async_fn(ident: &Ident, rest: &[TokenTree]) -> bool {
    ident::is(ident, "async") && is_ident(rest.first(), "fn")
}

/// Takes `fn topics(user: &str) -> String { … }`. It leaves `fn topics(user) = …`, a column with a wrong keyword.
fn function<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Recovered<'t>> {
    let rest = cursor.rest();
    let at = rest.iter().position(|tree| is_ident(Some(tree), "fn"))?;
    let [TokenTree::Ident(name), TokenTree::Group(list), next @ ..] = rest.get(at + 1..)? else {
        return None;
    };
    if at == 0 && is_punct(next.first(), '=') {
        return None;
    }
    errors.at(tokens(cursor.take(at + 1)), declarations::function(name));
    let column = rust_ident(name).map(|name| column_named(rest.get(at), name, list.span()));
    Some(Recovered { column, unparsed: skip_braces(cursor) })
}

/// Takes `user: String,` or `topics: column(user.latest) = …,`.
fn field<'t>(name: &Ident, cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Recovered<'t>> {
    if !is_name(&ident_text(name)) {
        return None;
    }
    let all = cursor.declaration();
    let end = all.iter().position(|tree| is_punct(Some(tree), ',')).unwrap_or(all.len());
    let written = cursor.take(end);
    if cursor.punct(',').is_none() {
        cursor.punct(';');
    }
    let is_source = !written.iter().any(|tree| is_punct(Some(tree), '='));
    errors.at(name, declarations::no_keyword(name, if is_source { "source" } else { "column" }));
    let name = rust_ident(name)?;
    let column = if is_source {
        let ty = column_type::of_field(written.get(1..).unwrap_or_default());
        source_named(written.first().map_or_else(Span::call_site, TokenTree::span), name, ty)
    } else {
        column_named(written.first(), name, Span::call_site())
    };
    // The column declares the name, so no token needs to be kept for it.
    Some(Recovered { column: Some(column), unparsed: &[] })
}

fn is_end(tree: &TokenTree) -> bool {
    [',', ';'].iter().any(|&end| is_punct(Some(tree), end))
}

/// Takes `documents files;`.
fn documents<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Recovered<'t>> {
    let [TokenTree::Ident(keyword), TokenTree::Ident(name), _] = cursor.take(3) else { return None };
    errors.at(keyword, declarations::documents(keyword, name));
    // Partial, because the user may not have imported it.
    let ty = ColumnType { colon: keyword.span(), ty: quote!(Documents), is_partial: true };
    let column = declared_name(name, errors).map(|name| source_named(keyword.span(), name, Some(ty)));
    Some(Recovered { column, unparsed: &[] })
}

/// A source of a list of several.
pub(super) fn listed_source(listed: &Listed<'_>, errors: &mut Errors) -> Option<Column> {
    let name = declared_name(listed.name, errors)?;
    Some(source_named(name.span(), name, column_type::of_field(listed.ty)))
}

/// Whether this is rather the type of a source than its name.
fn is_type_name(word: &Ident) -> bool {
    let text = ident_text(word);
    text.starts_with(|first: char| first.is_ascii_uppercase())
        || ["documents", "text", "string", "str"].contains(&&*text)
}

/// Takes `source Documents files;` or `source String user;`.
fn type_before_name<'t>(cursor: &mut Cursor<'t>, errors: &mut Errors) -> Option<Recovered<'t>> {
    let [TokenTree::Ident(keyword), TokenTree::Ident(found), TokenTree::Ident(name), end] = cursor.take(4)
    else {
        return None;
    };
    let is_documents = nearest(&ident_text(found).to_lowercase(), ["documents"].into_iter()).is_some();
    let ty = is_documents.then(|| ColumnType {
        colon: found.span(),
        ty: replace(found, &Ident::new("Documents", found.span())).into_token_stream(),
        is_partial: false,
    });
    match &ty {
        Some(_) => errors.at(found, columns::source_type_without_colon(name, "Documents")),
        None => errors.at(found, columns::SOURCE_OF_TEXT),
    }
    if is_punct(Some(end), ',') {
        errors.at(end, declarations::COMMA);
    }
    let column = declared_name(name, errors).map(|name| source_named(keyword.span(), name, ty));
    Some(Recovered { column, unparsed: &[] })
}

/// Takes the second keyword of `source column user;` and `column source topics(user) = …;`, where the first one fits.
pub(super) fn second_keyword(first: &Ident, cursor: &mut Cursor<'_>, errors: &mut Errors) {
    let [TokenTree::Ident(second), TokenTree::Ident(name), after @ ..] = cursor.rest() else { return };
    let is_computed = after.first().is_some_and(|tree| is_group(tree, Delimiter::Parenthesis));
    let (intended, other) = if is_computed { ("column", "source") } else { ("source", "column") };
    let is_complete = is_computed || after.first().is_none_or(is_end);
    // Where the second one fits, the name after the first is missing.
    if is_complete && ident::is(first, intended) && ident::is(second, other) {
        errors.at(second, declarations::second_keyword(intended, name));
        cursor.next();
    }
}

/// A source with a name and a type.
fn source_named(keyword: Span, name: Ident, source_type: Option<ColumnType>) -> Column {
    let column = column_named(None, name, Span::call_site());
    Column { keyword: Ident::new("source", keyword), derived: None, source_type, ..column }
}

/// A column with a name and nothing else.
fn column_named(keyword: Option<&TokenTree>, name: Ident, list: Span) -> Column {
    let keyword = Ident::new("column", keyword.map_or_else(Span::call_site, TokenTree::span));
    // Its views are unknown, so `is_complete` keeps it from being one that reads nothing.
    let derived = Derived {
        list,
        views: Vec::new(),
        is_complete: false,
        ty: None,
        step: TokenStream::new(),
        closure: None,
        is_step_for_editors: false,
    };
    Column {
        docs: Vec::new(),
        lints: Vec::new(),
        keyword,
        name,
        is_duplicate: false,
        renamed_from: None,
        derived: Some(derived),
        source_type: None,
    }
}

/// Moves past the next braces, if there are any before the next declaration.
fn skip_braces<'t>(cursor: &mut Cursor<'t>) -> &'t [TokenTree] {
    match cursor.declaration().iter().position(|tree| is_group(tree, Delimiter::Brace)) {
        Some(at) => cursor.take(at + 1),
        None => cursor.skip_declaration(),
    }
}

/// Whether a name and the tokens after it are a call like `prompt("...")`, and no column with its views.
pub(super) fn is_step(name: &Ident, after: &[TokenTree]) -> bool {
    let [TokenTree::Group(group), next @ ..] = after else { return false };
    let is_prompt = ident::is(name, "prompt") && ![':', '='].iter().any(|&sign| is_punct(next.first(), sign));
    let has_text = matches!(trees_of(group).first(), Some(TokenTree::Literal(literal)) if quoted(literal));
    group.delimiter() == Delimiter::Parenthesis && (has_text || is_prompt)
}

fn quoted(literal: &Literal) -> bool {
    syn::parse2::<syn::LitStr>(TokenTree::from(literal.clone()).into()).is_ok()
}

/// Takes a keyword after its name: `user source`.
pub(super) fn keyword_after_name(
    name: &Ident,
    cursor: &mut Cursor<'_>,
    errors: &mut Errors,
) -> Option<Ident> {
    match cursor.rest() {
        [TokenTree::Ident(keyword), ..]
            if (ident::is(keyword, "source") || ident::is(keyword, "column"))
                && nearest_keyword(name).is_none()
                && !begins_declaration(cursor.rest()) =>
        {
            errors.at(quote!(#name #keyword), declarations::keyword_after_name(keyword, name));
            cursor.next();
            Some(keyword.clone())
        }
        _ => None,
    }
}

/// Takes a misspelt name after a keyword: `mut user`, `"user"`, `running-summary`.
pub(super) fn name(cursor: &mut Cursor<'_>, errors: &mut Errors) -> Option<Ident> {
    match cursor.rest() {
        [TokenTree::Ident(ident), TokenTree::Ident(name), ..]
            if ident::is_one_of(ident, &["mut", "async", "const", "static", "let", "ref", "pub"])
                && !ident::is_one_of(name, &["as", "was"]) =>
        {
            if ident::is(ident, "pub") {
                errors.at(ident, declarations::PUB);
            } else {
                errors.at(ident, declarations::modifier(ident));
            }
            cursor.take(2);
            rust_ident(name)
        }
        [TokenTree::Ident(ident), TokenTree::Group(_), TokenTree::Ident(name), ..]
            if ident::is(ident, "pub") =>
        {
            errors.at(ident, declarations::PUB);
            cursor.take(3);
            rust_ident(name)
        }
        [TokenTree::Ident(was), TokenTree::Literal(earlier), TokenTree::Ident(name), after @ ..]
            if ident::is(was, "was") =>
        {
            let earlier = earlier.to_string();
            let is_computed = after.first().is_some_and(|tree| is_group(tree, Delimiter::Parenthesis));
            errors.at(was, columns::early_was(name, earlier.trim_matches('"'), is_computed));
            cursor.take(3);
            rust_ident(name)
        }
        [TokenTree::Literal(literal), ..] => {
            let text = quoted_name(literal.clone().into())?;
            errors.at(literal, declarations::name_in_quotes(&text));
            cursor.next();
            rust_ident(&Ident::new(&text, literal.span()))
        }
        [TokenTree::Ident(first), ..] => {
            let (text, count) = with_underscores(cursor.rest())?;
            if !is_name(&text) {
                return None;
            }
            let written = cursor.take(count);
            errors.at(tokens(written), declarations::name_with_hyphens(&text));
            Some(Ident::new(&text, first.span()))
        }
        _ => None,
    }
}

/// The text of `running-summary` with `_`, and its number of tokens; `None` for a name without hyphens.
pub(super) fn with_underscores(trees: &[TokenTree]) -> Option<(String, usize)> {
    let (TokenTree::Ident(first), rest) = trees.split_first()? else { return None };
    let (mut text, mut count) = (ident_text(first), 1);
    for pair in rest.chunks_exact(2) {
        let [hyphen, TokenTree::Ident(next)] = pair else { break };
        if !is_punct(Some(hyphen), '-') {
            break;
        }
        text = format!("{text}_{}", ident_text(next));
        count += 2;
    }
    (count > 1).then_some((text, count))
}

/// The name of a declaration, raw if it is a keyword of Rust. An invalid name is reported.
pub(super) fn declared_name(name: &Ident, errors: &mut Errors) -> Option<Ident> {
    let Some(identifier) = rust_ident(name).filter(|name| !ident_text(name).is_empty()) else {
        let message = if ident_text(name) == "self" {
            declarations::NAMED_SELF.to_owned()
        } else {
            declarations::bad_name(name)
        };
        errors.at(name, message);
        return None;
    };
    // Identifiers are compared with their `r#`.
    if identifier != *name && !is_gen(name) {
        errors.at(name, declarations::rust_keyword(name));
    }
    Some(identifier)
}
