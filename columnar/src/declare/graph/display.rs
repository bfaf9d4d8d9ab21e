//! A graph as text, and its outline.

use std::fmt;

use super::constant::Graph;
use super::flat::{Flat, Kind, bound, flat};
use super::view::{ConstFilter, View};
use crate::declare::{Name, Outline, Purpose, Suffix, last_part};

impl Graph {
    /// The names of the columns in order of declaration, those of modules after those of the flow itself.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name> {
        let mut columns = flat(self);
        columns.retain(|column| !matches!(column.kind, Kind::Input(_)));
        columns.into_iter().map(|column| match Name::new(&column.name) {
            Ok(name) => name,
            Err(error) => unreachable!("`flow!` accepts only names: {error}"),
        })
    }

    /// The dependencies of the columns, the growth of their contexts, and a drawing for Mermaid.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn outline(&self) -> Outline {
        match self.plan() {
            Ok(plan) => Outline::of(&plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = flat(self);
        for (at, Flat { name, renamed_from, kind }) in columns.iter().enumerate() {
            match kind {
                Kind::Source { is_documents: false } => write!(f, "source {name}")?,
                Kind::Source { is_documents: true } => write!(f, "source {name}: Documents")?,
                Kind::Derived(views) => write_column(f, &columns, at, views)?,
                Kind::Input(_) => continue,
            }
            renamed_from.as_ref().map_or(Ok(()), |earlier| write!(f, " was {earlier:?}"))?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

fn write_column(f: &mut fmt::Formatter<'_>, columns: &[Flat], reader: usize, views: &[View]) -> fmt::Result {
    let name_of = |at: usize| columns.get(bound(columns, at)).map_or("?", |column| &*column.name);
    write!(f, "column {}(", name_of(reader))?;
    let mut open: &[&str] = &[];
    for (at, View { column, window, lag, elided, tag, note, filter, groups, purpose, tiering, .. }) in
        views.iter().enumerate()
    {
        let shared = open.iter().zip(*groups).take_while(|(open, group)| open == group).count();
        f.write_str(&")".repeat(open.len() - shared))?;
        f.write_str(if at > 0 { ", " } else { "" })?;
        groups.iter().skip(shared).try_for_each(|tag| write!(f, "group({tag:?}, "))?;
        open = groups;
        let name = name_of(*column);
        let (is_self, suffix) = (*column == reader, Suffix { window: *window, lag: *lag });
        write!(f, "{}{suffix}", if is_self { "self" } else { name })?;
        tiering.map_or(Ok(()), |tiering| write!(f, "{tiering}"))?;
        if *purpose != Purpose::Primary {
            write!(f, ".{purpose}()")?;
        }
        if !is_self && tiering.is_none() && *tag != last_part(name) {
            write!(f, ".as({tag:?})")?;
        }
        f.write_str(match filter {
            // A function has no text that could be printed.
            Some(ConstFilter::Text(_)) => ".filter(…)",
            Some(ConstFilter::Step(_)) => ".sample(…)",
            None => "",
        })?;
        f.write_str(if *elided { ".elided()" } else { "" })?;
        note.map_or(Ok(()), |note| write!(f, ".note({note:?})"))?;
    }
    write!(f, "{})", ")".repeat(open.len()))
}
