//! The checksum of what is stored. It belongs to the formats of the databases.

/// The checksum of a cell at this place. One without a receipt has the checksum that it had before there were any.
pub(super) fn entry_checksum(location: &[&[u8]], value: Option<&[u8]>, receipt: Option<&[u8]>) -> i32 {
    let parts: Vec<&[u8]> = match (value, receipt) {
        (value, None) => location.iter().copied().chain(value).collect(),
        // Three more of them, so it is told apart from the others, and what is empty from what is not there.
        (value, Some(receipt)) => {
            let is_value: &[u8] = if value.is_some() { &[1] } else { &[0] };
            location.iter().copied().chain([is_value, value.unwrap_or_default(), receipt]).collect()
        }
    };
    checksum(&parts)
}

/// A checksum of these parts, in this order, that tells them apart from the same bytes cut elsewhere. It finds any
/// one bit that is another one.
pub(super) fn checksum(parts: &[&[u8]]) -> i32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    // Databases keep a number of this kind in four bytes.
    hasher.finalize().cast_signed()
}
