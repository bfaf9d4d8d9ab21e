//! The rules of C, and those that C++ adds.

use tree_sitter::Node;

use super::super::finder::{Finder, in_field};
use super::super::line::{SIGNATURE, joined};
use super::super::rules::{Mode, Role, Rule, define, import, plain, rest, skip};
use super::super::symbols::Kind;

/// Names that no repository defines.
pub(in super::super) const KNOWN: &[&str] = &[
    "FALSE",
    "NULL",
    "TRUE",
    "bool",
    "defined",
    "false",
    "int16_t",
    "int32_t",
    "int64_t",
    "int8_t",
    "memcpy",
    "memset",
    "nullptr",
    "ptrdiff_t",
    "size_t",
    "ssize_t",
    "std",
    "this",
    "true",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "uintptr_t",
    "va_list",
];

pub(in super::super) const RULES: &[Rule] = &[
    skip("comment"),
    skip("string_literal"),
    skip("system_lib_string"),
    skip("attribute_specifier"),
    Rule::new("identifier", Role::Name),
    Rule::new("type_identifier", Role::Type),
    Rule::new("field_identifier", Role::Member),
    import("preproc_include", include),
    define("preproc_function_def", macro_definition),
    define("preproc_def", constant_definition),
    plain("preproc_ifdef", &[("name", Mode::Skip)]),
    rest("preproc_defined", Mode::Skip),
    rest("preproc_params", Mode::Skip),
    Rule::new("function_definition", Role::Define(function)).fields(&[("declarator", Mode::Bind)]),
    Rule::new("declaration", Role::Define(declaration)).fields(&[("declarator", Mode::Bind)]),
    Rule::new("type_definition", Role::Define(type_definition)).fields(&[("declarator", Mode::Skip)]),
    define("struct_specifier", specifier).fields(&[("name", Mode::Use)]),
    define("union_specifier", specifier).fields(&[("name", Mode::Use)]),
    define("enum_specifier", specifier).fields(&[("name", Mode::Use)]),
    plain("enumerator", &[("name", Mode::Skip)]),
    plain("call_expression", &[("function", Mode::Callee)]),
    plain("field_expression", &[("field", Mode::Member)]),
    // Declarators.
    plain("parameter_declaration", &[("declarator", Mode::Bind)]),
    plain("init_declarator", &[("declarator", Mode::Inherit)]),
    plain("pointer_declarator", &[("declarator", Mode::Inherit)]),
    plain("array_declarator", &[("declarator", Mode::Inherit)]),
    plain("function_declarator", &[("declarator", Mode::Inherit)]),
    rest("parenthesized_declarator", Mode::Inherit),
    rest("attributed_declarator", Mode::Inherit),
];

pub(in super::super) const PLUS: &[Rule] = &[
    skip("raw_string_literal"),
    skip("attribute_declaration"),
    Rule::new("namespace_identifier", Role::Type),
    define("class_specifier", specifier).fields(&[("name", Mode::Use)]),
    define("namespace_definition", |finder, node| finder.named(Kind::Module, node))
        .fields(&[("name", Mode::Skip)]),
    define("alias_declaration", |finder, node| finder.named(Kind::Type, node)),
    define("concept_definition", |finder, node| finder.named(Kind::Trait, node)),
    Rule::new("field_declaration", Role::Define(member)),
    Rule::new("template_declaration", Role::Define(template)).rest(Mode::Defined),
    Rule::new("lambda_expression", Role::Closure),
    plain("qualified_identifier", &[("name", Mode::Inherit)]),
    plain("template_function", &[("name", Mode::Inherit)]),
    plain("template_method", &[("name", Mode::Inherit)]),
    rest("dependent_name", Mode::Inherit),
    rest("reference_declarator", Mode::Inherit),
    rest("structured_binding_declarator", Mode::Bind),
    plain("optional_parameter_declaration", &[("declarator", Mode::Bind)]),
    plain("variadic_parameter_declaration", &[("declarator", Mode::Bind)]),
    rest("variadic_declarator", Mode::Inherit),
    plain("for_range_loop", &[("declarator", Mode::Bind)]),
    rest("type_parameter_declaration", Mode::BindType),
    rest("variadic_type_parameter_declaration", Mode::BindType),
    plain("optional_type_parameter_declaration", &[("name", Mode::BindType)]),
];

fn include(finder: &mut Finder<'_>, node: Node<'_>) {
    if let Some(path) = node.child_by_field_name("path") {
        finder.import([finder.text(path)]);
    }
}

fn macro_definition(finder: &mut Finder<'_>, node: Node<'_>) {
    if let (Some(name), Some(parameters)) =
        (node.child_by_field_name("name"), node.child_by_field_name("parameters"))
    {
        // The lines of a macro end with this sign.
        finder.define(Kind::Macro, finder.text(name), finder.text(parameters).split('\\'));
    }
}

/// A macro without a value guards a header, or is a flag for the preprocessor.
fn constant_definition(finder: &mut Finder<'_>, node: Node<'_>) {
    if let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value")) {
        // The grammar counts a comment on the line to the value.
        let text = finder.text(value);
        let text = text.split("//").next().unwrap_or_default().split("/*").next().unwrap_or_default().trim();
        let is_short = text.len() <= 40 && !text.is_empty();
        finder.define(Kind::Constant, finder.text(name), if is_short { ["= ", text] } else { ["", ""] });
    }
}

/// Words that are neither types nor names.
const KEYWORDS: [&str; 10] =
    ["class", "enum", "friend", "inline", "namespace", "struct", "template", "typename", "union", "using"];

/// The name in a declarator, and the declarator of a function with that name.
struct Declared<'n> {
    name: Node<'n>,
    function: Option<Node<'n>>,
    start: usize,
}

impl<'n> Declared<'n> {
    fn of(mut node: Node<'n>) -> Option<Self> {
        let mut function = None;
        let start = node.start_byte();
        loop {
            let inner = match node.kind() {
                "function_declarator" => {
                    let inner = node.child_by_field_name("declarator")?;
                    // `int (*show)(int)` is a variable.
                    function = (inner.kind() != "parenthesized_declarator").then_some(node);
                    inner
                }
                "reference_declarator" | "parenthesized_declarator" | "attributed_declarator" => {
                    let last = node.named_child_count().checked_sub(1)?;
                    node.named_child(u32::try_from(last).ok()?)?
                }
                _ => match node.child_by_field_name("declarator") {
                    Some(inner) if node.kind() != "operator_cast" => inner,
                    _ => return Some(Self { name: node, function, start }),
                },
            };
            node = inner;
        }
    }
}

/// The type before a declarator: qualifiers, the name of the type, and stars.
fn type_before<'t>(finder: &Finder<'t>, node: Node<'_>, declared: &Declared<'_>) -> Vec<&'t str> {
    let Some(of) = node.child_by_field_name("type") else { return Vec::new() };
    let mut cursor = node.walk();
    let first = node.children(&mut cursor).find(|child| child.kind() == "type_qualifier" || *child == of);
    let start = first.map_or(of.start_byte(), |first| first.start_byte().min(of.start_byte()));
    // A type may be defined in the same place.
    let end = of.child_by_field_name("body").map_or(of.end_byte(), |body| body.start_byte());
    let stars = finder.slice(declared.start..declared.name.start_byte()).trim();
    let mut pieces = vec![finder.slice(start..end).trim_end()];
    if !stars.is_empty() {
        pieces.extend([" ", stars]);
    }
    pieces
}

/// A name without the arguments of templates in it: `View::show` for `View<T>::show`.
fn plain_name(name: &str) -> String {
    if name.contains("operator") {
        return name.to_owned();
    }
    let mut depth = 0_usize;
    let is_kept = |c: &char| {
        depth += usize::from(*c == '<');
        let is_kept = depth == 0;
        depth = depth.saturating_sub(usize::from(*c == '>'));
        is_kept
    };
    name.chars().filter(is_kept).collect()
}

/// `(int n) -> const char *`, as a return type stands in C++ if it stands after the parameters.
fn add_function(finder: &mut Finder<'_>, node: Node<'_>, declared: &Declared<'_>) {
    let Some(function) = declared.function else { return };
    let mut pieces = finder.written(function, declared.name.end_byte()..function.end_byte());
    let returned = type_before(finder, node, declared);
    let is_trailing =
        function.named_children(&mut function.walk()).any(|child| child.kind() == "trailing_return_type");
    if !matches!(returned.as_slice(), [] | ["void"]) && !is_trailing {
        pieces.push(" -> ");
        pieces.extend(returned);
    }
    finder.define(Kind::Function, &plain_name(finder.text(declared.name)), pieces);
}

fn add_variable(finder: &mut Finder<'_>, node: Node<'_>, declarator: Node<'_>, declared: &Declared<'_>) {
    // Behind a macro that the grammar does not know, it takes the next words for a type and a name.
    let is_keyword = |part: Node<'_>| KEYWORDS.contains(&finder.text(part));
    if is_keyword(declared.name) || node.child_by_field_name("type").is_some_and(is_keyword) {
        return;
    }
    let mut pieces = vec![": "];
    pieces.extend(type_before(finder, node, declared));
    let (end, value) = match declarator.child_by_field_name("value") {
        Some(value) if declarator.kind() == "init_declarator" => (
            declarator
                .child_by_field_name("declarator")
                .map_or(declarator.end_byte(), |inner| inner.end_byte()),
            Some(value),
        ),
        _ => (declarator.end_byte(), node.child_by_field_name("default_value")),
    };
    pieces.push(finder.slice(declared.name.end_byte()..end));
    if let Some(value) = finder.value(value) {
        pieces.extend([" = ", value]);
    }
    finder.define(Kind::Constant, finder.text(declared.name), pieces);
}

fn function(finder: &mut Finder<'_>, node: Node<'_>) {
    let declared = node.child_by_field_name("declarator").and_then(Declared::of);
    if let Some(declared) = declared {
        if declared.name.kind() == "operator_cast" {
            return finder.define(Kind::Function, finder.text(declared.name), []);
        }
        add_function(finder, node, &declared);
    }
}

/// Functions and variables. Variables whose type is defined in the same place leave the place to the type.
fn declaration(finder: &mut Finder<'_>, node: Node<'_>) {
    let defines_type = node.child_by_field_name("type").is_some_and(|of| {
        of.child_by_field_name("body").is_some() && of.child_by_field_name("name").is_some()
    });
    if defines_type {
        return;
    }
    for declarator in in_field(node, "declarator") {
        let Some(declared) = Declared::of(declarator) else { continue };
        if declared.function.is_some() {
            add_function(finder, node, &declared);
        } else {
            add_variable(finder, node, declarator, &declared);
        }
    }
}

/// Functions, and the constants of a class.
fn member(finder: &mut Finder<'_>, node: Node<'_>) {
    let is_static =
        node.children(&mut node.walk()).any(|child| matches!(finder.text(child), "static" | "constexpr"));
    for declarator in in_field(node, "declarator") {
        let Some(declared) = Declared::of(declarator) else { continue };
        if declared.function.is_some() {
            add_function(finder, node, &declared);
        } else if is_static {
            add_variable(finder, node, declarator, &declared);
        }
    }
}

/// A class, struct, union or enum, if it is defined here and not only used.
fn specifier(finder: &mut Finder<'_>, node: Node<'_>) {
    if node.child_by_field_name("body").is_none() {
        return;
    }
    match node.kind() {
        "enum_specifier" => finder.variants(node),
        _ => finder.named(Kind::Class, node),
    }
}

/// A type without a name has the name of the definition. A type with the same name is the definition.
fn type_definition(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(of) = node.child_by_field_name("type") else { return };
    let tag = of.child_by_field_name("name");
    let body = of.child_by_field_name("body");
    for declarator in in_field(node, "declarator") {
        let Some(Declared { name, .. }) = Declared::of(declarator) else { continue };
        let text = finder.text(name);
        match (tag, body) {
            (Some(tag), Some(_)) if finder.text(tag) == text => {}
            (None, Some(body)) if of.kind() == "enum_specifier" => {
                let variants = finder.variants_of(body);
                finder.define(Kind::Enum, text, [variants.as_str()]);
            }
            (None, Some(_)) => finder.define(Kind::Class, text, []),
            _ => {
                let end = body.map_or(name.start_byte(), |body| body.start_byte());
                let before = finder.slice(of.start_byte()..end).trim_end();
                let after = finder.slice(name.end_byte()..declarator.end_byte());
                finder.define(Kind::Type, text, ["= ", before, after]);
            }
        }
    }
}

/// A template is the definition in it, with short parameters before the signature.
fn template(finder: &mut Finder<'_>, node: Node<'_>) {
    let Some(inner) = node.named_children(&mut node.walk()).last() else { return };
    match inner.kind() {
        "function_definition" => function(finder, inner),
        "declaration" => declaration(finder, inner),
        "alias_declaration" => finder.named(Kind::Type, inner),
        "concept_definition" => finder.named(Kind::Trait, inner),
        "class_specifier" | "struct_specifier" | "union_specifier" => specifier(finder, inner),
        _ => {}
    }
    let parameters = node.child_by_field_name("parameters");
    let Some(parameters) = finder.value(parameters) else { return };
    for header in &mut finder.headers {
        let gap = if header.signature.starts_with('(') { "" } else { " " };
        header.signature = joined([parameters, gap, &header.signature], SIGNATURE);
    }
}
