//! Verifies a store, and salvages the sound entries of a damaged one.

use std::ops::Range;

use serde_json::Value as Json;

use super::copying::begin_copy;
use super::definition::{FlowDefinition, batches_key, exclusions_key, parse_exclusion};
use crate::declare::Name;
use crate::history::StepRanges;
use crate::model::usage::CellReceipt;
use crate::store::{
    CHUNK, Defect, Entry, LoadedAttachments, NOT_RETURNED, Store, StoreError, StoredSteps, attachment_refs,
    listed_steps, load, put_all,
};

/// Reads all entries of a store and returns the defects: entries that cannot be read, or that no flow can have stored, and
/// attachments that are gone or damaged.
/// Each is listed once, by column and step. The store does not change.
///
/// This opens the store, so no flow may have it open. The columns belong to the last flow that was opened on the
/// store; a store without a definition has none.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::reopen;
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// Flow::open(store.clone(), [topics]).await?.push("user", "hello").await?;
/// for defect in reopen::verify(&store).await? {
///     println!("{defect}");
/// }
/// # Ok(()) }
/// ```
///
/// # Errors
///
/// If the store cannot be opened, the definition cannot be read, or reading fails for another reason than a damaged entry.
pub async fn verify(store: &impl Store) -> Result<Vec<Defect>, StoreError> {
    match store.open().await? {
        Some(definition) => scan(store, &definition, None).await,
        None => Ok(Vec::new()),
    }
}

/// Copies the definition of a store and all sound entries into an empty store, and returns the defects of the others. The
/// damaged store does not change. An interrupted call can be repeated.
///
/// A value whose attachment is gone or damaged keeps the text and the other attachments. The next run of a flow on the copy
/// computes the missing values. Where a source lacks a step, all columns end before
/// that step, because later values depend on that step.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::reopen;
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let topics = column("topics", source("user").latest(), prompt("List the topics."));
/// let (broken, copy) = (MemoryStore::new(), MemoryStore::new());
/// Flow::open(broken.clone(), [&topics]).await?.push("user", "hello").await?;
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
/// The errors of [`verify`], for either store. Also if the first store holds no flow, or the second one holds one already.
pub async fn salvage(from: &impl Store, into: &impl Store) -> Result<Vec<Defect>, StoreError> {
    let Some(definition) = from.open().await? else {
        return Err(StoreError::other("the store to copy from holds no flow: is it the right one?"));
    };
    let found = into.open().await?;
    begin_copy(into, found.as_deref(), &definition, "what can be read").await?;
    let defects = scan(from, &definition, Some(into)).await?;
    into.define(definition).await?;
    Ok(defects)
}

/// Reads everything, and copies sound entries if there is a target.
async fn scan(
    store: &dyn Store,
    definition: &str,
    into: Option<&dyn Store>,
) -> Result<Vec<Defect>, StoreError> {
    let definition = FlowDefinition::parse(definition)?;
    let (sources, derived): (Vec<_>, Vec<_>) =
        definition.columns.iter().partition(|column| column.is_source());
    let mut scan = StoreScan { store, into, attachments: LoadedAttachments::default(), defects: Vec::new() };
    // The number of steps whose sources are stored, and of those whose sources are sound.
    let mut begun = usize::MAX;
    let mut sound = usize::MAX;
    for source in sources {
        let (end, prefix) = scan.source(&source.key, |_| None).await?;
        // A source that the flow no longer has does not delay steps.
        if !source.is_gone {
            (begun, sound) = (begun.min(end), sound.min(prefix));
        }
    }
    for column in derived {
        let (begun, sound) = if column.is_gone { (usize::MAX, usize::MAX) } else { (begun, sound) };
        scan.derived(&column.key, begun, sound).await?;
    }
    let exclusions = exclusions_key();
    scan.source(&exclusions, |entry| match parse_exclusion(entry) {
        Some(_) => None,
        None => Some("it is no exclusion of a cell"),
    })
    .await?;
    // Without these notes, the requests of a batch that was submitted would be paid for again.
    scan.source(&batches_key(), |entry| {
        let note = entry.value.as_deref().map(serde_json::from_str::<Json>);
        (!matches!(note, Some(Ok(Json::Object(_))))).then_some("it is no note about a batch")
    })
    .await?;
    scan.defects.sort_by(|a, b| (&a.column, a.step).cmp(&(&b.column, b.step)));
    Ok(scan.defects)
}

struct StoreScan<'s> {
    store: &'s dyn Store,
    into: Option<&'s dyn Store>,
    attachments: LoadedAttachments,
    defects: Vec<Defect>,
}

impl StoreScan<'_> {
    /// Returns the end of the source, and the end of the sound prefix. `check` returns the defect of a readable entry.
    async fn source(
        &mut self,
        key: &Name,
        check: impl Fn(&Entry) -> Option<&'static str>,
    ) -> Result<(usize, usize), StoreError> {
        let stored_steps = listed_steps(self.store, key).await?;
        if let Some(found) = stored_steps.beyond.first() {
            self.report(key, stored_steps.prefix, format!("it is missing, but step {found} is stored"));
        }
        let mut prefix = 0;
        for chunk in StepRanges::from(&stored_steps).chunks(CHUNK) {
            let mut sound = Vec::new();
            for (step, entry) in self.read(key, &stored_steps, chunk).await? {
                if entry.is_skipped() {
                    self.report(key, step, "it is stored as skipped, and a source is never skipped".into());
                } else if let Some(defect) = check(&entry) {
                    self.report(key, step, defect.into());
                } else if step == prefix {
                    // A copy ends at the first defect, since a flow needs all values of a source.
                    prefix += 1;
                    sound.push((step, entry));
                }
            }
            self.copy(key, sound).await?;
        }
        Ok((stored_steps.beyond.last().map_or(stored_steps.prefix, |last| last + 1), prefix))
    }

    async fn derived(&mut self, key: &Name, begun: usize, sound: usize) -> Result<(), StoreError> {
        let stored_steps = listed_steps(self.store, key).await?;
        let surplus = stored_steps.prefix.saturating_sub(begun);
        let sources = format!("the sources have values for only {begun} steps");
        // A prefix that is a damaged number is one defect, and not a list of any length.
        let mut first = begun;
        if surplus > CHUNK {
            self.report(key, begun, format!("{surplus} steps are stored from this one on, but {sources}"));
            first = stored_steps.prefix;
        }
        for step in stored_steps.within(&(first..usize::MAX)) {
            self.report(key, step, format!("it is stored, but {sources}"));
        }
        // A gap is no defect here: the next run computes the missing cells.
        for chunk in StepRanges::from(&stored_steps).within(&(0..begun)).chunks(CHUNK) {
            let mut entries = self.read(key, &stored_steps, chunk).await?;
            entries.retain(|(step, _)| *step < sound);
            self.copy(key, entries).await?;
        }
        Ok(())
    }

    /// The readable entries of a column within a range, ascending.
    async fn read(
        &mut self,
        key: &Name,
        stored_steps: &StoredSteps,
        chunk: Range<usize>,
    ) -> Result<Vec<(usize, Entry)>, StoreError> {
        match load(self.store, key, chunk.clone()).await {
            // A prefix that is a damaged number would be a list of defects without end.
            Ok(entries) if entries.is_empty() && chunk.len() == CHUNK => {
                Err(StoreError::corrupt(key, chunk.start, NOT_RETURNED))
            }
            Ok(mut entries) => {
                for step in stored_steps.within(&chunk) {
                    if entries.binary_search_by_key(&step, |(step, _)| *step).is_err() {
                        self.report(key, step, NOT_RETURNED.into());
                    }
                }
                entries.retain(|(step, entry)| {
                    let is_valid =
                        entry.receipt.as_deref().is_none_or(|text| text.parse::<CellReceipt>().is_ok());
                    if !is_valid {
                        self.report(key, *step, "its receipt is invalid".into());
                    }
                    is_valid
                });
                self.read_attachments(key, &mut entries).await?;
                Ok(entries)
            }
            Err(StoreError::Corrupt { reason, .. }) if chunk.len() == 1 => {
                self.report(key, chunk.start, reason);
                Ok(Vec::new())
            }
            Err(StoreError::Corrupt { .. }) => {
                // At least one entry is damaged, so each is read alone.
                let mut sound = Vec::new();
                for step in stored_steps.within(&chunk) {
                    // A future that contains itself needs a box. A chunk of one step is not split again.
                    sound.extend(Box::pin(self.read(key, stored_steps, step..step + 1)).await?);
                }
                Ok(sound)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the attachments of entries, and copies sound ones. An entry loses the name of a damaged one, because the text
    /// alone is sound.
    async fn read_attachments(
        &mut self,
        key: &Name,
        entries: &mut [(usize, Entry)],
    ) -> Result<(), StoreError> {
        // Kept for the next cells, which often have the same.
        let mut last = None;
        for (step, entry) in entries {
            let names = attachment_refs(entry);
            let mut sound = Vec::new();
            for name in &names {
                match self.attachments.load(self.store, key, *step, name).await {
                    Ok(attachment) => {
                        if let Some(into) = self.into {
                            into.put_blob(name.digest.clone(), attachment.shared_bytes()).await?;
                        }
                        sound.push(name.clone());
                        last = Some(attachment);
                    }
                    Err(StoreError::Corrupt { reason, .. }) => self.report(key, *step, reason),
                    Err(error) => return Err(error),
                }
            }
            if sound.len() < names.len()
                && let Some(Ok(receipt)) = entry.receipt.as_deref().map(str::parse::<CellReceipt>)
            {
                let receipt = CellReceipt { attachments: sound, ..receipt };
                entry.receipt = (!receipt.is_empty()).then(|| receipt.to_string().into());
            }
        }
        drop(last);
        Ok(())
    }

    async fn copy(&self, key: &Name, entries: Vec<(usize, Entry)>) -> Result<(), StoreError> {
        match self.into {
            Some(into) => put_all(into, key, entries).await,
            None => Ok(()),
        }
    }

    fn report(&mut self, key: &Name, step: usize, reason: String) {
        self.defects.push(Defect { column: key.clone(), step, reason });
    }
}
