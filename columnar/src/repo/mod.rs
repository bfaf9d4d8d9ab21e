//! A repository as documents.

mod syntax;
