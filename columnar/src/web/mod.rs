//! Web pages as documents.
