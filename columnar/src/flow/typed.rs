//! Live flows whose type was declared with `flow!`, and the future of such a flow.

use std::fmt;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures::future::{BoxFuture, FutureExt};

use super::bind::Bind;
use super::generated::{Columns, TypePlan};
use super::live::LiveFlow;
use crate::compute::Step;
use crate::declare::Name;
use crate::run::ColumnId;
#[cfg(doc)]
use crate::run::Error;
use crate::run::reopen::OpenOptions;
use crate::run::{ComputeSteps, Result, SharedFlow};
use crate::store::Store;

/// A live flow of a type that `flow!` declared. The declared type derefs to the live flow, which derefs to the
/// struct of the columns.
pub type Typed<'a, C, I = Name> = LiveFlow<'a, C, I>;

impl<'a, C: Columns, I: ColumnId> LiveFlow<'a, C, I> {
    #[doc(hidden)]
    pub fn __new(steps: Vec<Option<Step<'a>>>) -> Self {
        let (shared, steps) = Self::shared(None, steps);
        Self::bound(shared, steps)
    }

    #[doc(hidden)]
    pub fn __open<F: Deref<Target = Self>>(
        options: OpenOptions,
        steps: Vec<Option<Step<'a>>>,
        of: fn(Self) -> F,
    ) -> Opening<'a, F>
    where
        I: 'a,
    {
        let opened = async move {
            let (shared, steps) = Self::shared(Some(Arc::clone(&options.store)), steps);
            shared.restore(&options).await?;
            Ok(Self::bound(shared, steps))
        };
        Opening { opened: opened.boxed(), of }
    }

    fn shared(
        store: Option<Arc<dyn Store>>,
        steps: Vec<Option<Step<'a>>>,
    ) -> (Arc<SharedFlow>, ComputeSteps<'a>) {
        let steps = ComputeSteps::new(steps);
        (Arc::new(SharedFlow::new(Arc::clone(TypePlan::of::<C>()), store, &steps)), steps)
    }

    /// A handle of this type to a flow that has the columns of the type.
    pub(super) fn bound(shared: Arc<SharedFlow>, steps: ComputeSteps<'a>) -> Self {
        let plan = shared.plan();
        let columns = C::__bind(&Bind::new(&shared, TypePlan::of::<C>(), &plan));
        Self::of_parts(columns, shared, steps)
    }

    /// Extends a flow of the type that this one extends, by the other columns, which have these steps.
    #[doc(hidden)]
    pub fn __extend<B: Columns, J, F: Deref<Target = Self>>(
        base: &LiveFlow<'a, B, J>,
        steps: Vec<Option<Step<'a>>>,
        of: fn(Self) -> F,
    ) -> Opening<'a, F>
    where
        I: 'a,
    {
        let shared = Arc::clone(&base.shared);
        let known = base.steps.clone();
        let extended = async move {
            let writing = shared.writing().await;
            let before = shared.plan();
            // After another extension, the indices of the columns differ from the type.
            let is_as_declared = Arc::ptr_eq(&before, TypePlan::of::<B>());
            // The plan of the type is shared, and lets the columns be found by index and not by name.
            let plan = if is_as_declared {
                Arc::clone(TypePlan::of::<C>())
            } else {
                Arc::new(C::GRAPH.extend(&before)?)
            };
            let columns = 0..before.schema().columns().len();
            let steps: Vec<_> = columns.map(|column| known.get(column)).chain(steps).collect();
            let extension = shared.load_added(plan, steps).await?;
            shared.extend(&extension, &known)?;
            drop(writing);
            shared.wake();
            Ok(Self::bound(shared, known))
        };
        Opening { opened: extended.boxed(), of }
    }

    /// Another flow with the steps of this one before `step`. The two flows are independent from then on.
    ///
    /// The values are shared and not copied, so the cost of a fork does not depend on the number of steps. Cells before
    /// `step` that are not stored yet are computed in both flows. New values of the fork are kept in memory, also if
    /// this flow has a store; [`fork_into`](Self::fork_into) makes a durable fork.
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
    /// [`Error::Missing`] if a source has no value for the step before `step`.
    pub fn fork(&self, step: usize) -> Result<Self> {
        Ok(Self::bound(Arc::new(self.shared.fork(step)?), self.steps.fork()))
    }

    /// A [`fork`](Self::fork) with a separate store, which must be empty. The stored cells before `step` are copied into
    /// that store. After an interruption nothing can be opened there until the same fork is made again, which goes on
    /// with the copy, or the store is deleted.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::MemoryStore;
    ///
    /// flow! {
    ///     struct Chat {
    ///         source user;
    ///         column assistant(user, self) = prompt("You are a helpful assistant.");
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let (chat, store) = (Chat::new(), MemoryStore::new());
    /// chat.user.push("Which language?").await?;
    /// chat.run().await?;
    ///
    /// let other = chat.fork_into(1, store.clone()).await?;
    /// other.user.push("Haskell, then?").await?;
    /// other.run().await?;
    /// drop(other);
    /// assert_eq!(Chat::open(store).await?.steps(), 2);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// - [`Error::Missing`] if a source has no value for the step before `step`.
    /// - [`Error::Open`] if the store cannot be opened, is not empty, or fails to store the values.
    /// - [`Error::Load`] if the values cannot be read from the store of this flow.
    pub async fn fork_into(&self, step: usize, store: impl Store) -> Result<Self> {
        Self::fork_of(Arc::clone(&self.shared), self.steps.clone(), step, store).await
    }

    #[doc(hidden)]
    pub fn __fork_into<F: Deref<Target = Self>>(
        &self,
        step: usize,
        store: impl Store,
        of: fn(Self) -> F,
    ) -> Opening<'a, F>
    where
        I: 'a,
    {
        let fork = Self::fork_of(Arc::clone(&self.shared), self.steps.clone(), step, store);
        Opening { opened: fork.boxed(), of }
    }

    async fn fork_of(
        shared: Arc<SharedFlow>,
        steps: ComputeSteps<'a>,
        step: usize,
        store: impl Store,
    ) -> Result<Self> {
        let shared = shared.fork_into(step, Arc::new(store)).await?;
        Ok(Self::bound(Arc::new(shared), steps.fork()))
    }
}

/// Clones are the same flow.
impl<C: Columns, I: ColumnId> Clone for LiveFlow<'_, C, I> {
    fn clone(&self) -> Self {
        // Columns are bound again, since the struct of the columns need not be `Clone`.
        Self::bound(Arc::clone(&self.shared), self.steps.clone())
    }
}

impl<C: Columns, I> Deref for LiveFlow<'_, C, I> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.columns
    }
}

// A type of its own, without the parameters of the function that returns it: rustc checks the parameters of an `async fn`
// again wherever the future is awaited, and reports an error for each time.
/// A flow that is being opened or extended. The work continues while the flow is awaited.
#[must_use = "a flow is opened while its future is awaited"]
pub struct Opening<'a, F: Deref<Target: Sized>> {
    opened: BoxFuture<'a, Result<F::Target>>,
    /// Makes the declared type.
    of: fn(F::Target) -> F,
}

impl<F: Deref<Target: Sized>> Future for Opening<'_, F> {
    type Output = Result<F>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Result<F>> {
        let of = self.of;
        self.opened.as_mut().poll(cx).map_ok(of)
    }
}

impl<F: Deref<Target: Sized>> fmt::Debug for Opening<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opening").finish_non_exhaustive()
    }
}
