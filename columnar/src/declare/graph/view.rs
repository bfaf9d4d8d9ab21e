//! A view as a constant of the program.

use crate::declare::{Filter, ViewSpec, Window, is_tag};

/// A view that the declaration knows: the column, how many of its last values, where 0 is all, whether each is shown a
/// step later, and the tag.
pub type Known = (usize, usize, bool, &'static str);

/// A view in the list of a column, with what is said of it besides.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    pub(super) view: View,
    pub(super) note: Option<&'static str>,
    pub(super) pick: Option<Pick>,
    /// The tags of the groups around it, the outermost first.
    pub(super) groups: &'static [&'static str],
}

/// Which values a view shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pick {
    Text(fn(&str) -> bool),
    Step(fn(usize) -> bool),
}

impl Read {
    /// The view as the schema checks it, in the column number `at` of the graph.
    pub(super) fn spec(&self, at: usize) -> ViewSpec {
        let Self { view, note, pick, groups } = self;
        ViewSpec {
            window: view.window,
            is_empty: false,
            lag: view.lag,
            tag: (view.column != at).then(|| view.tag.to_owned()),
            groups: groups.iter().map(|&tag| (0, tag.to_owned())).collect(),
            note: note.map(ToOwned::to_owned),
            filter: pick.map(|pick| match pick {
                Pick::Text(shows) => Filter::new(move |_, text| shows(text)),
                Pick::Step(shows) => Filter::new(move |step, _| shows(step)),
            }),
            elided: view.elided,
        }
    }

    pub(super) const fn new(view: View) -> Self {
        Self { view, note: None, pick: None, groups: &[] }
    }

    /// Tells the model what the view holds; see [`View::note`].
    #[must_use]
    pub const fn note(self, note: &'static str) -> Self {
        Self { note: Some(note), ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __view(self) -> Self {
        self
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __in(self, groups: &'static [&'static str]) -> Self {
        Self { groups, ..self }
    }
}

/// A column as another one sees it: which column, how much of its history, under which tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    pub(super) column: usize,
    pub(super) window: Window,
    pub(super) lag: usize,
    pub(super) elided: bool,
    pub(super) tag: &'static str,
}

impl View {
    pub(crate) const fn new(column: usize, window: Window, tag: &'static str) -> Self {
        Self { column, window, lag: 0, elided: false, tag }
    }

    /// The same values, each a step later.
    pub(crate) const fn lagged(self) -> Self {
        Self { lag: 1, ..self }
    }

    pub(crate) const fn column(&self) -> usize {
        self.column
    }

    pub(crate) const fn tag(&self) -> &'static str {
        self.tag
    }

    /// The last `count` values before the current step, behind `prev`.
    ///
    /// # Panics
    ///
    /// When `count` is 0; inside `flow!` that is a compile error.
    #[must_use]
    #[track_caller]
    pub const fn window(self, count: usize) -> Self {
        match Window::last(count) {
            Some(window) => Self { window, ..self },
            #[expect(clippy::panic, reason = "the compiler shows it at the window, as an error")]
            None => panic!("a window of 0 shows nothing"),
        }
    }

    /// All values before the current step, behind `prev`.
    #[must_use]
    pub const fn all(self) -> Self {
        Self { window: Window::All, ..self }
    }

    /// Tells the model how many earlier values the window hides: `<elided>4 values of topics</elided>`, directly
    /// before the first value that is shown, if there are any.
    #[must_use]
    pub const fn elided(self) -> Self {
        Self { elided: true, ..self }
    }

    /// Shows the column under another tag than its name, written `.as("tag")` inside `flow!`.
    ///
    /// # Panics
    ///
    /// When the tag is no [`Name`]; inside `flow!` that is a compile error.
    #[must_use]
    pub const fn named(self, tag: &'static str) -> Self {
        assert!(is_tag(tag), "a tag is made of lower case letters, digits and `_`, beginning with a letter");
        Self { tag, ..self }
    }

    /// Shows the column under another tag than its name.
    #[must_use]
    pub const fn r#as(self, tag: &'static str) -> Self {
        self.named(tag)
    }

    /// Tells the model what the view holds: what is noted of all inputs stands at the end of the instruction
    /// of a [`prompt`](crate::prompt), once and for all steps.
    #[must_use]
    pub const fn note(self, note: &'static str) -> Read {
        Read::new(self).note(note)
    }

    /// Shows the values alone of which `shows` says so: the others are shown nowhere, as if they were
    /// [skipped](crate::compute::Policy::or_skip), and a column to which nothing new gets through is skipped.
    /// Windows count all values. `shows` is to say the same of a text whenever it is asked.
    #[must_use]
    pub const fn filter(self, shows: fn(&str) -> bool) -> Read {
        Read { pick: Some(Pick::Text(shows)), ..Read::new(self) }
    }

    /// Shows the values of those steps alone of which `shows` says so; otherwise as [`filter`](Self::filter).
    #[must_use]
    pub const fn sample(self, shows: fn(usize) -> bool) -> Read {
        Read { pick: Some(Pick::Step(shows)), ..Read::new(self) }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __literal((column, count, is_lagged, tag): Known) -> Self {
        let window = match Window::last(count) {
            Some(window) => window,
            None => Window::All,
        };
        Self { column, window, lag: if is_lagged { 1 } else { 0 }, elided: false, tag }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __view(self) -> Read {
        Read::new(self)
    }
}
