//! Asking for the values that come from outside. A run looks at the context of such a cell once: filters may leave nothing to
//! read, and a context may be wrong.

use super::actions::RunAction;
use crate::run::Error;
use crate::run::shared::SharedFlow;
use crate::run::user_code::discard;
use crate::schedule::Cell;

impl SharedFlow {
    /// The action for a pending cell. Calls filters, without the lock, so the cell may be answered meanwhile.
    pub(super) fn ask(&self, cell: Cell) -> Option<RunAction> {
        let (declined, draft) = {
            let mut state = self.lock();
            (state.declined.remove(&cell), state.draft(cell))
        };
        if let Some(reason) = declined {
            discard(draft);
            let column = self.plan().schema().name(cell.column).clone();
            return self.refused(cell, Error::Declined { column, step: cell.step, reason });
        }
        match self.assembled(cell, draft) {
            Ok(snapshot) if snapshot.is_current() => {
                discard(snapshot);
                if self.lock().scheduler.is_asked(cell) {
                    Some(RunAction::Ask(cell))
                } else {
                    self.next_action()
                }
            }
            // No new value passes the filters, so the next action skips the cell.
            Ok(snapshot) => {
                discard(snapshot);
                if self.lock().scheduler.take_pending(cell).is_ok() {
                    self.report(|scheduler| scheduler.handle_skipped(cell));
                }
                self.next_action()
            }
            Err(error) => self.refused(cell, error),
        }
    }

    /// The cell fails, unless it was answered meanwhile.
    fn refused(&self, cell: Cell, error: Error) -> Option<RunAction> {
        if self.lock().scheduler.take_pending(cell).is_ok() {
            return Some(RunAction::Refuse(cell, error));
        }
        discard(error);
        self.next_action()
    }
}
