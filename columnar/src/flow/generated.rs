//! The traits that the types of a `flow!` declaration implement. Generated code alone uses them.

use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};

use super::bind::Bind;
use crate::declare::graph::Graph;
use crate::declare::{Name, Plan};
use crate::run::ColumnId;

/// The columns of a flow's type. Implemented by `flow!` alone.
pub trait Columns: Sized + 'static {
    /// What the flow declares.
    const GRAPH: Graph;

    #[doc(hidden)]
    fn __plan() -> &'static TypePlan;

    #[doc(hidden)]
    fn __bind(flow: &Bind<'_>) -> Self;
}

/// The plan of a flow's type, made when the first instance is.
#[doc(hidden)]
#[derive(Debug)]
pub struct TypePlan(OnceLock<Arc<Plan>>);

impl TypePlan {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    pub(super) fn of<C: Columns>() -> &'static Arc<Plan> {
        C::__plan().0.get_or_init(|| match C::GRAPH.plan() {
            Ok(plan) => Arc::new(plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        })
    }
}

/// The enum that names the derived columns of a flow in its events. Implemented by `flow!` alone.
pub trait ColumnEnum: ColumnId + Copy + Eq + Ord + Hash + fmt::Debug + fmt::Display + 'static {
    /// The columns of the flow.
    type Columns: Columns;

    #[doc(hidden)]
    fn __name(self) -> &'static str;

    /// The column of this name in the module `module` of another flow.
    #[doc(hidden)]
    fn __of_module(module: &str, name: &Name) -> Option<Self> {
        let name = name.strip_prefix(module)?.strip_prefix('.')?;
        let schema = TypePlan::of::<Self::Columns>().schema();
        let column = schema.find(name)?;
        Self::__of(column, schema.name(column))
    }

    /// The name of a column of the module `module` of this flow, by the name that it has there.
    #[doc(hidden)]
    fn __name_in(module: &str, name: &str) -> &'static str {
        let schema = TypePlan::of::<Self::Columns>().schema();
        match schema.find(&format!("{module}.{name}")) {
            Some(column) => schema.name(column),
            None => unreachable!("a flow has the columns of its modules"),
        }
    }
}

/// A flow that another one can extend: every struct that [`flow!`](crate::flow!) declares. Implemented
/// by it alone.
///
/// ```
/// use columnar::flow::Base;
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat { source user; column topics(user.latest) = prompt("List the topics."); }
/// }
/// flow! {
///     pub struct Felt: Chat { column mood(user.latest, topics.latest) = prompt("Name the mood."); }
/// }
///
/// fn is_base<F: Base>() {}
/// is_base::<Chat>();
/// is_base::<Felt>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow, so it cannot be extended",
    label = "expected a struct that `flow!` declared"
)]
pub trait Base {
    /// Its columns.
    type Columns: Columns;

    /// The enum that names its columns in events.
    type Column: ColumnEnum;

    /// A flow with other columns, whose compute steps live as long as those of this one.
    type Extended<C, I>;

    /// A compute step that lives as long as those of this flow.
    type Step;
}

/// A flow that others can use as a module: every struct that [`flow!`](crate::flow!) declares and that extends
/// no other. Implemented by it alone.
///
/// ```
/// use columnar::flow::Module;
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Debate {
///         source topic;
///         column critic(topic.latest) = prompt("Name the weak points.");
///     }
/// }
/// flow! {
///     pub struct Chat {
///         source user;
///         use Debate { topic: user } as debate;
///         column verdict(debate.critic.latest, user.latest) = prompt("Judge.");
///     }
/// }
///
/// fn is_module<F: Module>() {}
/// is_module::<Debate>();
/// is_module::<Chat>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no flow that can be part of another",
    label = "expected a struct that `flow!` declared and that extends no other"
)]
pub trait Module {
    /// The flow.
    type Flow: Base;
}

/// A type that [`is_module`], which rustc looks into once: of what is none it tells that, and nothing of what
/// follows from it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Checked<T, const IS_MODULE: bool>(PhantomData<T>);

impl<T: Module> Module for Checked<T, true> {
    type Flow = T::Flow;
}

#[doc(hidden)]
pub const fn is_module<T: Module>() -> bool {
    true
}
