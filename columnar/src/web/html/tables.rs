//! Which tables have data, and which only place their content on the page.

use super::pieces::{Mark, Piece};

/// For each table in the order of their beginnings, whether it only places its content: it has other tables, headings,
/// lists or code in it, or a single column.
pub(super) fn layout(pieces: &[Piece]) -> Vec<bool> {
    let mut layout = Vec::new();
    let mut open: Vec<&Mark> = Vec::new();
    let mut tables: Vec<Counted> = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Open(mark) => {
                open.push(mark);
                match (mark, tables.last_mut()) {
                    (Mark::Row, Some(table)) => table.cells = 0,
                    (Mark::Cell, Some(table)) => {
                        table.cells += 1;
                        table.most = table.most.max(table.cells);
                    }
                    (
                        Mark::Table | Mark::Heading(_) | Mark::List(_) | Mark::Pre(_) | Mark::Quote,
                        Some(table),
                    ) => {
                        table.is_layout = true;
                    }
                    _ => {}
                }
                if *mark == Mark::Table {
                    tables.push(Counted { at: layout.len(), ..Counted::default() });
                    layout.push(true);
                }
            }
            Piece::Close => {
                if open.pop() == Some(&Mark::Table)
                    && let Some(table) = tables.pop()
                    && let Some(is_layout) = layout.get_mut(table.at)
                {
                    *is_layout = table.is_layout || table.most < 2;
                }
            }
            Piece::Text(_) | Piece::Break | Piece::Rule => {}
        }
    }
    layout
}

#[derive(Default)]
struct Counted {
    at: usize,
    cells: usize,
    most: usize,
    is_layout: bool,
}
