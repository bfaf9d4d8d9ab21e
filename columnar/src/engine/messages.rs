//! Messages: the texts of calls, which wait in the store until the owner of a flow takes them.
//!
//! A message is a flow of its own with one source, so any store keeps it, with attachments and all.

use std::fmt::Write as _;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::flow::{Flow, source};
use crate::history::Value;
use crate::run::{Error, Result};
use crate::store::{Store, StoreError};

const COLUMN: &str = "message";

/// The stores of flows and messages, by key.
#[derive(Clone)]
pub(super) struct MessageStores(Arc<MakeStore>);

type MakeStore = dyn Fn(&str) -> Arc<dyn Store> + Send + Sync;

impl MessageStores {
    pub(super) fn new<S: Store>(stores: impl Fn(&str) -> S + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |key| Arc::new(stores(key))))
    }

    /// The store of a flow.
    pub(super) fn flow(&self, key: &str) -> Arc<dyn Store> {
        (self.0)(key)
    }

    fn store(&self, key: &str, message: &str) -> Arc<dyn Store> {
        self.flow(&format!("{key}/messages/{message}"))
    }

    /// Writes the message of a request, and returns its name. A repeated request has one message.
    pub(super) async fn write(&self, key: &str, request: &str, value: Value) -> Result<String> {
        let mut message = String::new();
        for byte in Sha256::digest(request).iter().take(16) {
            // A text takes everything.
            let _ = write!(message, "{byte:02x}");
        }
        let inbox = Flow::open(self.store(key, &message), [source(COLUMN)]).await?;
        if inbox.len(COLUMN)? == 0 {
            inbox.push(COLUMN, value).await?;
        }
        Ok(message)
    }

    /// Reads a message; `None` if it was taken, or never written.
    pub(super) async fn read(&self, key: &str, message: &str) -> Result<Option<Value>> {
        match Flow::open(self.store(key, message), [source(COLUMN)]).await?.value(COLUMN, 0).await {
            Err(Error::Missing { .. }) => Ok(None),
            value => value,
        }
    }

    /// Deletes a message that is stored elsewhere.
    pub(super) async fn delete(&self, key: &str, message: &str) -> Result<(), StoreError> {
        self.store(key, message).delete().await
    }
}
