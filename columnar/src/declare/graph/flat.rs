//! The columns of a graph with those of its base and its modules, as a list, and the plan of them.

use super::constant::{Graph, Node};
use super::view::View;
use crate::declare::{Draft, Plan, Read, Schema, SchemaErrors};

/// The column at an index of a graph.
pub(super) struct Flat {
    pub(super) name: String,
    /// Its earlier name.
    pub(super) renamed_from: Option<String>,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    Source {
        is_documents: bool,
    },
    /// The views have indices of the whole graph.
    Derived(Vec<View>),
    /// A source of a module, bound to the column at this index.
    Input(usize),
}

impl Flat {
    fn node(graph: &Graph, node: usize, &(name, ..): &Node) -> Self {
        let is_documents = graph.documents.contains(&node);
        let kind = match graph.views(node) {
            Some(views) => Kind::Derived(views.to_vec()),
            None => Kind::Source { is_documents },
        };
        let rename = graph.renames.iter().find(|rename| rename.node == node);
        Self { name: name.to_owned(), renamed_from: rename.map(|rename| rename.name.to_owned()), kind }
    }
}

/// All columns of a graph, by index.
pub(super) fn flat(graph: &Graph) -> Vec<Flat> {
    // The order of the list is that of the indices: the base, the nodes, then the modules.
    let mut columns = graph.base.map_or_else(Vec::new, flat);
    columns.extend(graph.nodes.iter().enumerate().map(|(at, node)| Flat::node(graph, at, node)));
    for module in graph.modules {
        let first = columns.len();
        columns.extend(flat(module.columns.graph).into_iter().map(|Flat { name, renamed_from, kind }| {
            let kind = match kind {
                // Sources are bound by their names inside the module, so before the name is qualified.
                Kind::Source { .. } => Kind::Input(module.input(&name)),
                Kind::Input(bound) => Kind::Input(first + bound),
                Kind::Derived(views) => {
                    let moved = |view: View| View { column: first + view.column, ..view };
                    Kind::Derived(views.into_iter().map(moved).collect())
                }
            };
            let qualified = |name: String| format!("{}.{name}", module.name);
            Flat { name: qualified(name), renamed_from: renamed_from.map(qualified), kind }
        }));
    }
    columns
}

/// The index of the column that an input is bound to; any other column is itself.
pub(super) fn bound(columns: &[Flat], mut at: usize) -> usize {
    while let Some(Flat { kind: Kind::Input(bound), .. }) = columns.get(at) {
        at = *bound;
    }
    at
}

impl Graph {
    pub(crate) fn plan(&self) -> Result<Plan, SchemaErrors> {
        let base = match self.base {
            Some(base) => base.plan()?,
            None => Plan::new(Schema::new(Vec::new())?, &[]),
        };
        self.extend(&base)
    }

    /// A plan with further columns at its end: all but those of the base, which it must have under their names. It may
    /// have others.
    pub(crate) fn extend(&self, plan: &Plan) -> Result<Plan, SchemaErrors> {
        let (flat, mut schema) = (flat(self), plan.schema().clone());
        let (first, count) = (self.first(), schema.columns().len());
        let mut columns = vec![0; flat.len()];
        let mut next = count;
        for (at, (column, flat)) in columns.iter_mut().zip(&flat).enumerate() {
            *column = match flat.kind {
                // A plan has no inputs: a view of one shows the column that it is bound to.
                Kind::Input(_) => continue,
                // By name, because the plan may have columns that the graph of the base does not have.
                _ if at < first => match schema.find(&flat.name) {
                    Some(column) => column,
                    None => unreachable!("an extended plan has the columns of the base"),
                },
                _ => next,
            };
            next += usize::from(at >= first);
        }
        let column = |at: usize| match columns.get(bound(&flat, at)) {
            Some(column) => *column,
            None => unreachable!("a view has the index of a column"),
        };
        let added = flat.iter().enumerate().skip(first);
        schema.extend(added.filter_map(|(at, flat)| draft(flat, at, column)).collect())?;

        let count_new = flat.len() - first;
        let (mut sorted, mut waits) = (vec![0; count_new], vec![0; count_new]);
        if !self.sort(&mut sorted, &mut waits, &mut vec![false; count_new]) {
            unreachable!("the compiler refuses a cycle");
        }
        let mut order: Vec<usize> = (0..count).collect();
        // Earlier columns keep their ranks, because the queues of a scheduler have copies of them.
        order.sort_by_key(|&column| plan.rank(column));
        let is_column = |at: &usize| !matches!(flat.get(*at), Some(Flat { kind: Kind::Input(_), .. }));
        order.extend(sorted.into_iter().map(|at| first + at).filter(is_column).map(column));
        Ok(Plan::new(schema, &order))
    }
}

/// The declaration of the column at an index, for a plan; `None` for an input. `column` maps an index of the graph to one
/// of the plan.
fn draft(flat: &Flat, at: usize, column: impl Fn(usize) -> usize) -> Option<Draft> {
    let view = |view: &View| (Read::Column(column(view.column)), view.spec(at));
    let views = match &flat.kind {
        Kind::Source { .. } => None,
        Kind::Derived(views) => Some(views.iter().map(view).collect()),
        Kind::Input(_) => return None,
    };
    Some(Draft {
        name: flat.name.clone(),
        renamed_from: flat.renamed_from.clone(),
        views,
        is_documents: matches!(flat.kind, Kind::Source { is_documents: true }),
        step_errors: Vec::new(),
    })
}
