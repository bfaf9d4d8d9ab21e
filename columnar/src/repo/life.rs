//! The handle of a scan, and the scan's view of the handle.

use std::sync::{Arc, Weak};

/// The next [`scan`](super::Repository::scan) of a repository goes on while this lives. See
/// [`Repository::handle`](super::Repository::handle).
#[derive(Debug)]
#[must_use = "a handle that is dropped stops the scan"]
pub struct ScanHandle {
    _alive: Arc<()>,
}

/// Tells a scan whether somebody waits for it. A scan without a handle goes on to the end.
#[derive(Clone, Debug, Default)]
pub(super) struct ScanLife(Option<Weak<()>>);

impl ScanHandle {
    /// A handle, and the life that ends with it.
    pub(super) fn new() -> (Self, ScanLife) {
        let alive = Arc::new(());
        let life = ScanLife(Some(Arc::downgrade(&alive)));
        (Self { _alive: alive }, life)
    }
}

impl ScanLife {
    pub(super) fn is_over(&self) -> bool {
        self.0.as_ref().is_some_and(|handle| handle.strong_count() == 0)
    }
}
