//! What a flow written with `flow!` declares, as a constant of the program.

mod flat;
mod module;
mod order;
mod text;

use std::fmt;

use crate::declare::{Filter, Name, Outline, Suffix, ViewSpec, Window, is_tag, last_part};

use flat::{Flat, What};

pub use module::{Place, Used};

/// The columns of a flow and what each of them reads, as a constant of the flow's type.
///
/// It prints as the declarations that made it.
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column topics(user.latest) = prompt("List the topics.");
///         column summary(user, topics.window(2).as("subjects"), self.latest) = prompt("Summarise.");
///     }
/// }
///
/// let text = "source user\n\
///             column topics(user.latest)\n\
///             column summary(user, topics.window(2).as(\"subjects\"), self.latest)\n";
/// assert_eq!(Chat::GRAPH.to_string(), text);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Graph {
    /// What this graph extends; its columns come first.
    base: Option<&'static Graph>,
    /// The own columns.
    nodes: &'static [Node],
    /// What the declaration says in so many words of what they read, column by column.
    known: &'static [Known],
    /// What the compiler had to look at, for each column that reads any of that.
    listed: &'static [&'static [Read]],
    /// The flows that this one uses.
    modules: &'static [Used],
    /// What own columns were named before.
    formers: &'static [Former],
    /// The own columns in topological order, counted from the first of them. Where there are modules, it
    /// has to be found.
    order: &'static [usize],
}

/// A column of a [`Graph`]: its name, and where in the list of known views and in that of the others those begin that
/// it has. They end where the next column's begin; a source has none.
///
/// This and [`Known`] are tuples because flows are full of them, and no call costs the compiler as little.
pub type Node = (&'static str, usize, usize);

/// A view that the declaration knows: the column, how many of its last values, where 0 is all, whether each is shown a
/// step later, and the tag.
pub type Known = (usize, usize, bool, &'static str);

/// What a column of a [`Graph`] was named before.
#[derive(Clone, Copy, Debug)]
pub struct Former {
    column: usize,
    name: &'static str,
}

impl Former {
    /// Says what the column was named before, for flows that keep their values in a store: what is stored under
    /// that name is this column's.
    pub const fn was(column: usize, name: &'static str) -> Self {
        Self { column, name }
    }
}

/// What a column reads, in one of two ways.
#[derive(Clone, Copy)]
enum Reads {
    Known(&'static [Known]),
    Listed(&'static [Read]),
}

impl Reads {
    /// View number `at`.
    const fn view(self, at: usize) -> Option<View> {
        match self {
            Self::Known(known) => match nth(known, at) {
                Some(known) => Some(View::__known(*known)),
                None => None,
            },
            Self::Listed(reads) => match nth(reads, at) {
                Some(read) => Some(read.view),
                None => None,
            },
        }
    }

    fn to_vec(self) -> Vec<Read> {
        match self {
            Self::Known(known) => known.iter().map(|&known| Read::new(View::__known(known))).collect(),
            Self::Listed(reads) => reads.to_vec(),
        }
    }
}

/// A view in the list of a column, with what is said of it besides.
#[derive(Clone, Copy, Debug)]
pub struct Read {
    view: View,
    note: Option<&'static str>,
    pick: Option<Pick>,
    /// The tags of the groups around it, the outermost first.
    groups: &'static [&'static str],
}

/// Which values a view shows.
#[derive(Clone, Copy, Debug)]
enum Pick {
    Text(fn(&str) -> bool),
    Step(fn(usize) -> bool),
}

impl Read {
    /// The view as the schema checks it, in the column number `at` of the graph.
    fn spec(&self, at: usize) -> ViewSpec {
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

    const fn new(view: View) -> Self {
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
    column: usize,
    window: Window,
    lag: usize,
    elided: bool,
    tag: &'static str,
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
    pub const fn __known((column, count, is_lagged, tag): Known) -> Self {
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

impl Graph {
    #[doc(hidden)]
    pub const fn __new(
        nodes: &'static [Node],
        known: &'static [Known],
        listed: &'static [&'static [Read]],
        order: &'static [usize],
    ) -> Self {
        Self { base: None, nodes, known, listed, modules: &[], formers: &[], order }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __extending(self, base: &'static Self) -> Self {
        Self { base: Some(base), ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __using(self, modules: &'static [Used]) -> Self {
        Self { modules, ..self }
    }

    #[doc(hidden)]
    #[must_use]
    pub const fn __formers(self, formers: &'static [Former]) -> Self {
        Self { formers, ..self }
    }

    /// The name of a column or a module that extends this graph.
    ///
    /// # Panics
    ///
    /// With the message, when this graph has such a column or module already.
    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    pub const fn __new_name(&self, name: &'static str, message: &'static str) -> &'static str {
        assert!(!self.has(name), "{}", message);
        name
    }

    /// What an own column reads; `None` for a source.
    const fn reads(&self, own: usize) -> Option<Reads> {
        let Some((_, known, listed)) = nth(self.nodes, own) else { return None };
        if let Some(reads) = nth(self.listed, *listed)
            && self.ends(own).1 > *listed
        {
            return Some(Reads::Listed(reads));
        }
        let end = self.ends(own).0;
        if end > *known { Some(Reads::Known(self.known.split_at(end).0.split_at(*known).1)) } else { None }
    }

    /// Where the views of an own column end.
    const fn ends(&self, own: usize) -> (usize, usize) {
        match nth(self.nodes, own + 1) {
            Some((_, known, listed)) => (*known, *listed),
            None => (self.known.len(), self.listed.len()),
        }
    }

    /// What is given for each own column that is computed, one after the other, at the places of the columns.
    pub(crate) fn placed<T>(&self, given: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
        let mut given = given.into_iter();
        (0..self.nodes.len()).map(|own| self.reads(own).and_then(|_| given.next())).collect()
    }

    /// The own columns that are computed, each with its place.
    pub(crate) fn derived(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let nodes = self.nodes.iter().enumerate().filter(|(own, _)| self.reads(*own).is_some());
        nodes.map(|(own, (name, ..))| (self.first() + own, *name))
    }

    /// The names of the columns in order of declaration, those of modules behind those of the flow itself.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn names(&self) -> impl ExactSizeIterator<Item = Name> {
        let mut places = flat::flat(self);
        places.retain(|place| !matches!(place.what, What::Input(_)));
        places.into_iter().map(|place| match Name::new(&place.name) {
            Ok(name) => name,
            Err(error) => unreachable!("`flow!` accepts only names: {error}"),
        })
    }

    /// What the declaration says of the columns, with a drawing for Mermaid.
    ///
    /// # Panics
    ///
    /// Never for a graph that `flow!` has made.
    pub fn outline(&self) -> Outline {
        match self.plan() {
            Ok(plan) => Outline::of(&plan),
            Err(error) => unreachable!("`flow!` accepts only what the schema accepts: {error}"),
        }
    }
}

/// The element at an index, as the compiler can evaluate it.
#[expect(clippy::indexing_slicing, reason = "the index is checked")]
const fn nth<T>(slice: &'static [T], at: usize) -> Option<&'static T> {
    if at < slice.len() { Some(&slice[at]) } else { None }
}

/// `==`, as the compiler can evaluate it.
const fn is_same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    while let ([first, rest @ ..], [other_first, other_rest @ ..]) = (one, other) {
        if *first != *other_first {
            return false;
        }
        (one, other) = (rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = flat::flat(self);
        for (at, Flat { name, was, what }) in places.iter().enumerate() {
            match what {
                What::Source => write!(f, "source {name}")?,
                What::Column(reads) => write_column(f, &places, at, reads)?,
                What::Input(_) => continue,
            }
            was.as_ref().map_or(Ok(()), |was| write!(f, " was {was:?}"))?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}

fn write_column(f: &mut fmt::Formatter<'_>, places: &[Flat], column: usize, reads: &[Read]) -> fmt::Result {
    let name_of = |at: usize| places.get(flat::bound(places, at)).map_or("?", |place| &*place.name);
    write!(f, "column {}(", name_of(column))?;
    let mut open: &[&str] = &[];
    for (at, Read { view, note, pick, groups }) in reads.iter().enumerate() {
        let shared = open.iter().zip(*groups).take_while(|(open, group)| open == group).count();
        f.write_str(&")".repeat(open.len() - shared))?;
        f.write_str(if at > 0 { ", " } else { "" })?;
        groups.iter().skip(shared).try_for_each(|tag| write!(f, "group({tag:?}, "))?;
        open = groups;
        let name = name_of(view.column);
        let (is_own, suffix) = (view.column == column, Suffix { window: view.window, lag: view.lag });
        write!(f, "{}{suffix}", if is_own { "self" } else { name })?;
        if !is_own && view.tag != last_part(name) {
            write!(f, ".as({:?})", view.tag)?;
        }
        f.write_str(match pick {
            Some(Pick::Text(_)) => ".filter(…)",
            Some(Pick::Step(_)) => ".sample(…)",
            None => "",
        })?;
        f.write_str(if view.elided { ".elided()" } else { "" })?;
        note.map_or(Ok(()), |note| write!(f, ".note({note:?})"))?;
    }
    write!(f, "{})", ")".repeat(open.len()))
}
