//! The progress of a flow.

use std::fmt;

/// The progress of a flow: the number of cells in each state, of the steps that have begun. A progress prints as a line.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column topics(user.latest) = prompt("List the topics.");
/// };
/// chat.user.push("one").await?;
/// chat.user.push("two").await?;
///
/// let mut run = chat.run();
/// while run.try_next().await?.is_some() {
///     println!("{}", chat.progress());
/// }
/// assert_eq!(chat.progress().done, 2);
/// chat.user.push("three").await?;
/// assert_eq!(chat.progress().to_string(), "2 of 3 cells are done; 1 waiting");
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Cells that are computed and stored.
    pub done: usize,
    /// Cells that are stored as skipped: the cells failed in a column that [may
    /// skip](crate::compute::Policy::or_skip), or all inputs are skipped.
    pub skipped: usize,
    /// Cells that are being computed or stored.
    pub running: usize,
    /// Cells that failed in the last run. The next run tries these cells again.
    pub failed: usize,
    /// Cells that wait for an [answer](crate::compute::external) from outside.
    pub pending: usize,
    /// Cells that wait to be computed.
    pub waiting: usize,
    /// Cells that are stored and [not in memory](crate::reopen::OpenOptions::recent): done or skipped.
    pub not_loaded: usize,
}

impl Progress {
    /// The number of all cells.
    pub fn total(&self) -> usize {
        self.done + self.skipped + self.running + self.failed + self.pending + self.waiting + self.not_loaded
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} cells are done", self.done, self.total())?;
        let others = [
            (self.skipped, "skipped"),
            (self.running, "running"),
            (self.failed, "failed"),
            (self.pending, "pending"),
            (self.waiting, "waiting"),
            (self.not_loaded, "not loaded"),
        ];
        let mut separator = "; ";
        for (count, state) in others.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, "{separator}{count} {state}")?;
            separator = ", ";
        }
        Ok(())
    }
}
