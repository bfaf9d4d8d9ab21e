//! Documents: texts with names, such as the files of a repository and the outlines of their symbols.
//!
//! No flow uses this module yet.
//!
//! A pure layer: no clock and no I/O.

mod key;

pub use key::{Key, KeyError, KeyFault, Kind};
