//! Reading the values of a flow: cells, columns, rows.

use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use columnar::budget::Budget;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar::{CellState, Column, Name, SkipReason, Value};
use columnar_tests::live::push_all;
use columnar_tests::log::Log;
use columnar_tests::store::on_load;

const STEPS: usize = 1300;

/// `odd` skips every third step.
fn columns() -> [Column; 3] {
    let user = source("user");
    let odd = column("odd", user.latest(), Log::default().upper("odd").when(|cx| cx.step() % 3 != 1));
    let topics = column("topics", user.window(2), Log::default().upper("topics"));
    [user, odd, topics]
}

/// A store with a complete flow, some of whose values are large.
async fn filled() -> Result<MemoryStore> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns()).await?;
    let text = |step| if step == 700 { "long ".repeat(1 << 21) } else { format!("text {step}") };
    push_all(&f, "user", (0..STEPS).map(text)).await?;
    f.run().await?;
    Ok(store)
}

/// The steps of values.
fn steps<'v>(values: impl IntoIterator<Item = &'v (usize, Value)>) -> Vec<usize> {
    values.into_iter().map(|(step, _)| *step).collect()
}

#[tokio::test]
async fn a_cell_is_stored_or_skipped_or_waits_or_is_not_loaded() -> Result<()> {
    let chat = flow! {
        source user;
        column odd(user.latest)  = Log::default().upper("odd").when(|cx| cx.step() % 3 != 1);
        column slow(user.latest) = |_: Context| std::future::pending::<String>();
    };
    chat.user.push("a").await?;
    chat.user.push("b").await?;
    let mut run = chat.run();
    let odd = run.try_next().await?.expect("the first value");
    let Event::Value { value, .. } = odd else { panic!("{odd:?}") };
    run.try_next().await?;
    assert_eq!(chat.odd.cell(0), CellState::Stored(value));
    assert_eq!(
        (chat.odd.cell(1), chat.slow.cell(0)),
        (CellState::Skipped(Some(SkipReason::When)), CellState::Waiting),
        "it is computed"
    );
    assert_eq!((chat.odd.cell(2), chat.user.cell(usize::MAX)), (CellState::Waiting, CellState::Waiting));
    drop(run);

    let f = Flow::open(OpenOptions::new(filled().await?).recent(2), columns()).await?;
    assert_eq!(f.cell("odd", STEPS - 5)?, CellState::NotLoaded);
    assert_eq!((f.cell("odd", STEPS)?, f.cell("odd", usize::MAX)?), (CellState::Waiting, CellState::Waiting));
    assert!(matches!(f.try_get("odd", 1), Err(Error::NotLoaded { step: 1, .. })));
    assert!(matches!(f.try_receipt("odd", 1), Err(Error::NotLoaded { .. })));
    assert!(matches!(f.read::<String>("odd", 1), Err(Error::NotLoaded { .. })));
    assert_eq!((f.get("odd", 1), f.receipt("odd", 1)), (None, None));
    f.load(0).await?;
    assert_eq!((f.cell("odd", 1)?, f.try_get("odd", 1)?), (CellState::Skipped(Some(SkipReason::When)), None));
    Ok(())
}

#[tokio::test]
async fn a_column_is_iterated_in_order_without_skipped_steps() -> Result<()> {
    let f = flow(columns())?;
    assert_eq!((f.last("user")?, f.iter("user")?.next()), (None, None));
    push_all(&f, "user", ["a", "b", "c", "d"]).await?;
    f.run().await?;
    f.push("user", "e").await?;
    let values = f.iter("odd")?;
    f.run().await?;
    let values: Vec<_> = values.collect();
    assert_eq!(steps(&values), [0, 2, 3], "those of the moment of the call");
    assert!(values.iter().all(|(step, value)| f.get("odd", *step).as_ref() == Some(value)));
    let mut both = f.iter("odd")?;
    assert_eq!(
        (both.next().map(|(step, _)| step), both.next_back().map(|(step, _)| step)),
        (Some(0), Some(3))
    );
    assert_eq!((both.next().map(|(step, _)| step), both.next_back()), (Some(2), None));
    assert_eq!((f.last("odd")?.map(|(step, _)| step), f.len("odd")?), (Some(3), 5), "step 4 is skipped");
    Ok(())
}

/// A cell that failed is computed later, and cells after it are stored already.
#[tokio::test]
async fn values_beyond_a_missing_one_are_iterated() -> Result<()> {
    let fails = |cx: Context| async move { if cx.step() == 1 { Err("it fails") } else { Ok("fine") } };
    let user = source("user");
    let f = flow([column("map", user.latest(), fails.or_wait())])?;
    push_all(&f, "user", ["a", "b", "c"]).await?;
    f.run().await?;
    assert_eq!((f.len("map")?, f.cell("map", 1)?), (1, CellState::Waiting));
    assert_eq!(steps(&f.iter("map")?.collect::<Vec<_>>()), [0, 2]);
    assert_eq!(steps(&f.values("map", ..).try_collect::<Vec<_>>().await?), [0, 2]);
    assert_eq!(f.last("map")?.map(|(step, _)| step), Some(2));
    Ok(())
}

#[tokio::test]
async fn iteration_reads_the_store_or_fails() -> Result<()> {
    let store = filled().await?;
    let whole = Flow::open(store.clone(), columns()).await?;
    let mut expected: Vec<Vec<(usize, Value)>> = Vec::new();
    for column in whole.order() {
        expected.push(whole.iter(&column)?.collect());
    }
    let rows: Vec<_> = whole.rows(..).try_collect().await?;
    drop(whole);

    let largest = Arc::new(AtomicUsize::new(0));
    let store = on_load(store, {
        let largest = Arc::clone(&largest);
        move |inner, column, steps| {
            largest.fetch_max(steps.len(), Ordering::SeqCst);
            inner.load(column, steps)
        }
    });
    let f = Flow::open(OpenOptions::new(store).recent(10), columns()).await?;
    for (column, expected) in f.order().iter().zip(&expected) {
        assert!(matches!(f.iter(column), Err(Error::NotLoaded { step: 0, .. })));
        assert_eq!(f.last(column)?, expected.last().cloned());
        assert_eq!(f.values(column, ..).try_collect::<Vec<_>>().await?, *expected);
        for (from, to) in [(0, 1), (5, 5), (8, 3), (600, 1299), (1285, 5000), (5000, 6000)] {
            let within: Vec<_> =
                expected.iter().filter(|(step, _)| (from..to).contains(step)).cloned().collect();
            assert_eq!(f.values(column, from..to).try_collect::<Vec<_>>().await?, within, "{from}..{to}");
        }
        let bounds = (Bound::Excluded(3), Bound::Included(6));
        let within: Vec<_> = f.values(column, bounds).try_collect().await?;
        assert!(within.iter().all(|(step, _)| (4..=6).contains(step)) && within.len() >= 2);
        assert_eq!(f.value(column, 0).await?.as_ref(), expected.first().map(|(_, value)| value));
        assert_eq!((f.value(column, STEPS).await?, f.value(column, usize::MAX).await?), (None, None));
    }
    assert_eq!(f.value("odd", 1).await?, None, "it is skipped");
    let read: Vec<_> = f.rows(..).try_collect().await?;
    assert_eq!(read.len(), STEPS);
    for (read, row) in read.iter().zip(&rows) {
        assert_eq!((read.step(), read.get("odd")), (row.step(), row.get("odd")));
        assert!(read.values().eq(row.values()) && read.skipped().eq(row.skipped()));
    }
    assert_eq!(f.get("user", 0), None, "nothing was kept");
    assert!(largest.load(Ordering::SeqCst) <= 512, "a chunk is not the whole history");
    Ok(())
}

#[tokio::test]
async fn the_last_value_may_be_in_the_store() -> Result<()> {
    let (store, user) = (MemoryStore::new(), source("user"));
    let even = Log::default().upper("even").when(|cx| cx.step() == 0);
    let columns = [column("even", user.latest(), even)];
    let f = Flow::open(store.clone(), &columns).await?;
    push_all(&f, "user", ["a", "b", "c", "d"]).await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(OpenOptions::new(store).recent(2), &columns).await?;
    assert!(matches!(f.last("even"), Err(Error::NotLoaded { .. })));
    f.load(0).await?;
    assert_eq!(f.last("even")?.map(|(step, _)| step), Some(0));
    Ok(())
}

#[tokio::test]
async fn rows_have_the_cells_of_all_columns() -> Result<()> {
    let f = flow(columns())?;
    push_all(&f, "user", ["a", "b"]).await?;
    f.run().await?;
    f.push("user", "c").await?;
    let rows: Vec<_> = f.rows(1..).try_collect().await?;
    let [one, two] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((one.step(), two.step()), (1, 2));
    assert_eq!((one.get("user").map(Value::as_str), one.get("odd")), (Some("b"), None));
    assert!(one.skipped().map(Name::as_str).eq(["odd"]) && two.skipped().next().is_none());
    assert!(one.values().map(|(name, _)| name.as_str()).eq(["user", "topics"]));
    assert!(two.values().map(|(name, _)| name.as_str()).eq(["user"]));
    let typo = std::panic::catch_unwind(|| one.get("usr").cloned());
    assert!(typo.is_err(), "a misspelt column is a bug");
    Ok(())
}

#[tokio::test]
async fn an_unknown_column_is_an_error_of_every_method() -> Result<()> {
    let f = flow(columns())?;
    f.push("user", "a").await?;
    let is_unknown = |error: Option<Error>| matches!(error, Some(Error::UnknownColumn { suggestion: Some(name), .. }) if name == "user");
    assert!(is_unknown(f.cell("usr", 0).err()) && is_unknown(f.len("usr").err()));
    assert!(is_unknown(f.iter("usr").err()) && is_unknown(f.last("usr").err()));
    assert!(is_unknown(f.value("usr", 0).await.err()));
    assert!(is_unknown(f.values("usr", ..).try_next().await.err()));
    Ok(())
}

/// A stream is of the flow as it is when a chunk is read, and tells of a column that is gone.
#[tokio::test]
async fn a_column_that_is_removed_ends_its_streams() -> Result<()> {
    let f = flow(columns())?;
    push_all(&f, "user", ["a", "b", "c", "d", "e"]).await?;
    f.run().await?;
    let (mut values, mut rows) = (f.values("odd", ..), f.rows(..));
    assert!(values.try_next().await?.is_some() && rows.try_next().await?.is_some());
    f.remove_column("odd").await?;
    assert!(matches!(values.try_collect::<Vec<_>>().await, Err(Error::UnknownColumn { .. })));
    assert!(matches!(rows.try_collect::<Vec<_>>().await, Err(Error::UnknownColumn { .. })));
    Ok(())
}

#[tokio::test]
async fn the_columns_of_a_typed_flow_have_the_same_methods() -> Result<()> {
    flow! {
        struct Inner {
            source text;
            column size(text.latest) = Log::default().upper("size");
        }
    }
    flow! {
        struct Outer {
            source user;
            use Inner { text: user } as inner;
        }
    }
    let outer = Outer::new();
    assert!(outer.inner.size.is_empty());
    outer.user.push("a").await?;
    outer.user.push("b").await?;
    outer.run().await?;
    let size = &outer.inner.size;
    assert_eq!((size.len(), size.iter()?.count(), size.last()?.map(|(step, _)| step)), (2, 2, Some(1)));
    assert_eq!(size.value(1).await?, size.get(1));
    assert_eq!(steps(&size.values(1..).try_collect::<Vec<_>>().await?), [1]);
    assert_eq!(outer.inner.text.value(0).await?.as_deref(), Some("a"), "the source of a module");
    let rows: Vec<_> = outer.rows(..).try_collect().await?;
    assert_eq!(rows[0].get("inner.size"), size.get(0).as_ref());
    Ok(())
}

/// Contexts of one column that two threads read at once are those that one reads alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r18_threads_that_read_one_filtered_column_see_the_same() -> Result<()> {
    let user = source("user");
    let odd = user.window(20).sample(|step| step % 2 == 1);
    let f = flow([column("odd", (odd, this().window(5)), async |_: Context| "o")])?;
    f.set_budget(Budget::of(1_120).low_water(0.5));
    let f = Arc::new(f);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let reader = {
        let (f, seen) = (Arc::clone(&f), Arc::clone(&seen));
        std::thread::spawn(move || {
            while f.steps() < 200 {
                let step = f.steps().saturating_sub(2) | 1;
                if let Ok(messages) = f.messages("odd", step) {
                    let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
                    seen.push((step, messages.to_json()));
                }
            }
        })
    };
    for step in 0..200 {
        f.push("user", format!("value {step}")).await?;
        f.run().await?;
    }
    reader.join().expect("no panic");
    let seen = std::mem::take(&mut *seen.lock().unwrap_or_else(PoisonError::into_inner));
    for (step, json) in seen {
        assert_eq!(f.messages("odd", step)?.to_json(), json, "step {step}");
    }
    Ok(())
}
