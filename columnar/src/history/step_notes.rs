//! Notes about the steps of a column.

use std::ops::Range;

use rpds::RedBlackTreeMapSync;

/// A note for each of some steps. Equal notes of neighbouring steps are one entry, so a column of which all cells have the
/// same note costs nothing for each. A clone is a reference count.
#[derive(Clone, Debug)]
pub(crate) struct StepNotes<N> {
    /// The runs of equal notes, by the first step. No run is empty, and no two with the same note touch.
    runs: RedBlackTreeMapSync<usize, NoteRun<N>>,
}

#[derive(Clone, Debug)]
struct NoteRun<N> {
    end: usize,
    note: N,
}

impl<N> Default for StepNotes<N> {
    fn default() -> Self {
        Self { runs: RedBlackTreeMapSync::default() }
    }
}

impl<N: Clone + PartialEq> StepNotes<N> {
    pub(crate) fn get(&self, step: usize) -> Option<&N> {
        let (_, run) = self.runs.range(..=step).next_back()?;
        (step < run.end).then_some(&run.note)
    }

    /// Notes a step. The first note of a step stays.
    pub(crate) fn insert(&mut self, step: usize, note: N) {
        if self.get(step).is_none() {
            self.insert_run(step..step.saturating_add(1), note);
        }
    }

    /// Notes steps, none of which has a note.
    fn insert_run(&mut self, steps: Range<usize>, note: N) {
        let after = self.runs.get(&steps.end).filter(|run| run.note == note).map(|run| run.end);
        if after.is_some() {
            self.runs.remove_mut(&steps.end);
        }
        let end = after.unwrap_or(steps.end);
        let before = self.runs.range(..steps.start).next_back();
        let joined = before.filter(|(_, run)| run.end == steps.start && run.note == note);
        let joined = joined.map(|(start, _)| *start);
        // Most steps are noted in order, and a run that nobody shares grows in place.
        match joined.and_then(|start| self.runs.get_mut(&start)) {
            Some(run) => run.end = end,
            None => self.runs.insert_mut(steps.start, NoteRun { end, note }),
        }
    }

    /// The notes of the steps before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        if self.runs.last().is_none_or(|(_, run)| run.end <= step) {
            return self.clone();
        }
        let mut before = Self::default();
        before.adopt(self, 0..step);
        before
    }

    /// Takes over the notes of some steps, none of which has a note.
    pub(crate) fn adopt(&mut self, other: &Self, steps: Range<usize>) {
        let first = other.runs.range(..=steps.start).next_back().map_or(steps.start, |(start, _)| *start);
        for (start, run) in other.runs.range(first..steps.end.max(first)) {
            let shared = steps.start.max(*start)..steps.end.min(run.end);
            if !shared.is_empty() {
                self.insert_run(shared, run.note.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let all = |notes: &StepNotes<usize>| -> Vec<usize> {
                (0..8).map(|step| notes.get(step).copied().unwrap_or(0)).collect()
            };
            assert_eq!(all(&notes), list);
            let changes = list.windows(2).filter(|pair| pair[0] != pair[1] && pair[1] > 0).count();
            assert_eq!(notes.runs.size(), changes + usize::from(list[0] > 0), "{notes:?}");
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
            }
        }
    }
}
