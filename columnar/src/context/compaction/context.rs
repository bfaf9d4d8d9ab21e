//! The log of a context, and what the next update will most likely lay anew.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use super::memory::ShownLog;
use super::policy::{LogPrices, LogReader, first_laid_anew};
use crate::context::documents::Update;

/// The log of a context.
#[derive(Debug)]
pub(crate) struct LogContext {
    shown: Arc<ShownLog>,
    prices: LogPrices,
    /// The first entry that the next update lays anew, found for the first caller.
    next: OnceLock<Option<usize>>,
}

impl Deref for LogContext {
    type Target = ShownLog;

    fn deref(&self) -> &ShownLog {
        &self.shown
    }
}

impl LogContext {
    pub(crate) fn new(shown: Arc<ShownLog>, prices: LogPrices) -> Self {
        Self { shown, prices, next: OnceLock::new() }
    }

    /// The step of the first entry that the update of the step `next` lays anew, if no document changes and the request
    /// follows soon. `turns` returns the tokens of the turns from a step on.
    pub(crate) fn first_moved(
        &self,
        next: usize,
        system: usize,
        turns: &dyn Fn(usize) -> usize,
    ) -> Option<usize> {
        *self.next.get_or_init(|| {
            let log = self.log().next(next, &Update::new()).ok()?;
            let reader = LogReader { prices: self.prices, system, turns, is_late: false };
            let from = first_laid_anew(&log, next, &[reader])?;
            log.entries(from).next().map(|(step, _)| step)
        })
    }
}
