//! How a model says that trying again does not help.

use std::error::Error;

use crate::error::chain;

/// A model will not answer this request, however often it is asked: the key is wrong, the model does not exist,
/// the request is not understood.
///
/// A [`Model`](super::Model) says so with this error, or with one of its own that has this one as its source.
/// [`retry`](crate::compute::Policy::retry) then tries no further.
///
/// ```
/// use columnar::BoxError;
/// use columnar::model::Refused;
///
/// let error: BoxError = Refused.into();
/// assert_eq!(Refused::of(&*error), Some(&Refused));
/// assert_eq!(Refused::of(&std::fmt::Error), None);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("trying again does not help")]
pub struct Refused;

impl Refused {
    /// The first one among an error and its sources.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}
