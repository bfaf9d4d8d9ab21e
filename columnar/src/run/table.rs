//! The values of a flow and their receipts, as far as they are in memory: one row per step, one column per column.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::history::{History, Value};
use crate::schedule::Cell;
use crate::store::Entry;
use crate::tokens::Counter;
use crate::usage::{ParseReceiptError, Receipt};

/// The receipts of so many steps of a column are one map, which flows share that were forked since. So a fork
/// costs a pointer for each of these.
const SHARED: usize = 64;

/// All values that are stored, in memory. A cell is written once.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    columns: Vec<History>,
}

impl Table {
    pub(super) fn get(&self, cell: Cell) -> Option<Value> {
        self.columns.get(cell.column)?.value(cell.step)
    }

    /// All values of a column, as they are at this moment.
    pub(super) fn history(&self, column: usize) -> History {
        self.columns.get(column).cloned().unwrap_or_default()
    }

    /// Writes a cell that has no value yet, and how many tokens it has; one that has keeps it.
    pub(super) fn insert(&mut self, cell: Cell, value: Value, tokens: usize) {
        if self.columns.len() <= cell.column {
            self.columns.resize_with(cell.column + 1, History::default);
        }
        if let Some(column) = self.columns.get_mut(cell.column) {
            column.insert(cell.step, value, tokens);
        }
    }

    /// The same values, counted another way.
    pub(super) fn counted(&self, counter: &dyn Counter) -> Self {
        Self { columns: self.columns.iter().map(|column| column.counted(counter)).collect() }
    }

    /// The table of another flow that shares the past of this one: the values before `step` of the
    /// columns that `origins` names, in that order.
    pub(super) fn derive(&self, origins: &[Option<usize>], step: usize) -> Self {
        let column = |origin: &Option<usize>| {
            let origin = origin.and_then(|origin| self.columns.get(origin));
            origin.map(|history| history.before(step)).unwrap_or_default()
        };
        Self { columns: origins.iter().map(column).collect() }
    }
}

/// Receipts by cell. There are none for cells that asked no model.
#[derive(Debug, Default)]
pub(super) struct Receipts {
    /// One word for a flow without any, of which there may be many.
    maps: Option<Box<Maps>>,
}

/// By column, and where in it.
type Maps = BTreeMap<(usize, usize), Arc<Steps>>;

type Steps = BTreeMap<usize, Arc<Receipt>>;

/// The receipt of an entry.
pub(super) fn receipt(entry: &Entry) -> Result<Option<Receipt>, ParseReceiptError> {
    entry.receipt.as_deref().map(str::parse).transpose()
}

impl Receipts {
    pub(super) fn get(&self, cell: Cell) -> Option<&Arc<Receipt>> {
        self.maps.as_ref()?.get(&place(cell))?.get(&cell.step)
    }

    /// Those of a column, by step.
    pub(super) fn of(&self, column: usize) -> impl Iterator<Item = (usize, &Arc<Receipt>)> {
        let maps = self.maps.iter().flat_map(move |maps| maps.range((column, 0)..=(column, usize::MAX)));
        maps.flat_map(|(_, steps)| steps.iter()).map(|(step, receipt)| (*step, receipt))
    }

    /// Keeps the receipt of a cell that has none yet.
    pub(super) fn insert(&mut self, cell: Cell, receipt: Receipt) {
        let steps = self.maps.get_or_insert_default().entry(place(cell)).or_default();
        Arc::make_mut(steps).entry(cell.step).or_insert_with(|| Arc::new(receipt));
    }

    /// Those of another flow that shares the past of this one: the ones before `step` of the columns that
    /// `origins` names, in that order.
    pub(super) fn derive(&self, origins: &[Option<usize>], step: usize) -> Self {
        let Some(known) = &self.maps else { return Self::default() };
        let mut maps = Maps::new();
        for (column, origin) in origins.iter().enumerate() {
            let Some(origin) = *origin else { continue };
            let (_, last) = place(Cell { column: origin, step });
            for ((_, at), steps) in known.range((origin, 0)..=(origin, last)) {
                let steps = if *at < last { Some(Arc::clone(steps)) } else { before(steps, step) };
                maps.extend(steps.map(|steps| ((column, *at), steps)));
            }
        }
        Self { maps: (!maps.is_empty()).then(|| Box::new(maps)) }
    }
}

fn place(cell: Cell) -> (usize, usize) {
    (cell.column, cell.step / SHARED)
}

/// `None` if there are none.
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
        let refused = f.shared.stored(cell, &Entry::SKIPPED.with_receipt("cheap"));
        assert!(refused.is_err(), "{refused:?}");
        Ok(())
    }
}
