//! The run-time half of a flow that was declared with `flow!`.

use std::fmt;
use std::hash::Hash;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use futures::future::{BoxFuture, FutureExt};

use super::handle::Bind;
use super::live::LiveFlow;
use crate::compute::Step;
use crate::driver::ColumnId;
use crate::error::Result;
use crate::graph::Graph;
use crate::name::Name;
use crate::plan::Plan;
use crate::state::Live;
use crate::store::{MemoryStore, Store};

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

    fn of<C: Columns>() -> &'static Arc<Plan> {
        C::__plan().0.get_or_init(|| match C::GRAPH.plan() {
            Ok(plan) => Arc::new(plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        })
    }
}

/// The enum that names the derived columns of a flow in its events. Implemented by `flow!` alone.
pub trait ColumnEnum: ColumnId + Copy + Eq + Ord + Hash + fmt::Debug + fmt::Display + 'static {
    #[doc(hidden)]
    fn __name(self) -> &'static str;
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

/// A live flow of a type that `flow!` declared; the type you wrote derefs to it, and it derefs to
/// the columns.
pub type Typed<'a, C, I = Name> = LiveFlow<'a, C, I>;

impl<'a, C: Columns, I: ColumnId> LiveFlow<'a, C, I> {
    #[doc(hidden)]
    pub fn __new(steps: Vec<Option<Step<'a>>>) -> Self {
        Self::with(Arc::new(MemoryStore::new()), steps)
    }

    #[doc(hidden)]
    pub async fn __open(store: impl Store, steps: Vec<Option<Step<'a>>>) -> Result<Self> {
        let flow = Self::with(Arc::new(store), steps);
        flow.live.shared.restore().await?;
        Ok(flow)
    }

    fn with(store: Arc<dyn Store>, steps: Vec<Option<Step<'a>>>) -> Self {
        let live = Live::new(Arc::clone(TypePlan::of::<C>()), store, steps);
        Self::new(C::__bind(&Bind { shared: &live.shared, plan: None }), live)
    }

    /// Goes on with a flow whose columns this type has first, and adds the others with these steps.
    #[doc(hidden)]
    pub fn __extend<B: Columns, J>(
        base: &LiveFlow<'a, B, J>,
        steps: Vec<Option<Step<'a>>>,
    ) -> BoxFuture<'a, Result<Self>>
    where
        I: 'a,
    {
        let live = base.live.clone();
        let extended = async move {
            let writing = live.shared.writing().await;
            let before = live.shared.plan();
            // Another extension may have been here; then the columns are not where the type has them.
            let is_as_declared = Arc::ptr_eq(&before, TypePlan::of::<B>());
            let plan = if is_as_declared {
                Arc::clone(TypePlan::of::<C>())
            } else {
                Arc::new(C::GRAPH.extend(&before)?)
            };
            let restored = live.shared.load_added(&plan).await?;
            let columns = 0..before.schema().columns().len();
            let steps = columns.map(|column| live.step(column)).chain(steps).collect();
            live.extend(Arc::clone(&plan), restored, steps)?;
            drop(writing);
            let plan = (!is_as_declared).then_some(&*plan);
            Ok(Self::new(C::__bind(&Bind { shared: &live.shared, plan }), live))
        };
        extended.boxed()
    }
}

impl<C: Columns, I> Deref for LiveFlow<'_, C, I> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.columns
    }
}
