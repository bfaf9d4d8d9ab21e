//! Values with their history, so a path can be seen as it was.

/// A point in the history of a tree: the number of nodes and changes before it.
pub(super) type Moment = u32;

/// The states of one value, each with the change that led to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timeline<T>(Vec<(Moment, T)>);

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Timeline<T> {
    /// The newest state.
    pub(super) fn last(&self) -> Option<&T> {
        self.0.last().map(|(_, state)| state)
    }

    /// The state before a moment.
    pub(super) fn before(&self, moment: Moment) -> Option<&T> {
        let states = self.0.partition_point(|(since, _)| *since < moment);
        let (_, state) = self.0.get(states.checked_sub(1)?)?;
        Some(state)
    }

    /// Adds a state. `moment` is not before that of the newest one.
    pub(super) fn push(&mut self, moment: Moment, state: T) {
        self.0.push((moment, state));
    }
}
