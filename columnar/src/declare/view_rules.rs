//! The rules of documents, of threads and of purposes.
//!
//! Documents are a set, so a view shows all of them, in turns, in a log or in tiers. References come first in a message, and
//! instructions are in the system text.

use std::iter;

use super::name::Name;
use super::reads::{Reads, TieredDocuments};
use super::schema::{Schema, ShownColumn};
use super::schema_error::{CompactionMistake, SchemaError};
use super::view::{DEEPEST_THREAD, Purpose, ViewSpec};

impl TieredDocuments {
    /// The error of another view of documents, of the column `other`, beside the tiered view.
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
        let column = column.clone();
        let input = self.name(read).clone();
        let is_plain = spec.tag.is_none()
            && spec.note.is_none()
            && spec.groups.is_empty()
            && spec.purpose == Purpose::Primary
            && !spec.text_only;
        let compacted = spec.compaction.and_then(|compaction| match compaction.at_most {
            _ if !self.is_documents(read) => Some(CompactionMistake::OfText),
            _ if !is_plain && spec.is_whole() => Some(CompactionMistake::Tagged),
            Some(factor) if factor.is_nan() || factor < 1.0 => Some(CompactionMistake::Bound),
            _ => None,
        });
        if let Some(mistake) = compacted {
            return Some(SchemaError::Compacted { column, input, mistake });
        }
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

    /// The mistake in a column with a compacted view, which reads text, or with a tiered view, which reads the whole self
    /// history, text, and no other documents.
    pub(super) fn wrong_layout(&self, reads: &Reads) -> Option<SchemaError> {
        let column = reads.column.clone();
        let Some(tiered) = reads.tiered.as_ref() else {
            let (input, _) = reads.compacted()?;
            let reads_text = reads.inputs.iter().any(|input| !self.is_documents(input.column));
            return (!reads_text).then(|| SchemaError::Compacted {
                column,
                input: input.name.clone(),
                mistake: CompactionMistake::WithoutText,
            });
        };
        let input = tiered.name.clone();
        if let Some(other) = reads.all_inputs().find(|input| self.is_documents(input.column)) {
            Some(tiered.beside(column, other.column))
        } else if !reads.self_view.as_ref().is_some_and(ViewSpec::is_whole) {
            Some(SchemaError::TiersWithoutSelf { column, input })
        } else if reads.all_inputs().next().is_none() {
            Some(SchemaError::TiersWithoutText { column, input })
        } else {
            None
        }
    }

    /// The mistake in a thread of the column number `read`, which is computed, and is continued as it is.
    pub(super) fn not_a_thread(&self, column: &Name, read: usize, spec: &ViewSpec) -> Option<SchemaError> {
        if !spec.thread {
            return None;
        }
        let column = column.clone();
        let input = self.name(read).clone();
        let is_plain = spec.is_whole()
            && spec.tag.is_none()
            && spec.note.is_none()
            && spec.groups.is_empty()
            && spec.purpose == Purpose::Primary
            && !spec.text_only;
        if self.is_source(read) {
            Some(SchemaError::ThreadOfSource { column, input })
        } else {
            (!is_plain).then_some(SchemaError::PartOfThread { column, input })
        }
    }

    /// The mistake in the place of a thread, which stands first, once.
    pub(super) fn late_thread(column: &Name, views: &[(ShownColumn, ViewSpec)]) -> Option<SchemaError> {
        let is_late = views.iter().skip(1).any(|(_, spec)| spec.thread);
        is_late.then(|| SchemaError::LateThread { column: column.clone() })
    }

    /// The column whose conversation a column continues.
    pub(crate) fn thread_of(&self, column: usize) -> Option<usize> {
        Some(self.reads(column)?.thread.as_ref()?.column)
    }

    /// The mistake in a thread of a thread of a thread, and so on.
    pub(super) fn deep_thread(&self, column: usize) -> Option<SchemaError> {
        let threads = iter::successors(self.thread_of(column), |column| self.thread_of(*column));
        let column = self.name(column).clone();
        (threads.take(DEEPEST_THREAD + 1).count() > DEEPEST_THREAD)
            .then_some(SchemaError::DeepThreads { column })
    }

    /// The mistake in a column with a thread, to which the system text and the replies of the conversation belong.
    pub(super) fn wrong_thread(reads: &Reads) -> Option<SchemaError> {
        let input = reads.thread.as_ref()?.name.clone();
        let is_alone = reads.self_view.is_none() && reads.tiered.is_none() && reads.instructions.is_empty();
        (!is_alone).then(|| SchemaError::BesideThread { column: reads.column.clone(), input })
    }

    /// The mistake in the purpose of a view of the column number `read`.
    pub(super) fn wrong_purpose(&self, column: &Name, read: usize, spec: &ViewSpec) -> Option<SchemaError> {
        if spec.purpose == Purpose::Primary {
            return None;
        }
        let column = column.clone();
        let input = self.name(read).clone();
        let is_instruction = spec.purpose == Purpose::Instruction;
        let is_plain = spec.tag.is_none() && spec.note.is_none() && !spec.elided;
        if column == input {
            Some(SchemaError::PurposeOfSelf { column })
        } else if spec.has_other_purposes {
            Some(SchemaError::TwoPurposes { column, input })
        } else if is_instruction && !spec.groups.is_empty() {
            Some(SchemaError::GroupedInstruction { column, input })
        } else if is_instruction && !is_plain {
            Some(SchemaError::TaggedInstruction { column, input })
        } else {
            None
        }
    }

    /// The mistake in a group of views for different purposes. References come before other views, so the group would be in
    /// two places.
    pub(super) fn mixed_group(column: &Name, views: &[(ShownColumn, ViewSpec)]) -> Option<SchemaError> {
        views.windows(2).find_map(|pair| {
            let [(_, one), (_, other)] = pair else { return None };
            let group = one.groups.first().filter(|group| other.groups.first() == Some(group))?;
            let is_instruction = [one, other].iter().any(|spec| spec.purpose == Purpose::Instruction);
            let is_mixed = one.purpose != other.purpose && !is_instruction;
            is_mixed.then(|| SchemaError::MixedGroup { column: column.clone(), tag: group.1.clone() })
        })
    }

    /// The mistake in a column whose inputs are references and instructions alone.
    pub(super) fn wrong_inputs(reads: &Reads) -> Option<SchemaError> {
        let mut inputs = reads.all_inputs().peekable();
        let has_inputs = inputs.peek().is_some();
        let lacks_primary = has_inputs && inputs.all(|input| input.spec.purpose != Purpose::Primary);
        lacks_primary.then(|| SchemaError::NoPrimaryInput { column: reads.column.clone() })
    }
}
