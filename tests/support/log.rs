//! Compute steps that record their calls.

use std::sync::{Arc, Mutex, PoisonError};

use columnar::{Compute, Context, Reply};

/// The calls of all its compute steps, in the order of their start. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Log {
    calls: Arc<Mutex<Vec<Call>>>,
}

#[derive(Debug)]
struct Call {
    column: &'static str,
    step: usize,
    saw: String,
}

impl Log {
    /// A compute step that returns its last message in upper case.
    pub fn upper(&self, column: &'static str) -> Upper {
        Upper { log: self.clone(), column }
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.with(|calls| calls.len())
    }

    /// The number of calls of a cell.
    pub fn calls_of(&self, column: &str, step: usize) -> usize {
        self.with(|calls| calls.iter().filter(|call| call.column == column && call.step == step).count())
    }

    /// The messages of a cell, as JSON; empty if it was not computed.
    pub fn saw(&self, column: &str, step: usize) -> String {
        self.with(|calls| {
            let call = calls.iter().find(|call| call.column == column && call.step == step);
            call.map_or_else(String::new, |call| call.saw.clone())
        })
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Vec<Call>) -> T) -> T {
        ask(&mut self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// See [`Log::upper`].
#[derive(Clone, Debug)]
pub struct Upper {
    log: Log,
    column: &'static str,
}

impl Compute for Upper {
    fn compute(&self, cx: Context) -> Reply<'static> {
        let call = Call { column: self.column, step: cx.step(), saw: cx.messages().to_json() };
        self.log.with(|calls| calls.push(call));
        Reply::text(cx.messages().last_text().to_uppercase())
    }
}
