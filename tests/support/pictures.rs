//! Pictures for tests: a head and an end, as far as anybody reads them without decoding.

use columnar::Attachment;

/// A picture of this size in PNG, of 57 bytes.
///
/// # Panics
///
/// If the library takes no such picture.
#[must_use]
pub fn picture(width: u32, height: u32) -> Attachment {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend([width, height].map(u32::to_be_bytes).concat());
    bytes.extend(b"\x08\x06\0\0\0\0\0\0\0");
    bytes.extend(b"\0\0\0\0IDAT\0\0\0\0\0\0\0\0IEND\xae\x42\x60\x82");
    Attachment::new(bytes).expect("a picture")
}
