//! The rules of each language.

pub(super) mod c;
pub(super) mod go;
pub(super) mod javascript;
pub(super) mod python;
pub(super) mod rust;
