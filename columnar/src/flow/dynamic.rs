//! Flows whose shape is made at run time.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::live::LiveFlow;
use crate::column::{Column, View};
#[cfg(doc)]
use crate::error::Error;
use crate::error::Result;
use crate::name::Name;
use crate::plan::Plan;
use crate::schema::{Draft, DraftView, Mistake, Schema, SchemaError};
use crate::state::{Live, Shared};
use crate::store::{MemoryStore, Store};
use crate::value::Value;

/// A live flow whose shape was made at run time; its columns go by their names.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let user = source("user");
/// let words = column("words", user.latest(), |cx: Context| async move {
///     cx.input("user").map_or(0, |said| said.split_whitespace().count()).to_string()
/// });
///
/// let f = flow([words])?;
/// f.push("user", "one two three").await?;
/// f.run().await?;
/// assert_eq!(f.get("words", 0).as_deref(), Some("3"));
/// # Ok(()) }
/// ```
pub type Flow = LiveFlow<'static, Dynamic>;

/// The columns of a [`Flow`]: their declarations, by index.
#[derive(Debug)]
pub struct Dynamic(Mutex<Vec<Column>>);

/// Makes a flow of the columns that you care about; what they read comes along, back to the sources.
///
/// # Errors
///
/// [`Error::Schema`] with everything that is wrong with the declarations.
pub fn flow<L: Borrow<Column>>(leaves: impl IntoIterator<Item = L>) -> Result<Flow> {
    Flow::with(Arc::new(MemoryStore::new()), leaves)
}

impl LiveFlow<'static, Dynamic> {
    /// Makes a flow as [`flow`](flow()) does, on top of a store: it goes on with what the store holds.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] with everything that is wrong with the declarations; [`Error::Load`] when
    /// the store cannot be read or holds what cannot be.
    pub async fn open<L: Borrow<Column>>(
        store: impl Store,
        leaves: impl IntoIterator<Item = L>,
    ) -> Result<Self> {
        let flow = Self::with(Arc::new(store), leaves)?;
        flow.live.shared.restore().await?;
        Ok(flow)
    }

    fn with<L: Borrow<Column>>(store: Arc<dyn Store>, leaves: impl IntoIterator<Item = L>) -> Result<Self> {
        let columns = trace(&[], leaves.into_iter().map(|leaf| leaf.borrow().clone()).collect());
        let schema = Schema::new(drafts(&columns, 0))?;
        if schema.sources().next().is_none() {
            return Err(SchemaError::one(Mistake::NoSource).into());
        }
        let order: Vec<usize> = (0..columns.len()).collect();
        let steps = columns.iter().map(Column::step).collect();
        let live = Live::new(Arc::new(Plan::new(schema, &order)), store, steps);
        Ok(Self::new(Dynamic(Mutex::new(columns)), live))
    }

    /// Stores the next value of a source and returns the step that it belongs to.
    ///
    /// Nothing is computed until the flow runs. A step begins when every source has its value for
    /// it; values pushed ahead wait their turn.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`], [`Error::NotASource`], or [`Error::Store`] when the value could not
    /// be stored.
    pub async fn push(&self, source: &str, value: impl Into<Value>) -> Result<usize> {
        self.shared().push(self.shared().find(source)?, value.into()).await
    }

    /// The names of the columns in topological order.
    pub fn order(&self) -> Vec<Name> {
        self.shared().plan().schema().columns().iter().map(|column| column.name.clone()).collect()
    }

    /// Adds a column, and what it reads that is not here yet. The next run, or the one that goes on,
    /// computes it from step 0 as if it had always been there; other columns are untouched.
    ///
    /// # Errors
    ///
    /// [`Error::Schema`] when the declaration breaks a rule, or brings a source to a flow that has
    /// begun; [`Error::Load`] when the store cannot be read. The flow is then as it was.
    pub async fn add_column(&self, column: impl Borrow<Column>) -> Result<()> {
        let _writing = self.shared().writing().await;
        let known = self.columns.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let columns = trace(&known, vec![column.borrow().clone()]);
        let plan = self.shared().plan().extended(drafts(&columns, known.len()))?;
        let added = columns.get(known.len()..).unwrap_or_default();
        if let Some(late) = added.iter().find(|column| column.views().is_none())
            && self.has_begun()
        {
            return Err(SchemaError::one(Mistake::LateSource { name: late.name().to_owned() }).into());
        }
        let restored = self.shared().load_added(&plan).await?;
        self.live.extend(Arc::new(plan), restored, columns.iter().map(Column::step).collect())?;
        *self.columns.0.lock().unwrap_or_else(PoisonError::into_inner) = columns;
        Ok(())
    }

    fn has_begun(&self) -> bool {
        let plan = self.shared().plan();
        plan.schema().sources().any(|source| self.shared().len(source) > 0)
    }

    fn shared(&self) -> &Shared {
        &self.live.shared
    }
}

/// The known columns, and after them what the leaves add: each column after what it reads, in the
/// order in which the declarations name them. Without recursion, so that no chain is too long.
fn trace(known: &[Column], leaves: Vec<Column>) -> Vec<Column> {
    enum Visit {
        Enter(Column),
        Leave(Column),
    }
    let mut columns = known.to_vec();
    let mut seen: BTreeSet<usize> = known.iter().map(Column::id).collect();
    let mut visits: Vec<Visit> = leaves.into_iter().rev().map(Visit::Enter).collect();
    while let Some(visit) = visits.pop() {
        match visit {
            Visit::Enter(column) => {
                if seen.insert(column.id()) {
                    visits.push(Visit::Leave(column.clone()));
                    let inputs = column.views().unwrap_or_default().iter().filter_map(View::of);
                    visits.extend(inputs.rev().cloned().map(Visit::Enter));
                }
            }
            Visit::Leave(column) => columns.push(column),
        }
    }
    columns
}

/// What the columns from `first` on declare, with indices in place of references.
fn drafts(columns: &[Column], first: usize) -> Vec<Draft> {
    let index: BTreeMap<usize, usize> =
        columns.iter().enumerate().map(|(at, column)| (column.id(), at)).collect();
    let draft = |(at, column): (usize, &Column)| Draft {
        name: column.name().to_owned(),
        views: column.views().map(|views| views.iter().map(|view| draft_view(view, at, &index)).collect()),
    };
    columns.iter().enumerate().skip(first).map(draft).collect()
}

fn draft_view(view: &View, own: usize, index: &BTreeMap<usize, usize>) -> DraftView {
    let (window, tag) = view.shape();
    let column = view.of().and_then(|column| index.get(&column.id()).copied()).unwrap_or(own);
    DraftView { column, window, tag: tag.map(ToOwned::to_owned) }
}
