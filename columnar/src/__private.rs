//! The names that the expansions of `flow!` and other macros use. No promise of compatibility covers these names.

pub use columnar_macros::flow;
#[cfg(feature = "insta")]
pub use insta;
pub use std::clone::Clone;
pub use std::default::Default;
pub use std::marker::Sized;
pub use std::ops::Deref;
pub use std::option::Option::{self, None, Some};
// A program may have types of these names.
pub use std::primitive::{str, u8, usize};
pub use std::vec::Vec;
// A path that begins with `::core` finds nothing in edition 2015.
pub use std::{compile_error, format, vec};

pub use ::core;

pub use crate::compute::Step;
pub use crate::compute::inputs::{Inputs, of};
pub use crate::context::documents::Documents;
pub use crate::declare::Name;
pub use crate::declare::graph::View;
pub use crate::declare::graph::constant::{Graph, ModuleColumns, RenamedFrom, Used};
pub use crate::flow::bind::Bind;
pub use crate::flow::generated::{
    Base, BaseOf, Checked, ColumnEnum, ColumnOf, Columns, ColumnsOf, Extends, Itself, Module, OpeningOf,
    TypePlan, is_base, is_module, module,
};
pub use crate::flow::input_type::of_column;
pub use crate::flow::{ColumnId, Derived, Opening, Source, Typed};
pub use crate::history::Value;
pub use crate::run::reopen::IntoOpenOptions;
pub use crate::run::{Result, fmt_variant, listed};
pub use crate::store::Store;

use std::ops::BitOr;
use std::sync::Arc;
use std::{fmt, future};

use crate::compute::inputs::{InputError, step_of_inputs};
use crate::compute::{Context, IntoReply, IntoStep, OutputOfStep};

/// The maximal length of `ORDER` where the compiler cannot count the columns: in the extension of a flow with
/// parameters that the extension shares, and where such a flow is a module.
pub const MAX_COLUMNS: usize = 1024;

/// The maximal number of bytes of the names of columns there.
pub const MAX_NAME_BYTES: usize = 16 * MAX_COLUMNS;

/// The keywords, as methods. rustc reports errors of an argument at the name of the method, and editors show the
/// documentation of the method there.
#[derive(Clone, Copy, Debug)]
pub struct Declare;

impl Declare {
    /// Declares a computed column: `column name(views) = compute;`.
    ///
    /// A view is a column and the part of its history to show: `user` shows all values, `user.latest` the newest one,
    /// `user.window(3)` the last three. `self` shows the values of the column itself at earlier steps, `con.prev` the
    /// value of another column at the step before. A view may have another tag: `summary.latest.as("digest")`.
    /// `group("debate", pro.latest, con.latest)` puts a tag around several views.
    ///
    /// The compute step is any Rust expression up to the `;`: `prompt("...")`, a closure such as
    /// `|cx: Context| async move { ... }`, or a type that implements `Compute`.
    pub fn column<'a, Form>(self, compute: impl IntoStep<'a, Form>) -> Step<'a> {
        compute.into_step()
    }

    /// A compute step that is a closure of the context. rustc says more about a wrong result than in
    /// [`column`](Self::column).
    pub fn column_of_context<'a, F, R, Form>(self, compute: F) -> Step<'a>
    where
        F: Fn(Context) -> R + Send + Sync + 'a,
        R: IntoReply<'a, Form>,
    {
        compute.into_step()
    }

    /// A compute step whose parameters are inputs.
    pub fn column_with_inputs<'a, I, F, R, Form>(
        self,
        inputs: impl Fn(Inputs<'_>) -> std::result::Result<I, InputError> + Send + Sync + 'a,
        compute: F,
    ) -> Step<'a>
    where
        F: Fn(I) -> R + Send + Sync + 'a,
        R: IntoReply<'a, Form>,
    {
        step_of_inputs(inputs, compute)
    }

    /// A compute step that is async, with captured values. `call` calls `compute`, because the future borrows from
    /// `compute`.
    pub fn column_with_values<'a, I, F, O, R, Form>(
        self,
        inputs: impl Fn(Inputs<'_>) -> std::result::Result<I, InputError> + Send + Sync + 'a,
        compute: F,
        call: impl Fn(Arc<F>, I) -> R + Send + Sync + 'a,
    ) -> Step<'a>
    where
        F: AsyncFn(I) -> O + Send + Sync + 'a,
        O: OutputOfStep<'a, Form>,
        R: Future<Output = O> + Send + 'a,
        Form: 'a,
    {
        let compute = Arc::new(compute);
        step_of_inputs(inputs, move |inputs| call(Arc::clone(&compute), inputs))
    }

    /// Declares a source: `source name;`. Your program pushes the values. `source files: Documents;` is a source of
    /// documents.
    pub const fn source(self, column: usize, name: &'static str) -> Source {
        Source::__new(column, name)
    }
}

/// An input whose parameter names its type.
#[derive(Debug)]
pub struct Input<T>(pub T);

impl<T> Input<T> {
    /// The input as this type, which is its own type.
    pub fn named<N: NamedType<T>>(self) -> N {
        N::named(self.0)
    }
}

/// The type of an input, which is `T`. This conversion makes rustc report another type at that type, and not at the
/// whole closure.
#[diagnostic::on_unimplemented(
    message = "this input is `{T}`, not `{Self}`",
    label = "write `{T}`, or drop the type"
)]
pub trait NamedType<T> {
    /// The same value.
    fn named(input: T) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T> NamedType<T> for T {
    fn named(input: T) -> Self {
        input
    }
}

/// The rules that the compiler checks.
pub mod rules {
    pub use crate::flow::rules::*;
}

/// The keywords as functions, which editors complete where a declaration begins.
pub mod keywords {
    /// Declares a source: `source name;`. Your program pushes the values.
    pub fn source() {}

    /// Declares a computed column: `column name(views) = compute;`.
    pub fn column() {}

    /// Uses another flow as a module: `use Debate { topic: user } as debate;`. The braces bind each source of that flow
    /// to a column of this flow. The columns of the module are `debate.pro`, `debate.con`. Arguments of `new` come
    /// before the braces.
    pub fn r#use() {}
}

/// The words inside a declaration as functions, whose documentation editors show.
pub mod words {
    /// Puts a tag around several views: `group("debate", pro.latest, con.latest)`.
    pub fn group() {}
}

/// The graph of a flow. In a function, the compiler evaluates the graph only where it is used, and not for each flow.
pub const fn graph<F: Base>() -> Graph {
    F::Columns::GRAPH
}

/// A fork of a flow in a separate store.
pub fn fork_into<'a, C: Columns, I: ColumnId + 'a, F: Deref<Target = Typed<'a, C, I>>>(
    flow: &Typed<'a, C, I>,
    at_step: usize,
    in_store: impl Store,
    of: fn(Typed<'a, C, I>) -> F,
) -> Opening<'a, F> {
    flow.__fork_into(at_step, in_store, of)
}

/// Opens a flow in a store.
pub fn open<'a, C: Columns, I: ColumnId + 'a, F: Deref<Target = Typed<'a, C, I>>>(
    store: impl IntoOpenOptions,
    steps: Vec<Option<Step<'a>>>,
    of: fn(Typed<'a, C, I>) -> F,
) -> Opening<'a, F> {
    Typed::__open(store.into_open_options(), steps, of)
}

/// The extension of a flow whose path could not be read. The macro reports that error, so this function is never
/// called.
pub fn broken_extension<'a, C: Columns, I: ColumnId + 'a, F: Deref<Target = Typed<'a, C, I>>>(
    steps: Vec<Option<Step<'a>>>,
    of: fn(Typed<'a, C, I>) -> F,
) -> Opening<'a, F> {
    extend(&Typed::<C, I>::__new(Vec::new()), steps, of)
}

/// Extends a flow by columns.
pub fn extend<'a, B: Columns, J, C: Columns, I: ColumnId + 'a, F: Deref<Target = Typed<'a, C, I>>>(
    base: &Typed<'a, B, J>,
    steps: Vec<Option<Step<'a>>>,
    of: fn(Typed<'a, C, I>) -> F,
) -> Opening<'a, F> {
    Typed::__extend(base, steps, of)
}

/// The compute steps of the columns that a flow itself declares, by column, from the steps of the computed columns.
pub fn steps<F: Base, P, S>(steps: &[P], call: impl FnMut(&P) -> S) -> Vec<Option<S>> {
    F::Columns::GRAPH.by_node(steps.iter().map(call))
}

/// The compute steps of an inline flow.
pub fn inline_steps<const N: usize>(steps: [Option<Step<'_>>; N]) -> Vec<Option<Step<'_>>> {
    steps.into()
}

/// Gives a compute step of an inline flow the type of the column.
pub fn with_type<'a>(step: &mut Option<Step<'a>>, typed: impl FnOnce(Step<'a>) -> Step<'a>) {
    *step = step.take().map(typed);
}

/// Writes the name of a flow, and the number of steps.
///
/// # Errors
///
/// The errors of the formatter.
pub fn fmt_flow<C, I>(name: &str, flow: &Typed<'_, C, I>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // Before anything is written: the writer may use the flow.
    let steps = flow.steps();
    f.debug_struct(name).field("steps", &steps).finish_non_exhaustive()
}

/// Writes the name of a struct alone.
///
/// # Errors
///
/// The errors of the formatter.
pub fn fmt_struct(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.debug_struct(name).finish_non_exhaustive()
}

/// The compute steps of a flow with modules: first the steps of the flow itself, then the steps of each module.
pub fn join<'a>(
    steps: Vec<Option<Step<'a>>>,
    modules: impl IntoIterator<Item = Vec<Step<'a>>>,
) -> Vec<Option<Step<'a>>> {
    steps.into_iter().chain(modules.into_iter().flatten().map(Some)).collect()
}

/// The compute steps of a module, without the sources of the module, which are columns of the flow around. The lifetime
/// of the steps may be shorter.
pub fn lend<'a, 'b: 'a>(steps: Vec<Option<Step<'b>>>) -> Vec<Step<'a>> {
    steps.into_iter().flatten().map(Step::shorten).collect()
}

/// The step of a column whose declaration has an error. The macro reports that error, so this step is never called.
pub fn broken<'a>() -> Step<'a> {
    Declare.column(|_: Context| future::pending::<String>())
}

/// The inputs of a module where one input could not be read. The macro reports that error, so this function is never
/// called.
pub fn broken_inputs<I>() -> I {
    unreachable!("a flow with an error does not compile")
}

/// The step of a column whose step is `todo!()`: all cells of the column fail.
pub fn unwritten<'a>(words: &'static str, text: &str) -> Step<'a> {
    let message = if text.is_empty() { words.to_owned() } else { format!("{words}: {text}") };
    Declare.column(move |_: Context| future::ready(Err::<Value, String>(message.clone())))
}

/// An inline flow, after the words that rustc prints where an item is expected.
#[derive(Debug)]
pub struct Inline<F>(pub F);

impl<F> BitOr<Inline<F>> for &str {
    type Output = F;

    fn bitor(self, flow: Inline<F>) -> F {
        flow.0
    }
}
