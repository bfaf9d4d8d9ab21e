//! The rules of Rust.

use tree_sitter::Node;

use super::super::finder::Finder;
use super::super::rules::{Mode, Role, Rule, define, import, plain, rest, skip};
use super::super::symbols::Kind;

/// Names that no repository defines.
pub(in super::super) const KNOWN: &[&str] = &[
    "Box",
    "Err",
    "None",
    "Ok",
    "Option",
    "Self",
    "Some",
    "String",
    "Vec",
    "alloc",
    "allow",
    "bool",
    "cfg",
    "cfg_attr",
    "char",
    "clippy",
    "core",
    "deny",
    "derive",
    "doc",
    "expect",
    "f32",
    "f64",
    "i128",
    "i16",
    "i32",
    "i64",
    "i8",
    "inline",
    "isize",
    "must_use",
    "non_exhaustive",
    "self",
    "std",
    "str",
    "test",
    "u128",
    "u16",
    "u32",
    "u64",
    "u8",
    "usize",
    "warn",
];

pub(in super::super) const RULES: &[Rule] = &[
    skip("block_comment"),
    skip("line_comment"),
    skip("string_literal"),
    skip("raw_string_literal"),
    skip("visibility_modifier"),
    skip("lifetime"),
    skip("label"),
    Rule::new("identifier", Role::Name),
    Rule::new("type_identifier", Role::Type),
    Rule::new("field_identifier", Role::Member),
    Rule::new("shorthand_field_identifier", Role::Binding),
    import("use_declaration", use_declaration),
    import("extern_crate_declaration", extern_crate),
    plain("use_as_clause", &[("alias", Mode::Skip)]),
    // Of `use a::b::{c, d::e}`, the names `c` and `e` are imported.
    plain("scoped_use_list", &[("path", Mode::Skip)]),
    plain("scoped_identifier", &[("path", Mode::Path)]),
    plain("attribute", &[("arguments", Mode::Skip)]),
    define("function_item", |finder, node| finder.named(Kind::Function, node)),
    define("function_signature_item", |finder, node| finder.named(Kind::Function, node)),
    define("mod_item", |finder, node| finder.named(Kind::Module, node)),
    define("trait_item", |finder, node| finder.named(Kind::Trait, node)),
    define("union_item", |finder, node| finder.named(Kind::Class, node)),
    define("struct_item", struct_item),
    define("enum_item", variants),
    define("type_item", |finder, node| finder.named(Kind::Type, node)),
    define("associated_type", |finder, node| finder.named(Kind::Type, node)),
    define("const_item", constant),
    define("static_item", constant),
    define("macro_definition", macro_definition),
    define("impl_item", impl_item),
    plain("enum_variant", &[("name", Mode::Skip)]),
    plain("macro_rule", &[("left", Mode::Skip)]),
    rest("token_tree", Mode::Token),
    rest("token_repetition", Mode::Token),
    plain("type_parameter", &[("name", Mode::BindType)]),
    plain("const_parameter", &[("name", Mode::BindType)]),
    plain("call_expression", &[("function", Mode::Callee)]),
    plain("generic_function", &[("function", Mode::Inherit)]),
    plain("field_expression", &[("field", Mode::Member)]),
    // Patterns.
    plain("let_declaration", &[("pattern", Mode::MatchAfter)]),
    plain("let_condition", &[("pattern", Mode::MatchAfter)]),
    plain("match_arm", &[("pattern", Mode::Match)]),
    plain("for_expression", &[("pattern", Mode::Match)]),
    plain("parameter", &[("pattern", Mode::Match)]),
    rest("closure_parameters", Mode::Match),
    plain("match_pattern", &[("condition", Mode::Use)]).rest(Mode::Inherit),
    plain("field_pattern", &[("name", Mode::Inherit)]).rest(Mode::Inherit),
    plain("tuple_struct_pattern", &[("type", Mode::Use)]).rest(Mode::Inherit),
    plain("struct_pattern", &[("type", Mode::Use)]).rest(Mode::Inherit),
    rest("tuple_pattern", Mode::Inherit),
    rest("slice_pattern", Mode::Inherit),
    rest("ref_pattern", Mode::Inherit),
    rest("mut_pattern", Mode::Inherit),
    rest("reference_pattern", Mode::Inherit),
    rest("or_pattern", Mode::Inherit),
    rest("captured_pattern", Mode::Inherit),
];

fn variants(finder: &mut Finder<'_>, node: Node<'_>) {
    finder.variants(node);
}

fn use_declaration(finder: &mut Finder<'_>, node: Node<'_>) {
    if let Some(argument) = node.child_by_field_name("argument") {
        finder.import(finder.written(argument, argument.byte_range()));
    }
}

fn extern_crate(finder: &mut Finder<'_>, node: Node<'_>) {
    if let Some(name) = node.child_by_field_name("name") {
        finder.import([finder.text(name)]);
    }
}

fn struct_item(finder: &mut Finder<'_>, node: Node<'_>) {
    let body = node.child_by_field_name("body");
    let Some(fields) = body.filter(|body| body.kind() == "ordered_field_declaration_list") else {
        return finder.named(Kind::Class, node);
    };
    // Most structs of this form wrap one value, whose type says more than a name of a field would.
    if let Some(name) = node.child_by_field_name("name") {
        let pieces = finder.written(node, name.end_byte()..fields.end_byte());
        finder.define(Kind::Class, finder.text(name), pieces);
    }
}

fn constant(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let end = node.child_by_field_name("type").map_or(name.end_byte(), |kind| kind.end_byte());
    finder.constant(name, end, node.child_by_field_name("value"));
}

/// The patterns of the first rule are the signature.
fn macro_definition(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(name) = node.child_by_field_name("name") else { return };
    let rule = node.named_children(&mut node.walk()).find(|child| child.kind() == "macro_rule");
    let pattern = rule.and_then(|rule| rule.child_by_field_name("left"));
    let pieces = pattern.map(|pattern| finder.written(pattern, pattern.byte_range())).unwrap_or_default();
    finder.define(Kind::Macro, finder.text(name), pieces);
}

fn impl_item(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(of) = node.child_by_field_name("type") else { return };
    let start = node.child_by_field_name("trait").unwrap_or(of).start_byte();
    let end = node.child_by_field_name("body").map_or(of.end_byte(), |body| body.start_byte());
    // An implementation without a body is none that Rust knows.
    let mut signature = finder.written(node, start..end);
    let name = finder.text(named_type(of));
    if signature.concat().trim() == name {
        signature.clear();
    }
    finder.define(Kind::Impl, name, signature);
}

/// The name in a type: `View` in `&'a view::View<T>`.
fn named_type(mut node: Node<'_>) -> Node<'_> {
    loop {
        let inner = match node.kind() {
            "generic_type" | "reference_type" | "pointer_type" => node.child_by_field_name("type"),
            "scoped_type_identifier" => node.child_by_field_name("name"),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}
