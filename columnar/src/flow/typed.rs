//! The run-time half of a flow that was declared with `flow!`.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::handle::Bind;
use super::live::LiveFlow;
use crate::compute::Step;
use crate::driver::ColumnId;
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::graph::Graph;
use crate::name::Name;
use crate::plan::Plan;
use crate::state::Live;
use crate::store::Store;

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
        Self::with(None, steps)
    }

    #[doc(hidden)]
    pub async fn __open(store: impl Store, steps: Vec<Option<Step<'a>>>) -> Result<Self> {
        let flow = Self::with(Some(Arc::new(store)), steps);
        flow.live.shared.restore().await?;
        Ok(flow)
    }

    fn with(store: Option<Arc<dyn Store>>, steps: Vec<Option<Step<'a>>>) -> Self {
        let plan = C::__plan().0.get_or_init(|| match C::GRAPH.plan() {
            Ok(plan) => Arc::new(plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        });
        let live = Live::new(Arc::clone(plan), store, steps);
        Self::bound(live)
    }

    fn bound(live: Live<'a>) -> Self {
        Self::new(C::__bind(&Bind(&live.shared)), live)
    }

    /// Another flow with the past of this one: its steps before `step`. Both go on independently.
    ///
    /// The past is shared and not copied, so a fork costs the same after ten steps and after a
    /// million. What is not stored before `step` is computed by both. What the fork adds is kept in
    /// memory, wherever this flow keeps its values.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     struct Chat {
    ///         source user;
    ///         column assistant(user, self) = prompt("You are a helpful assistant.");
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = Chat::new();
    /// chat.user.push("Which language?").await?;
    /// chat.user.push("Rust, then?").await?;
    /// chat.run().await?;
    ///
    /// let other = chat.fork(1)?;
    /// other.user.push("Haskell, then?").await?;
    /// other.run().await?;
    /// assert_eq!(other.assistant.get(0), chat.assistant.get(0));
    /// assert_eq!(chat.user.get(1).as_deref(), Some("Rust, then?"));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Missing`] when a source has no value for the step before.
    pub fn fork(&self, step: usize) -> Result<Self> {
        Ok(Self::bound(self.live.fork(step)?))
    }
}

impl<C: Columns, I> Deref for LiveFlow<'_, C, I> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.columns
    }
}
