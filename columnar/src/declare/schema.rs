//! What a flow is made of, checked: every rule about names, tags and inputs is enforced here, for
//! typed flows and flows made at run time alike. Knows nothing of steps and values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::name::{Name, NameError};
use super::reads::Reads;
use super::view::ViewSpec;
use super::window::Window;

/// A column as it was declared, nothing checked yet.
pub(crate) struct Draft {
    pub(crate) name: String,
    /// What it was named before.
    pub(crate) was: Option<String>,
    /// The views of a derived column, each of a column by its index, or by a name that no column has. A view of the
    /// column itself is its self history.
    pub(crate) views: Option<Vec<(Result<usize, String>, ViewSpec)>>,
}

/// The columns of a flow, by index in order of declaration.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    columns: Vec<Declared>,
    index: BTreeMap<Name, usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: Name,
    /// What it was named before.
    pub(crate) was: Option<String>,
    /// `None` for a source.
    pub(crate) reads: Option<Arc<Reads>>,
}

impl Schema {
    /// Checks a declaration.
    pub(crate) fn new(drafts: Vec<Draft>) -> Result<Self, SchemaError> {
        let mut schema = Self { columns: Vec::new(), index: BTreeMap::new() };
        schema.extend(drafts)?;
        Ok(schema)
    }

    /// Checks further columns, whose views may name any column by its index, and adds them.
    /// On an error nothing is added.
    pub(crate) fn extend(&mut self, drafts: Vec<Draft>) -> Result<(), SchemaError> {
        let mut mistakes = Vec::new();
        let mut next = self.clone();
        for draft in &drafts {
            next.declare(draft, &mut mistakes);
        }
        next.check_modules(self.columns.len(), &mut mistakes);
        next.check_former(&mut mistakes);
        for (draft, column) in drafts.into_iter().zip(self.columns.len()..) {
            next.connect(column, draft, &mut mistakes);
        }
        if !mistakes.is_empty() {
            return Err(SchemaError { mistakes });
        }
        *self = next;
        Ok(())
    }

    fn declare(&mut self, draft: &Draft, mistakes: &mut Vec<Mistake>) {
        let column = self.columns.len();
        let name = match Name::new(&draft.name) {
            Ok(name) => {
                if self.index.insert(name.clone(), column).is_some() {
                    mistakes.push(Mistake::DuplicateName { name: name.clone() });
                }
                name
            }
            Err(error) => {
                mistakes.push(Mistake::BadName(error));
                Name::placeholder()
            }
        };
        self.columns.push(Declared { name, was: draft.was.clone(), reads: None });
    }

    /// No column has the name of a module. The columns from `first` on are new.
    fn check_modules(&self, first: usize, mistakes: &mut Vec<Mistake>) {
        for (at, Declared { name: of, .. }) in self.columns.iter().enumerate() {
            for column in of.modules().filter_map(|module| self.find(module)) {
                if at.max(column) >= first {
                    let (name, of) = (self.name(column).clone(), of.clone());
                    mistakes.push(Mistake::NameOfModule { name, of });
                }
            }
        }
    }

    /// What a column was, no column is, and no other one was.
    fn check_former(&self, mistakes: &mut Vec<Mistake>) {
        let mut taken: BTreeSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        for Declared { name, was, .. } in &self.columns {
            if let Some(was) = was.as_deref().filter(|was| *was != name.as_str())
                && !taken.insert(was)
            {
                mistakes.push(Mistake::FormerName { column: name.clone(), was: was.into() });
            }
        }
    }

    fn connect(&mut self, column: usize, draft: Draft, mistakes: &mut Vec<Mistake>) {
        let Some(views) = draft.views else { return };
        let name = self.name(column).clone();
        let mut reads = Reads::new(name.clone());
        let views_read_something = views.iter().any(|(read, _)| *read != Ok(column));
        for (read, spec) in views {
            let read = match read {
                Ok(read) => read,
                Err(read) => {
                    mistakes.push(Mistake::UnknownColumn { column: name.clone(), read });
                    continue;
                }
            };
            if spec.is_empty {
                let input = self.name(read).clone();
                mistakes.push(Mistake::EmptyWindow { column: name.clone(), input });
                continue;
            }
            if spec.elided && spec.window == Window::All {
                let input = self.name(read).clone();
                mistakes.push(Mistake::NothingElided { column: name.clone(), input });
            }
            if read == column {
                Self::connect_self(&mut reads, spec, mistakes);
            } else {
                self.connect_input(&mut reads, read, spec, mistakes);
            }
        }
        reads.orient();
        if !views_read_something {
            mistakes.push(Mistake::NoInput { column: name, own: reads.own.is_some() });
        }
        if let Some(declared) = self.columns.get_mut(column) {
            declared.reads = Some(Arc::new(reads));
        }
    }

    fn connect_self(reads: &mut Reads, spec: ViewSpec, mistakes: &mut Vec<Mistake>) {
        let column = || reads.column.clone();
        let is_plain =
            spec.tag.is_none() && spec.note.is_none() && spec.filter.is_none() && spec.groups.is_empty();
        if !is_plain {
            mistakes.push(Mistake::TaggedSelf { column: column() });
        }
        if reads.own.is_some() {
            mistakes.push(Mistake::SelfTwice { column: column() });
        }
        reads.own = Some(spec);
    }

    fn connect_input(&self, reads: &mut Reads, read: usize, spec: ViewSpec, mistakes: &mut Vec<Mistake>) {
        let (column, input) = (reads.column.clone(), self.name(read).clone());
        let tag = spec.tag.as_deref().map_or_else(|| Ok(input.tag()), Name::new_tag);
        let groups = spec.groups.iter().map(|(id, tag)| Ok((*id, Name::new_tag(tag)?))).collect();
        let (tag, groups): (Name, Vec<(usize, Name)>) = match (tag, groups) {
            (Ok(tag), Ok(groups)) => (tag, groups),
            (Err(error), _) | (_, Err(error)) => {
                mistakes.push(Mistake::BadTag { column, error });
                return;
            }
        };
        if let Err(tag) = reads.push((read, input), tag, &groups, spec) {
            mistakes.push(Mistake::DuplicateTag { column, tag });
        }
    }

    pub(crate) fn columns(&self) -> &[Declared] {
        &self.columns
    }

    /// The name of a column of this schema.
    pub(crate) fn name(&self, column: usize) -> &Name {
        match self.columns.get(column) {
            Some(declared) => &declared.name,
            None => unreachable!("column {column} of {}", self.columns.len()),
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// What a derived column of this schema reads; `None` for a source.
    pub(crate) fn reads(&self, column: usize) -> Option<&Arc<Reads>> {
        self.columns.get(column)?.reads.as_ref()
    }

    pub(crate) fn is_source(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|declared| declared.reads.is_none())
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(|&column| self.is_source(column))
    }
}

/// Everything that is wrong with the declaration of a flow, at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    mistakes: Vec<Mistake>,
}

impl SchemaError {
    pub(crate) fn one(mistake: Mistake) -> Self {
        Self { mistakes: vec![mistake] }
    }

    /// Each mistake, in order of declaration; never empty.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

impl std::error::Error for SchemaError {}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.mistakes.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{mistake}")?;
        }
        Ok(())
    }
}

/// One mistake in the declaration of a flow: what `flow!` reports when the program compiles, as a
/// value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mistake {
    /// A name that cannot be one.
    #[error(transparent)]
    BadName(NameError),
    /// Columns that wait for each other.
    #[error("these columns wait for each other, so none of them can run first: {}", Path(columns))]
    Cycle {
        /// The names of the columns; each reads the one before it, and the first one the last.
        columns: Vec<String>,
    },
    /// A tag that cannot be one.
    #[error("a tag that `{column}` gives is no name: {error}")]
    BadTag {
        /// The column that gives the tag.
        column: Name,
        /// What is wrong with it.
        error: NameError,
    },
    /// Two columns of one name.
    #[error("`{name}` is declared twice: give one of the two another name")]
    DuplicateName {
        /// The name.
        name: Name,
    },
    /// Two views that one column would see under one tag.
    #[error("two views reach `{column}` as `{tag}`: name one with `.named(\"...\")`")]
    DuplicateTag {
        /// The column that reads both.
        column: Name,
        /// The tag they share.
        tag: Name,
    },
    /// `window(0)`.
    #[error(
        "`{column}` reads `{input}` through a window of 0, which shows nothing: drop the view or widen it"
    )]
    EmptyWindow {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// A former name that is or was another column's.
    #[error(
        "`{column}` says that it was `{was}`, which is another column's name or former name: what is stored under it can be one column's only"
    )]
    FormerName {
        /// The column.
        column: Name,
        /// What it says that it was.
        was: String,
    },
    /// A source that came too late.
    #[error("the source `{name}` cannot join a flow that has steps already: they have no value for it")]
    LateSource {
        /// The source.
        name: String,
    },
    /// A column with the name of a module.
    #[error("`{name}` is a column, so it cannot be the module of `{of}`: give one of the two another name")]
    NameOfModule {
        /// The column.
        name: Name,
        /// A column of the module.
        of: Name,
    },
    /// A column that nothing new can reach.
    #[error(
        "`{column}` reads {what}, so nothing new can reach it: add what it follows, as in `user.latest()`",
        what = if *own { "only itself" } else { "nothing" }
    )]
    NoInput {
        /// The column.
        column: Name,
        /// Whether it reads its own past.
        own: bool,
    },
    /// A view that hides nothing and is to tell how much it hides.
    #[error(
        "`{column}` reads all of `{input}`, so there is nothing that it could say is elided: drop that, or show \
         less, as in `.window(3).elided()`"
    )]
    NothingElided {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// A flow into which nothing comes.
    #[error("nothing enters this flow: a flow needs a `source`, and a column that reads it")]
    NoSource,
    /// More than one view of the own past.
    #[error("`{column}` reads its own past twice: one `self` is enough")]
    SelfTwice {
        /// The column.
        column: Name,
    },
    /// A view of a column that the flow does not have.
    #[error("`{column}` reads `{read}`, and there is no such column in this flow: add it")]
    UnknownColumn {
        /// The column that reads.
        column: Name,
        /// The name that no column has.
        read: String,
    },
    /// A tag on the own past.
    #[error(
        "`{column}` tags its own past, which is shown as the assistant's words and has no tag: drop the tag"
    )]
    TaggedSelf {
        /// The column.
        column: Name,
    },
}

/// Columns as an error names them: `` `a`, which `b` reads, which `a` reads ``.
struct Path<'c>(&'c [String]);

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.0.first() else { return Ok(()) };
        write!(f, "`{first}`")?;
        self.0.iter().skip(1).chain([first]).try_for_each(|next| write!(f, ", which `{next}` reads"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str) -> Draft {
        Draft { name: name.into(), was: None, views: None }
    }

    type View = (Result<usize, String>, ViewSpec);

    fn derived(name: &str, views: Vec<View>) -> Draft {
        Draft { name: name.into(), was: None, views: Some(views) }
    }

    fn view(column: usize) -> View {
        (Ok(column), ViewSpec::all())
    }

    fn tagged(column: usize, tag: &str) -> View {
        (Ok(column), ViewSpec { tag: Some(tag.into()), ..ViewSpec::all() })
    }

    fn mistakes(drafts: Vec<Draft>) -> Vec<String> {
        let error = Schema::new(drafts).expect_err("the declaration is wrong");
        error.mistakes().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let told = mistakes(vec![
            source("user"),
            source("user"),
            derived("Bad", vec![view(0)]),
            derived("alone", vec![view(3)]),
            source("user"),
            derived("empty", vec![]),
            derived("shut", vec![(Ok(0), ViewSpec::all().windowed(None))]),
            derived("twins", vec![view(0), view(0)]),
            derived("odd", vec![tagged(0, "a b")]),
            derived("selves", vec![view(0), view(9), view(9)]),
            derived("tagged", vec![view(0), tagged(10, "me")]),
            derived("told", vec![(Ok(0), ViewSpec { elided: true, ..ViewSpec::all() })]),
        ]);
        assert_eq!(told.len(), 11, "{told:#?}");
    }

    #[test]
    fn a_former_name_is_one_columns_only() {
        let was = |name: &str, was: &str| Draft { was: Some(was.into()), ..source(name) };
        let told =
            mistakes(vec![was("a", "b"), source("b"), was("c", "gone"), was("d", "gone"), was("e", "e")]);
        assert_eq!(told.len(), 2, "{told:#?}");
        assert!(
            told[0].starts_with("`a` says that it was `b`") && told[1].starts_with("`d` says"),
            "{told:#?}"
        );
    }

    #[test]
    fn a_refused_extension_changes_nothing() {
        let mut schema = Schema::new(vec![source("user")]).expect("sound");
        schema.extend(vec![derived("user", vec![view(0)])]).expect_err("the name is taken");
        assert_eq!(schema.columns().len(), 1);
        assert_eq!(schema.find("user"), Some(0));
    }
}
