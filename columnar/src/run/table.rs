//! The values of a flow and their receipts that are in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::history::{History, Value};
use crate::schedule::Cell;
use crate::store::Entry;
use crate::tokens::Counter;
use crate::usage::{ParseReceiptError, Receipt};

/// The number of steps of a column whose receipts are in one map. Forks share these maps, so a fork costs one pointer
/// per map.
const SHARED: usize = 64;

/// The values in memory: one row per step. A cell is written once.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    columns: Vec<History>,
}

impl Table {
    pub(super) fn get(&self, cell: Cell) -> Option<Value> {
        self.columns.get(cell.column)?.value(cell.step)
    }

    /// A snapshot of the values of a column.
    pub(super) fn history(&self, column: usize) -> History {
        self.columns.get(column).cloned().unwrap_or_default()
    }

    /// Inserts the value of a cell with its number of tokens. If the cell has a value, it keeps it.
    pub(super) fn insert(&mut self, cell: Cell, value: Value, tokens: usize) {
        if self.columns.len() <= cell.column {
            self.columns.resize_with(cell.column + 1, History::default);
        }
        if let Some(column) = self.columns.get_mut(cell.column) {
            column.insert(cell.step, value, tokens);
        }
    }

    /// The same values with the token counts of another counter.
    pub(super) fn counted(&self, counter: &dyn Counter) -> Self {
        Self { columns: self.columns.iter().map(|column| column.counted(counter)).collect() }
    }

    /// A table that shares the values before `step`. `origins` gives, for each of its columns, the column of this table.
    pub(super) fn derive(&self, origins: &[Option<usize>], step: usize) -> Self {
        let column = |origin: &Option<usize>| {
            let origin = origin.and_then(|origin| self.columns.get(origin));
            origin.map(|history| history.before(step)).unwrap_or_default()
        };
        Self { columns: origins.iter().map(column).collect() }
    }
}

/// The receipts of the cells that called a model.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    /// By column and part of the column.
    maps: BTreeMap<(usize, usize), Arc<Steps>>,
}

type Steps = BTreeMap<usize, Arc<Receipt>>;

/// Parses the receipt of an entry, if it has one.
pub(super) fn receipt(entry: &Entry) -> Result<Option<Receipt>, ParseReceiptError> {
    entry.receipt.as_deref().map(str::parse).transpose()
}

impl Receipts {
    pub(super) fn get(&self, cell: Cell) -> Option<&Arc<Receipt>> {
        self.maps.get(&map_key(cell))?.get(&cell.step)
    }

    /// The receipts of a column, by step.
    pub(super) fn of(&self, column: usize) -> impl Iterator<Item = (usize, &Arc<Receipt>)> {
        let maps = self.maps.range((column, 0)..=(column, usize::MAX));
        maps.flat_map(|(_, steps)| steps.iter()).map(|(step, receipt)| (*step, receipt))
    }

    /// Inserts the receipt of a cell. If the cell has one, it keeps it.
    pub(super) fn insert(&mut self, cell: Cell, receipt: Receipt) {
        let steps = self.maps.entry(map_key(cell)).or_default();
        Arc::make_mut(steps).entry(cell.step).or_insert_with(|| Arc::new(receipt));
    }

    /// Receipts that share those before `step`. `origins` gives, for each of their columns, the column of these receipts.
    pub(super) fn derive(&self, origins: &[Option<usize>], step: usize) -> Self {
        let mut maps = BTreeMap::new();
        for (column, origin) in origins.iter().enumerate() {
            let Some(origin) = *origin else { continue };
            let (_, last) = map_key(Cell { column: origin, step });
            for ((_, at), steps) in self.maps.range((origin, 0)..=(origin, last)) {
                let steps = if *at < last { Some(Arc::clone(steps)) } else { before(steps, step) };
                maps.extend(steps.map(|steps| ((column, *at), steps)));
            }
        }
        Self { maps }
    }
}

fn map_key(cell: Cell) -> (usize, usize) {
    (cell.column, cell.step / SHARED)
}

/// The receipts before a step; `None` if there are none.
fn before(steps: &Steps, step: usize) -> Option<Arc<Steps>> {
    let kept: Steps = steps.range(..step).map(|(step, receipt)| (*step, Arc::clone(receipt))).collect();
    (!kept.is_empty()).then(|| Arc::new(kept))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::Name;
    use crate::prelude::*;
    use crate::reopen::OpenOptions;
    use crate::store::{MemoryStore, Put, Store};

    fn of(ms: usize) -> Receipt {
        format!("{{\"ms\":{ms}}}").parse().expect("a receipt")
    }

    /// Those of a column, each of which tells its cell.
    fn told(receipts: &Receipts, column: usize) -> Vec<(usize, u64)> {
        receipts.of(column).map(|(step, receipt)| (step, receipt.ms)).collect()
    }

    #[test]
    fn a_fork_has_the_receipts_of_its_past_and_later_ones_of_its_own() {
        let mut first = Receipts::default();
        // Not in order, with gaps, and more of one column than are in a map.
        for step in (0..3 * SHARED).rev().filter(|step| step % 3 > 0) {
            first.insert(Cell { column: 1, step }, of(step));
        }
        first.insert(Cell { column: 2, step: 0 }, of(2_000));
        let all = told(&first, 1);
        assert_eq!(all.len(), 2 * SHARED);
        for step in 0..=3 * SHARED + 1 {
            let mut fork = first.derive(&[Some(1), None, Some(2)], step);
            let past: Vec<_> = all.iter().copied().filter(|(at, _)| *at < step).collect();
            assert_eq!(told(&fork, 0), past, "before {step}");
            assert_eq!(told(&fork, 2).len(), step.min(1));
            fork.insert(Cell { column: 0, step }, of(7_000));
            fork.insert(Cell { column: 1, step: 0 }, of(1_000));
            assert_eq!(told(&fork, 0), [past, vec![(step, 7_000)]].concat());
            assert_eq!((told(&first, 1) == all, told(&first, 0).len()), (true, 0), "it is as it was");
        }
        let whole = first.derive(&[None, Some(1)], usize::MAX);
        assert_eq!((told(&whole, 1), told(&whole, 2)), (all, vec![]));
    }

    #[test]
    fn the_first_receipt_of_a_cell_stays() {
        let (mut receipts, cell) = (Receipts::default(), Cell { column: 0, step: 70 });
        receipts.insert(cell, of(1));
        receipts.insert(cell, of(2));
        assert_eq!(receipts.get(cell).map(|receipt| receipt.ms), Some(1));
        assert_eq!(receipts.get(Cell { column: 0, step: 6 }), None);
    }

    const PAID: &str = r#"{"model":"m","calls":2,"attempts":2,"input":7,"ms":5}"#;
    const IN_VAIN: &str = r#"{"calls":3,"attempts":3,"ms":9}"#;

    fn name(name: &str) -> Name {
        Name::new(name).expect("a name")
    }

    fn answer() -> Column {
        column("answer", source("user").latest(), |_: Context| async { "" })
    }

    /// A store of three steps, whose answers cost something, but for the last, which is not there.
    async fn paid(receipts: [&str; 2]) -> Result<MemoryStore> {
        let store = MemoryStore::new();
        let f = Flow::open(store.clone(), [answer()]).await?;
        for text in ["a", "b", "c"] {
            f.push("user", text).await?;
        }
        drop(f);
        store.open().await.expect("nobody has it");
        for (step, entry) in [Entry::from("x"), Entry::SKIPPED].into_iter().enumerate() {
            let put = store.put(name("answer"), step, entry.with_receipt(receipts[step])).await;
            assert_eq!(put.expect("it is open"), Put::Stored);
        }
        Ok(store)
    }

    /// What the answers of a flow cost.
    fn costs(f: &Flow) -> Vec<(usize, String)> {
        let costs =
            f.bill().receipts().map(|(_, step, receipt)| (step, receipt.to_string())).collect::<Vec<_>>();
        for (step, receipt) in &costs {
            assert_eq!(f.receipt("answer", *step).expect("the same").to_string(), *receipt);
        }
        costs
    }

    #[tokio::test]
    async fn flows_know_what_cells_cost_and_so_do_those_made_of_them() -> Result<()> {
        let answer = answer();
        let f = Flow::open(paid([PAID, IN_VAIN]).await?, [&answer]).await?;
        let both = vec![(0, PAID.to_owned()), (1, IN_VAIN.to_owned())];
        assert_eq!(costs(&f), both);
        f.run().await?;
        assert_eq!(costs(&f), both, "it cost nothing");

        let fork = f.fork(1)?;
        assert_eq!(costs(&fork), both[..1]);
        fork.remove_column("answer").await?;
        fork.add_column(&answer).await?;
        assert_eq!(costs(&fork), both[..1], "it was not thrown away");

        let store = MemoryStore::new();
        let fork = f.fork_into(2, store.clone()).await?;
        assert_eq!(costs(&fork), both);
        drop(fork);
        assert_eq!(costs(&Flow::open(store, [answer]).await?), both);
        Ok(())
    }

    #[tokio::test]
    async fn receipts_come_back_with_their_values() -> Result<()> {
        let store = paid([PAID, IN_VAIN]).await?;
        let f = Flow::open(OpenOptions::new(store).recent(0), [answer()]).await?;
        assert_eq!(costs(&f), []);
        f.load(0).await?;
        assert_eq!(costs(&f).len(), 2);
        Ok(())
    }

    #[tokio::test]
    async fn what_is_no_receipt_is_an_error_that_names_its_cell() -> Result<()> {
        let store = paid([PAID, "cheap"]).await?;
        let refused = Flow::open(store, [answer()]).await.expect_err("it cannot be read");
        let Error::Load { column, source } = refused else { panic!("{refused:?}") };
        assert_eq!(
            (column, source.to_string()),
            (name("answer"), "step 1 has a receipt that is none".into())
        );

        // Whoever finds such an entry where it stores its own is told, too.
        let store = MemoryStore::new();
        let f = Flow::open(store.clone(), [answer()]).await?;
        f.push("user", "a").await?;
        f.shared.begin_run()?;
        let cell = Cell { column: f.shared.find("answer")?, step: 0 };
        let refused = f.shared.handle_stored(cell, &Entry::SKIPPED.with_receipt("cheap"));
        assert!(refused.is_err(), "{refused:?}");
        Ok(())
    }
}
