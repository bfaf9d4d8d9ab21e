//! The symbols of files, read and parsed by all processors.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use super::error::FileFault;
use super::life::ScanLife;
use super::read::{Stamp, read};
use super::syntax::{Language, SymbolParser, Symbols, Tangled};

/// Fewer files are not worth a thread.
const FILES_PER_THREAD: usize = 32;
/// The stack of a thread, in bytes: enough for nearly all files.
const STACK: usize = 16 << 20;

/// The symbols of a file; `None` if nothing of the language is in it.
type ParsedSymbols = Result<Option<Symbols>, Tangled>;
/// A file that was read, with its stamp.
type Parsed = (Arc<str>, &'static Language, Result<(Stamp, ParsedSymbols), FileFault>);

/// Reads and parses files, until nobody waits for them.
pub(super) fn parse(
    root: &Path,
    files: &[(Arc<str>, &'static Language)],
    life: &ScanLife,
) -> Result<Vec<Parsed>, FileFault> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(files.len() / FILES_PER_THREAD).max(1);
    // Neighbours are in different parts, since large files often are neighbours.
    let work = |nth: usize, stack: usize| {
        let mut parser = SymbolParser::new(stack, life.clone());
        let part = files.iter().skip(nth).step_by(threads);
        let part = part.take_while(|_| !life.is_over());
        part.map(|(path, language)| one(root, path, language, &mut parser)).collect::<Vec<_>>()
    };
    let parsed = thread::scope(|scope| {
        let work = &work;
        let spawn =
            |nth| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || work(nth, STACK));
        let workers: Vec<_> = (0..threads).map(|nth| (nth, spawn(nth))).collect();
        let parts =
            workers.into_iter().map(|(nth, worker)| match worker.map(thread::ScopedJoinHandle::join) {
                Ok(Ok(parsed)) => parsed,
                Ok(Err(panic)) => resume_unwind(panic),
                // The system has no thread.
                Err(_) => work(nth, 0),
            });
        parts.flatten().collect()
    });
    if life.is_over() { Err(FileFault::Stopped) } else { Ok(parsed) }
}

fn one(root: &Path, path: &Arc<str>, language: &'static Language, parser: &mut SymbolParser) -> Parsed {
    let read = read(root, path).map(|(text, stamp)| (stamp, parser.symbols(language, &text)));
    (Arc::clone(path), language, read)
}
