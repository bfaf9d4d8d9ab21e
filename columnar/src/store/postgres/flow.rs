//! A flow that is open on a connection: how its ownership begins, goes on after a lost connection, and ends.

use std::collections::{HashMap, HashSet};

use futures::future;
use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::super::StoreError;
use super::super::thread::HandleId;
use super::cells::{self, Ownership};
use super::columns::FlowRows;
use super::error::PostgresError;
use super::schema;
use super::session::{LOCK_RETRY_INTERVAL, Parameter, SessionLocation, Taken, lock, unlock};

/// The most attempts to take our own locks, which the ended session may still hold.
const OWN_LOCK_ATTEMPTS: usize = 100;

/// The flows of a connection, by handle.
pub(super) type PooledFlows = HashMap<HandleId, PooledFlow>;

/// An open flow, also while the connection is lost.
pub(super) struct PooledFlow {
    pub(super) location: SessionLocation,
    pub(super) ownership: Ownership,
    pub(super) columns: FlowRows,
    /// Whether the handle is the owner, and no reader.
    pub(super) is_owner: bool,
    /// Whether a write has failed or is under way.
    pub(super) is_halted: bool,
    /// Whether another owner was found when the connection was made again.
    is_replaced: bool,
}

impl PooledFlow {
    /// Becomes the owner of a flow.
    pub(super) async fn open(
        client: &Client,
        location: &SessionLocation,
        others: &PooledFlows,
    ) -> Result<Self, PostgresError> {
        check_key(location)?;
        schema::check(client, location).await?;
        let flow = loop {
            let flow = schema::find_or_make(client, &location.flow).await?;
            // Locked before the number of owners grows: a greater number would end the rights of an owner that is
            // alive.
            match lock_alone(client, flow, others).await? {
                Taken::Locked => break flow,
                Taken::Refused => return Err(StoreError::locked(location).into()),
                Taken::Deleted => {}
            }
        };
        let owned = async {
            let ownership = cells::take_ownership(client, flow).await?;
            // Read as the owner: the last owner may have written until now.
            let columns = FlowRows::read(client, ownership, location).await?;
            Self::new(location, ownership, columns, true)
        };
        let owned = owned.await;
        if owned.is_err() {
            // Other flows stay on this session.
            let _ = unlock(client, flow).await;
        }
        owned
    }

    /// Opens a flow to be read beside its owner. After an error the transaction may be open.
    pub(super) async fn open_to_read(
        client: &Client,
        location: &SessionLocation,
    ) -> Result<Self, PostgresError> {
        check_key(location)?;
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
        Self::new(location, ownership, columns, false)
    }

    fn new(
        location: &SessionLocation,
        ownership: Ownership,
        columns: FlowRows,
        is_owner: bool,
    ) -> Result<Self, PostgresError> {
        let location = location.clone();
        let flow = Self { location, ownership, columns, is_owner, is_halted: false, is_replaced: false };
        flow.definition()?;
        Ok(flow)
    }

    pub(super) fn definition(&self) -> Result<Option<String>, StoreError> {
        let text = self.columns.definition.clone().map(String::from_utf8).transpose();
        text.map_err(|_| StoreError::damaged(&self.location, "its definition is no text"))
    }

    /// Fails if nothing may be written.
    pub(super) fn check_writable(&self) -> Result<(), StoreError> {
        match self.is_owner {
            false => Err(StoreError::ReadOnly),
            true if self.is_halted => Err(StoreError::Halted),
            true => Ok(()),
        }
    }

    /// Fails if there is another owner.
    pub(super) fn check_owner(&self) -> Result<(), StoreError> {
        if self.is_replaced { Err(StoreError::locked(&self.location)) } else { Ok(()) }
    }

    /// Whether the session has the lock of the flow because of this handle.
    fn has_lock(&self) -> bool {
        self.is_owner && !self.is_replaced
    }

    /// Stores the numbers of stored steps, and releases the lock, so that the next `open` finds the flow free.
    pub(super) async fn close(&mut self, client: &Client) -> Result<(), PostgresError> {
        if !self.has_lock() {
            return Ok(());
        }
        let flow = self.ownership.flow;
        let is_behind = self.columns.has_grown() && !self.is_halted;
        let write =
            async { if is_behind { self.columns.write(client, self.ownership).await } else { Ok(()) } };
        // Both statements are sent together. If the write fails, the next owner counts the steps.
        let (_, unlocked) = future::join(write, unlock(client, flow)).await;
        unlocked
    }
}

/// Takes the lock of a flow. A session that has the lock would take it a second time.
async fn lock_alone(client: &Client, flow: i32, others: &PooledFlows) -> Result<Taken, PostgresError> {
    if others.values().any(|other| other.has_lock() && other.ownership.flow == flow) {
        return Ok(Taken::Refused);
    }
    lock(client, flow).await
}

/// Deletes a flow that nobody has open, if there is one.
pub(super) async fn delete(
    client: &Client,
    location: &SessionLocation,
    others: &PooledFlows,
) -> Result<(), PostgresError> {
    if !schema::exists(client).await? {
        return Ok(());
    }
    schema::check(client, location).await?;
    let Some(flow) = schema::find(client, &location.flow).await? else { return Ok(()) };
    match lock_alone(client, flow, others).await? {
        Taken::Locked => {
            // A single transaction deletes the flow as a whole or not at all. An owner that lost its session finds no
            // rows.
            let deleted = super::attachments::delete_flow(client, flow).await;
            if deleted.is_err() {
                let _ = client.batch_execute("rollback").await;
            }
            unlock(client, flow).await?;
            deleted
        }
        Taken::Refused => Err(StoreError::locked(location).into()),
        Taken::Deleted => Ok(()),
    }
}

/// The keys of all flows, in order.
pub(super) async fn keys(client: &Client) -> Result<Vec<String>, PostgresError> {
    if !schema::exists(client).await? {
        return Ok(Vec::new());
    }
    schema::check(client, &ALL).await?;
    schema::keys(client).await
}

/// The flows as errors name them.
pub(super) const ALL: &str = "the flows in PostgreSQL";

/// Takes the locks again on a new session, except for flows that another owner has taken meanwhile.
pub(super) async fn own_again(client: &Client, flows: &mut PooledFlows) -> Result<(), PostgresError> {
    const LOCK: &str = "select flow, pg_try_advisory_lock((tableoid::bigint - 2147483648)::integer, flow) \
        from columnar_flows where flow = any($1)";
    const CURRENT: &str = "select flow from columnar_flows \
        join unnest($1::integer[], $2::bigint[]) as writer (flow, owners) using (flow, owners)";
    let mut missing: Vec<_> = flows.values_mut().filter(|flow| flow.has_lock()).collect();
    for _ in 0..OWN_LOCK_ATTEMPTS {
        if missing.is_empty() {
            return Ok(());
        }
        let owned = missing.iter().map(|flow| flow.ownership);
        let (ids, owners): (Vec<_>, Vec<_>) = owned.map(|owned| (owned.flow, owned.owners)).unzip();
        let mut locked = HashSet::<i32>::new();
        for row in client.query_typed(LOCK, &[(&ids, Type::INT4_ARRAY)]).await? {
            if row.try_get(1)? {
                locked.insert(row.try_get(0)?);
            }
        }
        // Another owner may have held and released the lock, so holding it is not enough.
        let parameters: [Parameter<'_>; 2] = [(&ids, Type::INT4_ARRAY), (&owners, Type::INT8_ARRAY)];
        let current = client.query_typed(CURRENT, &parameters).await?;
        let current = current.iter().map(|row| row.try_get(0)).collect::<Result<HashSet<i32>, _>>()?;
        for flow in &mut missing {
            let id = flow.ownership.flow;
            flow.is_replaced = !current.contains(&id);
            if flow.is_replaced && locked.contains(&id) {
                unlock(client, id).await?;
            }
        }
        missing.retain(|flow| !flow.is_replaced && !locked.contains(&flow.ownership.flow));
        if !missing.is_empty() {
            // The server needs a moment to end the lost session.
            tokio::time::sleep(LOCK_RETRY_INTERVAL).await;
        }
    }
    missing.into_iter().for_each(|flow| flow.is_replaced = true);
    Ok(())
}

fn check_key(location: &SessionLocation) -> Result<(), StoreError> {
    // A text of PostgreSQL cannot have a NUL.
    if location.flow.contains('\0') {
        return Err(StoreError::other("the key of a flow cannot have a NUL in it"));
    }
    Ok(())
}
