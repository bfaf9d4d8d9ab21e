//! The rules of purposes: references come first in a message, and instructions are in the system text.

use super::name::Name;
use super::purpose::Purpose;
use super::reads::Reads;
use super::schema::{Read, Schema};
use super::schema_error::SchemaError;
use super::view::ViewSpec;

impl Schema {
    /// The mistake in the purpose of a view of the column number `read`.
    pub(super) fn wrong_purpose(&self, column: &Name, read: usize, spec: &ViewSpec) -> Option<SchemaError> {
        if spec.purpose == Purpose::Primary {
            return None;
        }
        let (column, input) = (column.clone(), self.name(read).clone());
        if column == input {
            return Some(SchemaError::PurposeOfSelf { column });
        }
        if spec.has_other_purposes {
            return Some(SchemaError::TwoPurposes { column, input });
        }
        let is_instruction = spec.purpose == Purpose::Instruction;
        let is_plain = spec.tag.is_none() && spec.note.is_none() && !spec.elided;
        match is_instruction {
            true if !spec.groups.is_empty() => Some(SchemaError::GroupedInstruction { column, input }),
            true if !is_plain => Some(SchemaError::TaggedInstruction { column, input }),
            _ => None,
        }
    }

    /// The mistake in a group of views for different purposes. References come before other views, so the group would be in
    /// two places.
    pub(super) fn mixed_group(column: &Name, views: &[(Read, ViewSpec)]) -> Option<SchemaError> {
        views.windows(2).find_map(|pair| {
            let [(_, one), (_, other)] = pair else { return None };
            let group = one.groups.first().filter(|group| other.groups.first() == Some(group))?;
            let is_instruction = [one, other].iter().any(|spec| spec.purpose == Purpose::Instruction);
            let is_mixed = one.purpose != other.purpose && !is_instruction;
            is_mixed.then(|| SchemaError::MixedGroup { column: column.clone(), tag: group.1.clone() })
        })
    }

    /// A column has an input that is neither a reference nor an instruction.
    pub(super) fn check_primary(reads: &Reads, errors: &mut Vec<SchemaError>) {
        let mut inputs = reads.all_inputs().peekable();
        if inputs.peek().is_some() && inputs.all(|input| input.spec.purpose != Purpose::Primary) {
            errors.push(SchemaError::NoPrimaryInput { column: reads.column.clone() });
        }
    }
}
