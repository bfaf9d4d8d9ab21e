//! The last requests of the columns, as this process sent them.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;

use crate::model::cache::MarkedRequest;
use crate::model::usage::Usage;

/// A request that this process sent.
#[derive(Clone, Debug)]
pub(crate) struct SentCall {
    pub(crate) at: Instant,
    /// `None` if the model takes no marks.
    pub(crate) marked: Option<Arc<MarkedRequest>>,
    /// The tokens that were billed.
    pub(crate) usage: Usage,
}

/// The last requests that this process sent for the columns of a flow, by column.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastRequests(BTreeMap<usize, SentCall>);

impl LastRequests {
    /// A request of a column was sent, which may continue the conversation of the column `thread`. Cells of a column may be
    /// stored in another order than they were sent.
    pub(crate) fn sent(&mut self, column: usize, thread: Option<usize>, call: Option<SentCall>) {
        let Some(call) = call else { return };
        if self.0.get(&column).is_some_and(|before| before.at > call.at) {
            return;
        }
        if let Some(marked) = &call.marked {
            let thread = thread.filter(|_| marked.is_continued);
            // A conversation that is continued may have gone on since.
            let before = self.0.get_mut(&thread.unwrap_or(column)).filter(|before| before.at <= call.at);
            match before.and_then(|SentCall { at, marked, usage }| Some((marked.as_mut()?, *at, *usage))) {
                None => marked.handle_sent(call.at, call.usage.cache_read, None),
                Some((before, at, usage)) => {
                    let cached = usage.cache_read + usage.cache_write;
                    marked.handle_sent(call.at, call.usage.cache_read, Some((&**before, at, cached)));
                    // The columns of a conversation learn together.
                    if thread.is_some() {
                        Arc::make_mut(before).learnt = marked.learnt;
                    }
                }
            }
        }
        self.0.insert(column, call);
    }

    /// The last request of a column.
    pub(super) fn get(&self, column: usize) -> Option<&SentCall> {
        self.0.get(&column)
    }

    /// The last requests of a flow of other columns. `origins` gives, for each of these, the column here: what a request
    /// of the past wrote into a cache is read by a fork as well.
    pub(super) fn derive(&self, origins: &[Option<usize>]) -> Self {
        let columns = origins.iter().enumerate();
        Self(
            columns.filter_map(|(column, origin)| Some((column, self.0.get(&(*origin)?)?.clone()))).collect(),
        )
    }
}
