//! The values of one column that a view shows, by turn.

use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::history::tokens::Sum;
use crate::history::{History, Text, Value};

/// The values of a column in a view. A turn is identified by its step, and its value comes from `lag` steps before it.
#[derive(Clone, Debug)]
pub(super) struct ViewValues {
    /// The steps of the turns.
    pub(super) steps: Range<usize>,
    pub(super) lag: usize,
    pub(super) history: History,
}

/// The values of some views that most columns do not have. Without any, nothing is allocated.
#[derive(Clone, Debug, Default)]
pub(super) struct RareViews(Option<Arc<[ViewValues]>>);

impl FromIterator<ViewValues> for RareViews {
    fn from_iter<I: IntoIterator<Item = ViewValues>>(views: I) -> Self {
        let mut views = views.into_iter().peekable();
        Self(views.peek().is_some().then(|| views.collect()))
    }
}

impl Deref for RareViews {
    type Target = [ViewValues];

    fn deref(&self) -> &[ViewValues] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl RareViews {
    /// The view at an index. It is copied if a clone has it, too.
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut ViewValues> {
        Arc::make_mut(self.0.as_mut()?).get_mut(at)
    }
}

impl ViewValues {
    /// A single text in the turn of a step.
    pub(super) fn single(step: usize, text: String, tokens: usize) -> Self {
        let mut history = History::default();
        history.insert(step, text.into(), tokens);
        Self { steps: step..step + 1, lag: 0, history }
    }

    /// Whether the turn of a step has a value.
    pub(super) fn has(&self, step: usize) -> bool {
        step.checked_sub(self.lag).is_some_and(|source| self.history.has(source))
    }

    /// The value in the turn of a step.
    pub(super) fn text(&self, step: usize) -> Option<Text<'_>> {
        self.history.text(step.checked_sub(self.lag)?)
    }

    pub(super) fn value(&self, step: usize) -> Option<Value> {
        self.history.value(step.checked_sub(self.lag)?)
    }

    /// The first of these turns that has a value, by binary search.
    pub(super) fn first(&self, turns: &Range<usize>) -> Option<usize> {
        let Range { mut start, mut end } = turns.clone();
        // The oldest turn almost always has a value.
        if start < end && self.has(start) {
            return Some(start);
        }
        // The number of values up to a step never decreases, so gaps do not mislead the search.
        while start < end {
            let middle = start.midpoint(end);
            if self.sum(&(start..middle + 1)).count > 0 { end = middle } else { start = middle + 1 }
        }
        Some(start).filter(|first| turns.contains(first))
    }

    /// The number and the tokens of the values in these turns.
    pub(super) fn sum(&self, steps: &Range<usize>) -> Sum {
        self.history.sum(steps.start.saturating_sub(self.lag)..steps.end.saturating_sub(self.lag))
    }
}
