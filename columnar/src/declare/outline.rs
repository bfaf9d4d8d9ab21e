//! The outline of a flow: the facts that follow from the declaration alone.

use std::fmt;

use crate::declare::{Name, Plan, Purpose, Reads, RequestShape, Schema, SharedOutline, ViewSpec, Window};

/// The outline of a flow: for each column the dependencies, the level, the growth of the contexts, and the part of each
/// request that the next one repeats. It follows from the declaration, before anything runs.
///
/// Prints as a table with one line for each column. It is made by
/// [`Graph::outline`](crate::graph::Graph::outline) and [`LiveFlow::outline`](crate::flow::LiveFlow::outline).
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column topics(user.latest)        = prompt("List the topics.");
///         column summary(user, self.latest) = prompt("Update the summary.");
///         column assistant(user, self)      = prompt("You are a helpful assistant.");
///     }
/// }
///
/// let table = "\
/// user       level 0  source
/// topics     level 1  map          at most 1 value    repeats the instruction
/// summary    level 1  reducer      grows every step   repeats all but the last step
/// assistant  level 1  accumulator  grows every step   repeats everything
/// ";
/// assert_eq!(Chat::GRAPH.outline().to_string(), table);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outline {
    /// The columns in order of declaration.
    pub columns: Vec<ColumnOutline>,
}

/// The outline of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnOutline {
    /// The column.
    pub name: Name,
    /// The length of the longest chain of columns that the value waits for; 0 for a source. Columns of one level may
    /// run at the same time.
    pub level: usize,
    /// The views of other columns, in order of declaration.
    pub reads: Vec<ViewOutline>,
    /// The window of the self history, if the column reads any.
    pub self_window: Option<Window>,
    /// The pattern of reading; `None` for a source.
    pub pattern: Option<Pattern>,
    /// Whether the column is a source of documents, and not of text.
    pub is_documents: bool,
    /// Whether the values come [from outside](crate::compute::external). The outline of a [graph](crate::graph::Graph::outline)
    /// knows no compute steps, and says `false`.
    pub is_external: bool,
    /// The number of values that the context shows.
    pub growth: Growth,
    /// The part of the request that the next one repeats, once the windows are full and if no column skips steps.
    pub repeats: Repeats,
    /// The columns whose requests at a step begin as the request of this column. The outline of a
    /// [graph](crate::graph::Graph::outline) knows no settings, so it has threads alone.
    pub shares: Vec<SharedOutline>,
}

/// A view of another column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is a modifier")]
pub struct ViewOutline {
    /// The column.
    pub column: Name,
    /// The values that are shown.
    pub window: Window,
    /// The number of steps by which each value is shown later. Within a step nothing waits for such a value.
    pub lag: usize,
    /// Whether the view shows documents in tiers.
    pub is_tiered: bool,
    /// Whether the view shows documents as a log that is compacted.
    pub is_compacted: bool,
    /// Whether the request [continues](crate::Column::thread) the conversation of the column.
    pub is_thread: bool,
    /// The purpose of the values: instructions are in the system text.
    pub purpose: Purpose,
    /// Whether the view shows the values without the attachments.
    pub is_text_only: bool,
}

/// A pattern of reading: how much a column reads of others and of the self history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pattern {
    /// The column reads this step only.
    Map,
    /// The column reads a number of last steps.
    Window,
    /// The column reads all values of some other columns, and its own last values or none.
    Reducer,
    /// The column reads all its own values, and the new ones of other columns.
    Journal,
    /// The column reads everything.
    Accumulator,
    /// The column continues the conversation of another one.
    Thread,
}

/// The number of values that a context shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// At most this number, at every step.
    Constant(usize),
    /// More with every step.
    Linear,
}

/// The part of a request that the next request of the column repeats, from the beginning on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repeats {
    /// Everything.
    Everything,
    /// Everything but the messages of this number of last steps; of more, if a column with a window skips steps.
    AllBut(usize),
    /// The tiers of documents before the first one that changes.
    Tiers,
    /// Everything, until documents are laid anew.
    Log,
    /// The instruction, but no message.
    Instruction,
    /// What the conversation that the column continues repeats.
    Thread,
}

impl Outline {
    /// `shapes` are the settings by column, if they are known.
    pub(crate) fn of(plan: &Plan, shapes: &[RequestShape]) -> Self {
        let schema = plan.schema();
        let mut levels = std::vec![0; schema.columns().len()];
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by_key(|&column| plan.rank(column));
        // In topological order every input has the level before the readers ask for it.
        for column in order {
            let inputs = schema.reads(column).into_iter().flat_map(|reads| reads.read_now());
            let level = inputs.filter_map(|input| levels.get(input)).max();
            let level = level.map_or(0, |level| level + 1);
            if let Some(slot) = levels.get_mut(column) {
                *slot = level;
            }
        }
        let columns = levels.into_iter().zip(SharedOutline::all(schema, shapes)).enumerate();
        let columns = columns.map(|(column, (level, shares))| ColumnOutline {
            shares,
            is_external: shapes.get(column).is_some_and(|shape| shape.is_external),
            ..ColumnOutline::of(schema, column, level)
        });
        Self { columns: columns.collect() }
    }
}

impl ColumnOutline {
    fn of(schema: &Schema, column: usize, level: usize) -> Self {
        let reads = schema.reads(column).map(|reads| &**reads);
        Self {
            name: schema.name(column).clone(),
            level,
            reads: reads.map_or_else(Vec::new, ViewOutline::all),
            self_window: reads.and_then(|reads| reads.self_view.as_ref()).map(|view| view.window),
            pattern: reads.map(Pattern::of),
            is_documents: schema.is_documents(column),
            is_external: false,
            growth: reads.map_or(Growth::Constant(0), |reads| Growth::of(schema, reads)),
            repeats: reads.map_or(Repeats::Everything, Repeats::of),
            shares: Vec::new(),
        }
    }
}

impl ViewOutline {
    /// The documents in tiers are the first view, as in the request.
    fn all(reads: &Reads) -> Vec<Self> {
        let tiered = reads.tiered.iter().map(|documents| {
            let of_all = Self::of_column(documents.name.clone(), &ViewSpec::all());
            Self { is_tiered: true, ..of_all }
        });
        let inputs = reads.all_inputs().map(|input| Self::of_column(input.name.clone(), &input.spec));
        tiered.chain(inputs).collect()
    }

    fn of_column(column: Name, spec: &ViewSpec) -> Self {
        let &ViewSpec { window, lag, purpose, text_only: is_text_only, thread: is_thread, .. } = spec;
        let is_compacted = spec.compaction.is_some();
        Self { column, window, lag, is_tiered: false, is_compacted, is_thread, purpose, is_text_only }
    }
}

/// The windows of the views that show values.
fn windows(reads: &Reads) -> impl Iterator<Item = Window> {
    reads.all_inputs().map(|input| &input.spec).chain(&reads.self_view).map(|view| view.window)
}

impl Pattern {
    fn of(reads: &Reads) -> Self {
        if reads.thread.is_some() {
            return Self::Thread;
        }
        let reads_all = reads.all_inputs().any(|input| input.spec.window == Window::All);
        let is_latest = reads.all_inputs().all(|input| input.spec.window == Window::LATEST);
        match reads.self_view.as_ref().map(|view| view.window) {
            // The order counts: an arm relies on those above it not to match.
            Some(Window::All) if reads_all => Self::Accumulator,
            Some(Window::All) => Self::Journal,
            None if windows(reads).all(|window| window == Window::All) => Self::Accumulator,
            _ if reads_all => Self::Reducer,
            None if is_latest => Self::Map,
            _ => Self::Window,
        }
    }
}

impl Growth {
    fn of(schema: &Schema, reads: &Reads) -> Self {
        let thread = reads.thread.as_ref().and_then(|thread| schema.reads(thread.column));
        let of_thread = thread.map_or(Self::Constant(0), |thread| Self::of(schema, thread));
        let Self::Constant(of_thread) = of_thread else { return Self::Linear };
        windows(reads)
            // A window may be as large as `usize::MAX`, so the sum of two may not fit.
            .try_fold(of_thread, |sum, window| Some(sum.saturating_add(window.most()?)))
            .map_or(Self::Linear, Self::Constant)
    }
}

impl Repeats {
    /// The oldest value that leaves a window ends the repeated part.
    fn of(reads: &Reads) -> Self {
        if reads.thread.is_some() {
            return Self::Thread;
        }
        if !reads.instructions.is_empty() {
            return Self::Instruction;
        }
        if reads.tiered.is_some() {
            return Self::Tiers;
        }
        match windows(reads).filter_map(Window::most).max() {
            None if reads.compacted.is_some() => Self::Log,
            None => Self::Everything,
            Some(steps) if windows(reads).any(|window| window == Window::All) => Self::AllBut(steps),
            // Every window drops values, so already the first message is another one.
            Some(_) => Self::Instruction,
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Map => "map",
            Self::Window => "window",
            Self::Reducer => "reducer",
            Self::Journal => "journal",
            Self::Accumulator => "accumulator",
            Self::Thread => "thread",
        })
    }
}

impl fmt::Display for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(1) => f.pad("at most 1 value"),
            Self::Constant(most) => f.pad(&std::format!("at most {most} values")),
            Self::Linear => f.pad("grows every step"),
        }
    }
}

impl fmt::Display for Repeats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Everything => f.write_str("repeats everything"),
            Self::AllBut(1) => f.write_str("repeats all but the last step"),
            Self::AllBut(steps) => write!(f, "repeats all but the last {steps} steps"),
            Self::Tiers => f.write_str("repeats the tiers before the first change"),
            Self::Log => f.write_str("repeats everything until documents are laid anew"),
            Self::Instruction => f.write_str("repeats the instruction"),
            Self::Thread => f.write_str("repeats what the thread repeats"),
        }
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = self.columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
        for column in &self.columns {
            let ColumnOutline { name, level, pattern, is_documents, growth, repeats, shares, .. } = column;
            let name = name.as_str();
            write!(f, "{name:longest$}  level {level}  ")?;
            match pattern {
                Some(_) if column.is_external => writeln!(f, "external     {growth}")?,
                // 11 is the length of `accumulator`, and 17 the length of `at most 10 values`.
                Some(pattern) => {
                    write!(f, "{pattern:11}  {growth:17}  {repeats}")?;
                    shares.iter().try_for_each(|shared| write!(f, ", {shared}"))?;
                    writeln!(f)?;
                }
                None if *is_documents => writeln!(f, "source of documents")?,
                None => writeln!(f, "source")?,
            }
        }
        Ok(())
    }
}
