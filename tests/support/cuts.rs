//! The lives of stores whose connections are cut.

use std::env;

use columnar::Name;
use columnar::store::{Entry, Put, Store, StoreError};
use futures::future::join_all;

use crate::postgres::{Cut, Database, Way, Wire};

/// Which way, after how many bytes, how.
pub type At = (Way, u64, Cut);

/// Lives with a cut at some of the bytes that are exchanged, or at all where `COLUMNAR_PG_ALL`
/// is set, each time in a new place. Says how many cuts there were.
///
/// # Errors
///
/// The cut with which it went wrong, and how.
pub async fn run_with_cuts<S: Store, H: Fn(&str) -> S>(
    database: &Database,
    place: impl Fn(usize) -> H,
    kinds: &[Cut],
) -> Result<usize, (At, String)> {
    let wire = database.wire();
    let (by_wire, direct) = (database.address_by(&wire), database.address());
    let ways = [by_wire.as_str(), direct.as_str()];
    let points = if env::var_os("COLUMNAR_PG_ALL").is_some() { u64::MAX } else { 20 };
    let mut lived = 0;
    let mut live = async |at| {
        lived += 1;
        lives(place(lived), ways, &wire, at).await.map_err(|error| (at, error))
    };
    for cut in kinds {
        for way in [Way::ToServer, Way::ToClient] {
            // Nothing is cut that far away, and everything is counted.
            live((way, u64::MAX, *cut)).await?;
            let all = wire.passed(way);
            let cuts = (0..all).filter(|after| after % (all / points).max(1) == 0);
            for after in cuts {
                live((way, after, *cut)).await?;
            }
        }
    }
    Ok(wire.cuts())
}

/// What a store goes through while its connection is cut once: opened, written to alone and at once, read,
/// closed, and read by another one that is connected properly.
async fn lives<S: Store>(
    make: impl Fn(&str) -> S,
    ways: [&str; 2],
    wire: &Wire,
    at: At,
) -> Result<(), String> {
    let [by_wire, direct] = ways;
    let (way, after, cut) = at;
    // Whoever cannot be opened does not know of the session that the server believes in.
    if cut == Cut::Through {
        wire.cut_after(way, after, cut);
    }
    let store = open_at_last(|| make(by_wire)).await.map_err(|error| format!("opening: {error:?}"))?;
    if cut == Cut::Unheard {
        wire.cut_after(way, after, cut);
    }
    let batches: [&[_]; 3] =
        [&[("user", 0)], &[("user", 1), ("user", 2), ("topics", 0)], &[("topics", 1), ("topics", 2)]];
    for batch in batches {
        let puts = batch
            .iter()
            .map(|(column, step)| store.put(name(column), *step, text(format!("{column} {step}"))));
        for (put, cell) in join_all(puts).await.into_iter().zip(batch) {
            if !matches!(put, Ok(Put::Stored)) {
                return Err(format!("{cell:?} was not there, and is told to be {put:?}"));
            }
        }
    }
    store.define("a definition".into()).await.map_err(|error| format!("{error:?}"))?;
    agrees(&store).await?;
    drop(store);
    wire.mend();
    let again = open_at_last(|| make(direct)).await.map_err(|error| format!("opening again: {error:?}"))?;
    agrees(&again).await
}

/// A store that is opened: a server hears of the end of a connection or a process when it gets to it.
///
/// # Errors
///
/// What opening says after many tries.
pub async fn open_at_last<S: Store>(make: impl Fn() -> S) -> Result<S, StoreError> {
    let mut tries = 0..100;
    loop {
        let store = make();
        match store.open().await {
            Ok(_) => return Ok(store),
            Err(error) if tries.next().is_none() => return Err(error),
            Err(_) => {}
        }
    }
}

/// Whether there is what was stored, once.
async fn agrees(store: &impl Store) -> Result<(), String> {
    for column in ["user", "topics"] {
        let stored = store.load(name(column), 0..9).await.map_err(|error| format!("{error:?}"))?;
        let expected: Vec<_> = (0..3).map(|step| (step, text(format!("{column} {step}")))).collect();
        if stored != expected {
            return Err(format!("`{column}` is {stored:?}"));
        }
        let stored_steps = store.stored_steps(name(column)).await.map_err(|error| format!("{error:?}"))?;
        if stored_steps.prefix != 3 {
            return Err(format!("`{column}` is said to have {stored_steps:?}"));
        }
    }
    Ok(())
}

fn name(name: &str) -> Name {
    Name::new(name).unwrap_or_else(|error| unreachable!("{error}"))
}

fn text(text: String) -> Entry {
    Entry::from(text)
}
