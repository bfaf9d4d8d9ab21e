//! The run-time half of a flow that was declared with `flow!`.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

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
        let plan = C::__plan().0.get_or_init(|| match C::GRAPH.plan() {
            Ok(plan) => Arc::new(plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        });
        let live = Live::new(Arc::clone(plan), store, steps);
        Self::new(C::__bind(&Bind(&live.shared)), live)
    }
}

impl<C: Columns, I> Deref for LiveFlow<'_, C, I> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.columns
    }
}
