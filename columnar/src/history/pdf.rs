//! The number of pages of a PDF, found in time and memory with bounds.
//!
//! A reader of PDFs follows references and inflates streams of any length, and a file of a megabyte may hold a gigabyte. So
//! the descriptions of pages are counted where they stand. A file that was revised may have several of one page, and the
//! number is too high then.

use memchr::memmem;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;

/// The most bytes that are inflated.
const MOST: usize = 32 << 20;

/// The most bytes between the type of a stream and its beginning.
const NEAR: usize = 512;

/// The number of pages, at least 1.
pub(super) fn pages(bytes: &[u8]) -> usize {
    let mut count = described(bytes);
    let mut left = MOST;
    let mut rest = bytes;
    while let Some((stream, behind)) = object_stream(rest) {
        rest = behind;
        // A stream that is damaged, or longer than the bound, has the pages before.
        let objects = decompress_to_vec_zlib_with_limit(stream, left).unwrap_or_else(|error| error.output);
        left = left.saturating_sub(objects.len());
        count += described(&objects);
    }
    count.max(1)
}

/// The next stream of compressed objects, and the bytes behind it.
fn object_stream(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let kind = bytes.get(memmem::find(bytes, b"/ObjStm")?..)?;
    let near = kind.get(..NEAR).unwrap_or(kind);
    let Some(begin) = memmem::find(near, b"stream") else { return Some((&[], kind.get(1..)?)) };
    let stream = kind.get(begin + b"stream".len()..)?;
    let end = memmem::find(stream, b"endstream").unwrap_or(stream.len());
    let (stream, behind) = stream.split_at_checked(end)?;
    Some((stream.trim_ascii_start(), behind))
}

/// Whether the file needs a password.
pub(super) fn is_encrypted(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, b"/Encrypt").any(|at| {
        // A reference or a dictionary follows; other names begin alike.
        bytes.get(at + b"/Encrypt".len()).is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'<')
    })
}

/// The number of descriptions of pages in objects.
fn described(objects: &[u8]) -> usize {
    let types =
        memmem::find_iter(objects, b"/Type").map(|at| objects.get(at + b"/Type".len()..).unwrap_or_default());
    let pages = types.filter(|rest| {
        let name = rest.trim_ascii_start().strip_prefix(b"/Page");
        name.is_some_and(|rest| rest.first().is_some_and(|byte| !byte.is_ascii_alphanumeric()))
    });
    pages.count()
}

#[cfg(test)]
mod tests {
    use miniz_oxide::deflate::compress_to_vec_zlib;

    use super::*;

    fn compressed(objects: &[u8]) -> Vec<u8> {
        let stream = compress_to_vec_zlib(objects, 1);
        [b"9 0 obj\n<< /Type /ObjStm /N 3 /Filter /FlateDecode >>\nstream\r\n", &*stream, b"\nendstream"]
            .concat()
    }

    #[test]
    fn pages_are_counted_in_plain_and_compressed_objects() {
        let plain = b"<</Type/Page/Parent 1 0 R>> <</Type /Pages /Count 2>> << /Type\n/Page >> << /Type /PageLabel >>";
        assert_eq!(pages(plain), 2);
        let hidden = compressed(plain);
        assert_eq!((described(&hidden), pages(&hidden)), (0, 2));
        assert_eq!(pages(&[plain, &*hidden, &*hidden].concat()), 6);
        assert_eq!(pages(hidden.get(..hidden.len() - 12).unwrap_or_default()), 2, "the end is missing");
        assert_eq!(
            [&b""[..], b"/ObjStm", b"/Type", b"/ObjStm stream", b"/ObjStm stream\n\x78\x9c"].map(pages),
            [1; 5]
        );
    }

    /// A bomb was inflated to the end, which took a gigabyte for each megabyte.
    #[test]
    fn a_bomb_is_inflated_to_a_bound() {
        let bomb = compressed(&vec![b' '; 64 << 20]);
        assert!(bomb.len() < 1 << 20);
        let page = compressed(b"<< /Type /Page >>");
        assert_eq!(pages(&[&*bomb, &*page].concat()), 1);
        assert_eq!(pages(&[&*page, &*page, &*bomb].concat()), 2);
    }

    #[test]
    fn a_password_is_seen() {
        assert!(is_encrypted(b"trailer << /Encrypt 5 0 R >>") && is_encrypted(b"<< /Encrypt<</V 1>> >>"));
        assert!(!is_encrypted(b"<< /EncryptMetadata false /Encryptor (me) >>") && !is_encrypted(b"/Encrypt"));
    }
}
