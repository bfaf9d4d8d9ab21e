//! The schema: the columns of a flow, checked. It enforces every rule about names, tags and inputs, for flows of `flow!`
//! and of the run-time API. No steps and no values are known here.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::sync::Arc;

use super::file_origin::FileOrigin;
use super::name::Name;
use super::reads::Reads;
use super::schema_error::{SchemaError, SchemaErrors, StepError};
use super::view::ViewSpec;
use super::view_text::ViewTextError;

/// A column as it was declared, unchecked.
pub(crate) struct ColumnDraft {
    pub(crate) name: String,
    /// The earlier name.
    pub(crate) renamed_from: Option<String>,
    /// The views of a derived column. `None` for a source.
    pub(crate) views: Option<Vec<(ShownColumn, ViewSpec)>>,
    /// Whether the column is a source of documents, and not of text.
    pub(crate) is_documents: bool,
    /// The mistakes in the compute step.
    pub(crate) step_errors: Vec<StepError>,
    /// The entry of the column in a file.
    pub(crate) origin: FileOrigin,
}

/// The column that a view shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ShownColumn {
    /// The column at this index. For the column that has the view, that is the self history.
    Column(usize),
    /// The column that has the view, by the name, at the same step.
    SelfByName,
    /// A name that no column has.
    Unknown(String),
    /// A text that is no view.
    Invalid(String, ViewTextError),
}

/// The columns of a flow, by index in order of declaration.
#[derive(Clone, Debug)]
pub(crate) struct Schema {
    columns: Vec<DeclaredColumn>,
    index: BTreeMap<Name, usize>,
}

#[derive(Clone, Debug)]
pub(crate) struct DeclaredColumn {
    pub(crate) name: Name,
    /// The earlier name.
    pub(crate) renamed_from: Option<String>,
    /// `None` for a source.
    pub(crate) reads: Option<Arc<Reads>>,
    /// Whether the column is a source of documents, and not of text.
    pub(crate) is_documents: bool,
}

impl Schema {
    /// Checks a declaration.
    pub(crate) fn new(drafts: Vec<ColumnDraft>) -> Result<Self, SchemaErrors> {
        let mut schema = Self { columns: Vec::new(), index: BTreeMap::new() };
        schema.extend(drafts)?;
        Ok(schema)
    }

    /// Checks further columns, whose views may name any column by the index, and adds them.
    /// On an error nothing is added.
    pub(crate) fn extend(&mut self, drafts: Vec<ColumnDraft>) -> Result<(), SchemaErrors> {
        let mut errors = Vec::new();
        let mut next = self.clone();
        // All names come before any view, because a lagged view may show a later column.
        for draft in &drafts {
            let first = errors.len();
            next.declare(draft, &mut errors);
            draft.origin.place(errors.get_mut(first..).unwrap_or_default());
        }
        let first = errors.len();
        next.check_modules(self.columns.len(), &mut errors);
        next.check_renames(&mut errors);
        for error in errors.get_mut(first..).unwrap_or_default() {
            if let Some(draft) = drafts.iter().find(|draft| error.renamed() == Some(draft.name.as_str())) {
                draft.origin.place(std::slice::from_mut(error));
            }
        }
        let has_nameless = drafts.iter().any(|draft| draft.origin.is_nameless(&draft.name));
        for (mut draft, column) in drafts.into_iter().zip(self.columns.len()..) {
            let first = errors.len();
            let origin = mem::take(&mut draft.origin);
            let reads = next.connected(column, draft, &mut errors);
            origin.drop_consequences(&mut errors, first);
            origin.place(errors.get_mut(first..).unwrap_or_default());
            if let Some(declared) = next.columns.get_mut(column) {
                declared.reads = reads;
            }
        }
        errors.extend((self.columns.len()..next.columns.len()).filter_map(|column| next.deep_thread(column)));
        // A column that seems to be missing may be the one without a name.
        errors.retain(|error| !has_nameless || !error.is_of_unknown_column());
        if !errors.is_empty() {
            return Err(SchemaErrors::new(errors));
        }
        *self = next;
        Ok(())
    }

    fn declare(&mut self, draft: &ColumnDraft, errors: &mut Vec<SchemaError>) {
        let column = self.columns.len();
        errors.extend(draft.origin.mistakes.iter().cloned());
        let name = match Name::of_column(&draft.name) {
            Ok(name) => {
                if self.index.insert(name.clone(), column).is_some() {
                    errors.push(SchemaError::DuplicateName { name: name.clone() });
                }
                name
            }
            Err(error) => {
                // The placeholder is not in the index, so two invalid names are no duplicates.
                if !draft.origin.is_nameless(&draft.name) {
                    errors.push(SchemaError::BadName(error));
                }
                // Until the errors are reported.
                Name::known("unnamed")
            }
        };
        let ColumnDraft { renamed_from, is_documents, .. } = draft;
        let renamed_from = renamed_from.clone();
        let is_documents = *is_documents;
        self.columns.push(DeclaredColumn { name, renamed_from, reads: None, is_documents });
    }

    /// No column has the name of a module. The columns from `first` on are new.
    fn check_modules(&self, first: usize, errors: &mut Vec<SchemaError>) {
        for (at, DeclaredColumn { name: of, .. }) in self.columns.iter().enumerate() {
            for column in of.modules().filter_map(|module| self.find(module)) {
                // Two earlier columns were checked when the later one of them was declared.
                if at.max(column) >= first {
                    let name = self.name(column).clone();
                    let of = of.clone();
                    errors.push(SchemaError::NameOfModule { name, of });
                }
            }
        }
    }

    /// The earlier name of a column is neither the name nor the earlier name of another one.
    fn check_renames(&self, errors: &mut Vec<SchemaError>) {
        let mut taken: BTreeSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        for DeclaredColumn { name, renamed_from, .. } in &self.columns {
            if let Some(earlier) = renamed_from.as_deref().filter(|earlier| *earlier != name.as_str())
                && !taken.insert(earlier)
            {
                errors.push(SchemaError::RenameTaken { column: name.clone(), renamed_from: earlier.into() });
            }
        }
    }

    pub(crate) fn columns(&self) -> &[DeclaredColumn] {
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

    fn source(name: &str) -> ColumnDraft {
        let name = name.into();
        ColumnDraft {
            name,
            renamed_from: None,
            views: None,
            is_documents: false,
            step_errors: Vec::new(),
            origin: FileOrigin::default(),
        }
    }

    type DraftView = (ShownColumn, ViewSpec);

    fn derived(name: &str, views: Vec<DraftView>) -> ColumnDraft {
        ColumnDraft { views: Some(views), ..source(name) }
    }

    fn view(column: usize) -> DraftView {
        (ShownColumn::Column(column), ViewSpec::all())
    }

    fn tagged(column: usize, tag: &str) -> DraftView {
        (ShownColumn::Column(column), ViewSpec { tag: Some(tag.into()), ..ViewSpec::all() })
    }

    fn errors(drafts: Vec<ColumnDraft>) -> Vec<String> {
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
            derived("shut", vec![(ShownColumn::Column(0), ViewSpec::all().windowed(None))]),
            derived("twins", vec![view(0), view(0)]),
            derived("odd", vec![tagged(0, "a b")]),
            derived("selves", vec![view(0), view(9), view(9)]),
            derived("tagged", vec![view(0), tagged(10, "me")]),
            derived("count", vec![(ShownColumn::Column(0), ViewSpec { elided: true, ..ViewSpec::all() })]),
        ]);
        assert_eq!(reported.len(), 11, "{reported:#?}");
    }

    #[test]
    fn an_earlier_name_belongs_to_one_column() {
        let was = |name: &str, was: &str| ColumnDraft { renamed_from: Some(was.into()), ..source(name) };
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
