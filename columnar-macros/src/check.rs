//! Everything about a flow that rustc cannot know. Each check leaves the flow sound: what is wrong
//! with it is told and taken out, so that one mistake is one error.

use std::collections::{HashMap, HashSet};
use std::iter;

use proc_macro2::{Ident, Span, TokenTree};
use quote::quote;

use crate::diagnostics::{Errors, columns, declarations, flow, modules, reads, views};
use crate::graph;
use crate::ident::{ident_text, is_name, replace, rust_ident};
use crate::syntax::{Base, Column, Flow, Form, GroupTag, Lint, Module, RenamedFrom, State, Tag, View};

pub(crate) struct Plan {
    /// The order of the columns, by index; that of declaration if there are modules, of which rustc alone knows what
    /// in them waits for what.
    pub(crate) order: Vec<usize>,
    /// Where modules may wait for themselves.
    pub(crate) suspect: Option<Span>,
}

pub(crate) fn check(flow: &mut Flow, errors: &mut Errors) -> Plan {
    let clashes = check_names(flow, errors);
    let unknown = check_reads(flow, clashes, errors);
    if check_sources(flow, &unknown, errors) {
        check_unknown(flow, &unknown, errors);
    }
    for column in &mut flow.columns {
        check_inputs(column, errors);
        check_tags(column, errors);
    }
    check_renames(flow, errors);
    for column in &flow.columns {
        check_denied(column, flow.lints(), errors);
    }
    check_cycles(flow, errors)
}

/// A column's name is one, and no other column's or module's. Returns the names of modules that are.
fn check_names(flow: &mut Flow, errors: &mut Errors) -> HashSet<String> {
    let mut first: HashMap<String, Span> = HashMap::new();
    let columns = flow.columns.iter().map(|column| &column.name);
    let all: HashSet<String> =
        columns.chain(flow.modules.iter().map(|module| &module.name)).map(ident_text).collect();
    for Column { name, is_duplicate, .. } in &mut flow.columns {
        let mut text = ident_text(name);
        if !is_name(&text) {
            errors.at(&*name, declarations::bad_name(name));
        }
        if let Some(&place) = first.get(&text) {
            errors.at(&*name, declarations::declared_twice(name, place));
            // What it reads and how it is computed is looked at all the same, under a name of its own.
            while all.contains(&text) || first.contains_key(&text) {
                text.insert(0, '_');
            }
            *is_duplicate = true;
            *name = replace(name, &Ident::new(&text, name.span()));
        }
        first.insert(text, name.span());
    }
    let mut clashes = HashSet::new();
    flow.modules.retain(|Module { name, .. }| {
        let text = ident_text(name);
        if !is_name(&text) {
            errors.at(name, declarations::bad_name(name));
        }
        let Some(&place) = first.get(&text) else {
            first.insert(text, name.span());
            return true;
        };
        errors.at(name, declarations::declared_twice(name, place));
        clashes.insert(text);
        false
    });
    clashes
}

/// What a column was before, no column is now, and no other one was.
fn check_renames(flow: &mut Flow, errors: &mut Errors) {
    let known: HashSet<String> = flow.columns.iter().map(|column| ident_text(&column.name)).collect();
    let mut gone = HashSet::new();
    for Column { name, renamed_from, .. } in &mut flow.columns {
        let Some(RenamedFrom { name: before, .. }) = renamed_from else { continue };
        let text = before.value();
        let message = if text == ident_text(name) {
            columns::renamed_from_itself(name)
        } else if known.contains(&text) {
            columns::renamed_from_existing(&text)
        } else if gone.insert(text.clone()) {
            continue;
        } else {
            columns::renamed_from_twice(&text)
        };
        errors.at(&*before, message);
        *renamed_from = None;
    }
}

/// Something enters the flow. What is read and not declared should then be a source, so that it is
/// no mistake of its own; and what could not be made out may be one.
fn check_sources(flow: &Flow, unknown: &[Ident], errors: &mut Errors) -> bool {
    if let Some(base) = flow.base() {
        check_extension(flow, base, errors);
        return true;
    }
    if !flow.unparsed.is_empty() || flow.columns.iter().any(|column| column.derived.is_none()) {
        return true;
    }
    let message = flow::no_source(unknown.first());
    match (&flow.form, flow.columns.first()) {
        (Form::Item(header), None) => errors.at(&header.name, flow::EMPTY_FLOW),
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
            errors.at(quote!(#keyword #name), flow::late_source(name, base.name()));
        }
    }
    let is_empty = flow.columns.is_empty() && flow.modules.is_empty() && flow.unparsed.is_empty();
    if let (Form::Item(header), true) = (&flow.form, is_empty) {
        errors.at(&header.name, flow::empty_extension(base.name()));
    }
}

/// A view shows a column of this flow, of a module, or of the flow that it extends, and no column itself in the same
/// step; and the inputs of modules are such columns. Returns the names that are none.
fn check_reads(flow: &mut Flow, clashes: HashSet<String>, errors: &mut Errors) -> Vec<Ident> {
    for module in &mut flow.modules {
        check_bound_once(module, errors);
    }
    let names = Names::new(flow, clashes);
    let mut unknown = Vec::new();
    for Column { name, derived, .. } in &mut flow.columns {
        let Some(derived) = derived else { continue };
        for view in derived.views.iter_mut().filter(|view| view.state != State::NoColumn) {
            let shows_a_column = if view.is_self() {
                let column = view.path.first().filter(|field| names.columns.contains(&ident_text(field)));
                if let Some(column) = column {
                    errors.at(&view.written, views::column_of_self(column));
                }
                let is_column = column.is_none();
                view.take_path_as_fields();
                is_column
            } else if ident_text(&view.base) == ident_text(name) {
                let is_past = view.is_lagged;
                let message = if is_past { reads::prev_by_name(name) } else { reads::self_by_name(name) };
                errors.at(&view.base, message);
                false
            } else {
                names.resolve(view, &mut unknown, errors)
            };
            if shows_a_column {
                check_elided(view, errors);
            } else {
                view.state = State::NoColumn;
                derived.is_complete = false;
            }
        }
    }
    for Module { inputs, is_complete, .. } in &mut flow.modules {
        for input in inputs {
            if let Some(column) = &mut input.column {
                check_input(column, &names, &mut unknown, errors);
            }
            *is_complete &= input.read().is_some();
        }
    }
    unknown
}

/// What shows everything hides nothing. Words that are no views are told by rustc.
fn check_elided(view: &mut View, errors: &mut Errors) {
    if view.state == State::Valid
        && view.shows_everything()
        && let Some(elided) = view.elided()
    {
        errors.at(elided, views::nothing_elided(&view.name(), view.is_lagged));
        view.state = State::Invalid;
    }
}

/// An input of a module is a column and nothing more.
fn check_input(column: &mut View, names: &Names, unknown: &mut Vec<Ident>, errors: &mut Errors) {
    if !names.resolve(column, unknown, errors) {
        column.state = State::NoColumn;
    } else if column.state == State::Valid && column.has_modifiers() {
        errors.at(&column.written, modules::input_is_view(column.name()));
        column.state = State::Invalid;
    }
}

/// An input of a module is bound to one column.
fn check_bound_once(module: &mut Module, errors: &mut Errors) {
    let mut bound = HashSet::new();
    module.inputs.retain(|input| {
        let is_first = bound.insert(ident_text(&input.name));
        if !is_first {
            errors.at(&input.name, modules::input_twice(&input.name));
        }
        is_first
    });
}

/// What views can name.
struct Names {
    columns: HashSet<String>,
    /// The modules, with the columns that their inputs are.
    modules: HashMap<String, HashMap<String, String>>,
    /// Modules with the name of a column, which have been told.
    clashes: HashSet<String>,
    /// What declarations may have declared that could not be made out.
    unparsed: HashSet<String>,
    /// Whether the flow that is extended is known, if one is.
    is_extension: Option<bool>,
}

impl Names {
    fn new(flow: &Flow, clashes: HashSet<String>) -> Self {
        let inputs = |module: &Module| {
            let inputs = module.inputs.iter();
            let column = |column: Option<&View>| column.map_or_else(|| "user".to_owned(), View::name);
            inputs.map(|input| (ident_text(&input.name), column(input.column.as_ref()))).collect()
        };
        Self {
            columns: flow.columns.iter().map(|column| ident_text(&column.name)).collect(),
            modules: flow.modules.iter().map(|module| (ident_text(&module.name), inputs(module))).collect(),
            clashes,
            unparsed: flow.unparsed.iter().filter_map(unparsed_name).collect(),
            is_extension: flow.base().map(|base| base.path.is_some()),
        }
    }

    /// Whether the view shows a column. If not, that is told, or the name is unknown.
    fn resolve(&self, view: &mut View, unknown: &mut Vec<Ident>, errors: &mut Errors) -> bool {
        let base = ident_text(&view.base);
        if self.columns.contains(&base) {
            let is_of_module = !view.path.is_empty() && self.clashes.contains(&base);
            view.take_path_as_fields();
            check_spelling(&mut view.base, errors);
            !is_of_module
        } else if let Some(inputs) = self.modules.get(&base) {
            check_spelling(&mut view.base, errors);
            is_of_module(view, inputs, errors)
        } else if let (Some(is_read), true) = (self.is_extension, self.can_be_inherited(view)) {
            // Only rustc knows the columns of another flow.
            view.is_inherited = is_read;
            check_spelling(&mut view.base, errors);
            is_read
        } else {
            unknown.push(view.base.clone());
            false
        }
    }

    /// Whether a view may show a column of the flow that is extended, if it shows none of the own.
    fn can_be_inherited(&self, view: &View) -> bool {
        let base = ident_text(&view.base);
        is_name(&base) && rust_ident(&view.base).is_some() && !self.unparsed.contains(&base)
    }
}

/// Whether a view of a module shows one of its columns, and no input, which is a column of this flow.
fn is_of_module(view: &View, inputs: &HashMap<String, String>, errors: &mut Errors) -> bool {
    match view.path.first() {
        None if view.state == State::Valid => errors.at(&view.base, modules::module_read(&view.base)),
        None => {}
        Some(first) => match inputs.get(&ident_text(first)) {
            Some(column) => errors.at(first, modules::input_read(first, &view.base, column)),
            None => return true,
        },
    }
    false
}

/// Tells each unknown name once.
fn check_unknown(flow: &Flow, unknown: &[Ident], errors: &mut Errors) {
    let columns = flow.columns.iter().filter(|column| !column.is_duplicate).map(|column| &column.name);
    let declared: Vec<String> =
        columns.chain(flow.modules.iter().map(|module| &module.name)).map(ident_text).collect();
    let mut told: HashSet<String> = flow.unparsed.iter().filter_map(unparsed_name).collect();
    if ["source", "column"].iter().any(|&nameless| told.contains(nameless)) {
        // The one whose name is missing may have been meant.
        return;
    }
    for name in unknown {
        if told.insert(ident_text(name)) {
            errors.at(name, reads::unknown(name, &declared));
        }
    }
}

/// A name that a declaration may have had that could not be made out.
fn unparsed_name(tree: &TokenTree) -> Option<String> {
    match tree {
        TokenTree::Ident(name) => Some(ident_text(name)),
        _ => None,
    }
}

/// A keyword of Rust's is a name only if it is raw.
fn check_spelling(base: &mut Ident, errors: &mut Errors) {
    if let Some(raw) = rust_ident(base)
        && raw != *base
    {
        errors.at(&*base, declarations::rust_keyword(base));
        *base = raw;
    }
}

/// A column reads something besides itself, and its own past once.
fn check_inputs(column: &mut Column, errors: &mut Errors) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    let mut own = derived.reads().filter(|view| view.is_self());
    match (own.next(), own.next()) {
        (_, Some(second)) => errors.at(&second.written, reads::self_twice(name)),
        (Some(own), None) if derived.reads().count() == 1 && derived.is_complete => {
            errors.at(&own.written, reads::only_self(name));
        }
        (None, None) if derived.reads().next().is_none() && derived.is_complete => {
            errors.on(derived.list, reads::reads_nothing(name));
        }
        _ => {}
    }
}

/// No two inputs of a column have one tag.
fn check_tags(column: &mut Column, errors: &mut Errors) {
    let Column { name, derived: Some(derived), .. } = column else { return };
    let mut tags: HashMap<String, Option<&View>> = HashMap::new();
    check_groups(name, derived.reads(), &mut tags, errors);
    for view in derived.reads().filter(|view| !view.is_self()) {
        let (place, tag) = match &view.tag {
            Tag::Name => (None, ident_text(view.last())),
            Tag::Explicit(place, tag) => (Some(*place), tag.clone()),
            Tag::Invalid => continue,
        };
        match (tags.get(&tag), place) {
            (Some(Some(first)), _) if first.text() == view.text() => {
                errors.at(&view.written, reads::same_view(&view.text(), name));
            }
            (Some(_), Some(place)) => errors.on(place, reads::same_tag(&tag, name)),
            (Some(_), None) => errors.at(&view.written, reads::same_tag(&tag, name)),
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
    let mut before: &[GroupTag] = &[];
    for View { groups, .. } in views {
        let is_open = |(open, group): &(&GroupTag, &GroupTag)| open.is_same_group(group);
        let open = before.iter().zip(groups).take_while(is_open).count();
        for group in groups.iter().skip(open) {
            if tags.insert(group.text().to_owned(), None).is_some() {
                errors.on(group.span, reads::same_tag(group.text(), name));
            }
        }
        before = groups;
    }
}

/// A column is nothing that it, or its flow, does not want it to be.
fn check_denied(column: &Column, by_flow: &[Lint], errors: &mut Errors) {
    let Column { name, lints, derived: Some(derived), .. } = column else { return };
    let denies = |lint| lints.contains(&lint) || by_flow.contains(&lint);
    if denies(Lint::Unbounded) {
        for view in derived.reads().filter(|view| view.state == State::Valid && !view.is_windowed()) {
            errors.at(&view.written, reads::unbounded(&view.name(), name));
        }
    }
    if denies(Lint::UnstablePrefix)
        && derived.is_complete
        && derived.reads().all(View::is_windowed)
        && let Some(first) = derived.reads().next()
    {
        errors.at(&first.written, reads::unstable_prefix(&first.name(), name));
    }
}

/// No column waits for itself. Cycles that lead through modules are left to the compiler, which knows what in
/// them waits for what.
fn check_cycles(flow: &Flow, errors: &mut Errors) -> Plan {
    let nodes = Nodes::new(flow);
    let in_order = || (0..flow.columns.len()).collect();
    let columns = nodes.reads(flow.columns.len());
    let Some(order) = graph::order(&columns) else {
        for cycle in graph::cycles(&columns) {
            let edges = nodes.edges(&cycle);
            if let Some(first) = edges.first() {
                errors.on(first.span, reads::cycle(&edges));
            }
        }
        return Plan { order: in_order(), suspect: None };
    };
    if flow.modules.is_empty() {
        return Plan { order, suspect: None };
    }
    let cycles = graph::cycles(&nodes.reads(nodes.0.len()));
    let edges = cycles.first().map_or_else(Vec::new, |cycle| nodes.edges(cycle));
    let is_input =
        |edge: &&reads::Edge| flow.modules.iter().any(|module| ident_text(&module.name) == edge.reader);
    let suspect = edges.iter().find(is_input).map(|edge| edge.span);
    Plan { order: in_order(), suspect }
}

/// The columns, then the modules, each with what it reads.
struct Nodes<'f>(Vec<(String, Vec<&'f View>)>);

impl<'f> Nodes<'f> {
    fn new(flow: &'f Flow) -> Self {
        let columns =
            flow.columns.iter().map(|column| (ident_text(&column.name), waits_for(column).collect()));
        let modules = flow.modules.iter().map(|module| (ident_text(&module.name), module.reads().collect()));
        Self(columns.chain(modules).collect())
    }

    /// Who of the first nodes reads whom of them.
    fn reads(&self, first: usize) -> Vec<Vec<usize>> {
        let nodes = self.0.iter().take(first);
        let index: HashMap<&str, usize> = nodes.clone().map(|(name, _)| &**name).zip(0..).collect();
        let reads = |(_, views): &(String, Vec<&View>)| {
            let mut reads: Vec<usize> =
                views.iter().filter_map(|view| index.get(&*ident_text(&view.base)).copied()).collect();
            reads.sort_unstable();
            reads.dedup();
            reads
        };
        nodes.map(reads).collect()
    }

    fn edges(&self, cycle: &[usize]) -> Vec<reads::Edge> {
        let edge = |(&reader, &read): (&usize, &usize)| {
            let ((reader, views), (read, _)) = (self.0.get(reader)?, self.0.get(read)?);
            let span = views.iter().find(|view| ident_text(&view.base) == *read)?.base.span();
            Some(reads::Edge { reader: reader.clone(), read: read.clone(), span })
        };
        iter::zip(cycle, cycle.iter().cycle().skip(1)).filter_map(edge).collect()
    }
}

/// The views of what has to be there before a column can run.
fn waits_for(column: &Column) -> impl Iterator<Item = &View> {
    column.reads().filter(|view| !view.is_lagged)
}
