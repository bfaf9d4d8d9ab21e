//! Compute steps that record all calls.

use std::sync::{Arc, Mutex, PoisonError};

use columnar::{Compute, Context, Reply};

/// The calls of all compute steps of a log, in the order in which the calls started. Clones share the calls.
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
    /// A compute step that returns the last message in upper case.
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

    /// The messages of a cell, as JSON; empty if the cell was not computed.
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

/// The compute step of [`Log::upper`].
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
