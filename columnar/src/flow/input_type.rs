//! The type that the values of a column have as an input of a compute step.

use super::handle::{Handle, kind};
use crate::compute::inputs::{InputValue, Of};
use crate::history::Value;

/// A column whose values a compute step can have as a parameter.
#[diagnostic::on_unimplemented(
    message = "documents cannot be a parameter of a compute step",
    label = "documents",
    note = "take the context, as in `|cx: Context|`: `cx.messages().documents()` has them"
)]
pub trait Valued {
    /// The type of a value.
    type Value: InputValue;
}

impl Valued for kind::Source {
    type Value = Value;
}

impl<T: InputValue> Valued for kind::Derived<T> {
    type Value = T;
}

/// The type of the values of a column of another flow.
pub const fn of_column<C, K: Valued>(_: fn(&C) -> &Handle<K>) -> Of<K::Value> {
    Of::NEW
}
