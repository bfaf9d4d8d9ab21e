//! The rules of Python.

use tree_sitter::Node;

use super::super::finder::{Finder, in_field};
use super::super::rules::{Mode, Role, Rule, define, import, plain, rest, skip};
use super::super::symbols::Kind;

/// Names that no repository defines.
pub(in super::super) const KNOWN: &[&str] = &[
    "Any",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "Exception",
    "False",
    "FileNotFoundError",
    "ImportError",
    "IndexError",
    "KeyError",
    "NameError",
    "None",
    "NotImplemented",
    "NotImplementedError",
    "OSError",
    "Optional",
    "RuntimeError",
    "StopAsyncIteration",
    "StopIteration",
    "True",
    "TypeError",
    "ValueError",
    "__class__",
    "__name__",
    "abs",
    "all",
    "any",
    "bool",
    "bytes",
    "callable",
    "classmethod",
    "cls",
    "dict",
    "divmod",
    "enumerate",
    "filter",
    "float",
    "frozenset",
    "getattr",
    "hasattr",
    "hash",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "max",
    "min",
    "next",
    "object",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "self",
    "set",
    "setattr",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
];

pub(in super::super) const RULES: &[Rule] = &[
    skip("comment"),
    skip("string_content"),
    Rule::new("identifier", Role::Name),
    import("import_statement", modules),
    import("import_from_statement", names),
    import("future_import_statement", names),
    plain("aliased_import", &[("alias", Mode::Skip)]),
    define("class_definition", definition),
    define("function_definition", definition),
    Rule::new("decorated_definition", Role::Define(decorated)).fields(&[("definition", Mode::Defined)]),
    Rule::new("assignment", Role::Define(assignment)).fields(&[("left", Mode::Bind)]),
    Rule::new("type_alias_statement", Role::Define(alias)).fields(&[("left", Mode::Bind)]),
    plain("call", &[("function", Mode::Callee)]),
    plain("attribute", &[("attribute", Mode::Member)]),
    plain("keyword_argument", &[("name", Mode::Skip)]),
    rest("global_statement", Mode::Skip),
    rest("nonlocal_statement", Mode::Skip),
    // Names that are bound.
    rest("parameters", Mode::Bind),
    Rule::new("lambda", Role::Closure),
    rest("lambda_parameters", Mode::Bind),
    plain("typed_parameter", &[("type", Mode::Use)]).rest(Mode::Inherit),
    plain("default_parameter", &[("name", Mode::Bind)]),
    plain("typed_default_parameter", &[("name", Mode::Bind)]),
    rest("list_splat_pattern", Mode::Inherit),
    rest("dictionary_splat_pattern", Mode::Inherit),
    plain("augmented_assignment", &[("left", Mode::Use)]),
    plain("for_statement", &[("left", Mode::Bind)]),
    plain("for_in_clause", &[("left", Mode::Bind)]),
    plain("named_expression", &[("name", Mode::Bind)]),
    rest("as_pattern_target", Mode::Bind),
    rest("pattern_list", Mode::Inherit),
    rest("tuple_pattern", Mode::Inherit),
    rest("list_pattern", Mode::Inherit),
];

/// Each module is one import.
fn modules(finder: &mut Finder<'_>, node: Node<'_>) {
    for module in in_field(node, "name") {
        finder.import([finder.text(module)]);
    }
}

fn names(finder: &mut Finder<'_>, node: Node<'_>) {
    let module = node.child_by_field_name("module_name").map_or("__future__", |module| finder.text(module));
    let mut pieces = vec![module, ": "];
    for name in in_field(node, "name") {
        if pieces.len() > 2 {
            pieces.push(", ");
        }
        pieces.push(finder.text(name));
    }
    if pieces.len() == 2 {
        pieces.push("*");
    }
    finder.import(pieces);
}

fn definition(finder: &mut Finder<'_>, node: Node<'_>) {
    let kind = if node.kind() == "class_definition" { Kind::Class } else { Kind::Function };
    finder.named(kind, node);
}

fn decorated(finder: &mut Finder<'_>, node: Node<'_>) {
    if let Some(inner) = node.child_by_field_name("definition") {
        definition(finder, inner);
    }
}

fn alias(finder: &mut Finder<'_>, node: Node<'_>) {
    if let Some(name) = node.child_by_field_name("left") {
        let pieces = finder.written(node, name.end_byte()..node.end_byte());
        finder.define(Kind::Type, finder.text(name), pieces);
    }
}

/// Only names in capitals are constants. A call may make a type.
fn assignment(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("left").filter(|left| left.kind() == "identifier") else {
        return;
    };
    let kind = node.child_by_field_name("type");
    let value = node.child_by_field_name("right");
    if is_upper_case(finder.text(name)) {
        finder.constant(name, kind.map_or(name.end_byte(), |kind| kind.end_byte()), value);
    } else if kind.is_some_and(|kind| finder.text(kind).ends_with("TypeAlias")) || makes_type(finder, value) {
        let pieces = finder.written(node, name.end_byte()..node.end_byte());
        finder.define(Kind::Type, finder.text(name), pieces);
    }
}

fn is_upper_case(name: &str) -> bool {
    name.len() > 1 && !name.contains(char::is_lowercase) && name.contains(char::is_uppercase)
}

fn makes_type(finder: &Finder<'_>, value: Option<Node<'_>>) -> bool {
    let function =
        value.filter(|value| value.kind() == "call").and_then(|call| call.child_by_field_name("function"));
    let name = function.map(|function| finder.text(function).rsplit('.').next().unwrap_or_default());
    matches!(name, Some("NamedTuple" | "NewType" | "TypeVar" | "TypedDict" | "namedtuple"))
}
