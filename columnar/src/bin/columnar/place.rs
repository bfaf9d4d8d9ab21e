//! Where flows are stored, and the flow that the arguments name.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use clap::Args;
use columnar::reopen::OpenOptions;
use columnar::store::{FileStore, PostgresStore, SqliteStore, Store};
use columnar::{BoxError, Flow};

/// The first bytes of a file of SQLite.
const SQLITE: &[u8] = b"SQLite format 3\0";

/// A flow, or a part of it.
#[derive(Args)]
pub(crate) struct FlowArguments {
    /// A file of SQLite, a folder, or the address of a PostgreSQL database.
    pub(crate) store: String,
    /// The key of the flow, a column and a step.
    #[arg(value_name = "KEY, COLUMN, STEP", num_args = 0..=3)]
    pub(crate) names: Vec<String>,
}

/// A place with any number of flows.
pub(crate) enum StorePlace {
    /// A folder, which is a store.
    Folder(PathBuf),
    /// A folder, whose folders are stores.
    Folders(PathBuf),
    Sqlite(PathBuf),
    Postgres(String),
}

/// A flow of a place, and the cell that the arguments name.
pub(crate) struct Selection {
    pub(crate) place: StorePlace,
    pub(crate) key: String,
    pub(crate) column: Option<String>,
    pub(crate) step: Option<usize>,
}

impl StorePlace {
    /// The place at an address, which must be there.
    pub(crate) fn find(address: &str) -> Result<Self, BoxError> {
        if let Some(database) = Self::database(address) {
            return Ok(database);
        }
        let path = PathBuf::from(address);
        let known = "name a file of SQLite, a folder, or an address as in postgres://me@localhost/chats";
        let status = fs::metadata(&path)
            .map_err(|error| format!("there is no store at {address}: {error}; {known}"))?;
        if status.is_dir() {
            let is_store = path.join(".columnar").exists();
            return Ok(if is_store { Self::Folder(path) } else { Self::Folders(path) });
        }
        let mut beginning = Vec::new();
        File::open(&path)?.take(SQLITE.len() as u64).read_to_end(&mut beginning)?;
        if beginning.is_empty() || beginning == SQLITE {
            Ok(Self::Sqlite(path))
        } else {
            Err(format!("{address} is no store: {known}").into())
        }
    }

    /// The place of a copy, which need not be there: a file, if the name ends as one of a database.
    pub(crate) fn target(address: &str) -> Self {
        let path = PathBuf::from(address);
        let is_file =
            path.extension().is_some_and(|end| ["db", "sqlite", "sqlite3"].iter().any(|known| end == *known));
        Self::database(address).unwrap_or(if is_file { Self::Sqlite(path) } else { Self::Folders(path) })
    }

    fn database(address: &str) -> Option<Self> {
        // As a URL, or as pairs.
        let beginnings = ["postgres://", "postgresql://", "host=", "dbname="];
        let is_database =
            address.split(' ').any(|part| beginnings.iter().any(|begin| part.starts_with(begin)));
        is_database.then(|| Self::Postgres(address.to_owned()))
    }

    /// The keys of the flows. A folder that is a store has the empty key.
    pub(crate) async fn keys(&self) -> Result<Vec<String>, BoxError> {
        Ok(match self {
            Self::Folder(_) => vec![String::new()],
            Self::Folders(path) => FileStore::flows(path).await?.iter().map(|path| name_of(path)).collect(),
            Self::Sqlite(file) => SqliteStore::flows(file).await?,
            Self::Postgres(address) => PostgresStore::flows(address).await?,
        })
    }

    /// The store of a flow.
    pub(crate) fn store(&self, key: &str) -> Box<dyn Store> {
        match self {
            Self::Folder(path) => Box::new(FileStore::new(path)),
            Self::Folders(path) => Box::new(FileStore::new(path.join(key))),
            Self::Sqlite(file) => Box::new(SqliteStore::new(file, key)),
            Self::Postgres(address) => Box::new(PostgresStore::new(address, key)),
        }
    }

    /// The key among the arguments, or the only key.
    async fn key(&self, names: &mut Vec<String>) -> Result<String, BoxError> {
        if let Self::Folder(_) = self {
            return Ok(String::new());
        }
        let keys = self.keys().await?;
        if let Some(first) = names.first()
            && keys.contains(first)
        {
            return Ok(names.remove(0));
        }
        match (keys.as_slice(), names.first()) {
            ([], _) => Err("the store has no flow".into()),
            ([only], _) => Ok(only.clone()),
            (_, Some(unknown)) => Err(format!(
                "there is no flow with the key `{unknown}`: `columnar list STORE` shows the keys"
            )
            .into()),
            (keys, None) => {
                let count = keys.len();
                Err(format!("the store has {count} flows: name one; `columnar list STORE` shows the keys")
                    .into())
            }
        }
    }
}

/// The name of a folder.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl FlowArguments {
    /// Finds the flow, and reads the column and the step.
    pub(crate) async fn select(self) -> Result<Selection, BoxError> {
        let Self { store, mut names } = self;
        let place = StorePlace::find(&store)?;
        let key = place.key(&mut names).await?;
        let mut names = names.into_iter();
        let column = names.next();
        let step = names.next().map(|step| {
            step.parse().map_err(|_| format!("`{step}` is no step: steps are numbers, counted from 0"))
        });
        let step = step.transpose()?;
        match names.next() {
            Some(surplus) => {
                Err(format!("`{surplus}` is one name too many: pass KEY, COLUMN and STEP").into())
            }
            None => Ok(Selection { place, key, column, step }),
        }
    }
}

impl Selection {
    /// The flow, with all its values in memory.
    pub(crate) async fn open(&self) -> Result<Flow, BoxError> {
        Ok(Flow::open_stored(self.place.store(&self.key)).await?)
    }

    /// The flow, with the values of its last steps in memory: a long flow is open at once.
    pub(crate) async fn open_last(&self, steps: usize) -> Result<Flow, BoxError> {
        Ok(Flow::open_stored(OpenOptions::new(self.place.store(&self.key)).recent(steps)).await?)
    }

    /// Fails if the arguments name a cell, where a flow is meant.
    pub(crate) fn whole(&self) -> Result<&Self, BoxError> {
        match &self.column {
            Some(column) => Err(format!("`{column}` is one name too many: this is about whole flows").into()),
            None => Ok(self),
        }
    }
}
