//! The methods of live flows that have no error for an unknown column: `get` and `receipt`.
//!
//! A flow that was declared at run time finds the column by name, and panics if there is none. The columns of a typed
//! flow are fields, so the methods take no text: a misspelt name would be found only when the program runs.

use std::sync::Arc;

use super::dynamic::Flow;
use super::generated::{ColumnEnum, Columns};
use super::live::{LiveFlow, known};
use crate::declare::Name;
use crate::history::Value;
use crate::model::usage::Receipt;
use crate::run::{ColumnId, Result};
use crate::schedule::Cell;

/// A column of a typed flow as events name the column, for [`get`](LiveFlow::get) and [`receipt`](LiveFlow::receipt): an `I`
/// or a reference to one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a column of this flow, whose columns are fields",
    label = "name the field, as in `chat.topics.get(0)`",
    note = "the column of an event is one, too; for a name that is known only when the program runs, use `try_get` or \
            `try_receipt`"
)]
pub trait ColumnKey<I> {
    #[doc(hidden)]
    fn __name(&self) -> &str;
}

// A list of the implementations would be no help.
#[diagnostic::do_not_recommend]
impl<I: ColumnEnum> ColumnKey<I> for I {
    fn __name(&self) -> &str {
        ColumnEnum::__name(*self)
    }
}

#[diagnostic::do_not_recommend]
impl<I: ColumnEnum> ColumnKey<I> for &I {
    fn __name(&self) -> &str {
        ColumnEnum::__name(**self)
    }
}

#[diagnostic::do_not_recommend]
impl ColumnKey<Self> for Name {
    fn __name(&self) -> &str {
        self
    }
}

#[diagnostic::do_not_recommend]
impl ColumnKey<Name> for &Name {
    fn __name(&self) -> &str {
        self
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a column is small, and a reference to one is a key, too")]
impl<C: Columns, I: ColumnId> LiveFlow<'_, C, I> {
    /// The value of a column that an event names; `None` if the cell is not stored, skipped, or not [in memory](Self::load).
    /// [`cell`](Self::cell) tells these apart. A column that the program knows is a field with the same method. The value of
    /// a typed column is JSON text here; `read` returns the type.
    ///
    /// A text is a compile error, because a text might be misspelt. For a name that is known only when the program runs, use
    /// [`try_get`](Self::try_get).
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     struct Chat {
    ///         source user;
    ///         column topics(user.latest) = prompt("List the topics.");
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = Chat::new();
    /// chat.user.push("What a day!").await?;
    /// let mut run = chat.run();
    /// while let Some(event) = run.try_next().await? {
    ///     println!("{}: {:?}", event.column(), chat.get(event.column(), event.step()));
    /// }
    /// assert_eq!(chat.get(ChatColumn::Topics, 0), chat.topics.get(0));
    /// # Ok(()) }
    /// ```
    ///
    /// # Panics
    ///
    /// If the flow has no such column: the [`Name`] is one of another flow without a header.
    #[track_caller]
    pub fn get(&self, column: impl ColumnKey<I>, step: usize) -> Option<Value> {
        known(self.cell(column.__name(), step)).into_value()
    }

    /// The receipt of a cell of a column that an event names: the tokens and the price of the calls. `None` if the cell called
    /// no model, or is not [in memory](Self::load).
    ///
    /// A text is a compile error, as for [`get`](Self::get). For a name that is known only when the program runs, use
    /// [`try_receipt`](Self::try_receipt).
    ///
    /// # Panics
    ///
    /// If the flow has no such column: the [`Name`] is one of another flow without a header.
    #[track_caller]
    pub fn receipt(&self, column: impl ColumnKey<I>, step: usize) -> Option<Arc<Receipt>> {
        known(self.receipt_of(column.__name(), step))
    }
}

impl<C, I> LiveFlow<'_, C, I> {
    fn receipt_of(&self, column: impl AsRef<str>, step: usize) -> Result<Option<Arc<Receipt>>> {
        self.shared.by_name(column, |state, column| state.receipt(Cell { column, step }))
    }
}

impl Flow {
    /// The value of a column at a step; `None` if the cell is not stored, skipped, or not [in memory](Self::load).
    /// [`cell`](Self::cell) tells these apart. The value of a typed column is JSON text here; `read` returns the
    /// type.
    ///
    /// # Panics
    ///
    /// If the flow has no such column. For a name that the program does not know, use [`try_get`](Self::try_get).
    #[track_caller]
    pub fn get(&self, column: impl AsRef<str>, step: usize) -> Option<Value> {
        known(self.cell(column, step)).into_value()
    }

    /// The receipt of a cell: the tokens and the price of its calls. `None` if it called no model, or is not
    /// [in memory](Self::load).
    ///
    /// # Panics
    ///
    /// If the flow has no such column. For a name that the program does not know, use
    /// [`try_receipt`](Self::try_receipt).
    #[track_caller]
    pub fn receipt(&self, column: impl AsRef<str>, step: usize) -> Option<Arc<Receipt>> {
        known(self.receipt_of(column, step))
    }
}
