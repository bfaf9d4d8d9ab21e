//! The checksum of what is stored. It belongs to the formats of the databases.

/// A checksum of these parts, in this order, that tells them apart from the same bytes cut elsewhere. It finds any
/// one bit that is another one.
pub(super) fn sum(parts: &[&[u8]]) -> i32 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    // Databases keep a number of this kind in four bytes.
    hasher.finalize().cast_signed()
}
