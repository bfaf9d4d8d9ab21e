//! Parsing alone: the texts of all files with a grammar, each read and parsed, and nothing else. It has the grammars and as
//! many threads as the library.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use tree_sitter::{Language, Parser};

/// The number of files for which the library starts a thread.
const FILES_PER_THREAD: usize = 32;
/// More than any text of the repositories needs. Only the memory that is in use is taken.
const STACK: usize = 512 << 20;

/// The files of a repository that have a grammar.
pub(crate) struct Parsing {
    files: Vec<(PathBuf, Language)>,
}

impl Parsing {
    pub(crate) fn new<'p>(root: &Path, paths: impl Iterator<Item = &'p str>) -> Self {
        let files = paths.filter_map(|path| Some((root.join(path), grammar(path)?)));
        Self { files: files.collect() }
    }

    pub(crate) fn files(&self) -> usize {
        self.files.len()
    }

    /// Reads and parses all files. Returns the number of their bytes.
    pub(crate) fn run(&self) -> usize {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let threads = processors.min(self.files.len() / FILES_PER_THREAD).max(1);
        thread::scope(|scope| {
            let work = |nth| move || self.part(nth, threads);
            let spawn = |nth| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work(nth));
            let workers: Vec<_> = (0..threads).map(spawn).collect();
            let parts = workers
                .into_iter()
                .map(|worker| worker.expect("a few threads").join().expect("C does not panic"));
            parts.sum()
        })
    }

    fn part(&self, nth: usize, threads: usize) -> usize {
        let (mut parser, mut before) = (Parser::new(), None);
        let mut bytes = 0;
        for (path, grammar) in self.files.iter().skip(nth).step_by(threads) {
            if before != Some(grammar) {
                parser.set_language(grammar).expect("the grammars are of this version");
                before = Some(grammar);
            }
            let Ok(text) = fs::read_to_string(path) else { continue };
            drop(parser.parse(&text, None).expect("nothing stops it"));
            bytes += text.len();
        }
        bytes
    }
}

fn grammar(path: &str) -> Option<Language> {
    let (_, extension) = path.rsplit('/').next()?.rsplit_once('.')?;
    let language = match extension {
        "rs" => tree_sitter_rust::LANGUAGE,
        "py" | "pyi" => tree_sitter_python::LANGUAGE,
        "js" | "cjs" | "mjs" | "jsx" => tree_sitter_javascript::LANGUAGE,
        "ts" | "cts" | "mts" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        "tsx" => tree_sitter_typescript::LANGUAGE_TSX,
        "c" => tree_sitter_c::LANGUAGE,
        "h" | "cc" | "cpp" | "cxx" | "hh" | "hpp" | "hxx" => tree_sitter_cpp::LANGUAGE,
        "go" => tree_sitter_go::LANGUAGE,
        _ => return None,
    };
    Some(language.into())
}
