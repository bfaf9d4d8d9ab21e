//! Declarators of C: the name may be inside of any number of others, and the type stands before all of them, as in
//! `int *(*names[2])(int)`.

use std::ops::Range;

use tree_sitter::Node;

/// Words that are neither types nor names.
const KEYWORDS: [&str; 10] =
    ["class", "enum", "friend", "inline", "namespace", "struct", "template", "typename", "union", "using"];

/// What a declarator declares.
pub(super) struct Declared<'n> {
    pub(super) name: Node<'n>,
    pub(super) is_function: bool,
    pub(super) value: Option<Node<'n>>,
    /// The declarator without a value.
    range: Range<usize>,
}

impl<'n> Declared<'n> {
    pub(super) fn of(declarator: Node<'n>) -> Self {
        let value = declarator.child_by_field_name("value");
        let outer = declarator.child_by_field_name("declarator").filter(|_| value.is_some());
        let outer = outer.unwrap_or(declarator);
        let mut name = outer;
        let mut is_function = outer.kind() == "operator_cast";
        while let Some(inner) = inside(name) {
            // `int (*show)(int)` is a variable.
            if name.kind() == "function_declarator" {
                is_function = inner.kind() != "parenthesized_declarator";
            }
            name = inner;
        }
        Self { name, is_function, value, range: outer.byte_range() }
    }

    /// The range behind the name.
    pub(super) fn rest(&self) -> Range<usize> {
        self.name.end_byte()..self.range.end
    }

    /// Whether the name or its type is a keyword: behind a macro that the grammar does not know, it takes the next words for
    /// both.
    pub(super) fn is_misread(&self, definition: Node<'_>, text: &str) -> bool {
        let parts = [Some(self.name), definition.child_by_field_name("type")].into_iter().flatten();
        parts.into_iter().any(|part| KEYWORDS.contains(&text.get(part.byte_range()).unwrap_or_default()))
    }

    /// The type before the name, in a definition: qualifiers, the name of the type, and stars.
    pub(super) fn type_in(&self, definition: Node<'_>, text: &str) -> String {
        let Some(of) = definition.child_by_field_name("type") else { return String::new() };
        let mut cursor = definition.walk();
        let mut children = definition.children(&mut cursor);
        let first = children.find(|child| child.kind() == "type_qualifier" || *child == of).unwrap_or(of);
        // A type may be defined in the same place.
        let end = of.child_by_field_name("body").map_or(of.end_byte(), |body| body.start_byte());
        let named = text.get(first.start_byte()..end).unwrap_or_default().trim_end();
        let stars = text.get(self.range.start..self.name.start_byte()).unwrap_or_default().trim();
        match stars {
            // A name may be in parentheses of its own.
            "" | "(" => format!("{named}{stars}"),
            _ => format!("{named} {}", stars.replace("* (", "*(")),
        }
    }
}

fn inside(declarator: Node<'_>) -> Option<Node<'_>> {
    match declarator.kind() {
        "operator_cast" => None,
        "attributed_declarator" => declarator.named_child(0),
        "reference_declarator" | "parenthesized_declarator" => {
            let last = declarator.named_child_count().checked_sub(1)?;
            declarator.named_child(u32::try_from(last).ok()?)
        }
        _ => declarator.child_by_field_name("declarator"),
    }
}

/// A name without the arguments of templates in it: `View::show` for `View<T>::show`.
pub(super) fn plain_name(name: &str) -> String {
    if name.contains("operator") {
        return name.to_owned();
    }
    let mut depth = 0_usize;
    let outside = name.chars().filter(|c| {
        depth += usize::from(*c == '<');
        let is_kept = depth == 0;
        depth = depth.saturating_sub(usize::from(*c == '>'));
        is_kept
    });
    outside.collect()
}
