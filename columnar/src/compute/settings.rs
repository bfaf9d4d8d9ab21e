//! What a compute step asks of the flow that calls it.

use std::fmt;
use std::sync::Arc;

use crate::budget::Budget;
use crate::scheduler::Rules;

/// What is said behind a compute step about its column. Most say little, and there may be many flows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) rules: Rules,
    pub(crate) budget: Option<Arc<Budget>>,
    /// What goes to a model with every call besides the context, if one is asked.
    pub(crate) instruction: Option<Arc<str>>,
    pub(crate) model: ModelName,
    /// What tells values that are computed otherwise from those that are stored.
    pub(crate) version: Option<Arc<str>>,
    /// How often a reply is asked for again that is not of the type of the column.
    #[cfg(feature = "typed")]
    pub(crate) repairs: Option<usize>,
}

/// Which model is asked. Looked up when it matters, for it may be the environment that names it.
#[derive(Clone, Default)]
pub(crate) struct ModelName(Option<Arc<Lookup>>);

type Lookup = dyn Fn() -> Option<Arc<str>> + Send + Sync;

impl ModelName {
    pub(super) fn new(name: impl Fn() -> Option<Arc<str>> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(name)))
    }

    pub(crate) fn get(&self) -> Option<Arc<str>> {
        self.0.as_ref().and_then(|name| name())
    }
}

impl fmt::Debug for ModelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelName")
    }
}
