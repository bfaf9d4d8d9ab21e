//! The errors of a model that decide whether a call is repeated: [`Overloaded`] and [`Refused`].

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::error::chain;

/// A model takes no more calls for now: there were too many, or it is busy with calls of others.
///
/// A [`Model`](super::Model) returns this error, or one of its own that has this one as a source.
/// [`Adaptive`](super::Adaptive) then makes fewer calls at once and repeats the call, and
/// [`retry`](crate::compute::Policy::retry) waits for the time that the model asks for.
///
/// ```
/// use columnar::BoxError;
/// use columnar::model::Overloaded;
/// use std::time::Duration;
///
/// let error: BoxError = Overloaded { retry_after: Some(Duration::from_secs(20)) }.into();
/// assert_eq!(error.to_string(), "the model takes no more calls for now, and asks to wait 20s");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("the model takes no more calls for now{}", PauseRequest(*retry_after))]
pub struct Overloaded {
    /// The time to wait before the next call, if the model names one.
    pub retry_after: Option<Duration>,
}

impl Overloaded {
    /// Finds the first `Overloaded` among an error and its sources.
    ///
    /// ```
    /// use columnar::model::Overloaded;
    ///
    /// assert_eq!(Overloaded::of(&Overloaded::default()), Some(&Overloaded { retry_after: None }));
    /// assert_eq!(Overloaded::of(&std::fmt::Error), None);
    /// ```
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}

/// A model refuses this request for good: the key is wrong, the model does not exist, or the request is malformed.
///
/// A [`Model`](super::Model) returns this error, or one of its own that has this one as a source.
/// [`retry`](crate::compute::Policy::retry) does not repeat such a call.
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
    /// Finds the first `Refused` among an error and its sources.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}

/// The end of a message: the requested pause, if there is one.
pub(super) struct PauseRequest(pub(super) Option<Duration>);

impl fmt::Display for PauseRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pause) if !pause.is_zero() => write!(f, ", and asks to wait {pause:?}"),
            _ => Ok(()),
        }
    }
}
