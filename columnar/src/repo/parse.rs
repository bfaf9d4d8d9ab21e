//! The symbols of files, read and parsed by all processors.

use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use super::error::FileFault;
use super::read::{Stamp, read};
use super::syntax::{Language, SymbolParser, Symbols};

/// Fewer files are not worth a thread.
const FILES_PER_THREAD: usize = 32;
/// The stack of a thread, in bytes: enough for nearly all files.
const STACK: usize = 16 << 20;

/// A file that was read: its stamp, and its symbols if it parses.
type Parsed = (Arc<str>, &'static Language, Result<(Stamp, Option<Symbols>), FileFault>);

/// Reads and parses files.
pub(super) fn parse(root: &Path, files: &[(Arc<str>, &'static Language)]) -> Vec<Parsed> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let threads = processors.min(files.len() / FILES_PER_THREAD).max(1);
    // Neighbours are in different parts, since large files often are neighbours.
    let work = |nth: usize, stack: usize| {
        let mut parser = SymbolParser::new(stack);
        let part = files.iter().skip(nth).step_by(threads);
        part.map(|(path, language)| one(root, path, language, &mut parser)).collect::<Vec<_>>()
    };
    thread::scope(|scope| {
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
    })
}

fn one(root: &Path, path: &Arc<str>, language: &'static Language, parser: &mut SymbolParser) -> Parsed {
    let read = read(root, path).map(|(text, stamp)| (stamp, parser.symbols(language, &text)));
    (Arc::clone(path), language, read)
}
