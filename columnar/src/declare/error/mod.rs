//! The error types and functions that every layer uses.

mod caught;
#[cfg(any(feature = "providers", feature = "postgres"))]
pub(crate) mod leaks;

pub(crate) use caught::{CaughtFuture, caught, discard};

use std::fmt::{self, Write};
use std::path::Path;

/// Any error: the type in which compute steps, models and stores report theirs.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// An error and its sources, from the error itself to its root cause.
pub(crate) fn chain<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> impl Iterator<Item = &'e (dyn std::error::Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// A text of a user in an error, such as a path: characters that could control a terminal, forge a line of a log or turn the
/// direction of the text are escaped, as in `\u{1b}`.
pub(crate) struct Printable<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Printable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{}", self.0)
    }
}

/// The path as an error shows it.
pub(crate) fn shown(path: &Path) -> Printable<std::path::Display<'_>> {
    Printable(path.display())
}

struct Escaping<'a, 'f>(&'a mut fmt::Formatter<'f>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|c| self.write_char(c))
    }

    fn write_char(&mut self, c: char) -> fmt::Result {
        if is_invisible(c) { write!(self.0, "{}", c.escape_unicode()) } else { self.0.write_char(c) }
    }
}

/// Control characters, and the format characters of Unicode (category Cf) that are in use.
pub(crate) fn is_invisible(c: char) -> bool {
    match c {
        '\u{ad}'
        | '\u{61c}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// The most characters of a text that an error shows.
const LONGEST_SHOWN: usize = 80;

/// A text of a user in quotes: the beginning, escaped so that it cannot forge a line of a log.
pub(crate) fn excerpt(text: &str) -> String {
    let mut excerpt = String::from("`");
    let mut chars = text.chars();
    for c in chars.by_ref().take(LONGEST_SHOWN) {
        // Quotes are not escaped, because a view may have a tag in quotes.
        match c {
            '"' | '\'' | '\\' => excerpt.push(c),
            c => excerpt.extend(c.escape_debug()),
        }
    }
    excerpt + if chars.as_str().is_empty() { "`" } else { "…`" }
}

/// The known name that is most similar to an unknown one, if one is similar.
pub(crate) fn nearest<'n, N: AsRef<str> + Ord>(name: &str, known: &'n [N]) -> Option<&'n N> {
    let length = name.chars().count();
    // A name that is much longer or shorter has more other letters than may differ. Comparing it would cost the product of
    // both lengths.
    let known = known
        .iter()
        .filter(|known| known.as_ref().chars().count().abs_diff(length) <= known.as_ref().len().max(3) / 3);
    let known = known.map(|known| (strsim::damerau_levenshtein(name, known.as_ref()), known));
    // A third of the letters may differ, and one in the shortest names.
    let similar = known.filter(|(distance, known)| *distance <= known.as_ref().len().max(3) / 3);
    similar.min().map(|(_, known)| known)
}

/// The message about a name that no column has.
pub(crate) fn unknown_column<N: AsRef<str>>(name: &str, similar: Option<&N>, columns: &[N]) -> String {
    let name = excerpt(name);
    match similar {
        Some(similar) => format!("no column is named {name}; did you mean `{}`?", similar.as_ref()),
        None => format!("no column is named {name}; there are {}", list(columns)),
    }
}

/// Errors with a line for each.
pub(crate) fn lines(errors: &[impl fmt::Display]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The first texts with a separator between them, and the number of the others after `end`: `a, b and 3 more`.
pub(crate) fn first<T: fmt::Display>(texts: &[T], most: usize, separator: &str, end: &str) -> String {
    let first = texts.iter().take(most).map(ToString::to_string).collect::<Vec<_>>().join(separator);
    match texts.len().saturating_sub(most) {
        0 => first,
        more => format!("{first}{end}and {more} more"),
    }
}

/// Names as text: `` `a`, `b` ``.
pub(crate) fn list<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> String {
    names.into_iter().map(|name| format!("`{}`", name.as_ref())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of a file could rename the window of a terminal, or forge a line of a log.
    #[test]
    fn x6_a_path_cannot_control_the_terminal() {
        for (path, expected) in [
            ("/tmp/it's \"here\"\\é漢", "/tmp/it's \"here\"\\é漢"),
            ("a\u{1b}]0;x\u{7}\n\r\u{9b}2J", "a\\u{1b}]0;x\\u{7}\\u{a}\\u{d}\\u{9b}2J"),
            ("\u{202e}gpj.exe\u{200b}", "\\u{202e}gpj.exe\\u{200b}"),
        ] {
            assert_eq!(shown(Path::new(path)).to_string(), expected);
        }
    }
}
