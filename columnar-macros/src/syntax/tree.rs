//! The syntax tree of a flow.
//!
//! Compute steps and the arguments of modifiers stay tokens: they are Rust, and rustc words the errors
//! in them best. Where something could not be read, the tree says so, so that no later check reports a
//! consequence of an error that is reported already.

use std::collections::HashSet;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Generics, LitStr, Path, Token, Type, Visibility};

use super::cursor::{as_ident, has_token, is_punct};
use super::view::ViewDecl;
use crate::ident::{self, ident_text};
use crate::keywords::is_primitive;

pub(crate) struct FlowDecl {
    pub(crate) form: FlowForm,
    pub(crate) columns: Vec<ColumnDecl>,
    pub(crate) modules: Vec<ModuleDecl>,
    /// Identifiers where a keyword should be, which begin no column yet. An editor completes them.
    pub(crate) partial_keywords: Vec<Ident>,
    /// The tokens of declarations that could not be read. A name among them is not reported as unknown.
    pub(crate) unparsed: Vec<TokenTree>,
}

pub(crate) enum FlowForm {
    Item(Box<FlowHeader>),
    Inline,
    /// No flow can be declared: an item form without a name, or no tokens.
    Unknown,
}

impl FlowDecl {
    /// A flow without declarations.
    pub(super) fn empty(form: FlowForm, unparsed: Vec<TokenTree>) -> Self {
        Self { form, columns: Vec::new(), modules: Vec::new(), partial_keywords: Vec::new(), unparsed }
    }

    /// Drops a base that is only a guess, if a source shows that there is none.
    pub(super) fn without_wrong_base(mut self) -> Self {
        let has_source = self.columns.iter().any(ColumnDecl::is_source);
        if let FlowForm::Item(header) = &mut self.form
            && has_source
        {
            header.base = header.base.take().filter(|base| !base.is_guessed);
        }
        self
    }

    pub(crate) fn header(&self) -> Option<&FlowHeader> {
        match &self.form {
            FlowForm::Item(header) => Some(header),
            FlowForm::Inline | FlowForm::Unknown => None,
        }
    }

    /// The lints that apply to every column.
    pub(crate) fn lints(&self) -> &[Lint] {
        self.header().map_or(&[], |header| &header.lints)
    }

    pub(crate) fn base(&self) -> Option<&BaseDecl> {
        self.header()?.base.as_ref()
    }
}

/// The header of the item form: `pub struct Felt<M: Model>(model: M): Chat<M> where ...`.
pub(crate) struct FlowHeader {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) lints: Vec<Lint>,
    pub(crate) vis: Visibility,
    pub(crate) keyword: Token![struct],
    pub(crate) name: Ident,
    pub(crate) generics: Generics,
    pub(crate) params: Vec<Param>,
    pub(crate) base: Option<BaseDecl>,
    /// Whether generics and parameters could be read. If not, compute steps cannot be checked.
    pub(crate) is_complete: bool,
}

impl FlowHeader {
    /// Whether the user derives a trait.
    pub(crate) fn derives(&self, name: &str) -> bool {
        let derives = self.attrs.iter().filter(|attribute| attribute.path().is_ident("derive"));
        let lists = derives.filter_map(|derive| Some(derive.meta.require_list().ok()?.tokens.clone()));
        lists.flatten().any(|tree| matches!(tree, TokenTree::Ident(of) if ident::is(&of, name)))
    }
}

/// A parameter of `new` or `extend`.
pub(crate) struct Param {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) name: Ident,
    /// `None` if it could not be read.
    pub(crate) ty: Option<Type>,
}

impl Param {
    pub(crate) const fn new(name: Ident, ty: Option<Type>) -> Self {
        Self { docs: Vec::new(), name, ty }
    }

    /// The type, or `impl Sized` if it could not be read.
    pub(crate) fn ty(&self) -> TokenStream {
        // Every argument fits this type, so calls of `new` are no further errors.
        self.ty.as_ref().map_or_else(|| quote!(impl Sized), ToTokens::to_token_stream)
    }

    /// The type behind a `&`, where one with a `+` needs parentheses.
    pub(crate) fn borrowed(&self) -> TokenStream {
        let ty = self.ty();
        let is_sum = match &self.ty {
            Some(Type::ImplTrait(ty)) => ty.bounds.len() > 1,
            Some(Type::TraitObject(ty)) => ty.bounds.len() > 1,
            _ => false,
        };
        if is_sum { quote!(&(#ty)) } else { quote!(&#ty) }
    }

    /// Whether a `*` before the name copies the value: the type is a reference, or one of the small ones.
    pub(crate) fn is_copied_by_deref(&self) -> bool {
        match &self.ty {
            Some(Type::Reference(ty)) => ty.mutability.is_none(),
            Some(Type::Path(ty)) => ty.path.get_ident().is_some_and(|name| is_copied(&ident_text(name))),
            _ => false,
        }
    }

    /// Whether the type cannot be named, since it is or holds an `impl Trait`.
    pub(crate) fn is_impl_trait(&self) -> bool {
        has_token(self.ty(), &|tree| as_ident(tree).is_some_and(|word| word == "impl"))
    }
}

fn is_copied(ty: &str) -> bool {
    is_primitive(ty) && ty != "str"
}

/// The flow that this one extends: `: Chat<M>`.
pub(crate) struct BaseDecl {
    /// `None` if it could not be read.
    pub(crate) path: Option<Path>,
    /// Whether it may be the base of another kind of flow, since the header could not be read.
    pub(super) is_guessed: bool,
}

impl BaseDecl {
    pub(crate) fn name(&self) -> Option<&Ident> {
        self.path.as_ref()?.segments.last().map(|segment| &segment.ident)
    }
}

/// A column, computed or a source.
pub(crate) struct ColumnDecl {
    pub(crate) docs: Vec<Attribute>,
    pub(crate) lints: Vec<Lint>,
    /// `source` or `column`, with the span of the tokens in the source text.
    pub(crate) keyword: Ident,
    pub(crate) name: Ident,
    /// Whether an earlier column has this name, which is reported. Then `name` is generated.
    pub(crate) is_duplicate: bool,
    pub(crate) renamed_from: Option<EarlierName>,
    /// `None` for a source.
    pub(crate) derived: Option<ComputedDecl>,
    /// `None` for text. A source with a type has documents.
    pub(crate) ty: Option<TypeDecl>,
}

/// The parts of a computed column after its name.
pub(crate) struct ComputedDecl {
    /// The parentheses of the views, or the tokens instead of them.
    pub(crate) list: Span,
    pub(crate) views: Vec<ViewDecl>,
    /// Whether every view could be read. If not, a column that reads too little is no error.
    pub(crate) is_complete: bool,
    /// The compute step; empty where it is missing.
    pub(crate) step: TokenStream,
    /// The parts of a compute step that is a closure.
    pub(crate) closure: Option<Closure>,
    /// Whether the step has an error that is reported, which rustc would report again.
    pub(crate) is_step_for_editors: bool,
}

/// A compute step that is a closure: `async |user, topics| …`, or `(async |user, topics| …).retry(3)`.
pub(crate) struct Closure {
    /// `async`.
    pub(crate) asynchronous: Option<Ident>,
    /// `move`.
    pub(crate) by_value: Option<Ident>,
    /// The bars around the parameters.
    pub(crate) bars: [TokenTree; 2],
    /// At least one.
    pub(crate) params: Vec<ClosureParam>,
    /// The tokens after the parameters.
    pub(crate) body: TokenStream,
    /// The outermost first; none if it is the whole step.
    pub(crate) around: Vec<Around>,
}

/// The parentheses or braces around a closure, with the other tokens of the step.
pub(crate) struct Around {
    pub(crate) group: Group,
    /// The statements inside before the closure.
    pub(crate) before: TokenStream,
    /// The policies after the group.
    pub(crate) after: TokenStream,
}

/// A parameter of a compute step: the name of a view, or the context.
pub(crate) struct ClosureParam {
    /// `mut`.
    pub(crate) mutable: Option<Ident>,
    pub(crate) name: Ident,
    pub(crate) ty: Option<TokenStream>,
}

impl ClosureParam {
    /// Whether the type is `Context`, by any path.
    pub(crate) fn is_context(&self) -> bool {
        self.last_of_type().is_some_and(|last| ident_text(&last) == "Context")
    }

    /// Whether it has the type `Option<…>`.
    pub(crate) fn is_optional(&self) -> bool {
        self.last_of_type().is_some_and(|last| ident_text(&last) == "Option")
    }

    /// Whether it has a type that inputs may have: a text, several or none, or a number.
    pub(crate) fn has_type_of_input(&self) -> bool {
        let is_reference = self.ty.clone().is_some_and(|ty| is_punct(ty.into_iter().next().as_ref(), '&'));
        let last = self.last_of_type().map(|last| ident_text(&last)).unwrap_or_default();
        is_reference || is_copied(&last) || ["Option", "String", "Value", "Vec"].contains(&&*last)
    }

    /// The name of the type, without its path and its arguments.
    fn last_of_type(&self) -> Option<Ident> {
        let path: Path = syn::parse2(self.ty.clone()?).ok()?;
        Some(path.segments.last()?.ident.clone())
    }
}

impl ColumnDecl {
    /// A column with a name and nothing else yet, or a source for the keyword `source`.
    pub(super) fn unread(docs: Vec<Attribute>, keyword: Ident, name: Ident) -> Self {
        let derived = (ident_text(&keyword) == "column").then(|| ComputedDecl::unread(name.span()));
        Self {
            docs,
            lints: Vec::new(),
            keyword,
            name,
            is_duplicate: false,
            renamed_from: None,
            derived,
            ty: None,
        }
    }

    pub(crate) fn is_source(&self) -> bool {
        self.derived.is_none()
    }

    /// Whether this is a source of documents.
    pub(crate) fn has_documents(&self) -> bool {
        self.is_source() && self.ty.is_some()
    }

    /// The type of the values of a computed column, if the type could be read; `None` for text.
    pub(crate) fn value_type(&self) -> Option<&TypeDecl> {
        self.ty.as_ref().filter(|ty| !self.is_source() && !ty.is_partial && !ty.ty.is_empty())
    }

    /// The view that a parameter of the compute step names.
    pub(crate) fn view_of(&self, param: &ClosureParam) -> Option<&ViewDecl> {
        self.derived.as_ref()?.view_of(&self.name, param)
    }

    /// The views that show a column; none for a source.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &ViewDecl> {
        self.derived.iter().flat_map(ComputedDecl::reads)
    }
}

impl FlowDecl {
    /// The names of the columns and the modules.
    pub(crate) fn names(&self) -> impl Iterator<Item = &Ident> {
        let columns = self.columns.iter().map(|column| &column.name);
        columns.chain(self.modules.iter().map(|module| &module.name))
    }

    /// The views of the columns, and the columns that inputs of modules are bound to.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &ViewDecl> {
        let columns = self.columns.iter().flat_map(ColumnDecl::reads);
        columns.chain(self.modules.iter().flat_map(ModuleDecl::reads))
    }

    /// The names of the parameters.
    pub(crate) fn params(&self) -> Vec<String> {
        let params = self.header().into_iter().flat_map(|header| &header.params);
        params.map(|param| ident_text(&param.name)).collect()
    }

    /// The names of the sources of documents.
    pub(crate) fn documents(&self) -> HashSet<String> {
        let documents = self.columns.iter().filter(|column| column.has_documents());
        documents.map(|column| ident_text(&column.name)).collect()
    }
}

impl ComputedDecl {
    /// The parts of a column whose views are unknown, so that none of them is missing.
    pub(super) fn unread(list: Span) -> Self {
        Self {
            list,
            views: Vec::new(),
            is_complete: false,
            step: TokenStream::new(),
            closure: None,
            is_step_for_editors: false,
        }
    }

    /// The closure, if a parameter of it is the name of a view, or should be.
    pub(crate) fn closure_of_inputs(&self, column: &Ident) -> Option<&Closure> {
        self.closure.as_ref().filter(|closure| {
            let mut params = closure.params.iter().filter(|param| !param.is_context());
            params.any(|param| param.ty.is_none() || self.view_of(column, param).is_some())
        })
    }

    /// The view that a parameter of the compute step names: by its tag, or by the name of the column itself.
    pub(crate) fn view_of(&self, column: &Ident, param: &ClosureParam) -> Option<&ViewDecl> {
        let text = ident_text(&param.name);
        // rustc suggests `_user` for a parameter that is not used.
        let mut names = [Some(&*text), text.strip_prefix('_')].into_iter().flatten();
        let view =
            names.find_map(|name| self.reads().find(|view| view.input(column).as_deref() == Some(name)));
        view.filter(|_| !param.is_context())
    }

    /// Takes the compute step out, because it uses inputs that do not exist. An editor completes their names.
    pub(crate) fn drop_step(&mut self, unknown: Vec<Ident>) {
        self.step = TokenStream::new();
        self.closure = None;
        self.views.extend(unknown.into_iter().map(|name| ViewDecl::missing(Some(&name))));
    }

    /// Whether every view could be read and is valid.
    pub(crate) fn has_all_views(&self) -> bool {
        self.is_complete && self.reads().all(ViewDecl::is_valid)
    }

    /// The views that show a column.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &ViewDecl> {
        self.views.iter().filter(|view| view.shows_a_column())
    }
}

/// The type of a column, whose values are JSON of it: `: Score`. The type of a source is `: Documents`.
pub(crate) struct TypeDecl {
    /// The `:`, or the token instead of it.
    pub(crate) colon: Span,
    /// Empty where there is no type, which is reported.
    pub(crate) ty: TokenStream,
    /// Whether it is a path that ends early, `score::`, which is reported. It is only for editors.
    pub(crate) is_partial: bool,
}

impl TypeDecl {
    /// A type that could not be read.
    pub(super) fn unread(colon: Span) -> Self {
        Self { colon, ty: TokenStream::new(), is_partial: false }
    }
}

/// The earlier name of a column: `was "subjects"`.
pub(crate) struct EarlierName {
    /// `was`.
    pub(crate) keyword: Ident,
    pub(crate) name: LitStr,
}

/// A lint of `#[deny(...)]` or `#[allow(...)]`, which has one of the two levels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lint {
    /// The context grows with every step.
    Unbounded,
    /// A request shares only its instruction with the one before.
    UnstablePrefix,
    /// The text of a prompt has the name of a column in braces. This lint is on, and can be allowed.
    LiteralBraces,
    /// A column continues a thread with another model, effort or type, which ends the shared prefix.
    Unshared,
}

impl Lint {
    /// The level that an attribute can set.
    pub(crate) fn level(self) -> &'static str {
        match self {
            Self::Unbounded | Self::UnstablePrefix | Self::Unshared => "deny",
            Self::LiteralBraces => "allow",
        }
    }
}

/// Another flow as a part of this one: `use Debate(arguments) { topic: user } as debate;`.
pub(crate) struct ModuleDecl {
    pub(crate) docs: Vec<Attribute>,
    /// `use`, with the span of the token in the source text.
    pub(crate) keyword: Ident,
    /// The type of the flow.
    pub(crate) path: Path,
    /// In parentheses.
    pub(crate) arguments: Option<Group>,
    pub(crate) inputs: Vec<InputDecl>,
    /// The place of an input that is not typed yet, with the marker of an editor.
    pub(crate) missing: Option<Ident>,
    /// Whether every input could be read. If not, a missing input is no error.
    pub(crate) is_complete: bool,
    pub(crate) name: Ident,
}

impl ModuleDecl {
    /// The columns that its inputs are bound to.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &ViewDecl> {
        self.inputs.iter().filter_map(InputDecl::read)
    }
}

/// A source of a module, and the column of this flow that it is bound to.
pub(crate) struct InputDecl {
    pub(crate) name: Ident,
    /// A view without modifiers; `None` if it could not be read.
    pub(crate) column: Option<ViewDecl>,
}

impl InputDecl {
    /// The column, if it is one.
    pub(crate) fn read(&self) -> Option<&ViewDecl> {
        self.column.as_ref().filter(|view| view.shows_a_column())
    }
}
