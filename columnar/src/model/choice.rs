//! Which model is asked.

use std::fmt;
use std::sync::Arc;

use super::{Model, choose};
use crate::error::BoxError;

/// Which model a column or a flow asks. Names are looked up when somebody asks, and all who ask for the same name get
/// the same model.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Choice {
    /// That of the flow; of a flow, the one that the environment names: see [`from_env`](super::from_env).
    #[default]
    Unsaid,
    /// The one of this name; see [`by_name`](super::by_name).
    Named(Arc<str>),
    /// This one.
    Given(Arc<dyn Model>),
}

impl Choice {
    /// The model, in a flow that has made this choice.
    ///
    /// # Errors
    ///
    /// [`UnknownModel`](super::UnknownModel), or what is missing to use the model.
    ///
    /// ```
    /// use columnar::model::Choice;
    ///
    /// let flow = Choice::Named("offline".into());
    /// assert_eq!(Choice::Unsaid.model(&flow)?.name(), "offline");
    /// # Ok::<(), columnar::BoxError>(())
    /// ```
    pub fn model(&self, flow: &Self) -> Result<Arc<dyn Model>, BoxError> {
        match (self, flow) {
            (Self::Given(model), _) | (Self::Unsaid, Self::Given(model)) => Ok(Arc::clone(model)),
            (Self::Named(name), _) | (Self::Unsaid, Self::Named(name)) => choose::shared(name),
            (Self::Unsaid, Self::Unsaid) => choose::from_env(),
        }
    }
}

impl<M: Model> From<M> for Choice {
    fn from(model: M) -> Self {
        Self::Given(Arc::new(model))
    }
}

impl From<&str> for Choice {
    fn from(name: &str) -> Self {
        Self::Named(name.into())
    }
}

impl From<String> for Choice {
    fn from(name: String) -> Self {
        Self::Named(name.into())
    }
}

impl From<Arc<str>> for Choice {
    fn from(name: Arc<str>) -> Self {
        Self::Named(name)
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsaid => f.write_str("Unsaid"),
            // A name may hold an address, and that a password.
            Self::Named(_) => f.write_str("Named"),
            Self::Given(model) => f.debug_tuple("Given").field(&model.name()).finish(),
        }
    }
}
