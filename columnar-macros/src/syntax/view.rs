//! A view: a column or `self`, and its modifiers, as in `summary.window(3).as("digest")`.
//!
//! The parser makes it once. Checks read its range, tag and groups; the expansion writes its modifiers
//! as they are and looks into none of them.

use std::fmt::Display;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;

use super::cursor::{Cursor, as_ident, is_punct};
use crate::diagnostics::Errors;
use crate::ident::{ident_text, is_gen, replace, rust_ident};
use crate::keywords::{METHODS_OF_HANDLES, MODIFIERS};

pub(crate) struct ViewDecl {
    /// The column it shows, or the module of that column; `self` for the self history.
    pub(crate) base: Ident,
    /// Whether it shows the self history.
    pub(crate) is_self: bool,
    /// The column inside a module: `critic` in `debate.critic`.
    pub(crate) path: Vec<Ident>,
    /// Whether the column is one of the flow that this one extends.
    pub(crate) is_inherited: bool,
    pub(crate) state: ViewState,
    /// `None` where no modifier names one.
    pub(super) window: Option<WindowDecl>,
    /// Whether it shows each value one step later: `prev`.
    pub(crate) is_lagged: bool,
    pub(crate) tag: Tag,
    /// The word `context` or `instruction` that was written first, even if a part of the view is invalid; `None` for a
    /// primary input.
    pub(crate) purpose: Option<Ident>,
    /// The groups around it, the outermost first.
    pub(crate) groups: Vec<GroupTag>,
    /// In the order in which Rust calls them.
    modifiers: Vec<Modifier>,
    /// The tokens of the source text.
    pub(crate) written: TokenStream,
}

/// The tag of a group. Clones are the same group.
#[derive(Clone)]
pub(crate) struct GroupTag {
    /// `group`, as it was written.
    pub(crate) word: Ident,
    pub(crate) span: Span,
    pub(crate) text: Rc<str>,
}

impl GroupTag {
    /// The groups that begin with a view, after the groups around the view before.
    pub(crate) fn opened<'v>(
        before: &[Self],
        groups: &'v [Self],
    ) -> impl Iterator<Item = &'v Self> + use<'v> {
        // Each view has all groups around it; only the first view of a group opens it.
        let open = before.iter().zip(groups).take_while(|(open, group)| open.is_same_group(group)).count();
        groups.iter().skip(open)
    }

    pub(crate) fn is_same_group(&self, other: &Self) -> bool {
        // By pointer: two groups with one tag are an error, and must not look like one group.
        Rc::ptr_eq(&self.text, &other.text)
    }
}

/// Whether a view is valid. If not, that is reported, and its tokens are only for editors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ViewState {
    Valid,
    /// A modifier is invalid.
    Invalid,
    /// It shows no column.
    NoColumn,
}

/// How many values a view shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WindowDecl {
    All,
    Last(usize),
    /// The compiler evaluates the count: `window(MANY)`.
    Computed,
}

/// The tag under which a column is shown.
pub(crate) enum Tag {
    /// The name of the column.
    Name,
    Explicit(Span, String),
    /// It could not be read, so it equals no other.
    Invalid,
}

/// One `.name` or `.name(arguments)`.
struct Modifier {
    kind: ModifierKind,
    /// Whether the compiler knows its value, in a constant that calls the modifier. The graph has any other one as a literal,
    /// and it is only mentioned, so that rustc and editors see it.
    is_constant: bool,
    tokens: TokenStream,
}

impl Modifier {
    fn name(&self) -> String {
        let name = self.tokens.clone().into_iter().find_map(|tree| as_ident(&tree).map(ident_text));
        name.unwrap_or_default()
    }
}

/// The kinds of modifiers, in the order in which Rust calls them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ModifierKind {
    /// `tiered()`
    Tiered,
    /// `target(n)`
    Target,
    /// `compacted()`
    Compacted,
    /// `edits()`, `at_most(factor)`
    Compaction,
    /// `thread()`
    Thread,
    /// `latest`, `window(n)`, `prev`, `all()`, and any word that no view has.
    Range,
    Elided,
    /// `text_only()`
    TextOnly,
    Tag,
    Filter,
    Note,
    /// `context()`, `instruction()`
    Purpose,
}

impl ViewDecl {
    pub(super) fn new(base: Ident, written: TokenStream) -> Self {
        Self {
            is_self: ident_text(&base) == "self",
            base,
            path: Vec::new(),
            is_inherited: false,
            state: ViewState::Valid,
            window: None,
            is_lagged: false,
            tag: Tag::Name,
            purpose: None,
            groups: Vec::new(),
            modifiers: Vec::new(),
            written,
        }
    }

    /// A view that is not typed yet. An editor completes it.
    pub(crate) fn missing(marker: Option<&Ident>) -> Self {
        // `field` replaces `self` with the reader, a field that always exists.
        let base = marker.cloned().unwrap_or_else(|| Ident::new("self", Span::call_site()));
        Self { state: ViewState::NoColumn, ..Self::new(base, TokenStream::new()) }
    }

    /// Reports the first mistake of the view. Others may be due to it.
    pub(crate) fn report(&mut self, at: impl ToTokens, message: impl Display, errors: &mut Errors) {
        if self.is_valid() {
            errors.at(at, message);
        }
        self.state = ViewState::Invalid;
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.state == ViewState::Valid
    }

    pub(super) fn add_modifier(&mut self, kind: ModifierKind, is_constant: bool, tokens: TokenStream) {
        // `latest` and `prev` are fields of a column and not of a view, so the range comes first.
        // Modifiers of one kind keep their order: `window` is called on the result of `prev`.
        let end = self.modifiers.partition_point(|modifier| modifier.kind <= kind);
        self.modifiers.insert(end, Modifier { kind, is_constant, tokens });
    }

    /// Takes the path for modifiers of the base, and not for columns of a module. There are none of these names.
    pub(crate) fn take_path_as_modifiers(&mut self) {
        let length = 2 * self.path.drain(..).count();
        if length > 0 {
            // The dots and names of the user, after the base: editors look for them.
            let tokens = self.written.clone().into_iter().skip(1).take(length).collect();
            self.modifiers.insert(0, Modifier { kind: ModifierKind::Range, is_constant: false, tokens });
        }
    }

    pub(crate) fn shows_a_column(&self) -> bool {
        self.state != ViewState::NoColumn
    }

    /// How many of the last values it shows; 0 for all, and for those that the compiler counts.
    pub(crate) fn count(&self) -> usize {
        match self.window {
            Some(WindowDecl::All) => 0,
            Some(WindowDecl::Last(count)) => count,
            // `prev` alone shows one value. A computed count replaces this one in a constant.
            Some(WindowDecl::Computed) | None => usize::from(self.is_lagged),
        }
    }

    /// The position of the number of values that the compiler counts: of `MANY` in `window(MANY)`.
    pub(crate) fn computed_window(&self) -> Option<Span> {
        let mut modifiers = self.modifiers.iter();
        let window = modifiers.find(|modifier| modifier.is_constant && modifier.name() == "window")?;
        match window.tokens.clone().into_iter().last()? {
            TokenTree::Group(count) => Some(count.stream().into_iter().next()?.span()),
            _ => None,
        }
    }

    /// Whether it shows some last values, and not all.
    pub(crate) fn is_windowed(&self) -> bool {
        self.window.map_or(self.is_lagged, |window| window != WindowDecl::All)
    }

    /// Whether it shows the newest value alone, of this step or of the one before.
    pub(crate) fn is_latest(&self) -> bool {
        self.window.map_or(self.is_lagged, |window| window == WindowDecl::Last(1))
    }

    /// Whether it hides no values.
    pub(crate) fn shows_everything(&self) -> bool {
        self.window == Some(WindowDecl::All) || !self.has(ModifierKind::Range)
    }

    pub(super) fn has(&self, kind: ModifierKind) -> bool {
        self.modifiers.iter().any(|modifier| modifier.kind == kind)
    }

    pub(crate) fn has_modifiers(&self) -> bool {
        !self.modifiers.is_empty()
    }

    /// Whether the graph can have all of it as literals.
    pub(crate) fn is_literal(&self) -> bool {
        let has_constant = self.modifiers.iter().any(|modifier| modifier.is_constant);
        self.groups.is_empty() && !self.has_layout() && !self.is_thread() && !has_constant
    }

    /// Whether it shows documents in tiers.
    pub(crate) fn is_tiered(&self) -> bool {
        self.has(ModifierKind::Tiered)
    }

    /// Whether it shows documents as a log that is compacted.
    pub(crate) fn is_compacted(&self) -> bool {
        self.has(ModifierKind::Compacted)
    }

    /// Whether documents have a layout of their own, and no tag.
    pub(crate) fn has_layout(&self) -> bool {
        self.layout().is_some()
    }

    /// The adjective for a view of documents with a layout of their own.
    pub(crate) fn layout(&self) -> Option<&'static str> {
        let layouts = [(ModifierKind::Tiered, "tiered"), (ModifierKind::Compacted, "compacted")];
        layouts.into_iter().find(|(kind, _)| self.has(*kind)).map(|(_, layout)| layout)
    }

    /// Whether it continues the conversation of its column.
    pub(crate) fn is_thread(&self) -> bool {
        self.has(ModifierKind::Thread)
    }

    /// Whether it is `files.tiered` or the like, without parentheses: `tiered` may also be a column of a module.
    pub(super) fn is_path_to(&self, layout: &str) -> bool {
        !self.has_layout() && matches!(&*self.path, [name] if ident_text(name) == layout)
    }

    /// Whether it ends the system text.
    pub(crate) fn is_instruction(&self) -> bool {
        self.purpose.as_ref().is_some_and(|word| ident_text(word) == "instruction")
    }

    /// The modifiers of these kinds, if there are any.
    pub(crate) fn of_kinds(&self, kinds: &[ModifierKind]) -> Option<TokenStream> {
        let tokens = self.tokens(|modifier| kinds.contains(&modifier.kind));
        (!tokens.is_empty()).then_some(tokens)
    }

    /// The first modifier that hides values, shows them later or counts them.
    pub(crate) fn part(&self) -> Option<&TokenStream> {
        let part = self.modifiers.iter().find(|modifier| match modifier.kind {
            ModifierKind::Filter | ModifierKind::Elided => true,
            // Any other word is reported.
            ModifierKind::Range => ["latest", "window", "prev", "all"].contains(&&*modifier.name()),
            _ => false,
        });
        part.map(|modifier| &modifier.tokens)
    }

    /// All modifiers, as Rust.
    pub(crate) fn modifiers(&self) -> TokenStream {
        self.tokens(|_| true)
    }

    /// The modifiers that the graph has as literals.
    pub(crate) fn literal_modifiers(&self) -> TokenStream {
        self.tokens(|modifier| !modifier.is_constant)
    }

    /// The modifiers that the compiler evaluates.
    pub(crate) fn constant_modifiers(&self) -> TokenStream {
        self.tokens(|modifier| modifier.is_constant)
    }

    /// The modifiers that come after the range, if there are any.
    pub(super) fn labels(&self) -> TokenStream {
        self.tokens(|modifier| modifier.kind > ModifierKind::Range)
    }

    fn tokens(&self, is_taken: impl Fn(&Modifier) -> bool) -> TokenStream {
        let modifiers = self.modifiers.iter().filter(|modifier| is_taken(modifier));
        modifiers.map(|modifier| modifier.tokens.clone()).collect()
    }

    /// The source text, without spaces.
    pub(crate) fn text(&self) -> String {
        // The spaces of `to_string` may change from one compiler to another.
        self.written.to_string().replace(' ', "")
    }

    /// The part of the text that a drawing shows: the column, how much of it, and for which purpose.
    pub(crate) fn drawn_text(&self) -> String {
        let shown = [
            ModifierKind::Tiered,
            ModifierKind::Compacted,
            ModifierKind::Thread,
            ModifierKind::Range,
            ModifierKind::TextOnly,
            ModifierKind::Purpose,
        ];
        let modifiers = self.of_kinds(&shown).unwrap_or_default().to_string().replace(' ', "");
        format!("{}{modifiers}", self.name())
    }

    /// The field that a mention of this view accesses first: the column, or the module of the column. For the
    /// self history that is the column `reader`.
    pub(crate) fn field(&self, reader: &Ident) -> Ident {
        if self.is_self {
            return replace(&self.base, reader);
        }
        // A base that cannot be a name is reported.
        rust_ident(&self.base).unwrap_or_else(|| reader.clone())
    }

    /// The name of the column that it shows, with its module: `debate.critic`.
    pub(crate) fn name(&self) -> String {
        joined([&self.base].into_iter().chain(&self.path))
    }

    /// The name of the column inside a module, if it is one of that module: `critic` of `debate.critic`.
    pub(crate) fn inside(&self, module: &Ident) -> Option<String> {
        let is_inside = !self.path.is_empty() && ident_text(&self.base) == ident_text(module);
        is_inside.then(|| joined(&self.path))
    }

    /// The name under which a compute step of `reader` gets it: its tag, and for the self history the name of the column.
    /// `None` for a tag that could not be read, and for documents with a layout.
    pub(crate) fn input(&self, reader: &Ident) -> Option<String> {
        match &self.tag {
            _ if self.has_layout() => None,
            _ if self.is_self => Some(ident_text(reader)),
            Tag::Name => Some(ident_text(self.last())),
            Tag::Explicit(_, tag) => Some(tag.clone()),
            Tag::Invalid => None,
        }
    }

    /// Whether it shows one value, and not a list: `latest`, `prev`.
    pub(crate) fn is_single(&self) -> bool {
        let ranges = self.modifiers.iter().filter(|modifier| modifier.kind == ModifierKind::Range);
        let mut ranges = ranges.map(Modifier::name).peekable();
        self.is_thread()
            || ranges.peek().is_some() && ranges.all(|range| range == "latest" || range == "prev")
    }

    /// Whether a view of one value has none at some steps, for any values of the column.
    pub(crate) fn may_be_empty(&self) -> bool {
        self.is_lagged || self.is_self || self.has(ModifierKind::Filter)
    }

    /// The name without its last part, if that part may be no column: rustc would take it for a method of the column before it.
    pub(crate) fn before_a_method(&self) -> Option<String> {
        let (last, before) = self.path.split_last()?;
        // Only rustc knows whether a word directly after the name of a module is a column.
        let is_after_a_column = self.is_inherited || !before.is_empty();
        let is_method = METHODS_OF_HANDLES.contains(&&*ident_text(last));
        (is_after_a_column && is_method).then(|| joined([&self.base].into_iter().chain(before)))
    }

    /// The last part of the name; `self` for the self history.
    pub(crate) fn last(&self) -> &Ident {
        self.path.last().filter(|_| !self.is_self).unwrap_or(&self.base)
    }
}

/// Takes the names of columns that come next: identifiers that are not modifiers.
pub(super) fn path(cursor: &mut Cursor<'_>) -> Vec<Ident> {
    let mut path = Vec::new();
    // All other fields are read as modifiers, which report them.
    while let [dot, TokenTree::Ident(name), rest @ ..] = cursor.rest()
        && is_punct(dot, '.')
        && !matches!(rest.first(), Some(TokenTree::Group(_)))
        && !is_modifier(name)
        && !ident_text(name).is_empty()
        && let Some(raw) = rust_ident(name)
        && (raw == *name || is_gen(name))
    {
        path.push(raw);
        cursor.take(2);
    }
    path
}

/// The modifiers with parentheses. A column of a module may have these names, and they are in no path.
const METHODS: [&str; 9] =
    ["compacted", "edits", "at_most", "tiered", "target", "context", "instruction", "text_only", "thread"];

/// Whether this is a modifier, or a name that is often written instead of one.
fn is_modifier(name: &Ident) -> bool {
    let text = ident_text(name);
    let mut others = MODIFIERS.iter().chain(&["all", "named"]);
    !METHODS.contains(&&*text) && others.any(|&modifier| text == modifier)
}

/// The names with dots between.
fn joined<'n>(names: impl IntoIterator<Item = &'n Ident>) -> String {
    names.into_iter().map(ident_text).collect::<Vec<_>>().join(".")
}
