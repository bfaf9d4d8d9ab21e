//! The values that the views of a column show at a step, by turn.
//!
//! Nothing is copied, because a copy of the history at each step would be quadratic: the views of a step are a few reference
//! counts for any length of the history. Values never change, so the views of an earlier step show the same histories
//! through other windows.

use std::ops::Range;
use std::sync::Arc;

use super::exclusions::Exclusions;
use super::overhead::Overhead;
use crate::declare::{InputView, Name, Reads, ViewSpec, Window};
use crate::history::tokens::Sum;
use crate::history::{Attachment, History, MediaRules, SkippedSteps, StoredText, Value};

/// The values of a column in a view. A turn is identified by the step, and the value comes from `lag` steps before it.
#[derive(Clone, Debug)]
pub(super) struct ViewValues {
    /// The steps of the turns.
    pub(super) steps: Range<usize>,
    pub(super) lag: usize,
    pub(super) cells: StoredCells,
    /// The rules for attachments; `None` where none are shown.
    media: Option<&'static MediaRules>,
}

/// The stored cells of a column, as far as a view shows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct StoredCells {
    pub(crate) history: History,
    /// The steps over which windows reach back. Windows count values before filters and exclusions hide some.
    pub(crate) skipped: SkippedSteps,
}

/// The views of a column at one step. A clone is a few reference counts.
#[derive(Clone, Debug)]
pub(crate) struct StepViews {
    pub(crate) reads: Arc<Reads>,
    pub(crate) step: usize,
    pub(super) overhead: Arc<Overhead>,
    /// The inputs in order, the self history after them, then the instructions among the inputs, and the thread at the end.
    all: Arc<[ViewValues]>,
}

impl ViewValues {
    /// A single text in the turn of a step.
    pub(super) fn single(step: usize, text: String, tokens: usize) -> Self {
        let mut history = History::default();
        history.insert(step, text.into(), tokens);
        let cells = StoredCells { history, skipped: SkippedSteps::default() };
        Self { steps: step..step + 1, lag: 0, cells, media: None }
    }

    /// The steps whose turns show an input with this view, in the context of a step up to the next one.
    pub(super) fn turns(&self, spec: &ViewSpec, step: usize) -> Range<usize> {
        self.as_known(spec, spec.turns(step, &self.cells.skipped))
    }

    /// The same of the self history.
    pub(super) fn self_turns(&self, spec: &ViewSpec, step: usize) -> Range<usize> {
        self.as_known(spec, spec.self_cells(step, &self.cells.skipped))
    }

    /// The turns of a window at a step up to the next one. The cell that only the next context shows counts as a value,
    /// even if it is known by now: what a context says of the next one depends on the cells of the context alone.
    fn as_known(&self, spec: &ViewSpec, turns: Range<usize>) -> Range<usize> {
        let later = turns.end.saturating_sub(self.steps.end);
        let (Window::Last(count), 1..) = (spec.window, later) else { return turns };
        let end = self.steps.end - self.lag;
        let start = match count.get().checked_sub(later) {
            None | Some(0) => turns.end - count.get(),
            Some(known) => self.cells.skipped.start_of_last(known, end) + self.lag,
        };
        start..turns.end
    }

    /// Whether the column has skipped the newest step of the view. Most likely the column skips the next one, too.
    pub(super) fn skips(&self) -> bool {
        let newest = self.steps.end.checked_sub(self.lag + 1);
        newest.is_some_and(|newest| self.cells.skipped.contains(newest))
    }

    /// The turns among these that may have a value. The others are passed at once, for any number of skipped steps.
    pub(super) fn possible(&self, turns: &Range<usize>) -> impl DoubleEndedIterator<Item = usize> {
        let lag = self.lag;
        let cells = turns.start.saturating_sub(lag)..turns.end.saturating_sub(lag);
        self.cells.skipped.others(cells).map(move |step| step + lag)
    }

    /// Whether the turn of a step has a value.
    pub(super) fn has(&self, step: usize) -> bool {
        step.checked_sub(self.lag).is_some_and(|source| self.cells.history.has(source))
    }

    /// The value in the turn of a step.
    pub(super) fn text(&self, step: usize) -> Option<StoredText<'_>> {
        let text = self.cells.history.text(step.checked_sub(self.lag)?)?;
        Some(if self.media.is_some() { text } else { StoredText { attachments: &[], ..text } })
    }

    fn value(&self, step: usize) -> Option<Value> {
        let value = self.cells.history.value(step.checked_sub(self.lag)?)?;
        Some(if self.media.is_some() { value } else { value.attached(None) })
    }

    /// The tokens of the attachments of a value.
    pub(super) fn media_tokens(&self, attachments: &[Attachment]) -> usize {
        self.media.map_or(0, |media| media.tokens_of(attachments))
    }

    /// The first of these turns that has a value, by binary search.
    pub(super) fn first(&self, turns: &Range<usize>) -> Option<usize> {
        let Range { mut start, mut end } = turns.clone();
        // The oldest turn almost always has a value.
        if start < end && self.has(start) {
            return Some(start);
        }
        // The number of values up to a step never decreases, so gaps do not mislead the search.
        while start < end {
            let middle = start.midpoint(end);
            if self.sum(&(start..middle + 1)).count > 0 { end = middle } else { start = middle + 1 }
        }
        Some(start).filter(|first| turns.contains(first))
    }

    /// The number and the tokens of the values in these turns.
    pub(super) fn sum(&self, steps: &Range<usize>) -> Sum {
        let cells = steps.start.saturating_sub(self.lag)..steps.end.saturating_sub(self.lag);
        let history = &self.cells.history;
        let mut sum = history.sum(cells.clone());
        sum.tokens += self.media.map_or(0, |media| history.media_tokens(cells, media));
        sum
    }
}

impl StepViews {
    /// The views of a column at a step. `cells` returns the stored cells of an input, or of the column itself.
    #[inline]
    pub(super) fn new(
        reads: Arc<Reads>,
        step: usize,
        overhead: Arc<Overhead>,
        mut cells: impl FnMut(Option<&InputView>) -> StoredCells,
    ) -> Self {
        let own = reads.self_view.as_ref().map(|spec| (None, spec));
        let inputs = reads.inputs.iter().map(|input| (Some(input), &input.spec));
        let instructions = reads.instructions.iter().map(|input| (Some(input), &input.spec));
        let thread = reads.thread.iter().map(|input| (Some(input), &input.spec));
        let all = inputs.chain(own).chain(instructions).chain(thread).map(|(input, spec)| {
            let cells = cells(input);
            let skipped = &cells.skipped;
            let steps =
                if input.is_some() { spec.turns(step, skipped) } else { spec.self_cells(step, skipped) };
            let media = overhead.media_of(input, spec);
            ViewValues { steps, lag: if input.is_some() { spec.lag } else { 0 }, cells, media }
        });
        // Collected at once, which is one allocation.
        let all = all.collect();
        Self { reads, step, overhead, all }
    }

    /// The same views at a step, of other values.
    fn with(&self, step: usize, mut change: impl FnMut(Option<&InputView>, History) -> History) -> Self {
        let reads = Arc::clone(&self.reads);
        let overhead = Arc::clone(&self.overhead);
        Self::new(reads, step, overhead, |input| {
            let StoredCells { history, skipped } = self.cells(input).cloned().unwrap_or_default();
            StoredCells { history: change(input, history), skipped }
        })
    }

    /// The views of an earlier step.
    pub(super) fn at(&self, step: usize) -> Self {
        self.with(step, |_, history| history)
    }

    /// The views with these texts in place of the updates of documents.
    pub(super) fn with_documents(&self, texts: &History) -> Self {
        self.filtered(|input| input.is_log().then(|| texts.clone()))
    }

    /// The views without the cells that a context of the step leaves out.
    pub(super) fn without(&self, exclusions: &Exclusions) -> Self {
        self.with(self.step, |input, mut history| {
            if input.is_some_and(InputView::is_log) {
                return history;
            }
            let column = input.map_or(&self.reads.column, |input| &input.name);
            exclusions.at(column, self.step).into_iter().for_each(|step| history.remove(step));
            history
        })
    }

    /// The views with the values of filtered inputs that pass; `filtered` returns `None` for any other input.
    pub(super) fn filtered(&self, mut passed: impl FnMut(&InputView) -> Option<History>) -> Self {
        self.with(self.step, |input, history| input.and_then(&mut passed).unwrap_or(history))
    }

    pub(crate) fn column(&self) -> &Name {
        &self.reads.column
    }

    /// The views that messages show; and the instructions in the system text, with the thread after them.
    fn split(&self) -> (&[ViewValues], &[ViewValues]) {
        let shown = self.reads.inputs.len() + usize::from(self.reads.self_view.is_some());
        self.all.split_at_checked(shown).unwrap_or_default()
    }

    /// The inputs of the messages in order, and the self history after them.
    pub(super) fn views(&self) -> &[ViewValues] {
        self.split().0
    }

    /// Whether both are the same views, by identity.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.all, &other.all)
    }

    /// The values of an input, or of the column itself.
    pub(super) fn history(&self, input: Option<&InputView>) -> Option<&History> {
        self.cells(input).map(|cells| &cells.history)
    }

    /// The steps of a column that are skipped, if the views show that column.
    pub(crate) fn skipped(&self, column: usize) -> SkippedSteps {
        let input = self.reads.all_inputs().find(|input| input.column == column);
        self.cells(input).map(|cells| cells.skipped.clone()).unwrap_or_default()
    }

    fn cells(&self, input: Option<&InputView>) -> Option<&StoredCells> {
        let view = match input {
            Some(input) if input.spec.thread => self.split().1.last(),
            Some(input) if input.is_instruction() => self.split().1.get(input.at),
            Some(input) => self.all.get(input.at),
            None => self.self_history(),
        };
        view.map(|view| &view.cells)
    }

    /// The value of an input at a step of the column.
    pub(crate) fn value(&self, input: &InputView, step: usize) -> Option<Value> {
        self.history(Some(input))?.value(step)
    }

    /// The self history, if the column reads it.
    pub(super) fn self_history(&self) -> Option<&ViewValues> {
        self.views().get(self.reads.inputs.len())
    }

    /// The thread, with the values of its column.
    pub(super) fn thread_view(&self) -> Option<(&InputView, &ViewValues)> {
        self.reads.thread.as_ref().zip(self.split().1.last())
    }

    /// The inputs of the messages, with the values of each.
    pub(super) fn inputs(&self) -> impl Iterator<Item = (&InputView, &ViewValues)> + Clone {
        self.reads.inputs.iter().zip(&*self.all)
    }

    /// The instructions among the inputs, with the values of each.
    pub(super) fn instruction_inputs(&self) -> impl Iterator<Item = (&InputView, &ViewValues)> + Clone {
        self.reads.instructions.iter().zip(self.split().1)
    }

    /// The columns that the messages show, with the values of each: the inputs, and the column itself after them.
    pub(super) fn columns(&self) -> impl Iterator<Item = (&Name, &ViewValues)> + Clone {
        let names = self.reads.inputs.iter().map(|input| &input.name).chain([&self.reads.column]);
        names.zip(self.views())
    }

    /// The tags and the newest values of the inputs: of the current step, or of the last step with a value in the window.
    pub(crate) fn current(&self) -> Vec<(Name, Value)> {
        let values = self.thread_view().into_iter().chain(self.inputs()).filter_map(|(input, view)| {
            let newest = match input.spec.window {
                Window::All => self.step,
                Window::Last(_) => view.possible(&view.steps).next_back()?,
            };
            Some((input.tag.clone(), view.value(newest)?))
        });
        values.collect()
    }

    /// The values that the view with a tag shows, the oldest first. The tag of the self history is the name of the column.
    pub(crate) fn values(&self, tag: &str) -> impl DoubleEndedIterator<Item = Value> + use<'_> {
        let inputs = self.inputs().chain(self.instruction_inputs()).chain(self.thread_view());
        let own = self.self_history().filter(|_| self.reads.column.tag() == tag);
        let mut views = inputs.filter(|(input, _)| input.tag == tag).map(|(_, view)| view).chain(own);
        views
            .next()
            .into_iter()
            .flat_map(|view| view.possible(&view.steps).filter_map(|step| view.value(step)))
    }

    /// Whether any input has a value in the turn of a step.
    fn is_read_at(&self, step: usize) -> bool {
        let mut turns = self.inputs().filter(|(input, _)| !input.is_log()).chain(self.thread_view());
        turns.any(|(_, view)| view.has(step))
    }

    /// Whether any input has a value at the current step, and there is a conversation to continue, if the column continues one.
    pub(crate) fn is_current(&self) -> bool {
        self.is_read_at(self.step) && (self.reads.thread.is_none() || self.thread_step().is_some())
    }

    /// The previous step at which any input had a value. A step whose inputs are all skipped is skipped as well, and made no
    /// request.
    pub(super) fn last_read_step(&self) -> Option<usize> {
        (0..self.step).rev().find(|step| self.is_read_at(*step))
    }

    /// The previous step at which the column has a value.
    pub(super) fn last_answered_step(&self) -> Option<usize> {
        let history = self.self_history()?;
        history.possible(&(0..self.step)).rev().find(|step| history.has(*step))
    }

    /// The number of groups that stay open after an input's value in the turn of `step`, in the context of the step
    /// `context`, which is this one or the next.
    pub(super) fn open_after(&self, input: &InputView, step: usize, context: usize) -> usize {
        let later = self.inputs().skip(input.at + 1);
        let mut siblings = later.map(|(other, view)| (input.shared_groups(other), other, view));
        // A group holds neighbouring inputs, and inputs further away share fewer groups. So the first one
        // that is shown decides.
        let next = siblings.by_ref().take_while(|(shared, ..)| *shared > 0);
        let mut shown = next
            .filter(|(_, other, view)| view.turns(&other.spec, context).contains(&step) && view.has(step));
        shown.next().map_or(0, |(shared, ..)| shared)
    }

    /// Whether no view has a value.
    pub(super) fn is_empty(&self) -> bool {
        self.views().iter().all(|view| !view.possible(&view.steps).any(|step| view.has(step)))
    }

    /// The first step that any view shows.
    pub(super) fn first_step(&self) -> usize {
        self.views().iter().map(|view| view.steps.start).min().unwrap_or(self.step)
    }

    /// The first step from this one on whose turns may have a value; the step after this context, if there is none.
    pub(super) fn next_turn(&self, step: usize) -> usize {
        let views = self.views().iter().enumerate();
        let turns = views.filter_map(|(at, view)| {
            let steps = view.steps.start.max(step)..view.steps.end;
            // A log has few entries, and its steps are not skipped.
            let is_log = self.reads.compacted == Some(at);
            if is_log { view.first(&steps) } else { view.possible(&steps).next() }
        });
        turns.min().unwrap_or(self.step + 1)
    }

    /// The tokens of the instructions among the inputs, in the context of a step up to this one.
    pub(super) fn instruction_tokens(&self, step: usize) -> usize {
        let sums = self.instruction_inputs().map(|(input, view)| view.sum(&view.turns(&input.spec, step)));
        sums.map(|sum| sum.with_overhead(self.overhead.separator).tokens).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::budget::Budget;
    use crate::context::{Assembler, ContextMemory, ContextSettings, FlowPast, Messages};
    use crate::declare::{ColumnDraft, FileOrigin, Schema, ShownColumn};
    use crate::history::tokens::Estimate;
    use crate::schedule::Cell;

    /// The one value of `rare`, many more steps ago than anybody could count.
    #[test]
    fn a_context_costs_nothing_for_a_gap_of_any_length() {
        const LAST: usize = 1 << 40;
        let latest = || ViewSpec::all().windowed(Some(Window::LATEST));
        let draft = |name: &str, views| ColumnDraft {
            name: name.to_owned(),
            renamed_from: None,
            views,
            is_documents: false,
            step_errors: Vec::new(),
            origin: FileOrigin::default(),
        };
        let inputs = vec![
            (ShownColumn::Column(0), ViewSpec::all().windowed(Window::last(2))),
            (ShownColumn::Column(1), latest()),
            (ShownColumn::Column(2), latest()),
        ];
        let rare = vec![(ShownColumn::Column(0), latest())];
        let drafts = vec![draft("user", None), draft("rare", Some(rare)), draft("bot", Some(inputs))];
        let schema = Schema::new(drafts).expect("a sound flow");
        let reads = schema.reads(2).expect("it is derived");
        let cells = |column| {
            let mut cells = StoredCells::default();
            for step in if column == 0 { vec![LAST - 1, LAST] } else { vec![3] } {
                cells.history.insert(step, format!("{column} at {step}").into(), 5);
            }
            if column > 0 {
                cells.skipped.insert_gap(4..LAST + 1);
            }
            cells
        };
        for budget in [Budget::new(), Budget::of(30).token_buffer(0).truncate_middle()] {
            let assembler =
                Assembler::new(reads, ContextSettings::default(), &budget, Arc::new(Estimate), 0, None);
            let cell = Cell { column: 2, step: LAST };
            let taken = assembler.take(Arc::clone(reads), cell, FlowPast::default(), cells);
            let snapshot = assembler.assemble(&taken, None, &mut ContextMemory::default());
            let messages = Messages(snapshot.expect("it fits"));
            let origins: Vec<_> = messages.parts().filter_map(|part| Some(part.origin()?.step)).collect();
            let omitted = messages.report().map_or(0, |report| report.turns);
            assert_eq!(
                (omitted > 0, origins.len() + omitted),
                (messages.report().is_some(), 4),
                "{origins:?}"
            );
            assert_eq!(origins.last(), Some(&LAST));
            assert_eq!(messages.tokens(), messages.parts().map(|part| part.tokens()).sum::<usize>());
            assert_eq!(taken.values("rare").count(), 1);
            assert!(taken.current().iter().map(|(tag, _)| tag.as_str()).eq(["user", "rare"]));
        }
    }
}
