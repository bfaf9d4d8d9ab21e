//! What the expansions of `flow!` and other macros may use. Not covered by any promise of compatibility.

pub use columnar_macros::flow;
#[cfg(feature = "insta")]
pub use insta;
pub use std::borrow::Borrow;
pub use std::boxed::Box;
pub use std::default::Default;
pub use std::future::Future;
pub use std::ops::Deref;
pub use std::option::Option::{self, None, Some};
pub use std::vec;
pub use std::vec::Vec;

pub use crate::compute::Step;
pub use crate::declare::Name;
pub use crate::declare::graph::View;
pub use crate::declare::graph::constant::{Graph, ModuleColumns, RenamedFrom, Used};
pub use crate::flow::bind::Bind;
pub use crate::flow::generated::{Base, Checked, ColumnEnum, Columns, Module, TypePlan, is_module};
pub use crate::flow::{ColumnId, Derived, Source, Typed};
pub use crate::reopen::IntoOpenOptions;
pub use crate::run::{Result, fmt_variant, listed};

use futures::future::BoxFuture;

use crate::compute::{Context, IntoStep};

/// The most columns that `ORDER` has places for where the compiler cannot count them: in the extension
/// of a flow with parameters that it shares, and where such a flow is a module.
pub const MANY: usize = 1024;

/// The most bytes that their names have there.
pub const MUCH: usize = 16 * MANY;

/// The keywords, as methods: what rustc says of an argument it says at the method's name, and editors
/// show its documentation there.
#[derive(Clone, Copy, Debug)]
pub struct Declare;

impl Declare {
    /// `column name(views) = compute;` declares a column that is computed.
    ///
    /// The views name the columns that it reads and how much of their history: `user` shows all of
    /// it, `user.latest` the newest value, `user.window(3)` the last three. `self` is the own past. A
    /// view may give another tag: `summary.latest.as("digest")`. `con.prev` is what another column said a
    /// step before, `group("debate", pro.latest, con.latest)` puts a tag around both.
    ///
    /// The compute step is any Rust expression up to the `;`: `prompt("...")`, a closure such as
    /// `|cx: Context| async move { ... }`, or a type that implements `Compute`.
    pub fn column<'a, Form>(self, compute: impl IntoStep<'a, Form>) -> Step<'a> {
        compute.into_step()
    }

    /// `source name;` declares a column whose values come from outside, by `push`.
    pub const fn source(self, column: usize, name: &'static str) -> Source {
        Source::__new(column, name)
    }
}

/// The keywords once more, for editors to complete.
pub mod keywords {
    /// `source name;` declares a column whose values come from outside, by `push`.
    pub fn source() {}

    /// `column name(views) = compute;` declares a column that is computed.
    pub fn column() {}
}

/// The graph of a flow. Behind a function the compiler evaluates it for whoever asks alone, and not wherever a flow is.
pub const fn graph<F: Base>() -> Graph {
    F::Columns::GRAPH
}

/// Goes on with a flow, as one that has more columns.
pub fn extend<'a, B: Columns, J, C: Columns, I: ColumnId + 'a>(
    base: &Typed<'a, B, J>,
    steps: Vec<Option<Step<'a>>>,
) -> BoxFuture<'a, Result<Typed<'a, C, I>>> {
    Typed::__extend(base, steps)
}

/// The compute steps of the columns that a flow itself declares, by column. `steps` are those of the computed ones.
pub fn steps<F: Base, S>(steps: impl IntoIterator<Item = S>) -> Vec<Option<S>> {
    F::Columns::GRAPH.by_node(steps)
}

/// The compute steps of a flow that uses others: the own ones, then those of each module.
pub fn join<'a>(
    own: Vec<Option<Step<'a>>>,
    modules: impl IntoIterator<Item = Vec<Step<'a>>>,
) -> Vec<Option<Step<'a>>> {
    own.into_iter().chain(modules.into_iter().flatten().map(Some)).collect()
}

/// The compute steps of a module, whose sources are columns of the flow that uses it. Its steps may borrow for less
/// long.
pub fn lend<'a, 'b: 'a>(steps: Vec<Option<Step<'b>>>) -> Vec<Step<'a>> {
    steps.into_iter().flatten().map(Step::shorten).collect()
}

/// The step of a column whose declaration is broken. It is never called: the error has been reported
/// where it is.
pub fn broken<'a>() -> Step<'a> {
    Declare.column(|_: Context| std::future::pending::<String>())
}
