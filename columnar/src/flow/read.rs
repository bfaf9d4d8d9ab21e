//! Reads the values of typed columns as values of the type.

use super::handle::{Handle, kind};
use super::live::LiveFlow;
use crate::compute::{self, ColumnType};
use crate::declare::Name;
use crate::run::{Error, Result, SharedFlow};
use crate::schedule::Cell;

impl<T: ColumnType> Handle<kind::Derived<T>> {
    /// The value at a step as the type of the column; `None` if there is none, or the cell is skipped.
    ///
    /// ```
    /// use columnar::Json;
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column words(user.latest): Vec<String> = |cx: Context| async move {
    ///         let text = cx.input("user").map_or("", |text| text);
    ///         Json(text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    ///     };
    /// };
    /// chat.user.push("one two").await?;
    /// chat.run().await?;
    /// assert_eq!(chat.words.read(0)?, Some(vec!["one".to_owned(), "two".to_owned()]));
    /// assert_eq!(chat.words.read(1)?, None);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::SchemaMismatch`] if the value does not match the type, because the column had another type when the
    /// value was stored; [`Error::NotLoaded`] if the value is not [in memory](LiveFlow::load).
    pub fn read(&self, step: usize) -> Result<Option<T>> {
        read(self.flow(), self.name(), step)
    }
}

impl<C, I> LiveFlow<'_, C, I> {
    /// The value of a column at a step as the type `T`; `None` if the cell is not stored, or skipped. In a flow that `flow!`
    /// declared, the fields of typed columns have this method, and know the types.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let count = |cx: Context| async move { cx.input("user").map_or(0, |text| text.len()).to_string() };
    /// let f = flow([column("count", source("user").latest(), count.typed::<usize>())])?;
    /// f.push("user", "four").await?;
    /// f.run().await?;
    /// assert_eq!(f.read("count", 0)?, Some(4));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`]; [`Error::SchemaMismatch`] if the value does not match the type; [`Error::NotLoaded`] if
    /// the value is stored and not [in memory](Self::load).
    pub fn read<T: ColumnType>(&self, column: impl AsRef<str>, step: usize) -> Result<Option<T>> {
        read(&self.shared, column.as_ref(), step)
    }
}

fn read<T: ColumnType>(shared: &SharedFlow, column: &str, step: usize) -> Result<Option<T>> {
    let value = shared.by_name(column, |state, column| state.value(Cell { column, step }))??;
    value.map(|value| compute::read(&value)).transpose().map_err(|source| match Name::new(column) {
        Ok(column) => Error::SchemaMismatch { column, step, source },
        Err(_) => unreachable!("the column was found by this name"),
    })
}
