//! Stores that mishandle a lost connection. The tests of stores in databases must catch each of them.

use std::ops::Range;
use std::sync::Arc;

use columnar::Name;
use columnar::store::{Entry, Put, Store, StoreError, StoredSteps};
use futures::future::{self, BoxFuture, FutureExt};
use tokio::sync::Mutex;
use tokio_postgres::{Client, NoTls};

/// The defect of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishandling {
    /// Confirms a cell before it is stored.
    ConfirmsEarly,
    /// Repeats an interrupted operation, no matter what came of the first try.
    StoresTwice,
    /// Repeats an interrupted operation, and mistakes its own entry for an entry of another writer.
    DisownsItsEntry,
}

/// A store in a separate table. Clones share one connection.
#[derive(Clone, Debug)]
pub struct FaultyDatabase {
    address: String,
    table: String,
    wrong: Mishandling,
    client: Arc<Mutex<Option<Arc<Client>>>>,
}

impl FaultyDatabase {
    /// A store at this address, in the table of this number.
    pub fn new(address: &str, table: usize, wrong: Mishandling) -> Self {
        Self {
            address: address.to_owned(),
            table: format!("faulty_{wrong:?}_{table}"),
            wrong,
            client: Arc::default(),
        }
    }

    async fn client(&self) -> Result<Arc<Client>, StoreError> {
        let mut kept = self.client.lock().await;
        if let Some(client) = kept.as_ref().filter(|client| !client.is_closed()) {
            return Ok(Arc::clone(client));
        }
        let connected = tokio_postgres::connect(&self.address, NoTls).await;
        let (client, connection) = connected.map_err(StoreError::other)?;
        tokio::spawn(connection);
        Ok(Arc::clone(kept.insert(Arc::new(client))))
    }

    async fn put_once(&self, column: &Name, step: usize, entry: &Entry) -> Result<Put, StoreError> {
        let table = &self.table;
        let twice = format!("insert into {table} values ($1, $2, $3)");
        let once = format!(
            "insert into {table} select $1, $2, $3 \
                where not exists (select from {table} where name = $1 and step = $2)"
        );
        let client = self.client().await?;
        let step = i64::try_from(step).map_err(StoreError::other)?;
        let (column, text) = (column.as_str().to_owned(), entry.value.as_deref().map(str::to_owned));
        let insert = if self.wrong == Mishandling::StoresTwice { twice } else { once };
        let stored = async move { client.execute(&insert, &[&column, &step, &text]).await };
        if self.wrong == Mishandling::ConfirmsEarly {
            tokio::spawn(stored);
            return Ok(Put::Stored);
        }
        let stored = stored.await.map_err(StoreError::other)?;
        Ok(if stored == 1 { Put::Stored } else { Put::Exists(entry.clone()) })
    }
}

impl Store for FaultyDatabase {
    fn open(&self) -> BoxFuture<'static, Result<Option<String>, StoreError>> {
        let table = format!("create table if not exists {} (name text, step bigint, value text)", self.table);
        let this = self.clone();
        async move {
            this.client().await?.batch_execute(&table).await.map_err(StoreError::other)?;
            Ok(None)
        }
        .boxed()
    }

    fn define(&self, _definition: String) -> BoxFuture<'static, Result<(), StoreError>> {
        future::ready(Ok(())).boxed()
    }

    fn stored_steps(&self, column: Name) -> BoxFuture<'static, Result<StoredSteps, StoreError>> {
        let loaded = self.load(column, 0..usize::MAX);
        async move { Ok(loaded.await?.into_iter().map(|(step, _)| step).collect()) }.boxed()
    }

    fn load(
        &self,
        column: Name,
        _steps: Range<usize>,
    ) -> BoxFuture<'static, Result<Vec<(usize, Entry)>, StoreError>> {
        let load = format!("select step, value from {} where name = $1 order by step", self.table);
        let this = self.clone();
        async move {
            let mut failed = None;
            // Reading is repeated and has no defect, so the tests can only catch the defect of `put`.
            for _ in 0..3 {
                match this.client().await?.query(&load, &[&column.as_str()]).await {
                    Ok(rows) => {
                        let entry = |text: Option<String>| text.map_or(Entry::SKIPPED, Entry::from);
                        let cell = |row: &tokio_postgres::Row| {
                            (usize::try_from(row.get::<_, i64>(0)).unwrap_or(usize::MAX), entry(row.get(1)))
                        };
                        return Ok(rows.iter().map(cell).collect());
                    }
                    Err(error) => failed = Some(error),
                }
            }
            Err(failed.map_or(StoreError::Closed, StoreError::other))
        }
        .boxed()
    }

    fn put(&self, column: Name, step: usize, entry: Entry) -> BoxFuture<'static, Result<Put, StoreError>> {
        let this = self.clone();
        async move {
            let mut put = this.put_once(&column, step, &entry).await;
            for _ in 0..2 {
                if put.is_err() {
                    put = this.put_once(&column, step, &entry).await;
                }
            }
            put
        }
        .boxed()
    }

    fn delete(&self) -> BoxFuture<'static, Result<(), StoreError>> {
        let table = format!("drop table if exists {}", self.table);
        let this = self.clone();
        async move { this.client().await?.batch_execute(&table).await.map_err(StoreError::other) }.boxed()
    }
}
