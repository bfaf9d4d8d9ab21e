//! What is wrong with a store, and getting out of it what is not.

use std::fmt;

use super::copy::{put_all, runs};
use super::{Definition, Entry, Extent, Store, StoreError};
use crate::name::Name;

/// Something that is wrong with what a store holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The column, by the name that it is stored under.
    pub column: Name,
    /// The step.
    pub step: usize,
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` at step {}: {}", self.column, self.step, self.what)
    }
}

/// Reads everything that a store holds, and tells what of it cannot be read or cannot be: all of it, by column
/// and step. Nothing is changed.
///
/// The store is opened for that, so no flow may have it open.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::{self, MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// # let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// # Flow::open(store.clone(), [topics]).await?.push("user", "hello").await?;
/// for defect in store::verify(&store).await? {
///     println!("{defect}");
/// }
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// When the store cannot be opened, its definition cannot be read, or reading stops for another reason than
/// what it reads.
pub async fn verify(store: &impl Store) -> Result<Vec<Defect>, StoreError> {
    let definition = store.open().await?;
    walk(store, definition.as_deref(), None).await
}

/// Copies into an empty store everything that can be read, with the definition, and tells what is missing
/// there. The store itself stays as it is.
///
/// A computed value that is missing is computed by the next run of a flow that is opened on the copy. A source
/// that lacks a step cannot go on from there, and neither can what has been computed of later steps: of both,
/// the copy has what lies before.
///
/// # Errors
///
/// Those of [`verify`], of either store; and when the other one holds something else already.
pub async fn salvage(from: &impl Store, into: &impl Store) -> Result<Vec<Defect>, StoreError> {
    let definition = from.open().await?;
    if into.open().await?.is_some() {
        return Err(StoreError::other("the store to copy into holds a flow already: use an empty one"));
    }
    let defects = walk(from, definition.as_deref(), Some(into)).await?;
    if let Some(definition) = definition {
        into.define(definition).await?;
    }
    Ok(defects)
}

/// Reads everything, and copies what is sound if there is something to copy it into.
async fn walk(
    store: &dyn Store,
    definition: Option<&str>,
    into: Option<&dyn Store>,
) -> Result<Vec<Defect>, StoreError> {
    let definition = definition.map_or_else(|| Ok(Definition::default()), Definition::parse)?;
    let mut defects = Vec::new();
    let (sources, derived): (Vec<_>, Vec<_>) = definition.columns().partition(|(_, is_source)| *is_source);
    let mut begun = usize::MAX;
    for (key, is_source) in sources.into_iter().chain(derived) {
        let sound = read(store, key, &mut defects).await?;
        let extent: Extent = sound.iter().map(|(step, _)| *step).collect();
        let mut wrong = |step: usize, what: String| defects.push(Defect { column: key.clone(), step, what });
        if is_source {
            for (step, _) in sound.iter().filter(|(_, entry)| *entry == Entry::Skipped) {
                wrong(*step, "it is there without a value, which a source never is".into());
            }
            if let Some(found) = extent.beyond.first() {
                wrong(extent.prefix, format!("it is not there, but step {found} is"));
            }
            begun = begun.min(extent.prefix);
        } else {
            for (step, _) in sound.iter().filter(|(step, _)| *step >= begun) {
                wrong(*step, format!("it is there, but only {begun} steps have begun"));
            }
        }
        if let Some(into) = into {
            let most = if is_source { extent.prefix } else { begun };
            put_all(into, key, sound.into_iter().filter(|(step, _)| *step < most).collect()).await?;
        }
    }
    defects.sort_by(|a, b| (&a.column, a.step).cmp(&(&b.column, b.step)));
    defects.dedup_by(|a, b| (&a.column, a.step) == (&b.column, b.step));
    Ok(defects)
}

/// What can be read of a column.
async fn read(
    store: &dyn Store,
    column: &Name,
    defects: &mut Vec<Defect>,
) -> Result<Vec<(usize, Entry)>, StoreError> {
    let extent = store.extent(column.clone()).await?;
    let mut sound = Vec::new();
    for run in runs(&extent, &(0..usize::MAX)) {
        match store.load(column.clone(), run.clone()).await {
            Ok(entries) => sound.extend(entries),
            Err(StoreError::Corrupt { .. }) => {
                // One of them, and perhaps others: each by itself.
                for step in extent.within(&run) {
                    match store.load(column.clone(), step..step + 1).await {
                        Ok(entries) => sound.extend(entries),
                        Err(StoreError::Corrupt { column, step, what }) => {
                            defects.push(Defect { column, step, what });
                        }
                        Err(error) => return Err(error),
                    }
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(sound)
}
