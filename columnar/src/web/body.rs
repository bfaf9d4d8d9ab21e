//! The bytes of a page: at most a number of them, as they were before they were compressed.
//!
//! The client decompresses nothing. Decompression of the client would apply to every other client in the program, too, and
//! has no limit.

use std::io::{self, Write};

use flate2::write::GzDecoder;

use super::error::WebFault;

/// The first byte of each compressed part (RFC 1952, section 2.3.1).
const GZIP: u8 = 0x1f;

/// A body that is being received.
pub(super) enum Body {
    Plain(LimitedBytes),
    Gzip {
        decoder: Box<GzDecoder<LimitedBytes>>,
        /// Compressed bytes may be without end and have no content.
        received: usize,
        /// Whether the compression has ended, and other bytes follow.
        is_past: bool,
    },
}

/// The bytes of a page.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    /// Whether the page has more.
    pub(super) is_cut: bool,
}

impl Body {
    /// A body in an encoding of HTTP.
    pub(super) fn new(encoding: Option<&str>, most: usize) -> Result<Self, WebFault> {
        let limited = LimitedBytes { bytes: Vec::new(), most, is_over: false };
        match encoding.unwrap_or("identity").trim() {
            name if name.is_empty() || name.eq_ignore_ascii_case("identity") => Ok(Self::Plain(limited)),
            name if name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("x-gzip") => {
                Ok(Self::Gzip { decoder: Box::new(GzDecoder::new(limited)), received: 0, is_past: false })
            }
            name => Err(WebFault::Encoding(name.to_owned())),
        }
    }

    /// Takes received bytes. Whether more may come.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<bool, WebFault> {
        match self {
            Self::Plain(limited) => Ok(limited.write_all(bytes).is_ok()),
            Self::Gzip { decoder, received, is_past } => {
                *received = received.saturating_add(bytes.len());
                if !*is_past {
                    match unpack(decoder, bytes) {
                        _ if decoder.get_ref().is_over => return Ok(false),
                        past => *is_past = past.map_err(|_| WebFault::Damaged)?,
                    }
                }
                let limited = decoder.get_mut();
                limited.is_over = *received > limited.most;
                Ok(!limited.is_over)
            }
        }
    }

    /// The bytes, when no more come.
    pub(super) fn finish(self) -> Result<Bytes, WebFault> {
        let limited = match self {
            Self::Plain(limited) => limited,
            Self::Gzip { mut decoder, is_past, .. } => {
                if !is_past && decoder.try_finish().is_err() && !decoder.get_ref().is_over {
                    return Err(WebFault::Damaged);
                }
                std::mem::take(decoder.get_mut())
            }
        };
        Ok(Bytes { bytes: limited.bytes, is_cut: limited.is_over })
    }
}

/// Unpacks bytes, and returns whether others follow the compressed ones. As in browsers, these are no part of the page: some
/// servers pad a reply.
fn unpack(decoder: &mut GzDecoder<LimitedBytes>, mut bytes: &[u8]) -> io::Result<bool> {
    while let Some(first) = bytes.first() {
        match decoder.write(bytes)? {
            // A page may be compressed in several parts.
            0 => {
                decoder.try_finish()?;
                if *first != GZIP {
                    return Ok(true);
                }
                *decoder = GzDecoder::new(std::mem::take(decoder.get_mut()));
            }
            taken => bytes = bytes.get(taken..).unwrap_or_default(),
        }
    }
    Ok(false)
}

/// Bytes up to a limit.
#[derive(Default)]
pub(super) struct LimitedBytes {
    bytes: Vec<u8>,
    most: usize,
    is_over: bool,
}

impl Write for LimitedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.most.saturating_sub(self.bytes.len());
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.bytes.extend_from_slice(taken);
        if taken.len() < bytes.len() {
            self.is_over = true;
            return Err(io::Error::other("the limit is reached"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    }

    /// The body of these pieces, and the number of pieces that were taken.
    fn received(pieces: &[&[u8]], most: usize) -> (Result<Bytes, WebFault>, usize) {
        let mut body = Body::new(Some("gzip"), most).expect("known");
        for (at, piece) in pieces.iter().enumerate() {
            match body.push(piece) {
                Ok(true) => {}
                Ok(false) => return (body.finish(), at + 1),
                Err(fault) => return (Err(fault), at + 1),
            }
        }
        (body.finish(), pieces.len())
    }

    /// 64 MB of zeros are 280 kB: the decoder stops at the limit, and keeps no more than it.
    #[test]
    fn w4_a_compressed_body_is_unpacked_up_to_the_limit() {
        let bomb = compressed(&vec![0; 64 << 20]);
        let pieces: Vec<&[u8]> = bomb.chunks(1000).collect();
        let (body, taken) = received(&pieces, 1 << 20);
        let body = body.expect("its beginning");
        assert_eq!((body.bytes.len(), body.is_cut), (1 << 20, true));
        assert!(body.bytes.capacity() <= 2 << 20 && taken < 10, "{taken}");
    }

    /// Empty parts add no content, so only their compressed bytes can be counted.
    #[test]
    fn w4_compressed_bytes_without_content_have_a_limit() {
        let empty = compressed(b"");
        let pieces = vec![&empty[..]; 10_000];
        let (body, taken) = received(&pieces, 1000);
        let body = body.expect("nothing");
        assert_eq!((body.bytes.len(), body.is_cut), (0, true));
        assert!(taken < 100, "{taken}");
    }

    /// A reply with zeros behind the compressed page was damaged.
    #[test]
    fn w6_bytes_behind_the_compression_are_no_part_of_the_page() {
        let whole = compressed(b"text");
        let two = [&whole[..], &whole[..]].concat();
        for rest in [&b"\0\0\0\0"[..], b"\r\n", b"x", b"<!-- cached -->"] {
            let padded = [&two[..], rest].concat();
            for size in [1, 7, 1000] {
                let pieces: Vec<&[u8]> = padded.chunks(size).collect();
                let body = received(&pieces, 1000).0.expect("a page");
                assert_eq!((&body.bytes[..], body.is_cut), (&b"texttext"[..], false), "{rest:?} {size}");
            }
        }
        let half = [&whole[..], &whole[..whole.len() - 1]].concat();
        assert!(matches!(received(&[&half], 1000).0, Err(WebFault::Damaged)));
    }

    #[test]
    fn w6_a_damaged_or_incomplete_compression_is_a_fault() {
        let whole = compressed(b"text");
        assert_eq!(received(&[&whole], 100).0.map(|body| body.bytes).as_deref(), Ok(&b"text"[..]));
        assert!(matches!(received(&[&whole[..whole.len() - 3]], 100).0, Err(WebFault::Damaged)));
        assert!(matches!(
            received(&[b"no gzip at all, whatever the header says"], 100).0,
            Err(WebFault::Damaged)
        ));
        assert!(matches!(Body::new(Some("br"), 1), Err(WebFault::Encoding(name)) if name == "br"));
        assert!(matches!(Body::new(Some("gzip, gzip"), 1), Err(WebFault::Encoding(_))));
    }
}
