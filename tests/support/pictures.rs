//! The smallest pictures, as attachments.

use columnar::Attachment;

/// A PNG of one pixel.
pub const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x01\0\0\0\x007n\xf9$\0\0\0\nIDATx\xdac`\0\0\0\x02\0\x01\xe5'\xde\xfc\0\0\0\0IEND\xaeB`\x82";

/// A PNG of two pixels.
pub const DASH: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x01\x01\0\0\0\0\xdcYB'\0\0\0\nIDATx\xdac`\0\0\0\x02\0\x01\xe5'\xde\xfc\0\0\0\0IEND\xaeB`\x82";

/// [`DOT`] in base64.
pub const DOT_IN_BASE64: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==";

/// A picture of one pixel, with an alternative text.
///
/// # Panics
///
/// Never: the bytes are a whole picture.
pub fn dot() -> Attachment {
    Attachment::new(DOT).expect("a picture").alt("A dot.")
}

/// A picture of two pixels, with the alternative text of [`dot`].
///
/// # Panics
///
/// Never: the bytes are a whole picture.
pub fn dash() -> Attachment {
    Attachment::new(DASH).expect("a picture").alt("A dot.")
}

/// A picture of this size in PNG without pixels.
///
/// # Panics
///
/// If the library takes no such picture.
pub fn picture(width: u32, height: u32) -> Attachment {
    Attachment::new(png(width, height)).expect("a picture")
}

/// The bytes of a PNG of this size without pixels, which no test decodes.
pub fn png(width: u32, height: u32) -> Vec<u8> {
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut bytes, b"IHDR", &[&*size, &[1, 0, 0, 0, 0]].concat());
    chunk(&mut bytes, b"IEND", &[]);
    bytes
}

fn chunk(bytes: &mut Vec<u8>, kind: &[u8], data: &[u8]) {
    bytes.extend(u32::try_from(data.len()).unwrap_or_default().to_be_bytes());
    let checked = [kind, data].concat();
    bytes.extend(&checked);
    bytes.extend(crc32(&checked).to_be_bytes());
}

/// The checksum of a chunk, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let add = |sum: u32, bit: u32| (sum >> 1) ^ if (sum ^ bit) & 1 == 1 { 0xedb8_8320 } else { 0 };
    let bits = bytes.iter().flat_map(|byte| (0..8).map(move |at| u32::from(byte >> at)));
    !bits.fold(u32::MAX, add)
}
