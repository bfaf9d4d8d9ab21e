//! The state of a cell, as a flow reports it.

use crate::history::Value;

/// The state of a cell. Made by [`cell`](crate::flow::Handle::cell) of a column and
/// [`LiveFlow::cell`](crate::flow::LiveFlow::cell).
///
/// ```
/// use columnar::CellState;
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column answer(user, self) = prompt("Answer.");
/// };
/// chat.user.push("Since when?").await?;
/// assert_eq!(chat.user.cell(0), CellState::Stored("Since when?".into()));
/// assert_eq!(chat.answer.cell(0), CellState::Waiting);
/// # Ok(()) }
/// ```
// Deliberately closed: a cell has no further state, and a `match` shall be complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellState {
    /// The value is stored, and never changes.
    Stored(Value),
    /// The cell is stored as skipped, and will never have a value.
    Skipped,
    /// Nothing is stored yet: the cell waits for a push or a run, or is being computed.
    Waiting,
    /// The cell is stored, with a value or as skipped, but [not in memory](crate::reopen::OpenOptions::recent).
    /// [`LiveFlow::load`](crate::flow::LiveFlow::load) loads it.
    NotLoaded,
}
