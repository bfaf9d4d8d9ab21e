//! The views of a derived column: the inputs, the groups around them, and the self history.

use std::ops::Range;
use std::sync::Arc;

use super::name::{Name, last_part};
use super::view::{Compaction, Purpose, Tiering, ViewSpec};
use super::window::Window;
use crate::history::SkippedSteps;

/// The views of a derived column, checked.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    /// The derived column.
    pub(crate) column: Name,
    /// The column whose conversation the request continues, with a view of its newest value.
    pub(crate) thread: Option<InputView>,
    /// In the order of a message: the references, then the primary inputs, each in order of declaration. Empty only beside a
    /// thread.
    pub(crate) inputs: Vec<InputView>,
    /// The inputs that end the system text. These are in no message.
    pub(crate) instructions: Vec<InputView>,
    /// The documents in tiers. These are in no turn, and so no input.
    pub(crate) tiered: Option<TieredDocuments>,
    /// The index of the input whose documents are compacted.
    pub(crate) compacted: Option<usize>,
    /// The view of the self history.
    pub(crate) self_view: Option<ViewSpec>,
    pub(crate) groups: Vec<Group>,
    /// The notes of the inputs as a model reads them, if there are any.
    pub(crate) notes: Option<Arc<str>>,
}

/// A tag around neighbouring inputs.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Tells groups of one tag apart.
    pub(super) id: usize,
    pub(crate) tag: Name,
    /// The inputs inside.
    pub(crate) inputs: Range<usize>,
}

/// A tiered view of a source of documents.
#[derive(Clone, Debug)]
pub(crate) struct TieredDocuments {
    pub(crate) column: usize,
    pub(crate) name: Name,
    pub(crate) tiering: Tiering,
}

/// A view of another column.
#[derive(Clone, Debug)]
pub(crate) struct InputView {
    /// The index among the inputs of messages, or among the instructions.
    pub(crate) at: usize,
    pub(crate) column: usize,
    pub(crate) name: Name,
    pub(crate) tag: Name,
    /// The groups around the view, the outermost first.
    pub(crate) groups: Vec<usize>,
    pub(crate) spec: ViewSpec,
}

impl Reads {
    pub(crate) fn new(column: Name) -> Self {
        Self {
            column,
            thread: None,
            inputs: Vec::new(),
            instructions: Vec::new(),
            tiered: None,
            compacted: None,
            self_view: None,
            groups: Vec::new(),
            notes: None,
        }
    }

    /// Adds an input that ends the system text.
    pub(crate) fn push_instruction(&mut self, column: usize, name: Name, spec: ViewSpec) {
        let at = self.instructions.len();
        let tag = name.tag();
        self.instructions.push(InputView::new(at, column, name, tag, spec));
    }

    /// Continues the conversation of a column. Its newest value is the last one of the conversation.
    pub(crate) fn continue_thread(&mut self, column: usize, name: Name, spec: ViewSpec) {
        let spec = spec.windowed(Some(Window::LATEST));
        let tag = name.tag();
        self.thread = Some(InputView::new(0, column, name, tag, spec));
    }

    /// The thread, the inputs of the messages, and the instructions in the system text.
    pub(crate) fn all_inputs(&self) -> impl Iterator<Item = &InputView> + Clone {
        self.answered().chain(&self.instructions)
    }

    /// The inputs whose new values a request answers: the thread, and the inputs of the messages.
    pub(crate) fn answered(&self) -> impl Iterator<Item = &InputView> + Clone {
        self.thread.iter().chain(&self.inputs)
    }

    /// The views that messages show: the inputs, and the self history after them.
    pub(crate) fn views(&self) -> impl Iterator<Item = &ViewSpec> + Clone {
        self.inputs.iter().map(|input| &input.spec).chain(&self.self_view)
    }

    /// The input whose documents are compacted, and how.
    pub(crate) fn compacted(&self) -> Option<(&InputView, Compaction)> {
        let input = self.inputs.get(self.compacted?)?;
        Some((input, input.spec.compaction?))
    }

    /// The view at an index: an input, or the self history after them.
    pub(crate) fn view(&self, at: usize) -> Option<&ViewSpec> {
        if at == self.inputs.len() { self.self_view.as_ref() } else { Some(&self.inputs.get(at)?.spec) }
    }

    /// The columns that it reads without lag. These are computed before.
    pub(crate) fn read_now(&self) -> impl Iterator<Item = usize> {
        let inputs = self.all_inputs().filter(|input| input.spec.lag == 0).map(|input| input.column);
        inputs.chain(self.tiered.as_ref().map(|documents| documents.column))
    }

    /// The window of a view that must be stored before a context is made: everything, if hidden values are counted, or
    /// if documents are in tiers, which depend on all earlier contexts. Otherwise the context would show the order of
    /// completion.
    pub(crate) fn awaited_window(&self, view: &ViewSpec) -> Window {
        if view.elided || self.tiered.is_some() { Window::All } else { view.window }
    }

    /// The steps of a view that must be stored before a context shows the steps `shown`.
    pub(crate) fn awaited(&self, view: &ViewSpec, shown: Range<usize>) -> Range<usize> {
        let start = if self.awaited_window(view) == Window::All { 0 } else { shown.start };
        start..shown.end
    }

    /// The cells that each view needs for a context of `step`, where the column that reads is number `column`. `skipped`
    /// returns the skipped steps of a column.
    pub(crate) fn needed(
        &self,
        column: usize,
        step: usize,
        skipped: impl Fn(usize) -> SkippedSteps,
    ) -> impl Iterator<Item = (usize, Range<usize>)> {
        let this = self.self_view.as_ref().map(|view| {
            let shown = view.self_cells(step, &skipped(column));
            (column, self.awaited(view, shown))
        });
        let inputs = self.all_inputs().map(move |input| {
            let shown = input.spec.cells(step, &skipped(input.column));
            (input.column, self.awaited(&input.spec, shown))
        });
        // All updates together make the documents of a step.
        let documents = self.tiered.as_ref().map(|documents| (documents.column, 0..step + 1));
        inputs.chain(this).chain(documents)
    }

    /// All tags of the contexts.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &Name> + Clone {
        self.inputs.iter().map(|input| &input.tag).chain(self.groups.iter().map(|group| &group.tag))
    }

    /// Whether a notice counts the values that a view hides.
    pub(crate) fn is_elided(&self, view: usize) -> bool {
        self.view(view).is_some_and(|view| view.elided)
    }

    /// The name of the column that a view shows.
    pub(crate) fn name_of(&self, view: usize) -> &Name {
        self.inputs.get(view).map_or(&self.column, |input| &input.name)
    }

    /// The tag or, for the self history, the name under which the values of a view are shown.
    pub(crate) fn shown_as(&self, view: usize) -> &str {
        self.inputs.get(view).map_or_else(|| last_part(&self.column), |input| &input.tag)
    }

    /// Joins the notes of the inputs.
    pub(crate) fn join_notes(&mut self) {
        let notes = self.inputs.iter().filter_map(|input| {
            let note = input.spec.note.as_ref()?;
            Some(format!("\n<{}>: {note}", input.tag))
        });
        let notes = notes.collect::<Vec<_>>().concat();
        self.notes = (!notes.is_empty()).then(|| format!("{INTRODUCTION}{notes}").into());
    }
}

/// Introduces the notes of the inputs.
pub(crate) const INTRODUCTION: &str = "What the tags in the messages hold:";

impl InputView {
    /// An input in no group.
    pub(crate) fn new(at: usize, column: usize, name: Name, tag: Name, spec: ViewSpec) -> Self {
        Self { at, column, name, tag, groups: Vec::new(), spec }
    }

    /// Whether the input ends the system text, and is in no message.
    pub(crate) fn is_instruction(&self) -> bool {
        self.spec.purpose == Purpose::Instruction
    }

    /// Whether the input is a log of documents. It is in no turn: no budget omits it, and it makes no request.
    pub(crate) fn is_log(&self) -> bool {
        self.spec.compaction.is_some()
    }

    /// The number of groups that it shares with another input, from the outermost on.
    pub(crate) fn shared_groups(&self, other: &Self) -> usize {
        self.groups.iter().zip(&other.groups).take_while(|(one, other)| one == other).count()
    }
}
