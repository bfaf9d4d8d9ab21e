//! What a cell costs while it is computed.

use std::sync::Arc;

use tokio::time::Instant;

use crate::model::End;
use crate::usage::Receipt;

/// What has been asked and answered for one cell.
pub(super) struct ReceiptBuilder {
    began: Instant,
    receipt: Receipt,
}

impl Default for ReceiptBuilder {
    fn default() -> Self {
        Self { began: Instant::now(), receipt: Receipt::default() }
    }
}

impl ReceiptBuilder {
    /// A call begins. It has not told what it cost until it ends.
    pub(super) fn asked(&mut self, model: Arc<str>) {
        self.receipt.model = Some(model);
        self.receipt.calls += 1;
        self.receipt.unreported += 1;
    }

    /// The call that began last is over.
    pub(super) fn answered(&mut self, end: End) {
        if let Some(usage) = end.usage {
            self.receipt.usage += usage;
            self.receipt.unreported = self.receipt.unreported.saturating_sub(1);
        }
        self.receipt.id = end.id.map(Into::into);
    }

    /// All of it, after so many attempts.
    pub(super) fn receipt(self, attempts: usize) -> Receipt {
        let attempts = u32::try_from(attempts).unwrap_or(u32::MAX);
        let ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        Receipt { attempts, ms, ..self.receipt }
    }
}
