//! Notes about the steps of a column.

use std::ops::Range;

use rpds::RedBlackTreeMapSync;

/// A note for each of some steps. Equal notes of neighbouring steps are one entry, so a column of which all cells have the
/// same note costs nothing for each. A clone is a reference count.
///
/// The last run is outside of the tree, because most steps are noted in order and with the note of the step before.
#[derive(Clone, Debug)]
pub(crate) struct StepNotes<N> {
    /// The earlier runs of equal notes, by the first step. No run is empty, and no two with the same note touch.
    runs: RedBlackTreeMapSync<usize, NoteRun<N>>,
    last: Option<NoteRun<N>>,
}

#[derive(Clone, Debug)]
struct NoteRun<N> {
    steps: Range<usize>,
    note: N,
}

impl<N> Default for StepNotes<N> {
    fn default() -> Self {
        Self { runs: RedBlackTreeMapSync::default(), last: None }
    }
}

impl<N: Clone + PartialEq> StepNotes<N> {
    pub(crate) fn get(&self, step: usize) -> Option<&N> {
        let last = self.last.as_ref()?;
        let run = if last.steps.start <= step {
            last
        } else {
            self.runs.range(..=step).next_back().map(|(_, run)| run)?
        };
        run.steps.contains(&step).then_some(&run.note)
    }

    /// Notes a step. The first note of a step stays.
    pub(crate) fn insert(&mut self, step: usize, note: N) {
        if let Some(last) = &mut self.last
            && last.steps.end == step
            && last.note == note
        {
            last.steps.end += 1;
        } else if self.get(step).is_none() {
            self.insert_run(step..step.saturating_add(1), note);
        }
    }

    /// Notes steps, none of which has a note.
    fn insert_run(&mut self, mut steps: Range<usize>, note: N) {
        if let Some(last) = self.last.take() {
            self.runs.insert_mut(last.steps.start, last);
        }
        if let Some(after) = self.runs.get(&steps.end).filter(|run| run.note == note) {
            let end = after.steps.end;
            self.runs.remove_mut(&steps.end);
            steps.end = end;
        }
        let before = self.runs.range(..steps.start).next_back().map(|(_, run)| run);
        if let Some(before) = before.filter(|run| run.steps.end == steps.start && run.note == note) {
            steps.start = before.steps.start;
        }
        self.runs.insert_mut(steps.start, NoteRun { steps, note });
        self.last = self.runs.last().map(|(_, run)| run.clone());
        if let Some(last) = &self.last {
            self.runs.remove_mut(&last.steps.start);
        }
    }

    /// The notes of the steps before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        if self.last.as_ref().is_none_or(|last| last.steps.end <= step) {
            return self.clone();
        }
        let mut before = Self::default();
        before.adopt(self, 0..step);
        before
    }

    /// Takes over the notes of some steps, none of which has a note.
    pub(crate) fn adopt(&mut self, other: &Self, steps: Range<usize>) {
        for (steps, note) in other.runs(steps) {
            self.insert_run(steps, note.clone());
        }
    }

    /// The noted ones of these steps, in order.
    pub(crate) fn within(&self, steps: Range<usize>) -> impl Iterator<Item = (usize, &N)> {
        self.runs(steps).flat_map(|(steps, note)| steps.map(move |step| (step, note)))
    }

    /// The runs of equal notes, as far as they are in these steps, in order.
    fn runs(&self, steps: Range<usize>) -> impl Iterator<Item = (Range<usize>, &N)> {
        let first = self.runs.range(..=steps.start).next_back().map_or(steps.start, |(start, _)| *start);
        let runs = self.runs.range(first..steps.end.max(first)).map(|(_, run)| run);
        runs.chain(&self.last).filter_map(move |run| {
            let shared = steps.start.max(run.steps.start)..steps.end.min(run.steps.end);
            (!shared.is_empty()).then_some((shared, &run.note))
        })
    }

    /// Removes the note of a step, if there is one.
    pub(crate) fn remove(&mut self, step: usize) {
        if self.get(step).is_some() {
            let mut rest = self.before(step);
            rest.adopt(self, step.saturating_add(1)..usize::MAX);
            *self = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(notes: &StepNotes<usize>) -> Vec<usize> {
        (0..8).map(|step| notes.get(step).copied().unwrap_or(0)).collect()
    }

    /// All notes of eight steps, of two kinds or none, inserted from both sides, are found, cut and adopted as in a list.
    #[test]
    fn all_answers_are_those_of_a_list() {
        for number in 0..3_usize.pow(8) {
            let list: Vec<usize> = (0..8).map(|step| number / 3_usize.pow(step) % 3).collect();
            let mut notes = StepNotes::default();
            let (even, odd): (Vec<usize>, Vec<usize>) = (0..8).partition(|step| step % 2 == 0);
            for step in even.into_iter().rev().chain(odd).filter(|step| list[*step] > 0) {
                notes.insert(step, list[step]);
                notes.insert(step, 3);
            }
            assert_eq!(all(&notes), list);
            let changes = list.windows(2).filter(|pair| pair[0] != pair[1] && pair[1] > 0).count();
            assert_eq!(
                notes.runs.size() + usize::from(notes.last.is_some()),
                changes + usize::from(list[0] > 0),
                "{notes:?}"
            );
            for start in 0..8 {
                for end in start..=8 {
                    let mut adopted = StepNotes::default();
                    adopted.adopt(&notes, start..end);
                    let expected =
                        (0..8).map(|step| if (start..end).contains(&step) { list[step] } else { 0 });
                    assert_eq!(all(&adopted), expected.collect::<Vec<_>>(), "{start}..{end} of {notes:?}");
                }
                let expected = (0..8).map(|step| if step < start { list[step] } else { 0 });
                assert_eq!(all(&notes.before(start)), expected.collect::<Vec<_>>(), "{start}");
                let mut removed = notes.clone();
                removed.remove(start);
                let expected = (0..8).map(|step| if step == start { 0 } else { list[step] });
                assert_eq!(all(&removed), expected.collect::<Vec<_>>(), "{start} removed of {notes:?}");
                assert!(removed.within(0..8).all(|(step, note)| list[step] == *note && step != start));
            }
        }
    }
}
