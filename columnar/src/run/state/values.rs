//! The values and receipts of a flow that are in memory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::history::tokens::Counter;
use crate::history::{History, SkipReason, StepNotes, Value};
use crate::model::usage::{AttachmentRef, CellReceipt, Fingerprint, ParseReceiptError, Receipt};
use crate::schedule::Cell;
use crate::store::Entry;

/// The number of steps of a column whose receipts are in one map. Forks share these maps, so a fork costs one pointer
/// per map.
const SHARED: usize = 64;

/// The values in memory: one row per step. A cell is written once.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueTable {
    columns: Vec<History>,
}

impl ValueTable {
    pub(crate) fn get(&self, cell: Cell) -> Option<Value> {
        self.columns.get(cell.column)?.value(cell.step)
    }

    pub(crate) fn has(&self, cell: Cell) -> bool {
        self.columns.get(cell.column).is_some_and(|column| column.has(cell.step))
    }

    /// A snapshot of the values of a column.
    pub(crate) fn history(&self, column: usize) -> History {
        self.columns.get(column).cloned().unwrap_or_default()
    }

    /// Inserts the value of a cell with the number of tokens. The first value of a cell stays.
    pub(crate) fn insert(&mut self, cell: Cell, value: Value, tokens: usize) {
        if let Some(column) = self.column_mut(cell.column) {
            column.insert(cell.step, value, tokens);
        }
    }

    /// Takes over the values of a column in some steps.
    pub(crate) fn adopt(&mut self, column: usize, values: &History, steps: Range<usize>) {
        if let Some(column) = self.column_mut(column) {
            column.adopt(values, steps);
        }
    }

    /// Drops the values of a column before a step. Returns the earlier values, to be dropped outside of the lock.
    pub(super) fn forget(&mut self, column: usize, step: usize, end: usize) -> Option<History> {
        let column = self.columns.get_mut(column)?;
        let mut kept = History::default();
        kept.adopt(column, step..end);
        Some(std::mem::replace(column, kept))
    }

    fn column_mut(&mut self, column: usize) -> Option<&mut History> {
        if self.columns.len() <= column {
            self.columns.resize_with(column + 1, History::default);
        }
        self.columns.get_mut(column)
    }

    /// Adds the values of another table that this one lacks, with the tokens of this counter.
    pub(crate) fn count(&mut self, other: &Self, counter: &dyn Counter) {
        for (column, values) in other.columns.iter().enumerate() {
            if let Some(counted) = self.column_mut(column).filter(|counted| !counted.has_as_many(values)) {
                counted.count(values, counter);
            }
        }
    }

    /// Whether the columns have as many values as in another table.
    pub(crate) fn has_as_many(&self, other: &Self) -> bool {
        let mut columns = other.columns.iter().enumerate();
        columns.all(|(column, values)| self.history(column).has_as_many(values))
    }

    /// A table that shares the values before `step`. `origins` gives, for each new column, the column of this table.
    pub(crate) fn derive(&self, origins: &[Option<usize>], step: usize) -> Self {
        let columns = origins.iter().map(|origin| {
            let origin = origin.and_then(|origin| self.columns.get(origin));
            origin.map(|history| history.before(step)).unwrap_or_default()
        });
        Self { columns: columns.collect() }
    }
}

// Apart from the values: most reads need no receipt, and a skipped cell may have one.
/// The receipts of the cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receipts {
    /// The receipts of the cells that called a model, by column and part of the column.
    maps: BTreeMap<(usize, usize), Arc<ReceiptMap>>,
    /// By column.
    notes: Vec<CellNotes>,
}

/// What the receipts of a column say besides the calls. Most cells of a column say the same, so such cells take no space.
#[derive(Clone, Debug, Default)]
struct CellNotes {
    skipped: StepNotes<SkipReason>,
    /// Skipped cells are not left out: the runs of equal fingerprints would be short.
    made: StepNotes<Fingerprint>,
}

/// The receipts of some steps of a column.
type ReceiptMap = BTreeMap<usize, Arc<Receipt>>;

/// Parses the receipt of an entry, if there is one.
pub(crate) fn receipt(entry: &Entry) -> Result<CellReceipt, ParseReceiptError> {
    entry.receipt.as_deref().map_or_else(|| Ok(CellReceipt::default()), str::parse)
}

/// The reason in an entry, if there is one.
pub(crate) fn skip_reason(entry: &Entry) -> Option<SkipReason> {
    receipt(entry).ok()?.skipped.filter(|_| entry.is_skipped())
}

/// The entry of a cell. The receipt names the attachments of the value.
pub(crate) fn entry(value: Option<Value>, receipt: &CellReceipt) -> Entry {
    let attachments = value.as_ref().map(AttachmentRef::of).unwrap_or_default();
    let receipt = if attachments.is_empty() {
        (!receipt.is_empty()).then(|| receipt.to_string())
    } else {
        Some(CellReceipt { attachments, ..receipt.clone() }.to_string())
    };
    Entry { value, receipt: receipt.map(Value::from) }
}

impl Receipts {
    pub(crate) fn get(&self, cell: Cell) -> Option<&Arc<Receipt>> {
        self.maps.get(&map_key(cell))?.get(&cell.step)
    }

    /// The receipts of a column, by step.
    pub(crate) fn of(&self, column: usize) -> impl DoubleEndedIterator<Item = (usize, &Arc<Receipt>)> {
        let maps = self.maps.range((column, 0)..=(column, usize::MAX));
        maps.flat_map(|(_, steps)| steps.iter()).map(|(step, receipt)| (*step, receipt))
    }

    /// The last receipt before a step, and its step.
    pub(crate) fn before(&self, cell: Cell) -> Option<(usize, &Arc<Receipt>)> {
        let maps = self.maps.range((cell.column, 0)..=map_key(cell)).rev();
        let mut receipts = maps.filter_map(|(_, steps)| steps.range(..cell.step).next_back());
        receipts.next().map(|(step, receipt)| (*step, receipt))
    }

    /// The reason for a skipped cell, if it was stored.
    pub(crate) fn skip_reason(&self, cell: Cell) -> Option<&SkipReason> {
        self.notes.get(cell.column)?.skipped.get(cell.step)
    }

    /// What computed a cell with a value, if it was stored.
    pub(crate) fn made(&self, cell: Cell) -> Option<Fingerprint> {
        self.notes.get(cell.column)?.made.get(cell.step).copied()
    }

    /// Inserts the receipt of a cell. The first receipt of a cell stays.
    pub(crate) fn insert(&mut self, cell: Cell, receipt: CellReceipt) {
        // The value has the attachments.
        let CellReceipt { calls, skipped, made, .. } = receipt;
        if let Some(calls) = calls {
            let steps = self.maps.entry(map_key(cell)).or_default();
            // Copies a map that a fork shares, so at most `SHARED` pointers.
            Arc::make_mut(steps).entry(cell.step).or_insert(calls);
        }
        if skipped.is_none() && made.is_none() {
            return;
        }
        let Some(notes) = self.notes_mut(cell.column) else { return };
        let made = made.or_else(|| notes.made.get(cell.step.checked_sub(1)?).copied());
        if let Some(made) = made {
            notes.made.insert(cell.step, made);
        }
        if let Some(reason) = skipped {
            notes.skipped.insert(cell.step, reason);
        }
    }

    /// Drops the receipts of a column before a step, but for a few.
    pub(super) fn forget(&mut self, column: usize, step: usize) {
        let (_, first) = map_key(Cell { column, step });
        self.maps.retain(|(other, part), _| *other != column || *part >= first);
    }

    fn notes_mut(&mut self, column: usize) -> Option<&mut CellNotes> {
        if self.notes.len() <= column {
            self.notes.resize_with(column + 1, CellNotes::default);
        }
        self.notes.get_mut(column)
    }

    /// Takes over column 0 of other receipts in some steps, as this column.
    pub(crate) fn adopt(&mut self, column: usize, other: &Self, steps: Range<usize>) {
        if let Some(CellNotes { skipped, made }) = other.notes.first()
            && let Some(notes) = self.notes_mut(column)
        {
            notes.skipped.adopt(skipped, steps.clone());
            notes.made.adopt(made, steps.clone());
        }
        let parts = steps.start / SHARED..=steps.end / SHARED;
        for ((_, part), receipts) in other.maps.range((0, *parts.start())..=(0, *parts.end())) {
            let first = part * SHARED;
            let map = self.maps.entry((column, *part)).or_default();
            if steps.start <= first && first + SHARED <= steps.end && map.is_empty() {
                *map = Arc::clone(receipts);
            } else {
                let adopted =
                    receipts.range(steps.clone()).map(|(step, receipt)| (*step, Arc::clone(receipt)));
                Arc::make_mut(map).extend(adopted);
            }
        }
    }

    /// Receipts that share the past before `step`. `origins` gives, for each new column, the column of these receipts.
    pub(crate) fn derive(&self, origins: &[Option<usize>], step: usize) -> Self {
        let mut maps = BTreeMap::new();
        for (column, origin) in origins.iter().enumerate() {
            let Some(origin) = *origin else { continue };
            let (_, last) = map_key(Cell { column: origin, step });
            for ((_, at), steps) in self.maps.range((origin, 0)..=(origin, last)) {
                // Only the map in which the past ends is copied.
                let steps = if *at < last { Some(Arc::clone(steps)) } else { before(steps, step) };
                maps.extend(steps.map(|steps| ((column, *at), steps)));
            }
        }
        let notes = origins.iter().map(|origin| {
            let notes = origin.and_then(|origin| self.notes.get(origin));
            notes.map_or_else(CellNotes::default, |CellNotes { skipped, made }| CellNotes {
                skipped: skipped.before(step),
                made: made.before(step),
            })
        });
        Self { maps, notes: notes.collect() }
    }
}

fn map_key(cell: Cell) -> (usize, usize) {
    (cell.column, cell.step / SHARED)
}

/// The receipts before a step; `None` if there are none.
fn before(steps: &ReceiptMap, step: usize) -> Option<Arc<ReceiptMap>> {
    let kept: ReceiptMap = steps.range(..step).map(|(step, receipt)| (*step, Arc::clone(receipt))).collect();
    (!kept.is_empty()).then(|| Arc::new(kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receipt(ms: usize) -> CellReceipt {
        format!("{{\"ms\":{ms}}}").parse().expect("a receipt")
    }

    /// The receipts of a column: their steps and durations.
    fn durations(receipts: &Receipts, column: usize) -> Vec<(usize, u64)> {
        receipts.of(column).map(|(step, receipt)| (step, receipt.ms)).collect()
    }

    #[test]
    fn a_fork_has_the_receipts_of_its_past_and_later_ones_of_its_own() {
        let mut first = Receipts::default();
        // Out of order, with gaps, and in several maps.
        for step in (0..3 * SHARED).rev().filter(|step| step % 3 > 0) {
            first.insert(Cell { column: 1, step }, receipt(step));
        }
        first.insert(Cell { column: 2, step: 0 }, receipt(2_000));
        let all = durations(&first, 1);
        assert_eq!(all.len(), 2 * SHARED);
        for step in 0..=3 * SHARED + 1 {
            let mut fork = first.derive(&[Some(1), None, Some(2)], step);
            let past: Vec<_> = all.iter().copied().filter(|(at, _)| *at < step).collect();
            assert_eq!(durations(&fork, 0), past, "before {step}");
            assert_eq!(durations(&fork, 2).len(), step.min(1));
            fork.insert(Cell { column: 0, step }, receipt(7_000));
            fork.insert(Cell { column: 1, step: 0 }, receipt(1_000));
            assert_eq!(durations(&fork, 0), [past, vec![(step, 7_000)]].concat());
            assert_eq!(
                (durations(&first, 1) == all, durations(&first, 0).len()),
                (true, 0),
                "the first flow has changed"
            );
        }
        let whole = first.derive(&[None, Some(1)], usize::MAX);
        assert_eq!((durations(&whole, 1), durations(&whole, 2)), (all, vec![]));
    }

    #[test]
    fn adopted_receipts_join_those_of_the_flow() {
        let mut other = Receipts::default();
        (0..4 * SHARED).filter(|step| step % 3 > 0).for_each(|step| {
            other.insert(Cell { column: 0, step }, receipt(step));
        });
        for steps in [0..4 * SHARED, 5..SHARED, SHARED..2 * SHARED, SHARED - 1..3 * SHARED + 1, 7..7] {
            let mut receipts = Receipts::default();
            let own = Cell { column: 2, step: 4 * SHARED + 1 };
            receipts.insert(own, receipt(1));
            receipts.adopt(2, &other, steps.clone());
            let adopted = durations(&other, 0).into_iter().filter(|(step, _)| steps.contains(step));
            assert_eq!(durations(&receipts, 2), adopted.chain([(own.step, 1)]).collect::<Vec<_>>());
            assert_eq!(durations(&receipts, 0), []);
        }
    }

    #[test]
    fn the_first_receipt_of_a_cell_stays() {
        let mut receipts = Receipts::default();
        let cell = Cell { column: 0, step: 70 };
        receipts.insert(cell, receipt(1));
        receipts.insert(cell, receipt(2));
        assert_eq!(receipts.get(cell).map(|receipt| receipt.ms), Some(1));
        assert_eq!(receipts.get(Cell { column: 0, step: 6 }), None);
    }
}
