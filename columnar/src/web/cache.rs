//! The pages that were read lately, and those that are being read: a page that several callers ask for is read once.

use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::{Shared, WeakShared, ready};
use tokio::time::Instant;

use super::error::WebError;
use super::page::Page;

/// The largest number of pages, and of their bytes. The oldest ones leave first.
const MOST_PAGES: usize = 64;
const MOST_BYTES: usize = 16 << 20;

/// A page that is being read. No task is spawned and no caller owns the reading: the callers that wait poll it, a caller that
/// is dropped does not end it for the others, and it ends when nobody waits. Failures are shared, and not kept.
pub(super) type Reading = Pin<Box<dyn Future<Output = Result<Page, WebError>> + Send>>;

/// Pages by their URL.
#[derive(Default)]
pub(super) struct Cache {
    state: Mutex<CachedPages>,
}

#[derive(Default)]
struct CachedPages {
    /// In the order of time.
    kept: Vec<(String, Page, Instant)>,
    reading: Vec<(String, WeakShared<Reading>)>,
}

impl Cache {
    /// The page of a URL, if it is not older than the lifetime. Otherwise the reading in progress, or a new one.
    pub(super) fn find(
        &self,
        url: &str,
        lifetime: Duration,
        read: impl FnOnce() -> Reading,
    ) -> Shared<Reading> {
        // Dropped after the lock is free: it may be the last reference to a future of somebody else.
        let mut alive = Vec::new();
        let mut state = self.state();
        state.kept.retain(|(_, _, at)| at.elapsed() < lifetime);
        if let Some((_, page, _)) = state.kept.iter().find(|(kept, _, _)| kept == url) {
            return ready(Ok(page.clone())).boxed().shared();
        }
        state.reading.retain(|(name, reading)| {
            let reading = reading.upgrade();
            let is_alive = reading.as_ref().is_some_and(|reading| reading.peek().is_none());
            alive.extend(reading.filter(|_| is_alive).map(|reading| (name.clone(), reading)));
            is_alive
        });
        if let Some((_, reading)) = alive.iter().find(|(name, _)| name == url) {
            return reading.clone();
        }
        let reading = read().shared();
        state.reading.extend(reading.downgrade().map(|weak| (url.to_owned(), weak)));
        reading
    }

    /// Keeps a page.
    pub(super) fn keep(&self, url: &str, page: &Page) {
        let mut state = self.state();
        state.kept.retain(|(kept, _, _)| kept != url);
        state.kept.push((url.to_owned(), page.clone(), Instant::now()));
        let mut bytes: usize = state.kept.iter().map(|(_, page, _)| page.bytes()).sum();
        while state.kept.len() > MOST_PAGES || bytes > MOST_BYTES && !state.kept.is_empty() {
            let (_, oldest, _) = state.kept.remove(0);
            bytes -= oldest.bytes();
        }
    }

    fn state(&self) -> MutexGuard<'_, CachedPages> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
