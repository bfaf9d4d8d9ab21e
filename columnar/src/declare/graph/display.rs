//! A graph as text, and the outline.

use std::fmt;

use super::constant::Graph;
use super::flat::{GraphColumn, bound, flat};
use crate::declare::view_text::write_view;
use crate::declare::{ColumnDraft, Name, Outline, ShownColumn, ViewFilter, ViewSpec, last_part};

impl Graph {
    /// The names of the columns in order of declaration, the flow's own before the columns of modules.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name> {
        let columns = flat(self).into_iter().filter_map(|column| match column {
            GraphColumn::Own(draft) => Some(draft.name),
            GraphColumn::Bound(_) => None,
        });
        let names: Vec<String> = columns.collect();
        names.into_iter().map(|name| match Name::new(&name) {
            Ok(name) => name,
            Err(error) => unreachable!("`flow!` accepts only names: {error}"),
        })
    }

    /// The dependencies of the columns, the growth of the contexts, and a drawing for Mermaid.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn outline(&self) -> Outline {
        match self.plan() {
            Ok(plan) => Outline::of(&plan, &[]),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = flat(self);
        for (at, column) in columns.iter().enumerate() {
            let GraphColumn::Own(ColumnDraft { name, renamed_from, views, is_documents, .. }) = column else {
                continue;
            };
            match views {
                None => write!(f, "source {name}{}", if *is_documents { ": Documents" } else { "" })?,
                Some(views) => write_column(f, &columns, at, views)?,
            }
            renamed_from.as_ref().map_or(Ok(()), |earlier| write!(f, " was {earlier:?}"))?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

fn write_column(
    f: &mut fmt::Formatter<'_>,
    columns: &[GraphColumn],
    reader: usize,
    views: &[(ShownColumn, ViewSpec)],
) -> fmt::Result {
    let name_of = |at: usize| match columns.get(bound(columns, at)) {
        Some(GraphColumn::Own(draft)) => draft.name.as_str(),
        _ => "?",
    };
    write!(f, "column {}(", name_of(reader))?;
    let mut open: &[(usize, String)] = &[];
    for (at, (shown, spec)) in views.iter().enumerate() {
        let groups = &spec.groups;
        let shared = open.iter().zip(groups).take_while(|(open, group)| open == group).count();
        f.write_str(&")".repeat(open.len() - shared))?;
        f.write_str(if at > 0 { ", " } else { "" })?;
        groups.iter().skip(shared).try_for_each(|(_, tag)| write!(f, "group({tag:?}, "))?;
        open = groups;
        let name = match shown {
            ShownColumn::Column(at) if *at != reader => name_of(*at),
            _ => "self",
        };
        // A function has no text that could be printed.
        let filter =
            if let Some(ViewFilter::Step(_)) = spec.filter { ".sample(…)" } else { ".filter(…)" };
        let tag = spec.tag.clone().filter(|tag| tag != last_part(name));
        write_view(name, &ViewSpec { tag, ..spec.clone() }, filter, f)?;
    }
    write!(f, "{})", ")".repeat(open.len()))
}
