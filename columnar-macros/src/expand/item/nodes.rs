//! The graph of a flow for its documentation: as a drawing, and as a list for editors.

use std::collections::HashMap;
use std::fmt::Write as _;

use columnar_drawing::{Drawing, DrawnColumn, DrawnLine, DrawnRead};

use super::shown_step::is_external;
use super::table;
use crate::graph;
use crate::ident::{ident_text, widest};
use crate::syntax::{ColumnDecl, FlowDecl, ModuleDecl, ViewDecl};

/// The target of links to columns of the base. Only rustc knows the type of such a column, but `extend` has the base.
pub(super) const OF_BASE: &str = "Self::extend";

/// The number of columns above which the table in the documentation is easier to read than a drawing.
const MOST_DRAWN: usize = 20;

/// The columns of the base that are read, the columns, and the modules.
#[derive(Default)]
pub(super) struct FlowNodes {
    drawn: Vec<DrawnColumn>,
    /// The views of each node, as the user wrote them.
    views: Vec<Vec<String>>,
    /// The targets of links to the nodes.
    links: Vec<String>,
    /// The node of each name.
    index: HashMap<String, usize>,
}

impl FlowNodes {
    /// `base` is the flow that this one extends.
    pub(super) fn new(flow: &FlowDecl, base: Option<&str>) -> Self {
        let mut nodes = Self::default();
        for view in flow.reads().filter(|view| view.is_inherited) {
            let name = view.name();
            if !nodes.index.contains_key(&name) {
                let kind = base.map_or_else(String::new, |base| format!("of {base}"));
                nodes.add(name, kind, OF_BASE.to_owned(), Vec::new());
            }
        }
        for column in &flow.columns {
            let name = ident_text(&column.name);
            let views = column.reads().map(ViewDecl::text).collect();
            nodes.add(name.clone(), kind(column).to_owned(), table::link(&name), views);
        }
        for module in &flow.modules {
            let name = ident_text(&module.name);
            let views = module.reads().map(ViewDecl::name).collect();
            nodes.add(name.clone(), "module".to_owned(), table::link(&name), views);
        }
        let first = nodes.drawn.len() - flow.columns.len() - flow.modules.len();
        let of_columns = flow.columns.iter().map(|column| reads_of_column(column, &nodes.index));
        let of_modules = flow.modules.iter().map(|module| reads_of_module(module, &nodes.index));
        let reads: Vec<Vec<DrawnRead>> = of_columns.chain(of_modules).collect();
        for (node, reads) in nodes.drawn.iter_mut().skip(first).zip(reads) {
            node.reads = reads;
        }
        set_levels(&mut nodes.drawn);
        nodes
    }

    fn add(&mut self, name: String, kind: String, link: String, views: Vec<String>) {
        self.index.insert(name.clone(), self.drawn.len());
        self.drawn.push(DrawnColumn { name, kind, level: 0, reads: Vec::new() });
        self.links.push(link);
        self.views.push(views);
    }

    /// The drawing and its legend, as Markdown. A box is a link as any other text is.
    pub(super) fn drawing(&self) -> String {
        let drawing = Drawing { columns: &self.drawn, most: MOST_DRAWN };
        let svg = drawing.svg(Some(&|node, markup| {
            let target = self.links.get(node).map_or("", String::as_str);
            format!("[{markup}]({target})")
        }));
        // Of a wide flow a part is seen in the size of the text, and not the whole in a small one.
        format!("<div style=\"overflow-x:auto\">\n\n{svg}\n\n</div>\n\n{}\n\n", drawing.legend())
    }

    /// The columns by level. A column is one level after the last column that it reads.
    ///
    /// ```text
    /// level 0  user
    /// level 1  topics    ← user.latest
    ///          summary   ← user, self.latest
    /// level 2  critique  ← summary.latest, topics
    /// ```
    pub(super) fn list(&self) -> String {
        let longest = widest(self.drawn.iter().map(|node| node.name.as_str()));
        let mut nodes: Vec<(&DrawnColumn, &Vec<String>)> = self.drawn.iter().zip(&self.views).collect();
        nodes.sort_by_key(|(node, _)| node.level);
        let mut text = String::new();
        let mut last = None;
        for (DrawnColumn { name, kind, level, .. }, views) in nodes {
            let head = if last == Some(level) { String::new() } else { format!("level {level}") };
            last = Some(level);
            let line = match views.as_slice() {
                [] if kind == DOCUMENTS => format!("{name}: Documents"),
                [] => name.clone(),
                views => format!("{name:longest$}  ← {}", views.join(", ")),
            };
            let written = writeln!(text, "{head:8} {line}");
            debug_assert!(written.is_ok(), "a string takes everything");
        }
        text
    }
}

const DOCUMENTS: &str = "documents";

/// The word beside the name of a column, which is the pattern of reading for a column that is computed.
fn kind(column: &ColumnDecl) -> &'static str {
    match () {
        () if column.has_documents() => DOCUMENTS,
        () if column.is_source() => "source",
        () if column.derived.as_ref().is_some_and(|derived| is_external(&derived.step)) => "external",
        () => pattern(column),
    }
}

/// The pattern of reading. `Pattern` of the library has the same rules for declarations of every form.
fn pattern(column: &ColumnDecl) -> &'static str {
    let others: Vec<&ViewDecl> = column.reads().filter(|view| !view.is_self && !view.is_tiered()).collect();
    let reads_all = others.iter().any(|view| !view.is_windowed());
    let own = column.reads().find(|view| view.is_self);
    match own.map(ViewDecl::is_windowed) {
        _ if others.iter().any(|view| view.is_thread()) => "thread",
        Some(false) if reads_all => "accumulator",
        Some(false) => "journal",
        None if !others.iter().any(|view| view.is_windowed()) => "accumulator",
        _ if reads_all => "reducer",
        None if others.iter().all(|view| view.is_latest()) => "map",
        _ => "window",
    }
}

fn reads_of_column(column: &ColumnDecl, index: &HashMap<String, usize>) -> Vec<DrawnRead> {
    let mut views: Vec<&ViewDecl> = column.reads().collect();
    views.sort_by_key(|view| place_in_request(view));
    let reads = views.into_iter().map(|view| {
        let line = match () {
            () if view.is_tiered() => DrawnLine::Tiers,
            () if view.is_thread() => DrawnLine::Thread,
            () if view.is_windowed() => DrawnLine::Window,
            () => DrawnLine::All,
        };
        // The reader does not wait for values of earlier steps.
        let is_earlier = view.is_self || view.is_lagged;
        let from = if is_earlier { None } else { node_of(view, index) };
        DrawnRead { text: view.drawn_text(), from, line }
    });
    reads.collect()
}

/// The place of a view in a request, which is its place in the outline of the library.
fn place_in_request(view: &ViewDecl) -> usize {
    match view.purpose.as_ref().map(ident_text).as_deref() {
        _ if view.is_self => 5,
        _ if view.is_tiered() => 0,
        _ if view.is_thread() => 1,
        Some("context") => 2,
        Some("instruction") => 4,
        _ => 3,
    }
}

fn reads_of_module(module: &ModuleDecl, index: &HashMap<String, usize>) -> Vec<DrawnRead> {
    // The module decides how much of the column is shown.
    let reads = module.reads().map(|view| DrawnRead {
        text: view.name(),
        from: node_of(view, index),
        line: DrawnLine::All,
    });
    reads.collect()
}

/// The node of the column that a view shows.
fn node_of(view: &ViewDecl, index: &HashMap<String, usize>) -> Option<usize> {
    let name = if view.is_inherited { view.name() } else { ident_text(&view.base) };
    index.get(&name).copied()
}

/// Sets the levels. A line that closes a cycle is removed: the cycle is reported, or leads through a module and need not be a
/// cycle.
fn set_levels(nodes: &mut [DrawnColumn]) {
    let reads: Vec<Vec<usize>> =
        nodes.iter().map(|node| node.reads.iter().filter_map(|read| read.from).collect()).collect();
    let order = graph::order(&reads).unwrap_or_else(|| (0..nodes.len()).collect());
    let mut levels = HashMap::new();
    for at in order {
        let Some(node) = nodes.get_mut(at) else { continue };
        for read in &mut node.reads {
            // A node without a level comes later in the order.
            let level = read.from.and_then(|from| levels.get(&from).copied());
            read.from = read.from.filter(|_| level.is_some());
            node.level = node.level.max(level.map_or(0, |level: usize| level + 1));
        }
        levels.insert(at, node.level);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, reads: &[usize]) -> DrawnColumn {
        let reads = reads.iter().map(|&from| DrawnRead {
            text: String::new(),
            from: Some(from),
            line: DrawnLine::All,
        });
        DrawnColumn { name: name.to_owned(), kind: String::new(), level: 0, reads: reads.collect() }
    }

    #[test]
    fn a_list_has_levels() {
        let mut nodes = FlowNodes::default();
        let columns = [("user", &[][..]), ("critique", &[2, 0]), ("summary", &[0]), ("topics", &[0])];
        for (name, reads) in columns {
            let views = reads.iter().map(|&from| columns[from].0.to_owned()).collect();
            nodes.add(name.to_owned(), String::new(), String::new(), views);
            nodes.drawn.last_mut().unwrap().reads = node(name, reads).reads;
        }
        nodes.add("files".to_owned(), DOCUMENTS.to_owned(), String::new(), Vec::new());
        set_levels(&mut nodes.drawn);
        let text = "level 0  user\n         \
                             files: Documents\n\
                    level 1  summary   ← user\n         \
                             topics    ← user\n\
                    level 2  critique  ← summary, user\n";
        assert_eq!(nodes.list(), text);
    }

    #[test]
    fn a_line_that_closes_a_cycle_is_removed() {
        let mut nodes = [node("a", &[1]), node("b", &[0])];
        set_levels(&mut nodes);
        assert_eq!(nodes.map(|node| (node.level, node.reads[0].from)), [(0, None), (1, Some(0))]);
    }
}
