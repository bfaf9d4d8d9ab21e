//! The columns of a graph with those of its modules, as a plan has them: without the places of inputs.

use super::constant::{Graph, Node};
use super::view::{Read, View};
use crate::declare::{Draft, Plan, Schema, SchemaErrors};

/// What stands at a place.
pub(super) struct Flat {
    pub(super) name: String,
    /// What it was named before.
    pub(super) renamed_from: Option<String>,
    pub(super) what: What,
}

pub(super) enum What {
    Source,
    /// The views show places of the whole graph.
    Column(Vec<Read>),
    /// A source of a module, bound to what stands at this place.
    Input(usize),
}

impl Flat {
    fn of(graph: &Graph, own: usize, &(name, ..): &Node) -> Self {
        let what = graph.reads(own).map_or(What::Source, |reads| What::Column(reads.to_vec()));
        let rename = graph.renames.iter().find(|rename| rename.column == own);
        Self { name: name.to_owned(), renamed_from: rename.map(|rename| rename.name.to_owned()), what }
    }
}

/// Everything that stands somewhere, by place.
pub(super) fn flat(graph: &Graph) -> Vec<Flat> {
    let mut places = graph.base.map_or_else(Vec::new, flat);
    places.extend(graph.nodes.iter().enumerate().map(|(own, node)| Flat::of(graph, own, node)));
    for module in graph.modules {
        let first = places.len();
        places.extend(flat(module.place.graph).into_iter().map(|Flat { name, renamed_from, what }| {
            let what = match what {
                What::Source => What::Input(module.input(&name)),
                What::Input(bound) => What::Input(first + bound),
                What::Column(reads) => {
                    let moved = |view: View| View { column: first + view.column, ..view };
                    let reads = reads.into_iter().map(|read| Read { view: moved(read.view), ..read });
                    What::Column(reads.collect())
                }
            };
            let inside = |name: String| format!("{}.{name}", module.name);
            Flat { name: inside(name), renamed_from: renamed_from.map(inside), what }
        }));
    }
    places
}

/// The place of the column that is meant by a place.
pub(super) fn bound(places: &[Flat], mut at: usize) -> usize {
    while let Some(Flat { what: What::Input(bound), .. }) = places.get(at) {
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

    /// A plan with the own columns at the end. It must have the columns of what this graph extends, and
    /// may have others.
    pub(crate) fn extend(&self, plan: &Plan) -> Result<Plan, SchemaErrors> {
        let (places, mut schema) = (flat(self), plan.schema().clone());
        let (first, count) = (self.first(), schema.columns().len());
        let mut columns = vec![0; places.len()];
        let mut next = count;
        for (at, (column, place)) in columns.iter_mut().zip(&places).enumerate() {
            *column = match place.what {
                What::Input(_) => continue,
                _ if at < first => match schema.find(&place.name) {
                    Some(column) => column,
                    None => unreachable!("what is extended has its own columns"),
                },
                _ => next,
            };
            next += usize::from(at >= first);
        }
        let column = |at: usize| match columns.get(bound(&places, at)) {
            Some(column) => *column,
            None => unreachable!("`flow!` reads what is there"),
        };
        let own = places.iter().enumerate().skip(first);
        schema.extend(own.filter_map(|(at, place)| draft(place, at, column)).collect())?;

        let (mut sorted, mut is_sorted) = (vec![0; places.len() - first], vec![false; places.len() - first]);
        if !self.sort(&mut sorted, &mut is_sorted) {
            unreachable!("the compiler refuses a cycle");
        }
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&column| plan.rank(column));
        let is_column = |at: &usize| !matches!(places.get(*at), Some(Flat { what: What::Input(_), .. }));
        order.extend(sorted.into_iter().map(|at| first + at).filter(is_column).map(column));
        Ok(Plan::new(schema, &order))
    }
}

/// The declaration of what stands at the place `at`, with every column where a plan has it; `None` for an input.
fn draft(place: &Flat, at: usize, column: impl Fn(usize) -> usize) -> Option<Draft> {
    let view = |read: &Read| (Ok(column(read.view.column)), read.spec(at));
    let views = match &place.what {
        What::Source => None,
        What::Column(reads) => Some(reads.iter().map(view).collect()),
        What::Input(_) => return None,
    };
    Some(Draft { name: place.name.clone(), renamed_from: place.renamed_from.clone(), views })
}
