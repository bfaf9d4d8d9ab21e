//! How far a flow is.

/// How many cells of the steps that have begun are where.
///
/// ```
/// # use columnar::prelude::*;
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
///     let progress = chat.progress();
///     println!("{} of {}", progress.done, progress.total());
/// }
/// assert_eq!(chat.progress().done, 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Computed and stored.
    pub done: usize,
    /// Empty for good: they failed in a column that [may be empty](crate::compute::Policy::or_skip),
    /// or all they read is empty.
    pub skipped: usize,
    /// Being computed or stored.
    pub running: usize,
    /// Failed in the last run, and to be tried again by the next.
    pub failed: usize,
    /// To be computed.
    pub waiting: usize,
}

impl Progress {
    /// All of them.
    pub fn total(&self) -> usize {
        self.done + self.skipped + self.running + self.failed + self.waiting
    }
}
