//! Pieces to Markdown.
//!
//! White space is one space, except in code. Characters that have a meaning in Markdown are not escaped: a model reads the
//! text, and no program does.

use super::pieces::{Mark, Piece};
use super::tables;

/// The Markdown of pieces. It ends soon after this number of bytes.
pub(super) fn write(pieces: &[Piece], most: usize) -> String {
    let mut writer = Writer { layout: tables::layout(pieces), ..Writer::default() };
    for piece in pieces {
        match piece {
            Piece::Open(mark) => writer.open(mark),
            Piece::Close => writer.close(),
            Piece::Text(text) => writer.text(text),
            Piece::Break => writer.end_line(),
            Piece::Rule => writer.rule(),
        }
        if writer.out.len() > most {
            break;
        }
    }
    writer.out
}

/// The space between two lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Line,
    Blank,
}

/// The beginning of each line in a quotation or an item.
struct Prefix {
    /// The beginning of the first line, until that is written.
    marker: Option<String>,
    /// That of the others.
    next: String,
}

/// Marks around words.
struct Inline {
    before: &'static str,
    after: String,
    is_written: bool,
    is_finished: bool,
}

/// Text that is kept as it is.
struct Verbatim {
    text: String,
    /// The number of marks around its mark.
    depth: usize,
    /// The language of a block, or `None` in a line.
    language: Option<String>,
}

/// A table that is written as one.
#[derive(Default)]
struct Table {
    rows: usize,
    cells: usize,
    is_in_cell: bool,
}

#[derive(Default)]
struct Writer<'p> {
    out: String,
    open: Vec<&'p Mark>,
    prefixes: Vec<Prefix>,
    /// The number of items before the next one in each list, and whether they have numbers.
    lists: Vec<(u32, bool)>,
    inlines: Vec<Inline>,
    verbatim: Option<Verbatim>,
    /// `None` for a table of layout.
    tables: Vec<Option<Table>>,
    /// For each table in the order of their beginnings, whether it only places its content.
    layout: Vec<bool>,
    seen_tables: usize,
    /// The beginning of a heading.
    lead: String,
    gap: Gap,
    /// The number of prefixes that a blank line before the next line has.
    gap_depth: usize,
    is_in_line: bool,
    has_space: bool,
}

impl<'p> Writer<'p> {
    fn open(&mut self, mark: &'p Mark) {
        let depth = self.open.len();
        self.open.push(mark);
        if let Some(verbatim) = &mut self.verbatim {
            if !mark.is_inline() {
                verbatim.end_line();
            }
            return;
        }
        match mark {
            Mark::Block => self.boundary(Gap::Blank),
            Mark::Heading(level) => {
                self.boundary(Gap::Blank);
                self.lead = "#".repeat(*level) + " ";
            }
            Mark::List(first) => {
                self.boundary(if self.lists.is_empty() { Gap::Blank } else { Gap::Line });
                self.lists.push((first.unwrap_or(0), first.is_some()));
            }
            Mark::Item => self.open_item(),
            Mark::Quote => {
                self.boundary(Gap::Blank);
                self.prefixes.push(Prefix { marker: None, next: "> ".to_owned() });
            }
            Mark::Pre(language) => {
                self.boundary(Gap::Blank);
                self.verbatim =
                    Some(Verbatim { text: String::new(), depth, language: Some(language.clone()) });
            }
            Mark::Code => {
                self.verbatim = Some(Verbatim { text: String::new(), depth, language: None });
            }
            Mark::Table => {
                self.boundary(Gap::Blank);
                let is_layout = self.layout.get(self.seen_tables).copied().unwrap_or(true);
                self.seen_tables += 1;
                self.tables.push((!is_layout).then(Table::default));
            }
            Mark::Row => self.open_row(),
            Mark::Cell => self.open_cell(),
            Mark::Strong => self.open_inline("**", "**".to_owned()),
            Mark::Emphasis => self.open_inline("*", "*".to_owned()),
            Mark::Link(url) => self.open_inline("[", format!("]({url})")),
        }
    }

    fn close(&mut self) {
        let Some(mark) = self.open.pop() else { return };
        if let Some(verbatim) = &mut self.verbatim {
            if verbatim.depth < self.open.len() {
                if !mark.is_inline() {
                    verbatim.end_line();
                }
                return;
            }
            return self.close_verbatim();
        }
        match mark {
            Mark::Block | Mark::Pre(_) | Mark::Code => self.boundary(Gap::Blank),
            Mark::Heading(_) => {
                self.boundary(Gap::Blank);
                self.lead.clear();
            }
            Mark::List(_) => {
                self.lists.pop();
                self.boundary(if self.lists.is_empty() { Gap::Blank } else { Gap::Line });
            }
            Mark::Item | Mark::Quote => {
                self.boundary(if *mark == Mark::Item { Gap::Line } else { Gap::Blank });
                self.prefixes.pop();
                self.gap_depth = self.gap_depth.min(self.prefixes.len());
            }
            Mark::Table => {
                self.tables.pop();
                self.boundary(Gap::Blank);
            }
            Mark::Row => self.close_row(),
            Mark::Cell => self.close_cell(),
            Mark::Strong | Mark::Emphasis | Mark::Link(_) => self.close_inline(),
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(verbatim) = &mut self.verbatim {
            verbatim.text.push_str(text);
            return;
        }
        self.has_space |= text.starts_with(char::is_whitespace);
        for (at, word) in text.split_whitespace().enumerate() {
            self.has_space |= at > 0;
            self.word(word);
        }
        self.has_space |= text.ends_with(char::is_whitespace);
    }

    fn word(&mut self, word: &str) {
        if !self.is_in_line {
            self.begin_line();
        } else if self.has_space {
            self.out.push(' ');
        }
        self.has_space = false;
        for inline in self.inlines.iter_mut().filter(|inline| !inline.is_written && !inline.is_finished) {
            // `*args` in emphasis would look like `**args`.
            inline.is_finished = inline.before.starts_with('*') && word.starts_with('*');
            inline.is_written = !inline.is_finished;
            self.out.push_str(if inline.is_written { inline.before } else { "" });
        }
        if self.is_in_cell() {
            self.out.push_str(&word.replace('|', "\\|"));
        } else {
            self.out.push_str(word);
        }
    }

    fn begin_line(&mut self) {
        if !self.out.is_empty() && self.gap != Gap::None {
            self.out.push('\n');
            if self.gap == Gap::Blank {
                let prefixes = self.prefixes.iter().take(self.gap_depth);
                let prefix: String = prefixes.map(|prefix| prefix.next.as_str()).collect();
                self.out.push_str(prefix.trim_end());
                self.out.push('\n');
            }
        }
        for prefix in &mut self.prefixes {
            let first = prefix.marker.take();
            self.out.push_str(first.as_ref().unwrap_or(&prefix.next));
        }
        self.out.push_str(&std::mem::take(&mut self.lead));
        self.gap = Gap::None;
        self.gap_depth = self.prefixes.len();
        self.is_in_line = true;
    }

    /// The end of a line, and the space between it and the next one.
    fn boundary(&mut self, gap: Gap) {
        if self.is_in_cell() {
            self.has_space = true;
            return;
        }
        // Marks end with their paragraph; those without words yet begin in the next one.
        for inline in self.inlines.iter_mut().rev().filter(|inline| inline.is_written && !inline.is_finished)
        {
            self.out.push_str(&inline.after);
            inline.is_finished = true;
        }
        self.is_in_line = false;
        self.has_space = false;
        let is_at_marker = self.prefixes.last().is_some_and(|prefix| prefix.marker.is_some());
        self.gap = self.gap.max(if is_at_marker { Gap::Line } else { gap });
    }

    fn end_line(&mut self) {
        if let Some(verbatim) = &mut self.verbatim {
            verbatim.text.push('\n');
        } else if self.inlines.iter().any(|inline| inline.is_written && !inline.is_finished) {
            self.has_space = true;
        } else {
            self.boundary(Gap::Line);
        }
    }

    fn rule(&mut self) {
        if self.verbatim.is_none() && !self.is_in_cell() {
            self.boundary(Gap::Blank);
            self.begin_line();
            self.out.push_str("---");
            self.boundary(Gap::Blank);
        }
    }

    fn open_item(&mut self) {
        self.boundary(Gap::Line);
        let mut marker = "- ".to_owned();
        if let Some((count, is_numbered)) = self.lists.last_mut() {
            if *is_numbered {
                marker = format!("{count}. ");
            }
            *count = count.saturating_add(1);
        }
        // Lists are dense, also if their items are paragraphs.
        if self.out.lines().next_back().is_some_and(|line| is_item(line.trim_start())) {
            self.gap = Gap::Line;
        }
        let next = " ".repeat(marker.len());
        self.prefixes.push(Prefix { marker: Some(marker), next });
    }

    fn open_inline(&mut self, before: &'static str, after: String) {
        // Marks in marks of the same kind would end them.
        let is_repeated = self.inlines.iter().any(|inline| inline.before == before && !inline.is_finished);
        self.inlines.push(Inline { before, after, is_written: false, is_finished: is_repeated });
    }

    fn close_inline(&mut self) {
        let inline = self.inlines.pop().filter(|inline| inline.is_written && !inline.is_finished);
        self.out.push_str(inline.as_ref().map_or("", |inline| &inline.after));
    }

    fn close_verbatim(&mut self) {
        let Some(Verbatim { text, language, .. }) = self.verbatim.take() else { return };
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let Some(language) = language else {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let fence = "`".repeat(longest + 1);
            let pad = if longest > 0 { " " } else { "" };
            if !text.is_empty() {
                self.word(&format!("{fence}{pad}{text}{pad}{fence}"));
            }
            return;
        };
        let text = text.trim_end().trim_start_matches(['\n', '\r']);
        if text.is_empty() {
            return;
        }
        if self.is_in_cell() {
            return self.text(text);
        }
        let fence = "`".repeat(longest.max(2) + 1);
        self.begin_line();
        let prefix: String = self.prefixes.iter().map(|prefix| prefix.next.as_str()).collect();
        self.out.push_str(&fence);
        self.out.push_str(&language);
        for line in text.lines().chain([fence.as_str()]) {
            self.out.push('\n');
            self.out.push_str(if line.is_empty() { prefix.trim_end() } else { &prefix });
            self.out.push_str(line);
        }
        self.boundary(Gap::Blank);
    }

    fn is_in_cell(&self) -> bool {
        self.tables.last().and_then(Option::as_ref).is_some_and(|table| table.is_in_cell)
    }

    fn open_row(&mut self) {
        self.boundary(Gap::Line);
        if let Some(Some(table)) = self.tables.last_mut() {
            table.cells = 0;
        }
    }

    fn open_cell(&mut self) {
        let Some(Some(table)) = self.tables.last_mut() else { return self.boundary(Gap::Line) };
        table.cells += 1;
        let is_first = table.cells == 1;
        if is_first {
            self.boundary(Gap::Line);
            self.begin_line();
        }
        self.out.push_str(if is_first { "|" } else { " |" });
        if let Some(Some(table)) = self.tables.last_mut() {
            table.is_in_cell = true;
        }
        self.has_space = true;
    }

    fn close_cell(&mut self) {
        let Some(Some(table)) = self.tables.last_mut() else { return self.boundary(Gap::Line) };
        table.is_in_cell = false;
    }

    fn close_row(&mut self) {
        let Some(Some(table)) = self.tables.last_mut() else { return self.boundary(Gap::Line) };
        let cells = table.cells;
        if cells == 0 {
            return;
        }
        table.rows += 1;
        let is_first = table.rows == 1;
        self.out.push_str(" |");
        self.boundary(Gap::Line);
        if is_first {
            self.begin_line();
            self.out.push('|');
            self.out.push_str(&" --- |".repeat(cells));
            self.boundary(Gap::Line);
        }
    }
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with("- ") || number.len() < line.len() && number.starts_with(". ")
}

impl Verbatim {
    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }
}
