//! The attachments of the flows of a database. Each is stored once, and is removed when no flow has it.

use std::sync::Arc;

use tokio_postgres::Client;
use tokio_postgres::types::Type;

use super::cells::Ownership;
use super::error::PostgresError;
use super::session::Parameter;

/// Keeps deletions away, which would remove an attachment that a writer has just found.
const LOCK: &str = "begin; select pg_advisory_xact_lock_shared(hashtext('columnar attachments'))";

/// Deletes a flow, and the attachments that no other flow has, in one transaction.
pub(super) async fn delete_flow(client: &Client, flow: i32) -> Result<(), PostgresError> {
    // The lock comes first, and each statement sees what was committed before it began.
    const LOCK_ALL: &str = "begin; select pg_advisory_xact_lock(hashtext('columnar attachments'))";
    const PURGE: &str = "
        delete from columnar_attachments as attachment where not exists
            (select from columnar_flow_attachments as named where named.digest = attachment.digest);
        commit";
    client.batch_execute(LOCK_ALL).await?;
    // Deletes all other rows of the flow, too.
    client.query_typed("delete from columnar_flows where flow = $1", &[(&flow, Type::INT4)]).await?;
    Ok(client.batch_execute(PURGE).await?)
}

impl Ownership {
    /// Stores an attachment; `false` if there has been another owner. Can be repeated.
    pub(super) async fn put_blob(
        &self,
        client: &Client,
        digest: &str,
        bytes: &[u8],
    ) -> Result<bool, PostgresError> {
        // `for share` makes the next owner wait until this is committed. Most values have an attachment that is stored,
        // whose bytes need not be sent.
        const NAME: &str = "
            with owner as (
                select flow from columnar_flows where flow = $1 and owners = $2 for share
            ), named as (
                insert into columnar_flow_attachments (digest, flow) select $3, flow from owner on conflict do nothing
            )
            select exists (select from columnar_attachments where digest = $3) from owner";
        const STORE: &str =
            "insert into columnar_attachments (digest, bytes) values ($1, $2) on conflict do nothing";
        client.batch_execute(LOCK).await?;
        let [flow, owners] = self.parameters();
        let parameters: [Parameter<'_>; 3] = [flow, owners, (&digest, Type::TEXT)];
        let is_stored =
            client.query_typed_opt(NAME, &parameters).await?.map(|row| row.try_get(0)).transpose()?;
        if is_stored == Some(false) {
            client.query_typed(STORE, &[(&digest, Type::TEXT), (&bytes, Type::BYTEA)]).await?;
        }
        client.batch_execute("commit").await?;
        Ok(is_stored.is_some())
    }

    /// The bytes of an attachment of the flow.
    pub(super) async fn load_blob(
        &self,
        client: &Client,
        digest: &str,
    ) -> Result<Option<Arc<[u8]>>, PostgresError> {
        const LOAD: &str =
            "select bytes from columnar_attachments join columnar_flow_attachments using (digest)
            where digest = $1 and flow = $2";
        let row = client.query_typed_opt(LOAD, &[(&digest, Type::TEXT), (&self.flow, Type::INT4)]).await?;
        Ok(row.map(|row| row.try_get::<_, &[u8]>(0).map(Into::into)).transpose()?)
    }
}
