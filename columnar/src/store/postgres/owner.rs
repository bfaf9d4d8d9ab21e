//! The owner of a flow: what the thread of a store does in a database.
//!
//! It loses connections and goes on. What it does on one is made to be done again: reads, what replaces, and
//! [`Writing`], which knows its own.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::Client;

use super::super::worker::{Medium, NewCell};
use super::super::{Entry, Put, StoreError, StoredSteps};
use super::Place;
use super::cells::{self, Ownership};
use super::fault::Fault;
use super::schema;
use super::session::{Backend, Session, lock};
use super::writing::Writing;
use crate::declare::Name;

/// Before each attempt on another connection. A server that is started anew is back by then.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
    Duration::from_secs(3),
];

/// How often to look for a lock that another process has, which may have ended a moment ago.
const LOOKS: usize = 5;

/// How often to look for a lock that is our own, of a session that has been told to end.
const LOOKS_AT_OWN: usize = 100;

/// Reading so many steps again is no more work than remembering that they are there.
const WORTH_REMEMBERING: usize = 1000;

/// So many bytes go into a transaction, unless a single cell has more: the server takes no gigabyte at once.
const TRANSACTION: usize = 32 << 20;

/// The owner of a flow, or who was it until the connection was lost.
pub(super) struct Owner {
    place: Place,
    runtime: Runtime,
    ownership: Ownership,
    /// Serves the session, or served the one that was lost.
    backend: Backend,
    session: Option<Session>,
    /// How many first steps of a column were stored when that was asked.
    prefixes: HashMap<Name, usize>,
}

impl Medium for Owner {
    type Place = Place;

    fn open(place: &Place) -> Result<Self, StoreError> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|source| StoreError::Io { doing: "preparing to connect".to_owned(), source })?;
        let opened = runtime.block_on(open(place)).map_err(|fault| fault.told("opening", place))?;
        let (session, backend, ownership) = opened;
        let (place, session) = (place.clone(), Some(session));
        Ok(Self { place, runtime, ownership, backend, session, prefixes: HashMap::new() })
    }

    fn definition(&mut self) -> Result<Option<String>, StoreError> {
        let ownership = self.ownership;
        let bytes =
            self.insist("reading the definition of", async |client| ownership.definition(client).await)?;
        bytes.map(String::from_utf8).transpose().map_err(|_| StoreError::Damaged {
            place: self.place.to_string(),
            what: "its definition is no text".to_owned(),
        })
    }

    fn define(&mut self, definition: &str) -> Result<(), StoreError> {
        let ownership = self.ownership;
        let defined = self.insist("defining", async |client| ownership.define(client, definition).await)?;
        if defined { Ok(()) } else { Err(self.place.locked()) }
    }

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError> {
        let ownership = self.ownership;
        let (stored_steps, known) =
            self.insist("looking into", async |client| ownership.stored_steps(client, column).await)?;
        if stored_steps.prefix - known >= WORTH_REMEMBERING {
            self.insist("looking into", async |client| {
                ownership.remember(client, column, stored_steps.prefix).await
            })?;
        }
        self.prefixes.insert(column.clone(), stored_steps.prefix);
        Ok(stored_steps)
    }

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<Vec<(usize, Entry)>, StoreError> {
        let ownership = self.ownership;
        let loaded =
            self.insist("reading", async |client| ownership.load(client, column, steps.clone()).await)?;
        let known = self.prefixes.get(column).copied().unwrap_or_default();
        let mut expected = steps.start..steps.end.min(known);
        match expected.find(|step| loaded.get(step - steps.start).is_none_or(|(there, _)| there != step)) {
            None => Ok(loaded),
            Some(step) => Err(StoreError::Corrupt {
                column: column.clone(),
                step,
                what: "its row in columnar_cells is gone".to_owned(),
            }),
        }
    }

    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError> {
        let mut puts = Vec::with_capacity(cells.len());
        for portion in portions(&cells) {
            let mut writing = Writing::new(self.ownership, portion)?;
            let stored = self.insist("storing in", async |client| writing.attempt(client).await)?;
            puts.extend(stored.ok_or_else(|| self.place.locked())?);
        }
        Ok(puts)
    }
}

impl Owner {
    /// Does it, on another connection if the one there is is lost, and again if that is lost, too.
    fn insist<T>(
        &mut self,
        doing: &str,
        mut act: impl AsyncFnMut(&Client) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let Self { place, runtime, ownership, backend, session, .. } = self;
        let done = runtime.block_on(async {
            let mut pauses = PAUSES.into_iter();
            loop {
                let attempt = async {
                    let session = match session {
                        Some(session) => session,
                        None => {
                            let (regained, serving) = regain(place, *ownership, *backend).await?;
                            *backend = serving;
                            session.insert(regained)
                        }
                    };
                    session.run(&mut act).await
                };
                match attempt.await {
                    Err(Fault::Lost(error)) => {
                        *session = None;
                        let Some(pause) = pauses.next() else { return Err(Fault::Lost(error)) };
                        tokio::time::sleep(pause).await;
                    }
                    done => return done,
                }
            }
        });
        done.map_err(|fault| fault.told(doing, place))
    }
}

/// Whoever opens the flow next finds it free.
impl Drop for Owner {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            self.runtime.block_on(session.close());
        }
    }
}

async fn open(place: &Place) -> Result<(Session, Backend, Ownership), Fault> {
    if place.flow.contains('\0') {
        return Err(StoreError::other("the key of a flow cannot have a NUL in it").into());
    }
    let mut session = Session::connect(place).await?;
    let owned = session.run(async |client| {
        schema::check(client, place).await?;
        let flow = schema::flow(client, &place.flow).await?;
        if !lock(client, flow, LOOKS).await? {
            return Err(place.locked().into());
        }
        Ok::<_, Fault>((Backend::of(client).await?, cells::own(client, flow).await?))
    });
    let (backend, ownership) = owned.await?;
    Ok((session, backend, ownership))
}

/// A session in the place of one that was lost, if nobody else has become the owner meanwhile.
async fn regain(place: &Place, ownership: Ownership, lost: Backend) -> Result<(Session, Backend), Fault> {
    let mut session = Session::connect(place).await?;
    let regained = session.run(async |client| {
        lost.end(client).await?;
        if !lock(client, ownership.flow, LOOKS_AT_OWN).await? || !ownership.holds(client).await? {
            return Err(place.locked().into());
        }
        Backend::of(client).await
    });
    let backend = regained.await?;
    Ok((session, backend))
}

/// Cells in portions for one transaction each.
fn portions(cells: &[NewCell]) -> impl Iterator<Item = &[NewCell]> {
    let mut bytes = 0;
    cells.chunk_by(move |cell, next| {
        bytes += cell.entry.len();
        let fits = bytes + next.entry.len() <= TRANSACTION;
        if !fits {
            bytes = 0;
        }
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(bytes: usize) -> NewCell {
        let column = Name::new("user").expect("it is a name");
        NewCell { column, step: 0, entry: Entry::from("x".repeat(bytes).as_str()) }
    }

    #[test]
    fn a_transaction_has_no_more_bytes_than_the_server_takes_and_one_cell_at_least() {
        let half = TRANSACTION / 2;
        for (sizes, expected) in [
            (vec![], vec![]),
            (vec![0, 1, 2], vec![3]),
            (vec![half, half], vec![2]),
            (vec![half, half, 1], vec![2, 1]),
            (vec![half, half + 1, half - 1, 1, 1], vec![1, 2, 2]),
            (vec![TRANSACTION + 1, 1, TRANSACTION + 1, TRANSACTION + 1], vec![1, 1, 1, 1]),
        ] {
            let cells: Vec<_> = sizes.into_iter().map(cell).collect();
            assert_eq!(portions(&cells).map(<[_]>::len).collect::<Vec<_>>(), expected);
        }
    }
}
