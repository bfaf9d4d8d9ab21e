//! A graph as text, and its outline.

use std::fmt;

use super::constant::Graph;
use super::flat::{Flat, What, bound, flat};
use super::view::{Pick, Read};
use crate::declare::{Name, Outline, Suffix, last_part};

impl Graph {
    /// The names of the columns in order of declaration, those of modules behind those of the flow itself.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name> {
        let mut places = flat(self);
        places.retain(|place| !matches!(place.what, What::Input(_)));
        places.into_iter().map(|place| match Name::new(&place.name) {
            Ok(name) => name,
            Err(error) => unreachable!("`flow!` accepts only names: {error}"),
        })
    }

    /// What the declaration says of the columns, with a drawing for Mermaid.
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
        let places = flat(self);
        for (at, Flat { name, renamed_from, what }) in places.iter().enumerate() {
            match what {
                What::Source => write!(f, "source {name}")?,
                What::Column(reads) => write_column(f, &places, at, reads)?,
                What::Input(_) => continue,
            }
            renamed_from.as_ref().map_or(Ok(()), |earlier| write!(f, " was {earlier:?}"))?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

fn write_column(f: &mut fmt::Formatter<'_>, places: &[Flat], column: usize, reads: &[Read]) -> fmt::Result {
    let name_of = |at: usize| places.get(bound(places, at)).map_or("?", |place| &*place.name);
    write!(f, "column {}(", name_of(column))?;
    let mut open: &[&str] = &[];
    for (at, Read { view, note, pick, groups }) in reads.iter().enumerate() {
        let shared = open.iter().zip(*groups).take_while(|(open, group)| open == group).count();
        f.write_str(&")".repeat(open.len() - shared))?;
        f.write_str(if at > 0 { ", " } else { "" })?;
        groups.iter().skip(shared).try_for_each(|tag| write!(f, "group({tag:?}, "))?;
        open = groups;
        let name = name_of(view.column);
        let (is_own, suffix) = (view.column == column, Suffix { window: view.window, lag: view.lag });
        write!(f, "{}{suffix}", if is_own { "self" } else { name })?;
        if !is_own && view.tag != last_part(name) {
            write!(f, ".as({:?})", view.tag)?;
        }
        f.write_str(match pick {
            Some(Pick::Text(_)) => ".filter(…)",
            Some(Pick::Step(_)) => ".sample(…)",
            None => "",
        })?;
        f.write_str(if view.elided { ".elided()" } else { "" })?;
        note.map_or(Ok(()), |note| write!(f, ".note({note:?})"))?;
    }
    write!(f, "{})", ")".repeat(open.len()))
}
