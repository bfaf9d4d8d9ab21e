//! Stores whose connections are cut at every byte.

use std::env;

use columnar::Name;
use columnar::store::{Entry, Put, Store, StoreError};
use futures::future::join_all;

use crate::postgres::{Cut, Database, Way, Wire};

/// The direction, the number of bytes and the kind of a cut.
pub type At = (Way, u64, Cut);

/// Uses a new store for a cut at some of the exchanged bytes, or at every byte if `COLUMNAR_PG_ALL` is set. Returns the
/// number of cuts.
///
/// # Errors
///
/// The first cut after which the store is wrong, and the difference.
pub async fn run_with_cuts<S: Store, H: Fn(&str) -> S>(
    database: &Database,
    location: impl Fn(usize) -> H,
    kinds: &[Cut],
) -> Result<usize, (At, String)> {
    let wire = database.wire();
    let (by_wire, direct) = (database.address_by(&wire), database.address());
    let ways = [by_wire.as_str(), direct.as_str()];
    let points = if env::var_os("COLUMNAR_PG_ALL").is_some() { u64::MAX } else { 20 };
    let mut count = 0;
    let mut run = async |at| {
        count += 1;
        // A new location for each cut, because the values of the last one are still there.
        use_with_cut(location(count), ways, &wire, at).await.map_err(|error| (at, error))
    };
    for cut in kinds {
        for way in [Way::ToServer, Way::ToClient] {
            // The first run has no cut and counts the bytes.
            run((way, u64::MAX, *cut)).await?;
            let all = wire.passed(way);
            let cuts = (0..all).filter(|after| after % (all / points).max(1) == 0);
            for after in cuts {
                run((way, after, *cut)).await?;
            }
        }
    }
    Ok(wire.cuts())
}

/// Uses a store during one cut of the connection: opens it, writes single cells and batches, reads, closes it, and
/// reads with another store on an intact connection.
async fn use_with_cut<S: Store>(
    make: impl Fn(&str) -> S,
    ways: [&str; 2],
    wire: &Wire,
    at: At,
) -> Result<(), String> {
    let [by_wire, direct] = ways;
    let (way, after, cut) = at;
    // A store that fails to open does not know the session that the server keeps.
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
            // `Put::Exists` is wrong as well: the store mistook the entry for an entry of another writer.
            if !matches!(put, Ok(Put::Stored)) {
                return Err(format!("{cell:?} was new, but the outcome is {put:?}"));
            }
        }
    }
    store.define("a definition".into()).await.map_err(|error| format!("{error:?}"))?;
    check(&store).await?;
    drop(store);
    // Ends the sessions of unheard cuts, which hold the lock of the store at the server.
    wire.mend();
    let again = open_at_last(|| make(direct)).await.map_err(|error| format!("opening again: {error:?}"))?;
    check(&again).await
}

/// Opens a store, with retries: a server notices the end of a connection or a process with a delay.
///
/// # Errors
///
/// The error of the last attempt.
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

/// Checks that every cell is stored exactly once.
async fn check(store: &impl Store) -> Result<(), String> {
    for column in ["user", "topics"] {
        let stored = store.load(name(column), 0..9).await.map_err(|error| format!("{error:?}"))?;
        let expected: Vec<_> = (0..3).map(|step| (step, text(format!("{column} {step}")))).collect();
        if stored != expected {
            return Err(format!("`{column}` is {stored:?}"));
        }
        let stored_steps = store.stored_steps(name(column)).await.map_err(|error| format!("{error:?}"))?;
        if stored_steps.prefix != 3 {
            return Err(format!("`{column}` lists the steps {stored_steps:?}"));
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
