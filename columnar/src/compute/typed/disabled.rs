//! Stand-ins without the feature `typed`: no type implements [`ColumnType`], so a typed column does not compile.

use super::Step;

/// The type of the values of a column. Needs the feature `typed`.
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
    note = "in `Cargo.toml`: `columnar-flow = {{ features = [\"typed\"], … }}`",
    note = "documents come from outside: `source name: Documents;`"
)]
pub trait ColumnType {}

impl Step<'_> {
    /// A function that is never called: no type implements [`ColumnType`].
    #[expect(
        clippy::extra_unused_type_parameters,
        reason = "the bound makes the compiler report the missing feature"
    )]
    pub(crate) fn typed<T: ColumnType>(self) -> Self {
        self
    }
}
