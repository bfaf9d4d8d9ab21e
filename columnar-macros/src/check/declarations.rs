//! The rules about declarations as such: names, earlier names, and the sources of a flow.

use std::collections::{HashMap, HashSet};
use std::ptr;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{PathSegment, Type, TypeGroup, TypeParen, TypePath};

use crate::diagnostics::{EMPTY_FLOW, Errors, bad_name, line, quote};
use crate::ident::{ident_text, is_name, nearest_name, replace, rust_ident};
use crate::keywords::{is_primitive, nearest};
use crate::syntax::{
    BaseDecl, ColumnDecl, EarlierName, FlowDecl, FlowForm, ModuleDecl, TypeDecl, ViewDecl, as_ident,
    has_token, shown,
};

/// Columns and modules have different names, and each name is valid. Wrong:
///
/// ```text
/// source user;
/// column user(topics) = prompt("...");
/// ```
///
/// Returns the names of modules that are taken out because a column has the same name.
pub(super) fn check_names(flow: &mut FlowDecl, errors: &mut Errors) -> HashSet<String> {
    repair_names(flow, errors);
    let mut first: HashMap<String, Span> = HashMap::new();
    // Later declarations count as well, so that no generated name is the name of a declaration.
    let all: HashSet<String> = flow.names().map(ident_text).collect();
    for (at, ColumnDecl { name, is_duplicate, .. }) in flow.columns.iter_mut().enumerate() {
        let mut text = ident_text(name);
        if let Some(&span) = first.get(&text) {
            errors.at(&*name, declared_twice(name, span));
            // Its views and its compute step are checked all the same, under a name that no column has.
            while all.contains(&text) || first.contains_key(&text) {
                text.insert_str(0, &format!("_{at}_"));
            }
            *is_duplicate = true;
            *name = replace(name, &Ident::new(&text, name.span()));
        }
        first.insert(text, name.span());
    }
    let mut clashes = HashSet::new();
    flow.modules.retain(|ModuleDecl { name, .. }| {
        let text = ident_text(name);
        let Some(&span) = first.get(&text) else {
            first.insert(text, name.span());
            return true;
        };
        errors.at(name, declared_twice(name, span));
        clashes.insert(text);
        false
    });
    clashes
}

/// Reports invalid names. Where others read the valid name, the declaration gets it. Wrong:
///
/// ```text
/// source User;
/// column topics(user.latest) = prompt("...");
/// ```
fn repair_names(flow: &mut FlowDecl, errors: &mut Errors) {
    if flow.names().all(|name| is_name(&ident_text(name))) {
        return;
    }
    let mut read: HashSet<String> = flow.reads().map(|view| ident_text(&view.base)).collect();
    let columns = flow.columns.iter_mut().map(|column| &mut column.name);
    let names: Vec<&mut Ident> =
        columns.chain(flow.modules.iter_mut().map(|module| &mut module.name)).collect();
    for name in &names {
        read.remove(&ident_text(name));
    }
    let mut repaired = HashMap::new();
    for name in names {
        let text = ident_text(name);
        if is_name(&text) {
            continue;
        }
        errors.at(&*name, bad_name(name));
        let better = nearest_name(&text).filter(|better| read.remove(better));
        if let Some(better) = better.and_then(|better| rust_ident(&Ident::new(&better, name.span()))) {
            *name = replace(name, &better);
            repaired.insert(text, better);
        }
    }
    let views = flow.columns.iter_mut().filter_map(|column| column.derived.as_mut());
    let views = views.flat_map(|derived| &mut derived.views);
    let inputs = flow.modules.iter_mut().flat_map(|module| &mut module.inputs);
    for view in views.chain(inputs.filter_map(|input| input.column.as_mut())) {
        if let Some(better) = repaired.get(&ident_text(&view.base)) {
            view.base = replace(&view.base, better);
        }
    }
}

/// A flow is no module of itself. Wrong:
///
/// ```text
/// pub struct Chat { source user; use Chat { user } as inner; }
/// ```
pub(super) fn check_not_itself(flow: &mut FlowDecl, errors: &mut Errors) {
    let Some(name) = flow.header().map(|header| header.name.clone()) else { return };
    let FlowDecl { modules, unparsed, .. } = flow;
    modules.retain(|module| {
        let names: Vec<String> =
            module.path.segments.iter().map(|segment| ident_text(&segment.ident)).collect();
        let names = names.strip_prefix(&["self".to_owned()]).unwrap_or(&names);
        // Another path may lead to another flow of this name.
        let is_itself = module.path.leading_colon.is_none() && *names == [ident_text(&name)];
        if is_itself {
            errors.at(&module.path, itself(&name));
            // A view of it is no second error.
            unparsed.push(module.name.clone().into());
        }
        !is_itself
    });
}

/// The earlier name of a column is no name of a column now, and the earlier name of no other column. Wrong:
///
/// ```text
/// column topics(user) was "user" = prompt("...");
/// ```
pub(super) fn check_renames(flow: &mut FlowDecl, errors: &mut Errors) {
    let names: HashSet<String> = flow.columns.iter().map(|column| ident_text(&column.name)).collect();
    let mut earlier_names = HashSet::new();
    for ColumnDecl { name, renamed_from, .. } in &mut flow.columns {
        let Some(EarlierName { name: earlier, .. }) = renamed_from else { continue };
        let text = earlier.value();
        let message = if text == ident_text(name) {
            format!(
                "`{text}` is the current name of this column\n\nhelp: write its earlier name, or drop `was`"
            )
        } else if names.contains(&text) {
            format!(
                "`{text}` is another column of this flow, so the values stored as `{text}` belong to it\n\nhelp: drop `was`, or the other column"
            )
        } else if earlier_names.insert(text.clone()) {
            continue;
        } else {
            format!(
                "two columns have the earlier name `{text}`\n\nhelp: drop one `was`: one column alone can have the values stored as `{text}`"
            )
        };
        errors.at(&*earlier, message);
        *renamed_from = None;
    }
}

/// A source holds text, which has no type, or documents. Wrong:
///
/// ```text
/// pub struct Chat<T> { source files: T; }
/// pub struct Chat { source user: usize; }
/// pub struct Chat { source user: Text; column topics(user.latest) = prompt("..."); }
/// ```
///
/// rustc reports any other type. A source with a wrong type holds text if a view reads the source as text.
pub(super) fn check_source_types(flow: &mut FlowDecl, errors: &mut Errors) {
    let params =
        flow.header().map(|header| header.generics.type_params().map(|param| param.ident.to_string()));
    let params: HashSet<String> = params.into_iter().flatten().collect();
    if !flow.columns.iter().any(ColumnDecl::has_documents) {
        return;
    }
    let readers = Readers::new(flow);
    for ColumnDecl { name, ty: source_type, .. } in
        flow.columns.iter_mut().filter(|column| column.is_source())
    {
        let Some(TypeDecl { ty, is_partial, .. }) = source_type else { continue };
        let text = ident_text(name);
        let is_in_tiers = readers.tiers.contains(&text);
        let reader = readers.text.get(&text).filter(|_| !is_in_tiers);
        let found = type_of(ty);
        let is_of_param = has_token(ty.clone(), &|tree| {
            as_ident(tree).is_some_and(|name| params.contains(&name.to_string()))
        });
        match (&found, reader) {
            _ if is_of_param => errors.at(&*ty, SOURCE_OF_PARAM),
            (SourceGuess::Documents, _) | (SourceGuess::Unknown, None) => continue,
            // A missing type is reported already.
            (SourceGuess::Missing, _) => {}
            _ if *is_partial => {}
            (SourceGuess::Other, _) => errors.at(&*ty, source_of_other(name, &shown(&*ty))),
            (SourceGuess::Unknown, Some(reader)) => {
                errors.at(&*ty, source_read_as_text(name, reader));
            }
        }
        // So that neither a reader nor a pushed value is a second error.
        *ty = TokenStream::new();
        if reader.is_some() || matches!(found, SourceGuess::Other) && !is_in_tiers {
            *source_type = None;
        }
    }
}

/// The type of a source, as far as its name tells.
enum SourceGuess {
    Documents,
    /// A name that cannot mean documents.
    Other,
    /// A name that may be another name of documents.
    Unknown,
    /// A missing or invalid type, which is reported.
    Missing,
}

fn type_of(ty: &TokenStream) -> SourceGuess {
    const DOCUMENTS: &str = "Documents";
    if ty.is_empty() {
        return SourceGuess::Missing;
    }
    let mut parsed = syn::parse2(ty.clone());
    // A `$ty:ty` of the user's `macro_rules!` is a group.
    while let Ok(Type::Group(TypeGroup { elem, .. }) | Type::Paren(TypeParen { elem, .. })) = parsed {
        parsed = Ok(*elem);
    }
    let Ok(Type::Path(TypePath { path, .. })) = parsed else { return SourceGuess::Other };
    let Some(PathSegment { ident, arguments }) = path.segments.last() else { return SourceGuess::Other };
    let name = ident_text(ident);
    match () {
        () if nearest(&name, [DOCUMENTS].into_iter()).is_some() => SourceGuess::Documents,
        () if is_primitive(&name) || name == "Value" || !arguments.is_none() => SourceGuess::Other,
        () => SourceGuess::Unknown,
    }
}

/// The columns that read a source of this flow.
struct Readers {
    /// The sources that are read as text, with the first such reader.
    text: HashMap<String, Ident>,
    /// The sources that are read in tiers.
    tiers: HashSet<String>,
}

impl Readers {
    fn new(flow: &FlowDecl) -> Self {
        let mut readers = Self { text: HashMap::new(), tiers: HashSet::new() };
        for column in &flow.columns {
            let closure = column.derived.as_ref().and_then(|derived| derived.closure.as_ref());
            let params = closure.into_iter().flat_map(|closure| &closure.params);
            let inputs: Vec<&ViewDecl> = params.filter_map(|param| column.view_of(param)).collect();
            for view in column.reads().filter(|view| !view.is_self) {
                let is_input = inputs.iter().any(|input| ptr::eq(*input, view));
                if view.has_layout() || !view.path.is_empty() {
                    readers.tiers.insert(ident_text(&view.base));
                } else if view.part().is_some() || is_input {
                    readers.text.entry(ident_text(&view.base)).or_insert_with(|| column.name.clone());
                }
            }
        }
        readers
    }
}

/// A flow has a source, unless it extends another flow. Wrong:
///
/// ```text
/// pub struct Chat { column topics(user) = prompt("..."); }
/// pub struct Chat { use Debate { topic: user } as debate; }
/// ```
///
/// Returns whether unknown names are still to be reported: without a source, the unknown names are probably the missing
/// sources. A declaration that could not be read may be a source, too.
pub(super) fn check_sources(flow: &FlowDecl, unknown: &[Ident], errors: &mut Errors) -> bool {
    if let Some(base) = flow.base() {
        check_extension(flow, base, errors);
        return true;
    }
    if !flow.unparsed.is_empty() || flow.columns.iter().any(ColumnDecl::is_source) {
        return true;
    }
    let source = unknown.first().map_or_else(|| "user".to_owned(), ident_text);
    let message = format!("this flow has no source\n\nhelp: declare one, as in `source {source};`");
    match (&flow.form, flow.names().next()) {
        (FlowForm::Item(header), None) => errors.at(&header.name, EMPTY_FLOW),
        (FlowForm::Item(header), Some(_)) => errors.at(&header.name, message),
        (_, Some(first)) => errors.at(first, message),
        // The parser has reported that no declaration is there.
        (_, None) => {}
    }
    false
}

/// A flow that extends another flow adds columns, and no source. Wrong:
///
/// ```text
/// pub struct Felt: Chat { source mood; }
/// ```
fn check_extension(flow: &FlowDecl, base: &BaseDecl, errors: &mut Errors) {
    // A header that could not be read is reported, and may be the one of another kind of flow.
    if base.path.is_none() {
        return;
    }
    for ColumnDecl { keyword, name, .. } in flow.columns.iter().filter(|column| column.is_source()) {
        errors.at(quote!(#keyword #name), late_source(name, base.name()));
    }
    let is_empty = flow.columns.is_empty() && flow.modules.is_empty() && flow.unparsed.is_empty();
    if let FlowForm::Item(header) = &flow.form
        && is_empty
    {
        errors.at(&header.name, empty_extension(base.name()));
    }
}

// Messages.

/// `struct Felt: Chat {}`, where `base` is `Chat`.
fn empty_extension(base: Option<&Ident>) -> String {
    let base = base.map_or_else(|| "the flow that it extends".to_owned(), quote);
    format!(
        "this flow adds no column to {base}\n\nhelp: add a column, as in `column topics(user.latest) = ...;`"
    )
}

/// `struct Felt: Chat { source mood; }`, where `base` is `Chat`.
fn late_source(name: &Ident, base: Option<&Ident>) -> String {
    let text = name.unraw();
    let base = base.map_or_else(|| "the flow that is extended".to_owned(), quote);
    format!(
        "a flow cannot add a source to the flow that it extends: earlier steps of {base} have no value for it\n\n\
         help: declare {} in {base}, or compute it: `column {text}(...) = ...`",
        quote(name)
    )
}

fn declared_twice(name: &Ident, first: Span) -> String {
    let at = line(first).map_or_else(String::new, |line| format!("\n\nfirst declared at line {line}"));
    format!("{} is declared twice{at}", quote(name))
}

const SOURCE_OF_PARAM: &str = "a source holds text or documents, so its type has no parameters of the flow\n\nhelp: write `: Documents`, or drop this";

/// `source user: usize;`
fn source_of_other(name: &Ident, ty: &str) -> String {
    let name = name.unraw();
    format!(
        "a source holds text or documents, and `{ty}` is neither\n\nhelp: write `source {name};` for text, or \
         `source {name}: Documents;`"
    )
}

/// `source user: Text;`, where a column reads `user.latest`.
fn source_read_as_text(name: &Ident, reader: &Ident) -> String {
    let reader = ident_text(reader);
    let name = ident_text(name);
    format!(
        "`{reader}` reads `{name}` as text, and a source of text has no type\n\nhelp: write `source {name};`"
    )
}

/// `use Chat { user } as inner;` inside `Chat`.
fn itself(flow: &Ident) -> String {
    format!("{} cannot be a module of itself\n\nhelp: name another flow", quote(flow))
}
