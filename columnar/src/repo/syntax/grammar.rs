//! A grammar with the rules of its language, found by the numbers of kinds and fields.

use std::sync::OnceLock;

use tree_sitter::Node;

use super::language::Language;
use super::languages::{c, go, javascript, python, rust};
use super::rules::{Mode, Role, Rule};

/// The rules of a language.
struct Sources {
    grammar: tree_sitter::Language,
    /// A later rule replaces an earlier one for the same kind.
    rules: &'static [&'static [Rule]],
    known: &'static [&'static str],
    is_hoisted: bool,
}

/// A rule whose fields are numbers.
pub(super) struct Resolved {
    pub(super) role: Role,
    fields: Box<[(u16, Mode)]>,
    rest: Mode,
}

impl Resolved {
    fn of(rest: Mode) -> Self {
        Self { role: Role::Plain, fields: Box::new([]), rest }
    }
}

/// A grammar and the rules for its nodes.
pub(super) struct Grammar {
    pub(super) language: tree_sitter::Language,
    /// The first one is for kinds without a rule.
    rules: Vec<Resolved>,
    /// The rule of each kind.
    by_kind: Box<[u16]>,
    /// The rule for parts of a text that the grammar does not know.
    stray: Resolved,
    /// Names that no repository defines, sorted.
    known: &'static [&'static str],
    /// Whether a name is bound in a whole function, and not from its declaration on.
    pub(super) is_hoisted: bool,
}

impl Grammar {
    /// The grammar of a language. It is made once.
    pub(super) fn of(language: Language) -> &'static Self {
        static GRAMMARS: [OnceLock<Grammar>; 8] = [const { OnceLock::new() }; 8];
        let [rust, python, javascript, typescript, tsx, c, cpp, go] = &GRAMMARS;
        let cell = match language {
            Language::Rust => rust,
            Language::Python => python,
            Language::JavaScript => javascript,
            Language::TypeScript => typescript,
            Language::Tsx => tsx,
            Language::C => c,
            Language::Cpp => cpp,
            Language::Go => go,
        };
        cell.get_or_init(|| Self::resolved(&sources(language)))
    }

    fn resolved(sources: &Sources) -> Self {
        let language = &sources.grammar;
        let mut rules = vec![Resolved::of(Mode::Use)];
        let mut by_kind = vec![0; language.node_kind_count()];
        for rule in sources.rules.iter().copied().flatten() {
            // A kind that only the other language of a table has is missing.
            let kind = usize::from(language.id_for_node_kind(rule.kind, true));
            let fields = rule
                .fields
                .iter()
                .filter_map(|(field, mode)| Some((language.field_id_for_name(field)?.get(), *mode)));
            if let (1.., Some(slot)) = (kind, by_kind.get_mut(kind)) {
                *slot = u16::try_from(rules.len()).unwrap_or_default();
                rules.push(Resolved { role: rule.role, fields: fields.collect(), rest: rule.rest });
            }
        }
        Self {
            language: sources.grammar.clone(),
            rules,
            by_kind: by_kind.into(),
            stray: Resolved::of(Mode::Stray),
            known: sources.known,
            is_hoisted: sources.is_hoisted,
        }
    }

    /// The rule for a node.
    pub(super) fn rule(&self, node: Node<'_>) -> &Resolved {
        // The number of an error is past those of all kinds.
        let index = self.by_kind.get(usize::from(node.kind_id()));
        index.and_then(|index| self.rules.get(usize::from(*index))).unwrap_or(&self.stray)
    }

    /// Whether no repository defines a name.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.known.binary_search(&name).is_ok()
    }
}

impl Resolved {
    /// The mode of a node inside of one with this rule. The field of the node is looked up only if it matters.
    pub(super) fn mode(&self, field: impl FnOnce() -> Option<u16>) -> Mode {
        if self.fields.is_empty() {
            return self.rest;
        }
        let field = field();
        let of_field = self.fields.iter().find(|(id, _)| Some(*id) == field);
        of_field.map_or(self.rest, |(_, mode)| *mode)
    }
}

fn sources(language: Language) -> Sources {
    let (grammar, rules, known, is_hoisted): (_, &'static [&'static [Rule]], _, _) = match language {
        Language::Rust => (tree_sitter_rust::LANGUAGE, &[rust::RULES], rust::KNOWN, false),
        Language::Python => (tree_sitter_python::LANGUAGE, &[python::RULES], python::KNOWN, true),
        Language::JavaScript => {
            (tree_sitter_javascript::LANGUAGE, &[javascript::RULES], javascript::KNOWN, true)
        }
        Language::TypeScript => (
            tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            &[javascript::RULES, javascript::TYPED],
            javascript::KNOWN,
            true,
        ),
        Language::Tsx => (
            tree_sitter_typescript::LANGUAGE_TSX,
            &[javascript::RULES, javascript::TYPED],
            javascript::KNOWN,
            true,
        ),
        Language::C => (tree_sitter_c::LANGUAGE, &[c::RULES], c::KNOWN, false),
        Language::Cpp => (tree_sitter_cpp::LANGUAGE, &[c::RULES, c::PLUS], c::KNOWN, false),
        Language::Go => (tree_sitter_go::LANGUAGE, &[go::RULES], go::KNOWN, false),
    };
    Sources { grammar: grammar.into(), rules, known, is_hoisted }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LANGUAGES: [Language; 8] = [
        Language::Rust,
        Language::Python,
        Language::JavaScript,
        Language::TypeScript,
        Language::Tsx,
        Language::C,
        Language::Cpp,
        Language::Go,
    ];

    /// A kind or field that the grammars do not have would be a rule without an effect.
    #[test]
    fn rules_are_about_kinds_and_fields_of_a_grammar() {
        for all in [&LANGUAGES[..1], &LANGUAGES[1..2], &LANGUAGES[2..5], &LANGUAGES[5..7], &LANGUAGES[7..]] {
            let sources: Vec<_> = all.iter().map(|language| sources(*language)).collect();
            for rule in sources.iter().flat_map(|sources| sources.rules.iter().copied().flatten()) {
                let has = |sources: &Sources| sources.grammar.id_for_node_kind(rule.kind, true) != 0;
                assert!(sources.iter().any(has), "{all:?} have no {}", rule.kind);
                for (field, _) in rule.fields {
                    let has = |sources: &Sources| sources.grammar.field_id_for_name(field).is_some();
                    assert!(sources.iter().any(has), "{all:?} have no field {field}");
                }
            }
        }
    }

    #[test]
    fn known_names_are_sorted() {
        for language in LANGUAGES {
            assert!(sources(language).known.is_sorted(), "{language:?}");
        }
    }
}
