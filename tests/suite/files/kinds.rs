//! The types of files, found by the content.

use std::fs;

use columnar::{Attachment, AttachmentError};
use columnar_tests::sample_files::{animation, pdf, picture};
use image::ImageFormat;

/// Bytes that are no text behind the beginning of a file.
fn binary(begin: &[u8]) -> Vec<u8> {
    [begin, &[0, 0xff, 1, 0xfe].repeat(200)].concat()
}

#[test]
fn a3_the_content_of_a_file_says_its_type() {
    let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>"#;
    let table: [(&str, Vec<u8>); 24] = [
        ("image/png", picture(ImageFormat::Png, 2, 2)),
        ("image/jpeg", picture(ImageFormat::Jpeg, 2, 2)),
        ("image/gif", animation(2)),
        ("image/webp", picture(ImageFormat::WebP, 2, 2)),
        ("application/pdf", pdf("One")),
        ("text/plain", "Größe: 3 m²\n".into()),
        ("text/plain", "{\"a\": 1}".into()),
        ("text/plain", svg.into()),
        ("text/html", "<!DOCTYPE html><title>x</title>".into()),
        // Words of texts that begin as other files do.
        ("text/plain", "BMW builds cars.".into()),
        ("text/plain", "GIF is a format of 1987, and GIF89a another.".into()),
        ("text/plain", "MZ are the initials of Mark Zbikowski.".into()),
        ("text/plain", "A PDF begins with `%PDF-1.7`.".into()),
        ("text/plain", "12345678WEBP".into()),
        ("text/plain", "\u{feff}With a mark".into()),
        // Texts in other encodings are no texts for an API.
        ("application/octet-stream", utf16("\u{feff}Launch on Monday.")),
        ("application/octet-stream", utf16("Launch on Monday.")),
        ("application/octet-stream", b"<html>Gr\xfc\xdfe</html>".to_vec()),
        ("application/octet-stream", vec![0, 1, 2, 3]),
        ("image/bmp", binary(b"BM")),
        ("image/tiff", binary(b"II*\0")),
        ("image/heif", binary(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")),
        ("image/avif", binary(b"\0\0\0\x18ftypavif\0\0\0\0mif1avif")),
        ("application/zip", binary(b"PK\x03\x04")),
    ];
    for (kind, bytes) in table {
        let shown = String::from_utf8_lossy(&bytes).chars().take(40).collect::<String>();
        assert_eq!(Attachment::new(bytes).expect(kind).media_type(), kind, "{shown:?}");
    }
}

#[tokio::test]
async fn a3_a_name_that_contradicts_the_content_decides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes, kind) in [
        ("page.png", b"<html><p>404</p></html>".to_vec(), "text/html"),
        ("notes.jpg", picture(ImageFormat::Png, 2, 2), "image/png"),
        ("plan", pdf("One"), "application/pdf"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let file = Attachment::open(&path).await.expect(name);
        assert_eq!((file.media_type(), file.bytes()), (kind, &bytes[..]));
    }
}

#[tokio::test]
async fn a3_what_is_no_file_is_an_error_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.png");
    fs::write(&empty, "").unwrap();
    assert!(matches!(Attachment::open(&empty).await, Err(AttachmentError::Empty)));
    let missing = folder.path().join("a\u{1b}[2J.png");
    // A device would be read without end.
    for path in [folder.path(), &missing, "/dev/zero".as_ref()] {
        let error = Attachment::open(path).await.expect_err("it is no file").to_string();
        let shown = path.display().to_string().escape_debug().to_string();
        assert!(error.contains(&shown) && !error.contains('\u{1b}'), "{error}");
    }
}
