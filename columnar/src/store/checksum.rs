//! Entries in rows of a database, and checksums of rows, which are part of the stored formats.

use std::str::{self, Utf8Error};

use super::Entry;
use crate::history::Value;

/// The bytes of a row: the value, which a skipped cell lacks, and the receipt.
#[derive(Clone, Copy)]
pub(super) struct EntryBytes<'b> {
    pub(super) value: Option<&'b [u8]>,
    pub(super) receipt: Option<&'b [u8]>,
}

impl<'b> EntryBytes<'b> {
    pub(super) fn of(entry: &'b Entry) -> Self {
        let [value, receipt] = [&entry.value, &entry.receipt].map(|text| text.as_deref().map(str::as_bytes));
        Self { value, receipt }
    }

    /// The checksum of an entry and its address. An entry without a receipt has the checksum of format 1, which had no
    /// receipts.
    pub(super) fn checksum(self, address: &[&[u8]]) -> i32 {
        let Self { value, receipt } = self;
        let address = address.iter().copied();
        match receipt {
            None => checksum(address.chain(value)),
            // Three more parts: the sum differs from one without a receipt, and an empty value from no value.
            Some(receipt) => {
                let is_value: &[u8] = if value.is_some() { &[1] } else { &[0] };
                checksum(address.chain([is_value, value.unwrap_or_default(), receipt]))
            }
        }
    }

    /// The entry of these bytes. The error names the part that is no text.
    pub(super) fn entry(self) -> Result<Entry, &'static str> {
        Ok(Entry {
            value: text(self.value).map_err(|_| "value")?,
            receipt: text(self.receipt).map_err(|_| "receipt")?,
        })
    }
}

fn text(bytes: Option<&[u8]>) -> Result<Option<Value>, Utf8Error> {
    Ok(bytes.map(str::from_utf8).transpose()?.map(Value::from))
}

/// The checksum of these parts in this order. The same bytes, split elsewhere, have another checksum. Every change of
/// a single bit changes the checksum.
pub(super) fn checksum<'b>(parts: impl IntoIterator<Item = &'b [u8]>) -> i32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    // Databases keep a signed number of 32 bits in four bytes.
    hasher.finalize().cast_signed()
}
