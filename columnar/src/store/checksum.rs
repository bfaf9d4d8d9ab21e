//! Checksums of database rows, which are part of the stored formats.

/// The checksum of an entry and its address. An entry without a receipt has the checksum of format 1, which had no
/// receipts.
pub(super) fn entry_checksum(location: &[&[u8]], value: Option<&[u8]>, receipt: Option<&[u8]>) -> i32 {
    let parts: Vec<&[u8]> = match (value, receipt) {
        (value, None) => location.iter().copied().chain(value).collect(),
        // Three more parts: the sum differs from one without a receipt, and an empty value from no value.
        (value, Some(receipt)) => {
            let is_value: &[u8] = if value.is_some() { &[1] } else { &[0] };
            location.iter().copied().chain([is_value, value.unwrap_or_default(), receipt]).collect()
        }
    };
    checksum(&parts)
}

/// The checksum of these parts in this order. The same bytes, split elsewhere, have another checksum. Every change of
/// a single bit changes the checksum.
pub(super) fn checksum(parts: &[&[u8]]) -> i32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    // Databases keep a signed number of 32 bits in four bytes.
    hasher.finalize().cast_signed()
}
