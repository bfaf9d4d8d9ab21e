//! The rules of Go.

use tree_sitter::Node;

use super::super::finder::{Finder, in_field, unquoted};
use super::super::rules::{Mode, Role, Rule, define, import, plain, rest, skip};
use super::super::symbols::Kind;

/// Names that no repository defines.
pub(in super::super) const KNOWN: &[&str] = &[
    "any",
    "append",
    "bool",
    "byte",
    "cap",
    "close",
    "comparable",
    "complex128",
    "complex64",
    "copy",
    "delete",
    "error",
    "false",
    "float32",
    "float64",
    "int",
    "int16",
    "int32",
    "int64",
    "int8",
    "iota",
    "len",
    "make",
    "new",
    "nil",
    "panic",
    "print",
    "println",
    "recover",
    "rune",
    "string",
    "true",
    "uint",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "uintptr",
];

pub(in super::super) const RULES: &[Rule] = &[
    skip("comment"),
    skip("interpreted_string_literal"),
    skip("raw_string_literal"),
    Rule::new("identifier", Role::Name),
    Rule::new("type_identifier", Role::Type),
    Rule::new("field_identifier", Role::Member),
    import("import_spec", import_spec),
    define("function_declaration", |finder, node| finder.named(Kind::Function, node)),
    define("method_declaration", method),
    define("method_elem", |finder, node| finder.named(Kind::Function, node)),
    define("type_spec", type_spec),
    define("type_alias", type_spec),
    define("const_spec", constants),
    define("var_spec", constants),
    Rule::new("func_literal", Role::Closure),
    plain("call_expression", &[("function", Mode::Callee)]),
    plain("selector_expression", &[("field", Mode::Member)]),
    // The names of fields: a key is a name in all literals, those of maps too.
    plain("keyed_element", &[("key", Mode::Skip)]),
    plain("type_parameter_declaration", &[("name", Mode::BindType)]),
    plain("parameter_declaration", &[("name", Mode::Bind)]),
    plain("variadic_parameter_declaration", &[("name", Mode::Bind)]),
    plain("short_var_declaration", &[("left", Mode::BindAfter)]),
    plain("range_clause", &[("left", Mode::BindAfter)]),
    plain("receive_statement", &[("left", Mode::BindAfter)]),
    plain("type_switch_statement", &[("alias", Mode::Bind)]),
    rest("expression_list", Mode::Inherit),
];

/// The path of a package, after the name that it has in the file.
fn import_spec(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    match node.child_by_field_name("name") {
        Some(name) => finder.import([finder.text(name), " ", finder.text(path)]),
        None => finder.import([unquoted(finder.text(path))]),
    }
}

/// The type of the receiver stands after the signature: `(n int) error on *View`.
fn method(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let receiver = node.child_by_field_name("receiver").and_then(|receiver| receiver.named_child(0));
    let of = receiver.and_then(|receiver| receiver.child_by_field_name("type"));
    let end = node.child_by_field_name("body").map_or(node.end_byte(), |body| body.start_byte());
    let mut pieces = finder.written(node, name.end_byte()..end);
    if let Some(of) = of {
        pieces.extend([" on ", finder.text(of)]);
    }
    finder.define(Kind::Function, finder.text(name), pieces);
}

fn type_spec(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let of = node.child_by_field_name("type");
    let kind = match of.map(|of| of.kind()) {
        Some("struct_type") => Kind::Class,
        Some("interface_type") => Kind::Trait,
        _ => Kind::Type,
    };
    // The type itself is shown only if it is another one.
    let end = of.filter(|_| kind != Kind::Type).map_or(node.end_byte(), |of| of.start_byte());
    let pieces = finder.written(node, name.end_byte()..end);
    finder.define(kind, finder.text(name), pieces);
}

fn constants(finder: &mut Finder<'_>, node: Node<'_>) {
    let names = in_field(node, "name");
    let names: Vec<_> = names.into_iter().filter(|name| name.kind() == "identifier").collect();
    let kind = node.child_by_field_name("type").map(|kind| finder.text(kind));
    let value = node.child_by_field_name("value").filter(|_| names.len() == 1);
    for name in names {
        if finder.text(name) == "_" {
            continue;
        }
        let mut pieces = vec![kind.unwrap_or_default()];
        if let Some(value) = finder.value(value) {
            pieces.extend([" = ", value]);
        }
        finder.define(Kind::Constant, finder.text(name), pieces);
    }
}
