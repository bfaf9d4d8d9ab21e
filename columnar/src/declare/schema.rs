//! The schema: the columns of a flow, checked. It enforces every rule about names, tags and inputs, for flows of `flow!`
//! and of the run-time API. It knows no steps and no values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::name::{Name, NameError};
use super::reads::Reads;
use super::view::ViewSpec;

/// A column as it was declared, unchecked.
pub(crate) struct Draft {
    pub(crate) name: String,
    /// Its earlier name.
    pub(crate) renamed_from: Option<String>,
    /// The views of a derived column, each with the index of the column that it shows, or with a name that no column
    /// has. A view of the column itself is its self history. `None` for a source.
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
    /// Its earlier name.
    pub(crate) renamed_from: Option<String>,
    /// `None` for a source.
    pub(crate) reads: Option<Arc<Reads>>,
}

impl Schema {
    /// Checks a declaration.
    pub(crate) fn new(drafts: Vec<Draft>) -> Result<Self, SchemaErrors> {
        let mut schema = Self { columns: Vec::new(), index: BTreeMap::new() };
        schema.extend(drafts)?;
        Ok(schema)
    }

    /// Checks further columns, whose views may name any column by its index, and adds them.
    /// On an error nothing is added.
    pub(crate) fn extend(&mut self, drafts: Vec<Draft>) -> Result<(), SchemaErrors> {
        let mut errors = Vec::new();
        let mut next = self.clone();
        // All names come before any view, because a lagged view may show a later column.
        for draft in &drafts {
            next.declare(draft, &mut errors);
        }
        next.check_modules(self.columns.len(), &mut errors);
        next.check_renames(&mut errors);
        for (draft, column) in drafts.into_iter().zip(self.columns.len()..) {
            next.connect(column, draft, &mut errors);
        }
        if !errors.is_empty() {
            return Err(SchemaErrors { errors });
        }
        *self = next;
        Ok(())
    }

    fn declare(&mut self, draft: &Draft, errors: &mut Vec<SchemaError>) {
        let column = self.columns.len();
        let name = match Name::new(&draft.name) {
            Ok(name) => {
                if self.index.insert(name.clone(), column).is_some() {
                    errors.push(SchemaError::DuplicateName { name: name.clone() });
                }
                name
            }
            Err(error) => {
                // The placeholder is not in the index, so two invalid names are no duplicates.
                errors.push(SchemaError::BadName(error));
                Name::placeholder()
            }
        };
        self.columns.push(Declared { name, renamed_from: draft.renamed_from.clone(), reads: None });
    }

    /// No column has the name of a module. The columns from `first` on are new.
    fn check_modules(&self, first: usize, errors: &mut Vec<SchemaError>) {
        for (at, Declared { name: of, .. }) in self.columns.iter().enumerate() {
            for column in of.modules().filter_map(|module| self.find(module)) {
                // Two earlier columns were checked when the later one of them was declared.
                if at.max(column) >= first {
                    let (name, of) = (self.name(column).clone(), of.clone());
                    errors.push(SchemaError::NameOfModule { name, of });
                }
            }
        }
    }

    /// The earlier name of a column is neither the name nor the earlier name of another one.
    fn check_renames(&self, errors: &mut Vec<SchemaError>) {
        let mut taken: BTreeSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        for Declared { name, renamed_from, .. } in &self.columns {
            if let Some(earlier) = renamed_from.as_deref().filter(|earlier| *earlier != name.as_str())
                && !taken.insert(earlier)
            {
                errors.push(SchemaError::RenameTaken { column: name.clone(), renamed_from: earlier.into() });
            }
        }
    }

    fn connect(&mut self, column: usize, draft: Draft, errors: &mut Vec<SchemaError>) {
        let Some(views) = draft.views else { return };
        let name = self.name(column).clone();
        let mut reads = Reads::new(name.clone());
        // An unknown column counts as an input: its own error is enough.
        let views_read_something = views.iter().any(|(read, _)| *read != Ok(column));
        for (read, spec) in views {
            let read = match read {
                Ok(read) => read,
                Err(read) => {
                    errors.push(SchemaError::UnknownColumn { column: name.clone(), read });
                    continue;
                }
            };
            if spec.has_empty_window {
                let input = self.name(read).clone();
                errors.push(SchemaError::EmptyWindow { column: name.clone(), input });
                continue;
            }
            if spec.elided && !spec.window.drops_values() {
                let input = self.name(read).clone();
                errors.push(SchemaError::NothingElided { column: name.clone(), input });
            }
            if read == column {
                Self::connect_self(&mut reads, spec, errors);
            } else {
                self.connect_input(&mut reads, read, spec, errors);
            }
        }
        reads.join_notes();
        if !views_read_something {
            errors.push(SchemaError::NoInput { column: name, reads_self: reads.self_view.is_some() });
        }
        if let Some(declared) = self.columns.get_mut(column) {
            declared.reads = Some(Arc::new(reads));
        }
    }

    fn connect_self(reads: &mut Reads, spec: ViewSpec, errors: &mut Vec<SchemaError>) {
        let column = || reads.column.clone();
        let is_plain =
            spec.tag.is_none() && spec.note.is_none() && spec.filter.is_none() && spec.groups.is_empty();
        if !is_plain {
            errors.push(SchemaError::TaggedSelf { column: column() });
        }
        if reads.self_view.is_some() {
            errors.push(SchemaError::SelfTwice { column: column() });
        }
        reads.self_view = Some(spec);
    }

    fn connect_input(&self, reads: &mut Reads, read: usize, spec: ViewSpec, errors: &mut Vec<SchemaError>) {
        let (column, input) = (reads.column.clone(), self.name(read).clone());
        let tag = spec.tag.as_deref().map_or_else(|| Ok(input.tag()), Name::new_tag);
        let groups = spec.groups.iter().map(|(id, tag)| Ok((*id, Name::new_tag(tag)?))).collect();
        let (tag, groups): (Name, Vec<(usize, Name)>) = match (tag, groups) {
            (Ok(tag), Ok(groups)) => (tag, groups),
            (Err(error), _) | (_, Err(error)) => {
                errors.push(SchemaError::BadTag { column, error });
                return;
            }
        };
        if let Err(tag) = reads.push((read, input), tag, &groups, spec) {
            errors.push(SchemaError::DuplicateTag { column, tag });
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

    /// The views of a derived column of this schema; `None` for a source.
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

/// All errors in the declaration of a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaErrors {
    errors: Vec<SchemaError>,
}

impl SchemaErrors {
    pub(crate) fn one(error: SchemaError) -> Self {
        Self { errors: vec![error] }
    }

    /// The errors in order of declaration; never empty.
    pub fn errors(&self) -> &[SchemaError] {
        &self.errors
    }
}

impl std::error::Error for SchemaErrors {}

impl fmt::Display for SchemaErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, error) in self.errors.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

/// One error in the declaration of a flow. `flow!` reports the same errors when the program compiles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// An invalid name.
    #[error(transparent)]
    BadName(NameError),
    /// Columns that wait for each other.
    #[error("these columns wait for each other, so none of them can run first: {}", Path(columns))]
    Cycle {
        /// The names of the columns; each reads the one before it, and the first one the last.
        columns: Vec<String>,
    },
    /// An invalid tag.
    #[error("`{column}` has a view with an invalid tag: {error}")]
    BadTag {
        /// The column with the view.
        column: Name,
        /// The rule that the tag breaks.
        error: NameError,
    },
    /// Two columns with one name.
    #[error("`{name}` is declared twice: rename one of the two")]
    DuplicateName {
        /// The name.
        name: Name,
    },
    /// Two views of one column, or a view and a group, with one tag.
    #[error(
        "two inputs of `{column}` have the tag `{tag}`: give one of them another tag, as in `.named(\"digest\")`"
    )]
    DuplicateTag {
        /// The column that has both.
        column: Name,
        /// The tag of both.
        tag: Name,
    },
    /// `window(0)`.
    #[error(
        "`{column}` reads `{input}` with a window of 0, which shows nothing: drop the view, or show at least 1 value"
    )]
    EmptyWindow {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// An earlier name that another column has or had.
    #[error(
        "`{column}` has the earlier name `{renamed_from}`, which is the name or the earlier name of another column: correct \
         or drop one of them, because the values stored under a name belong to one column"
    )]
    RenameTaken {
        /// The column.
        column: Name,
        /// The earlier name in its declaration.
        renamed_from: String,
    },
    /// A source that was added to a flow that has steps.
    #[error("the source `{name}` cannot be added to a flow that has steps: they have no value for it")]
    LateSource {
        /// The source.
        name: String,
    },
    /// A column with the name of a module.
    #[error("`{name}` is a column, so it cannot be the module of `{of}`: rename one of the two")]
    NameOfModule {
        /// The column.
        name: Name,
        /// A column of the module.
        of: Name,
    },
    /// A column that has no input.
    #[error(
        "`{column}` reads {what}, so no new value can reach it: add a view, as in `user.latest()`",
        what = if *reads_self { "only itself" } else { "nothing" }
    )]
    NoInput {
        /// The column.
        column: Name,
        /// Whether it reads its self history.
        reads_self: bool,
    },
    /// A view that shows all values and counts the hidden ones.
    #[error(
        "`{column}` shows all values of `{input}`, so it hides nothing: drop `.elided()`, or show fewer, as in \
         `.window(3).elided()`"
    )]
    NothingElided {
        /// The column that reads.
        column: Name,
        /// The column that is read.
        input: Name,
    },
    /// A flow without a source.
    #[error("this flow has no source: declare one, and a column that reads it")]
    NoSource,
    /// More than one view of the self history.
    #[error("`{column}` reads itself twice: drop one of the two views")]
    SelfTwice {
        /// The column.
        column: Name,
    },
    /// A view of a column that the flow does not have.
    #[error("`{column}` reads `{read}`, but the flow has no such column: declare it, or correct the name")]
    UnknownColumn {
        /// The column that reads.
        column: Name,
        /// The name that no column has.
        read: String,
    },
    /// A tag, a note, a filter or a group of the self history.
    #[error(
        "`{column}` has a tag, a note, a filter or a group for `self`, which is shown as assistant messages and takes none: \
         drop it"
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
        Draft { name: name.into(), renamed_from: None, views: None }
    }

    type View = (Result<usize, String>, ViewSpec);

    fn derived(name: &str, views: Vec<View>) -> Draft {
        Draft { name: name.into(), renamed_from: None, views: Some(views) }
    }

    fn view(column: usize) -> View {
        (Ok(column), ViewSpec::all())
    }

    fn tagged(column: usize, tag: &str) -> View {
        (Ok(column), ViewSpec { tag: Some(tag.into()), ..ViewSpec::all() })
    }

    fn errors(drafts: Vec<Draft>) -> Vec<String> {
        let error = Schema::new(drafts).expect_err("the declaration is wrong");
        error.errors().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let reported = errors(vec![
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
            derived("count", vec![(Ok(0), ViewSpec { elided: true, ..ViewSpec::all() })]),
        ]);
        assert_eq!(reported.len(), 11, "{reported:#?}");
    }

    #[test]
    fn an_earlier_name_belongs_to_one_column() {
        let was = |name: &str, was: &str| Draft { renamed_from: Some(was.into()), ..source(name) };
        let reported =
            errors(vec![was("a", "b"), source("b"), was("c", "gone"), was("d", "gone"), was("e", "e")]);
        assert_eq!(reported.len(), 2, "{reported:#?}");
        assert!(
            reported[0].starts_with("`a` has the earlier name `b`") && reported[1].starts_with("`d` has"),
            "{reported:#?}"
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
