//! The attachments of entries, which the receipts name: stored before the entry, and in memory once for a flow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::{Entry, Put, Store, StoreError};
use crate::declare::Name;
use crate::history::{Attachment, AttachmentContent, Value};
use crate::model::usage::{AttachmentRef, CellReceipt};

/// The attachments that the receipt of an entry names.
pub(crate) fn attachment_refs(entry: &Entry) -> Vec<AttachmentRef> {
    // Most receipts name none, and need not be parsed. In a text inside of a receipt, quotes are escaped.
    let receipt = entry.receipt.as_deref().filter(|receipt| receipt.contains("\"attachments\":"));
    let receipt = receipt.and_then(|receipt| receipt.parse::<CellReceipt>().ok());
    receipt.map(|receipt| receipt.attachments).unwrap_or_default()
}

/// Stores the attachments of a value. The entry that names these is put afterwards.
pub(crate) async fn put_blobs(store: &dyn Store, value: Option<&Value>) -> Result<(), StoreError> {
    for attachment in value.map(Value::attachments).unwrap_or_default() {
        store.put_blob(attachment.digest().to_owned(), attachment.shared_bytes()).await?;
    }
    Ok(())
}

// Weak, because the values decide how long an attachment is in memory. A list of digests is short.
/// The attachments that values of a flow have in memory, by digest. Clones share the list.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoadedAttachments(Arc<Mutex<HashMap<String, Weak<AttachmentContent>>>>);

impl LoadedAttachments {
    /// The same value, with the bytes that other values have in memory.
    pub(crate) fn share(&self, value: Value) -> Value {
        if value.attachments().is_empty() {
            return value;
        }
        let shared = value.attachments().iter().map(|attachment| {
            match (self.find(attachment.digest()), attachment.alt_text()) {
                (Some(known), Some(alt)) => known.alt(alt),
                (Some(known), None) => known,
                (None, _) => self.insert(attachment.clone()),
            }
        });
        let shared = shared.collect();
        value.attached(Some(shared))
    }

    /// The entry of a cell, with the attachments that the receipt names.
    pub(crate) async fn attach(
        &self,
        store: &dyn Store,
        column: &Name,
        step: usize,
        entry: Entry,
    ) -> Result<Entry, StoreError> {
        let names = attachment_refs(&entry);
        let Entry { value: Some(value), receipt } = entry else { return Ok(entry) };
        let mut attachments = Vec::with_capacity(names.len());
        for name in names {
            attachments.push(self.load(store, column, step, &name).await?);
        }
        let attachments = (!attachments.is_empty()).then(|| attachments.into());
        Ok(Entry { value: Some(value.attached(attachments)), receipt })
    }

    /// The entry that a put has found, with the attachments.
    pub(crate) async fn found(
        &self,
        store: &dyn Store,
        column: &Name,
        step: usize,
        put: Put,
    ) -> Result<Put, StoreError> {
        match put {
            Put::Exists(entry) => Ok(Put::Exists(self.attach(store, column, step, entry).await?)),
            Put::Stored => Ok(put),
        }
    }

    /// Loads an attachment of a cell, unless another value has the bytes in memory.
    pub(crate) async fn load(
        &self,
        store: &dyn Store,
        column: &Name,
        step: usize,
        name: &AttachmentRef,
    ) -> Result<Attachment, StoreError> {
        if let Some(known) = self.find(&name.digest) {
            return Ok(name.named(known));
        }
        let loaded = match store.load_blob(name.digest.clone()).await {
            Err(StoreError::Damaged { location, reason }) => {
                Err(format!("its attachment {name}: {location}: {reason}"))
            }
            bytes => name.attachment(bytes?),
        };
        loaded
            .map(|attachment| self.insert(attachment))
            .map_err(|reason| StoreError::corrupt(column, step, reason))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Weak<AttachmentContent>>> {
        // Each change is one insertion, so a panic leaves nothing half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, digest: &str) -> Option<Attachment> {
        self.lock().get(digest).and_then(Weak::upgrade).map(Attachment::from)
    }

    fn insert(&self, attachment: Attachment) -> Attachment {
        self.lock().insert(attachment.digest().to_owned(), Arc::downgrade(attachment.content()));
        attachment
    }
}
