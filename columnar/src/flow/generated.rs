//! The traits that the types of a `flow!` declaration implement. They are public for generated code alone.

use std::any::TypeId;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::bind::Bind;
use crate::declare::graph::Graph;
use crate::declare::{Name, Plan};
use crate::run::ColumnId;

/// The struct with the columns of a flow as its fields.
#[doc(hidden)]
pub trait Columns: Sized + 'static {
    /// The declaration of the flow.
    const GRAPH: Graph;

    /// The static in which the plan of this type is cached.
    fn __plan() -> &'static TypePlan;

    /// The columns of a live flow.
    fn __bind(flow: &Bind<'_>) -> Self;
}

/// The plan of a flow's type. The first instance computes it.
#[derive(Debug)]
pub struct TypePlan(OnceLock<Arc<Plan>>);

impl TypePlan {
    #[doc(hidden)]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The plan of a type whose graph depends on a constant parameter. A static of the generic type would be one for all
    /// constants.
    #[doc(hidden)]
    pub fn of_type<C: 'static>() -> &'static Self {
        static PLANS: Mutex<BTreeMap<TypeId, &'static TypePlan>> = Mutex::new(BTreeMap::new());
        let mut plans = PLANS.lock().unwrap_or_else(PoisonError::into_inner);
        // A program has few types, and a plan is needed until it ends.
        plans.entry(TypeId::of::<C>()).or_insert_with(|| Box::leak(Box::new(Self::new())))
    }

    pub(super) fn of<C: Columns>() -> &'static Arc<Plan> {
        // A static of a generic function is one for all types, so `flow!` declares one for each type.
        C::__plan().0.get_or_init(|| match C::GRAPH.plan() {
            Ok(plan) => Arc::new(plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        })
    }
}

/// The enum that names the derived columns of a flow in its events.
#[doc(hidden)]
pub trait ColumnEnum: ColumnId + Copy + Eq + Ord + Hash + fmt::Debug + fmt::Display + 'static {
    /// The columns of the flow.
    type Columns: Columns;

    /// The name of the column.
    fn __name(self) -> &'static str;

    /// The column of this name in another flow, which uses this flow as the module `module`.
    fn __of_module(module: &str, name: &Name) -> Option<Self> {
        let name = name.strip_prefix(module)?.strip_prefix('.')?;
        let schema = TypePlan::of::<Self::Columns>().schema();
        let column = schema.find(name)?;
        Self::__of(column, schema.name(column))
    }

    /// The name in this flow of a column of its module `module`.
    fn __name_in(module: &str, name: &str) -> &'static str {
        let schema = TypePlan::of::<Self::Columns>().schema();
        match schema.find(&format!("{module}.{name}")) {
            Some(column) => schema.name(column),
            None => unreachable!("a flow has the columns of its modules"),
        }
    }
}

/// A flow that another one can extend: every struct that [`flow!`](crate::flow!) declares.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow, so it cannot be extended",
    label = "expected a struct that `flow!` declared"
)]
pub trait Base {
    /// The flow itself.
    type This;

    /// Its columns.
    type Columns: Columns;

    /// The enum that names its columns in events.
    type Column: ColumnEnum;

    /// A flow with other columns, whose compute steps live as long as the steps of this flow.
    type Extended<C, I>;

    /// A compute step that lives as long as the steps of this flow.
    type Step;

    /// The future of a flow with such compute steps.
    type Opening<F: Deref<Target: Sized>>;
}

/// The struct of the columns of the flow `F`, with a [`Handle`](super::Handle) for each. The pages of flows that extend or
/// use `F` have this name, because only the compiler knows the struct itself.
///
/// ```
/// use columnar::flow::ColumnsOf;
/// use columnar::prelude::*;
///
/// flow! {
///     struct Chat {
///         source user;
///         column assistant(user, self) = prompt("You are a helpful assistant.");
///     }
/// }
///
/// fn first_reply(columns: &ColumnsOf<Chat>) -> Option<Value> {
///     columns.assistant.get(0)
/// }
///
/// assert_eq!(first_reply(&Chat::new()), None);
/// ```
pub type ColumnsOf<F> = <F as Base>::Columns;

/// The enum that names the computed columns of the flow `F` in events.
///
/// ```
/// use columnar::flow::ColumnOf;
/// use columnar::prelude::*;
///
/// flow! {
///     struct Chat {
///         source user;
///         column assistant(user, self) = prompt("You are a helpful assistant.");
///     }
/// }
///
/// fn is_reply(column: ColumnOf<Chat>) -> bool {
///     column == ChatColumn::Assistant
/// }
///
/// assert!(is_reply(ChatColumn::Assistant));
/// ```
pub type ColumnOf<F> = <F as Base>::Column;

/// The future of a flow `E` that extends the flow `F`: an [`Opening`](super::Opening), with compute steps that live as long
/// as the steps of `F`.
///
/// ```
/// use columnar::flow::OpeningOf;
/// use columnar::prelude::*;
///
/// flow! {
///     struct Chat {
///         source user;
///         column assistant(user, self) = prompt("You are a helpful assistant.");
///     }
/// }
///
/// flow! {
///     struct Felt: Chat {
///         column mood(user.latest) = prompt("Name the mood in one word.");
///     }
/// }
///
/// fn felt(chat: &Chat) -> OpeningOf<Chat, Felt> {
///     Felt::extend(chat)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// assert_eq!(felt(&Chat::new()).await?.mood.len(), 0);
/// # Ok(()) }
/// ```
pub type OpeningOf<F, E> = <F as Base>::Opening<E>;

/// The types of a flow that must be a module. rustdoc shows them by the same names.
pub mod module {
    use super::{Base, Module};

    /// The struct of the columns.
    pub type ColumnsOf<F> = <<F as Module>::Flow as Base>::Columns;

    /// The enum of the computed columns.
    pub type ColumnOf<F> = <<F as Module>::Flow as Base>::Column;
}

/// The extension of a flow, by a type that nothing else has.
#[doc(hidden)]
pub trait BaseOf {
    /// The flow that is extended, [checked](Checked).
    type Flow;
}

/// Every type itself. A path to it begins and ends with punctuation, which may have the position of a user's token: an editor
/// would take a name there for that token.
#[doc(hidden)]
pub trait Itself {
    /// The type.
    type Type<U>;
}

impl<T> Itself for T {
    type Type<U> = T;
}

/// A flow of the type that another one extends, or what holds one.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `{F}`, the flow that this one extends",
    label = "expected a `{F}`",
    note = "pass the flow or a reference to it, as in `extend(&flow)`"
)]
pub trait Extends<F> {
    /// The flow.
    fn base(&self) -> &F;
}

// The error would name `Borrow`.
#[diagnostic::do_not_recommend]
impl<F, B: Borrow<F>> Extends<F> for B {
    fn base(&self) -> &F {
        self.borrow()
    }
}

/// A flow that another one can use as a module: every struct that [`flow!`](crate::flow!) declares and that extends no
/// other.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a flow that can be a module",
    label = "expected a struct that `flow!` declared and that extends no other flow"
)]
pub trait Module {
    /// The flow.
    type Flow: Base;

    /// A struct with a field for each source. The inputs of a module are written as its fields.
    type Inputs;
}

/// A type whose bound `Module` is checked by [`is_module`] alone, or `Base` by [`is_base`]. If the type is none, rustc reports that error,
/// and none of the errors that follow from it.
#[derive(Debug)]
pub struct Checked<T, const IS_MODULE: bool>(PhantomData<T>);

impl<T: Module> Module for Checked<T, true> {
    type Flow = T::Flow;
    type Inputs = T::Inputs;
}

impl<T: Base> Base for Checked<T, true> {
    type This = T;
    type Columns = T::Columns;
    type Column = T::Column;
    type Extended<C, I> = T::Extended<C, I>;
    type Step = T::Step;
    type Opening<F: Deref<Target: Sized>> = T::Opening<F>;
}

/// Checks the bound, as the value of [`Checked`].
pub const fn is_base<T: Base>() -> bool {
    true
}

/// Checks the bound, as the value of [`Checked`].
pub const fn is_module<T: Module>() -> bool {
    true
}
