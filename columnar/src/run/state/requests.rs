//! The times of the last requests of the columns.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::FlowState;
use crate::model::usage::UnixTime;

/// The last requests that this process sent for the columns of a flow, by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastRequests(BTreeMap<usize, Instant>);

impl LastRequests {
    /// A request of a column began at this time. Cells of a column may be stored in another order than they were sent.
    pub(crate) fn began(&mut self, column: usize, at: Option<Instant>) {
        if let Some(at) = at {
            let last = self.0.entry(column).or_insert(at);
            *last = at.max(*last);
        }
    }

    /// The last requests of a flow of other columns. `origins` gives, for each of these, the column here: what a request
    /// of the past wrote into a cache is read by a fork as well.
    pub(super) fn derive(&self, origins: &[Option<usize>]) -> Self {
        let columns = origins.iter().enumerate();
        Self(columns.filter_map(|(column, origin)| Some((column, *self.0.get(&(*origin)?)?))).collect())
    }
}

impl FlowState {
    /// The time since the last request of a column began: by the clock of this process, and, before the first request of
    /// this process, by the wall clock and the last receipt in memory. `None` if no request is known.
    pub(crate) fn since_last_request(&self, column: usize) -> Option<Duration> {
        if let Some(at) = self.requests.0.get(&column) {
            return Some(at.elapsed());
        }
        let at = self.receipts.last(column)?.at?;
        Some(UnixTime::now().since(at))
    }
}
