//! A flow as a part of another one.
//!
//! A flow has places: those of the flow that it extends, its own columns, then module by module the places of the
//! flows that it uses. The sources of a module have theirs, too, where the columns are that they are bound to.

use super::constant::{Graph, ModuleColumns, Used};
use super::text::{Text, is_same};
use super::view::{Known, Read, View};

/// No place. What is looked for and not there is refused by the compiler, at the mention that stands beside this.
const NOWHERE: usize = usize::MAX;

/// What a column reads, in one of two ways.
#[derive(Clone, Copy)]
pub(super) enum Reads {
    Known(&'static [Known]),
    Listed(&'static [Read]),
}

impl Reads {
    /// View number `at`.
    const fn view(self, at: usize) -> Option<View> {
        match self {
            Self::Known(known) => match nth(known, at) {
                Some(known) => Some(View::__literal(*known)),
                None => None,
            },
            Self::Listed(reads) => match nth(reads, at) {
                Some(read) => Some(read.view),
                None => None,
            },
        }
    }

    pub(super) fn to_vec(self) -> Vec<Read> {
        match self {
            Self::Known(known) => known.iter().map(|&known| Read::new(View::__literal(known))).collect(),
            Self::Listed(reads) => reads.to_vec(),
        }
    }
}

impl ModuleColumns {
    /// The place of a column, by the name that it has in the module.
    ///
    /// # Panics
    ///
    /// With a message for whoever views it, when that is a module in the module.
    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    pub const fn __column(&self, name: &str) -> usize {
        match self.graph.__find(name) {
            NOWHERE if self.graph.has(name) => {
                let mut text = Text::<1024>::new();
                text.put("`").put(name).put("` is a module, and a view shows a column\n\n");
                text.put("help: name one of its columns, as in `").put(name).put(".verdict`");
                text.panic()
            }
            NOWHERE => NOWHERE,
            column => self.first + column,
        }
    }

    /// The name of a source of the module.
    ///
    /// # Panics
    ///
    /// With a message for whoever uses the module, when the module computes that column.
    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    pub const fn __source(&self, name: &'static str) -> &'static str {
        if self.graph.has(name) && self.graph.source(self.graph.__find(name)).is_none() {
            let mut text = Text::<1024>::new();
            text.put("the module computes `").put(name).put("`, so it is no input\n\nhelp: drop this");
            text.panic();
        }
        name
    }
}

impl Used {
    /// # Panics
    ///
    /// With a message for whoever uses the module, when a source is bound to nothing.
    #[doc(hidden)]
    #[track_caller]
    #[must_use]
    pub const fn __complete(self) -> Self {
        let mut column = 0;
        while column < self.place.graph.__len() {
            if let Some(source) = self.place.graph.source(column)
                && self.input(source) == NOWHERE
            {
                let mut text = Text::<1024>::new();
                text.put("`").put(self.name).put("` has an input `").put(source);
                text.put("` that is bound to no column\n\nhelp: bind it in the braces, as in `");
                text.put(source).put(": user`");
                text.panic();
            }
            column += 1;
        }
        self
    }

    /// Where the column is that a source is bound to.
    pub(super) const fn input(&self, source: &str) -> usize {
        let mut rest = self.inputs;
        while let [(name, column), tail @ ..] = rest {
            if is_same(name, source) {
                return *column;
            }
            rest = tail;
        }
        NOWHERE
    }

    /// What is read by view number `at` of what stands at the place `inner` of the module. Its sources read what
    /// they are bound to.
    pub(super) const fn read(&self, inner: usize, at: usize) -> Option<usize> {
        match self.place.graph.source(inner) {
            Some(source) if at == 0 => Some(self.input(source)),
            Some(_) => None,
            None => match self.place.graph.read(inner, at) {
                Some(NOWHERE) => Some(NOWHERE),
                Some(read) => Some(self.place.first + read),
                None => None,
            },
        }
    }
}

impl Graph {
    /// Where a column stands.
    #[doc(hidden)]
    #[must_use]
    pub const fn __find(&self, name: &str) -> usize {
        let first = match self.base {
            Some(base) => match base.__find(name) {
                NOWHERE => base.__len(),
                column => return column,
            },
            None => 0,
        };
        let mut rest = self.nodes;
        while let [node, tail @ ..] = rest {
            if is_same(node.0, name) {
                return first + self.nodes.len() - rest.len();
            }
            rest = tail;
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if let Some(inner) = inside(module.name, name) {
                let column = module.place.graph.__find(inner);
                return if column == NOWHERE { NOWHERE } else { module.place.first + column };
            }
            rest = tail;
        }
        NOWHERE
    }

    /// Whether this has a column or a module of that name, itself or by what it extends.
    pub(super) const fn has(&self, name: &str) -> bool {
        if self.__find(name) != NOWHERE {
            return true;
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if is_same(module.name, name) {
                return true;
            }
            if let Some(inner) = inside(module.name, name) {
                return module.place.graph.has(inner);
            }
            rest = tail;
        }
        match self.base {
            Some(base) => base.has(name),
            None => false,
        }
    }

    /// What stands at a place that is this graph's own.
    pub(super) const fn at(&self, column: usize) -> At {
        let first = self.first();
        if column < first {
            return At::Base;
        }
        if let Some((name, ..)) = nth(self.nodes, column - first) {
            return At::Node(name, self.reads(column - first));
        }
        let mut rest = self.modules;
        while let [module, tail @ ..] = rest {
            if column < module.place.__end() {
                return At::Used(module, column - module.place.first);
            }
            rest = tail;
        }
        At::Nowhere
    }

    /// The name of the source at a place; `None` for another column, and for those of modules.
    pub(super) const fn source(&self, column: usize) -> Option<&'static str> {
        match (self.at(column), self.base) {
            (At::Node(name, None), _) => Some(name),
            (At::Base, Some(base)) => base.source(column),
            _ => None,
        }
    }

    /// The column that has to be there for view number `at` of a column, if any has; `None` behind the last view.
    pub(super) const fn read(&self, column: usize, at: usize) -> Option<usize> {
        match (self.at(column), self.base) {
            (At::Node(_, Some(reads)), _) => match reads.view(at) {
                Some(view) if view.lag > 0 => Some(NOWHERE),
                Some(view) => Some(view.column),
                None => None,
            },
            (At::Used(module, inner), _) => module.read(inner, at),
            (At::Base, Some(base)) => base.read(column, at),
            _ => None,
        }
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
    pub(super) const fn reads(&self, own: usize) -> Option<Reads> {
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
}

/// What stands at a place.
pub(super) enum At {
    /// Something of the graph that is extended.
    Base,
    /// An own column, by its name, and what it reads.
    Node(&'static str, Option<Reads>),
    /// What stands at a place of a module.
    Used(&'static Used, usize),
    Nowhere,
}

/// The name inside the module: `critic` of `debate.critic`.
const fn inside<'n>(module: &str, name: &'n str) -> Option<&'n str> {
    match name.split_at_checked(module.len()) {
        Some((first, rest)) if is_same(first, module) => match rest.split_at_checked(1) {
            Some((dot, inner)) if is_same(dot, ".") => Some(inner),
            _ => None,
        },
        _ => None,
    }
}

/// The element at an index, as the compiler can evaluate it.
#[expect(clippy::indexing_slicing, reason = "the index is checked")]
pub(super) const fn nth<T>(slice: &'static [T], at: usize) -> Option<&'static T> {
    if at < slice.len() { Some(&slice[at]) } else { None }
}
