//! The rules of documents: they are a set, so a view shows all of them, in turns or in tiers.

use super::name::Name;
use super::purpose::Purpose;
use super::reads::{Reads, TieredDocuments};
use super::schema::Schema;
use super::schema_error::SchemaError;
use super::view::ViewSpec;

impl TieredDocuments {
    /// The error of another view of documents, those of the column `other`, beside the tiered view.
    pub(super) fn beside(&self, column: Name, other: usize) -> SchemaError {
        let input = self.name.clone();
        if other == self.column {
            SchemaError::SameDocuments { column, input }
        } else {
            SchemaError::OtherDocuments { column, input }
        }
    }
}

impl Schema {
    /// The mistake in a view of documents, or in a tiered view of text.
    pub(super) fn wrong_documents(&self, column: &Name, read: usize, spec: &ViewSpec) -> Option<SchemaError> {
        let (column, input) = (column.clone(), self.name(read).clone());
        let is_plain = spec.tag.is_none()
            && spec.note.is_none()
            && spec.groups.is_empty()
            && spec.purpose == Purpose::Primary;
        match (self.is_documents(read), spec.tiering) {
            (false, Some(_)) => {
                let is_source = self.is_source(read);
                Some(SchemaError::TieredText { column, input, is_source })
            }
            (true, _) if !spec.is_whole() => Some(SchemaError::WindowOfDocuments { column, input }),
            (true, Some(_)) if !is_plain => Some(SchemaError::TaggedTiers { column, input }),
            _ => None,
        }
    }

    /// A column with a tiered view reads the whole self history, text, and no other documents.
    pub(super) fn check_tiers(&self, reads: &Reads, errors: &mut Vec<SchemaError>) {
        let Some(tiered) = &reads.tiered else { return };
        let (column, input) = (reads.column.clone(), tiered.name.clone());
        if let Some(other) = reads.all_inputs().find(|input| self.is_documents(input.column)) {
            errors.push(tiered.beside(column, other.column));
        } else if !reads.self_view.as_ref().is_some_and(ViewSpec::is_whole) {
            errors.push(SchemaError::TiersWithoutSelf { column, input });
        } else if reads.all_inputs().next().is_none() {
            errors.push(SchemaError::TiersWithoutText { column, input });
        }
    }
}
