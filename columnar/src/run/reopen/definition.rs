//! The definition of a flow, which is stored beside the values and compared with the flow that is opened; and the
//! exclusions in a store.
//!
//! The key of a column is the name under which the column was stored first, or a free one derived from that name. The
//! definition refers to columns by keys, so renaming a column changes nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::copying::has_mark;
use super::drift::{ColumnChange, Drift};
use crate::compute::StepSettings;
use crate::context::Exclusion;
use crate::declare::{InputView, Name, Reads, Schema, ViewSpec, ViewText};
use crate::model::usage::object;
use crate::store::{Entry, StoreError};

/// The newest format of the text.
const FORMAT: u32 = 1;

// A store knows texts and addresses, and no flows, so a definition is one more text.
/// The columns that the flow has or had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FlowDefinition {
    /// All columns, in order of addition.
    pub(crate) columns: Vec<StoredColumn>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredColumn {
    pub(crate) key: Name,
    /// The latest name in the flow.
    pub(crate) name: Name,
    /// The views as in `flow!`, but by keys; `None` for a source.
    pub(crate) reads: Option<Vec<String>>,
    /// Whether the column is a source of documents.
    pub(crate) is_documents: bool,
    /// Whether the values come from outside.
    pub(crate) is_external: bool,
    pub(crate) version: Option<String>,
    /// Whether the flow had no such column at the last opening.
    pub(crate) is_gone: bool,
}

impl FlowDefinition {
    pub(crate) fn parse(text: &str) -> Result<Self, StoreError> {
        let json: Json = serde_json::from_str(text).map_err(|_| damaged("it is not valid JSON"))?;
        match json.get("columnar").and_then(Json::as_u64).map(u32::try_from) {
            Some(Ok(FORMAT)) => {}
            Some(found) => {
                let found = found.unwrap_or(u32::MAX);
                return Err(StoreError::Unsupported { location: LOCATION.into(), found, known: FORMAT });
            }
            None if json.get("columnar_loom").is_some() => {
                return Err(StoreError::other("it holds a tree, and no flow: open it with `Loom::open`"));
            }
            None if has_mark(&json) => {
                return Err(StoreError::other(
                    "it holds a part of a copy that was interrupted: make the same copy again, or delete it",
                ));
            }
            None => return Err(damaged("it has no format number")),
        }
        let columns =
            json.get("columns").and_then(Json::as_array).ok_or_else(|| damaged("it has no columns"))?;
        let columns = columns.iter().map(StoredColumn::parse).collect::<Option<Vec<_>>>();
        let columns = columns.ok_or_else(|| damaged("a column in it cannot be read"))?;
        // Such columns would have the same values.
        let mut keys = BTreeSet::new();
        if !columns.iter().all(|column| keys.insert(&column.key)) {
            return Err(damaged("two columns in it have the same key"));
        }
        Ok(Self { columns })
    }

    /// Whether a column of the flow is a source; `None` for a column that the flow does not have.
    pub(crate) fn is_source(&self, name: &Name) -> Option<bool> {
        let column = self.columns.iter().find(|column| !column.is_gone && column.name == *name)?;
        Some(column.reads.is_none())
    }

    /// The text of the definition, with one line per column, for people who read stores.
    pub(crate) fn text(&self) -> String {
        // By hand, since serde_json writes either one line in all or one line per field.
        let mut text = format!("{{\"columnar\":{FORMAT},\"columns\":[");
        for (at, column) in self.columns.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            let written = write!(text, "{comma}\n{}", column.json());
            debug_assert!(written.is_ok(), "a string takes everything");
        }
        text.push_str("\n]}\n");
        text
    }

    /// Whether the flow has or had a column of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|stored| stored.name == *name)
    }

    /// The keys of the columns of a schema. A known name is that column; an unknown one may have been renamed
    /// with `was`.
    pub(crate) fn keys(&self, schema: &Schema) -> Vec<Name> {
        // In reverse, because the first column of a name counts.
        let by_name: BTreeMap<&str, &Name> =
            self.columns.iter().rev().map(|stored| (&*stored.name, &stored.key)).collect();
        let named = schema.columns().iter().map(|column| by_name.get(&*column.name).copied().cloned());
        // All names before all renames, so that a rename takes no column that still has the name.
        let mut keys: Vec<Option<Name>> = named.collect();
        let mut taken: BTreeSet<Name> = keys.iter().flatten().cloned().collect();
        for (key, column) in keys.iter_mut().zip(schema.columns()).filter(|(key, _)| key.is_none()) {
            let before =
                column.renamed_from.as_deref().and_then(|before| by_name.get(before)).copied().cloned();
            // If two columns name the same earlier one, the first gets the values.
            *key = before.filter(|before| taken.insert(before.clone()));
        }
        // A column that is gone keeps the key, and finds the values at a return.
        taken.extend(self.columns.iter().map(|stored| stored.key.clone()));
        let keys = keys.into_iter().zip(schema.columns()).map(|(key, column)| {
            key.unwrap_or_else(|| {
                let key = unused_name(&column.name, &taken);
                taken.insert(key.clone());
                key
            })
        });
        keys.collect()
    }

    /// The key of a column by name, known or new.
    pub(crate) fn key(&self, name: &Name) -> Name {
        match self.columns.iter().find(|stored| stored.name == *name) {
            Some(known) => known.key.clone(),
            None => unused_name(name, &self.columns.iter().map(|stored| stored.key.clone()).collect()),
        }
    }

    /// Takes over the declarations of the columns from `first` on. The columns before `first` are known. If there are
    /// none, a stored column that is not declared is gone.
    ///
    /// # Errors
    ///
    /// All changes that `may` refuses. Then the definition stays as it is.
    pub(crate) fn update(
        &mut self,
        schema: &Schema,
        keys: &[Name],
        settings: &[Arc<StepSettings>],
        first: usize,
        may: impl Fn(usize, &ColumnChange) -> bool,
    ) -> Result<(), Drift> {
        let mut next = self.clone();
        next.columns.iter_mut().for_each(|stored| stored.is_gone |= first == 0);
        let by_key: BTreeMap<Name, usize> =
            self.columns.iter().enumerate().map(|(at, stored)| (stored.key.clone(), at)).collect();
        let mut changes = Vec::new();
        for (column, (declared, key)) in schema.columns().iter().zip(keys).enumerate().skip(first) {
            let settings = settings.get(column);
            let version = settings.and_then(|settings| settings.version.as_deref());
            let now = StoredColumn {
                key: key.clone(),
                name: declared.name.clone(),
                reads: declared.reads.as_deref().map(|reads| views(reads, keys)),
                is_documents: declared.is_documents,
                is_external: settings.is_some_and(|settings| settings.external.is_some()),
                version: version.map(str::to_owned),
                is_gone: false,
            };
            match by_key.get(key).and_then(|&at| next.columns.get_mut(at)) {
                Some(stored) => {
                    changes.extend(stored.changes(&now).filter(|change| !may(column, change)));
                    *stored = now;
                }
                None => next.columns.push(now),
            }
        }
        if let Some(drift) = Drift::new(changes) {
            return Err(drift);
        }
        *self = next;
        Ok(())
    }
}

const LOCATION: &str = "the definition of the flow in the store";

fn damaged(reason: &str) -> StoreError {
    StoreError::damaged(LOCATION, reason)
}

/// A name that is not taken: the name itself, or the name with a number.
fn unused_name(name: &Name, taken: &BTreeSet<Name>) -> Name {
    // Every such prefix is a name once a number follows.
    // Names are ASCII, so each index is a boundary.
    let start = name.get(..name.len().min(MAX_STEM)).unwrap_or_default().trim_end_matches('.');
    let numbered = (2..=taken.len() + 2).filter_map(|number| Name::new(&format!("{start}_{number}")).ok());
    let free = std::iter::once(name.clone()).chain(numbered).find(|name| !taken.contains(name));
    free.unwrap_or_else(|| unreachable!("there are more candidates than taken names"))
}

/// The most bytes of a name before a number.
const MAX_STEM: usize = 40;

impl StoredColumn {
    fn parse(json: &Json) -> Option<Self> {
        let [key, name, version] = ["key", "name", "version"].map(|field| json.get(field)?.as_str());
        let [is_documents, is_external, is_gone] =
            ["documents", "external", "gone"].map(|flag| json.get(flag) == Some(&Json::Bool(true)));
        let key = Name::new(key?).ok()?;
        let name = name.map_or_else(|| Some(key.clone()), |name| Name::new(name).ok())?;
        let reads = match json.get("reads") {
            Some(reads) => {
                let views = reads.as_array()?.iter().map(|view| view.as_str().map(str::to_owned));
                Some(views.collect::<Option<_>>()?)
            }
            None => None,
        };
        let version = version.map(str::to_owned);
        Some(Self { key, name, reads, is_documents, is_external, version, is_gone })
    }

    pub(crate) fn is_source(&self) -> bool {
        self.reads.is_none()
    }

    fn json(&self) -> Json {
        let Self { key, name, reads, is_documents, is_external, version, is_gone } = self;
        // Definitions have always been written in this order.
        object([
            ("documents", is_documents.then(|| true.into())),
            ("external", is_external.then(|| true.into())),
            ("gone", is_gone.then(|| true.into())),
            ("key", Some(key.as_str().into())),
            ("name", (name != key).then(|| name.as_str().into())),
            ("reads", reads.clone().map(Json::from)),
            ("version", version.as_deref().map(Json::from)),
        ])
    }

    /// The changes from the stored column to the declared one.
    fn changes(&self, now: &Self) -> impl Iterator<Item = ColumnChange> + use<> {
        let column = now.name.clone();
        let content = match (&self.reads, &now.reads) {
            (None, None) => (self.is_documents != now.is_documents)
                .then_some(ColumnChange::Documents { column, was_documents: self.is_documents }),
            (Some(stored), Some(declared)) => (stored != declared).then(|| ColumnChange::Reads {
                column,
                stored: stored.join(", "),
                declared: declared.join(", "),
            }),
            (stored, _) => Some(ColumnChange::Kind { column, was_source: stored.is_none() }),
        };
        let external = (self.is_external != now.is_external && !self.is_source() && !now.is_source())
            .then(|| ColumnChange::External { column: now.name.clone(), was_external: self.is_external });
        let version = (self.version != now.version).then(|| ColumnChange::Version {
            column: now.name.clone(),
            stored: self.version.clone(),
            declared: now.version.clone(),
        });
        content.into_iter().chain(external).chain(version)
    }
}

/// The views of a column as in `flow!`, but by keys. Notes are left out, because notes belong to the prompt, as the
/// instruction does.
pub(crate) fn views(reads: &Reads, keys: &[Name]) -> Vec<String> {
    let inputs = reads.all_inputs().map(|input| view(reads, input, keys));
    let history = reads.self_view.as_ref().map(|view| ViewText::SelfHistory(without_note(view)));
    let tiered = reads.tiered.as_ref().map(|documents| {
        let key = keys.get(documents.column).unwrap_or(&documents.name);
        ViewText::Column(key.into(), ViewSpec { tiering: Some(documents.tiering), ..ViewSpec::all() })
    });
    tiered.into_iter().chain(inputs).chain(history).map(|view| view.to_string()).collect()
}

fn view(reads: &Reads, input: &InputView, keys: &[Name]) -> ViewText {
    let key = keys.get(input.column).unwrap_or(&input.name);
    // A tag that is the name itself is left out, so renaming a column changes no reader.
    let has_tag = !input.is_instruction() && input.tag != input.name.tag();
    let tag = has_tag.then(|| String::from(&input.tag));
    let view = ViewText::Column(key.into(), ViewSpec { tag, ..without_note(&input.spec) });
    let groups = input.groups.iter().rev().filter_map(|&group| reads.groups.get(group));
    // Each input has all its groups around, also where a group continues from the input before.
    groups.fold(view, |view, group| ViewText::Group(String::from(&group.tag), vec![view]))
}

fn without_note(spec: &ViewSpec) -> ViewSpec {
    ViewSpec { note: None, ..spec.clone() }
}

/// The name under which a store has the exclusions of a flow: a separate column, with an entry for each, in order. No column
/// of a flow can have this name.
pub(crate) fn exclusions_key() -> Name {
    Name::known("self.exclusions")
}

/// The name under which a store has notes about the batches of a flow, in the same way.
pub(crate) fn batches_key() -> Name {
    Name::known("self.batches")
}

/// The entry of an exclusion. `key` is the key of the column.
pub(crate) fn exclusion_entry(exclusion: &Exclusion, key: &Name) -> Entry {
    let Exclusion { step, since, is_excluded, .. } = exclusion;
    // Stored exclusions have always been written in this order.
    json!({ "column": key.as_str(), "excluded": is_excluded, "since": since, "step": step })
        .to_string()
        .into()
}

/// The exclusion in an entry, with the key of the column as the name; `None` if there is none.
pub(crate) fn parse_exclusion(entry: &Entry) -> Option<Exclusion> {
    let json: Json = serde_json::from_str(entry.value.as_deref()?).ok()?;
    let [step, since] = ["step", "since"].map(|field| usize::try_from(json.get(field)?.as_u64()?).ok());
    let column = Name::new(json.get("column")?.as_str()?).ok()?;
    let is_excluded = json.get("excluded")?.as_bool()?;
    (since > step).then_some(Exclusion { column, step: step?, since: since?, is_excluded })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::{ColumnDraft, FileOrigin, ShownColumn, Tiering};

    fn name(text: &str) -> Name {
        Name::new(text).expect("a name")
    }

    #[test]
    fn a_taken_name_of_any_length_gets_a_number() {
        let long = format!("{}.{}", "m".repeat(39), "c".repeat(64));
        let names = ["a", &"x".repeat(64), &long].map(name);
        let mut taken: BTreeSet<Name> = names.iter().cloned().collect();
        for _ in 0..3 {
            for name in &names {
                let free = unused_name(name, &taken);
                assert!(taken.insert(free));
            }
        }
        assert!(taken.contains("a_4") && taken.len() == 12);
    }

    /// A view that becomes tiered, or gets another target, is a change like any other.
    #[test]
    fn the_tiers_of_a_view_are_a_part_of_its_definition() {
        let draft = |name: &str, views, is_documents| ColumnDraft {
            name: name.to_owned(),
            renamed_from: None,
            views,
            is_documents,
            step_errors: Vec::new(),
            origin: FileOrigin::default(),
        };
        let schema = |tiering| {
            let views = vec![
                (ShownColumn::Column(0), ViewSpec { tiering, ..ViewSpec::all() }),
                (ShownColumn::Column(1), ViewSpec::all()),
                (ShownColumn::Column(2), ViewSpec::all()),
            ];
            let coder = draft("coder", Some(views), false);
            Schema::new(vec![draft("files", None, true), draft("user", None, false), coder])
                .expect("it is sound")
        };
        let mut definition = FlowDefinition::default();
        let tierings = [None, Some(Tiering { target: None }), Some(Tiering { target: Some(3) })];
        let texts = ["files", "files.tiered()", "files.tiered().target(3)"];
        for (stored, text) in tierings.iter().zip(texts) {
            let stored = schema(*stored);
            let keys = definition.keys(&stored);
            definition.update(&stored, &keys, &[], 0, |_, _| true).expect("all is allowed");
            assert!(definition.text().contains(&format!("{text}\",\"user\"")), "{}", definition.text());
            let parsed = FlowDefinition::parse(&definition.text()).expect("it is sound");
            for (declared, other) in tierings.iter().zip(texts) {
                let updated = parsed.clone().update(&schema(*declared), &keys, &[], 0, |_, _| false);
                assert_eq!(updated.is_ok(), text == other, "{text} and {other}");
            }
        }
    }

    #[test]
    fn a_parsed_definition_equals_the_written_one() {
        let stored = |key: &str, called: &str, reads: Option<&[&str]>, version: Option<&str>| StoredColumn {
            key: name(key),
            name: name(called),
            reads: reads.map(|reads| reads.iter().map(ToString::to_string).collect()),
            is_documents: key == "files",
            is_external: key == "answers",
            version: version.map(str::to_owned),
            is_gone: key == "gone",
        };
        let definition = FlowDefinition {
            columns: vec![
                stored("user", "user", None, None),
                stored("files", "files", None, None),
                stored("answers", "answers", Some(&["user.latest"]), None),
                stored("gone", "gone", Some(&["user.latest"]), None),
                stored(
                    "topics",
                    "debate.subjects",
                    Some(&["user.latest.as(\"said\")", "self"]),
                    Some("\"2\"\n"),
                ),
            ],
        };
        assert_eq!(FlowDefinition::parse(&definition.text()).expect("it is sound"), definition);
        let empty = FlowDefinition::default();
        assert_eq!(FlowDefinition::parse(&empty.text()).expect("it is sound"), empty);
    }
}
