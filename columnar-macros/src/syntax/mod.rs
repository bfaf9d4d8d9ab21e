//! The tree of a flow, and a parser that goes on after a mistake.
//!
//! Compute steps and the arguments of views stay tokens: they are Rust, and rustc says best what is
//! wrong with them.

mod base;
mod column;
mod column_type;
mod cursor;
mod declaration;
mod denial;
mod former;
mod group;
mod habit;
mod header;
mod module;
mod path;
mod view;

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use syn::Attribute;

use crate::diagnostics::{Errors, declarations, flow};
pub(crate) use base::Base;
pub(crate) use column_type::ColumnType;
pub(crate) use denial::Denial;
pub(crate) use former::Former;
pub(crate) use group::Around;
pub(crate) use header::{Header, Param};
pub(crate) use module::Module;
pub(crate) use view::{State, Tag, View};

/// What the macro is given: the path of the runtime crate in brackets, then the declarations.
pub(crate) struct Given {
    pub(crate) krate: TokenStream,
    pub(crate) declarations: TokenStream,
}

pub(crate) fn given(tokens: TokenStream) -> Given {
    let mut tokens = tokens.into_iter();
    let krate = match tokens.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket => group.stream(),
        other => other.into_iter().collect(),
    };
    Given { krate, declarations: tokens.collect() }
}

pub(crate) struct Flow {
    pub(crate) form: Form,
    pub(crate) columns: Vec<Column>,
    /// The flows that it uses.
    pub(crate) modules: Vec<Module>,
    /// Words where a keyword should be, of which no column came to be.
    pub(crate) words: Vec<Ident>,
    /// The tokens of declarations that could not be made out. What they may have declared is not
    /// reported as missing.
    pub(crate) lost: Vec<TokenTree>,
}

pub(crate) enum Form {
    Item(Box<Header>),
    Inline,
    /// Nothing can be declared: an item form without a name, or no tokens at all.
    Unknown,
}

pub(crate) struct Column {
    pub(crate) docs: Vec<Attribute>,
    /// What it does not want to be.
    pub(crate) denied: Vec<Denial>,
    /// `source` or `column`, as it was meant, where it was written.
    pub(crate) keyword: Ident,
    pub(crate) name: Ident,
    /// Whether another one has this name, which has been told. Then the name is made up.
    pub(crate) is_second: bool,
    /// What it was named before.
    pub(crate) former: Option<Former>,
    /// `None` for a source.
    pub(crate) derived: Option<Derived>,
}

pub(crate) struct Derived {
    /// The parentheses, or what stands in their place.
    pub(crate) list: Span,
    pub(crate) views: Vec<View>,
    /// Whether every view could be read; if not, too few of them is no mistake of its own.
    pub(crate) whole: bool,
    /// What its values are JSON of; `None` for text.
    pub(crate) ty: Option<ColumnType>,
    /// Empty where the step is missing.
    pub(crate) step: TokenStream,
}

impl Derived {
    /// The views that show a column.
    pub(crate) fn reads(&self) -> impl Iterator<Item = &View> {
        self.views.iter().filter(|view| view.state != State::Void)
    }
}

impl Flow {
    /// What none of the columns wants to be.
    pub(crate) fn denied(&self) -> &[Denial] {
        match &self.form {
            Form::Item(header) => &header.denied,
            _ => &[],
        }
    }

    /// The flow that this one extends.
    pub(crate) fn base(&self) -> Option<&Base> {
        match &self.form {
            Form::Item(header) => header.base.as_ref(),
            _ => None,
        }
    }

    pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Self {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        if trees.is_empty() {
            errors.on(Span::call_site(), flow::EMPTY_FLOW);
            return Self::of(Form::Unknown, Vec::new());
        }
        if let [TokenTree::Group(braces)] = trees.as_slice()
            && braces.delimiter() == Delimiter::Brace
        {
            errors.on(braces.span_open(), declarations::BRACES);
            return Self::parse(braces.stream(), errors);
        }
        if !header::is_item(&trees) {
            return declaration::parse_all(Form::Inline, &trees, errors);
        }
        let (header, body) = header::parse(&trees, errors);
        let form = header.map_or(Form::Unknown, |header| Form::Item(Box::new(header)));
        match body {
            Some(body) => declaration::parse_all(form, &trees_of(&body), errors),
            None => Self::of(form, trees),
        }
    }

    /// One that declares nothing that could be made out.
    fn of(form: Form, lost: Vec<TokenTree>) -> Self {
        Self { form, columns: Vec::new(), modules: Vec::new(), words: Vec::new(), lost }
    }
}

fn trees_of(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn tokens(trees: &[TokenTree]) -> TokenStream {
    trees.iter().cloned().collect()
}
