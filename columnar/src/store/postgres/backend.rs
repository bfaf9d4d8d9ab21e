//! The backend of the `PostgreSQL` store, which reconnects after a lost connection.
//!
//! So all operations can be repeated: reads, replacements, and [`BatchWrite`], which recognises its own rows.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio_postgres::Client;

use super::super::thread::NewCell;
use super::super::worker::Backend;
use super::super::{Put, StepEntries, StoreError, StoredSteps};
use super::batch::BatchWrite;
use super::cells::{self, Ownership};
use super::columns::FlowRows;
use super::error::PostgresError;
use super::flows;
use super::schema;
use super::session::{GRACE, LOCK_ATTEMPTS, ServerProcess, Session, SessionLocation, Taken, lock, runtime};
use crate::declare::Name;

/// The pauses before attempts to reconnect. A server that restarts is back by then.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
    Duration::from_secs(3),
];

/// The most attempts to take our own lock, which the ended session may still hold.
const OWN_LOCK_ATTEMPTS: usize = 100;

/// The most bytes of a transaction, unless a single cell has more: the server does not accept a gigabyte at once.
const MAX_TRANSACTION_BYTES: usize = 32 << 20;

/// The owner of a flow, also while the connection is lost.
pub(crate) struct PostgresBackend {
    location: SessionLocation,
    runtime: Runtime,
    ownership: Ownership,
    /// The server process of the owner's session, or of the lost session; `None` for a reader, which has no lock.
    process: Option<ServerProcess>,
    session: Option<Session>,
    columns: FlowRows,
    /// Whether a write has failed or is under way.
    is_failed: bool,
}

/// A flow on a new session. A reader has no process, and is no owner.
struct OpenedFlow {
    session: Session,
    process: Option<ServerProcess>,
    ownership: Ownership,
    columns: FlowRows,
}

impl Backend for PostgresBackend {
    type Location = SessionLocation;

    fn open(location: &SessionLocation) -> Result<Self, StoreError> {
        Self::open_by(location, "opening", open)
    }

    fn open_to_read(location: &SessionLocation) -> Result<Self, StoreError> {
        Self::open_by(location, "reading", open_to_read)
    }

    fn definition(&mut self) -> Result<Option<String>, StoreError> {
        let text = self.columns.definition.clone().map(String::from_utf8).transpose();
        text.map_err(|_| StoreError::damaged(&self.location, "its definition is no text"))
    }

    fn define(&mut self, definition: &str) -> Result<(), StoreError> {
        self.check_owner()?;
        self.is_failed = true;
        let defined = self.retry("defining", async |client, ownership, columns| {
            columns.define(client, ownership, definition).await
        })?;
        if !defined {
            return Err(StoreError::locked(&self.location));
        }
        self.is_failed = false;
        Ok(())
    }

    fn stored_steps(&mut self, column: &Name) -> Result<StoredSteps, StoreError> {
        let known = self.columns.known(self.ownership.flow, column)?;
        let stored_steps = self.retry("looking into", async |client, ownership, _| {
            ownership.stored_steps(client, column, known).await
        })?;
        self.columns.stored.insert(column.clone(), (&stored_steps).into());
        // The last owner was killed: otherwise it would have stored the numbers when closing the flow.
        if stored_steps.prefix > known && !self.is_failed && self.process.is_some() {
            self.retry("looking into", async |client, ownership, columns| {
                columns.write(client, ownership).await
            })?;
        }
        Ok(stored_steps)
    }

    fn load(&mut self, column: &Name, steps: Range<usize>) -> Result<StepEntries, StoreError> {
        let loaded = self.retry("reading", async |client, ownership, _| {
            ownership.load(client, column, steps.clone()).await
        })?;
        let known = self.columns.prefix(column);
        // Steps beyond the prefix may be missing. Rows are in order of steps, so a step of a complete prefix is at its
        // own index.
        let mut expected = steps.start..steps.end.min(known);
        match expected.find(|step| loaded.get(step - steps.start).is_none_or(|(there, _)| there != step)) {
            None => Ok(loaded),
            Some(step) => Err(StoreError::corrupt(column, step, "its row in columnar_cells is gone")),
        }
    }

    fn put(&mut self, cells: Vec<NewCell>) -> Result<Vec<Put>, StoreError> {
        self.check_owner()?;
        self.is_failed = true;
        let mut puts = Vec::with_capacity(cells.len());
        for batch in batches(&cells) {
            // One value for all attempts, since the value collects the ids of the transactions.
            let mut write = BatchWrite::new(self.ownership, batch)?;
            let stored = self.retry("storing in", async |client, _, _| write.attempt(client).await)?;
            puts.extend(stored.ok_or_else(|| StoreError::locked(&self.location))?);
            batch.iter().for_each(|cell| self.columns.insert(&cell.column, cell.step));
        }
        self.is_failed = false;
        Ok(puts)
    }

    fn put_blob(&mut self, digest: &str, bytes: &Arc<[u8]>) -> Result<(), StoreError> {
        self.check_owner()?;
        self.is_failed = true;
        let is_owner = self.retry("storing in", async |client, ownership, _| {
            ownership.put_blob(client, digest, bytes).await
        })?;
        if !is_owner {
            return Err(StoreError::locked(&self.location));
        }
        self.is_failed = false;
        Ok(())
    }

    fn load_blob(&mut self, digest: &str) -> Result<Option<Arc<[u8]>>, StoreError> {
        self.retry("reading", async |client, ownership, _| ownership.load_blob(client, digest).await)
    }

    fn delete(location: &SessionLocation) -> Result<(), StoreError> {
        flows::delete(location)
    }

    fn handle_dropped(location: &SessionLocation) {
        location.handle_dropped();
    }
}

impl PostgresBackend {
    fn open_by(
        location: &SessionLocation,
        operation: &str,
        open: impl AsyncFnOnce(&SessionLocation) -> Result<OpenedFlow, PostgresError>,
    ) -> Result<Self, StoreError> {
        let runtime = runtime()?;
        let opened = location.block_on(&runtime, Duration::ZERO, open(location));
        let OpenedFlow { session, process, ownership, columns } = match opened {
            Ok(opened) => opened,
            Err(error) => {
                // A search for the address of a host may go on.
                runtime.shutdown_background();
                return Err(error.into_store_error(operation, location, &location.address));
            }
        };
        let location = location.clone();
        let session = Some(session);
        Ok(Self { location, runtime, ownership, process, session, columns, is_failed: false })
    }

    /// Fails for a reader.
    fn check_owner(&self) -> Result<(), StoreError> {
        if self.process.is_some() { Ok(()) } else { Err(StoreError::ReadOnly) }
    }

    /// Runs an operation, and repeats it on a new connection each time the connection is lost.
    fn retry<T>(
        &mut self,
        operation: &str,
        mut act: impl AsyncFnMut(&Client, Ownership, &mut FlowRows) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let Self { location, runtime, ownership, process, session, columns, .. } = self;
        let done = location.block_on(runtime, GRACE, async {
            let mut pauses = PAUSES.into_iter();
            loop {
                let attempt = async {
                    let session = match session {
                        Some(session) => session,
                        None => {
                            let reconnected = match process {
                                Some(process) => reconnect(location, *ownership, process).await?,
                                None => Session::connect(&location.address).await?,
                            };
                            session.insert(reconnected)
                        }
                    };
                    session.run(async |client| act(client, *ownership, columns).await).await
                };
                match attempt.await {
                    Err(PostgresError::Lost(error)) => {
                        *session = None;
                        let Some(pause) = pauses.next() else { return Err(PostgresError::Lost(error)) };
                        tokio::time::sleep(pause).await;
                    }
                    done => return done,
                }
            }
        });
        if matches!(done, Err(PostgresError::Abandoned)) {
            // The session is in the middle of an operation, and the server is silent.
            *session = None;
        }
        done.map_err(|error| error.into_store_error(operation, location, &location.address))
    }
}

/// Stores the numbers of stored steps, and releases the lock, so that the next `open` finds the flow free.
impl Drop for PostgresBackend {
    fn drop(&mut self) {
        let Self { location, runtime, ownership, process, session, columns, is_failed } = self;
        if let Some(mut session) = session.take() {
            // Without an answer, the lock ends with the connection.
            let _ = location.block_on(runtime, GRACE, async {
                if columns.has_grown() && !*is_failed && process.is_some() {
                    // If the write fails, the next owner counts the steps.
                    let _ = session.run(async |client| columns.write(client, *ownership).await).await;
                }
                session.close().await;
                Ok(())
            });
        }
    }
}

async fn open(location: &SessionLocation) -> Result<OpenedFlow, PostgresError> {
    check_key(location)?;
    let mut session = Session::connect(&location.address).await?;
    let owned = session.run(async |client| {
        schema::check(client, location).await?;
        let flow = loop {
            let flow = schema::find_or_make(client, &location.flow).await?;
            // Locked before the number of owners grows: a greater number would end the rights of an owner that is
            // alive.
            match lock(client, flow, LOCK_ATTEMPTS).await? {
                Taken::Locked => break flow,
                Taken::Refused => return Err(StoreError::locked(location).into()),
                Taken::Deleted => {}
            }
        };
        let process = ServerProcess::of(client).await?;
        let ownership = cells::take_ownership(client, flow).await?;
        // Read as the owner: the last owner may have written until now.
        let columns = FlowRows::read(client, ownership, location).await?;
        Ok::<_, PostgresError>((process, ownership, columns))
    });
    let (process, ownership, columns) = owned.await?;
    Ok(OpenedFlow { session, process: Some(process), ownership, columns })
}

/// Opens a flow without the lock.
async fn open_to_read(location: &SessionLocation) -> Result<OpenedFlow, PostgresError> {
    check_key(location)?;
    let mut session = Session::connect(&location.address).await?;
    let found = session.run(async |client| {
        if !schema::exists(client).await? {
            return Err(StoreError::absent(location).into());
        }
        schema::check(client, location).await?;
        // One snapshot, since the owner may add a column between two queries.
        client.batch_execute("begin isolation level repeatable read read only").await?;
        let flow = schema::find(client, &location.flow).await?;
        let ownership = Ownership { flow: flow.ok_or_else(|| StoreError::absent(location))?, owners: 0 };
        let columns = FlowRows::read(client, ownership, location).await?;
        client.batch_execute("commit").await?;
        Ok::<_, PostgresError>((ownership, columns))
    });
    let (ownership, columns) = found.await?;
    Ok(OpenedFlow { session, process: None, ownership, columns })
}

fn check_key(location: &SessionLocation) -> Result<(), StoreError> {
    // A text of PostgreSQL cannot have a NUL.
    if location.flow.contains('\0') {
        return Err(StoreError::other("the key of a flow cannot have a NUL in it"));
    }
    Ok(())
}

/// Replaces a lost session, unless another owner has taken the flow meanwhile.
async fn reconnect(
    location: &SessionLocation,
    ownership: Ownership,
    process: &mut ServerProcess,
) -> Result<Session, PostgresError> {
    let lost = *process;
    let mut session = Session::connect(&location.address).await?;
    let reconnected = session.run(async |client| {
        // The server may keep the lost session with the lock, and the transaction of that session could still commit.
        lost.end(client).await?;
        // Another owner may have held and released the lock, so holding it is not enough.
        let taken = lock(client, ownership.flow, OWN_LOCK_ATTEMPTS).await?;
        if taken != Taken::Locked || !ownership.is_current(client).await? {
            return Err(StoreError::locked(location).into());
        }
        ServerProcess::of(client).await
    });
    *process = reconnected.await?;
    Ok(session)
}

/// Splits cells into batches of one transaction each.
fn batches(cells: &[NewCell]) -> impl Iterator<Item = &[NewCell]> {
    let mut bytes = 0;
    cells.chunk_by(move |cell, next| {
        // `chunk_by` compares each cell with the next one, so each cell is added once.
        bytes += cell.entry.len();
        let fits = bytes + next.entry.len() <= MAX_TRANSACTION_BYTES;
        if !fits {
            bytes = 0;
        }
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Entry;

    fn cell(bytes: usize) -> NewCell {
        let column = Name::new("user").expect("it is a name");
        NewCell { column, step: 0, entry: Entry::from("x".repeat(bytes).as_str()) }
    }

    #[test]
    fn a_transaction_has_at_most_the_bytes_that_the_server_accepts_and_at_least_one_cell() {
        let half = MAX_TRANSACTION_BYTES / 2;
        for (sizes, expected) in [
            (vec![], vec![]),
            (vec![0, 1, 2], vec![3]),
            (vec![half, half], vec![2]),
            (vec![half, half, 1], vec![2, 1]),
            (vec![half, half + 1, half - 1, 1, 1], vec![1, 2, 2]),
            (
                vec![MAX_TRANSACTION_BYTES + 1, 1, MAX_TRANSACTION_BYTES + 1, MAX_TRANSACTION_BYTES + 1],
                vec![1, 1, 1, 1],
            ),
        ] {
            let cells: Vec<_> = sizes.into_iter().map(cell).collect();
            assert_eq!(batches(&cells).map(<[_]>::len).collect::<Vec<_>>(), expected);
        }
    }
}
