//! The log beside the file, after a crash: damaged, torn, missing.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;

use rusqlite::Connection;

use super::{Chats, Open, cells, stored, text};
use crate::store::thread::Server;
use crate::store::{Entry, StoreError};

const HEADER: usize = 32;
/// A frame is a header of 24 bytes and a page.
const FRAME: usize = 24 + 8192;

/// The files of a killed writer, which a process that dies leaves as they are.
#[derive(Clone)]
pub(super) struct Image {
    pub(super) file: Vec<u8>,
    pub(super) log: Option<Vec<u8>>,
    pub(super) index: Option<Vec<u8>>,
}

impl Image {
    /// The files of a writer that is alive, as if it were killed now.
    pub(super) fn of(chats: &Chats) -> Self {
        let read = |end| fs::read(beside(chats, end)).expect("it is open");
        Self { file: read(""), log: Some(read("-wal")), index: Some(read("-shm")) }
    }

    fn log(&self) -> &[u8] {
        self.log.as_deref().unwrap_or_default()
    }

    fn with_log(&self, log: Vec<u8>) -> Self {
        Self { log: Some(log), ..self.clone() }
    }

    fn without_index(&self) -> Self {
        Self { index: None, ..self.clone() }
    }

    /// Writes a copy. A file that is there is overwritten, since truncating it would wait for the disk on some file
    /// systems.
    pub(super) fn write(&self, chats: &Chats) {
        for (end, bytes) in
            [("", Some(&self.file)), ("-wal", self.log.as_ref()), ("-shm", self.index.as_ref())]
        {
            let path = beside(chats, end);
            let Some(bytes) = bytes else {
                drop(fs::remove_file(path));
                continue;
            };
            let file = File::options().write(true).create(true).truncate(false).open(path);
            let mut file = file.expect("it can be opened");
            file.write_all(bytes).and_then(|()| file.set_len(bytes.len() as u64)).expect("it can be written");
        }
    }

    /// Opens a copy, and returns the number of steps.
    fn open(&self, chats: &Chats) -> Result<usize, StoreError> {
        self.write(chats);
        let mut open = chats.open()?;
        let entries = open.load(0)?;
        let sound = |(step, entry): &(usize, Entry)| *entry == Entry::from(text(*step));
        assert!(entries.iter().all(sound), "a value is another one");
        assert_eq!(open.stored_steps(0)?.prefix, entries.len());
        Ok(entries.len())
    }
}

fn beside(chats: &Chats, end: &str) -> PathBuf {
    let mut path = chats.file().into_os_string();
    path.push(end);
    path.into()
}

/// A writer with this number of steps, one transaction each.
fn writer(chats: &Chats, steps: usize) -> Open {
    let mut open = chats.open().expect("it is new");
    for step in 0..steps {
        assert!(stored(&open.put(cells(step..step + 1))));
    }
    open
}

fn is_of_the_log(error: &StoreError) -> bool {
    matches!(error, StoreError::Damaged { location, .. } if location.ends_with("chats.db-wal"))
}

/// All bytes of the headers, and some of each page.
fn places(log: &[u8]) -> impl Iterator<Item = usize> {
    let frames = (HEADER..log.len()).step_by(FRAME);
    let of_frame = |frame| (frame..frame + 24).chain((frame + 24..frame + FRAME).step_by(1367));
    (0..HEADER).chain(frames.flat_map(of_frame))
}

/// SQLite recovers the transactions before the first frame that is not as written. The flip of one bit cost 215 of 446
/// confirmed values, without an error.
#[test]
fn s17_a_flipped_bit_of_the_log_loses_no_value_silently() {
    const STEPS: usize = 9;
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 5);
    let fresh = Image::of(&source);
    // The next transaction overwrites the log from its beginning, and older frames follow it.
    checkpoint(&open, "pragma wal_checkpoint(passive)");
    for step in 5..STEPS {
        assert!(stored(&open.put(cells(step..step + 1))));
    }
    let restarted = Image::of(&source);
    for (image, steps) in [(fresh, 5), (restarted, STEPS)] {
        assert_eq!(image.open(&target).expect("it is sound"), steps);
        let mut refused = 0;
        for at in places(image.log()) {
            let mut log = image.log().to_vec();
            log[at] ^= 1 << (at % 8);
            match image.with_log(log).open(&target) {
                Ok(found) => assert_eq!(found, steps, "the byte {at} loses values"),
                Err(error) => {
                    assert!(is_of_the_log(&error), "{at}: {error:?}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 100, "{refused} are refused");
    }
}

pub(super) fn checkpoint(open: &Open, how: &str) {
    let db = open.file.db().expect("it is open");
    db.query_row(how, (), |row| row.get::<_, i64>(0)).expect("it can be written back");
}

/// A copy may lack the index of the log. Then the last transaction may be one that was never confirmed.
#[test]
fn s17_without_the_index_damage_before_the_last_transaction_is_an_error() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 5);
    let end = Image::of(&source).log().len();
    assert!(stored(&open.put(cells(5..6))));
    let last = Image::of(&source).log().len();
    assert!(stored(&open.put(cells(6..7))));
    let image = Image::of(&source).without_index();
    assert_eq!(image.open(&target).expect("it is sound"), 7);
    for frame in (HEADER..last).step_by(FRAME) {
        let mut log = image.log().to_vec();
        log[frame + 24..frame + FRAME].fill(0);
        let error = image.with_log(log).open(&target).expect_err("later transactions were confirmed");
        assert!(is_of_the_log(&error), "{error:?}");
    }
    for at in places(&image.log()[..end]) {
        let mut log = image.log().to_vec();
        log[at] ^= 1 << (at % 8);
        let error = image.with_log(log).open(&target).expect_err("later transactions were confirmed");
        assert!(is_of_the_log(&error), "{at}: {error:?}");
    }
}

/// The damage covers the header, a sector, a page, many frames.
#[test]
fn s17_damage_of_any_length_in_the_middle_of_the_log_is_an_error() {
    let source = Chats::new();
    let target = Chats::new();
    let open = writer(&source, 12);
    let image = Image::of(&source);
    drop(open);
    for (from, length) in [(0, 32), (0, 4096), (100, 512), (4096, 4096), (20_000, 512), (FRAME, 5 * FRAME)] {
        let mut log = image.log().to_vec();
        // A fill of zeros would change nothing where a page is empty.
        log[from..from + length].iter_mut().for_each(|byte| *byte = if *byte == 0 { 0xff } else { 0 });
        for image in [image.with_log(log.clone()), image.with_log(log).without_index()] {
            let error = image.open(&target).expect_err("later transactions were confirmed");
            assert!(is_of_the_log(&error), "{from}: {error:?}");
        }
    }
    let error = image.with_log(image.log()[..image.log().len() - 1].to_vec()).open(&target);
    assert!(
        error.is_err_and(|error| is_of_the_log(&error)),
        "the index knows that the last frame was confirmed"
    );
}

/// The error says how to go on without the values that cannot be recovered.
#[test]
fn s17_a_damaged_log_can_be_dropped() {
    let source = Chats::new();
    let target = Chats::new();
    let open = writer(&source, 12);
    let image = Image::of(&source);
    drop(open);
    let mut log = image.log().to_vec();
    let late = HEADER + (log.len() / FRAME - 4) * FRAME;
    log[late + 24..late + FRAME].fill(0x55);
    let error = image.with_log(log).open(&target).expect_err("it is damaged").to_string();
    assert!(error.contains("confirmed transactions after its frame"), "{error}");
    assert!(error.contains(" 'pragma wal_checkpoint(truncate)'`"), "{error}");
    let other = Connection::open(target.file()).expect("a database");
    other
        .query_row("pragma wal_checkpoint(truncate)", (), |row| row.get::<_, i64>(0))
        .expect("it is dropped");
    drop(other);
    let left = target.open().expect("it is whole").load(0).expect("it is sound").len();
    assert!((1..12).contains(&left), "{left}");
}

/// A kill or a loss of power tears the transaction that was never confirmed. That is no damage.
#[test]
fn s17_a_torn_tail_is_no_damage() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 4);
    let confirmed = Image::of(&source);
    // The pages of this transaction are several frames.
    assert!(stored(&open.put(cells(4..140))));
    let written = Image::of(&source);
    drop(open);
    let start = confirmed.log().len();
    let end = written.log().len();
    assert!(end - start > 4 * FRAME, "{start} to {end}");
    let lengths = (start..end).step_by(1013).chain([start + 1, start + 24, end - 1]);
    let cut = lengths.map(|length| written.log()[..length].to_vec());
    // Of the sectors of a write, any may be durable.
    let zeroed = (start..end).step_by(1536).map(|sector| {
        let mut log = written.log().to_vec();
        log[sector..end.min(sector + 512)].fill(0);
        log
    });
    for log in cut.chain(zeroed) {
        let torn = Image { index: confirmed.index.clone(), ..written.with_log(log) };
        for image in [torn.without_index(), torn] {
            let found = image.open(&target).expect("no confirmed value is lost");
            // Some sectors are written as zeros.
            assert!([4, 140].contains(&found), "{found}");
        }
    }
}

/// A transaction that failed may leave frames, and the mark of the end, after the frames of later transactions.
#[test]
fn s17_frames_of_a_failed_transaction_are_no_damage() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 4);
    let before = Image::of(&source);
    assert!(stored(&open.put(cells(4..140))));
    let failed = Image::of(&source);
    drop(open);
    // As if the sync had failed: a shorter transaction overwrites the first frames.
    fs::write(source.file(), &before.file).expect("it can be written");
    fs::write(beside(&source, "-wal"), before.log()).expect("it can be written");
    let mut open = source.open().expect("it is sound");
    assert!(stored(&open.put(cells(4..5))));
    let after = Image::of(&source);
    let mut log = after.log().to_vec();
    assert!(log.len() < failed.log().len());
    log.extend(&failed.log()[log.len()..]);
    for image in [after.with_log(log.clone()), after.with_log(log).without_index()] {
        assert_eq!(image.open(&target).expect("no confirmed value is lost"), 5);
    }
}

#[test]
fn s17_a_missing_log_is_an_error() {
    let source = Chats::new();
    let target = Chats::new();
    let open = writer(&source, 4);
    let image = Image::of(&source);
    let error = Image { log: None, ..image.clone() }.open(&target).expect_err("values are in the log alone");
    assert!(is_of_the_log(&error), "{error:?}");
    let error =
        Image { file: Vec::new(), ..image.clone() }.open(&target).expect_err("SQLite would remove the log");
    assert!(is_of_the_log(&error), "{error:?}");
    fs::remove_file(target.file()).expect("it is there");
    let error = target.open().map(|_| ()).expect_err("SQLite would remove the log");
    assert!(is_of_the_log(&error) && !target.file().exists(), "{error:?}");
    // All values are in the file.
    checkpoint(&open, "pragma wal_checkpoint(truncate)");
    let image = Image::of(&source);
    assert_eq!(image.log(), [0; 0]);
    for image in
        [image.clone(), Image { log: None, ..image.clone() }, Image { log: None, index: None, ..image }]
    {
        assert_eq!(image.open(&target).expect("the file is whole"), 4);
    }
}

/// A log without a header seemed to belong to an idle file, and its values were computed again.
#[cfg(unix)]
#[test]
fn s17_a_log_that_was_emptied_is_an_error_if_values_were_in_it_alone() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 4);
    let is_refused = |image: &Image| {
        for length in [0, 1, HEADER - 1] {
            let error = image.with_log(image.log()[..length].to_vec()).open(&target);
            let error = error.expect_err("values were in the log alone");
            assert!(is_of_the_log(&error), "{length}: {error:?}");
            let error = error.to_string();
            assert!(error.contains("frames were confirmed, and 0 can be recovered"), "{error}");
        }
    };
    let is_sound = |image: &Image, steps| {
        assert_eq!(image.open(&target).expect("the file is whole"), steps);
        let emptied = image.with_log(Vec::new());
        assert_eq!(emptied.open(&target).expect("the file is whole"), steps);
    };
    is_refused(&Image::of(&source));
    // The index tells that all frames are in the file.
    checkpoint(&open, "pragma wal_checkpoint(passive)");
    is_sound(&Image::of(&source), 4);
    let written_back = Image::of(&source);
    // The log is begun anew, over the older frames.
    assert!(stored(&open.put(cells(4..5))));
    is_refused(&Image::of(&source));
    // The log is emptied.
    checkpoint(&open, "pragma wal_checkpoint(truncate)");
    let emptied = Image::of(&source);
    is_sound(&emptied, 5);
    // A loss of power may leave an index that is as old as its last sync.
    is_sound(&Image { index: written_back.index, ..emptied }, 5);
    assert!(stored(&open.put(cells(5..6))));
    is_refused(&Image::of(&source));
    // A reader of an earlier moment keeps frames from being written back, so nothing is emptied.
    let reader = Connection::open(source.file()).expect("a database");
    reader.execute_batch("begin; select count(*) from flow").expect("it can be read");
    assert!(stored(&open.put(cells(6..7))));
    open.file.idle();
    assert!(open.file.has_idle_work());
    is_refused(&Image::of(&source));
    reader.execute_batch("rollback").expect("it has begun");
    open.file.idle();
    assert!(!open.file.has_idle_work());
    assert_eq!(Image::of(&source).log(), [0; 0]);
    is_sound(&Image::of(&source), 7);
}

/// A log of zeros, or of other bytes, was taken for one that nobody had written, and was begun anew.
#[cfg(unix)]
#[test]
fn s17_a_log_without_a_readable_header_is_an_error_if_values_were_in_it_alone() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 4);
    let overwritten = |image: &Image| {
        let length = image.log().len();
        let other: Vec<u8> = (0..length).map(|at| (at * 167 + at / 251).to_le_bytes()[0]).collect();
        let header = [&[0; HEADER + 24], &image.log()[HEADER + 24..]].concat();
        [vec![0; HEADER], vec![0; length], other, header].map(|log| image.with_log(log))
    };
    let are_refused = |image: &Image| {
        for image in overwritten(image) {
            let error = image.open(&target).expect_err("values were in the log alone");
            assert!(is_of_the_log(&error), "{error:?}");
            let text = error.to_string();
            assert!(text.contains("confirmed") && text.contains("and remove "), "{text}");
        }
    };
    are_refused(&Image::of(&source));
    // The index tells that all frames are in the file.
    checkpoint(&open, "pragma wal_checkpoint(passive)");
    for image in &overwritten(&Image::of(&source))[..3] {
        assert_eq!(image.open(&target).expect("the file is whole"), 4);
    }
    // The log is begun anew, over the older frames.
    assert!(stored(&open.put(cells(4..5))));
    are_refused(&Image::of(&source));
    // Without the index, nothing shows the loss.
    for image in &overwritten(&Image::of(&source))[..3] {
        assert_eq!(image.without_index().open(&target).expect("the file is whole"), 4);
    }
    let written = Image::of(&source);
    open.file.idle();
    assert_eq!(Image::of(&source).log(), [0; 0]);
    // The first write to an empty log was interrupted: the log has a length, and no content.
    for log in [vec![0; 8], vec![0; HEADER], vec![0; HEADER + FRAME]] {
        assert_eq!(Image::of(&source).with_log(log).open(&target).expect("the file is whole"), 5);
    }
    are_refused(&written);
}

/// SQLite would write the frames of an earlier log over later values.
#[cfg(unix)]
#[test]
fn s17_an_earlier_log_beside_the_index_of_a_later_one_is_an_error() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 4);
    let mut images = Vec::new();
    for step in 4..7 {
        images.push(Image::of(&source));
        checkpoint(&open, "pragma wal_checkpoint(passive)");
        assert!(stored(&open.put(cells(step..step + 1))));
    }
    let last = Image::of(&source);
    for (image, steps) in images.iter().zip(4..) {
        let error = last.with_log(image.log().to_vec()).open(&target).expect_err("its values are lost");
        assert!(is_of_the_log(&error), "{error:?}");
        assert!(error.to_string().contains("it is an earlier one"), "{error}");
        // As the error advises: an earlier file with the log of that time.
        let restored = Image { index: last.index.clone(), ..image.clone() };
        restored.open(&target).expect_err("it may be the log alone");
        assert_eq!(restored.without_index().open(&target).expect("both are of one moment"), steps);
    }
}

/// A loss of power leaves an index of any earlier moment, and a durable log. Nothing is lost then.
#[test]
fn s17_an_index_of_an_earlier_moment_is_no_damage() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 2);
    let mut images = Vec::new();
    for step in 2..12 {
        images.push(Image::of(&source));
        if step % 3 == 0 {
            // A log is begun anew; the index has been on no disk.
            checkpoint(&open, "pragma wal_checkpoint(passive)");
            images.push(Image::of(&source));
        }
        assert!(stored(&open.put(cells(step..step + 1))));
    }
    let last = Image::of(&source);
    for earlier in &images {
        let image = Image { index: earlier.index.clone(), ..last.clone() };
        assert_eq!(image.open(&target).expect("the log is whole"), 12);
    }
    // The log has been begun anew, and none of the new frames is durable. All older frames are in the file.
    let before = images.len() - 2;
    let written_back = &images[before - 1];
    let begun = written_back.with_log([&last.log()[..HEADER], &written_back.log()[HEADER..]].concat());
    for earlier in &images[..before] {
        let image = Image { index: earlier.index.clone(), ..begun.clone() };
        assert_eq!(image.open(&target).expect("the file is whole"), 9);
    }
    // The process was killed after the change of the index, and before the log was emptied.
    checkpoint(&open, "pragma wal_checkpoint(truncate)");
    let emptied = Image::of(&source);
    for log in [last.log().to_vec(), Vec::new()] {
        assert_eq!(emptied.with_log(log).open(&target).expect("the file is whole"), 12);
    }
    // The next log begins with other numbers, after one that was emptied by a process that was killed.
    drop(open);
    assert_eq!(emptied.open(&target).expect("the file is whole"), 12);
    let mut open = target.open().expect("it is whole");
    assert!(stored(&open.put(cells(12..13))));
    let image = Image { index: written_back.index.clone(), ..Image::of(&target) };
    assert_eq!(image.open(&source).expect("the log is whole"), 13);
}

/// The file is whole again when nobody has written for a moment, and when it is closed.
#[test]
fn s17_a_file_that_is_idle_is_whole_without_its_log() {
    let source = Chats::new();
    let target = Chats::new();
    let mut open = writer(&source, 4);
    let alone = |source: &Chats| Image { log: None, index: None, ..Image::of(source) };
    assert!(alone(&source).open(&target).is_ok_and(|steps| steps < 4), "the values are in the log");
    assert!(open.file.has_idle_work());
    open.file.idle();
    assert!(!open.file.has_idle_work());
    assert_eq!(alone(&source).open(&target).expect("it is whole"), 4);
    assert!(stored(&open.put(cells(4..5))));
    // Another program has the file open, so SQLite writes nothing back when this connection is closed.
    let other = Connection::open(source.file()).expect("a database");
    other.query_row("select count(*) from flow", (), |row| row.get::<_, i64>(0)).expect("it can be read");
    drop(open);
    assert_eq!(alone(&source).open(&target).expect("it is whole"), 5);
}
