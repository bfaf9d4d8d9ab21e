//! What is shown of a run, by writing on only: it reads the same at a terminal and in a file.

use std::collections::VecDeque;
use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use columnar::{Event, Messages};

use crate::line::{Layout, Line};
use crate::{Chat, ChatColumn, columns};

/// Shows columns that speak at the same time: the first of them has the floor and streams on its
/// line, the others are kept until the floor is free.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    layout: Layout,
    /// Who speaks, in the order in which they began. The first has the floor.
    speakers: VecDeque<Speaker>,
}

#[derive(Debug)]
struct Speaker {
    column: ChatColumn,
    step: usize,
    /// The line, from when it has the floor.
    line: Option<Line>,
    /// What is not on the line yet.
    unsaid: String,
    streams: bool,
    is_done: bool,
}

/// The width of the terminal, if the environment tells.
pub(crate) fn width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, width: Option<usize>) -> Self {
        let name = Chat::ORDER.iter().map(|name| name.len()).max().unwrap_or_default();
        let layout = Layout::new(name + " 999".len(), width);
        Self { out, layout, speakers: VecDeque::new() }
    }

    /// Writes text as it is.
    pub(crate) fn note(&mut self, text: &str) -> io::Result<()> {
        write!(self.out, "{text}")?;
        self.out.flush()
    }

    /// Says what went wrong where the program goes on.
    pub(crate) fn error(&mut self, error: &str) -> io::Result<()> {
        let style = AnsiColor::Red.on_default();
        writeln!(self.out, "{style}error:{style:#} {error}\n")
    }

    /// Begins the line on which the person types.
    pub(crate) fn prompt(&mut self, step: usize) -> io::Result<()> {
        Line::begin(&mut self.out, self.layout, &format!("user {step}"), Style::new().bold(), "│")?;
        self.out.flush()
    }

    /// Shows a message of the person.
    pub(crate) fn user(&mut self, step: usize, text: &str) -> io::Result<()> {
        self.whole(&format!("user {step}"), text, Style::new().bold(), "│")?;
        self.out.flush()
    }

    /// Shows an event of a run.
    pub(crate) fn show(&mut self, event: Event<ChatColumn>) -> io::Result<()> {
        let cell = (*event.column(), event.step());
        if self.speakers.iter().all(|speaker| speaker.cell() != cell) {
            self.speakers.push_back(Speaker::new(cell));
        }
        if let Some(speaker) = self.speakers.iter_mut().find(|speaker| speaker.cell() == cell) {
            speaker.hear(event);
        }
        self.speak()
    }

    /// Ends the lines of a run that failed: what is on them was not stored.
    pub(crate) fn cut_off(&mut self) -> io::Result<()> {
        for speaker in &mut self.speakers {
            speaker.unsaid.push_str(" … (cut off)");
            speaker.is_done = true;
        }
        self.speak()
    }

    /// Shows the messages array that a column saw.
    pub(crate) fn messages(&mut self, column: ChatColumn, step: usize, seen: &Messages) -> io::Result<()> {
        let style = columns::style(column);
        writeln!(self.out, "\n{style}What {column} saw in step {step}:{style:#}")?;
        for (role, content) in seen {
            self.whole(role.as_str(), &content, style.dimmed(), "┊")?;
        }
        Ok(())
    }

    /// Shows the messages array that a column saw as one line of JSON.
    pub(crate) fn json(&mut self, seen: &Messages) -> io::Result<()> {
        writeln!(self.out, "{}", seen.to_json())
    }

    /// Lets those speak who have the floor, one after the other, until one has more to say.
    fn speak(&mut self) -> io::Result<()> {
        while let Some(speaker) = self.speakers.front_mut() {
            speaker.say(&mut self.out, self.layout)?;
            if !speaker.is_done {
                break;
            }
            if let Some(line) = self.speakers.pop_front().and_then(|speaker| speaker.line) {
                line.end(&mut self.out)?;
            }
        }
        self.out.flush()
    }

    fn whole(&mut self, label: &str, text: &str, style: Style, bar: &'static str) -> io::Result<()> {
        let mut line = Line::begin(&mut self.out, self.layout, label, style, bar)?;
        line.push(&mut self.out, text)?;
        line.end(&mut self.out)
    }
}

impl Speaker {
    fn new((column, step): (ChatColumn, usize)) -> Self {
        Self { column, step, line: None, unsaid: String::new(), streams: false, is_done: false }
    }

    fn cell(&self) -> (ChatColumn, usize) {
        (self.column, self.step)
    }

    fn hear(&mut self, event: Event<ChatColumn>) {
        match event {
            Event::Delta { text, .. } => {
                self.streams = true;
                self.unsaid.push_str(&text);
            }
            Event::Retry { error, .. } => {
                self.streams = false;
                self.unsaid = format!(" … ({error}; trying again) ");
            }
            Event::Value { value, .. } => {
                if !self.streams {
                    self.unsaid.push_str(&value);
                }
                self.is_done = true;
            }
            _ => {}
        }
    }

    fn say(&mut self, out: &mut impl Write, layout: Layout) -> io::Result<()> {
        let line = match &mut self.line {
            Some(line) => line,
            None => {
                let label = format!("{} {}", self.column, self.step);
                let line = Line::begin(out, layout, &label, columns::style(self.column), "│")?;
                self.line.insert(line)
            }
        };
        line.push(out, &std::mem::take(&mut self.unsaid))
    }
}

#[cfg(test)]
mod tests {
    use anstream::StripStream;

    use super::*;

    type Plain = Screen<StripStream<Vec<u8>>>;

    fn screen() -> Plain {
        Screen::new(StripStream::new(Vec::new()), None)
    }

    fn delta(screen: &mut Plain, column: ChatColumn, text: &str) {
        screen.show(Event::Delta { column, step: 0, text: text.into() }).expect("memory");
    }

    fn value(screen: &mut Plain, column: ChatColumn, text: &str) {
        screen.show(Event::Value { column, step: 0, value: text.into() }).expect("memory");
    }

    fn shown(screen: Plain) -> String {
        String::from_utf8(screen.out.into_inner()).expect("text was written")
    }

    #[test]
    fn the_first_has_the_floor_and_the_others_wait() {
        let mut screen = screen();
        delta(&mut screen, ChatColumn::Topics, "tea");
        delta(&mut screen, ChatColumn::Summary, "They");
        delta(&mut screen, ChatColumn::Topics, ", milk");
        delta(&mut screen, ChatColumn::Summary, " like");
        value(&mut screen, ChatColumn::Topics, "tea, milk");
        delta(&mut screen, ChatColumn::Summary, " tea.");
        value(&mut screen, ChatColumn::Summary, "They like tea.");
        assert_eq!(shown(screen), "topics 0      │ tea, milk\nsummary 0     │ They like tea.\n");
    }

    #[test]
    fn what_has_the_floor_is_shown_at_once() {
        let mut screen = screen();
        delta(&mut screen, ChatColumn::Topics, "tea");
        delta(&mut screen, ChatColumn::Summary, "They");
        assert_eq!(shown(screen), "topics 0      │ tea");
    }

    #[test]
    fn a_value_without_deltas_is_shown_whole() {
        let mut screen = screen();
        value(&mut screen, ChatColumn::Critique, "Why?");
        value(&mut screen, ChatColumn::Assistant, "");
        assert_eq!(shown(screen), "critique 0    │ Why?\nassistant 0   │ \n");
    }

    #[test]
    fn a_failed_attempt_is_told_and_the_next_one_begins_anew() {
        let mut screen = screen();
        delta(&mut screen, ChatColumn::Topics, "te");
        let error = "no answer".into();
        screen.show(Event::Retry { column: ChatColumn::Topics, step: 0, attempt: 1, error }).expect("memory");
        delta(&mut screen, ChatColumn::Topics, "tea");
        value(&mut screen, ChatColumn::Topics, "tea");
        assert_eq!(shown(screen), "topics 0      │ te … (no answer; trying again) tea\n");
    }

    #[test]
    fn a_failed_run_leaves_no_open_line() {
        let mut screen = screen();
        delta(&mut screen, ChatColumn::Topics, "te");
        delta(&mut screen, ChatColumn::Summary, "Th");
        screen.cut_off().expect("memory");
        assert_eq!(shown(screen), "topics 0      │ te … (cut off)\nsummary 0     │ Th … (cut off)\n");
    }
}
