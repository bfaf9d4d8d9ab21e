//! The columns of a graph with the columns of the base and the modules, as a list, and the plan of them.

use super::constant::{Graph, Used};
use crate::declare::{ColumnDraft, FileOrigin, Plan, Schema, SchemaErrors, ShownColumn};

/// The column at an index of a graph.
pub(super) enum GraphColumn {
    /// The views have indices of the whole graph.
    Own(ColumnDraft),
    /// A source of a module, bound to the column at this index.
    Bound(usize),
}

impl Graph {
    /// The columns that the flow itself declares.
    fn own_columns(&self) -> impl Iterator<Item = GraphColumn> {
        self.nodes.iter().enumerate().map(|(node, (name, ..))| {
            let reader = self.first() + node;
            let rename = self.renames.iter().find(|rename| rename.node == node);
            GraphColumn::Own(ColumnDraft {
                name: (*name).to_owned(),
                renamed_from: rename.map(|rename| rename.name.to_owned()),
                views: self.views(node).map(|views| views.iter().map(|view| view.spec(reader)).collect()),
                is_documents: self.documents.contains(&node),
                step_errors: Vec::new(),
                origin: FileOrigin::default(),
            })
        })
    }
}

impl GraphColumn {
    /// The column in the flow around a module, whose columns begin at the index `first` there.
    fn around(self, module: &Used, first: usize) -> Self {
        let mut draft = match self {
            Self::Bound(at) => return Self::Bound(first + at),
            // Sources are bound by the names inside the module, so before the name is qualified.
            Self::Own(draft) if draft.views.is_none() => return Self::Bound(module.input(&draft.name)),
            Self::Own(draft) => draft,
        };
        draft.name = format!("{}.{}", module.name, draft.name);
        draft.renamed_from = draft.renamed_from.map(|name| format!("{}.{name}", module.name));
        Self::Own(draft.with_columns(|at| first + at))
    }
}

impl ColumnDraft {
    /// The draft with other indices of columns.
    fn with_columns(mut self, column: impl Fn(usize) -> usize) -> Self {
        for (shown, _) in self.views.iter_mut().flatten() {
            if let ShownColumn::Column(at) = shown {
                *at = column(*at);
            }
        }
        self
    }
}

/// All columns of a graph, by index.
pub(super) fn flat(graph: &Graph) -> Vec<GraphColumn> {
    // The list has the order of the indices: the base, the nodes, then the modules.
    let mut columns = graph.base.map_or_else(Vec::new, flat);
    columns.extend(graph.own_columns());
    for module in graph.modules {
        let first = columns.len();
        columns.extend(flat(module.columns.graph).into_iter().map(|column| column.around(module, first)));
    }
    columns
}

/// The index of the column that an input is bound to; any other column is itself.
pub(super) fn bound(columns: &[GraphColumn], mut at: usize) -> usize {
    while let Some(GraphColumn::Bound(column)) = columns.get(at) {
        at = *column;
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

    /// A plan with further columns at the end: all but the base's, which the plan must have under the same names. It may
    /// have others.
    pub(crate) fn extend(&self, plan: &Plan) -> Result<Plan, SchemaErrors> {
        let flat = flat(self);
        let mut schema = plan.schema().clone();
        let first = self.first();
        let count = schema.columns().len();
        let mut next = count;
        // A plan has no inputs: a view of one shows the column that it is bound to.
        let places = flat.iter().enumerate().map(|(at, column)| match column {
            GraphColumn::Bound(_) => None,
            // By name, because the plan may have columns that the graph of the base does not have.
            GraphColumn::Own(draft) if at < first => match schema.find(&draft.name) {
                Some(column) => Some(column),
                None => unreachable!("an extended plan has the columns of the base"),
            },
            GraphColumn::Own(_) => {
                next += 1;
                Some(next - 1)
            }
        });
        let places: Vec<Option<usize>> = places.collect();
        let bound: Vec<usize> = (0..flat.len()).map(|at| bound(&flat, at)).collect();
        let added = flat.into_iter().skip(first).filter_map(|flat| match flat {
            GraphColumn::Own(draft) => {
                Some(draft.with_columns(|at| match bound.get(at).and_then(|at| *places.get(*at)?) {
                    Some(column) => column,
                    None => unreachable!("a view has the index of a column"),
                }))
            }
            GraphColumn::Bound(_) => None,
        });
        schema.extend(added.collect())?;

        let count_new = bound.len() - first;
        let mut sorted = vec![0; count_new];
        let mut waits = vec![0; count_new];
        if !self.sort(&mut sorted, &mut waits, &mut vec![false; count_new]) {
            unreachable!("the compiler refuses a cycle");
        }
        let mut order: Vec<usize> = (0..count).collect();
        // Earlier columns keep the ranks, because the queues of a scheduler have copies of them.
        order.sort_by_key(|&column| plan.rank(column));
        order.extend(sorted.into_iter().filter_map(|at| *places.get(first + at)?));
        Ok(Plan::new(schema, &order))
    }
}
