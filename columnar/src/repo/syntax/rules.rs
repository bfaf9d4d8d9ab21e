//! Rules: how a walk reads the nodes of a kind.

use tree_sitter::Node;

use super::finder::Finder;

/// A function that describes a definition or an import.
pub(super) type Find = for<'t> fn(&mut Finder<'t>, Node<'_>);

/// The meaning of a node.
#[derive(Clone, Copy)]
pub(super) enum Role {
    /// Only the nodes in it have a meaning.
    Plain,
    /// Nothing in it has a meaning: a comment or a literal.
    Skip,
    /// A name of a value, or of anything in languages whose grammars do not tell types apart.
    Name,
    /// A name of a type, which no variable hides.
    Type,
    /// A name after a dot, of a function or a field.
    Member,
    /// A name that is bound wherever it stands.
    Binding,
    /// A function without a name: definitions in it are local.
    Closure,
    /// A definition, unless it is local.
    Define(Find),
    /// An import. Names in it are used by the file.
    Import(Find),
    /// A statement that is an import or a definition.
    Declare(Find),
}

/// The meaning that the place of a node adds to its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Names are used.
    Use,
    /// Names are bound from the end of the node.
    Bind,
    /// Names are bound from the end of the node around it: `let view = view();` uses the function `view`.
    BindAfter,
    /// Names are bound, of types.
    BindType,
    /// Names are bound if they begin with a small letter, like [`Mode::Bind`]. Other ones are constants.
    Match,
    /// Like [`Mode::Match`], from the end of the node around it.
    MatchAfter,
    /// The node is called.
    Callee,
    /// The name of a member: used where the node around it is called.
    Member,
    /// The name of a member that is called.
    Called,
    /// The name of a member that is not called: a field, or a constant or type of a module.
    Uncalled,
    /// The path before a name: not used where the name is imported.
    Path,
    /// A name of an element: one of a component begins with a capital.
    Tag,
    /// Names between tokens without a structure.
    Token,
    /// Names in a part of the text that the grammar does not know.
    Stray,
    /// The definition around it is the same one.
    Defined,
    /// The mode of the node around it.
    Inherit,
    /// The node is not visited.
    Skip,
}

/// How the nodes of a kind are read.
pub(super) struct Rule {
    pub(super) kind: &'static str,
    pub(super) role: Role,
    /// The modes of the nodes in its fields.
    pub(super) fields: &'static [(&'static str, Mode)],
    /// The mode of all other nodes in it.
    pub(super) rest: Mode,
}

impl Rule {
    pub(super) const fn new(kind: &'static str, role: Role) -> Self {
        Self { kind, role, fields: &[], rest: Mode::Use }
    }

    pub(super) const fn fields(self, fields: &'static [(&'static str, Mode)]) -> Self {
        Self { fields, ..self }
    }

    pub(super) const fn rest(self, rest: Mode) -> Self {
        Self { rest, ..self }
    }
}

pub(super) const fn plain(kind: &'static str, fields: &'static [(&'static str, Mode)]) -> Rule {
    Rule::new(kind, Role::Plain).fields(fields)
}

pub(super) const fn rest(kind: &'static str, rest: Mode) -> Rule {
    Rule::new(kind, Role::Plain).rest(rest)
}

pub(super) const fn skip(kind: &'static str) -> Rule {
    Rule::new(kind, Role::Skip)
}

pub(super) const fn define(kind: &'static str, find: Find) -> Rule {
    Rule::new(kind, Role::Define(find)).fields(&[("name", Mode::Bind)])
}

pub(super) const fn import(kind: &'static str, find: Find) -> Rule {
    Rule::new(kind, Role::Import(find))
}
