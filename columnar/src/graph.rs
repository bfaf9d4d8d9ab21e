//! What a flow written with `flow!` declares, as a constant of the program.

use alloc::borrow::ToOwned;
use alloc::vec::Vec;
use core::fmt;

use crate::name::is_name;
use crate::outline::Outline;
use crate::plan::Plan;
use crate::reads::Filter;
use crate::schema::{Draft, DraftView, Schema, SchemaError};
use crate::window::{Window, Written};

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
    /// The own columns in topological order, counted from the first of them.
    order: &'static [usize],
}

/// A column of a [`Graph`].
#[derive(Clone, Copy, Debug)]
pub struct Node {
    name: &'static str,
    reads: Option<&'static [Read]>,
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
    delayed: bool,
    tag: &'static str,
}

impl View {
    pub(crate) const fn new(column: usize, window: Window, tag: &'static str) -> Self {
        Self { column, window, delayed: false, tag }
    }

    /// The same values, each a step later.
    pub(crate) const fn delayed(self) -> Self {
        Self { delayed: true, ..self }
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

    /// Shows the column under another tag than its name, written `.as("tag")` inside `flow!`.
    ///
    /// # Panics
    ///
    /// When the tag is no [`Name`](crate::Name); inside `flow!` that is a compile error.
    #[must_use]
    pub const fn named(self, tag: &'static str) -> Self {
        assert!(is_name(tag), "a tag is made of lower case letters, digits and `_`, beginning with a letter");
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
    pub const fn __view(self) -> Read {
        Read::new(self)
    }
}

impl Graph {
    #[doc(hidden)]
    pub const fn __new(nodes: &'static [Node], order: &'static [usize]) -> Self {
        Self { base: None, nodes, order }
    }

    #[doc(hidden)]
    pub const fn __extending(base: &'static Self, nodes: &'static [Node], order: &'static [usize]) -> Self {
        Self { base: Some(base), nodes, order }
    }

    /// The number of columns.
    #[doc(hidden)]
    pub const fn __len(&self) -> usize {
        match self.base {
            Some(base) => base.__len() + self.nodes.len(),
            None => self.nodes.len(),
        }
    }

    /// The index of a column. For a name that no column has it is any, and the compiler refuses the
    /// mention of the column that stands beside this.
    #[doc(hidden)]
    pub const fn __find(&self, name: &str) -> usize {
        match self.find(name) {
            Some(column) => column,
            None => 0,
        }
    }

    /// The name of a column that extends this graph.
    ///
    /// # Panics
    ///
    /// With the message, when this graph has such a column already.
    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    pub const fn __new_name(&self, name: &'static str, message: &'static str) -> &'static str {
        assert!(self.find(name).is_none(), "{}", message);
        name
    }

    /// The names in topological order, and nothing in the places that are left.
    ///
    /// # Panics
    ///
    /// When there are more names than places.
    #[doc(hidden)]
    pub const fn __order<const PLACES: usize>(&self) -> [&'static str; PLACES] {
        let mut names = [""; PLACES];
        self.write_order(&mut names);
        names
    }

    /// The places that are taken, of those that [`__order`](Self::__order) has filled.
    #[doc(hidden)]
    pub const fn __taken(&self, names: &'static [&'static str]) -> &'static [&'static str] {
        names.split_at(self.__len()).0
    }

    const fn write_order<'n>(&self, names: &'n mut [&'static str]) -> &'n mut [&'static str] {
        let mut places = match self.base {
            Some(base) => base.write_order(names),
            None => names,
        };
        let mut order = self.order;
        while let [first, rest @ ..] = order {
            #[expect(clippy::panic, reason = "the compiler shows it as an error")]
            let [place, behind @ ..] = places else {
                panic!("the extension of a flow with parameters has too many columns for `ORDER`")
            };
            *place = node(self.nodes, *first).name;
            (order, places) = (rest, behind);
        }
        places
    }

    const fn find(&self, name: &str) -> Option<usize> {
        let before = match self.base {
            Some(base) => match base.find(name) {
                Some(column) => return Some(column),
                None => base.__len(),
            },
            None => 0,
        };
        let mut rest = self.nodes;
        while let [node, tail @ ..] = rest {
            if is_same(node.name, name) {
                return Some(before + self.nodes.len() - rest.len());
            }
            rest = tail;
        }
        None
    }

    /// The names of the columns in order of declaration.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &'static str> {
        self.all().into_iter().map(|node| node.name)
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

    fn all(&self) -> Vec<&'static Node> {
        let mut nodes = self.base.map_or_else(Vec::new, Self::all);
        nodes.extend(self.nodes);
        nodes
    }

    pub(crate) fn plan(&self) -> Result<Plan, SchemaError> {
        if let Some(base) = self.base {
            return self.extend(&base.plan()?);
        }
        let drafts =
            self.nodes.iter().enumerate().map(|(at, node)| node.draft(at, |column| column)).collect();
        Ok(Plan::new(Schema::new(drafts)?, self.order))
    }

    /// A plan with the own columns at the end. It must have the columns of what this graph extends, and
    /// may have others.
    pub(crate) fn extend(&self, plan: &Plan) -> Result<Plan, SchemaError> {
        let names: Vec<&str> = self.names().collect();
        let (mut schema, count) = (plan.schema().clone(), plan.schema().columns().len());
        let base = names.len() - self.nodes.len();
        let place = |column: usize| match names.get(..base).and_then(|names| names.get(column)) {
            Some(name) => match plan.schema().find(name) {
                Some(place) => place,
                None => unreachable!("what is extended has its own columns"),
            },
            None => count + column - base,
        };
        let own = self.nodes.iter().zip(base..);
        schema.extend(own.map(|(node, column)| node.draft(column, place)).collect())?;
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|&column| plan.rank(column));
        order.extend(self.order.iter().map(|own| count + own));
        Ok(Plan::new(schema, &order))
    }
}

#[expect(clippy::indexing_slicing, reason = "an index is a node of the graph it came from")]
const fn node(nodes: &'static [Node], at: usize) -> &'static Node {
    &nodes[at]
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

impl Node {
    #[doc(hidden)]
    pub const fn __source(name: &'static str) -> Self {
        Self { name, reads: None }
    }

    #[doc(hidden)]
    pub const fn __column(name: &'static str, reads: &'static [Read]) -> Self {
        Self { name, reads: Some(reads) }
    }

    /// The declaration of the node at `at`, with every column in its place.
    fn draft(&self, at: usize, place: impl Fn(usize) -> usize) -> Draft {
        let view = |Read { view, note, pick, groups }: &Read| DraftView {
            column: Ok(place(view.column)),
            window: Some(view.window),
            delayed: view.delayed,
            tag: (view.column != at).then(|| view.tag.to_owned()),
            note: note.map(ToOwned::to_owned),
            filter: pick.map(|pick| match pick {
                Pick::Text(shows) => Filter::new(move |_, text| shows(text)),
                Pick::Step(shows) => Filter::new(move |step, _| shows(step)),
            }),
            groups: groups.iter().map(|&tag| (0, tag.to_owned())).collect(),
        };
        Draft { name: self.name.to_owned(), views: self.reads.map(|reads| reads.iter().map(view).collect()) }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nodes = self.all();
        for (column, node) in nodes.iter().enumerate() {
            let Some(reads) = node.reads else {
                writeln!(f, "source {}", node.name)?;
                continue;
            };
            write!(f, "column {}(", node.name)?;
            let mut open: &[&str] = &[];
            for (at, Read { view, note, pick, groups }) in reads.iter().enumerate() {
                let shared = open.iter().zip(*groups).take_while(|(open, group)| open == group).count();
                f.write_str(&")".repeat(open.len() - shared))?;
                f.write_str(if at > 0 { ", " } else { "" })?;
                groups.iter().skip(shared).try_for_each(|tag| write!(f, "group({tag:?}, "))?;
                open = groups;
                let name = nodes.get(view.column).map_or("?", |node| node.name);
                let (is_own, shows) =
                    (view.column == column, Written { window: view.window, delayed: view.delayed });
                write!(f, "{}{shows}", if is_own { "self" } else { name })?;
                if !is_own && view.tag != name {
                    write!(f, ".as({:?})", view.tag)?;
                }
                f.write_str(match pick {
                    Some(Pick::Text(_)) => ".filter(…)",
                    Some(Pick::Step(_)) => ".sample(…)",
                    None => "",
                })?;
                note.map_or(Ok(()), |note| write!(f, ".note({note:?})"))?;
            }
            writeln!(f, "{})", ")".repeat(open.len()))?;
        }
        Ok(())
    }
}
