//! Everything about a flow that rustc cannot know. Each check leaves the flow sound: what is wrong
//! with it is told and taken out, so that one mistake is one error.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span, TokenTree};
use quote::quote;

use crate::errors::{self, Edge};
use crate::graph;
use crate::name::{identifier, is_name};
use crate::report::Errors;
use crate::syntax::{Around, Base, Column, Denial, Derived, Flow, Form, State, Tag, View};
use crate::word::{instead, typed};

/// The order of the columns, by index.
pub(crate) struct Plan {
    pub(crate) order: Vec<usize>,
}

pub(crate) fn check(flow: &mut Flow, errors: &mut Errors) -> Plan {
    check_names(flow, errors);
    let (index, unknown) = check_reads(flow, errors);
    if check_sources(flow, &unknown, errors) {
        check_unknown(flow, &unknown, errors);
    }
    for column in &mut flow.columns {
        check_inputs(column, errors);
        check_tags(column, errors);
    }
    for column in &flow.columns {
        check_denied(column, flow.denied(), errors);
    }
    Plan { order: check_cycles(flow, &index, errors) }
}

/// A column's name is one, and no other column's.
fn check_names(flow: &mut Flow, errors: &mut Errors) {
    let mut first: HashMap<String, Span> = HashMap::new();
    let all: HashSet<String> = flow.columns.iter().map(|column| typed(&column.name)).collect();
    for Column { name, is_second, .. } in &mut flow.columns {
        let mut text = typed(name);
        if !is_name(&text) {
            errors.at(&*name, errors::bad_name(name));
        }
        if let Some(&place) = first.get(&text) {
            errors.at(&*name, errors::twice(name, place));
            // What it reads and how it is computed is looked at all the same, under a name of its own.
            while all.contains(&text) || first.contains_key(&text) {
                text.insert(0, '_');
            }
            *is_second = true;
            *name = instead(name, &Ident::new(&text, name.span()));
        }
        first.insert(text, name.span());
    }
}

/// Something enters the flow. What is read and not declared should then be a source, so that it is
/// no mistake of its own; and what could not be made out may be one.
fn check_sources(flow: &Flow, unknown: &[Ident], errors: &mut Errors) -> bool {
    if let Some(base) = flow.base() {
        check_extension(flow, base, errors);
        return true;
    }
    if !flow.lost.is_empty() || flow.columns.iter().any(|column| column.derived.is_none()) {
        return true;
    }
    let message = errors::no_source(unknown.first());
    match (&flow.form, flow.columns.first()) {
        (Form::Item(header), None) => errors.at(&header.name, errors::EMPTY_FLOW),
        (Form::Item(header), Some(_)) => errors.at(&header.name, message),
        (_, Some(first)) => errors.at(&first.name, message),
        (_, None) => {}
    }
    false
}

/// A flow that extends another adds columns to it, and no source.
fn check_extension(flow: &Flow, base: &Base, errors: &mut Errors) {
    for Column { keyword, name, derived, .. } in &flow.columns {
        if derived.is_none() {
            errors.at(quote!(#keyword #name), errors::late_source(name, base.name()));
        }
    }
    if let (Form::Item(header), true, true) = (&flow.form, flow.columns.is_empty(), flow.lost.is_empty()) {
        errors.at(&header.name, errors::empty_extension(base.name()));
    }
}

/// A view shows a column of this flow or of the one that it extends, and no column itself in the same
/// step. Returns the columns by name, and the names that are none.
fn check_reads(flow: &mut Flow, errors: &mut Errors) -> (HashMap<String, usize>, Vec<Ident>) {
    let names = flow.columns.iter().map(|column| typed(&column.name));
    let index: HashMap<String, usize> = names.zip(0..).collect();
    let mut unknown = Vec::new();
    let lost: HashSet<String> = flow.lost.iter().filter_map(lost_name).collect();
    // Whether the flow that is extended is known.
    let is_extension = flow.base().map(|base| base.path.is_some());
    for Column { name, derived, .. } in &mut flow.columns {
        let Some(derived) = derived else { continue };
        for view in derived.views.iter_mut().filter(|view| view.state != State::Void) {
            let base = typed(&view.base);
            let shows_a_column = if view.is_own() {
                let column = view.other_word().filter(|word| index.contains_key(&typed(word)));
                if let Some(column) = &column {
                    errors.at(&view.written, errors::column_of_self(column));
                }
                column.is_none()
            } else if base == typed(name) {
                let is_past = view.delayed;
                let message = if is_past { errors::prev_by_name(name) } else { errors::self_by_name(name) };
                errors.at(&view.base, message);
                false
            } else if index.contains_key(&base) {
                check_spelling(&mut view.base, errors);
                true
            } else if let (Some(is_read), true) = (is_extension, can_be_inherited(view, &lost)) {
                // Only rustc knows the columns of another flow.
                view.is_inherited = is_read;
                check_spelling(&mut view.base, errors);
                is_read
            } else {
                unknown.push(view.base.clone());
                false
            };
            if !shows_a_column {
                view.state = State::Void;
                derived.whole = false;
            }
        }
    }
    (index, unknown)
}

/// Whether a view may show a column of the flow that is extended, if it shows none of the own.
fn can_be_inherited(view: &View, lost: &HashSet<String>) -> bool {
    let base = typed(&view.base);
    is_name(&base) && identifier(&view.base).is_some() && !lost.contains(&base)
}

/// Tells each unknown name once.
fn check_unknown(flow: &Flow, unknown: &[Ident], errors: &mut Errors) {
    let declared = flow.columns.iter().filter(|column| !column.is_second);
    let declared: Vec<String> = declared.map(|column| typed(&column.name)).collect();
    let mut told: HashSet<String> = flow.lost.iter().filter_map(lost_name).collect();
    if ["source", "column"].iter().any(|&nameless| told.contains(nameless)) {
        // The one whose name is missing may have been meant.
        return;
    }
    for name in unknown {
        if told.insert(typed(name)) {
            errors.at(name, errors::unknown(name, &declared));
        }
    }
}

/// A name that a declaration may have had that could not be made out.
fn lost_name(tree: &TokenTree) -> Option<String> {
    match tree {
        TokenTree::Ident(name) => Some(typed(name)),
        _ => None,
    }
}

/// A keyword of Rust's is a name only if it is raw.
fn check_spelling(base: &mut Ident, errors: &mut Errors) {
    if let Some(raw) = identifier(base)
        && raw != *base
    {
        errors.at(&*base, errors::rust_keyword(base));
        *base = raw;
    }
}

/// A column reads something besides itself, and its own past once.
fn check_inputs(column: &mut Column, errors: &mut Errors) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    let mut own = derived.reads().filter(|view| view.is_own());
    match (own.next(), own.next()) {
        (_, Some(second)) => errors.at(&second.written, errors::self_twice(name)),
        (Some(own), None) if derived.reads().count() == 1 && derived.whole => {
            errors.at(&own.written, errors::only_self(name));
        }
        (None, None) if derived.reads().next().is_none() && derived.whole => {
            errors.on(derived.list, errors::reads_nothing(name));
        }
        _ => {}
    }
}

/// No two inputs of a column have one tag.
fn check_tags(column: &mut Column, errors: &mut Errors) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    let mut tags: HashMap<String, Option<&View>> = HashMap::new();
    check_groups(name, derived.reads(), &mut tags, errors);
    for view in derived.reads().filter(|view| !view.is_own()) {
        let (place, tag) = match &view.tag {
            Tag::Name => (None, typed(&view.base)),
            Tag::Given(place, tag) => (Some(*place), tag.clone()),
            Tag::Broken => continue,
        };
        match (tags.get(&tag), place) {
            (Some(Some(first)), _) if first.text() == view.text() => {
                errors.at(&view.written, errors::same_view(&view.text(), name));
            }
            (Some(_), Some(place)) => errors.on(place, errors::same_tag(&tag, name)),
            (Some(_), None) => errors.at(&view.written, errors::same_tag(&tag, name)),
            (None, _) => {
                tags.insert(tag, Some(view));
            }
        }
    }
}

/// No two groups of a column have one tag.
fn check_groups<'v>(
    name: &Ident,
    views: impl Iterator<Item = &'v View>,
    tags: &mut HashMap<String, Option<&View>>,
    errors: &mut Errors,
) {
    let mut before: &[Around] = &[];
    for View { groups, .. } in views {
        let is_open = |(open, group): &(&Around, &Around)| open.is(group);
        let open = before.iter().zip(groups).take_while(is_open).count();
        for group in groups.iter().skip(open) {
            if tags.insert(group.text().to_owned(), None).is_some() {
                errors.on(group.place, errors::same_tag(group.text(), name));
            }
        }
        before = groups;
    }
}

/// A column is nothing that it, or its flow, does not want it to be.
fn check_denied(column: &Column, by_flow: &[Denial], errors: &mut Errors) {
    let Column { name, denied, derived: Some(derived), .. } = column else { return };
    let denies = |denial| denied.contains(&denial) || by_flow.contains(&denial);
    if denies(Denial::Unbounded) {
        for view in derived.reads().filter(|view| view.state == State::Sound && !view.is_windowed()) {
            errors.at(&view.written, errors::unbounded(&view.base, name));
        }
    }
    if denies(Denial::UnstablePrefix)
        && derived.whole
        && derived.reads().all(View::is_windowed)
        && let Some(first) = derived.reads().next()
    {
        errors.at(&first.written, errors::unstable_prefix(&first.base, name));
    }
}

/// No column waits for itself. Returns the order, which is that of declaration if one does.
fn check_cycles(flow: &Flow, index: &HashMap<String, usize>, errors: &mut Errors) -> Vec<usize> {
    let reads: Vec<Vec<usize>> = (flow.columns.iter())
        .map(|column| {
            let mut reads: Vec<usize> =
                waits_for(column).filter_map(|view| index.get(&typed(&view.base)).copied()).collect();
            reads.sort_unstable();
            reads.dedup();
            reads
        })
        .collect();
    if let Some(order) = graph::order(&reads) {
        return order;
    }
    for cycle in graph::cycles(&reads) {
        let next = cycle.iter().cycle().skip(1);
        let edges = cycle.iter().zip(next).filter_map(|(&reader, &read)| {
            let (reader, read) = (flow.columns.get(reader)?, typed(&flow.columns.get(read)?.name));
            let span = waits_for(reader).find(|view| typed(&view.base) == read)?.base.span();
            Some(Edge { reader: typed(&reader.name), read, span })
        });
        let edges: Vec<Edge> = edges.collect();
        if let Some(first) = edges.first() {
            errors.on(first.span, errors::cycle(&edges));
        }
    }
    (0..flow.columns.len()).collect()
}

/// The views of what has to be there before a column can run.
fn waits_for(column: &Column) -> impl Iterator<Item = &View> {
    column.derived.iter().flat_map(Derived::reads).filter(|view| !view.delayed)
}
