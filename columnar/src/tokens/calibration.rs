//! What providers report, against what was counted.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::observed::Observed;
use super::{Counter, Ratio};

/// Learns from the usage that a provider reports by how much a counter is off for its model: a different
/// tokenizer, and the tokens that each message costs besides its text.
///
/// Wrap the model [with it](Self::watching), and after eight calls ask for the [`ratio`](Self::ratio) that
/// is right on average, or for [`p99`](Self::p99), which a budget can rely on. The last 128 calls count.
/// Clones learn together. Take one for each model: all its columns teach the same thing.
///
/// ```
/// use columnar::model::Offline;
/// use columnar::prelude::*;
/// use columnar::tokens::{Calibrated, Calibration, Classes, Counter, Ratio};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let calibration = Calibration::new(Classes);
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = prompt("Answer.").with(calibration.watching(Offline::new()));
/// };
/// chat.user.push("hello").await?;
/// chat.run().await?;
///
/// // The next flow, or the next start of the program.
/// let ratio = calibration.p99().unwrap_or(Ratio::percent(125));
/// let counter = Calibrated::new(Classes, ratio);
/// assert_eq!(counter.count("hello"), 1);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Calibration {
    counter: Arc<dyn Counter>,
    observed: Arc<Mutex<Observed>>,
}

impl Calibration {
    /// Nothing is known of the counter yet.
    pub fn new(counter: impl Counter + 'static) -> Self {
        Self { counter: Arc::new(counter), observed: Arc::default() }
    }

    /// The same for calls that do not go through [`watching`](Self::watching): the tokens of a request as
    /// the counter counted and as the provider reported them. A 0 teaches nothing.
    pub fn learn(&self, counted: usize, reported: u64) {
        self.observed().learn(u64::try_from(counted).unwrap_or(u64::MAX), reported);
    }

    /// What counts must be multiplied by to be right on average: all that was reported over all that
    /// was counted. `None` until eight calls are known.
    pub fn ratio(&self) -> Option<Ratio> {
        self.observed().ratio()
    }

    /// What counts must be multiplied by to be enough for 99 of 100 tokens that were sent. `None` until
    /// eight calls are known.
    pub fn p99(&self) -> Option<Ratio> {
        self.observed().high()
    }

    pub(crate) fn counter(&self) -> &dyn Counter {
        &*self.counter
    }

    fn observed(&self) -> MutexGuard<'_, Observed> {
        self.observed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = |ratio: Option<Ratio>| ratio.map(|ratio| ratio.to_string());
        f.debug_struct("Calibration")
            .field("ratio", &ratio(self.ratio()))
            .field("p99", &ratio(self.p99()))
            .finish_non_exhaustive()
    }
}
