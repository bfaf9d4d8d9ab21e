//! The outline of a flow as a drawing: for Mermaid, for Graphviz, and as SVG.

use std::collections::BTreeMap;

use columnar_drawing::{BoxLink, Drawing, DrawnColumn, DrawnLine, DrawnRead};

use super::default_limits::DRAWN_COLUMNS;
use super::name::Name;
use super::outline::{ColumnOutline, Outline, ViewOutline};
use super::view::{Purpose, WindowSuffix};

/// The colours of a drawing in a file of its own. In a page, the drawing is not the root.
const STANDALONE: &str =
    "<style>svg:root{color-scheme:light dark;color:CanvasText;background:Canvas}</style></svg>";

impl Outline {
    /// A drawing for [Mermaid](https://mermaid.js.org), which many viewers of Markdown render. Sources are round, sources of
    /// documents are cylinders, and columns that are answered from outside are parallelograms. The label of a line is the rest of the view in the language of `flow!`; a dotted line leads from
    /// a column to later steps.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest)           = prompt("List the topics.");
    ///         column notes(topics.window(3), self) = prompt("Take notes.");
    ///     }
    /// }
    ///
    /// assert_eq!(Chat::GRAPH.outline().mermaid(), r#"flowchart LR
    ///     user([user])
    ///     topics[topics]
    ///     notes[notes]
    ///     user -->|"latest"| topics
    ///     topics -->|"window(3)"| notes
    ///     notes -.-> notes
    /// "#);
    /// ```
    pub fn mermaid(&self) -> String {
        let mut lines = vec!["flowchart LR\n".to_owned()];
        for ColumnOutline { name, pattern, is_documents, is_external, .. } in &self.columns {
            let (open, close) = match pattern {
                Some(_) if *is_external => ("[/", "/]"),
                Some(_) => ("[", "]"),
                None if *is_documents => ("[(", ")]"),
                None => ("([", "])"),
            };
            lines.push(format!("    {name}{open}{name}{close}\n"));
        }
        lines.extend(self.graph_lines().map(|line| line.mermaid()));
        lines.concat()
    }

    /// A drawing for [Graphviz](https://graphviz.org), in the language DOT. Sources are round, sources of documents are cylinders,
    /// and columns that are answered from outside are parallelograms. The label of a line is the rest of the view in the language of `flow!`; a dashed line leads from a column
    /// to later steps.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest)           = prompt("List the topics.");
    ///         column notes(topics.window(3), self) = prompt("Take notes.");
    ///     }
    /// }
    ///
    /// assert_eq!(Chat::GRAPH.outline().dot(), r#"digraph {
    ///     rankdir=LR
    ///     "user" [shape=oval, label="user\nsource"]
    ///     "topics" [shape=box, label="topics\nmap"]
    ///     "notes" [shape=box, label="notes\njournal"]
    ///     "user" -> "topics" [label="latest"]
    ///     "topics" -> "notes" [label="window(3)"]
    ///     "notes" -> "notes" [style=dashed]
    /// }
    /// "#);
    /// ```
    pub fn dot(&self) -> String {
        let mut lines = vec!["digraph {\n    rankdir=LR\n".to_owned()];
        // A name has no character that ends a text of DOT.
        for column in &self.columns {
            let shape = match column.pattern {
                Some(_) if column.is_external => "parallelogram",
                Some(_) => "box",
                None if column.is_documents => "cylinder",
                None => "oval",
            };
            let name = &column.name;
            lines.push(format!("    \"{name}\" [shape={shape}, label=\"{name}\\n{}\"]\n", column.kind()));
        }
        lines.extend(self.graph_lines().map(|line| line.dot()));
        lines.concat() + "}\n"
    }

    /// A drawing as SVG, as `cargo doc` shows it in the documentation of a flow. A box is a column with its pattern and its
    /// views, and a line leads to each view of the same step: solid for all values, dashed for a window, dotted for
    /// documents in tiers, dashes and dots for a thread. Modules are drawn as their columns.
    ///
    /// In a page the drawing has the colour of the text around; a file has the colours of the reader, light or dark. An outline
    /// with more than 60 columns becomes a sentence: as text, the outline is a table.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest)   = prompt("List the topics.");
    ///         column assistant(user, self) = prompt("You are a helpful assistant.");
    ///     }
    /// }
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let svg = Chat::GRAPH.outline().svg();
    /// assert!(svg.contains("<title>topics reads user.latest</title>"));
    /// std::fs::write(tempfile::tempdir()?.path().join("chat.svg"), svg)?;
    /// # Ok(()) }
    /// ```
    pub fn svg(&self) -> String {
        self.drawn(None).replace("</svg>", STANDALONE)
    }

    /// The SVG for a page, with links. `target` returns the target for a column.
    #[cfg(feature = "report")]
    pub(crate) fn linked_svg(&self, target: impl Fn(&ColumnOutline) -> String) -> String {
        self.drawn(Some(&|at, markup| match self.columns.get(at) {
            Some(column) => format!("<a href=\"{}\">{markup}</a>", target(column)),
            None => markup.to_owned(),
        }))
    }

    /// The meaning of the lines of the SVG.
    #[cfg(feature = "report")]
    pub(crate) fn legend(&self) -> String {
        let columns = self.drawn_columns();
        Drawing { columns: &columns, most: DRAWN_COLUMNS }.legend().replace('`', "")
    }

    fn graph_lines(&self) -> impl Iterator<Item = GraphLine<'_>> {
        self.columns.iter().flat_map(|ColumnOutline { name: to, reads, self_window, .. }| {
            let views = reads.iter().map(|view| {
                let suffix = view.suffix();
                GraphLine { from: &view.column, to, suffix, is_later: view.lag > 0 }
            });
            let own = self_window.map(|window| window.to_string());
            views.chain(own.map(|suffix| GraphLine { from: to, to, suffix, is_later: true }))
        })
    }

    fn drawn(&self, link: Option<BoxLink<'_>>) -> String {
        Drawing { columns: &self.drawn_columns(), most: DRAWN_COLUMNS }.svg(link)
    }

    fn drawn_columns(&self) -> Vec<DrawnColumn> {
        let indices = self.columns.iter().enumerate().map(|(at, column)| (column.name.as_str(), at));
        let indices: BTreeMap<&str, usize> = indices.collect();
        let columns = self.columns.iter().map(|column| {
            let own = column.self_window.map(|window| DrawnRead {
                text: format!("self{window}"),
                from: None,
                line: DrawnLine::All,
            });
            let reads = column.reads.iter().map(|view| view.drawn(&indices));
            DrawnColumn {
                name: column.name.to_string(),
                kind: column.kind(),
                level: column.level,
                reads: reads.chain(own).collect(),
            }
        });
        columns.collect()
    }
}

/// A line in the languages of other programs.
struct GraphLine<'o> {
    from: &'o Name,
    to: &'o Name,
    /// The view after the name of the column.
    suffix: String,
    /// Whether the line leads to later steps.
    is_later: bool,
}

impl GraphLine<'_> {
    fn mermaid(&self) -> String {
        let arrow = if self.is_later { "-.->" } else { "-->" };
        // In quotes, because a parenthesis begins a shape.
        let label = self.label().map_or_else(String::new, |label| format!("|\"{label}\"|"));
        format!("    {} {arrow}{label} {}\n", self.from, self.to)
    }

    fn dot(&self) -> String {
        let label = self.label().map(|label| format!("label=\"{label}\""));
        let style = self.is_later.then(|| "style=dashed".to_owned());
        let settings = label.into_iter().chain(style).collect::<Vec<_>>().join(", ");
        let settings = if settings.is_empty() { settings } else { format!(" [{settings}]") };
        format!("    \"{}\" -> \"{}\"{settings}\n", self.from, self.to)
    }

    /// `None` for a view of all values.
    fn label(&self) -> Option<&str> {
        self.suffix.strip_prefix('.')
    }
}

impl ColumnOutline {
    /// The pattern, or the kind of a source.
    fn kind(&self) -> String {
        match self.pattern {
            Some(_) if self.is_external => "external".to_owned(),
            Some(pattern) => pattern.to_string(),
            None if self.is_documents => "documents".to_owned(),
            None => "source".to_owned(),
        }
    }
}

impl ViewOutline {
    /// The view in the language of `flow!`, after the name of the column.
    fn suffix(&self) -> String {
        let layout = match self {
            Self { is_tiered: true, .. } => ".tiered()",
            Self { is_compacted: true, .. } => ".compacted()",
            Self { is_thread: true, .. } => ".thread()",
            _ => "",
        };
        let window = WindowSuffix { window: self.window, lag: self.lag };
        let window = if self.is_thread { String::new() } else { window.to_string() };
        let media = if self.is_text_only { ".text_only()" } else { "" };
        let purpose = match self.purpose {
            Purpose::Primary => String::new(),
            purpose => format!(".{purpose}()"),
        };
        format!("{layout}{window}{media}{purpose}")
    }

    fn drawn(&self, indices: &BTreeMap<&str, usize>) -> DrawnRead {
        let line = match self {
            Self { is_tiered: true, .. } => DrawnLine::Tiers,
            Self { is_thread: true, .. } => DrawnLine::Thread,
            _ if self.window.most().is_some() => DrawnLine::Window,
            _ => DrawnLine::All,
        };
        let from = if self.lag > 0 { None } else { indices.get(self.column.as_str()).copied() };
        DrawnRead { text: format!("{}{}", self.column, self.suffix()), from, line }
    }
}
