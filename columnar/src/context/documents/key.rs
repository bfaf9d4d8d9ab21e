//! The key of a document. It is checked once, so a [`Key`] is always valid.
//!
//! A path is the only part of a document that a context shows outside of a fence. So it must not end its line, open a
//! fence of its own, or lead out of the folder that it is in.

use std::fmt;
use std::sync::Arc;

use crate::declare::error::Printable;

/// The kind of a document. Kinds are ordered as contexts show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The entry of a file in the map of a repository: its symbols, and who refers to them.
    Symbol,
    /// A whole file.
    File,
    /// The text of a web page.
    Url,
}

impl Kind {
    /// The kind as the text of a key shows it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Symbol => "symbol",
            Self::File => "file",
            Self::Url => "url",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The name of a document: its kind, and its path or URL. Keys are ordered by kind, then by path.
///
/// A path is relative, and a `\` in it is a `/`: `.\src\lib.rs` is the path `src/lib.rs`. Cloning a key is a reference
/// count.
///
/// ```
/// use columnar::documents::{Key, Kind};
///
/// let key = Key::new(Kind::File, r".\src\lib.rs")?;
/// assert_eq!(key.path(), "src/lib.rs");
/// assert_eq!(key.to_string(), "file:src/lib.rs");
/// assert!(Key::new(Kind::Symbol, "src/main.rs")? < key);
///
/// let outside = Key::new(Kind::File, "../secret").expect_err("it leads out of the folder");
/// assert_eq!(outside.to_string(), "the path `../secret` of a file contains `..`: name it from the folder that it is in");
/// # Ok::<(), columnar::documents::KeyError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    // The order of the fields is the order of keys.
    kind: Kind,
    path: Arc<str>,
}

impl Key {
    /// The length of the longest path or URL, in bytes.
    pub const MAX_LEN: usize = 4096;

    /// Checks and normalises a path, or checks a URL.
    ///
    /// # Errors
    ///
    /// [`KeyError`] if the path is empty, absolute or too long, contains `..`, a control character, a line break or a mark of
    /// direction, or begins like a fence; or if the URL is not one of http or https.
    pub fn new(kind: Kind, path: &str) -> Result<Self, KeyError> {
        let checked = match kind {
            Kind::Url => checked_url(path).map(Arc::from),
            Kind::Symbol | Kind::File => checked_path(path),
        };
        match checked {
            Ok(path) => Ok(Self { kind, path }),
            Err(fault) => Err(KeyError::new(kind, path, fault)),
        }
    }

    /// The kind of the document.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Its path, or its URL.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The key of the file with the same path.
    pub(crate) fn of_file(&self) -> Self {
        Self { kind: Kind::File, path: Arc::clone(&self.path) }
    }

    /// The key of the symbols of the file with the same path.
    pub(crate) fn of_symbols(&self) -> Self {
        Self { kind: Kind::Symbol, path: Arc::clone(&self.path) }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.path)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_string(), f)
    }
}

/// The reason why a text is no path or URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// It names nothing.
    #[error("is empty: name the document")]
    Empty,
    /// It is longer than [`Key::MAX_LEN`].
    #[error("is longer than {} bytes: use a shorter one", Key::MAX_LEN)]
    TooLong,
    /// The path is absolute.
    #[error("is absolute: name it from the folder that it is in")]
    Absolute,
    /// The path contains `..`.
    #[error("contains `..`: name it from the folder that it is in")]
    Parent,
    /// It contains a control character, a line break or a mark of the direction of text.
    #[error(
        "contains a control character, a line break or a mark of direction: use one without, or leave it out"
    )]
    Control,
    /// The path begins with three backticks or tildes, like a fence.
    #[error("begins like a fence: name it from a folder above, or leave it out")]
    Fence,
    /// The URL does not begin with `http://` or `https://` and the name of a host, or contains a space.
    #[error("is no URL: begin with `http://` or `https://`, and encode spaces as `%20`")]
    NoUrl,
}

/// A text that cannot name a document.
///
/// It shows the path, unless that is longer than any or has several lines. Then it is more likely the text of a document,
/// which no error shows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{subject} {fault}")]
pub struct KeyError {
    kind: Kind,
    /// The path or URL as a message shows it.
    subject: String,
    fault: KeyFault,
}

impl KeyError {
    fn new(kind: Kind, path: &str, fault: KeyFault) -> Self {
        let (noun, document) = match kind {
            Kind::Symbol => ("path", "symbols"),
            Kind::File => ("path", "a file"),
            Kind::Url => ("URL", "a page"),
        };
        let subject = match fault {
            KeyFault::TooLong | KeyFault::Control => {
                format!("a {noun} of {document}, of {} bytes,", path.len())
            }
            _ => format!("the {noun} `{}` of {document}", Printable(path)),
        };
        Self { kind, subject, fault }
    }

    /// The kind of the document.
    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// The reason.
    pub const fn fault(&self) -> KeyFault {
        self.fault
    }
}

/// The path with `/` between its parts, and without empty parts and `.`.
fn checked_path(path: &str) -> Result<Arc<str>, KeyFault> {
    check_text(path)?;
    // A drive of Windows, `C:/`, begins an absolute path as well.
    let has_drive =
        matches!(path.as_bytes(), [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic());
    if path.starts_with(['/', '\\']) || has_drive {
        return Err(KeyFault::Absolute);
    }
    let parts = path.split(['/', '\\']).filter(|part| !matches!(*part, "" | "."));
    if parts.clone().any(|part| part == "..") {
        return Err(KeyFault::Parent);
    }
    // Nearly all paths are normal already, and are copied once.
    let is_normal = !path.contains('\\') && path.split('/').all(|part| !matches!(part, "" | "."));
    let path: Arc<str> = if is_normal { path.into() } else { parts.collect::<Vec<_>>().join("/").into() };
    let start = path.trim_start();
    if start.is_empty() {
        return Err(KeyFault::Empty);
    }
    if start.starts_with("```") || start.starts_with("~~~") {
        return Err(KeyFault::Fence);
    }
    Ok(path)
}

fn checked_url(url: &str) -> Result<&str, KeyFault> {
    check_text(url)?;
    let rest = ["http://", "https://"].iter().find_map(|scheme| {
        let (start, rest) = url.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    });
    let has_host = rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '['));
    if has_host && !url.contains(char::is_whitespace) { Ok(url) } else { Err(KeyFault::NoUrl) }
}

fn check_text(text: &str) -> Result<(), KeyFault> {
    if text.is_empty() {
        return Err(KeyFault::Empty);
    }
    if text.len() > Key::MAX_LEN {
        return Err(KeyFault::TooLong);
    }
    if text.contains(is_refused) { Err(KeyFault::Control) } else { Ok(()) }
}

/// Whether a character would end the line, or changes the order in which the text around it is shown, so that a name looks
/// like another one: all characters with the property
/// [`Bidi_Control`](https://www.unicode.org/reports/tr9/#Directional_Formatting_Characters).
fn is_refused(c: char) -> bool {
    // Some readers end a line at the first two, which are no control characters.
    c.is_control()
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(path: &str) -> Result<String, KeyFault> {
        Key::new(Kind::File, path).map(|key| key.path().to_owned()).map_err(|error| error.fault())
    }

    fn url(url: &str) -> Result<String, KeyFault> {
        Key::new(Kind::Url, url).map(|key| key.path().to_owned()).map_err(|error| error.fault())
    }

    #[test]
    fn paths_have_one_form() {
        for (written, normal) in [
            ("a", "a"),
            ("src/lib.rs", "src/lib.rs"),
            (r"src\lib.rs", "src/lib.rs"),
            (r".\src//lib.rs", "src/lib.rs"),
            ("./a/./b/", "a/b"),
            ("..a/b../...", "..a/b../..."),
            ("é 漢/🦀.rs", "é 漢/🦀.rs"),
            ("a:b", "a:b"),
            ("a```", "a```"),
            ("``", "``"),
        ] {
            assert_eq!(path(written).as_deref(), Ok(normal), "{written:?}");
            assert_eq!(path(normal).as_deref(), Ok(normal), "{written:?}");
        }
    }

    #[test]
    fn paths_stay_on_their_line_and_in_their_folder() {
        for (bad, fault) in [
            ("", KeyFault::Empty),
            (".", KeyFault::Empty),
            (" ", KeyFault::Empty),
            (".//./", KeyFault::Empty),
            ("/etc/passwd", KeyFault::Absolute),
            (r"\\server\share", KeyFault::Absolute),
            (r"C:\a", KeyFault::Absolute),
            ("c:/a", KeyFault::Absolute),
            ("..", KeyFault::Parent),
            ("../a", KeyFault::Parent),
            (r"a\..\b", KeyFault::Parent),
            ("a/..", KeyFault::Parent),
            ("a\nb", KeyFault::Control),
            ("a\0", KeyFault::Control),
            ("a\u{7f}", KeyFault::Control),
            ("a\u{85}", KeyFault::Control),
            ("a\u{2028}b", KeyFault::Control),
            ("\u{202e}sr.bil", KeyFault::Control),
            ("a\u{2067}b", KeyFault::Control),
            // The marks that reverse no other text were accepted.
            ("a\u{200f}b", KeyFault::Control),
            ("a\u{200e}b", KeyFault::Control),
            ("a\u{61c}b", KeyFault::Control),
            ("```", KeyFault::Fence),
            ("./```rust", KeyFault::Fence),
            ("  ~~~~", KeyFault::Fence),
            (&"a".repeat(Key::MAX_LEN + 1), KeyFault::TooLong),
        ] {
            assert_eq!(path(bad), Err(fault), "{bad:?}");
        }
        assert!(path(&"a".repeat(Key::MAX_LEN)).is_ok());
    }

    #[test]
    fn urls_are_kept_as_written() {
        for good in ["http://a", "HTTPS://Example.org/a//../b?c=d#e", "http://[::1]/", "https://é.example/"]
        {
            assert_eq!(url(good).as_deref(), Ok(good));
        }
        for bad in [
            "example.org",
            "ftp://a",
            "file:///etc/passwd",
            "http://",
            "http:///a",
            "http://a b",
            "javascript:a",
        ] {
            assert_eq!(url(bad), Err(KeyFault::NoUrl), "{bad:?}");
        }
        assert_eq!(url("http://a\nb"), Err(KeyFault::Control));
    }

    #[test]
    fn keys_are_ordered_by_kind_and_path() {
        let key = |kind, path| Key::new(kind, path).expect("a key");
        let mut keys = [
            key(Kind::Url, "http://a"),
            key(Kind::File, "b"),
            key(Kind::File, "a/b"),
            key(Kind::Symbol, "z"),
            key(Kind::File, "a"),
        ];
        keys.sort();
        let shown: Vec<_> = keys.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["symbol:z", "file:a", "file:a/b", "file:b", "url:http://a"]);
    }

    /// Path and text are easily swapped, and the error must not repeat the text.
    #[test]
    fn an_error_shows_no_text_of_a_document() {
        let text = "fn secret() {\n}\n";
        for text in [text.to_owned(), "x".repeat(5000)] {
            let error = Key::new(Kind::File, &text).expect_err("it is no path").to_string();
            assert!(!error.contains("secret") && error.len() < 200, "{error}");
            assert!(error.contains(&format!("of {} bytes", text.len())), "{error}");
        }
        let error = Key::new(Kind::File, "../\u{200b}a").expect_err("it is no path").to_string();
        assert!(error.contains(r"`../\u{200b}a`"), "{error}");
    }
}
