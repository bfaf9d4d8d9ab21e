//! Reads the values of typed columns as their types.

use super::handle::{Handle, kind};
use super::live::LiveFlow;
use crate::compute::{self, ColumnType};
use crate::declare::Name;
use crate::history::Value;
use crate::run::{Error, Result};

impl<T: ColumnType> Handle<kind::Derived<T>> {
    /// The value at a step as the type of the column; `None` if it is not stored, or skipped.
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
    /// value was stored; [`Error::NotLoaded`] if it is stored and not [in memory](LiveFlow::load).
    pub fn read(&self, step: usize) -> Result<Option<T>> {
        // The name is needed for an error only, so its lock and its clone are left to that case.
        let column = || self.flow().plan().schema().name(self.latest.column()).clone();
        read(self.flow().try_get_by_name(self.name(), step)?, column, step)
    }
}

impl<C, I> LiveFlow<'_, C, I> {
    /// The value of a column at a step as the type `T`; `None` if it is not stored, or skipped. In a flow that `flow!`
    /// declared, the fields of typed columns have this method, and know their types.
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
    /// it is stored and not [in memory](Self::load).
    pub fn read<T: ColumnType>(&self, column: impl AsRef<str>, step: usize) -> Result<Option<T>> {
        let column = column.as_ref();
        let value = self.shared.try_get_by_name(column, step)?;
        let column = || match Name::new(column) {
            Ok(name) => name,
            Err(_) => unreachable!("the column was found by this name"),
        };
        read(value, column, step)
    }
}

fn read<T: ColumnType>(value: Option<Value>, column: impl Fn() -> Name, step: usize) -> Result<Option<T>> {
    let read = value.map(|value| compute::read(&value)).transpose();
    read.map_err(|source| Error::SchemaMismatch { column: column(), step, source })
}
