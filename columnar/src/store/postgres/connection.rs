//! A connection that open flows share, and the state of its thread. A lost connection is made again.
//!
//! So all operations can be repeated: reads, replacements, and [`BatchWrite`], which recognises its own rows.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use super::super::thread::{CellWrite, HandleId, PutRequest, Server, answer_all, by_handle};
use super::super::{Put, StepEntries, StoreError, StoredSteps};
use super::batch::{BatchWrite, FlowPuts, OwnedCells};
use super::error::PostgresError;
use super::flow::{self, PooledFlow, PooledFlows};
use super::session::{GRACE, ServerProcess, Session, SessionClient, SessionLocation, unless_dropped};
use crate::declare::Name;

/// The pauses before attempts to reconnect. A server that restarts is back by then.
const PAUSES: [Duration; 5] = [
    Duration::ZERO,
    Duration::from_millis(100),
    Duration::from_millis(400),
    Duration::from_millis(1500),
    Duration::from_secs(3),
];

/// The flows that are open on a connection.
#[derive(Default)]
pub(super) struct PooledConnection {
    flows: PooledFlows,
    link: Link,
    /// The runtime of the thread, outside of the user's runtime, if there is one. Made by the first request.
    runtime: Option<Runtime>,
}

/// The session of the flows, also while the connection is lost.
#[derive(Default)]
struct Link {
    session: Option<Session>,
    /// The server process of the session, or of the lost session.
    process: Option<ServerProcess>,
}

impl PooledConnection {
    /// Opens a flow for a handle, which gives up what it has open. Returns the definition.
    pub(super) fn open(
        &mut self,
        handle: HandleId,
        location: &SessionLocation,
    ) -> Result<Option<String>, StoreError> {
        self.release(handle);
        let opened = self.once(location, "opening", location, async |client, flows| {
            PooledFlow::open(client, location, flows).await
        });
        self.keep(handle, opened)
    }

    /// Opens a flow for a handle to be read beside its owner. Returns the definition.
    pub(super) fn open_to_read(
        &mut self,
        handle: HandleId,
        location: &SessionLocation,
    ) -> Result<Option<String>, StoreError> {
        self.release(handle);
        let opened = self.once(location, "reading", location, async |client, _| {
            PooledFlow::open_to_read(client, location).await
        });
        self.keep(handle, opened)
    }

    fn keep(
        &mut self,
        handle: HandleId,
        opened: Result<PooledFlow, StoreError>,
    ) -> Result<Option<String>, StoreError> {
        let definition = opened.and_then(|flow| {
            let definition = flow.definition()?;
            self.flows.insert(handle, flow);
            Ok(definition)
        });
        self.disconnect_if_unused();
        definition
    }

    /// Closes the flow of a handle, which is free then. A server that is silent is not waited for.
    pub(super) fn close(&mut self, handle: HandleId) {
        self.release(handle);
        self.disconnect_if_unused();
    }

    fn release(&mut self, handle: HandleId) {
        let Some(mut flow) = self.flows.remove(&handle) else { return };
        if let (Some(session), Some(runtime)) = (&mut self.link.session, &self.runtime) {
            let close = async { timeout(GRACE, session.run(async |client| flow.close(client).await)).await };
            if !matches!(runtime.block_on(close), Ok(Ok(()))) {
                // The lock ends with the connection.
                self.link.session = None;
            }
        }
    }

    /// Deletes a flow that nobody has open, if there is one.
    pub(super) fn delete(&mut self, location: &SessionLocation) -> Result<(), StoreError> {
        let deleted = self.once(location, "deleting", location, async |client, flows| {
            flow::delete(client, location, flows).await
        });
        self.disconnect_if_unused();
        deleted
    }

    /// The keys of all flows, in order.
    pub(super) fn keys(&mut self, location: &SessionLocation) -> Result<Vec<String>, StoreError> {
        let keys = self.once(location, "listing", &flow::ALL, async |client, _| flow::keys(client).await);
        self.disconnect_if_unused();
        keys
    }

    pub(super) fn define(&mut self, handle: HandleId, definition: &str) -> Result<(), StoreError> {
        self.write_alone(handle, "defining", async |client, flow| {
            flow.columns.define(client, flow.ownership, definition).await
        })
    }

    pub(super) fn put_blob(
        &mut self,
        handle: HandleId,
        digest: &str,
        bytes: &Arc<[u8]>,
    ) -> Result<(), StoreError> {
        self.write_alone(handle, "storing in", async |client, flow| {
            flow.ownership.put_blob(client, digest, bytes).await
        })
    }

    pub(super) fn load_blob(
        &mut self,
        handle: HandleId,
        digest: &str,
    ) -> Result<Option<Arc<[u8]>>, StoreError> {
        self.retry(handle, "reading", async |client, flow| flow.ownership.load_blob(client, digest).await)
    }

    pub(super) fn stored_steps(
        &mut self,
        handle: HandleId,
        column: &Name,
    ) -> Result<StoredSteps, StoreError> {
        let flow = self.flow(handle)?;
        let known = flow.columns.known(flow.ownership.flow, column)?;
        let may_write = flow.check_writable().is_ok();
        let stored_steps = self.retry(handle, "looking into", async |client, flow| {
            flow.ownership.stored_steps(client, column, known).await
        })?;
        self.flow(handle)?.columns.stored.insert(column.clone(), (&stored_steps).into());
        // The last owner was killed: otherwise it would have stored the numbers when closing the flow.
        if stored_steps.prefix > known && may_write {
            self.retry(handle, "looking into", async |client, flow| {
                flow.columns.write(client, flow.ownership).await
            })?;
        }
        Ok(stored_steps)
    }

    pub(super) fn load(
        &mut self,
        handle: HandleId,
        column: &Name,
        steps: Range<usize>,
    ) -> Result<StepEntries, StoreError> {
        let loaded = self.retry(handle, "reading", async |client, flow| {
            flow.ownership.load(client, column, steps.clone()).await
        })?;
        let known = self.flow(handle)?.columns.prefix(column);
        // Steps beyond the prefix may be missing. Rows are in order of steps, so a step of a complete prefix is at its
        // own index.
        let mut expected = steps.start..steps.end.min(known);
        match expected.find(|step| loaded.get(step - steps.start).is_none_or(|(there, _)| there != step)) {
            None => Ok(loaded),
            Some(step) => Err(StoreError::corrupt(column, step, "its row in columnar_cells is gone")),
        }
    }

    /// Writes for a flow in a transaction of its own. `write` returns whether the handle is still the owner.
    fn write_alone(
        &mut self,
        handle: HandleId,
        verb: &str,
        write: impl AsyncFnMut(&SessionClient, &mut PooledFlow) -> Result<bool, PostgresError>,
    ) -> Result<(), StoreError> {
        let flow = self.flow(handle)?;
        flow.check_writable()?;
        // Halted until the outcome is known, also after a panic.
        flow.is_halted = true;
        let is_owner = self.retry(handle, verb, write)?;
        let flow = self.flow(handle)?;
        flow.is_halted = !is_owner;
        if is_owner { Ok(()) } else { Err(StoreError::locked(&flow.location)) }
    }

    /// Stores the cells of flows, and returns the outcome of each flow.
    fn write(&mut self, writes: &[CellWrite]) -> Vec<Result<Vec<Put>, StoreError>> {
        match (self.transact(writes), writes) {
            (Ok(puts), _) => {
                let outcomes = puts.into_iter().zip(writes).map(|(puts, CellWrite { handle, .. })| {
                    let flow = self.flow(*handle)?;
                    flow.is_halted = puts.is_none();
                    puts.ok_or_else(|| StoreError::locked(&flow.location))
                });
                outcomes.collect()
            }
            (Err(error), [CellWrite { handle, .. }]) => vec![Err(self.failed(*handle, error))],
            (Err(PostgresError::Lost(source)), _) => {
                let errors = writes.iter().map(|CellWrite { handle, .. }| {
                    let source = io::Error::new(source.kind(), source.to_string());
                    Err(self.failed(*handle, PostgresError::Lost(source)))
                });
                errors.collect()
            }
            // Nothing is stored. Only its own defect may halt a flow, so each flow is written alone.
            (Err(_), _) => writes.chunks(1).flat_map(|write| self.write(write)).collect(),
        }
    }

    fn failed(&self, handle: HandleId, error: PostgresError) -> StoreError {
        match self.flows.get(&handle) {
            Some(flow) => flow.location.error("storing in", error),
            None => StoreError::Closed,
        }
    }

    /// Stores cells in one transaction.
    fn transact(&mut self, writes: &[CellWrite]) -> Result<Vec<FlowPuts>, PostgresError> {
        let mut owned = Vec::with_capacity(writes.len());
        let mut locations = Vec::with_capacity(writes.len());
        for CellWrite { handle, cells } in writes {
            let flow = self.flow(*handle)?;
            // Halted until the outcome is known, also after a panic.
            flow.is_halted = true;
            locations.push(flow.location.clone());
            owned.push(OwnedCells { ownership: flow.ownership, cells });
        }
        // One value for all attempts, since the value collects the ids of the transactions.
        let mut batch = BatchWrite::new(owned)?;
        let puts = self.run(locations, GRACE, &PAUSES, async |client, flows| {
            for CellWrite { handle, .. } in writes {
                flows.get(handle).ok_or(StoreError::Closed)?.check_owner()?;
            }
            batch.attempt(client).await
        })?;
        for (CellWrite { handle, cells }, _) in writes.iter().zip(&puts).filter(|(_, puts)| puts.is_some()) {
            let columns = &mut self.flow(*handle)?.columns;
            cells.iter().for_each(|cell| columns.insert(&cell.column, cell.step));
        }
        Ok(puts)
    }

    fn flow(&mut self, handle: HandleId) -> Result<&mut PooledFlow, StoreError> {
        self.flows.get_mut(&handle).ok_or(StoreError::Closed)
    }

    /// Runs an operation of an open flow, with as many attempts as it takes.
    fn retry<T>(
        &mut self,
        handle: HandleId,
        verb: &str,
        mut act: impl AsyncFnMut(&SessionClient, &mut PooledFlow) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let location = self.flow(handle)?.location.clone();
        let done = self.run(vec![location.clone()], GRACE, &PAUSES, async |client, flows| {
            let flow = flows.get_mut(&handle).ok_or(StoreError::Closed)?;
            flow.check_owner()?;
            act(client, flow).await
        });
        done.map_err(|error| location.error(verb, error))
    }

    /// Runs an operation for a flow that is not open here. A first connection that fails is not worth a second attempt, and
    /// without other flows nothing is worth a wait after the drop of the handle.
    fn once<T>(
        &mut self,
        location: &SessionLocation,
        verb: &str,
        object: &impl fmt::Display,
        act: impl AsyncFnMut(&SessionClient, &mut PooledFlows) -> Result<T, PostgresError>,
    ) -> Result<T, StoreError> {
        let grace = if self.flows.is_empty() { Duration::ZERO } else { GRACE };
        let pauses = if self.link.process.is_none() { &[] } else { &PAUSES[..] };
        let done = self.run(vec![location.clone()], grace, pauses, act);
        done.map_err(|error| error.into_store_error(verb, object, &location.address))
    }

    /// Runs an operation for handles, and repeats it on a new connection each time the connection is lost.
    fn run<T>(
        &mut self,
        handles: Vec<SessionLocation>,
        grace: Duration,
        pauses: &[Duration],
        act: impl AsyncFnMut(&SessionClient, &mut PooledFlows) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let Self { runtime, link, flows } = self;
        let runtime = match runtime {
            Some(runtime) => runtime,
            None => {
                let made = Builder::new_current_thread().enable_all().build();
                let operation = "preparing to connect".to_owned();
                runtime.insert(made.map_err(|source| StoreError::Io { operation, source })?)
            }
        };
        let address = handles.first().map(|handle| Arc::clone(&handle.address)).ok_or(StoreError::Closed)?;
        let done = runtime.block_on(unless_dropped(handles, grace, link.run(&address, flows, pauses, act)));
        if matches!(done, Err(PostgresError::Abandoned)) {
            // The session is in the middle of an operation, and the server is silent.
            link.session = None;
        }
        done
    }

    /// Disconnects without open flows.
    fn disconnect_if_unused(&mut self) {
        if self.flows.is_empty() {
            self.link = Link::default();
        }
    }
}

impl Link {
    async fn run<T>(
        &mut self,
        address: &str,
        flows: &mut PooledFlows,
        pauses: &[Duration],
        mut act: impl AsyncFnMut(&SessionClient, &mut PooledFlows) -> Result<T, PostgresError>,
    ) -> Result<T, PostgresError> {
        let mut pauses = pauses.iter();
        loop {
            let attempt = async {
                let session = self.session(address, flows).await?;
                let done = session.run(async |client| act(client, flows).await).await;
                if !matches!(done, Ok(_) | Err(PostgresError::Lost(_))) {
                    // The session stays in use. A failed statement leaves the transaction open, and all later statements
                    // would be a part of it.
                    let _ = session.run(async |client| client.batch_execute("rollback").await).await;
                }
                done
            };
            match attempt.await {
                Err(PostgresError::Lost(error)) => {
                    self.session = None;
                    let Some(pause) = pauses.next() else { return Err(PostgresError::Lost(error)) };
                    sleep(*pause).await;
                }
                done => return done,
            }
        }
    }

    /// The session. A new one takes the locks of the flows that are open.
    async fn session(
        &mut self,
        address: &str,
        flows: &mut PooledFlows,
    ) -> Result<&mut Session, PostgresError> {
        let Self { session, process } = self;
        let session = match session {
            Some(session) => session,
            None => {
                let mut new = Session::connect(address).await?;
                let connected = new.run(async |client| {
                    if let Some(lost) = process {
                        // The server may keep the lost session with the locks, and its transaction could still commit.
                        lost.end(client).await?;
                    }
                    flow::own_again(client, flows).await?;
                    ServerProcess::of(client).await
                });
                *process = Some(connected.await?);
                session.insert(new)
            }
        };
        Ok(session)
    }
}

impl Server for PooledConnection {
    fn put(&mut self, puts: Vec<PutRequest>) {
        let (writes, answers) = by_handle(puts, |handle| {
            self.flows.get(&handle).ok_or(StoreError::Closed).and_then(PooledFlow::check_writable)
        });
        for (outcome, answers) in self.write(&writes).into_iter().zip(answers) {
            answer_all(answers, outcome);
        }
    }
}

impl Drop for PooledConnection {
    fn drop(&mut self) {
        // A search for the address of a host may go on.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
