//! The smallest pictures, as attachments.

use columnar::Attachment;

/// A PNG of one pixel.
pub const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x01\0\0\0\07n\xf9$\0\0\0\nIDATx\xdac`\0\0\0\x02\0\x01\xe5'\xde\xfc\0\0\0\0IEND\xaeB`\x82";

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
