//! A list whose beginning forks share.

use std::ops::Deref;
use std::sync::Arc;

/// A list that grows at its end. A clone shares the items, until one of both grows.
#[derive(Clone, Debug)]
pub(super) struct ForkedList<T> {
    items: Arc<Vec<T>>,
    /// The number of items that belong to this list.
    len: usize,
}

impl<T> Default for ForkedList<T> {
    fn default() -> Self {
        Self { items: Arc::default(), len: 0 }
    }
}

impl<T> Deref for ForkedList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.items.get(..self.len).unwrap_or_default()
    }
}

impl<T> ForkedList<T> {
    /// The list with the first items only.
    pub(super) fn before(&self, len: usize) -> Self {
        Self { items: Arc::clone(&self.items), len: self.len.min(len) }
    }
}

impl<T: Clone> ForkedList<T> {
    pub(super) fn push(&mut self, item: T) {
        let items = Arc::make_mut(&mut self.items);
        // A fork still shares the later items of the flow that it comes from, which are not its own.
        items.truncate(self.len);
        items.push(item);
        self.len = items.len();
    }
}
