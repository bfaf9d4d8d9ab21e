//! Runs rustc and rust-analyzer on programs that use the library.

pub mod lsp;
pub mod rustc;
