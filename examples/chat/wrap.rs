//! Text beside a gutter: lines break between words at the width of the terminal, and each begins with the gutter.

use std::mem;

use columnar_examples::is_control;
use unicode_width::UnicodeWidthStr as _;

/// A text that arrives in pieces.
pub(crate) struct Wrap {
    width: usize,
    /// The text before each further line.
    gutter: String,
    /// The width of the gutter.
    start: usize,
    /// The width of the line so far.
    at: usize,
    /// The white space after the last word.
    space: String,
    /// The last word, which the next piece may continue.
    word: String,
}

impl Wrap {
    /// The first line has a label of the same width as the gutter. Without a width no line is broken.
    pub(crate) fn new(gutter: &str, width: Option<usize>) -> Self {
        let start = gutter.width();
        let width = width.unwrap_or(usize::MAX).max(start + 1);
        Self { width, gutter: gutter.to_owned(), start, at: start, space: String::new(), word: String::new() }
    }

    /// The lines of a whole text.
    pub(crate) fn lines(mut self, text: &str) -> String {
        self.push(text) + &self.end()
    }

    /// Takes the next piece, and returns the text to print. Only complete words are printed.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            match c {
                '\n' => {
                    out += &self.end();
                    self.break_line(&mut out);
                }
                // A tab has no fixed width, and other characters could control the terminal.
                '\t' | ' ' => {
                    out += &self.end();
                    self.space.push(' ');
                }
                c if is_control(c) => self.word.push(char::REPLACEMENT_CHARACTER),
                c => self.word.push(c),
            }
        }
        out
    }

    /// Returns the last word, for printing.
    pub(crate) fn end(&mut self) -> String {
        let (mut out, word) = (String::new(), mem::take(&mut self.word));
        if word.is_empty() {
            return out;
        }
        if self.at > self.start && self.at + self.space.len() + word.width() > self.width {
            self.break_line(&mut out);
        }
        self.at += self.space.len();
        out += &mem::take(&mut self.space);
        for c in word.chars() {
            let width = c.to_string().width();
            // Only a word that is longer than a line is broken.
            if self.at + width > self.width {
                self.break_line(&mut out);
            }
            self.at += width;
            out.push(c);
        }
        out
    }

    fn break_line(&mut self, out: &mut String) {
        out.push('\n');
        *out += &self.gutter;
        self.at = self.start;
        self.space.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(text: &str, width: usize) -> String {
        Wrap::new("a │ ", Some(width)).lines(text)
    }

    /// A long reply was one line, which the terminal broke inside of a word and continued below the label.
    #[test]
    fn lines_break_between_words_and_keep_the_gutter() {
        let text = "We should rewrite the backend in Rust.";
        assert_eq!(wrapped(text, 20), "We should\na │ rewrite the\na │ backend in Rust.");
        assert_eq!(wrapped(text, 42), text);
        assert_eq!(wrapped(text, 41), "We should rewrite the backend in\na │ Rust.");
        for width in [30, 80, 120] {
            let lines = format!("a │ {}", wrapped(&[text; 20].join(" "), width));
            for line in lines.lines() {
                assert!(line.starts_with("a │ ") && line.chars().count() <= width, "{line}");
            }
            let words: Vec<&str> = lines.split_whitespace().filter(|word| !"a│".contains(word)).collect();
            assert_eq!(words.join(" "), [text; 20].join(" "));
        }
    }

    #[test]
    fn its_own_lines_and_wide_letters_keep_the_gutter() {
        assert_eq!(wrapped("one\n\n- two\tthree\u{1b}[0m", 80), "one\na │ \na │ - two three\u{fffd}[0m");
        assert_eq!(wrapped("我们重写后端", 10), "我们重\na │ 写后端");
        assert_eq!(wrapped("ab https://example.org", 12), "ab\na │ https://\na │ example.\na │ org");
        assert_eq!(Wrap::new("a │ ", None).lines(&"word ".repeat(99)), "word ".repeat(99).trim_end());
    }

    #[test]
    fn pieces_make_the_same_lines() {
        let text = "We should rewrite  the backend in Rust,\nand https://example.org/a/long/address too.";
        for length in 1..10 {
            let mut wrap = Wrap::new("a │ ", Some(24));
            let letters: Vec<char> = text.chars().collect();
            let pieces: String =
                letters.chunks(length).map(|piece| wrap.push(&piece.iter().collect::<String>())).collect();
            assert_eq!(pieces + &wrap.end(), wrapped(text, 24));
        }
    }
}
