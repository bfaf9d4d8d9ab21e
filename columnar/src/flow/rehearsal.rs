//! The past of a column under another prompt or model, before the column is changed.
//!
//! A rehearsal is a flow of its own. Its step is a step of the rehearsed flow:
//!
//! ```text
//! step, request, old ──▶ new ──▶ judgement
//!                         ▲
//!                         └── the context that the column had at that step
//! ```
//!
//! So runs, batches, limits, receipts and stores need nothing for rehearsals.

use std::fmt;
use std::ops::{Bound, Deref, RangeBounds};
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt};
use futures::stream;

use super::column::{Column, View, source};
use super::comparison::{ComparedStep, Comparison};
use super::declarations::Declarations;
use super::dynamic::{Dynamic, Flow, plan, recompute};
use super::generated::Columns;
use super::live::LiveFlow;
use crate::compute::{Context, IntoStep, Step};
use crate::declare::Name;
use crate::history::Value;
use crate::model::Choice;
use crate::run::reopen::{IntoOpenOptions, OpenOptions, StaleCell, StaleReason};
use crate::run::{AdoptedColumn, ColumnId, ComputeSteps, Error, RehearsedContexts, Result, SharedFlow};
use crate::schedule::Cell;

/// The columns of a rehearsal.
const STEP: &str = "step";
const REQUEST: &str = "request";
const OLD: &str = "old";
const NEW: &str = "new";
const JUDGEMENT: &str = "judgement";

/// A [rehearsal](LiveFlow::rehearse) that begins when it is awaited.
#[must_use = "a rehearsal begins when it is awaited"]
pub struct Rehearse<'f, 'a, C, I = Name> {
    flow: &'f LiveFlow<'a, C, I>,
    column: String,
    step: Option<Step<'a>>,
    judge: Option<Step<'a>>,
    steps: (Bound<usize>, Bound<usize>),
    store: Option<OpenOptions>,
}

/// The stored steps of a column, computed again by another step, with the contexts of then. The
/// [guide](crate::guide::rehearsals) has the whole way.
///
/// A rehearsal is a [`Flow`] with these columns, one row for each rehearsed step:
///
/// | column | values |
/// |---|---|
/// | `step` | the number of the step |
/// | `request` | the last message of the context |
/// | `old` | the value that the flow has |
/// | `new` | the value of the other step |
/// | `judgement` | what the [judge](Rehearse::judge) says, if there is one |
///
/// It derefs to that flow: [`forecast`](LiveFlow::forecast), [`run`](LiveFlow::run) or [`batch`](crate::guide::batches),
/// [`set_spend_limit`](LiveFlow::set_spend_limit) and [`bill`](LiveFlow::bill) are the methods of every flow.
pub struct Rehearsal<'f, 'a, C, I = Name> {
    flow: &'f LiveFlow<'a, C, I>,
    column: Name,
    /// The other step, with the type of the column.
    step: Step<'a>,
    /// The rehearsed steps, by row.
    steps: Vec<usize>,
    trial: LiveFlow<'a, Dynamic>,
}

impl<'a, C, I> LiveFlow<'a, C, I> {
    /// Computes stored steps of a column again, each with the context as it was, to see what another prompt or model would
    /// have said. This flow does not change, and neither does its store.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let desk = flow! {
    ///     source ticket;
    ///     column reply(ticket, self) = script(["Please restart it.", "It is on its way."]);
    /// };
    /// desk.ticket.push_all(["It does not start.", "Where is it?"]).await?;
    /// desk.run().await?;
    ///
    /// let rehearsal = desk
    ///     .rehearse("reply")
    ///     .with(script(["Please restart it.", "We sent it on Monday."]))
    ///     .judge(|cx: Context| async move {
    ///         if cx.input("new") == cx.input("old") { "as before" } else { "another answer" }
    ///     })
    ///     .await?;
    /// assert_eq!(rehearsal.forecast().cells, 4);
    /// rehearsal.run().await?;
    ///
    /// let comparison = rehearsal.comparison();
    /// assert_eq!((comparison.same(), comparison.different()), (1, 1));
    /// assert_eq!(comparison.judgements(), [("another answer", 1), ("as before", 1)]);
    ///
    /// let adopted = rehearsal.adopt()?;
    /// assert_eq!(adopted.reply.get(1).as_deref(), Some("We sent it on Monday."));
    /// assert_eq!(desk.reply.get(1).as_deref(), Some("It is on its way."));
    /// # Ok(()) }
    /// ```
    pub fn rehearse(&self, column: impl Into<String>) -> Rehearse<'_, 'a, C, I> {
        let column = column.into();
        let steps = (Bound::Unbounded, Bound::Unbounded);
        Rehearse { flow: self, column, step: None, judge: None, steps, store: None }
    }
}

impl<'f, 'a, C, I> Rehearse<'f, 'a, C, I> {
    /// Sets the step that computes the new values, with its policies. In a typed column these values have the type of the
    /// column. By default the step of the column is repeated, which shows how much the values vary.
    pub fn with<Form>(mut self, step: impl IntoStep<'a, Form>) -> Self {
        self.step = Some(step.into_step());
        self
    }

    /// Sets the step that judges each new value: a prompt or a function that reads `request`, `old` and `new`, with a
    /// [type](crate::compute::Policy::typed) if that is wanted.
    pub fn judge<Form>(mut self, judge: impl IntoStep<'a, Form>) -> Self {
        self.judge = Some(judge.into_step());
        self
    }

    /// Sets the steps to rehearse; by default all. Of these, a rehearsal has the steps at which the column has a value.
    pub fn steps(mut self, steps: impl RangeBounds<usize>) -> Self {
        self.steps = (steps.start_bound().cloned(), steps.end_bound().cloned());
        self
    }

    /// Sets a store, in which the rehearsal can be continued: the same rehearsal on the same store computes what is missing.
    /// More steps may follow later. Without a store the rehearsal is in memory.
    pub fn store(mut self, store: impl IntoOpenOptions) -> Self {
        self.store = Some(store.into_open_options());
        self
    }

    async fn begin(self) -> Result<Rehearsal<'f, 'a, C, I>> {
        let Self { flow, column, step, judge, steps, store } = self;
        let shared = &flow.shared;
        let original = shared.find(&column)?;
        let column = shared.plan().schema().name(original).clone();
        let Some(own) = flow.steps.get(original) else { return Err(Error::NotDerived { column }) };
        let step = step.map_or_else(|| own.clone(), |step| step.typed_as(&own.settings));
        shared.load(0).await?;
        let values: Vec<(usize, Value)> = {
            let state = shared.lock();
            let steps = (0..state.scheduler.end(original)).filter(|at| steps.contains(at));
            steps.filter_map(|step| Some((step, state.table.get(Cell { column: original, step })?))).collect()
        };
        let steps = values.iter().map(|(step, _)| *step).collect::<Vec<_>>();
        let trial = trial(&step, judge.as_ref(), store.as_ref())?;
        let rehearsed = RehearsedContexts {
            column: Name::new(NEW).map_err(|_| Error::unknown_column(NEW, Vec::new()))?,
            past: shared.with_settings(original, Arc::clone(&step.settings)),
            original,
            steps: steps.clone(),
        };
        trial.inherit(shared, rehearsed);
        if let Some(options) = &store {
            trial.shared.restore(options).await?;
        }
        let rehearsal = Rehearsal { flow, column, step, steps, trial };
        rehearsal.check(&values).await?;
        rehearsal.push(original, values).await?;
        Ok(rehearsal)
    }
}

impl<'f, 'a: 'f, C: Sync, I: ColumnId + 'f> IntoFuture for Rehearse<'f, 'a, C, I> {
    type Output = Result<Rehearsal<'f, 'a, C, I>>;
    type IntoFuture = BoxFuture<'f, Self::Output>;

    /// Begins the rehearsal: loads the flow, and pushes the old values. Nothing is computed.
    ///
    /// # Errors
    ///
    /// - [`Error::UnknownColumn`]; [`Error::NotDerived`] for a source; [`Error::Schema`] for an invalid step.
    /// - [`Error::Load`] if the values of the flow cannot be read, and the errors of [`messages`](LiveFlow::messages).
    /// - [`Error::OtherRehearsal`] if the store has a rehearsal of other steps, or with another prompt or model;
    ///   the errors of [`Flow::open`] and of [`Flow::push`].
    fn into_future(self) -> Self::IntoFuture {
        self.begin().boxed()
    }
}

/// The flow of a rehearsal, without values.
fn trial<'a>(
    step: &Step<'a>,
    judge: Option<&Step<'a>>,
    store: Option<&OpenOptions>,
) -> Result<LiveFlow<'a, Dynamic>> {
    let [at, request, old] = [STEP, REQUEST, OLD].map(source);
    let new = declared(NEW, vec![old.latest()], step);
    let judgement =
        judge.map(|judge| declared(JUDGEMENT, vec![request.latest(), old.latest(), new.latest()], judge));
    let columns = [at, request, old, new].into_iter().chain(judgement).collect();
    let declarations = Declarations::default().with_all(columns)?;
    let steps = declarations.columns.iter().map(|column| match column.name() {
        NEW => Some(step.clone()),
        JUDGEMENT => judge.cloned(),
        _ => None,
    });
    let steps = ComputeSteps::new(steps.collect());
    let store = store.map(|options| Arc::clone(&options.store));
    let shared = SharedFlow::new(plan(&declarations)?, store, &steps);
    Ok(LiveFlow::of_parts(Dynamic::new(declarations), Arc::new(shared), steps))
}

/// A column with another step in place of this one: declarations have steps that borrow nothing.
fn declared(name: &str, views: Vec<View>, step: &Step<'_>) -> Column {
    let placed = step.settings.check_place().map(|()| Step::new(|_: Context| async { "" }));
    Column::derived(name.to_owned(), views, placed.map_err(|error| vec![error]))
}

impl LiveFlow<'_, Dynamic> {
    /// Takes the contexts and the settings of a flow that is rehearsed. Its spend limit is for its own calls.
    fn inherit(&self, flow: &SharedFlow, contexts: RehearsedContexts) {
        let (counter, defaults) = {
            let state = flow.lock();
            (Arc::clone(&state.counter), Arc::clone(&state.defaults))
        };
        self.set_model(defaults.model.clone());
        self.set_pace(defaults.pace);
        self.shared.set_counter(counter);
        self.shared.change(|state| state.rehearsed.replace(Arc::new(contexts)));
    }
}

impl<C, I> Rehearsal<'_, '_, C, I> {
    /// Checks that the store has no other rehearsal.
    async fn check(&self, values: &[(usize, Value)]) -> Result<()> {
        for row in 0..self.rows(STEP).max(self.rows(OLD)) {
            let step = values.get(row).map(|(step, _)| Value::from(step.to_string()));
            let old = values.get(row).map(|(_, value)| value.clone());
            for (source, expected, difference) in
                [(STEP, step, "is of another step"), (OLD, old, "has another old value")]
            {
                let stored = self.value(source, row);
                if stored.is_some() && stored != expected {
                    return Err(self.other(format!("row {row} {difference}")));
                }
            }
        }
        for StaleCell { column, step, reasons } in self.trial.stale().await?.cells {
            // A run by batches may have answered with another model than the one that the flow has.
            let inherits = self.trial.shared.by_name(&column, |state, column| {
                let model = state.settings.get(column).and_then(|settings| settings.model.as_ref());
                matches!(model, Some(Choice::Inherited))
            })?;
            let mut reasons = reasons.iter();
            let reason = reasons.find(|reason| !inherits || !matches!(reason, StaleReason::Model { .. }));
            if let Some(reason) = reason {
                return Err(self.other(format!("`{column}` in row {step} has the value of {reason}")));
            }
        }
        Ok(())
    }

    fn other(&self, reason: String) -> Error {
        Error::OtherRehearsal { column: self.column.clone(), reason: reason.into_boxed_str() }
    }

    /// Pushes the rows that the store does not have.
    async fn push(&self, original: usize, values: Vec<(usize, Value)>) -> Result<()> {
        let asked = values.iter().skip(self.rows(REQUEST)).map(|(step, _)| {
            let messages = self.flow.shared.messages(original, *step)?;
            Ok(Value::from(messages.last_text().into_owned()))
        });
        let requests = asked.collect::<Result<Vec<_>>>()?;
        let steps: Vec<_> =
            values.iter().skip(self.rows(STEP)).map(|(step, _)| Value::from(step.to_string())).collect();
        let old: Vec<_> = values.into_iter().skip(self.rows(OLD)).map(|(_, value)| value).collect();
        for (source, values) in [(STEP, steps), (REQUEST, requests), (OLD, old)] {
            self.trial.shared.push_all(source, stream::iter(values)).await?;
        }
        Ok(())
    }

    /// The number of rows that a source has.
    fn rows(&self, source: &str) -> usize {
        self.trial.shared.by_name(source, |state, column| state.scheduler.len(column)).unwrap_or(0)
    }

    fn value(&self, column: &str, row: usize) -> Option<Value> {
        self.trial.shared.by_name(column, |state, column| state.table.get(Cell { column, step: row })).ok()?
    }

    /// The old and the new values so far, step by step. Values that are not computed yet are missing.
    pub fn comparison(&self) -> Comparison {
        let steps = self.steps.iter().enumerate().filter_map(|(row, &step)| {
            Some(ComparedStep {
                step,
                old: self.value(OLD, row)?,
                new: self.value(NEW, row),
                judgement: self.value(JUDGEMENT, row),
                old_receipt: self.flow.try_receipt(&self.column, step).ok().flatten(),
                new_receipt: self.trial.try_receipt(NEW, row).ok().flatten(),
            })
        });
        Comparison { column: self.column.clone(), steps: steps.collect() }
    }

    /// The new values, with their receipts, as a column of the flow has them.
    fn adopted(&self, column: usize) -> AdoptedColumn {
        let steps = self.comparison().steps.into_iter();
        let cells = steps.filter_map(|step| Some((step.step, step.new?, step.new_receipt)));
        AdoptedColumn { column, cells: cells.collect() }
    }
}

impl Rehearsal<'_, 'static, Dynamic> {
    /// Another flow, whose column has the new step and the new values; see
    /// [`replace_column`](LiveFlow::replace_column). The steps that were not rehearsed, and all dependent columns, are
    /// computed by the next run of that flow. A [durable fork](LiveFlow::fork_into) of that flow keeps the values.
    ///
    /// # Errors
    ///
    /// The errors of [`replace_column`](LiveFlow::replace_column).
    pub fn adopt(&self) -> Result<Flow> {
        let column = self.flow.declaration(&self.column)?.with_step(self.step.clone());
        self.flow.replacing(&column, |column| self.adopted(column))
    }
}

impl<'a, C: Columns, I: ColumnId> Rehearsal<'_, 'a, C, I> {
    /// Another flow, whose column has the new step and the new values. The steps that were not rehearsed, and all dependent
    /// columns, are computed by the next run of that flow; all other values are shared with this flow. A
    /// [durable fork](LiveFlow::fork_into) of that flow keeps the values.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownColumn`] if the column was removed.
    pub fn adopt(&self) -> Result<LiveFlow<'a, C, I>> {
        let shared = &self.flow.shared;
        let column = shared.find(&self.column)?;
        let plan = shared.plan();
        let mut origins: Vec<_> = (0..plan.schema().columns().len()).map(Some).collect();
        recompute(&plan, column, &mut origins);
        let steps = self.flow.steps.fork();
        if let Some(slot) = steps.lock().get_mut(column) {
            *slot = Some(self.step.clone());
        }
        let shared = shared.derive(plan, &origins, &steps, Some(self.adopted(column)));
        Ok(LiveFlow::bound(Arc::new(shared), steps))
    }
}

impl<'a, C, I> Deref for Rehearsal<'_, 'a, C, I> {
    type Target = LiveFlow<'a, Dynamic>;

    fn deref(&self) -> &Self::Target {
        &self.trial
    }
}

impl<C, I> fmt::Debug for Rehearse<'_, '_, C, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rehearse").field("column", &self.column).finish_non_exhaustive()
    }
}

impl<C, I> fmt::Debug for Rehearsal<'_, '_, C, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { column, trial, .. } = self;
        f.debug_struct("Rehearsal").field("column", column).field("flow", trial).finish_non_exhaustive()
    }
}
