//! The format of SQLite's write-ahead log: a header, and a frame for each page that was written.
//!
//! Source: <https://sqlite.org/fileformat2.html#walformat>, and for the index <https://sqlite.org/walformat.html>.

use std::io::{self, ErrorKind, Read};

/// The length of the header of a log.
pub(super) const HEADER: usize = 32;
/// The length of the part of the index that is read here.
pub(super) const INDEX: usize = 100;
/// The length of the header of a frame, which has a page.
pub(super) const FRAME_HEADER: usize = 24;
const MAGIC: u32 = 0x377f_0682;
const VERSION: u32 = 3_007_000;

type Checksum = [u32; 2];
/// Two random numbers that all frames of a log repeat. Older frames, which are overwritten one by one, have other
/// numbers.
pub(super) type Salts = [u8; 8];

/// The parameters of the frames of a log.
#[derive(Clone, Copy)]
pub(super) struct FrameFormat {
    is_big_endian: bool,
    page: usize,
    /// The salts; `None` if the header is damaged.
    pub(super) salts: Option<Salts>,
    /// The checksums with which the first frame may begin. A checksum includes the checksums of all earlier frames.
    seeds: [Checksum; 2],
}

impl FrameFormat {
    /// Reads the format in a header; `None` if SQLite would ignore the log.
    pub(super) fn parse(header: &[u8; HEADER]) -> Option<Self> {
        let magic = big_endian(header, 0)?;
        let format = Self::with(header, magic & 1 == 1, array(header, 16), big_endian(header, 8)?)?;
        let [computed, stored] = format.seeds;
        let is_valid = magic & !1 == MAGIC && big_endian(header, 4)? == VERSION && computed == stored;
        is_valid.then_some(format)
    }

    /// All formats of a log whose header is damaged.
    pub(super) fn guesses(header: &[u8; HEADER]) -> impl Iterator<Item = Self> {
        let orders = [false, true].into_iter();
        let formats = orders.flat_map(|is_big_endian| (9..=16).map(move |bits| (is_big_endian, 1 << bits)));
        formats.filter_map(move |(is_big_endian, page)| Self::with(header, is_big_endian, None, page))
    }

    fn with(header: &[u8; HEADER], is_big_endian: bool, salts: Option<Salts>, page: u32) -> Option<Self> {
        let computed = checksum(is_big_endian, [0; 2], header.get(..24)?);
        let page = usize::try_from(page).ok().filter(|page| page.is_power_of_two())?;
        let seeds = [computed, [big_endian(header, 24)?, big_endian(header, 28)?]];
        (512..=65536).contains(&page).then_some(Self { is_big_endian, page, salts, seeds })
    }
}

/// The transactions of a log.
#[derive(Default)]
pub(super) struct LogScan {
    /// The frames that SQLite recovers.
    pub(super) recovered: u32,
    /// The transactions of these frames.
    pub(super) transactions: usize,
    /// The transactions after the first frame that is not as written.
    pub(super) lost: usize,
    /// Whether another transaction was begun after one of these, which had then been confirmed.
    pub(super) is_continued: bool,
    /// Whether the checksum of any frame is right.
    pub(super) is_verified: bool,
}

/// Reads the frames of a log.
pub(super) fn scan(log: &mut impl Read, format: &FrameFormat) -> io::Result<LogScan> {
    let mut bytes = vec![0; FRAME_HEADER + format.page];
    let mut scan = LogScan::default();
    let mut seeds = format.seeds;
    let mut frames = 0;
    let mut is_whole = true;
    // Whether the frame before ends a transaction, and whether that one is counted.
    let mut end = None;
    while fill(log, &mut bytes)?
        && let Some(frame) = LogFrame::parse(&bytes)
    {
        frames += 1;
        let is_current = format.salts.is_none_or(|salts| salts == frame.salts) && frame.page != 0;
        let [first, second] = seeds;
        let sum = if is_current { frame.checksum(format, first) } else { frame.stored };
        let is_next = is_current
            && (sum == frame.stored || first != second && frame.checksum(format, second) == frame.stored);
        is_whole &= is_next;
        scan.is_verified |= is_next;
        if is_whole && frame.is_end {
            (scan.recovered, scan.transactions) = (frames, scan.transactions + 1);
        } else if !is_whole && is_next {
            // Only a writer that found the transaction before complete continues with that checksum.
            scan.is_continued |= end.is_some();
            scan.lost += usize::from(end == Some(false)) + usize::from(frame.is_end);
        }
        end = (!is_whole && frame.is_end).then_some(is_next);
        // If the checksum of this frame was damaged, the bytes were not, and the other way round.
        seeds = [frame.stored, sum];
    }
    Ok(scan)
}

struct LogFrame<'a> {
    page: u32,
    /// Whether the frame is the last one of a transaction.
    is_end: bool,
    salts: Salts,
    stored: Checksum,
    header: &'a [u8],
    content: &'a [u8],
}

impl<'a> LogFrame<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        Some(Self {
            page: big_endian(bytes, 0)?,
            is_end: big_endian(bytes, 4)? != 0,
            salts: array(bytes, 8)?,
            stored: [big_endian(bytes, 16)?, big_endian(bytes, 20)?],
            header: bytes.get(..8)?,
            content: bytes.get(FRAME_HEADER..)?,
        })
    }

    fn checksum(&self, format: &FrameFormat, seed: Checksum) -> Checksum {
        let seed = checksum(format.is_big_endian, seed, self.header);
        checksum(format.is_big_endian, seed, self.content)
    }
}

/// The last confirmed transaction of a log, according to the index. A writer syncs the log before it writes the index.
pub(super) struct LogIndex {
    /// The number of frames up to the end of the transaction.
    pub(super) frames: u32,
    /// The number of frames that are written back to the database file.
    pub(super) written_back: u32,
    pub(super) salts: Salts,
    /// The bytes of a frame.
    frame: u64,
}

impl LogIndex {
    /// Reads an index; `None` if the index is not whole. Numbers are in the byte order of this machine.
    pub(super) fn parse(bytes: &[u8; INDEX]) -> Option<Self> {
        let native = |at| array(bytes, at).map(u32::from_ne_bytes);
        let header = bytes.get(..48)?;
        let copy = bytes.get(48..96)?;
        let stored = [native(40)?, native(44)?];
        let is_valid = header == copy
            && native(0)? == VERSION
            && checksum(cfg!(target_endian = "big"), [0; 2], header.get(..40)?) == stored;
        // The length of a page, 65536, does not fit into the number.
        let page = match array(bytes, 14).map(u16::from_ne_bytes)? {
            1 => 65536,
            page => u64::from(page),
        };
        let frames = native(16)?;
        let written_back = native(96)?;
        let index =
            Self { frames, written_back, salts: array(bytes, 32)?, frame: FRAME_HEADER as u64 + page };
        is_valid.then_some(index)
    }

    /// Whether confirmed frames are in the log alone.
    pub(super) fn is_due(&self) -> bool {
        self.frames > self.written_back
    }

    /// Whether the log with these salts was begun before the one of the index. SQLite adds one to the first salt when
    /// it begins a log anew.
    pub(super) fn is_after(&self, salts: Salts) -> bool {
        let [own, others] = [self.salts, salts].map(|salts| big_endian(&salts, 0).unwrap_or_default());
        own.wrapping_sub(others).cast_signed() > 0
    }

    /// The length of a log that has all these frames.
    pub(super) fn log_length(&self) -> u64 {
        match self.frames {
            0 => 0,
            frames => HEADER as u64 + u64::from(frames) * self.frame,
        }
    }
}

fn checksum(is_big_endian: bool, seed: Checksum, bytes: &[u8]) -> Checksum {
    if is_big_endian { sum(u32::from_be_bytes, seed, bytes) } else { sum(u32::from_le_bytes, seed, bytes) }
}

fn sum(number: impl Fn([u8; 4]) -> u32, seed: Checksum, bytes: &[u8]) -> Checksum {
    let (words, _) = bytes.as_chunks();
    let (pairs, _) = words.as_chunks();
    pairs.iter().fold(seed, |[a, b], [first, second]| {
        let a = a.wrapping_add(number(*first)).wrapping_add(b);
        [a, b.wrapping_add(number(*second)).wrapping_add(a)]
    })
}

fn big_endian(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// Fills the slice from a file; `false` if the file has fewer bytes.
pub(super) fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| true),
    }
}
