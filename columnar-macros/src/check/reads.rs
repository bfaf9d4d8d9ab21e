//! The rules about the columns that views and inputs of modules name.

use std::collections::HashSet;
use std::fmt::Display;

use proc_macro2::Ident;

use crate::diagnostics::{
    COMPACTION_ALONE, Errors, INPUT_IS_VALUE, PURPOSE_OF_SELF, TARGET_ALONE, listed, no_view_named,
    not_empty_parentheses, not_parentheses, quote, rust_keyword,
};
use crate::ident::{self, ident_text, is_gen, is_name, rust_ident};
use crate::keywords::is_primitive;
use crate::syntax::{
    FlowDecl, FlowForm, ModifierKind, ModuleDecl, Param, ViewDecl, ViewState, as_ident, uses,
};

/// A view shows a column of this flow, of a module, or of the base; an input of a module is bound to one. Wrong:
///
/// ```text
/// column topics(usr.latest) = prompt("...");
/// use Debate { topic: usr } as debate;
/// ```
///
/// Returns the names that no column has. `clashes` are modules with the name of a column, which are reported.
pub(super) fn check_views(flow: &mut FlowDecl, clashes: HashSet<String>, errors: &mut Errors) -> Vec<Ident> {
    // Before `Names`, which has one column for each input.
    for module in &mut flow.modules {
        check_bound_once(module, errors);
    }
    let names = NamesInScope::new(flow, clashes);
    let names_of_params = flow.params();
    let FlowDecl { form, columns, modules, .. } = flow;
    let params: &[Param] = if let FlowForm::Item(header) = form { &header.params } else { &[] };
    let mut unknown = Vec::new();
    for column in columns {
        let Some(derived) = &mut column.derived else { continue };
        for view in derived.views.iter_mut().filter(|view| view.shows_a_column()) {
            let shows_a_column = if view.is_self {
                check_self(view, &names, errors)
            } else if ident_text(&view.base) == ident_text(&column.name) {
                report_self_by_name(view, &column.name, errors);
                false
            } else {
                if names.columns.contains(&ident_text(&view.base)) && !names.is_clash(view) {
                    check_empty_parentheses(view, errors);
                    names.check_parentheses(view, errors);
                    check_modifier(view, errors);
                }
                names.resolve(view, &mut unknown, errors)
            };
            if shows_a_column {
                names.check_documents(view, errors);
                check_modifiers_of_layout(view, errors);
                names.check_thread(view, errors);
                check_elided(view, errors);
                check_constants(view, params, &names_of_params, errors);
            } else {
                view.state = ViewState::NoColumn;
                // Without this view the column may read too little, which is no second error.
                derived.is_complete = false;
            }
        }
    }
    for module in modules {
        drop_arguments(module, &names_of_params, &names, errors);
        for input in &mut module.inputs {
            if let Some(column) = &mut input.column {
                check_input(column, &names, &mut unknown, errors);
            }
            module.is_complete &= input.read().is_some();
        }
    }
    unknown
}

/// `self` has no columns. Wrong: `column topics(user, self.summary) = prompt("...");`.
fn check_self(view: &mut ViewDecl, names: &NamesInScope, errors: &mut Errors) -> bool {
    let column = view.path.first().filter(|field| names.columns.contains(&ident_text(field)));
    if let Some(column) = column {
        errors.at(&view.written, column_of_self(column));
        view.take_path_as_modifiers();
        return false;
    }
    check_empty_parentheses(view, errors);
    check_modifier(view, errors);
    true
}

/// `context`, `instruction`, `text_only` and `thread` are methods, since columns of modules may have these names. Wrong, where `notes`
/// is a column of this flow:
///
/// ```text
/// column topics(user, notes.context) = prompt("...");
/// column topics(user, self.context) = prompt("...");
/// ```
fn check_empty_parentheses(view: &mut ViewDecl, errors: &mut Errors) {
    const WORDS: [&str; 4] = ["context", "instruction", "text_only", "thread"];
    if let Some(word) = view.path.first().filter(|word| ident::is_one_of(word, &WORDS)) {
        let is_purpose = ident::is_one_of(word, &["context", "instruction"]);
        if view.is_self && is_purpose {
            errors.at(word, PURPOSE_OF_SELF);
        } else {
            errors.at(word, not_empty_parentheses(word));
        }
        view.state = ViewState::Invalid;
    }
}

/// Documents with a layout have fixed places, and no attachments. Wrong:
/// `column coder(files.tiered().context(), user, self) = prompt("...");`.
fn check_modifiers_of_layout(view: &mut ViewDecl, errors: &mut Errors) {
    let Some(layout) = view.layout() else { return };
    if let Some(word) = view.purpose.clone() {
        view.report(word, fixed_place(layout, "it has no purpose", "drop this"), errors);
    }
    if let Some(text_only) = view.of_kinds(&[ModifierKind::TextOnly]) {
        view.report(text_only, text_of_layout(layout), errors);
    }
}

/// A view of a column has one of the known modifiers. Wrong: `column topics(user.lastest) = prompt("...");`.
fn check_modifier(view: &mut ViewDecl, errors: &mut Errors) {
    if let Some(word) = view.path.first().cloned().filter(|_| view.is_valid()) {
        view.report(&word, no_view_named(&word), errors);
        // Perhaps `prev` is meant. Then two columns that read each other are no second error.
        view.is_lagged = true;
    }
    view.take_path_as_modifiers();
}

/// A column reads itself as `self`. Wrong: `column topics(topics.latest) = prompt("...");`.
fn report_self_by_name(view: &ViewDecl, name: &Ident, errors: &mut Errors) {
    let name = ident_text(name);
    let message = if view.is_lagged {
        format!("`{name}` reads its own history by name\n\nhelp: write `self.latest`")
    } else {
        format!(
            "`{name}` reads itself in the same step\n\nhelp: write `self` for its values at earlier steps"
        )
    };
    errors.at(&view.base, message);
}

/// `elided()` counts hidden values, so the view must hide some. Wrong:
/// `column topics(user.elided()) = prompt("...");`.
fn check_elided(view: &mut ViewDecl, errors: &mut Errors) {
    if view.shows_everything()
        && let Some(elided) = view.of_kinds(&[ModifierKind::Elided])
    {
        view.report(elided, nothing_elided(&view.name(), view.is_lagged), errors);
    }
}

/// An input of a module is bound to a column, without modifiers. Wrong:
/// `use Debate { topic: user.latest } as debate;`.
fn check_input(column: &mut ViewDecl, names: &NamesInScope, unknown: &mut Vec<Ident>, errors: &mut Errors) {
    if !names.resolve(column, unknown, errors) {
        column.state = ViewState::NoColumn;
    } else if column.has_modifiers() {
        column.report(column.written.clone(), input_is_view(column.name()), errors);
    }
}

/// Arguments of a module come before the inputs. Wrong: `use Debate { topic: user, model } as debate;`.
fn drop_arguments(module: &mut ModuleDecl, params: &[String], names: &NamesInScope, errors: &mut Errors) {
    let ModuleDecl { inputs, is_complete, .. } = module;
    inputs.retain(|input| {
        let argument = input.column.as_ref().filter(|column| {
            let name = ident_text(&column.base);
            params.contains(&name) && !names.declares(&name)
        });
        if let Some(argument) = argument {
            errors.at(&argument.written, INPUT_IS_VALUE);
            // The module lacks this argument then, which is no second error.
            *is_complete = false;
        }
        argument.is_none()
    });
}

/// An input of a module is bound once. Wrong: `use Debate { topic: user, topic: summary } as debate;`.
fn check_bound_once(module: &mut ModuleDecl, errors: &mut Errors) {
    let mut bound = HashSet::new();
    module.inputs.retain(|input| {
        let is_first = bound.insert(ident_text(&input.name));
        if !is_first {
            errors.at(&input.name, input_twice(&input.name));
        }
        is_first
    });
}

/// The arguments of a view are constants. Wrong, where `n` is a parameter of the flow:
/// `column topics(user.window(n)) = prompt("...");`.
fn check_constants(view: &mut ViewDecl, params: &[Param], names: &[String], errors: &mut Errors) {
    if names.is_empty() || !view.is_valid() {
        return;
    }
    if let Some(found) = uses(names, &view.constant_modifiers()).into_iter().next() {
        let param = params.iter().find(|param| ident_text(&param.name) == found.name);
        errors.on(found.at, param_in_view(&found.name, param));
        view.state = ViewState::Invalid;
    }
}

/// The names that views can resolve to.
struct NamesInScope {
    columns: HashSet<String>,
    /// The sources among the columns.
    sources: HashSet<String>,
    /// The sources of documents among the sources.
    documents: HashSet<String>,
    modules: HashSet<String>,
    /// Modules with the name of a column, which are reported.
    clashes: HashSet<String>,
    /// Names among declarations that could not be read.
    unparsed: HashSet<String>,
    /// Whether the base of an extension could be read.
    is_base_known: Option<bool>,
}

impl NamesInScope {
    fn new(flow: &FlowDecl, clashes: HashSet<String>) -> Self {
        let sources = flow.columns.iter().filter(|column| column.is_source());
        Self {
            columns: flow.columns.iter().map(|column| ident_text(&column.name)).collect(),
            sources: sources.map(|column| ident_text(&column.name)).collect(),
            documents: flow.documents(),
            modules: flow.modules.iter().map(|module| ident_text(&module.name)).collect(),
            clashes,
            unparsed: unparsed_names(flow).collect(),
            is_base_known: flow.base().map(|base| base.path.is_some()),
        }
    }

    /// Whether this flow itself has a column or a module of this name.
    fn declares(&self, name: &str) -> bool {
        self.columns.contains(name) || self.modules.contains(name)
    }

    /// Whether the view shows a column. If not, that is reported, or the name goes to `unknown`.
    fn resolve(&self, view: &mut ViewDecl, unknown: &mut Vec<Ident>, errors: &mut Errors) -> bool {
        let base = ident_text(&view.base);
        if self.columns.contains(&base) {
            // The path may be one of the module that `check_names` has removed and reported.
            let is_of_module = self.is_clash(view);
            view.take_path_as_modifiers();
            check_spelling(&mut view.base, errors);
            !is_of_module
        } else if self.modules.contains(&base) {
            check_spelling(&mut view.base, errors);
            shows_column_of_module(view, errors)
        } else if let Some(is_base_known) = self.is_base_known
            && is_name(&base)
            && rust_ident(&view.base).is_some()
            // A name in a declaration that could not be read is probably declared there.
            && !self.unparsed.contains(&base)
        {
            // Only rustc knows the columns of another flow.
            view.is_inherited = is_base_known;
            check_spelling(&mut view.base, errors);
            is_base_known
        } else {
            unknown.push(view.base.clone());
            false
        }
    }

    /// Whether a path may be one of a module with the name of a column.
    fn is_clash(&self, view: &ViewDecl) -> bool {
        !view.path.is_empty() && self.clashes.contains(&ident_text(&view.base))
    }

    /// `tiered` is a method. Wrong: `column coder(files.tiered, user, self) = prompt("...");`.
    fn check_parentheses(&self, view: &mut ViewDecl, errors: &mut Errors) {
        if let Some(layout) =
            view.path.first().filter(|name| ident::is_one_of(name, &["tiered", "compacted"]))
            && self.documents.contains(&ident_text(&view.base))
        {
            errors.at(layout, not_parentheses(layout));
            view.state = ViewState::Invalid;
        }
    }

    /// A thread continues a computed column, and stands in no group. Wrong:
    /// `column critic(user.thread()) = prompt("...");`.
    fn check_thread(&self, view: &mut ViewDecl, errors: &mut Errors) {
        let Some(thread) = view.of_kinds(&[ModifierKind::Thread]).filter(|_| view.is_valid()) else { return };
        // Only rustc knows the sources of other flows, whose handles have no such method.
        if self.sources.contains(&view.name()) {
            view.report(thread, thread_of_source(&view.name()), errors);
        } else if !view.groups.is_empty() {
            view.report(view.written.clone(), GROUPED_THREAD, errors);
        }
    }

    /// Documents are a set, which is shown as a whole, and only documents have a layout. Wrong:
    ///
    /// ```text
    /// column log(files.latest) = prompt("...");
    /// column coder(user.tiered(), self) = prompt("...");
    /// ```
    fn check_documents(&self, view: &mut ViewDecl, errors: &mut Errors) {
        if !view.is_valid() {
            return;
        }
        // The parser leaves `files.tiered.target(3)` to this check.
        let layout = view.layout();
        let settings = [(ModifierKind::Target, TARGET_ALONE), (ModifierKind::Compaction, COMPACTION_ALONE)];
        for (kind, message) in settings {
            if let Some(setting) = view.of_kinds(&[kind]).filter(|_| layout.is_none()) {
                return view.report(setting, message, errors);
            }
        }
        if view.is_self || self.documents.is_empty() && layout.is_none() {
            return;
        }
        let name = view.name();
        let is_documents = self.documents.contains(&name);
        // Only rustc knows the sources of the base.
        let is_text = !is_documents && !view.is_inherited;
        let label = view.of_kinds(&[ModifierKind::Tag, ModifierKind::Note]);
        let written = view.of_kinds(&[ModifierKind::Tiered, ModifierKind::Compacted]);
        match (layout, view.part().cloned(), label) {
            (Some(layout), _, _) if is_text => {
                let is_source = self.sources.contains(&name);
                view.report(written, layout_of_text(layout, &name, is_source), errors);
            }
            (layout, Some(part), _) if is_documents || layout.is_some() => {
                view.report(part, part_of_documents(&name), errors);
            }
            (Some(layout), None, Some(label)) => {
                view.report(label, fixed_place(layout, "it has no tag and no note", "drop this"), errors);
            }
            (Some(layout), None, None) if !view.groups.is_empty() => {
                let message = fixed_place(layout, "it cannot be in a group", "put it before the group");
                view.report(view.written.clone(), message, errors);
            }
            _ => {}
        }
    }
}

/// A view of a module shows a column of the module. Wrong: `column verdict(debate) = prompt("...");`.
fn shows_column_of_module(view: &ViewDecl, errors: &mut Errors) -> bool {
    if view.path.is_empty() && view.is_valid() {
        errors.at(&view.base, module_read(&view.base));
    }
    !view.path.is_empty()
}

/// Reports each unknown name once.
pub(super) fn check_unknown(flow: &FlowDecl, unknown: &[Ident], errors: &mut Errors) {
    let columns = flow.columns.iter().filter(|column| !column.is_duplicate).map(|column| &column.name);
    let modules = flow.modules.iter().map(|module| &module.name);
    let mut declared: Vec<String> = columns.chain(modules).map(ident_text).collect();
    // Compared, and not listed.
    declared.push("self".to_owned());
    let mut reported: HashSet<String> = unparsed_names(flow).collect();
    if ["source", "column"].iter().any(|&keyword| reported.contains(keyword)) {
        // A declaration without a name may be the one that is read.
        return;
    }
    for name in unknown {
        if reported.insert(ident_text(name)) {
            let near = errors.nearest(&ident_text(name), &declared);
            errors.at(name, unknown_name(name, near, &declared));
        }
    }
}

/// The identifiers in declarations that could not be read: each may be the name of such a declaration.
fn unparsed_names(flow: &FlowDecl) -> impl Iterator<Item = String> {
    flow.unparsed.iter().filter_map(as_ident).map(ident_text)
}

/// A name that is a keyword of Rust is written raw. Wrong: `column topics(type.latest) = prompt("...");`.
fn check_spelling(base: &mut Ident, errors: &mut Errors) {
    if let Some(raw) = rust_ident(base)
        && raw != *base
    {
        if !is_gen(base) {
            errors.at(&*base, rust_keyword(base));
        }
        *base = raw;
    }
}

// Messages.

/// `self.topics`, where `topics` is a column.
fn column_of_self(column: &Ident) -> String {
    let column = ident_text(column);
    format!("`self` is the history of this column, and has no columns\n\nhelp: write `{column}` alone")
}

/// `user.window(n)`, where `n` is a parameter of the flow.
fn param_in_view(name: &str, param: Option<&Param>) -> String {
    let ty = param.map(|param| param.ty().to_string()).unwrap_or_default();
    let constant = if is_primitive(&ty) && !ty.starts_with('f') {
        let constant = name.to_uppercase();
        format!(", or make it a constant parameter of the flow, `struct Chat<const {constant}: {ty}>`")
    } else {
        String::new()
    };
    format!("views are constants, and the parameter `{name}` is none\n\nhelp: write a constant{constant}")
}

/// `user.elided()` or `user.prev.all().elided()`.
fn nothing_elided(name: &str, is_lagged: bool) -> String {
    let past = if is_lagged { ".prev" } else { "" };
    format!(
        "this view shows all of `{name}`, so it hides nothing\n\n\
         help: drop this, or show less: `{name}{past}.window(3).elided()`"
    )
}

/// `files.latest`, where `files` has documents.
fn part_of_documents(name: &str) -> String {
    format!(
        "documents are a set, which has no window\n\nhelp: read `{name}.compacted()` or `{name}.tiered()`"
    )
}

/// `user.tiered()`, where `user` holds text.
fn layout_of_text(layout: &str, name: &str, is_source: bool) -> String {
    if is_source {
        return format!(
            "a {layout} view shows documents, and `{name}` holds text\n\nhelp: drop this, or declare `source {name}: Documents;`"
        );
    }
    format!("a {layout} view shows documents, and `{name}` is computed, so it holds text\n\nhelp: drop this")
}

/// `files.tiered().context()`, `files.tiered().as("docs")` or `group("all", files.tiered())`.
fn fixed_place(layout: &str, so: &str, help: &str) -> String {
    let place = if layout == "tiered" { "stands before the messages" } else { "has its own titles" };
    format!("a {layout} view {place}, so {so}\n\nhelp: {help}")
}

/// `files.tiered().text_only()`
fn text_of_layout(layout: &str) -> String {
    format!("a {layout} view shows documents, which have no attachments\n\nhelp: drop this")
}

/// `user.thread()`, where `user` is a source.
fn thread_of_source(name: &str) -> String {
    format!(
        "`{name}` is a source, which sends no messages to continue\n\nhelp: read `{name}`, or continue a computed column"
    )
}

const GROUPED_THREAD: &str = "a thread is a conversation, so it cannot be in a group\n\nhelp: put it before the group, as the first view";

/// `use Debate { topic: user.latest } as debate;`
fn input_is_view(column: impl Display) -> String {
    format!("an input is a column, not a view of one\n\nhelp: write `{column}`")
}

fn input_twice(name: &Ident) -> String {
    format!("the input {} is bound twice\n\nhelp: drop one of the two", quote(name))
}

fn module_read(module: &Ident) -> String {
    let module = ident_text(module);
    format!("`{module}` is a module, not a column\n\nhelp: read one of its columns, as in `{module}.verdict`")
}

/// `declared` ends with `self`.
fn unknown_name(name: &Ident, near: Option<&str>, declared: &[String]) -> String {
    let text = ident_text(name);
    let help = match near {
        // The run-time API names the self history `this()`.
        _ if text == "this" => "did you mean `self`?".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("declared here: {}", listed(declared.split_last().map_or(&[], |(_, names)| names))),
    };
    format!("no column or source named `{text}` in this flow\n\nhelp: {help}")
}

#[cfg(test)]
mod tests {
    use quote::format_ident;

    use super::*;

    #[test]
    fn an_unknown_name_gets_a_suggestion_or_a_list() {
        fn message(text: &str, count: usize) -> String {
            let declared = (0..count).map(|at| format!("topic_{at}")).chain(["self".to_owned()]);
            let declared: Vec<String> = declared.collect();
            let near = Errors::default().nearest(text, &declared);
            unknown_name(&format_ident!("{text}"), near, &declared)
        }
        assert!(message("topc_3", 10).ends_with("did you mean `topic_3`?"));
        assert!(message("sefl", 10).ends_with("did you mean `self`?"));
        assert!(message("history", 10).ends_with("`topic_7` and 2 more"));
        assert!(message("history", 8).ends_with("`topic_6`, `topic_7`"));
    }
}
