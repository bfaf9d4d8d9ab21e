//! The order of the columns, and the rule that no column waits for itself.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::iter;

use proc_macro2::Span;

use crate::diagnostics::{Errors, line};
use crate::graph;
use crate::ident::{ident_text, widest};
use crate::syntax::{FlowDecl, ViewDecl};

/// The order in which a flow is expanded.
pub(crate) struct ExpansionPlan {
    /// The columns by index, each after the columns that it reads. With modules, they are in the order of declaration:
    /// only rustc knows the columns in between.
    pub(crate) order: Vec<usize>,
    /// Cycles through modules, if the columns in the modules wait for these inputs. Only rustc knows that.
    pub(crate) possible_cycles: Vec<PossibleCycle>,
}

pub(crate) struct PossibleCycle {
    /// The input of a module.
    pub(crate) at: Span,
    pub(crate) message: String,
    /// The names of all modules that the cycle may go through.
    pub(crate) modules: Vec<String>,
}

/// No column waits for itself. Wrong:
///
/// ```text
/// column topics(summary.latest) = prompt("...");
/// column summary(topics.latest) = prompt("...");
/// ```
///
/// rustc decides which of the possible cycles through modules are cycles.
pub(super) fn check_cycles(flow: &FlowDecl, errors: &mut Errors) -> ExpansionPlan {
    let nodes = Nodes::new(flow);
    let declared_order = 0..flow.columns.len();
    // Without the modules, because only rustc knows which inputs a column of a module waits for.
    let columns = nodes.reads(flow.columns.len());
    let Some(order) = graph::order(&columns) else {
        for found in graph::cycles(&columns) {
            let edges = nodes.edges(&found.shortest);
            if let Some(first) = edges.first() {
                errors.on(first.span, cycle_of_views(&edges));
            }
        }
        // A flow with a cycle does not compile, so the order only needs to contain each column.
        return ExpansionPlan { order: declared_order.collect(), possible_cycles: Vec::new() };
    };
    if flow.modules.is_empty() {
        return ExpansionPlan { order, possible_cycles: Vec::new() };
    }
    // Here a module waits for all inputs.
    let cycles = graph::cycles(&nodes.reads(nodes.0.len()));
    let possible_cycles = cycles.iter().filter_map(|cycle| nodes.possible(cycle, flow.columns.len()));
    ExpansionPlan { order: declared_order.collect(), possible_cycles: possible_cycles.collect() }
}

/// The columns, then the modules, each with the views to wait for.
struct Nodes<'f>(Vec<(String, Vec<&'f ViewDecl>)>);

impl<'f> Nodes<'f> {
    fn new(flow: &'f FlowDecl) -> Self {
        let columns = flow.columns.iter().map(|column| {
            (ident_text(&column.name), column.reads().filter(|view| !view.is_lagged).collect())
        });
        let modules = flow.modules.iter();
        let modules = modules.map(|module| (ident_text(&module.name), module.reads().collect()));
        Self(columns.chain(modules).collect())
    }

    /// The reads of each of the first `count` nodes, by index, as far as these are among the same nodes.
    fn reads(&self, count: usize) -> Vec<Vec<usize>> {
        let nodes = self.0.iter().take(count);
        let index: HashMap<&str, usize> = nodes.clone().map(|(name, _)| &**name).zip(0..).collect();
        let reads = nodes.map(|(_, views)| {
            let reads: BTreeSet<usize> =
                views.iter().filter_map(|view| index.get(&*ident_text(&view.base)).copied()).collect();
            reads.into_iter().collect()
        });
        reads.collect()
    }

    /// A cycle through modules, which come after the first `count` nodes.
    fn possible(&self, cycle: &graph::Cycle, count: usize) -> Option<PossibleCycle> {
        let edges = self.edges(&cycle.shortest);
        let at = iter::zip(&cycle.shortest, &edges).find(|(node, _)| **node >= count)?.1.span;
        let modules = cycle.group.iter().filter(|node| **node >= count);
        let modules = modules.filter_map(|&node| Some(self.0.get(node)?.0.clone())).collect();
        // An input of a module cannot be bound to an earlier value.
        let message = if cycle.shortest.iter().all(|&node| node >= count) {
            // `use Debate { topic: debate.critic } as debate;`
            drawn_cycle(&edges, "bind one of these inputs to another column")
        } else {
            cycle_of_views(&edges)
        };
        Some(PossibleCycle { at, message, modules })
    }

    fn edges(&self, cycle: &[usize]) -> Vec<CycleEdge> {
        let pairs = iter::zip(cycle, cycle.iter().cycle().skip(1));
        let edges = pairs.filter_map(|(&reader, &read)| {
            let (reader, views) = self.0.get(reader)?;
            let (read, _) = self.0.get(read)?;
            let view = views.iter().find(|view| ident_text(&view.base) == *read)?;
            Some(CycleEdge { reader: reader.clone(), read: view.name(), span: view.base.span() })
        });
        edges.collect()
    }
}

// Messages.

/// One edge of a cycle: the reader, the column that it reads, and the span of the view.
struct CycleEdge {
    reader: String,
    read: String,
    span: Span,
}

fn cycle_of_views(edges: &[CycleEdge]) -> String {
    let read = edges.first().map_or("summary", |edge| &edge.read);
    let help = format!("drop one of these views, or read the value of the step before: `{read}.prev`");
    drawn_cycle(edges, &help)
}

fn drawn_cycle(edges: &[CycleEdge], help: &str) -> String {
    let width = widest(edges.iter().map(|edge| edge.reader.as_str()));
    let mut drawing = String::new();
    for (at, CycleEdge { reader, read, span }) in edges.iter().enumerate() {
        let arrow = if at == 0 { "┌→" } else { "│ " };
        let at = line(*span).map_or_else(String::new, |line| format!("  (line {line})"));
        // Writing to a `String` cannot fail.
        let _ = writeln!(drawing, "  {arrow} {reader:width$}  reads `{read}`{at}");
    }
    format!(
        "these columns wait for each other, so none of them can run first\n\n{drawing}  └─┘\n\nhelp: {help}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_drawn() {
        let edge = |reader: &str, read: &str| CycleEdge {
            reader: reader.to_owned(),
            read: read.to_owned(),
            span: Span::call_site(),
        };
        let drawn = cycle_of_views(&[edge("topics", "summary"), edge("summary", "topics")]);
        assert!(drawn.contains("\n  ┌→ topics   reads `summary`\n  │  summary  reads `topics`\n  └─┘\n"));
    }
}
