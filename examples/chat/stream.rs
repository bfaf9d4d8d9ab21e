//! The values of columns that stream at the same time, one below the other.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::mem;

use columnar::prelude::*;

use super::wrap::Wrap;
use super::{ChatColumn, label, style, wrap};

/// The line of a column that is being computed.
pub(crate) struct Line {
    column: ChatColumn,
    text: Wrap,
    unprinted: String,
    is_complete: bool,
}

/// Columns stream at the same time: the first one is printed at once, the others when the first is complete.
pub(crate) fn show(
    out: &mut impl Write,
    lines: &mut VecDeque<Line>,
    event: &Event<ChatColumn>,
    width: Option<usize>,
) -> io::Result<()> {
    let column = *event.column();
    if lines.iter().all(|line| line.column != column) {
        let unprinted = label(&format!("{column} {}", event.step()), style(column));
        lines.push_back(Line { column, text: wrap(width), unprinted, is_complete: false });
    }
    for line in lines.iter_mut().filter(|line| line.column == column) {
        match event {
            Event::Delta { text, .. } => line.unprinted += &line.text.push(text),
            // The deltas of a prompt are the whole value.
            Event::Value { .. } => {
                line.unprinted += &line.text.end();
                line.is_complete = true;
            }
            _ => {}
        }
    }
    while let Some(line) = lines.front_mut() {
        write!(out, "{}", mem::take(&mut line.unprinted))?;
        // The lines behind wait, so that pieces of two columns are never mixed.
        if !line.is_complete {
            break;
        }
        writeln!(out)?;
        lines.pop_front();
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_waits_for_the_line_before_it() {
        let (mut out, mut lines, step) = (Vec::new(), VecDeque::new(), 0);
        let mut shown = |event| {
            show(&mut out, &mut lines, &event, None).expect("memory");
            String::from_utf8_lossy(&out).into_owned()
        };
        shown(Event::Delta { column: ChatColumn::Topics, step, text: "tea, ".into() });
        let text = shown(Event::Delta { column: ChatColumn::Summary, step, text: "They ".into() });
        assert!(text.ends_with(" tea,"), "{text}");
        let text = shown(Event::Value { column: ChatColumn::Topics, step, value: "tea, ".into() });
        assert!(text.ends_with(" They"), "{text}");
    }
}
