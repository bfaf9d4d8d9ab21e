//! The client of providers, held against material that is not ours.
//!
//! ```text
//! flows × models × settings ──▶ columnar ──▶ body ──▶ the SDK's types            (bodies)
//! a flow ──▶ columnar ──▶ batches, and a server's answers ──▶ the SDK's types    (batches)
//! flows ──▶ columnar ──▶ messages for other clients ──▶ the SDK's types        (renderings)
//! replies/FORMAT/NAME ──▶ columnar, and the SDK's reader ──▶ must read the same  (replies)
//! a flow ──▶ columnar ──▶ a server of others ──▶ the bill and its log           (gateways)
//! an image ──▶ columnar ──▶ a vision model ──▶ the words in it                  (vision)
//! ```
//!
//! `tests/oracle/run cargo test -p columnar-tests --features providers --test oracle`
//!
//! The replies need no Python. Without it the other parts are skipped with a message.

#![allow(clippy::indexing_slicing, clippy::panic, reason = "a test may panic")]

mod batches;
mod bodies;
mod file_flows;
mod flows;
mod gateways;
mod images;
mod models;
mod python;
mod renderings;
mod replies;
mod vision;
