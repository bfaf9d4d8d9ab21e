//! Files of text: the mark at the beginning of a file, and the rows one after the other.

use std::io::{self, Read, Seek, SeekFrom};

use super::table::RowsError;
use crate::flow::{Row, RowChunks};

/// Goes to the first byte of the text, after a mark of UTF-8, and returns its position.
///
/// # Errors
///
/// If the text is UTF-16, by its mark.
pub(super) fn begin(file: &mut (impl Read + Seek)) -> io::Result<u64> {
    let start = file.stream_position()?;
    let mut mark = Vec::new();
    Read::by_ref(file).take(3).read_to_end(&mut mark)?;
    let start = match mark.as_slice() {
        b"\xef\xbb\xbf" => start + 3,
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the file is UTF-16; save it as UTF-8"));
        }
        _ => start,
    };
    file.seek(SeekFrom::Start(start))
}

/// Writes all rows, and returns their number.
pub(super) async fn each_row(
    mut rows: RowChunks,
    mut write: impl FnMut(&Row) -> Result<(), RowsError>,
) -> Result<usize, RowsError> {
    let mut count = 0;
    loop {
        let next = rows.next().await?;
        if next.is_empty() {
            return Ok(count);
        }
        next.iter().try_for_each(&mut write)?;
        count += next.len();
    }
}
