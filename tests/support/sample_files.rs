//! Small files of each type that attachments know, made by other code than the library's.

use std::io::Cursor;

use image::codecs::gif::GifEncoder;
use image::{DynamicImage, Frame, ImageFormat, Rgb, RgbImage};

/// A picture without two equal rows, as a file of a format.
///
/// # Panics
///
/// If the format is none of those that this program can write.
pub fn picture(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    drawing(width, height).write_to(&mut bytes, format).expect("it is written to memory");
    bytes.into_inner()
}

fn drawing(width: u32, height: u32) -> DynamicImage {
    let [mut byte, prime] = [7_u8, 151];
    let mut next = || {
        byte = byte.wrapping_mul(prime).wrapping_add(13);
        byte
    };
    RgbImage::from_fn(width, height, |_, _| Rgb([next(), next(), next()])).into()
}

/// A GIF of several pictures.
///
/// # Panics
///
/// Never.
pub fn animation(pictures: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = GifEncoder::new(&mut bytes);
    let frames = (1..=pictures).map(|height| Frame::new(drawing(5, height).into_rgba8()));
    // All pictures are parts of the first one, which is the highest.
    encoder.encode_frames(frames.rev()).expect("it is written to memory");
    drop(encoder);
    bytes
}

/// A photo as cameras write it: with a thumbnail in front of the picture.
///
/// # Panics
///
/// Never.
pub fn photo(width: u32, height: u32) -> Vec<u8> {
    let mut exif = b"Exif\0\0".to_vec();
    exif.extend(picture(ImageFormat::Jpeg, 16, 9));
    let length = u16::try_from(exif.len() + 2).expect("it is small").to_be_bytes();
    let [mut photo, picture] = [b"\xff\xd8\xff\xe1".to_vec(), picture(ImageFormat::Jpeg, width, height)];
    photo.extend(length);
    photo.extend(exif);
    photo.extend(picture.iter().skip(2));
    photo
}

/// A WebP in the extended format, whose first chunk has the size of the canvas.
///
/// # Panics
///
/// Never.
pub fn extended_webp(width: u32, height: u32) -> Vec<u8> {
    let plain = picture(ImageFormat::WebP, width, height);
    let mut chunks = b"WEBPVP8X\x0a\0\0\0\0\0\0\0".to_vec();
    for number in [width - 1, height - 1] {
        chunks.extend(number.to_le_bytes().iter().take(3));
    }
    chunks.extend(plain.iter().skip(12));
    let length = u32::try_from(chunks.len()).expect("it is small").to_le_bytes();
    [b"RIFF", &length[..], &chunks].concat()
}

/// A lossy WebP of one pixel, which this program can only read.
pub const LOSSY_WEBP: &[u8] =
    b"RIFF\x22\0\0\0WEBPVP8 \x16\0\0\0\x30\x01\0\x9d\x01\x2a\x01\0\x01\0\x0e\xc0\xfe\x25\xa4\0\x03p\0\0\0\0";

/// A PDF of one page with this text. With the same length of the text, the file has the same length.
///
/// # Panics
///
/// Never.
pub fn pdf(text: &str) -> Vec<u8> {
    let drawn = format!("BT /F1 24 Tf 20 60 Td ({text}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 120] /Contents 4 0 R \
         /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{drawn}\nendstream", drawn.len()),
    ];
    let [mut file, mut table] = ["%PDF-1.4\n".to_owned(), "xref\n0 5\n0000000000 65535 f \n".to_owned()];
    for (number, object) in (1..).zip(objects) {
        table.extend([format!("{:010} 00000 n \n", file.len())]);
        file.extend([format!("{number} 0 obj\n{object}\nendobj\n")]);
    }
    let begin = file.len();
    (file + &table + &format!("trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n{begin}\n%%EOF\n")).into_bytes()
}
