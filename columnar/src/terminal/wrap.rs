//! An output whose lines break between words.

use std::io::{self, ErrorKind, Write};
use std::{mem, str};

use console::{AnsiCodeIterator, strip_ansi_codes};
use unicode_segmentation::UnicodeSegmentation as _;

use super::text::{beginning, columns};

/// The columns of the widest characters, as people see them.
const WIDEST: usize = 4;

/// The spaces in place of a tab, which has no fixed width.
const TAB: usize = 4;

/// An output whose lines break between words at a width. Only a word that is longer than a line is broken. Colours take no
/// room.
///
/// A word is written when its end is known: by white space, or when the writer is dropped.
///
/// ```
/// use std::io::Write;
///
/// use columnar::terminal::WrapWriter;
///
/// # fn main() -> std::io::Result<()> {
/// let mut text = Vec::new();
/// let mut out = WrapWriter::new(&mut text, Some(20)).indent(2);
/// writeln!(out, "We should rewrite the backend in Rust.")?;
/// out.begin_block("reply │ ")?;
/// write!(out, "Since when is it slow?")?;
/// out.end_block()?;
/// drop(out);
/// let lines = "\
/// We should rewrite
///   the backend in
///   Rust.
/// reply │ Since when
///       │ is it slow?
/// ";
/// assert_eq!(String::from_utf8_lossy(&text), lines);
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct WrapWriter<W: Write> {
    out: W,
    width: Option<usize>,
    /// The text before a line that continues a broken one.
    indent: String,
    /// The text before all further lines of a block.
    gutter: Option<String>,
    /// The columns of the line so far.
    at: usize,
    /// The spaces after the last word.
    spaces: usize,
    /// The last word, whose end is not known.
    word: String,
    /// Whether the line has a word beside the gutter.
    has_words: bool,
}

impl<W: Write> WrapWriter<W> {
    /// A writer with lines of this [width](super::width). Without a width, no line is broken.
    pub fn new(out: W, width: Option<usize>) -> Self {
        Self {
            out,
            width,
            indent: String::new(),
            gutter: None,
            at: 0,
            spaces: 0,
            word: String::new(),
            has_words: false,
        }
    }

    /// Sets the number of spaces before a line that continues a broken one; 0 by default.
    #[must_use]
    pub fn indent(mut self, spaces: usize) -> Self {
        self.indent = " ".repeat(spaces);
        self
    }

    /// Writes a label, and begins a text beside it: all further lines begin below the end of the label. A `│` in the label
    /// goes on in these lines.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn begin_block(&mut self, label: &str) -> io::Result<()> {
        write!(self, "{label}")?;
        self.flush_words()?;
        self.has_words = false;
        let gutter = strip_ansi_codes(label).chars().map(|c| if c == '│' { c } else { ' ' }).collect();
        self.gutter = Some(gutter);
        Ok(())
    }

    /// Ends the text of a block, and the line.
    ///
    /// # Errors
    ///
    /// The errors of the output.
    pub fn end_block(&mut self) -> io::Result<()> {
        self.flush_words()?;
        self.gutter = None;
        writeln!(self)
    }

    fn write_text(&mut self, text: &str, width: usize) -> io::Result<()> {
        for c in text.chars() {
            match c {
                '\n' => {
                    self.end_word(width)?;
                    self.next_line(self.gutter.clone().unwrap_or_default(), width)?;
                }
                ' ' | '\t' => {
                    self.end_word(width)?;
                    self.spaces += if c == '\t' { TAB } else { 1 };
                }
                c => self.word.push(c),
            }
        }
        Ok(())
    }

    fn end_word(&mut self, width: usize) -> io::Result<()> {
        let word = mem::take(&mut self.word);
        if word.is_empty() {
            return Ok(());
        }
        if self.at + self.spaces + columns(&strip_ansi_codes(&word)) > width {
            self.spaces = 0;
            if self.has_words {
                self.break_line(width)?;
            }
        }
        self.write_spaces(width)?;
        for (part, is_code) in AnsiCodeIterator::new(&word) {
            if is_code { self.out.write_all(part.as_bytes())? } else { self.write_part(part, width)? }
        }
        Ok(())
    }

    /// Writes a word, which is broken where it is longer than the line.
    fn write_part(&mut self, mut rest: &str, width: usize) -> io::Result<()> {
        while let Some(first) = rest.graphemes(true).next() {
            let mut part = beginning(rest, width.saturating_sub(self.at));
            if part.is_empty() && self.has_words {
                self.break_line(width)?;
                continue;
            }
            if part.is_empty() {
                // A character that is wider than the line is alone there.
                part = first;
            }
            self.out.write_all(part.as_bytes())?;
            self.at += columns(part);
            self.has_words = true;
            rest = rest.get(part.len()..).unwrap_or_default();
        }
        Ok(())
    }

    fn break_line(&mut self, width: usize) -> io::Result<()> {
        self.next_line(self.gutter.as_ref().unwrap_or(&self.indent).clone(), width)
    }

    fn next_line(&mut self, mut start: String, width: usize) -> io::Result<()> {
        // A gutter that would leave little room is left out.
        if columns(&start) * 2 > width || columns(&start) + WIDEST > width {
            start.clear();
        }
        write!(self.out, "\n{start}")?;
        self.at = columns(&start);
        self.spaces = 0;
        self.has_words = false;
        Ok(())
    }

    fn write_spaces(&mut self, width: usize) -> io::Result<()> {
        let spaces = mem::take(&mut self.spaces).min(width.saturating_sub(self.at));
        self.at += spaces;
        write!(self.out, "{:spaces$}", "")
    }

    fn flush_words(&mut self) -> io::Result<()> {
        let width = self.width.unwrap_or(usize::MAX);
        self.end_word(width)?;
        self.write_spaces(width)
    }
}

impl<W: Write> Write for WrapWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let whole = match str::from_utf8(bytes) {
            Err(error) if error.valid_up_to() > 0 => bytes.get(..error.valid_up_to()),
            _ => Some(bytes),
        };
        let whole = whole.unwrap_or_default();
        let text = str::from_utf8(whole).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        match (self.width, &self.gutter) {
            (Some(width), _) => self.write_text(text, width)?,
            (None, Some(gutter)) => {
                self.out.write_all(text.replace('\n', &format!("\n{gutter}")).as_bytes())?;
            }
            (None, None) => self.out.write_all(whole)?,
        }
        Ok(whole.len())
    }

    /// Writes what is complete: the spaces after a prompt, and no part of a word.
    fn flush(&mut self) -> io::Result<()> {
        if self.word.is_empty() {
            self.flush_words()?;
        }
        self.out.flush()
    }
}

impl<W: Write> Drop for WrapWriter<W> {
    fn drop(&mut self) {
        // A fault of the output has no place here, as in a `BufWriter`.
        let _ = self.flush_words();
    }
}
