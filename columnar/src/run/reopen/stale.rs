//! Cells that another declaration computed than the flow has now.

use std::fmt;
use std::sync::Arc;

use serde_json::json;

use super::definition::views;
use crate::context::ContextForm;
use crate::declare::Name;
use crate::model::usage::{CellReceipt, Fingerprint};
use crate::run::Result;
use crate::run::shared::SharedFlow;
use crate::run::state::{FlowState, receipt};
use crate::run::user_code::caught;
use crate::schedule::Cell;
use crate::store::CHUNK;

/// The cells that another declaration computed than the flow has now. Made by [`stale`](crate::flow::LiveFlow::stale).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StaleCells {
    /// The cells, by column in order of declaration, and by step.
    pub cells: Vec<StaleCell>,
    /// The number of values of which it is not known what computed them: an earlier version stored them, or they were
    /// imported.
    pub unknown: usize,
}

/// A cell that another declaration computed than the flow has now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StaleCell {
    /// The column.
    pub column: Name,
    /// The step, counted from 0.
    pub step: usize,
    /// What has changed; never empty.
    pub reasons: Vec<StaleReason>,
}

/// What has changed since a cell was computed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StaleReason {
    /// The prompt, one of its settings, the type of the column, or the system text of the flow.
    Prompt,
    /// The model: neither the model of the column nor one of its backups has the name of the model that answered.
    Model {
        /// The name of the model that answered.
        answered: Arc<str>,
    },
    /// The [version](crate::compute::Policy::version) of the compute step.
    Version,
    /// The views of the column.
    Views,
}

impl fmt::Display for StaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prompt => f.write_str("another prompt"),
            Self::Model { answered } => write!(f, "another model, `{answered}`"),
            Self::Version => f.write_str("another version"),
            Self::Views => f.write_str("other views"),
        }
    }
}

/// What computes a column now.
struct DeclaredNow {
    column: Name,
    made: Fingerprint,
    /// The names of the models. Empty if the column calls none that is known.
    models: Vec<Arc<str>>,
}

impl DeclaredNow {
    /// Compares a cell with this receipt.
    fn check(&self, step: usize, receipt: &CellReceipt, stale: &mut StaleCells) {
        let Some(made) = receipt.made else {
            stale.unknown += 1;
            return;
        };
        let model = receipt.calls.as_ref().and_then(|calls| calls.model.as_ref());
        let reasons = self.changes(made, model);
        if !reasons.is_empty() {
            stale.cells.push(StaleCell { column: self.column.clone(), step, reasons });
        }
    }

    fn changes(&self, made: Fingerprint, model: Option<&Arc<str>>) -> Vec<StaleReason> {
        let model = model.filter(|name| !self.models.is_empty() && !self.models.contains(name));
        let model = model.map(|name| StaleReason::Model { answered: Arc::clone(name) });
        let changed = [
            (self.made.prompt != made.prompt).then_some(StaleReason::Prompt),
            model,
            (self.made.version != made.version).then_some(StaleReason::Version),
            (self.made.views != made.views).then_some(StaleReason::Views),
        ];
        changed.into_iter().flatten().collect()
    }
}

impl FlowState {
    /// What computes a column now.
    ///
    /// The views are compared as in the stored definition: by keys, so that a renamed column is no change. A prompt is its
    /// instruction, which a typed column extends by the schema, the settings of the request, the notes on the inputs, the
    /// form of the context, and the system text of the flow. A budget is left out, as a longer budget shows the same in most
    /// requests.
    pub(crate) fn fingerprint(&mut self, column: usize) -> Fingerprint {
        if let Some(Some(made)) = self.fingerprints.get(column) {
            return *made;
        }
        let settings = self.settings.get(column).cloned().unwrap_or_default();
        let Some(reads) = self.plan.schema().reads(column) else { return Fingerprint::default() };
        let has_prompt = settings.instruction.is_some() || settings.reply_settings.is_some();
        let prompt = has_prompt.then(|| {
            let form = match settings.form {
                ContextForm::Tagged => 0,
                ContextForm::Conversation => 1,
                ContextForm::Document => 2,
            };
            let views = reads.all_inputs().map(|input| &input.spec).chain(&reads.self_view);
            let notes: Vec<_> = views.map(|view| view.note.as_deref()).collect();
            let system = self.defaults.system.as_deref();
            json!([settings.instruction.as_deref(), settings.reply_settings.as_deref(), form, notes, system])
                .to_string()
        });
        let views = views(reads, &self.stored.keys).join("\n");
        let made = Fingerprint::new(prompt.as_deref(), settings.version.as_deref(), &views);
        self.fingerprints.resize(self.plan.schema().columns().len(), None);
        if let Some(slot) = self.fingerprints.get_mut(column) {
            *slot = Some(made);
        }
        made
    }
}

impl FlowState {
    /// The names of the models that a column may call; none if a model panics.
    fn model_names(&self, column: usize) -> Vec<Arc<str>> {
        let choice = self.settings.get(column).and_then(|settings| settings.model.as_ref());
        let names = choice.and_then(|choice| caught(|| choice.model_names(&self.defaults.model)));
        names.unwrap_or_default()
    }
}

impl SharedFlow {
    /// The cells that another declaration computed. Receipts that are not in memory are read from the store, and not kept.
    pub(crate) async fn stale(&self) -> Result<StaleCells> {
        // A copy, because the names of models are code of users.
        let mut copy = self.lock().before(usize::MAX);
        let plan = Arc::clone(&copy.plan);
        let mut stale = StaleCells::default();
        for (column, declared) in plan.schema().columns().iter().enumerate() {
            if plan.schema().is_source(column) {
                continue;
            }
            let now = DeclaredNow {
                column: declared.name.clone(),
                made: copy.fingerprint(column),
                models: copy.model_names(column),
            };
            let known = stale.cells.len();
            let cells = (0..copy.scheduler.end(column)).map(|step| Cell { column, step });
            for cell in cells.filter(|cell| copy.table.has(*cell)) {
                now.check(cell.step, &copy.cell_receipt(cell), &mut stale);
            }
            if let Some(unloaded) = copy.unloaded.get(&column) {
                for steps in unloaded.steps.chunks(CHUNK) {
                    let entries = unloaded.read(&steps).await?.into_iter();
                    for (step, entry) in entries.filter(|(_, entry)| !entry.is_skipped()) {
                        now.check(step, &receipt(&entry).unwrap_or_default(), &mut stale);
                    }
                }
            }
            if let Some(cells) = stale.cells.get_mut(known..) {
                cells.sort_unstable_by_key(|cell| cell.step);
            }
        }
        Ok(stale)
    }
}
