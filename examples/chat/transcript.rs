//! Messages from a file or a pipe, read one line at a time.

use std::fmt;
use std::io::{self, BufRead};

/// Lines of UTF-8 text. As an iterator it gives the messages: every line that is not blank and does
/// not begin with `#`.
///
/// It reads no further than it is asked, so a bad line costs nothing that comes before it.
#[derive(Debug)]
pub(crate) struct Transcript<R> {
    name: String,
    input: R,
    /// The number of the line that was read last.
    number: usize,
}

/// A line that cannot be read.
#[derive(Debug)]
pub(crate) struct Unreadable {
    name: String,
    number: usize,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    NotUtf8 { byte: u8, at: usize },
    Io(io::Error),
}

impl<R: BufRead> Transcript<R> {
    /// A transcript that errors call by `name`.
    pub(crate) fn new(name: impl Into<String>, input: R) -> Self {
        Self { name: name.into(), input, number: 0 }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The next line without its end, whatever is in it.
    pub(crate) fn line(&mut self) -> Option<Result<String, Unreadable>> {
        let mut bytes = Vec::new();
        self.number += 1;
        match self.input.read_until(b'\n', &mut bytes) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(self.unreadable(Problem::Io(error)))),
        }
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let text = str::from_utf8(line).map_err(|error| {
            let at = error.valid_up_to();
            let byte = line.get(at).copied().unwrap_or_default();
            self.unreadable(Problem::NotUtf8 { byte, at: at + 1 })
        });
        Some(text.map(|text| self.without_mark(text).to_owned()))
    }

    /// Editors of some systems put a byte order mark before the first line.
    fn without_mark<'l>(&self, line: &'l str) -> &'l str {
        if self.number == 1 { line.trim_start_matches('\u{feff}') } else { line }
    }

    fn unreadable(&self, problem: Problem) -> Unreadable {
        Unreadable { name: self.name.clone(), number: self.number, problem }
    }
}

impl<R: BufRead> Iterator for Transcript<R> {
    type Item = Result<String, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        let is_message = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
        loop {
            match self.line()? {
                Ok(line) if !is_message(&line) => {}
                line => return Some(line),
            }
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, number, problem } = self;
        match problem {
            Problem::NotUtf8 { byte, at } => {
                write!(f, "{name}, line {number}: not UTF-8 (byte {at} of the line is 0x{byte:02X})")
            }
            Problem::Io(error) => write!(f, "{name}, line {number}: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<Result<String, String>> {
        let lines = Transcript::new("a.txt", text);
        lines.map(|line| line.map_err(|error| error.to_string())).collect()
    }

    #[test]
    fn blank_lines_and_comments_are_no_messages() {
        let lines = read(b"# a comment\n\n  \t\nAda: one\n  two # three \nlast");
        assert_eq!(lines, [Ok("Ada: one".into()), Ok("  two # three ".into()), Ok("last".into())]);
        assert!(read(b"").is_empty());
    }

    #[test]
    fn marks_and_line_ends_of_other_systems_are_no_text() {
        let lines = read("\u{feff}# a comment\r\none\r\n\r\ntwo\r\n".as_bytes());
        assert_eq!(lines, [Ok("one".into()), Ok("two".into())]);
    }

    #[test]
    fn a_line_that_is_not_utf8_is_told_by_its_number_after_those_before_it() {
        let lines = read(b"one\n# two\nthr\xe9e\nfour\n");
        let problem = "a.txt, line 3: not UTF-8 (byte 4 of the line is 0xE9)";
        assert_eq!(lines, [Ok("one".into()), Err(problem.into()), Ok("four".into())]);
    }

    #[test]
    fn nothing_is_read_ahead() {
        let mut bytes: &[u8] = b"one\ntwo\n";
        let mut lines = Transcript::new("a.txt", &mut bytes);
        assert!(lines.next().is_some_and(|line| line.is_ok_and(|line| line == "one")));
        assert_eq!(bytes, b"two\n");
    }

    #[test]
    fn a_reader_that_fails_is_told() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("the disk is gone"))
            }
        }
        let mut lines = Transcript::new("a.txt", io::BufReader::new(Broken));
        let error = lines.next().expect("an item").expect_err("the reader fails");
        assert_eq!(error.to_string(), "a.txt, line 1: the disk is gone");
    }
}
