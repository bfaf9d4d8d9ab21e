//! The type of a file by its content, and the structure of images and PDFs from the head to the end.
//!
//! A provider refuses a damaged file only after everything was sent, so a truncated file is found here. The end is found
//! by walking over the pieces of a format: the bytes that mark an end may also be in the middle, as in the thumbnail of a
//! photo, and programs write more bytes behind the end. No pixel is decoded, so a small file of a huge picture costs no
//! memory. Every walk consumes bytes at each turn, so each ends.

use memchr::memmem;

/// The width and the height in pixels.
type Size = (u32, u32);

/// The type by the content; `None` without bytes.
pub(super) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() {
        return None;
    }
    // Some signatures are words: a text may begin with `BMW` or `GIF`, and mention `%PDF`.
    let is_text = str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
    let found = infer::get(bytes).map(|kind| kind.mime_type());
    let found = found.filter(|kind| is_text == kind.starts_with("text/") || bytes.starts_with(b"%PDF-"));
    Some(found.unwrap_or(if is_text { "text/plain" } else { "application/octet-stream" }))
}

/// The size of an image that is whole. `None` for other files, too.
pub(super) fn size(bytes: &[u8], media_type: &str) -> Option<Size> {
    let size = match media_type {
        "image/png" => png(bytes),
        "image/jpeg" => jpeg(bytes),
        "image/gif" => gif(bytes).map(|(size, _)| size),
        "image/webp" => webp(bytes),
        _ => None,
    };
    size.filter(|(width, height)| *width > 0 && *height > 0)
}

/// Whether a file is damaged or truncated, as far as the structure of the type is known.
pub(super) fn is_damaged(bytes: &[u8], media_type: &str) -> bool {
    match media_type {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => size(bytes, media_type).is_none(),
        "application/pdf" => !is_whole_pdf(bytes),
        _ => false,
    }
}

/// Whether a GIF has several pictures.
pub(super) fn is_animated(bytes: &[u8]) -> bool {
    gif(bytes).is_some_and(|(_, pictures)| pictures > 1)
}

/// The chunks of a PNG up to the last. Decoders refuse a head with a wrong checksum.
fn png(bytes: &[u8]) -> Option<Size> {
    let mut rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    let head = rest.get(4..21)?;
    let size = head.strip_prefix(b"IHDR")?;
    if crc(head).to_be_bytes() != *rest.get(21..25)? {
        return None;
    }
    loop {
        let (length, chunk) = rest.split_first_chunk()?;
        let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
        // With the name and the checksum.
        rest = chunk.get(length.checked_add(8)?..)?;
        if chunk.starts_with(b"IEND") {
            let (width, size) = size.split_first_chunk()?;
            return Some((u32::from_be_bytes(*width), u32::from_be_bytes(*size.first_chunk()?)));
        }
    }
}

/// The checksum of a chunk of a PNG.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// The segments of a JPEG up to the picture, in which the mark of the end cannot be.
fn jpeg(bytes: &[u8]) -> Option<Size> {
    let mut rest = bytes.strip_prefix(b"\xff\xd8")?;
    let mut size = None;
    loop {
        let (marker, segment) = rest.strip_prefix(b"\xff")?.split_first()?;
        let length = match marker {
            // Any number of these bytes may be before a marker.
            0xff => {
                rest = rest.get(1..)?;
                continue;
            }
            0xda => return memmem::find(segment, b"\xff\xd9").and(size),
            _ => u16::from_be_bytes(*segment.first_chunk()?),
        };
        // Of these markers, three are other tables.
        if (0xc0..=0xcf).contains(marker) && ![0xc4, 0xc8, 0xcc].contains(marker) {
            size = Some((be(segment.get(5..)?)?, be(segment.get(3..)?)?));
        }
        rest = segment.get(usize::from(length.max(2))..)?;
    }
}

/// The blocks of a GIF up to the trailer, and the number of pictures.
fn gif(bytes: &[u8]) -> Option<(Size, usize)> {
    let head = bytes.strip_prefix(b"GIF87a").or_else(|| bytes.strip_prefix(b"GIF89a"))?;
    let mut rest = head.get(7 + colours(*head.get(4)?)..)?;
    let mut pictures = 0;
    loop {
        let (kind, block) = rest.split_first()?;
        let data = match kind {
            b';' => return Some(((le(head)?, le(head.get(2..)?)?), pictures)),
            b'!' => 1,
            b',' => 10 + colours(*block.get(8)?),
            _ => return None,
        };
        pictures += usize::from(*kind == b',');
        rest = block.get(data..)?;
        loop {
            let (length, data) = rest.split_first()?;
            rest = data.get(usize::from(*length)..)?;
            if *length == 0 {
                break;
            }
        }
    }
}

/// The bytes of a table of colours, by the flags before the table.
fn colours(flags: u8) -> usize {
    if flags & 0x80 == 0 { 0 } else { 6 << (flags & 7) }
}

/// The first chunk of a WebP, which is as long as the head says.
fn webp(bytes: &[u8]) -> Option<Size> {
    let length = bytes.strip_prefix(b"RIFF")?.first_chunk()?;
    let whole = bytes.get(..usize::try_from(u32::from_le_bytes(*length)).ok()?.checked_add(8)?)?;
    let chunk = whole.get(8..)?.strip_prefix(b"WEBP")?;
    let data = chunk.get(8..)?;
    match chunk.first_chunk()? {
        b"VP8 " => Some((le(data.get(6..)?)? & 0x3fff, le(data.get(8..)?)? & 0x3fff)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(*data.get(1..)?.first_chunk()?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let (width, height) = data.get(4..)?.split_first_chunk::<3>()?;
            Some((le3(*width) + 1, le3(*height.first_chunk()?) + 1))
        }
        _ => None,
    }
}

/// Whether the last table of a PDF is in the file. Acrobat finds the end of a PDF in the last 1,024 bytes.
fn is_whole_pdf(bytes: &[u8]) -> bool {
    let tail = bytes.get(bytes.len().saturating_sub(1024)..).unwrap_or_default();
    let table = memmem::rfind(tail, b"%%EOF").and_then(|end| {
        let begin = memmem::rfind(tail.get(..end)?, b"startxref")? + b"startxref".len();
        str::from_utf8(tail.get(begin..end)?).ok()?.trim().parse().ok()
    });
    // A file for the web names the table 0 in the middle, so a truncated one would end there.
    table.is_some_and(|at: usize| at > 0 && at < bytes.len())
}

/// The number in the first two bytes, the high byte first.
fn be(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u16::from_be_bytes(*bytes).into())
}

/// The number in the first two bytes, the low byte first.
fn le(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().map(|bytes| u16::from_le_bytes(*bytes).into())
}

fn le3([low, middle, high]: [u8; 3]) -> u32 {
    u32::from_le_bytes([low, middle, high, 0])
}
