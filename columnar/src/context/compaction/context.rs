//! The log of a context, and what the next update will most likely lay anew.

use std::sync::{Arc, OnceLock};

use super::log::DocumentLog;
use super::memory::{LogTexts, ShownLog};
use super::policy::{LogPrices, LogReader, first_laid_anew};
use crate::context::documents::{LogPlace, Update};

/// The log of a context.
#[derive(Clone, Debug)]
pub(crate) struct LogContext {
    shown: Arc<ShownLog>,
    /// Whether the context is one of an earlier step.
    is_before: bool,
    prices: LogPrices,
    /// The place from which on the next update lays documents anew, found for the first caller.
    next: OnceLock<Option<LogPlace>>,
}

impl LogContext {
    pub(crate) fn new(shown: Arc<ShownLog>, prices: LogPrices) -> Self {
        Self { shown, is_before: false, prices, next: OnceLock::new() }
    }

    /// The log with another fee of writing, over the price of a token. The fee depends on the lifetime of marks.
    pub(crate) fn written_at(&self, factor: f64) -> Self {
        let prices = LogPrices { write: factor, ..self.prices };
        Self { shown: Arc::clone(&self.shown), prices, next: OnceLock::new(), ..*self }
    }

    /// The log in the context of an earlier step, as far as this log knows it.
    pub(crate) fn before(&self) -> Self {
        Self { shown: Arc::clone(&self.shown), is_before: true, prices: self.prices, next: OnceLock::new() }
    }

    pub(crate) fn log(&self) -> &DocumentLog {
        &self.shown.log
    }

    pub(crate) fn texts(&self) -> &LogTexts {
        let before = self.shown.before.as_ref().filter(|_| self.is_before);
        before.unwrap_or(&self.shown.texts)
    }

    /// Whether documents are likely to be laid anew from the end of a part on in later steps.
    pub(crate) fn is_before_cut(&self, place: LogPlace) -> bool {
        let log = self.log();
        let behind = LogPlace { part: place.part + 1, ..place };
        behind == log.cold() || log.form().is_once && behind <= log.cold()
    }

    /// The place from which on the update of the step `next` lays documents anew, if no document changes and the request
    /// follows soon. `turns` returns the tokens of the turns from a step on.
    pub(crate) fn next_laid(
        &self,
        next: usize,
        system: usize,
        turns: &dyn Fn(usize) -> usize,
    ) -> Option<LogPlace> {
        *self.next.get_or_init(|| {
            if self.is_before {
                // What was expected then is what came.
                return self.log().laid_anew(next);
            }
            let log = self.log().next(next, &Update::new()).ok()?;
            let reader = LogReader { prices: self.prices, system, turns, is_late: false };
            let from = first_laid_anew(&log, next, &[reader]).or_else(|| log.laid_anew(next))?;
            // Nothing moves where nothing stands.
            self.log().parts(from).next().map(|(place, _)| place)
        })
    }
}
