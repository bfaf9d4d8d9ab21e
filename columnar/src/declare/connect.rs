//! Connects the views of a column to the columns that they show, and checks them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::name::Name;
use super::reads::{Group, InputView, Reads, TieredDocuments};
use super::schema::{ColumnDraft, Schema, ShownColumn};
use super::schema_error::{CompactionMistake, SchemaError};
use super::view::{DEEPEST_GROUP, Purpose, ViewSpec};
use super::window::Window;
use crate::declare::error::nearest;

/// The number of errors up to which an unknown name gets a suggestion.
const SUGGESTIONS: usize = 20;

/// The words after a column that look like the last part of a name, where they lack parentheses.
const MODIFIERS: [&str; 8] =
    ["latest", "prev", "compacted()", "tiered()", "context()", "instruction()", "text_only()", "thread()"];

/// The views of one column, as far as they are connected.
struct Connecting<'s> {
    schema: &'s Schema,
    column: usize,
    reads: Reads,
    /// The tags of the inputs and groups so far.
    tags: BTreeSet<Name>,
    errors: &'s mut Vec<SchemaError>,
}

impl Schema {
    /// The views of a column; `None` for a source.
    pub(super) fn connected(
        &self,
        column: usize,
        draft: ColumnDraft,
        errors: &mut Vec<SchemaError>,
    ) -> Option<Arc<Reads>> {
        let mut views = draft.views?;
        let name = self.name(column).clone();
        // An unknown column counts as an input: its own error is enough.
        let views_read_something = views.iter().any(|(shown, _)| *shown != ShownColumn::Column(column));
        let known = errors.len();
        errors.extend(Self::mixed_group(&name, &views));
        // The reader of a message needs the reference before the question. Sorted once, so that messages, budgets and
        // definitions know one order.
        errors.extend(Self::late_thread(&name, &views));
        views.sort_by_key(|(_, spec)| spec.purpose != Purpose::Context);
        let reads = Reads::new(name.clone());
        let tags = BTreeSet::new();
        let mut connecting = Connecting { schema: self, column, reads, tags, errors };
        views.into_iter().for_each(|(shown, spec)| connecting.connect(shown, spec));
        let Connecting { mut reads, errors, .. } = connecting;
        reads.join_notes();
        if !views_read_something {
            errors.push(SchemaError::NoInput { column: name.clone(), reads_self: reads.self_view.is_some() });
        }
        if errors.len() == known {
            // A column with a wrong view may lack the others because of it.
            errors.extend(self.wrong_layout(&reads));
            errors.extend(Self::wrong_thread(&reads));
            errors.extend(Self::wrong_inputs(&reads));
        }
        let step_errors = draft.step_errors.into_iter();
        errors.extend(step_errors.map(|error| SchemaError::BadStep { column: name.clone(), error }));
        Some(Arc::new(reads))
    }

    /// The view that a name that no column has probably means.
    fn suggestion(&self, read: &str) -> Option<String> {
        let names: Vec<&Name> = self.columns().iter().map(|column| &column.name).collect();
        if let Some(name) = nearest(read, &names) {
            return Some(name.to_string());
        }
        // In a text, a misspelt modifier without parentheses looks like the last part of a name.
        let (base, modifier) = read.rsplit_once('.')?;
        let base = self.name(self.find(base)?);
        let modifier = nearest(modifier, &MODIFIERS)?;
        Some(format!("{base}.{modifier}"))
    }
}

impl Connecting<'_> {
    fn connect(&mut self, shown: ShownColumn, spec: ViewSpec) {
        let column = self.reads.column.clone();
        let connected = match shown {
            ShownColumn::Column(read) => self.connect_column(read, spec),
            ShownColumn::SelfByName => Err(SchemaError::SelfByName { column }),
            ShownColumn::Unknown(read) => {
                // A search for each of thousands of unknown names would take longer than anyone waits.
                let is_searched = self.errors.len() < SUGGESTIONS;
                let suggestion = is_searched.then(|| self.schema.suggestion(&read)).flatten();
                Err(SchemaError::UnknownColumn { column, read, suggestion })
            }
            ShownColumn::Invalid(view, error) => Err(SchemaError::BadView { column, view, error }),
        };
        self.errors.extend(connected.err());
    }

    /// Connects a view of a column that exists. A view with an error is left out, unless others depend on it.
    fn connect_column(&mut self, read: usize, spec: ViewSpec) -> Result<(), SchemaError> {
        let column = self.reads.column.clone();
        let input = self.schema.name(read).clone();
        if spec.has_empty_window {
            return Err(SchemaError::EmptyWindow { column, input });
        }
        let wrong = self.schema.wrong_documents(&column, read, &spec);
        let wrong = wrong.or_else(|| self.schema.not_a_thread(&column, read, &spec));
        if let Some(error) = wrong.or_else(|| self.schema.wrong_purpose(&column, read, &spec)) {
            return Err(error);
        }
        if spec.elided && spec.window == Window::All {
            self.errors.push(SchemaError::NothingElided { column, input });
        }
        if read == self.column {
            self.connect_self(spec);
            return Ok(());
        }
        self.connect_input(read, spec)
    }

    fn connect_self(&mut self, spec: ViewSpec) {
        let column = &self.reads.column;
        let is_plain =
            spec.tag.is_none() && spec.note.is_none() && spec.filter.is_none() && spec.groups.is_empty();
        if !is_plain {
            self.errors.push(SchemaError::TaggedSelf { column: column.clone() });
        }
        if self.reads.self_view.is_some() {
            self.errors.push(SchemaError::SelfTwice { column: column.clone() });
        }
        self.reads.self_view = Some(spec);
    }

    fn connect_input(&mut self, read: usize, spec: ViewSpec) -> Result<(), SchemaError> {
        let column = self.reads.column.clone();
        let name = self.schema.name(read).clone();
        let is_compacted = spec.compaction.is_some();
        if is_compacted && (self.reads.compacted.is_some() || self.reads.tiered.is_some())
            || spec.tiering.is_some() && self.reads.compacted.is_some()
        {
            let mistake = CompactionMistake::Twice;
            return Err(SchemaError::Compacted { column, input: name, mistake });
        }
        if let Some(tiering) = spec.tiering {
            if let Some(first) = &self.reads.tiered {
                return Err(first.beside(column, read));
            }
            self.reads.tiered = Some(TieredDocuments { column: read, name, tiering });
            return Ok(());
        }
        if spec.thread {
            // A closure knows the reply under the tag, so no other view has it.
            self.tags.insert(name.tag());
            self.reads.continue_thread(read, name, spec);
            return Ok(());
        }
        if spec.purpose == Purpose::Instruction {
            self.reads.push_instruction(read, name, spec);
            return Ok(());
        }
        if spec.groups.len() > DEEPEST_GROUP {
            return Err(SchemaError::DeepGroups { column });
        }
        let groups = spec.groups.iter().map(|(id, tag)| Ok((*id, Name::new_tag(tag)?)));
        let tag = spec.tag.as_deref().map_or_else(|| Ok(name.tag()), Name::new_tag);
        let tags = tag.and_then(|tag| Ok((tag, groups.collect::<Result<Vec<_>, _>>()?)));
        let (tag, groups) = tags.map_err(|error| SchemaError::BadTag { column: column.clone(), error })?;
        let input = InputView::new(self.reads.inputs.len(), read, name, tag, spec);
        if is_compacted {
            self.reads.compacted = Some(input.at);
        }
        self.push(input, &groups).map_err(|tag| SchemaError::DuplicateTag { column, tag })
    }

    /// Adds an input with the groups around it, the outermost first. A group of the previous input continues.
    ///
    /// # Errors
    ///
    /// The tag, if another input or group has it.
    fn push(&mut self, mut input: InputView, groups: &[(usize, Name)]) -> Result<(), Name> {
        let reads = &mut self.reads;
        let mut before = reads.inputs.last().map_or_else(Vec::new, |last| last.groups.clone());
        for (depth, (id, tag)) in groups.iter().enumerate() {
            let open = before.get(depth).and_then(|&group| Some((group, reads.groups.get_mut(group)?)));
            if let Some((at, group)) = open
                && (group.id, &group.tag) == (*id, tag)
            {
                // If the input is refused below, this is wrong, but then the schema drops the whole draft.
                group.inputs.end = input.at + 1;
                input.groups.push(at);
                continue;
            }
            // A group that differs closes those inside it, even if the tags are the same again.
            before.truncate(depth);
            if !self.tags.insert(tag.clone()) {
                return Err(tag.clone());
            }
            input.groups.push(reads.groups.len());
            reads.groups.push(Group { id: *id, tag: tag.clone(), inputs: input.at..input.at + 1 });
        }
        if !self.tags.insert(input.tag.clone()) {
            return Err(input.tag);
        }
        reads.inputs.push(input);
        Ok(())
    }
}
