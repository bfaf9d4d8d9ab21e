//! How a model says that it takes no more calls for now.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::error::chain;

/// A model takes no more calls for now: there were too many, or it is busy with those of others.
///
/// A [`Model`](super::Model) says so with this error, or with one of its own that has this one as its
/// source. [`Adaptive`](super::Adaptive) then makes fewer calls at once and tries again, and
/// [`retry`](crate::compute::Policy::retry) waits as long as it is asked to.
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
#[error("the model takes no more calls for now{}", Asks(*retry_after))]
pub struct Overloaded {
    /// How long to wait before the next call, if the model tells.
    pub retry_after: Option<Duration>,
}

impl Overloaded {
    /// The first one among an error and its sources.
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

/// The end of a message: how long to wait, if that is known.
pub(super) struct Asks(pub(super) Option<Duration>);

impl fmt::Display for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(pause) if !pause.is_zero() => write!(f, ", and asks to wait {pause:?}"),
            _ => Ok(()),
        }
    }
}
