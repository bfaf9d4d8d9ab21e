//! Tests below the public API: power losses, killed processes, failing disks, and the cost of operations.

mod crash;
mod faults;
mod killed;
mod model;
mod power;
mod script;
mod size;

use std::path::PathBuf;

use self::model::Model;
use super::layout::FolderLocation;
use crate::declare::Name;

fn location(model: &Model) -> FolderLocation<Model> {
    FolderLocation { disk: model.clone(), path: PathBuf::from("/chats/today") }
}

fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().expect("a runtime").block_on(future)
}
