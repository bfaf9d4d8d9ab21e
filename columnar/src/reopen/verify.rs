//! What is wrong with a store, and getting out of it what is not.

use std::ops::Range;

use super::Definition;
use crate::declare::Name;
use crate::store::{Defect, Entry, Store, StoreError, StoredSteps, chunks, put_all};
use crate::usage::Receipt;

/// Reads everything that a store holds, and tells what of it cannot be read or cannot be: all of it, each once,
/// by column and step. Nothing is changed.
///
/// The store is opened for that, so no flow may have it open. Which columns there are is what the flow said that
/// was opened on it last; of a store that none was opened on, nobody knows.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::reopen;
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// # let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// # Flow::open(store.clone(), [topics]).await?.push("user", "hello").await?;
/// for defect in reopen::verify(&store).await? {
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
    match store.open().await? {
        Some(definition) => scan(store, &definition, None).await,
        None => Ok(Vec::new()),
    }
}

/// Copies into an empty store everything that can be read, with the definition, and tells what is wrong with the
/// rest. The store itself stays as it is. What was interrupted can be begun again.
///
/// A computed value that is not there is computed by the next run of a flow that is opened on the copy. A source
/// that lacks a step cannot go on from there, and neither can what has been computed of later steps: of both,
/// the copy has what lies before.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::reopen;
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// let (broken, copy) = (MemoryStore::new(), MemoryStore::new());
/// # Flow::open(broken.clone(), [&topics]).await?.push("user", "hello").await?;
/// for defect in reopen::salvage(&broken, &copy).await? {
///     println!("{defect}");
/// }
/// let f = Flow::open(copy, [topics]).await?;
/// assert_eq!(f.get("user", 0).as_deref(), Some("hello"));
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// Those of [`verify`], of either store; when the one holds no flow, and when the other holds one already.
pub async fn salvage(from: &impl Store, into: &impl Store) -> Result<Vec<Defect>, StoreError> {
    let Some(definition) = from.open().await? else {
        return Err(StoreError::other("the store to copy from holds no flow: is it the right one?"));
    };
    if into.open().await?.is_some() {
        return Err(StoreError::other("the store to copy into holds a flow already: use an empty one"));
    }
    let defects = scan(from, &definition, Some(into)).await?;
    into.define(definition).await?;
    Ok(defects)
}

/// Reads everything, and copies what is sound if there is something to copy it into.
async fn scan(
    store: &dyn Store,
    definition: &str,
    into: Option<&dyn Store>,
) -> Result<Vec<Defect>, StoreError> {
    let definition = Definition::parse(definition)?;
    let (sources, derived): (Vec<_>, Vec<_>) =
        definition.columns().iter().partition(|column| column.is_source());
    let mut scan = Scan { store, into, defects: Vec::new() };
    // So many steps have begun, and so many can be begun with what is sound.
    let (mut begun, mut sound) = (usize::MAX, usize::MAX);
    for source in sources {
        let (end, prefix) = scan.source(&source.key).await?;
        // Steps do not wait for a source that the flow has no more.
        if !source.is_gone {
            (begun, sound) = (begun.min(end), sound.min(prefix));
        }
    }
    for column in derived {
        let (begun, sound) = if column.is_gone { (usize::MAX, usize::MAX) } else { (begun, sound) };
        scan.derived(&column.key, begun, sound).await?;
    }
    scan.defects.sort_by(|a, b| (&a.column, a.step).cmp(&(&b.column, b.step)));
    Ok(scan.defects)
}

struct Scan<'s> {
    store: &'s dyn Store,
    into: Option<&'s dyn Store>,
    defects: Vec<Defect>,
}

type Entries = Vec<(usize, Entry)>;

impl Scan<'_> {
    /// Returns where the source ends, and before which step nothing is wrong with it.
    async fn source(&mut self, key: &Name) -> Result<(usize, usize), StoreError> {
        let stored_steps = self.store.stored_steps(key.clone()).await?;
        if let Some(found) = stored_steps.beyond.first() {
            self.report(key, stored_steps.prefix, format!("it is not there, but step {found} is"));
        }
        let mut prefix = 0;
        for chunk in chunks(&stored_steps, &(0..usize::MAX)) {
            let mut sound = Vec::new();
            for (step, entry) in self.read(key, &stored_steps, chunk).await? {
                if entry.is_skipped() {
                    self.report(key, step, "it is there without a value, which a source never is".into());
                } else if step == prefix {
                    prefix += 1;
                    sound.push((step, entry));
                }
            }
            self.copy(key, sound).await?;
        }
        Ok((stored_steps.beyond.last().map_or(stored_steps.prefix, |last| last + 1), prefix))
    }

    async fn derived(&mut self, key: &Name, begun: usize, sound: usize) -> Result<(), StoreError> {
        let stored_steps = self.store.stored_steps(key.clone()).await?;
        for step in stored_steps.within(&(begun..usize::MAX)) {
            self.report(key, step, format!("it is there, but only {begun} steps have begun"));
        }
        for chunk in chunks(&stored_steps, &(0..begun)) {
            let mut entries = self.read(key, &stored_steps, chunk).await?;
            entries.retain(|(step, _)| *step < sound);
            self.copy(key, entries).await?;
        }
        Ok(())
    }

    /// What can be read of some steps of a column, ascending.
    async fn read(
        &mut self,
        key: &Name,
        stored_steps: &StoredSteps,
        chunk: Range<usize>,
    ) -> Result<Entries, StoreError> {
        match self.store.load(key.clone(), chunk.clone()).await {
            Ok(mut entries) => {
                entries.sort_unstable_by_key(|(step, _)| *step);
                for step in stored_steps.within(&chunk) {
                    if entries.binary_search_by_key(&step, |(step, _)| *step).is_err() {
                        self.report(key, step, "it is said to be there, and is not".into());
                    }
                }
                entries.retain(|(step, entry)| {
                    let can_be = entry.receipt.as_deref().is_none_or(|text| text.parse::<Receipt>().is_ok());
                    if !can_be {
                        self.report(key, *step, "its receipt is none".into());
                    }
                    can_be
                });
                Ok(entries)
            }
            Err(StoreError::Corrupt { reason, .. }) if chunk.len() == 1 => {
                self.report(key, chunk.start, reason);
                Ok(Vec::new())
            }
            Err(StoreError::Corrupt { .. }) => {
                // One of them, and perhaps others: each by itself.
                let mut sound = Vec::new();
                for step in stored_steps.within(&chunk) {
                    sound.extend(Box::pin(self.read(key, stored_steps, step..step + 1)).await?);
                }
                Ok(sound)
            }
            Err(error) => Err(error),
        }
    }

    async fn copy(&self, key: &Name, entries: Entries) -> Result<(), StoreError> {
        match self.into {
            Some(into) => put_all(into, key, entries).await,
            None => Ok(()),
        }
    }

    fn report(&mut self, key: &Name, step: usize, reason: String) {
        self.defects.push(Defect { column: key.clone(), step, reason });
    }
}
