//! What is known of the values that a context does not show.

use std::sync::Arc;

use super::elision::Elision;
use super::fitted::Fitted;
use super::shown::View;
use crate::context::budget::Around;
use crate::declare::Reads;

/// What is not there, and what stands for it. Most contexts have no such thing.
#[derive(Clone, Debug, Default)]
pub(super) struct Absent {
    /// What is left out, where there is a budget.
    pub(super) fitted: Option<Fitted>,
    /// What is said of the values that views hide.
    pub(super) elisions: Vec<Elision>,
}

impl Absent {
    /// What the views of a context hide, if anything is said of it.
    #[cold]
    pub(super) fn hidden(reads: &Reads, views: &[View], around: &Around, step: usize) -> Option<Arc<Self>> {
        let elisions = Elision::all(reads, views, around, step, step);
        (!elisions.is_empty()).then(|| Arc::new(Self { fitted: None, elisions }))
    }
}
