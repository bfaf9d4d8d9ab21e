//! Without the feature `typed`, no type can be that of a column.

use super::Step;

/// What the values of a column can be.
///
/// ```compile_fail,E0277
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Desk {
///         source review;
///         column stars(review.latest): u8 = prompt("Rate it.");
///     }
/// }
/// ```
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "typed columns need the feature `typed` of columnar",
    label = "a type without that feature",
    note = "in `Cargo.toml`: `columnar = {{ features = [\"typed\"], … }}`"
)]
pub trait ColumnType {}

impl Step<'_> {
    /// The step whose values are JSON of a type, of which there is none.
    #[expect(clippy::extra_unused_type_parameters, reason = "there is none, and that is what is told")]
    pub(crate) fn typed<T: ColumnType>(self) -> Self {
        self
    }
}
