//! A described flow as a flow of the library.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use columnar::compute::{IntoStep, Policy, Step};
use columnar::flow::{ColumnId, Typed};
use columnar::reopen::IntoOpenOptions;
use columnar::{
    Column, Context, Event, Flow, Messages, Result, Value, View, column, flow, group, prev, source, this,
};

use futures::stream::TryStreamExt;

use crate::naive::{self, Filter, Reads, Window};

/// The messages that the compute steps got, by column and step.
pub type Seen = BTreeMap<(String, usize), Messages>;

/// Cells whose compute steps fail, by column and step.
pub type Gaps = BTreeSet<(String, usize)>;

/// A flow of the library whose compute steps return the described values and record all messages.
#[derive(Debug)]
pub struct Live {
    /// The flow.
    pub flow: Flow,
    /// The declarations of the flow, in the order of the description.
    pub columns: Vec<Column>,
    seen: Arc<Mutex<Seen>>,
}

impl Live {
    /// Declares the flow. A cell yields to the runtime as many times as `pauses` says for it.
    ///
    /// # Errors
    ///
    /// The errors of [`flow`](flow()).
    pub fn declare(described: &naive::Flow, pauses: &[usize]) -> Result<Self> {
        let (columns, seen) = declare(described, pauses, &Gaps::new());
        Ok(Self { flow: flow(&columns)?, columns, seen })
    }

    /// The same, with compute steps that fail in these cells, and columns that may be skipped.
    ///
    /// # Errors
    ///
    /// The errors of [`flow`](flow()).
    pub fn with_gaps(described: &naive::Flow, gaps: &Gaps, pauses: &[usize]) -> Result<Self> {
        let (columns, seen) = declare(described, pauses, gaps);
        Ok(Self { flow: flow(&columns)?, columns, seen })
    }

    /// The same on top of a store, without any pause.
    ///
    /// # Errors
    ///
    /// The errors of [`Flow::open`].
    pub async fn open(options: impl IntoOpenOptions, described: &naive::Flow) -> Result<Self> {
        Self::open_with_gaps(options, described, &Gaps::new()).await
    }

    /// The same, with compute steps that fail in these cells, and columns that may be skipped.
    ///
    /// # Errors
    ///
    /// The errors of [`Flow::open`].
    pub async fn open_with_gaps(
        options: impl IntoOpenOptions,
        described: &naive::Flow,
        gaps: &Gaps,
    ) -> Result<Self> {
        let (columns, seen) = declare(described, &[0], gaps);
        Ok(Self { flow: Flow::open(options, &columns).await?, columns, seen })
    }

    /// Pushes the values that the sources have at a step.
    ///
    /// # Errors
    ///
    /// The errors of [`Flow::push`](columnar::Flow::push).
    pub async fn push(&self, described: &naive::Flow, step: usize) -> Result<()> {
        for source in described.columns.iter().filter(|column| column.reads.is_none()) {
            if let Some(value) = source.values.get(step) {
                self.flow.push(&source.name, value).await?;
            }
        }
        Ok(())
    }

    /// Pushes everything, then runs once.
    ///
    /// # Errors
    ///
    /// The errors of the pushes and of the run.
    pub async fn fill(&self, described: &naive::Flow) -> Result<()> {
        for step in 0..described.steps() {
            self.push(described, step).await?;
        }
        self.flow.run().await
    }

    /// The messages that the compute steps got so far.
    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn declare(described: &naive::Flow, pauses: &[usize], gaps: &Gaps) -> (Vec<Column>, Arc<Mutex<Seen>>) {
    let seen = Arc::<Mutex<Seen>>::default();
    let declared = columns(described, |at, described| {
        // Each column starts elsewhere in the list, so the columns do not pause in step.
        let pauses = pauses.iter().copied().cycle().skip(at * described.values.len());
        let values = described.values.iter().enumerate().map(|(step, value)| {
            let is_gap = gaps.contains(&(described.name.clone(), step));
            (!is_gap).then(|| value.clone())
        });
        let step = answer(values.zip(pauses).collect(), Arc::clone(&seen));
        if gaps.is_empty() { step.into_step() } else { step.or_skip() }
    });
    (declared, seen)
}

/// The described columns. `step` makes the compute step of each derived column, from the index and the description of
/// the column.
pub fn columns(
    described: &naive::Flow,
    step: impl Fn(usize, &naive::Column) -> Step<'static>,
) -> Vec<Column> {
    let mut declared: Vec<Column> = Vec::new();
    for (at, described) in described.columns.iter().enumerate() {
        declared.push(match &described.reads {
            None => source(&described.name),
            Some(reads) => column(&described.name, views(reads, &declared), step(at, described)),
        });
    }
    declared
}

/// Pushes values to a source.
///
/// # Errors
///
/// The errors of [`Flow::push`](columnar::Flow::push).
pub async fn push_all<V: Into<Value>>(
    flow: &Flow,
    source: &str,
    values: impl IntoIterator<Item = V>,
) -> Result<()> {
    for value in values {
        flow.push(source, value).await?;
    }
    Ok(())
}

/// Runs a flow, and returns the columns and steps of the emitted values.
///
/// # Errors
///
/// The errors of the run.
pub async fn values<C, I: ColumnId + Copy>(flow: &Typed<'_, C, I>) -> Result<Vec<(I, usize)>> {
    let events = flow.run().try_collect::<Vec<Event<I>>>().await?;
    let value = |event: &Event<I>| match event {
        Event::Value { column, step, .. } => Some((*column, *step)),
        _ => None,
    };
    Ok(events.iter().filter_map(value).collect())
}

/// Waits for a future on this thread alone.
///
/// # Panics
///
/// If no runtime can be created.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime of one thread needs nothing").block_on(future)
}

/// Messages of the library in the form of [`naive`].
pub fn plain(messages: &Messages) -> naive::Messages {
    messages.iter().map(|(role, content)| (role.as_str(), content.into_owned())).collect()
}

fn views(reads: &Reads, declared: &[Column]) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    for neighbours in grouped(&reads.views, 0) {
        views.push(item(neighbours, 0, declared));
    }
    if let Some(window) = reads.self_history {
        views
            // A group makes one view of several, so the position may be beyond the end.
            .insert(reads.self_position.min(views.len()), elided(reads.self_elided, through(window, this())));
    }
    views
}

fn grouped(views: &[naive::View], depth: usize) -> impl Iterator<Item = &[naive::View]> {
    views.chunk_by(move |one, other| {
        one.groups.get(depth).is_some() && one.groups.get(depth) == other.groups.get(depth)
    })
}

/// A view, or a group of views.
fn item(views: &[naive::View], depth: usize, declared: &[Column]) -> View {
    match views {
        [view] if view.groups.len() <= depth => input(view, declared).expect("it is declared"),
        [first, ..] => {
            let inside: Vec<View> =
                grouped(views, depth + 1).map(|views| item(views, depth + 1, declared)).collect();
            group(first.groups.get(depth).expect("neighbours share a group"), inside)
        }
        [] => unreachable!("a chunk has something in it"),
    }
}

/// Sets the tag only if the tag differs from the name.
fn input(view: &naive::View, declared: &[Column]) -> Option<View> {
    let shown = if view.lagged {
        through(view.window, prev(&view.column).all())
    } else {
        through(view.window, declared.iter().find(|column| column.name() == view.column)?.all())
    };
    let shown = match view.filter {
        None => shown,
        Some(filter @ Filter::Steps(_)) => shown.sample(move |step| filter.shows(step, "")),
        Some(filter @ Filter::Odd) => shown.filter(move |text| filter.shows(0, text)),
    };
    let shown = elided(view.elided, shown);
    Some(if view.tag == view.column { shown } else { shown.named(&view.tag) })
}

fn elided(elided: bool, view: View) -> View {
    if elided { view.elided() } else { view }
}

fn through(window: Window, view: View) -> View {
    match window {
        Window::All => view,
        Window::Last(1) => view.latest(),
        Window::Last(count) => view.window(count),
    }
}

/// A compute step with a value for each step, after a pause.
fn answer(
    cells: Vec<(Option<String>, usize)>,
    seen: Arc<Mutex<Seen>>,
) -> impl Fn(Context) -> Answer + Send + Sync {
    move |cx| {
        let cell = (cx.column().to_string(), cx.step());
        // When the step is called, so that a cell which never finishes is recorded as well.
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert(cell, cx.messages().clone());
        let answer = cells.get(cx.step()).cloned();
        Box::pin(async move {
            let (value, pauses) = answer.ok_or("no value is described for this step")?;
            for _ in 0..pauses {
                tokio::task::yield_now().await;
            }
            value.ok_or("it is meant to fail")
        })
    }
}

type Answer = std::pin::Pin<Box<dyn Future<Output = Result<String, &'static str>> + Send>>;
