//! The order of the columns, and the rule that no column waits for itself.

use std::collections::HashMap;
use std::iter;

use proc_macro2::Span;

use crate::diagnostics::Errors;
use crate::diagnostics::reads::{Edge, cycle};
use crate::graph;
use crate::ident::ident_text;
use crate::syntax::{Column, Flow, Module, View};

/// The order in which a flow is expanded.
pub(crate) struct Plan {
    /// The columns by index, each after those that it reads. With modules it is the order of declaration: only
    /// rustc knows the columns in between.
    pub(crate) order: Vec<usize>,
    /// A view that may close a cycle through a module. rustc reports the cycle there.
    pub(crate) possible_cycle: Option<Span>,
}

/// No column waits for itself. Wrong:
///
/// ```text
/// column topics(summary.latest) = prompt("...");
/// column summary(topics.latest) = prompt("...");
/// ```
///
/// Cycles through modules are found when the constants of the flow are evaluated.
pub(super) fn check_cycles(flow: &Flow, errors: &mut Errors) -> Plan {
    let nodes = Nodes::new(flow);
    let declared_order = || (0..flow.columns.len()).collect();
    // Without the modules, because only rustc knows which inputs a column of a module waits for.
    let columns = nodes.reads(flow.columns.len());
    let Some(order) = graph::order(&columns) else {
        for nodes_of_cycle in graph::cycles(&columns) {
            let edges = nodes.edges(&nodes_of_cycle);
            if let Some(first) = edges.first() {
                errors.on(first.span, cycle(&edges));
            }
        }
        // A flow with a cycle does not compile; the order only needs to have each column.
        return Plan { order: declared_order(), possible_cycle: None };
    };
    if flow.modules.is_empty() {
        return Plan { order, possible_cycle: None };
    }
    // Here a module waits for all of its inputs, so a cycle may be none; rustc decides that.
    let cycles = graph::cycles(&nodes.reads(nodes.0.len()));
    let edges = cycles.first().map_or_else(Vec::new, |cycle| nodes.edges(cycle));
    let is_input = |edge: &&Edge| flow.modules.iter().any(|module| ident_text(&module.name) == edge.reader);
    let possible_cycle = edges.iter().find(is_input).map(|edge| edge.span);
    Plan { order: declared_order(), possible_cycle }
}

/// The columns, then the modules, each with the views that it waits for.
struct Nodes<'f>(Vec<(String, Vec<&'f View>)>);

impl<'f> Nodes<'f> {
    fn new(flow: &'f Flow) -> Self {
        let waits_for = |column: &'f Column| column.reads().filter(|view| !view.is_lagged).collect();
        let columns = flow.columns.iter().map(|column| (ident_text(&column.name), waits_for(column)));
        let inputs = |module: &'f Module| module.reads().collect();
        let modules = flow.modules.iter().map(|module| (ident_text(&module.name), inputs(module)));
        Self(columns.chain(modules).collect())
    }

    /// For each of the first `count` nodes those of them that it reads, by index.
    fn reads(&self, count: usize) -> Vec<Vec<usize>> {
        let nodes = self.0.iter().take(count);
        let index: HashMap<&str, usize> = nodes.clone().map(|(name, _)| &**name).zip(0..).collect();
        let reads = |(_, views): &(String, Vec<&View>)| {
            let mut reads: Vec<usize> =
                views.iter().filter_map(|view| index.get(&*ident_text(&view.base)).copied()).collect();
            reads.sort_unstable();
            reads.dedup();
            reads
        };
        nodes.map(reads).collect()
    }

    fn edges(&self, cycle: &[usize]) -> Vec<Edge> {
        let edge = |(&reader, &read): (&usize, &usize)| {
            let ((reader, views), (read, _)) = (self.0.get(reader)?, self.0.get(read)?);
            let span = views.iter().find(|view| ident_text(&view.base) == *read)?.base.span();
            Some(Edge { reader: reader.clone(), read: read.clone(), span })
        };
        iter::zip(cycle, cycle.iter().cycle().skip(1)).filter_map(edge).collect()
    }
}
