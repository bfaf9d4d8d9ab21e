//! A flow's outline as a picture: a box for each column, levels from left to right.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::RgbColor;
use columnar::{ColumnOutline, Outline, Window};

use crate::BACKGROUND;

const WIDTH: usize = 148;
const HEIGHT: usize = 52;
/// The gap between two levels, with space for a label.
const GAP: usize = 108;
/// The distance between two rows, with space for a loop.
const ROW: usize = 96;
const MARGIN: usize = 24;

const LINE: &str = "#8b949e";

/// A row of a level: a column, or an edge on the way to a later level.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot {
    /// The index of the column, or of the one that the edge leads to.
    to: usize,
    /// The index of the column that the edge comes from.
    from: Option<usize>,
}

struct Layout<'o> {
    columns: &'o [ColumnOutline],
    /// The slots of each level, from top to bottom.
    levels: BTreeMap<usize, Vec<Slot>>,
}

/// The picture. Views with `prev` are not drawn: the flow of the README has none.
pub(crate) fn draw(outline: &Outline, color: impl Fn(&str) -> RgbColor) -> String {
    let layout = Layout::of(&outline.columns);
    let width = 2 * MARGIN + layout.levels.len() * (WIDTH + GAP) - GAP;
    let height = 2 * MARGIN + layout.rows() * ROW;
    let (legend, background) = (height - MARGIN + 4, hex(BACKGROUND));
    let mut svg = format!(
        r#"<svg viewBox="0 0 {width} {height}" width="{width}px" height="{height}px" xmlns="http://www.w3.org/2000/svg">
  <style>
    text {{ font: 13px SFMono-Regular, Consolas, Liberation Mono, Menlo, monospace; fill: {LINE} }}
    .name {{ font-size: 15px; font-weight: bold; text-anchor: middle }}
    .pattern, .own, .view {{ text-anchor: middle }}
    text.view {{ stroke: {background}; stroke-width: 8px; paint-order: stroke }}
    path {{ fill: none; stroke: {LINE}; stroke-width: 1.5; marker-end: url(#arrow) }}
    path.own {{ stroke-dasharray: 4 3 }}
  </style>
  <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
    <polygon points="0,0 8,4 0,8" fill="{LINE}"/>
  </marker>
  <rect width="100%" height="100%" rx="4.5" fill="{background}"/>
"#
    );
    for (index, column) in layout.columns.iter().enumerate() {
        layout.edges(&mut svg, index, column);
        layout.node(&mut svg, index, column, &hex(color(column.name.as_str())));
    }
    line(
        &mut svg,
        format_args!(
            "<text x=\"{MARGIN}\" y=\"{legend}\">solid: waits for this value; dashed: its own earlier values</text>"
        ),
    );
    svg + "</svg>\n"
}

impl<'o> Layout<'o> {
    fn of(columns: &'o [ColumnOutline]) -> Self {
        let mut layout = Self { columns, levels: BTreeMap::new() };
        for (to, column) in columns.iter().enumerate() {
            layout.levels.entry(column.level).or_default().push(Slot { to, from: None });
            for (from, source, _) in layout.reads(column) {
                // An edge has a separate row in each level on the way, so the edge crosses no box.
                for level in source.level + 1..column.level {
                    layout.levels.entry(level).or_default().push(Slot { to, from: Some(from) });
                }
            }
        }
        layout.levels.values_mut().for_each(|slots| slots.sort());
        layout
    }

    /// The columns that a column waits for, with the index and the window of each.
    fn reads(&self, column: &'o ColumnOutline) -> Vec<(usize, &'o ColumnOutline, Window)> {
        let reads = column.reads.iter().filter(|read| read.lag == 0);
        let found = reads.filter_map(|read| {
            let from = self.columns.iter().position(|column| column.name == read.column)?;
            Some((from, self.columns.get(from)?, read.window))
        });
        found.collect()
    }

    fn rows(&self) -> usize {
        self.levels.values().map(Vec::len).max().unwrap_or_default()
    }

    /// The middle of a slot's height.
    fn y(&self, level: usize, slot: Slot) -> usize {
        let slots = self.levels.get(&level).map_or(&[][..], Vec::as_slice);
        let row = slots.iter().position(|found| *found == slot).unwrap_or_default();
        MARGIN + (self.rows() - slots.len()) * ROW / 2 + row * ROW + ROW / 2
    }

    fn node(&self, svg: &mut String, index: usize, column: &ColumnOutline, color: &str) {
        let (left, middle) = (left(column.level), self.y(column.level, Slot { to: index, from: None }));
        let (x, top) = (left + WIDTH / 2, middle - HEIGHT / 2);
        let (radius, fill) = if column.pattern.is_some() { (6, "#161b22") } else { (HEIGHT / 2, "none") };
        line(
            svg,
            format_args!(
                r#"<rect x="{left}" y="{top}" width="{WIDTH}" height="{HEIGHT}" rx="{radius}" fill="{fill}" stroke="{color}" stroke-width="1.5"/>"#
            ),
        );
        let (name, y) = (&column.name, middle - 3);
        line(svg, format_args!(r#"<text class="name" x="{x}" y="{y}" style="fill: {color}">{name}</text>"#));
        let (pattern, y) =
            (column.pattern.map_or("source".into(), |pattern| pattern.to_string()), middle + 15);
        line(svg, format_args!(r#"<text class="pattern" x="{x}" y="{y}">{pattern}</text>"#));
        if let Some(window) = column.self_window {
            let (right, left, peak, label) = (x + 30, x - 30, top - 24, top - 22);
            line(
                svg,
                format_args!(
                    r#"<path class="own" d="M{right},{top} C{right},{peak} {left},{peak} {left},{top}"/>"#
                ),
            );
            let shown = shown(window);
            line(svg, format_args!(r#"<text class="own" x="{x}" y="{label}">self, {shown}</text>"#));
        }
    }

    /// The edges that lead to a column, each to a separate height.
    fn edges(&self, svg: &mut String, to: usize, column: &'o ColumnOutline) {
        let mut edges: Vec<_> = (self.reads(column).into_iter())
            .map(|(from, source, window)| (self.bends(to, column, from, source), window))
            .collect();
        // Edges that arrive in the order of the heights do not cross.
        edges.sort_by_key(|(bends, _)| bends.last().map(|(_, y)| *y));
        let (x, top) = (left(column.level), self.y(column.level, Slot { to, from: None }) - HEIGHT / 2);
        let count = edges.len();
        for (number, (mut bends, window)) in (1..).zip(edges) {
            // Two pixels before the box, whose border the arrow would cover.
            bends.push((x - 2, top + HEIGHT * number / (count + 1)));
            let path: String = bends.windows(2).map(curve).collect();
            line(svg, format_args!(r#"<path class="view" d="{path}"/>"#));
            if let [.., (x, y), (to_x, to_y)] = bends[..] {
                let (x, y) = (usize::midpoint(x, to_x), usize::midpoint(y, to_y) + 4);
                let shown = shown(window);
                line(svg, format_args!(r#"<text class="view" x="{x}" y="{y}">{shown}</text>"#));
            }
        }
    }

    /// The points of an edge before the end: where it leaves a column, and where it passes other levels.
    fn bends(
        &self,
        to: usize,
        column: &ColumnOutline,
        from: usize,
        source: &ColumnOutline,
    ) -> Vec<(usize, usize)> {
        let mut bends =
            vec![(left(source.level) + WIDTH, self.y(source.level, Slot { to: from, from: None }))];
        for level in source.level + 1..column.level {
            let y = self.y(level, Slot { to, from: Some(from) });
            bends.extend([(left(level), y), (left(level) + WIDTH, y)]);
        }
        bends
    }
}

fn left(level: usize) -> usize {
    MARGIN + level * (WIDTH + GAP)
}

/// A curve between two points that is horizontal at both.
fn curve(points: &[(usize, usize)]) -> String {
    let [(x, y), (to_x, to_y)] = points else { return String::new() };
    let middle = usize::midpoint(*x, *to_x);
    format!("M{x},{y} C{middle},{y} {middle},{to_y} {to_x},{to_y} ")
}

fn shown(window: Window) -> String {
    match window {
        Window::All => "all".into(),
        Window::LATEST => "latest".into(),
        Window::Last(count) => format!("last {count}"),
    }
}

fn hex(RgbColor(red, green, blue): RgbColor) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn line(svg: &mut String, element: std::fmt::Arguments<'_>) {
    let written = writeln!(svg, "  {element}");
    debug_assert!(written.is_ok(), "a string takes everything");
}
