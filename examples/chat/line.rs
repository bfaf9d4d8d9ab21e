//! Text that streams in behind a label.

use std::io::{self, Write};

use anstyle::Style;

/// The shape of all lines: a label, a bar, and the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// How wide the labels are.
    pub(crate) label: usize,
    /// How much text fits behind a label; `None` leaves the wrapping to the terminal.
    pub(crate) room: Option<usize>,
}

/// Less room than this for the text is not worth wrapping.
const LEAST_ROOM: usize = 20;

impl Layout {
    pub(crate) fn new(label: usize, width: Option<usize>) -> Self {
        let room = width.and_then(|width| width.checked_sub(label + " │ ".chars().count()));
        Self { label, room: room.filter(|room| *room >= LEAST_ROOM) }
    }
}

/// A text that is being written: wrapped at words, every further line indented to the first.
///
/// Nothing that is on the screen is taken back, so where there is wrapping a word appears when it is
/// complete. White space waits for the word after it; at the end of a text there is none.
#[derive(Debug)]
pub(crate) struct Line {
    layout: Layout,
    style: Style,
    bar: &'static str,
    /// How much of the room is used.
    used: usize,
    gap: String,
    word: String,
}

impl Line {
    /// Writes the label.
    pub(crate) fn begin(
        out: &mut impl Write,
        layout: Layout,
        label: &str,
        style: Style,
        bar: &'static str,
    ) -> io::Result<Self> {
        write!(out, "{style}{label:<width$} {bar}{style:#} ", width = layout.label)?;
        Ok(Self { layout, style, bar, used: 0, gap: String::new(), word: String::new() })
    }

    /// Writes more of the text.
    pub(crate) fn push(&mut self, out: &mut impl Write, text: &str) -> io::Result<()> {
        for c in text.chars() {
            if c.is_whitespace() {
                self.end_word(out)?;
                self.gap.push(if c == '\t' { ' ' } else { c });
            } else {
                // A text may not steer the terminal.
                self.word.push(if c.is_control() { char::REPLACEMENT_CHARACTER } else { c });
            }
        }
        if self.layout.room.is_none() {
            self.end_word(out)?;
        }
        Ok(())
    }

    /// Writes what is left of the text and ends the line.
    pub(crate) fn end(mut self, out: &mut impl Write) -> io::Result<()> {
        self.end_word(out)?;
        writeln!(out)
    }

    fn end_word(&mut self, out: &mut impl Write) -> io::Result<()> {
        if self.word.is_empty() {
            return Ok(());
        }
        let gap = std::mem::take(&mut self.gap);
        let (breaks, spaces) = gap
            .rsplit_once('\n')
            .map_or((0, gap.as_str()), |(before, spaces)| (before.matches('\n').count() + 1, spaces));
        let (gap, word) = (spaces.chars().count(), self.word.chars().count());
        for _ in 0..breaks {
            self.next_line(out)?;
        }
        let is_full = self.used > 0 && self.layout.room.is_some_and(|room| self.used + gap + word > room);
        if is_full {
            self.next_line(out)?;
        } else {
            write!(out, "{spaces}")?;
            self.used += gap;
        }
        write!(out, "{}", self.word)?;
        self.used += word;
        self.word.clear();
        Ok(())
    }

    fn next_line(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.used = 0;
        let Self { layout, style, bar, .. } = self;
        write!(out, "\n{style}{:width$} {bar}{style:#} ", "", width = layout.label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(width: Option<usize>, pieces: &[&str]) -> String {
        let mut out = Vec::new();
        let layout = Layout::new(3, width);
        let mut line = Line::begin(&mut out, layout, "me", Style::new(), "│").expect("memory");
        for piece in pieces {
            line.push(&mut out, piece).expect("memory");
        }
        line.end(&mut out).expect("memory");
        String::from_utf8(out).expect("text was written")
    }

    #[test]
    fn without_a_width_text_is_written_as_it_comes() {
        let text = "one two three four five six seven eight nine ten";
        assert_eq!(written(None, &[text]), format!("me  │ {text}\n"));
        assert_eq!(written(Some(8), &[text]), format!("me  │ {text}\n"));
    }

    #[test]
    fn a_long_text_wraps_at_words_and_keeps_the_label_free() {
        let text = ["twenty one", "derful charac", "ters, and more"];
        let wanted = "me  │ twenty onederful\n    │ characters, and more\n";
        assert_eq!(written(Some(26), &text), wanted);
    }

    #[test]
    fn line_breaks_stay_and_the_white_space_at_the_end_does_not() {
        let wanted = "me  │ a\n    │ \n    │   b\n";
        assert_eq!(written(None, &["a\n", "\n  b", " \r\n"]), wanted);
        assert_eq!(written(None, &[]), "me  │ \n");
    }

    #[test]
    fn a_text_cannot_steer_the_terminal() {
        assert_eq!(written(None, &["\u{1b}[2Jx\u{7f}"]), "me  │ \u{fffd}[2Jx\u{fffd}\n");
    }
}
