//! Files that are truncated, changed, padded or forged, held against the decoders of another library.

use std::iter;
use std::sync::LazyLock;

use columnar::{Attachment, AttachmentError};
use columnar_tests::sample_files::{LOSSY_WEBP, animation, extended_webp, pdf, photo, picture};
use image::ImageFormat;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The images of this test with their types.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("image/png", picture(ImageFormat::Png, 13, 7)),
        ("image/jpeg", picture(ImageFormat::Jpeg, 13, 7)),
        ("image/jpeg", photo(40, 30)),
        ("image/gif", picture(ImageFormat::Gif, 13, 7)),
        ("image/gif", animation(3)),
        ("image/webp", picture(ImageFormat::WebP, 13, 7)),
        ("image/webp", extended_webp(13, 7)),
        ("image/webp", LOSSY_WEBP.to_vec()),
    ]
}

/// The size that the other library finds, which decodes all pixels for it.
fn decoded(bytes: &[u8]) -> Option<(u32, u32)> {
    let picture = image::load_from_memory(bytes).ok()?;
    Some((picture.width(), picture.height()))
}

/// An image of a type, or the error of a damaged one.
fn opened(bytes: &[u8], kind: &str) -> Option<Attachment> {
    match Attachment::new(bytes) {
        Ok(file) => {
            assert_eq!(file.media_type(), kind);
            Some(file)
        }
        Err(AttachmentError::Damaged { media_type }) => {
            assert_eq!(media_type, kind);
            None
        }
        Err(error) => panic!("{kind}: {error}"),
    }
}

#[test]
fn a1_whole_images_have_the_size_that_decoders_find() {
    for (kind, bytes) in images() {
        let size = decoded(&bytes);
        assert!(size.is_some(), "{kind}");
        assert_eq!(opened(&bytes, kind).expect(kind).size(), size, "{kind}");
    }
    for (width, height) in [(1, 1), (1, 300), (255, 2), (256, 257), (1000, 3)] {
        for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Gif, ImageFormat::WebP] {
            let file = Attachment::new(picture(format, width, height)).expect("a picture");
            assert_eq!(file.size(), Some((width, height)), "{format:?}");
        }
    }
}

/// Only the last bytes were searched for the mark of the end, which a thumbnail has as well, and nearly any GIF.
#[test]
fn a1_a_file_that_is_truncated_at_any_byte_is_an_error() {
    let mut document = pdf("Launch on Monday.");
    // Without the end of its last line it is whole.
    document.pop();
    let documents = iter::once(("application/pdf", document));
    for (kind, bytes) in images().into_iter().chain(documents) {
        for length in 1..bytes.len() {
            match Attachment::new(&bytes[..length]) {
                Err(AttachmentError::Damaged { media_type }) => assert_eq!(media_type, kind),
                // The signature of a WebP and the mark of a version are the longest.
                Ok(file) => {
                    assert!(length < 12 && file.size().is_none(), "{kind} of {length} bytes: {file:?}");
                }
                Err(error) => panic!("{kind} of {length} bytes: {error}"),
            }
        }
    }
}

/// Programs write more behind the end: a film behind the photo, a line, another picture.
#[test]
fn a1_more_bytes_behind_the_end_of_an_image_change_nothing() {
    for (kind, bytes) in images() {
        for more in [vec![b'\n'], vec![0; 5000], picture(ImageFormat::Jpeg, 90, 80)] {
            let file = opened(&[&bytes[..], &more].concat(), kind).expect(kind);
            assert_eq!(file.size(), decoded(&bytes), "{kind}");
        }
    }
}

#[test]
fn a1_a_pdf_that_ends_in_the_middle_is_an_error() {
    let whole = pdf("Launch on Monday.");
    let end = whole.windows(9).rposition(|nine| nine == b"startxref").expect("it has a table");
    // The first part of a file for the web, whose own table is at its end.
    let first = [&whole[..end], b"startxref\n0\n%%EOF\n"].concat();
    // A table behind the end of the file, none at all, and no number.
    let beyond = [&whole[..end], b"startxref\n99999\n%%EOF\n"].concat();
    let without = [&whole[..end], b"%%EOF\n"].concat();
    let words = [&whole[..end], b"startxref\nten\n%%EOF\n"].concat();
    for bytes in [first, beyond, without, words, b"%PDF-1.7".to_vec()] {
        assert!(opened(&bytes, "application/pdf").is_none(), "{}", String::from_utf8_lossy(&bytes));
    }
    // A second revision of the file, and a line behind the end.
    let revised = [&whole[..], &whole[end..], b"\r\n"].concat();
    assert_eq!(opened(&revised, "application/pdf").expect("it is whole").size(), None);
}

/// The checksum of a chunk of a PNG, by the sample code of its standard: with a table.
fn checksum(bytes: &[u8]) -> u32 {
    let table: Vec<u32> = (0..256)
        .map(|byte| {
            (0..8).fold(byte, |sum, _| if sum & 1 == 1 { 0xedb8_8320 ^ (sum >> 1) } else { sum >> 1 })
        })
        .collect();
    let mut sum = u32::MAX;
    for byte in bytes {
        sum = table[((sum ^ u32::from(*byte)) & 255) as usize] ^ (sum >> 8);
    }
    sum ^ u32::MAX
}

/// A PNG with another size in the head than the picture has.
fn forged(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = picture(ImageFormat::Png, 13, 7);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let sum = checksum(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.to_be_bytes());
    bytes
}

#[test]
fn a1_a_png_with_a_wrong_checksum_of_its_head_is_an_error() {
    let mut bytes = picture(ImageFormat::Png, 13, 7);
    assert_eq!(forged(13, 7), bytes);
    bytes[19] += 1;
    assert!(opened(&bytes, "image/png").is_none());
    assert!(decoded(&bytes).is_none());
    // No provider takes an image without pixels.
    assert!(opened(&forged(0, 7), "image/png").is_none());
}

#[test]
fn a2_the_size_of_a_bomb_is_known_and_no_pixel_is_decoded() {
    let bomb = forged(60_000, 60_000);
    assert!(bomb.len() < 1000);
    let file = Attachment::new(bomb).expect("it is whole");
    assert_eq!(file.size(), Some((60_000, 60_000)));
    let file = Attachment::new(forged(u32::MAX >> 1, u32::MAX >> 1)).expect("it is whole");
    assert_eq!(file.size(), Some((u32::MAX >> 1, u32::MAX >> 1)));
}

/// Fills between the segments of a JPEG, which its standard allows and some cameras write.
#[test]
fn a1_a_jpeg_with_fills_before_its_markers_has_its_size() {
    let bytes = picture(ImageFormat::Jpeg, 13, 7);
    let filled = [&bytes[..2], b"\xff\xff\xff", &bytes[2..]].concat();
    assert_eq!(opened(&filled, "image/jpeg").expect("it is whole").size(), Some((13, 7)));
}

/// The beginnings of files of many types.
const SIGNATURES: [&[u8]; 18] = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF89a",
    b"RIFF\xff\0\0\0WEBPVP8X",
    b"%PDF-1.7",
    b"PK\x03\x04",
    b"\0\0\0\x18ftypheic",
    b"\0\0\0\x1cftypavif",
    b"II*\0",
    b"MM\0*",
    b"BM",
    b"\0\0\x01\0",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
    b"\x1f\x8b",
    b"ID3",
    b"OggS",
    b"<html>",
    b"\xef\xbb\xbf",
];

static FILES: LazyLock<Vec<(&str, Vec<u8>)>> = LazyLock::new(|| {
    let documents = [("application/pdf", pdf("Launch on Monday."))];
    images().into_iter().chain(documents).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1000, ..ProptestConfig::default() })]

    /// A change of a whole file is found, or its size is the one that decoders find.
    #[test]
    fn a1_changed_bytes_are_found_or_harmless(
        at in any::<Index>(),
        changes in vec((any::<Index>(), any::<u8>()), 1..4),
    ) {
        let (kind, mut bytes) = at.get(&FILES).clone();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(file) = Attachment::new(&bytes[..])
            && let Some(size) = decoded(&bytes)
            && file.media_type() == kind
        {
            assert_eq!(file.size(), Some(size), "{kind}");
        }
    }

    #[test]
    fn a1_any_bytes_behind_any_signature_are_an_attachment_or_an_error(
        signature in select(&SIGNATURES[..]),
        bytes in vec(any::<u8>(), 0..600),
    ) {
        let bytes = [signature, &bytes].concat();
        let length = bytes.len();
        match Attachment::new(bytes) {
            Ok(file) => assert_eq!(file.len(), length),
            Err(AttachmentError::Damaged { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}
