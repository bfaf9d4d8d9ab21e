//! What cannot be seen through the door: crashes, failing disks, and what is written where.

mod crash;
mod model;
mod power;

use std::path::PathBuf;

use self::model::Model;
use super::folder::Place;
use crate::name::Name;

fn place(model: &Model) -> Place<Model> {
    Place { disk: model.clone(), path: PathBuf::from("/chats/today") }
}

fn name(name: &str) -> Name {
    Name::new(name).expect("a name")
}
