//! A compute step whose words a test lets through, one by one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use columnar::{BoxError, Compute, Context, Name, Reply};
use futures::stream::{self, StreamExt};
use tokio::sync::Semaphore;

/// A compute step that repeats the newest value of the first input in upper case, word by word. Each word needs a
/// permit. The word `fail` is an error as long as the gate [fails](Gate::set_failing), and the text before the error
/// then differs from the text of the value. Clones share permits and calls.
#[derive(Clone, Debug)]
pub struct Gate(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    permits: Semaphore,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    is_failing: bool,
    /// The number of calls of each cell.
    calls: BTreeMap<(Name, usize), usize>,
}

impl Gate {
    /// A gate that lets this number of words through.
    pub fn new(words: usize) -> Self {
        let state = State { is_failing: true, ..State::default() };
        Self(Arc::new(Inner { permits: Semaphore::new(words), state: Mutex::new(state) }))
    }

    /// A gate that lets everything through.
    pub fn open() -> Self {
        Self::new(Semaphore::MAX_PERMITS)
    }

    /// Lets this number of further words through.
    pub fn let_through(&self, words: usize) {
        self.0.permits.add_permits(words);
    }

    /// Sets whether the word `fail` is an error.
    pub fn set_failing(&self, is_failing: bool) {
        self.with(|state| state.is_failing = is_failing);
    }

    /// The number of calls of each cell, by column and step.
    pub fn calls(&self) -> BTreeMap<(Name, usize), usize> {
        self.with(|state| state.calls.clone())
    }

    /// The number of calls of all cells.
    pub fn total_calls(&self) -> usize {
        self.with(|state| state.calls.values().sum())
    }

    fn with<T>(&self, use_state: impl FnOnce(&mut State) -> T) -> T {
        use_state(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    async fn word(self, word: String) -> Result<String, BoxError> {
        self.0.permits.acquire().await?.forget();
        if word.trim() == "FAIL" && self.with(|state| state.is_failing) {
            return Err("HTTP 503".into());
        }
        Ok(word)
    }
}

impl Compute for Gate {
    fn compute(&self, cx: Context) -> Reply<'static> {
        self.with(|state| *state.calls.entry((cx.column().clone(), cx.step())).or_default() += 1);
        let text = cx.messages().last_text().to_uppercase();
        // The text without the tags around it.
        let text = text.lines().nth(1).unwrap_or_default();
        let is_failing = text.contains("FAIL") && self.with(|state| state.is_failing);
        let text = if is_failing { format!("NOT {text}") } else { text.to_owned() };
        let words: Vec<String> = text.split_inclusive(' ').map(str::to_owned).collect();
        let gate = self.clone();
        Reply::deltas(stream::iter(words).then(move |word| gate.clone().word(word)))
    }
}
