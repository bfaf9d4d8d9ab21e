//! The inputs of a compute step by the names of the views, as `async |user, topics| …` has them in `flow!`.
//!
//! The macro writes one call per parameter. The column that a view shows decides the type: text, or the type of a typed
//! column.

use std::future::ready;
use std::marker::PhantomData;

#[cfg(feature = "typed")]
use super::{ColumnType, SchemaMismatch, read};
use super::{Context, IntoReply, Reply, Step};
use crate::declare::error::BoxError;
use crate::history::Value;

/// The inputs of the cell that is computed.
#[derive(Debug)]
pub struct Inputs<'c>(&'c Context);

/// The type of an input.
#[derive(Debug)]
pub struct Of<T>(PhantomData<fn() -> T>);

/// The type of an input that the declaration names.
pub const fn of<T: InputValue>() -> Of<T> {
    Of::NEW
}

/// The type of a value that a compute step has as a parameter: text, or the type of a column.
pub trait InputValue: Sized {
    /// Reads a stored value.
    ///
    /// # Errors
    ///
    /// An error if the value is not of this type.
    fn from_value(value: &Value, tag: &str) -> Result<Self, InputError>;
}

impl<T: InputValue> Of<T> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl InputValue for Value {
    fn from_value(value: &Value, _: &str) -> Result<Self, InputError> {
        Ok(value.clone())
    }
}

#[cfg(feature = "typed")]
impl<T: ColumnType> InputValue for T {
    fn from_value(value: &Value, tag: &str) -> Result<Self, InputError> {
        read(value).map_err(|source| InputError::Mismatch { tag: tag.to_owned(), source })
    }
}

/// An input that a compute step needs and that is not there.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    #[error("its input `{tag}` was skipped; as `{tag}: Option<_>`, the parameter may be missing")]
    Skipped { tag: String },
    #[cfg(feature = "typed")]
    #[error("its input `{tag}` has another type: {source}")]
    Mismatch { tag: String, source: SchemaMismatch },
}

impl Inputs<'_> {
    /// The value of a view at this step.
    ///
    /// # Errors
    ///
    /// An error if the cell was skipped, or the value has another type.
    pub fn one<T: InputValue>(&self, ty: Of<T>, tag: &str) -> Result<T, InputError> {
        self.optional(ty, tag)?.ok_or_else(|| InputError::Skipped { tag: tag.to_owned() })
    }

    /// The value of a view at this step, if there is one.
    ///
    /// # Errors
    ///
    /// An error if the value has another type.
    pub fn optional<T: InputValue>(&self, _: Of<T>, tag: &str) -> Result<Option<T>, InputError> {
        let value = self.0.values(tag).next_back();
        value.map(|value| T::from_value(&value, tag)).transpose()
    }

    /// The values that a view shows, the oldest first.
    ///
    /// # Errors
    ///
    /// An error if one value has another type.
    pub fn all<T: InputValue>(&self, _: Of<T>, tag: &str) -> Result<Vec<T>, InputError> {
        self.0.values(tag).map(|value| T::from_value(&value, tag)).collect()
    }

    /// The context of the cell.
    pub fn context(&self) -> Context {
        self.0.clone()
    }
}

/// The step of a function of inputs.
pub(crate) fn step_of_inputs<'a, I, F, R, Form>(
    inputs: impl Fn(Inputs<'_>) -> Result<I, InputError> + Send + Sync + 'a,
    compute: F,
) -> Step<'a>
where
    F: Fn(I) -> R + Send + Sync + 'a,
    R: IntoReply<'a, Form>,
{
    Step::from_fn(move |cx| match inputs(Inputs(&cx)) {
        Ok(inputs) => compute(inputs).into_reply(),
        Err(error) => Reply::whole(ready(Err(BoxError::from(error)))),
    })
}
