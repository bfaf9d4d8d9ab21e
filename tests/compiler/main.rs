//! The tests that start a compiler, rustdoc or rust-analyzer: slower than the others, so they have a program of their own.

mod documentation;
mod editor;
mod editor_composed;
mod incremental;
mod ui;
