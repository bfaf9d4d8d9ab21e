//! Text of all kinds for counters of tokens.
//!
//! The texts are written for the tests, taken from the sources of the crates in `Cargo.lock`, or generated with fixed seeds. Crates
//! are read from the registry of cargo, so run `cargo fetch` first; a missing file is reported.

mod generate;

use std::fs;
use std::path::{Path, PathBuf};

/// The approximate bytes of a sample, which is the length of a typical value.
const SAMPLE: usize = 300;

/// The same for kinds with less text.
const SHORT: usize = 180;

/// A text and its kind.
#[derive(Clone, Debug)]
struct Sample {
    kind: &'static str,
    text: String,
}

/// All samples.
#[derive(Clone, Debug, Default)]
pub struct Corpus {
    samples: Vec<Sample>,
    /// The files that were not found.
    pub missing: Vec<String>,
}

/// All kinds of text.
pub const KINDS: [&str; 16] = [
    "prose", "chat", "latin", "code", "json", "markup", "digits", "cjk", "cyrillic", "arabic", "scripts",
    "rare", "letters", "base64", "hex", "uuid",
];

/// Files of the tests: written for this, or in the public domain. The paragraphs alternate between the halves.
const WRITTEN: [(&str, &str); 7] = [
    ("cjk", include_str!("cjk.txt")),
    ("chat", include_str!("chat.txt")),
    ("chat", include_str!("../../../examples/chat/apollo13.txt")),
    ("markup", include_str!("../../TIERS.md")),
    ("code", include_str!("../../peers/peers.py")),
    ("code", include_str!("../../local-model.py")),
    ("markup", include_str!("../../FAULTS.md")),
];

/// Files of crates: the kind, the crate, the path.
const CRATES: [(&str, &str, &str); 22] = [
    ("prose", "aho-corasick", "DESIGN.md"),
    ("prose", "jiff", "COMPARE.md"),
    ("markup", "foldhash", "README.md"),
    ("chat", "regex", "CHANGELOG.md"),
    ("latin", "icu_normalizer", "benches/data/Carroll-11-es.txt"),
    ("latin", "icu_normalizer", "benches/data/Carroll-11-pl.txt"),
    ("latin", "icu_normalizer", "benches/data/Carroll-11-tr.txt"),
    ("latin", "icu_normalizer", "benches/data/wotw.txt"),
    ("code", "memchr", "src/memmem/searcher.rs"),
    ("code", "futures-util", "src/stream/futures_unordered/mod.rs"),
    ("code", "h2", "src/proto/streams/flow_control.rs"),
    ("code", "ring", "crypto/curve25519/curve25519.c"),
    ("code", "tiktoken", "src/encodings/build_tkv.py"),
    ("json", "icu_locale_core", "tests/fixtures/locale.json"),
    ("json", "idna", "tests/punycode_tests.json"),
    ("markup", "encoding_rs", "README.md"),
    ("markup", "portable-atomic", "README.md"),
    ("cyrillic", "icu_normalizer", "benches/data/Carroll-11-ru.txt"),
    ("arabic", "icu_normalizer", "benches/data/Carroll-11-ar.txt"),
    ("scripts", "icu_normalizer", "benches/data/Carroll-11-el.txt"),
    ("scripts", "icu_normalizer", "benches/data/Carroll-11-he.txt"),
    ("scripts", "icu_normalizer", "benches/data/Carroll-11-th.txt"),
];

impl Corpus {
    /// All samples, in a fixed order.
    pub fn new() -> Self {
        let mut corpus = Self::default();
        for (kind, text) in WRITTEN {
            corpus.take(kind, text);
        }
        for paragraph in include_str!("scripts.txt").split("\n\n") {
            let kind = match paragraph.chars().next() {
                Some('\u{400}'..='\u{4ff}') => "cyrillic",
                Some('\u{600}'..='\u{6ff}') => "arabic",
                _ => "scripts",
            };
            corpus.take(kind, paragraph);
        }
        for (kind, name, path) in CRATES {
            match read(name, path) {
                Some(text) => corpus.take(kind, &text),
                None => corpus.missing.push(format!("{name}: {path}")),
            }
        }
        corpus.samples.extend(generate::all());
        corpus
    }

    /// The texts of a kind.
    pub fn texts<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        self.samples.iter().filter(move |sample| sample.kind == kind).map(|sample| &*sample.text)
    }

    fn take(&mut self, kind: &'static str, text: &str) {
        let length = if ["cjk", "cyrillic", "arabic", "scripts"].contains(&kind) { SHORT } else { SAMPLE };
        let pieces = pieces(text, length).into_iter().filter(|text| kind != "prose" || is_prose(text));
        self.samples.extend(pieces.map(|text| Sample { kind, text }));
    }
}

/// A text in pieces of about this length, split between lines, or else between words.
fn pieces(text: &str, length: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let lines = text.lines().filter(|line| !line.starts_with("# ")).map(|line| format!("{line}\n"));
    let sentences =
        |line: String| line.split_inclusive(['.', '。', '؟', '।']).map(str::to_owned).collect::<Vec<_>>();
    for bit in lines.flat_map(sentences) {
        // A sentence is added if that brings the piece nearer to the length.
        if pieces.last().is_some_and(|piece| piece.len() + bit.len() / 2 > length) {
            pieces.push(String::new());
        }
        if let Some(piece) = pieces.last_mut() {
            piece.push_str(&bit);
        }
    }
    // The last piece may be too short to be typical.
    pieces.retain(|piece| piece.trim().len() > length / 3);
    // A few dozen pieces, evenly spaced, represent a long file.
    let stride = pieces.len().div_ceil(60).max(1);
    pieces.into_iter().step_by(stride).map(|piece| piece.trim().to_owned()).collect()
}

/// Excludes the tables and the code of documents about programs.
fn is_prose(text: &str) -> bool {
    // No division by 0, as `pieces` returns no empty text.
    let count = |is: fn(&u8) -> bool| text.bytes().filter(is).count() * 100 / text.len();
    count(u8::is_ascii_alphabetic) > 75 && count(|byte| !byte.is_ascii_alphabetic() && *byte != b' ') < 10
}

/// The text of a file of a crate, in the version that is locked.
fn read(name: &str, path: &str) -> Option<String> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))?;
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock")).ok()?;
    let (_, rest) = lock.split_once(&format!("name = \"{name}\"\nversion = \""))?;
    let (version, _) = rest.split_once('"')?;
    let mut indices = fs::read_dir(home.join("registry/src")).ok()?.flatten();
    indices
        .find_map(|index| fs::read_to_string(index.path().join(format!("{name}-{version}")).join(path)).ok())
}
