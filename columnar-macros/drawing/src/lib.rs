//! The drawing of a flow, in one place for the macro, which documents flows, and for the library, which draws them at run
//! time. Use `Outline::svg` of the crate columnar-flow, which holds the documentation.
//!
//! A box is a column, with its name, its kind and its views. Levels go from left to right. A line leads from a column to
//! each view that waits for it.
//!
//! ```
//! use columnar_drawing::{DrawnColumn, DrawnLine, DrawnRead, Drawing};
//!
//! let column = |name: &str, level, reads| DrawnColumn { name: name.into(), kind: String::new(), level, reads };
//! let latest = DrawnRead { text: "user.latest".into(), from: Some(0), line: DrawnLine::Window };
//! let columns = [column("user", 0, vec![]), column("topics", 1, vec![latest])];
//! let drawing = Drawing { columns: &columns, most: 20 };
//! assert!(drawing.svg(None).contains("<title>topics reads user.latest</title>"));
//! assert_eq!(drawing.legend(), "`╌╌` some values.");
//! ```

mod column;
mod layout;
mod text;

pub use column::{DrawnColumn, DrawnLine, DrawnRead};
use layout::{HEAD, LETTER, LINE, Layout, PADDING};
use text::{escaped, put, shortened};

/// The distance from the columns to the edge of the drawing, in pixels.
const MARGIN: usize = 8;

/// The columns of a flow, and the most of them that are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'c> {
    /// The columns in order of declaration.
    pub columns: &'c [DrawnColumn],
    /// The number of columns above which a table is easier to read.
    pub most: usize,
}

/// Makes a link of a box, whose column has this index. The box is markup of SVG without line breaks.
pub type BoxLink<'l> = &'l dyn Fn(usize, &str) -> String;

impl Drawing<'_> {
    /// The drawing as SVG, in the colour of the surrounding text, or a sentence in its place if there are too many columns.
    ///
    /// The text has no line breaks and no characters that Markdown interprets, so a box inside of a paragraph of Markdown can
    /// be a link of Markdown.
    pub fn svg(&self, link: Option<BoxLink<'_>>) -> String {
        if self.is_too_large() {
            let count = self.columns.len();
            let text = format!("{count} columns are too many to draw; the table of the outline lists them");
            let width = text.chars().count() * LETTER;
            let head = head(width, HEAD, "img", &text);
            return format!("{head}<text y=\"18\">{text}</text></svg>");
        }
        let layout = Layout::new(self.columns);
        // The content of an image is hidden from assistive technology, and links are not.
        let role = if link.is_some() { "group" } else { "img" };
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let label = format!("A graph of the columns {}", names.join(", "));
        let mut svg = head(layout.width, layout.height, role, &label);
        svg += "<g fill=\"none\" stroke=\"currentColor\">";
        for (reader, column) in self.columns.iter().enumerate() {
            for (at, read) in column.reads.iter().enumerate() {
                let Some(line) = layout.line(read, reader, at) else { continue };
                let title = escaped(&format!("{} reads {}", column.name, read.text));
                let dashes = read.line.dashes();
                put(
                    &mut svg,
                    format_args!("<path d=\"{}\"{dashes}><title>{title}</title></path>", line.path),
                );
                put(&mut svg, format_args!("<path d=\"{}l-7 -4v8z\" fill=\"currentColor\"/>", line.tip));
            }
        }
        svg += "</g>";
        for (column, drawn) in self.columns.iter().enumerate() {
            let markup = boxed(drawn, &layout, column);
            svg += &link.map_or_else(|| markup.clone(), |link| link(column, &markup));
        }
        svg + "</svg>"
    }

    /// The meaning of the lines that the drawing has, in Markdown.
    pub fn legend(&self) -> String {
        if self.is_too_large() {
            return String::new();
        }
        let reads: Vec<&DrawnRead> = self.columns.iter().flat_map(|column| &column.reads).collect();
        let lines = DrawnLine::ALL.into_iter().filter(|line| {
            let mut drawn = reads.iter().filter(|read| read.from.is_some());
            drawn.any(|read| read.line == *line)
        });
        let lines: Vec<&str> = lines.map(DrawnLine::meaning).collect();
        let is_earlier = reads.iter().any(|read| read.from.is_none());
        let sentences = [
            (!lines.is_empty()).then(|| format!("{}.", lines.join(", "))),
            is_earlier.then(|| "A view without a line shows earlier steps alone.".to_owned()),
        ];
        sentences.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    fn is_too_large(&self) -> bool {
        self.columns.len() > self.most
    }
}

/// The beginning of a drawing of this size.
fn head(width: usize, height: usize, role: &str, label: &str) -> String {
    let width = width + 2 * MARGIN;
    let height = height + 2 * MARGIN;
    let label = escaped(label);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-{MARGIN} -{MARGIN} {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"{role}\" aria-label=\"{label}\" fill=\"currentColor\" font-family=\"monospace\" \
         font-size=\"13\">"
    )
}

/// The box of a column.
fn boxed(column: &DrawnColumn, layout: &Layout, at: usize) -> String {
    let place = layout.place(at);
    // A source has no views, and a round box.
    let round = if column.reads.is_empty() { HEAD / 2 } else { 4 };
    let left = place.left + PADDING;
    let name = escaped(&column.name);
    // A transparent box is a target of clicks, and one without fill is not.
    let mut markup = format!(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{round}\" fill-opacity=\"0\" stroke=\"currentColor\"/>\
         <text x=\"{left}\" y=\"{}\">{name}",
        place.left,
        place.top,
        place.width,
        place.height,
        place.top + 18,
    );
    if !column.kind.is_empty() {
        let kind = escaped(&column.kind);
        put(
            &mut markup,
            format_args!("<tspan dx=\"{LETTER}\" font-size=\"11\" opacity=\"0.75\">{kind}</tspan>"),
        );
    }
    markup += "</text>";
    for (row, read) in column.reads.iter().enumerate() {
        let y = place.top + HEAD + row * LINE + 9;
        let text = escaped(&shortened(&read.text));
        put(&mut markup, format_args!("<text x=\"{left}\" y=\"{y}\" font-size=\"11\">{text}</text>"));
    }
    markup
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, from: Option<usize>) -> DrawnRead {
        let line = if text.contains('.') { DrawnLine::Window } else { DrawnLine::All };
        DrawnRead { text: text.to_owned(), from, line }
    }

    fn column(name: &str, kind: &str, level: usize, reads: Vec<DrawnRead>) -> DrawnColumn {
        DrawnColumn { name: name.to_owned(), kind: kind.to_owned(), level, reads }
    }

    pub(crate) fn chat() -> Vec<DrawnColumn> {
        vec![
            column("user", "source", 0, vec![]),
            column("topics", "map", 1, vec![read("user.latest", Some(0))]),
            column("summary", "reducer", 1, vec![read("user", Some(0)), read("self.latest", None)]),
            column("critique", "map", 2, vec![read("summary.latest", Some(2)), read("user.latest", Some(0))]),
            column("assistant", "accumulator", 1, vec![read("user", Some(0)), read("self", None)]),
        ]
    }

    #[test]
    fn a_drawing_shows_each_column_and_each_view() {
        let columns = chat();
        let svg = Drawing { columns: &columns, most: 5 }.svg(None);
        assert_eq!(svg.matches("<rect").count(), 5);
        assert_eq!(svg.matches("<title>").count(), 5);
        assert_eq!(svg.matches("dasharray").count(), 3);
        assert!(svg.contains("<title>critique reads summary.latest</title>"));
        for text in [
            ">reducer</tspan>",
            ">self.latest</text>",
            "role=\"img\"",
            "columns user, topics, summary, critique, ",
        ] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
    }

    #[test]
    fn a_box_is_a_link() {
        let columns = chat();
        let link = |at: usize, markup: &str| format!("<a href=\"#{at}\">{markup}</a>");
        let drawing = Drawing { columns: &columns, most: 5 };
        let svg = drawing.svg(Some(&link));
        assert!(svg.contains("</a><a href=\"#3\"><rect") && svg.contains("role=\"group\""), "{svg}");
        assert_eq!(without_links(&svg), drawing.svg(None));
    }

    /// The drawing without links.
    fn without_links(svg: &str) -> String {
        let mut parts = svg.split("<a href=\"#");
        let first = parts.next().unwrap_or_default().to_owned();
        let rest = parts.filter_map(|part| part.split_once('>')).map(|(_, rest)| rest.replace("</a>", ""));
        rest.fold(first, |text, part| text + &part).replace("\"group\"", "\"img\"")
    }

    #[test]
    fn a_legend_has_the_lines_of_its_drawing_alone() {
        let mut columns = chat();
        let legend = Drawing { columns: &columns, most: 5 }.legend();
        assert_eq!(
            legend,
            "`──` all values, `╌╌` some values. A view without a line shows earlier steps alone."
        );
        columns.truncate(1);
        assert_eq!(Drawing { columns: &columns, most: 5 }.legend(), "");
    }

    #[test]
    fn many_columns_are_a_sentence() {
        let columns = chat();
        let drawing = Drawing { columns: &columns, most: 4 };
        let svg = drawing.svg(None);
        assert!(
            svg.contains(">5 columns are too many to draw; the table of the outline lists them</text>"),
            "{svg}"
        );
        assert_eq!(drawing.legend(), "");
        assert!(svg.matches("<rect").count() == 0);
    }

    #[test]
    fn no_character_is_markup() {
        let hostile = "window({ \"a\" })<b>[x](y)*_z_`\\&amp;|\n";
        let read = DrawnRead { text: hostile.to_owned(), from: None, line: DrawnLine::All };
        let columns = [column("running_summary", hostile, 0, vec![read])];
        let svg = Drawing { columns: &columns, most: 1 }.svg(None);
        let kept: String =
            svg.split('<').filter_map(|part| part.split_once('>')).map(|(_, text)| text).collect();
        assert!(svg.contains(">running_summary<tspan"), "{svg}");
        assert!(!kept.contains(['"', '{', '[', '*', '`', '\\', '|', '\n']), "{kept}");
        assert_eq!(kept.matches("&#60;").count(), 2);
        assert!(kept.contains("&#95;z_&#96;"), "{kept}");
    }

    #[test]
    fn a_long_view_is_cut() {
        let columns = [column("a", "map", 0, vec![read(&"x".repeat(41), None), read(&"y".repeat(40), None)])];
        let svg = Drawing { columns: &columns, most: 1 }.svg(None);
        assert!(
            svg.contains(&format!(">{}…<", "x".repeat(40))) && svg.contains(&format!(">{}<", "y".repeat(40)))
        );
        assert!(!svg.contains(&"x".repeat(41)), "{svg}");
    }

    #[test]
    fn a_flow_without_columns_has_a_drawing() {
        assert!(Drawing { columns: &[], most: 1 }.svg(None).ends_with("</svg>"));
    }
}
