//! What a cell has to be where it is no plain text, and what was said of replies that were not.

use std::sync::Arc;

use crate::context::Role;
use crate::rendering::Schema;

/// The shape of a value, as its column hands it to whatever computes it.
#[derive(Clone, Debug)]
pub(crate) struct OutputSpec {
    pub(crate) schema: Arc<Schema>,
    /// What a model is told of it, the same with every request.
    pub(crate) order: Arc<str>,
    /// Replies that do not fit, and what is wrong with each.
    pub(crate) follow_up: Vec<(Role, Arc<str>)>,
}

impl OutputSpec {
    /// An instruction, with what is wanted behind it.
    pub(crate) fn instruct(&self, instruction: &str) -> Arc<str> {
        let gap = if instruction.is_empty() { "" } else { "\n\n" };
        [instruction, gap, &self.order].concat().into()
    }
}
