//! The run-time half of a flow that was declared with `flow!`.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::handle::Bind;
use crate::compute::Step;
use crate::context::Messages;
use crate::driver::{ColumnId, Run};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::graph::Graph;
use crate::name::Name;
use crate::plan::Plan;
use crate::scheduler::Progress;
use crate::state::Live;
use crate::store::{MemoryStore, Store};
use crate::value::Value;

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
///
/// `C` holds the columns as fields, `I` names the derived ones in events, and `'a` is what the
/// compute steps borrow.
pub struct Typed<'a, C, I = Name> {
    columns: C,
    live: Live<'a>,
    id: PhantomData<fn() -> I>,
}

impl<'a, C: Columns, I: ColumnId> Typed<'a, C, I> {
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
        Self { columns: C::__bind(&Bind(&live.shared)), live, id: PhantomData }
    }

    /// Computes everything that is missing, and tells what happens as it happens.
    ///
    /// The run is a [`Stream`](futures::Stream) of [`Event`](crate::Event)s and a future:
    /// `flow.run().await?` computes and discards the events. Nothing happens until it is polled,
    /// and dropping it cancels what is not stored. With nothing new it ends at once.
    ///
    /// A column that fails ends the run with its error, after the columns that were being computed
    /// beside it are stored. The next run computes what is missing. Of two runs at a time the
    /// second ends with [`Error::Running`].
    pub fn run(&self) -> Run<'a, I> {
        Run::new(self.live.clone())
    }

    /// Computes at most so many cells of this flow at once, and at least one; 32 unless told
    /// otherwise. For a limit on one column see [`Policy::limit`](crate::compute::Policy::limit).
    pub fn limit(&self, cells: usize) {
        self.live.shared.limit(cells);
    }

    /// The value of a column at a step, for programs that know the column by its name alone.
    pub fn get(&self, column: &str, step: usize) -> Option<Value> {
        self.live.shared.get(self.live.shared.find(column).ok()?, step)
    }

    /// The messages array that the compute step of a column saw at a step, or will see, for programs
    /// that know the column by its name alone.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::NotDerived`] for a source; [`Error::Missing`] when the step
    /// has not begun, or something that the column reads is not stored yet.
    pub fn messages(&self, column: &str, step: usize) -> Result<Messages> {
        self.live.shared.messages(self.live.shared.find(column)?, step)
    }

    /// The number of steps in which every column has its value.
    pub fn steps(&self) -> usize {
        self.live.shared.steps()
    }

    /// The columns whose values depend on those of this column, in topological order.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`].
    pub fn dependents(&self, column: &str) -> Result<Vec<Name>> {
        self.live.shared.dependents(column)
    }

    /// How far the computing is. Ask during a run, or before it to learn what it will compute.
    pub fn progress(&self) -> Progress {
        self.live.shared.progress()
    }

    /// The sources that the next step waits for because another source is ahead of them.
    pub fn missing(&self) -> Vec<Name> {
        self.live.shared.missing()
    }
}

impl<C, I> Deref for Typed<'_, C, I> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.columns
    }
}

impl<C: Clone, I> Clone for Typed<'_, C, I> {
    fn clone(&self) -> Self {
        Self { columns: self.columns.clone(), live: self.live.clone(), id: PhantomData }
    }
}

impl<C, I> fmt::Debug for Typed<'_, C, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.live.shared, f)
    }
}
