//! What a derived column reads, checked: its inputs, the groups around them, and how much of its own past.

use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

use crate::declare::{Name, Window, last_part};

/// What a derived column reads.
#[derive(Clone, Debug)]
pub(crate) struct Reads {
    /// The column that reads.
    pub(crate) column: Name,
    /// In order of declaration, which is their order in a message; never empty.
    pub(crate) inputs: Vec<Input>,
    pub(crate) own: Option<Window>,
    /// Whether the model is told how much of the own past is hidden.
    pub(crate) own_elided: bool,
    /// Whether the model is told that of any view.
    pub(crate) elides: bool,
    pub(crate) groups: Vec<Group>,
    /// What the model is told of the inputs, if anything is.
    pub(crate) orientation: Option<Arc<str>>,
}

/// A tag around neighbouring inputs.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Tells it apart from a neighbour with the same tag.
    id: usize,
    pub(crate) tag: Name,
    /// Which inputs stand inside.
    pub(crate) inputs: Range<usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Which one it is.
    pub(crate) at: usize,
    pub(crate) column: usize,
    pub(crate) name: Name,
    pub(crate) window: Window,
    /// Whether each value is shown a step later, so that nothing waits for it within a step.
    pub(crate) delayed: bool,
    pub(crate) tag: Name,
    /// Whether the model is told how many values the window hides.
    pub(crate) elided: bool,
    note: Option<String>,
    /// Which of its values it shows, if not all.
    pub(crate) filter: Option<Filter>,
    /// The groups that it stands in, the outermost first.
    pub(crate) groups: Vec<usize>,
}

/// Which values of a column a view shows, by step and text.
#[derive(Clone)]
pub(crate) struct Filter(Arc<Shows>);

type Shows = dyn Fn(usize, &str) -> bool + Send + Sync;

impl Filter {
    pub(crate) fn new(shows: impl Fn(usize, &str) -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(shows))
    }

    pub(crate) fn shows(&self, step: usize, text: &str) -> bool {
        (self.0)(step, text)
    }
}

impl fmt::Debug for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Filter")
    }
}

impl Reads {
    pub(crate) fn new(column: Name) -> Self {
        let (inputs, groups) = (Vec::new(), Vec::new());
        Self { column, inputs, own: None, own_elided: false, elides: false, groups, orientation: None }
    }

    /// Adds an input with the groups around it, the outermost first. A group that the input before
    /// stands in goes on. Gives back a tag that is taken already.
    pub(crate) fn push(&mut self, mut input: Input, groups: &[(usize, Name)]) -> Result<(), Name> {
        input.at = self.inputs.len();
        let mut before = self.inputs.last().map_or_else(Vec::new, |last| last.groups.clone());
        for (depth, (id, tag)) in groups.iter().enumerate() {
            let open = before.get(depth).and_then(|&group| Some((group, self.groups.get_mut(group)?)));
            if let Some((at, group)) = open
                && (group.id, &group.tag) == (*id, tag)
            {
                group.inputs.end = input.at + 1;
                input.groups.push(at);
                continue;
            }
            before.truncate(depth);
            if self.tags().any(|taken| taken == tag) {
                return Err(tag.clone());
            }
            input.groups.push(self.groups.len());
            self.groups.push(Group { id: *id, tag: tag.clone(), inputs: input.at..input.at + 1 });
        }
        if self.tags().any(|taken| *taken == input.tag) {
            return Err(input.tag);
        }
        self.elides |= input.elided;
        self.inputs.push(input);
        Ok(())
    }

    /// All tags of the contexts.
    pub(crate) fn tags(&self) -> impl Iterator<Item = &Name> + Clone {
        self.inputs.iter().map(|input| &input.tag).chain(self.groups.iter().map(|group| &group.tag))
    }

    /// Whether the model is told how many values a view hides: an input by its place, or the own past, which has
    /// the place behind them.
    pub(crate) fn is_elided(&self, at: usize) -> bool {
        self.inputs.get(at).map_or(self.own_elided, |input| input.elided)
    }

    /// The tag or, for the self history, the name under which the values of a view are shown.
    pub(crate) fn shown_as(&self, at: usize) -> &str {
        self.inputs.get(at).map_or_else(|| last_part(&self.column), |input| &input.tag)
    }

    /// Puts together what is noted of the inputs.
    pub(crate) fn orient(&mut self) {
        let notes = self.inputs.iter().filter_map(|input| Some((&input.tag, input.note.as_ref()?)));
        let mut text = String::new();
        for (tag, note) in notes {
            let intro = if text.is_empty() { INTRODUCTION } else { "" };
            let written = write!(text, "{intro}\n<{tag}>: {note}");
            debug_assert!(written.is_ok(), "a string takes everything");
        }
        self.orientation = (!text.is_empty()).then(|| text.into());
    }

    /// What a model is told besides the context: the instruction of its column, and what is noted of the inputs.
    pub(crate) fn instruct(&self, instruction: &str) -> String {
        let orientation = self.orientation.as_deref().unwrap_or_default();
        let gap = if instruction.is_empty() || orientation.is_empty() { "" } else { "\n\n" };
        [instruction, gap, orientation].concat()
    }
}

/// Stands before what is noted of the inputs.
const INTRODUCTION: &str = "What the tags in the messages hold:";

impl Input {
    pub(crate) fn new(column: usize, name: Name, window: Window, delayed: bool, tag: Name) -> Self {
        let groups = Vec::new();
        let (elided, note, filter) = (false, None, None);
        Self { at: 0, column, name, window, delayed, tag, elided, note, filter, groups }
    }

    pub(crate) fn with(self, note: Option<String>, filter: Option<Filter>, elided: bool) -> Self {
        Self { elided, note, filter, ..self }
    }

    /// By how many steps its values are shown later.
    pub(crate) fn delay(&self) -> usize {
        usize::from(self.delayed)
    }

    /// The steps whose turns show it, in a context of `step`.
    pub(crate) fn turns(&self, step: usize) -> Range<usize> {
        let Range { start, end } = self.window.of_input(step);
        let start = start.max(self.delay());
        start..end.max(start)
    }

    /// The steps of the column that a context of `step` shows.
    pub(crate) fn cells(&self, step: usize) -> Range<usize> {
        let Range { start, end } = self.turns(step);
        start - self.delay()..end - self.delay()
    }

    /// How much of the column is stored before it is shown: all that is hidden is counted.
    pub(crate) fn awaits(&self) -> Window {
        if self.elided { Window::All } else { self.window }
    }

    /// The steps of the column that are stored before a context of `step` is made.
    pub(crate) fn awaited(&self, step: usize) -> Range<usize> {
        let shown = self.cells(step);
        if self.elided { 0..shown.end } else { shown }
    }

    /// How many groups it has in common with another one, from the outermost on.
    pub(crate) fn shared_groups(&self, other: &Self) -> usize {
        self.groups.iter().zip(&other.groups).take_while(|(own, other)| own == other).count()
    }
}
