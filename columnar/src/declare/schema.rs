//! The schema: the columns of a flow, checked. It enforces every rule about names, tags and inputs, for flows of `flow!`
//! and of the run-time API. It knows no steps and no values.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::name::Name;
use super::purpose::Purpose;
use super::reads::{Reads, TieredDocuments};
use super::schema_error::{SchemaError, SchemaErrors, StepError};
use super::view::{DEEPEST_GROUP, ViewSpec};
use super::view_text::ViewTextError;
use crate::declare::error::nearest;

/// The number of errors up to which an unknown name gets a suggestion.
const SUGGESTIONS: usize = 20;

/// A column as it was declared, unchecked.
pub(crate) struct Draft {
    pub(crate) name: String,
    /// Its earlier name.
    pub(crate) renamed_from: Option<String>,
    /// The views of a derived column. `None` for a source.
    pub(crate) views: Option<Vec<(Read, ViewSpec)>>,
    /// Whether it is a source of documents, and not of text.
    pub(crate) is_documents: bool,
    /// The mistakes in its compute step.
    pub(crate) step_errors: Vec<StepError>,
}

/// The column that a view shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Read {
    /// The column at this index. For the column that has the view, that is its self history.
    Column(usize),
    /// The column that has the view, by its name, at the same step.
    SelfByName,
    /// A name that no column has.
    Unknown(String),
    /// A text that is no view.
    Invalid(String, ViewTextError),
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
    /// Whether it is a source of documents, and not of text.
    pub(crate) is_documents: bool,
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
            return Err(SchemaErrors::new(errors));
        }
        *self = next;
        Ok(())
    }

    fn declare(&mut self, draft: &Draft, errors: &mut Vec<SchemaError>) {
        let column = self.columns.len();
        let name = match Name::of_column(&draft.name) {
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
        let Draft { renamed_from, is_documents, .. } = draft;
        let (renamed_from, is_documents) = (renamed_from.clone(), *is_documents);
        self.columns.push(Declared { name, renamed_from, reads: None, is_documents });
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
        let Some(mut views) = draft.views else { return };
        let name = self.name(column).clone();
        let (mut reads, mut tags) = (Reads::new(name.clone()), BTreeSet::new());
        // An unknown column counts as an input: its own error is enough.
        let views_read_something = views.iter().any(|(read, _)| *read != Read::Column(column));
        let known = errors.len();
        errors.extend(Self::mixed_group(&name, &views));
        // References come first in each message.
        views.sort_by_key(|(_, spec)| spec.purpose != Purpose::Context);
        for (read, spec) in views {
            let error = match read {
                Read::Column(read) => {
                    self.connect_view((&mut reads, &mut tags), (column, read), spec, errors);
                    continue;
                }
                Read::SelfByName => SchemaError::SelfByName { column: name.clone() },
                Read::Unknown(read) => {
                    // A search for each of thousands of unknown names would take longer than anyone waits.
                    let suggestion = if errors.len() < SUGGESTIONS { self.suggestion(&read) } else { None };
                    SchemaError::UnknownColumn { column: name.clone(), read, suggestion }
                }
                Read::Invalid(view, error) => SchemaError::BadView { column: name.clone(), view, error },
            };
            errors.push(error);
        }
        reads.join_notes();
        if !views_read_something {
            errors.push(SchemaError::NoInput { column: name.clone(), reads_self: reads.self_view.is_some() });
        }
        if errors.len() == known {
            // A column with a wrong view may lack the others because of it.
            self.check_tiers(&reads, errors);
            Self::check_primary(&reads, errors);
        }
        let bad_step = |error| SchemaError::BadStep { column: name.clone(), error };
        errors.extend(draft.step_errors.into_iter().map(bad_step));
        if let Some(declared) = self.columns.get_mut(column) {
            declared.reads = Some(Arc::new(reads));
        }
    }

    /// Adds a view of the column number `read` to the column number `column`.
    fn connect_view(
        &self,
        (reads, tags): (&mut Reads, &mut BTreeSet<Name>),
        (column, read): (usize, usize),
        spec: ViewSpec,
        errors: &mut Vec<SchemaError>,
    ) {
        let names = || (reads.column.clone(), self.name(read).clone());
        if spec.has_empty_window {
            let (column, input) = names();
            errors.push(SchemaError::EmptyWindow { column, input });
            return;
        }
        if let Some(error) = self.wrong_documents(&reads.column, read, &spec) {
            errors.push(error);
            return;
        }
        if let Some(error) = self.wrong_purpose(&reads.column, read, &spec) {
            errors.push(error);
            return;
        }
        if spec.elided && !spec.window.drops_values() {
            let (column, input) = names();
            errors.push(SchemaError::NothingElided { column, input });
        }
        if read == column {
            Self::connect_self(reads, spec, errors);
        } else {
            self.connect_input((reads, tags), read, spec, errors);
        }
    }

    /// The view that a name that no column has probably means.
    fn suggestion(&self, read: &str) -> Option<String> {
        let names: Vec<&Name> = self.columns.iter().map(|column| &column.name).collect();
        // In a text, a misspelt modifier without parentheses looks like the last part of a name.
        let of_column = || {
            let (base, modifier) = read.rsplit_once('.')?;
            let base = self.find(base).map(|column| self.name(column))?;
            Some(format!(
                "{base}.{}",
                nearest(modifier, &["latest", "prev", "tiered()", "context()", "instruction()"])?
            ))
        };
        nearest(read, &names).map(ToString::to_string).or_else(of_column)
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

    fn connect_input(
        &self,
        (reads, tags): (&mut Reads, &mut BTreeSet<Name>),
        read: usize,
        spec: ViewSpec,
        errors: &mut Vec<SchemaError>,
    ) {
        let (column, input) = (reads.column.clone(), self.name(read).clone());
        if let Some(tiering) = spec.tiering {
            match &reads.tiered {
                Some(first) => errors.push(first.beside(column, read)),
                None => reads.tiered = Some(TieredDocuments { column: read, name: input, tiering }),
            }
            return;
        }
        if spec.purpose == Purpose::Instruction {
            reads.push_instruction((read, input), spec);
            return;
        }
        if spec.groups.len() > DEEPEST_GROUP {
            errors.push(SchemaError::DeepGroups { column });
            return;
        }
        let tag = spec.tag.as_deref().map_or_else(|| Ok(input.tag()), Name::new_tag);
        let groups = spec.groups.iter().map(|(id, tag)| Ok((*id, Name::new_tag(tag)?))).collect();
        let (tag, groups): (Name, Vec<(usize, Name)>) = match (tag, groups) {
            (Ok(tag), Ok(groups)) => (tag, groups),
            (Err(error), _) | (_, Err(error)) => {
                errors.push(SchemaError::BadTag { column, error });
                return;
            }
        };
        if let Err(tag) = reads.push((read, input), tag, &groups, spec, tags) {
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

    /// Whether a column is a source of documents.
    pub(crate) fn is_documents(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|declared| declared.is_documents)
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = usize> {
        (0..self.columns.len()).filter(|&column| self.is_source(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str) -> Draft {
        let name = name.into();
        Draft { name, renamed_from: None, views: None, is_documents: false, step_errors: Vec::new() }
    }

    type View = (Read, ViewSpec);

    fn derived(name: &str, views: Vec<View>) -> Draft {
        Draft { views: Some(views), ..source(name) }
    }

    fn view(column: usize) -> View {
        (Read::Column(column), ViewSpec::all())
    }

    fn tagged(column: usize, tag: &str) -> View {
        (Read::Column(column), ViewSpec { tag: Some(tag.into()), ..ViewSpec::all() })
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
            derived("shut", vec![(Read::Column(0), ViewSpec::all().windowed(None))]),
            derived("twins", vec![view(0), view(0)]),
            derived("odd", vec![tagged(0, "a b")]),
            derived("selves", vec![view(0), view(9), view(9)]),
            derived("tagged", vec![view(0), tagged(10, "me")]),
            derived("count", vec![(Read::Column(0), ViewSpec { elided: true, ..ViewSpec::all() })]),
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
