//! The audit of what a flow read from the caches of providers, and the miss of a cell that has just been computed. Contexts
//! of past requests are a function of stored values, so both need nothing but the receipts.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::context::Messages;
use crate::model::cache::{AuditedRequest, CacheAudit, CacheMiss, CachePolicy, Ledger};
use crate::model::usage::{CellReceipt, Receipt};
use crate::run::shared::SharedFlow;
use crate::run::state::FlowState;
use crate::schedule::Cell;

impl SharedFlow {
    /// The audit of all cells in memory, on a copy of the state that no lock guards: filters and counters are called.
    pub(crate) fn audit(&self) -> CacheAudit {
        let mut copy = self.lock().before(usize::MAX);
        copy.audit()
    }

    /// The tokens that a computed cell should have read after the request before. Most cells are known not to have missed
    /// anything without their context. Calls filters and the counter.
    pub(crate) fn cache_miss(&self, cell: Cell, receipt: &CellReceipt) -> Option<CacheMiss> {
        let calls = receipt.calls.as_ref().filter(|calls| CachePolicy::may_have_missed(calls))?;
        let (earlier, before) = {
            let state = self.lock();
            let (step, before) = state.receipts.before(cell)?;
            (Cell { step, ..cell }, Arc::clone(before))
        };
        let messages = [earlier, cell].map(|cell| self.messages(cell.column, cell.step).ok());
        let [Some(sent), Some(sends)] = messages else { return None };
        let state = self.lock();
        let [earlier, now] = [(earlier, sent, before), (cell, sends, Arc::clone(calls))]
            .map(|(cell, messages, receipt)| state.audited(cell, messages, receipt));
        drop(state);
        let now = AuditedRequest { prompt: receipt.made.map(|made| made.prompt), ..now? };
        let mut ledger = Ledger::default();
        ledger.enter(&earlier?);
        ledger.enter(&now).miss()
    }
}

impl FlowState {
    fn audit(&mut self) -> CacheAudit {
        let mut audit = CacheAudit { not_audited: self.unloaded_cells(), ..CacheAudit::default() };
        let mut ledger = Ledger::default();
        let mut calls = BTreeMap::new();
        for (cell, receipt) in self.calls() {
            let request = self.contexts_now(cell.column).and_then(|_| {
                let snapshot = self.draft(cell).ok()??.assemble().ok()?;
                self.audited(cell, Messages(snapshot), receipt)
            });
            match request {
                Some(request) => _ = calls.insert((cell.column, cell.step), ledger.enter(&request)),
                None => audit.not_audited += 1,
            }
        }
        audit.calls = calls.into_values().collect();
        audit
    }

    /// The cells with a receipt, in order of time. A receipt without a time follows the one before of the column.
    fn calls(&self) -> Vec<(Cell, Arc<Receipt>)> {
        let mut calls = Vec::new();
        for column in 0..self.plan.schema().columns().len() {
            let mut time = None;
            // The requests of a batch promise nothing to each other.
            let receipts =
                self.receipts.of(column).filter(|(_, receipt)| receipt.calls > 0 && !receipt.batch);
            for (step, receipt) in receipts {
                time = receipt.at.or(time);
                calls.push((time, Cell { column, step }, Arc::clone(receipt)));
            }
        }
        calls.sort_by_key(|(time, cell, _)| (*time, cell.step, cell.column));
        calls.into_iter().map(|(_, cell, receipt)| (cell, receipt)).collect()
    }

    /// A request of the past as the ledger takes it.
    fn audited(&self, cell: Cell, messages: Messages, receipt: Arc<Receipt>) -> Option<AuditedRequest> {
        let settings = self.settings.get(cell.column)?;
        Some(AuditedRequest {
            column: cell.column,
            messages,
            instruction: settings.instruction.clone().unwrap_or_default(),
            receipt,
            prompt: self.receipts.made(cell).map(|made| made.prompt),
            effort: settings.effort(),
        })
    }
}
