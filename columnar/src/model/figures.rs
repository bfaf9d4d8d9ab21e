//! A table for the terminal: each line has a name, figures, and words at the end.

use std::fmt;

use super::usage::grouped;

pub(crate) struct FigureLine {
    pub(crate) name: String,
    pub(crate) figures: Vec<Option<usize>>,
    pub(crate) holds: String,
}

impl FigureLine {
    /// A line whose last figure, of this number of figures, is a number of tokens.
    pub(crate) fn of_tokens(name: &str, figures: usize, tokens: usize) -> Self {
        let mut figures = vec![None; figures.saturating_sub(1)];
        figures.push(Some(tokens));
        Self { name: name.to_owned(), figures, holds: String::new() }
    }
}

/// Writes a table whose columns are as wide as needed. `first` and `last` are the headers of the names and of the words.
pub(crate) fn write_figures(
    f: &mut fmt::Formatter<'_>,
    [first, last]: [&str; 2],
    headers: &[&str],
    lines: &[FigureLine],
) -> fmt::Result {
    let name = lines.iter().map(|line| line.name.len()).max().unwrap_or(0);
    let widths = headers.iter().enumerate().map(|(at, header)| {
        let figures = lines.iter().filter_map(|line| *line.figures.get(at)?);
        figures.map(|figure| grouped(figure).len()).max().unwrap_or(0).max(header.len())
    });
    let widths: Vec<usize> = widths.collect();
    write!(f, "{first:name$}")?;
    for (header, width) in headers.iter().zip(&widths) {
        write!(f, "  {header:>width$}")?;
    }
    write_end(f, last)?;
    for line in lines {
        write!(f, "\n{:name$}", line.name)?;
        for (figure, width) in line.figures.iter().zip(&widths) {
            write!(f, "  {:>width$}", figure.map(grouped).unwrap_or_default())?;
        }
        write_end(f, &line.holds)?;
    }
    Ok(())
}

fn write_end(f: &mut fmt::Formatter<'_>, words: &str) -> fmt::Result {
    if words.is_empty() { Ok(()) } else { write!(f, "  {words}") }
}
