//! Everything about a flow that rustc cannot know. Each check leaves the flow sound: what is wrong
//! with it is told and taken out, so that one mistake is one error.

use std::collections::{HashMap, HashSet};

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;

use crate::errors::{self, Edge, Errors};
use crate::graph;
use crate::name::is_name;
use crate::syntax::{Column, Flow, View};

/// The order of the columns, by index.
pub(crate) struct Plan {
    pub(crate) order: Vec<usize>,
}

pub(crate) fn check(flow: &mut Flow, errors: &mut Errors) -> Plan {
    check_names(flow, errors);
    check_sources(flow, errors);
    let index = check_reads(flow, errors);
    for column in &mut flow.columns {
        check_inputs(column, errors);
        check_tags(column, errors);
    }
    Plan { order: check_cycles(flow, &index, errors) }
}

/// A column's name is one, and no other column's.
fn check_names(flow: &mut Flow, errors: &mut Errors) {
    let mut first: HashMap<String, Span> = HashMap::new();
    flow.columns.retain(|Column { name, .. }| {
        let text = text(name);
        if !is_name(&text) {
            errors.at(name, errors::bad_name(name));
        }
        match first.get(&text) {
            Some(&first) => {
                errors.at(name, errors::twice(name, first));
                false
            }
            None => {
                first.insert(text, name.span());
                true
            }
        }
    });
}

/// Something enters the flow.
fn check_sources(flow: &Flow, errors: &mut Errors) {
    if flow.columns.iter().all(|column| column.derived.is_some()) {
        let place = flow.header.as_ref().map(|header| &header.name);
        if let Some(place) = place.or(flow.columns.first().map(|column| &column.name)) {
            errors.at(place, errors::no_source());
        }
    }
}

/// A view shows a column of this flow, and no column itself in the same step. Returns the columns
/// by name.
fn check_reads(flow: &mut Flow, errors: &mut Errors) -> HashMap<String, usize> {
    let declared: Vec<String> = flow.columns.iter().map(|column| text(&column.name)).collect();
    let index: HashMap<String, usize> = declared.iter().cloned().zip(0..).collect();
    let mut told = HashSet::new();
    for column in &mut flow.columns {
        let Some(derived) = &mut column.derived else { continue };
        let (name, whole) = (&column.name, &mut derived.whole);
        derived.views.retain(|view| {
            let base = text(&view.base);
            if view.is_own() {
                return true;
            }
            let known = index.contains_key(&base);
            if !known && told.insert(base.clone()) {
                errors.at(&view.base, errors::unknown(&view.base, &declared));
            }
            let itself = base == text(name);
            if itself {
                errors.at(&view.base, errors::self_by_name(name));
            }
            *whole &= known && !itself;
            known && !itself
        });
    }
    index
}

/// A column reads something besides itself, and its own past once.
fn check_inputs(column: &mut Column, errors: &mut Errors) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    let mut own = derived.views.iter().filter(|view| view.is_own());
    match (own.next(), own.next()) {
        (_, Some(second)) => errors.at(&second.written, errors::self_twice(name)),
        (Some(own), None) if derived.views.len() == 1 && derived.whole => {
            errors.at(&own.written, errors::only_self(name));
        }
        (None, None) if derived.views.is_empty() && derived.whole => {
            errors.on(derived.list, errors::reads_nothing(name));
        }
        _ => {}
    }
}

/// No two inputs of a column have one tag.
fn check_tags(column: &mut Column, errors: &mut Errors) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    let mut tags: HashMap<String, String> = HashMap::new();
    for view in derived.views.iter().filter(|view| !view.is_own()) {
        let tag = view.tag.as_ref().map_or_else(|| text(&view.base), |(_, tag)| tag.clone());
        let written = view.written.to_string().replace(' ', "");
        match tags.get(&tag) {
            Some(first) if *first == written => errors.at(&view.written, errors::same_view(&written, name)),
            Some(_) => match &view.tag {
                Some((place, _)) => errors.on(*place, errors::same_tag(&tag, name)),
                None => errors.at(&view.written, errors::same_tag(&tag, name)),
            },
            None => {
                tags.insert(tag, written);
            }
        }
    }
}

/// No column waits for itself. Returns the order, which is that of declaration if one does.
fn check_cycles(flow: &Flow, index: &HashMap<String, usize>, errors: &mut Errors) -> Vec<usize> {
    let reads: Vec<Vec<usize>> = (flow.columns.iter())
        .map(|column| {
            let mut reads: Vec<usize> =
                views(column).filter_map(|view| index.get(&text(&view.base)).copied()).collect();
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
            let (reader, read) = (flow.columns.get(reader)?, text(&flow.columns.get(read)?.name));
            let span = views(reader).find(|view| text(&view.base) == read)?.base.span();
            Some(Edge { reader: text(&reader.name), read, span })
        });
        let edges: Vec<Edge> = edges.collect();
        if let Some(first) = edges.first() {
            errors.on(first.span, errors::cycle(&edges));
        }
    }
    (0..flow.columns.len()).collect()
}

fn views(column: &Column) -> impl Iterator<Item = &View> {
    column.derived.iter().flat_map(|derived| &derived.views)
}

/// A name without the `r#` that it may be written with.
fn text(name: &Ident) -> String {
    name.unraw().to_string()
}
