//! The rules of JavaScript, and those that TypeScript adds.

use tree_sitter::Node;

use super::super::finder::{Finder, unquoted};
use super::super::rules::{Mode, Role, Rule, define, import, plain, rest, skip};
use super::super::symbols::Kind;

/// Names that no repository defines.
pub(in super::super) const KNOWN: &[&str] = &[
    "Array",
    "Boolean",
    "Date",
    "Error",
    "JSON",
    "Map",
    "Math",
    "Number",
    "Object",
    "Partial",
    "Promise",
    "Readonly",
    "Record",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "TypeError",
    "arguments",
    "console",
    "constructor",
    "document",
    "exports",
    "module",
    "process",
    "require",
    "undefined",
    "window",
];

pub(in super::super) const RULES: &[Rule] = &[
    skip("comment"),
    skip("html_comment"),
    skip("string"),
    skip("regex"),
    Rule::new("identifier", Role::Name),
    Rule::new("shorthand_property_identifier", Role::Name),
    Rule::new("property_identifier", Role::Member),
    Rule::new("private_property_identifier", Role::Member),
    Rule::new("shorthand_property_identifier_pattern", Role::Binding),
    import("import_statement", import_statement),
    plain("import_specifier", &[("alias", Mode::Skip)]),
    rest("namespace_import", Mode::Skip),
    rest("namespace_export", Mode::Skip),
    Rule::new("export_statement", Role::Declare(export_statement)),
    plain("export_specifier", &[("alias", Mode::Skip)]),
    Rule::new("lexical_declaration", Role::Declare(declaration)),
    Rule::new("variable_declaration", Role::Declare(declaration)),
    Rule::new("expression_statement", Role::Declare(expression_statement)),
    define("function_declaration", |finder, node| finder.named(Kind::Function, node)),
    define("generator_function_declaration", |finder, node| finder.named(Kind::Function, node)),
    define("method_definition", |finder, node| finder.named(Kind::Function, node)),
    define("class_declaration", |finder, node| finder.named(Kind::Class, node)),
    define("field_definition", field),
    Rule::new("arrow_function", Role::Closure).fields(&[("parameter", Mode::Bind)]),
    Rule::new("function_expression", Role::Closure).fields(&[("name", Mode::Bind)]),
    Rule::new("generator_function", Role::Closure).fields(&[("name", Mode::Bind)]),
    plain("class", &[("name", Mode::Bind)]),
    plain("call_expression", &[("function", Mode::Callee)]),
    plain("new_expression", &[("constructor", Mode::Callee)]),
    plain("member_expression", &[("property", Mode::Member)]),
    plain("jsx_opening_element", &[("name", Mode::Tag)]),
    plain("jsx_self_closing_element", &[("name", Mode::Tag)]),
    plain("jsx_closing_element", &[("name", Mode::Skip)]),
    // Names that are bound.
    plain("variable_declarator", &[("name", Mode::Bind)]),
    plain("for_in_statement", &[("left", Mode::Bind)]),
    plain("catch_clause", &[("parameter", Mode::Bind)]),
    rest("formal_parameters", Mode::Bind),
    rest("object_pattern", Mode::Inherit),
    rest("array_pattern", Mode::Inherit),
    rest("rest_pattern", Mode::Inherit),
    plain("pair_pattern", &[("value", Mode::Inherit)]),
    plain("assignment_pattern", &[("left", Mode::Inherit)]),
    plain("object_assignment_pattern", &[("left", Mode::Inherit)]),
];

pub(in super::super) const TYPED: &[Rule] = &[
    Rule::new("type_identifier", Role::Type),
    skip("predefined_type"),
    import("import_alias", import_alias),
    define("abstract_class_declaration", |finder, node| finder.named(Kind::Class, node)),
    define("interface_declaration", |finder, node| finder.named(Kind::Trait, node)),
    define("type_alias_declaration", |finder, node| finder.named(Kind::Type, node)),
    define("enum_declaration", variants),
    define("internal_module", |finder, node| finder.named(Kind::Module, node))
        .fields(&[("name", Mode::Skip)]),
    define("module", |finder, node| finder.named(Kind::Module, node)).fields(&[("name", Mode::Skip)]),
    define("function_signature", |finder, node| finder.named(Kind::Function, node)),
    define("method_signature", |finder, node| finder.named(Kind::Function, node)),
    define("abstract_method_signature", |finder, node| finder.named(Kind::Function, node)),
    define("public_field_definition", field),
    plain("instantiation_expression", &[("function", Mode::Inherit)]),
    rest("non_null_expression", Mode::Inherit),
    plain("required_parameter", &[("name", Mode::Bind), ("pattern", Mode::Bind)]),
    plain("optional_parameter", &[("name", Mode::Bind), ("pattern", Mode::Bind)]),
    plain("type_parameter", &[("name", Mode::BindType)]),
    plain("mapped_type_clause", &[("name", Mode::BindType)]),
    plain("type_predicate", &[("name", Mode::Skip)]),
    plain("index_signature", &[("name", Mode::Skip)]),
];

fn variants(finder: &mut Finder<'_>, node: Node<'_>) {
    finder.variants(node);
}

/// A path, and the names imported from it.
fn add_import(finder: &mut Finder<'_>, source: &str, names: &str) {
    let colon = if names.trim().is_empty() { "" } else { ": " };
    finder.import([unquoted(source), colon, names]);
}

fn import_statement(finder: &mut Finder<'_>, node: Node<'_>) {
    let clause = node.named_children(&mut node.walk()).find(|child| child.kind().ends_with("_clause"));
    // `import fs = require("fs")` has its source in the clause.
    let own = node.child_by_field_name("source");
    let (source, names) = match (own, clause) {
        (Some(source), clause) => (source, clause),
        (None, Some(clause)) => {
            let Some(source) = clause.child_by_field_name("source") else { return };
            (source, clause.named_child(0))
        }
        (None, None) => return,
    };
    let names = names.map(|names| finder.written(names, names.byte_range()).concat()).unwrap_or_default();
    add_import(finder, finder.text(source), &names);
}

fn import_alias(finder: &mut Finder<'_>, node: Node<'_>) {
    if let (Some(name), Some(path)) = (node.named_child(0), node.named_child(1)) {
        add_import(finder, finder.text(path), finder.text(name));
    }
}

/// `export … from` imports the names that it exports. `export default` may define a function without a name.
fn export_statement(finder: &mut Finder<'_>, node: Node<'_>) {
    if let Some(source) = node.child_by_field_name("source") {
        let names = node.named_child(0).filter(|names| *names != source);
        let names = names.map_or("*", |names| finder.text(names));
        return add_import(finder, finder.text(source), names);
    }
    if let Some(value) = node.child_by_field_name("value") {
        let name = value.child_by_field_name("name").map_or("default", |name| finder.text(name));
        function_valued(finder, name, value);
    }
}

fn declaration(finder: &mut Finder<'_>, node: Node<'_>) {
    let is_const = node.child_by_field_name("kind").is_some_and(|kind| kind.kind() == "const");
    for declarator in node.named_children(&mut node.walk()) {
        let Some(name) = declarator.child_by_field_name("name") else { continue };
        let value = declarator.child_by_field_name("value");
        if let Some(source) = value.and_then(|value| required(finder, value)) {
            add_import(finder, source, finder.text(name));
            continue;
        }
        if finder.is_local || name.kind() != "identifier" {
            continue;
        }
        let text = finder.text(name);
        if value.is_some_and(|value| function_valued(finder, text, value)) {
            continue;
        }
        if is_const || !text.contains(char::is_lowercase) {
            let end = declarator.child_by_field_name("type").map_or(name.end_byte(), |kind| kind.end_byte());
            finder.constant(name, end, value);
        }
    }
}

/// An assignment of a function to a member is the definition of that in modules of `CommonJS`, and one of a module exports
/// that again.
fn expression_statement(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(expression) = node.named_child(0) else { return };
    if let Some(source) = required(finder, expression) {
        return add_import(finder, source, "");
    }
    if expression.kind() != "assignment_expression" {
        return;
    }
    let sides = (expression.child_by_field_name("left"), expression.child_by_field_name("right"));
    let (Some(left), Some(right)) = sides else { return };
    if let Some(source) = required(finder, right) {
        return add_import(finder, source, finder.text(left));
    }
    if finder.is_local {
        return;
    }
    if let Some(property) = left.child_by_field_name("property") {
        let written = finder.text(left);
        let name = if written == "module.exports" { written } else { finder.text(property) };
        function_valued(finder, name, right);
    }
}

fn field(finder: &mut Finder<'_>, node: Node<'_>) {
    let name = node.child_by_field_name("name").or_else(|| node.child_by_field_name("property"));
    let (Some(name), Some(value)) = (name, node.child_by_field_name("value")) else { return };
    let text = finder.text(name);
    let is_static = node.child(0).is_some_and(|first| first.kind() == "static")
        || node.children(&mut node.walk()).any(|child| child.kind() == "static");
    if !function_valued(finder, unquoted(text), value) && is_static && !text.contains(char::is_lowercase) {
        let end = node.child_by_field_name("type").map_or(name.end_byte(), |kind| kind.end_byte());
        finder.constant(name, end, Some(value));
    }
}

/// Adds a definition if a value is a function or a class.
fn function_valued(finder: &mut Finder<'_>, name: &str, value: Node<'_>) -> bool {
    let kind = match value.kind() {
        "arrow_function" | "function_expression" | "generator_function" => Kind::Function,
        "class" => Kind::Class,
        _ => return false,
    };
    if finder.is_local {
        return false;
    }
    let fields = match kind {
        Kind::Class => ["type_parameters", "body"],
        _ => ["type_parameters", "parameters"],
    };
    let body = value.child_by_field_name("body").map_or(value.end_byte(), |body| body.start_byte());
    if let Some(parameter) = value.child_by_field_name("parameter") {
        finder.define(kind, name, ["(", finder.text(parameter), ")"]);
        finder.mark_async(value);
        return true;
    }
    let heritage = value.named_children(&mut value.walk()).find(|child| child.kind() == "class_heritage");
    let first = fields.iter().find_map(|field| value.child_by_field_name(field));
    let start = heritage.or(first).map_or(body, |first| first.start_byte());
    let mut signature = finder.written(value, start..body);
    if let Some(last) = signature.last_mut() {
        *last = last.trim_end().trim_end_matches("=>");
    }
    finder.define(kind, name, signature);
    finder.mark_async(value);
    true
}

/// The quoted path of a call of `require`, or of a member of one.
fn required<'t>(finder: &Finder<'t>, mut value: Node<'_>) -> Option<&'t str> {
    while value.kind() == "member_expression" {
        value = value.child_by_field_name("object")?;
    }
    let function = value.child_by_field_name("function")?;
    let source = value.child_by_field_name("arguments")?.named_child(0)?;
    let is_import = finder.text(function) == "require" && source.kind() == "string";
    is_import.then(|| finder.text(source))
}
