//! What a declaration says of a flow before anything runs.

use std::fmt::{self, Write as _};

use crate::declare::{Input, Name, Plan, Reads, Schema, Window};

/// What the declaration of a flow says of its columns: who reads whom, what may run at once, how contexts
/// grow, and how much of each request its next one repeats.
///
/// It prints as a table with a line for each column. Made by
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

/// What the declaration says of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnOutline {
    /// The column.
    pub name: Name,
    /// How many columns its value waits for, one after the other; 0 for a source. Columns of one level run at
    /// once.
    pub level: usize,
    /// The columns that it reads, in order of declaration and without itself, each with how much of it.
    pub reads: Vec<Read>,
    /// How much of its own past it reads.
    pub own: Option<Window>,
    /// What it does with its history; `None` for a source.
    pub pattern: Option<Pattern>,
    /// How many values its context shows.
    pub growth: Growth,
    /// What of its request the next one repeats, once its windows are full.
    pub repeats: Repeats,
}

/// How much of another column is read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Read {
    /// The column.
    pub column: Name,
    /// How much of it is shown.
    pub window: Window,
    /// How many steps later each value is shown; within a step nothing waits for a value that is shown later.
    pub lag: usize,
}

/// What a column does with its history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pattern {
    /// It sees this step alone.
    Map,
    /// It sees some last steps.
    Window,
    /// It sees everything that some others said, and of itself a last state or nothing.
    Reducer,
    /// It sees everything that it said itself, and of others what is new.
    Journal,
    /// It sees everything.
    Accumulator,
}

/// How many values a context shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Growth {
    /// At most so many, whatever the step.
    Constant(usize),
    /// More with every step.
    Linear,
}

/// What of a request the next one of the column repeats, from the beginning on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Repeats {
    /// Everything.
    Everything,
    /// Everything but what the last so many steps have added.
    AllBut(usize),
    /// The instruction, and nothing of the messages.
    Instruction,
}

impl Outline {
    pub(crate) fn of(plan: &Plan) -> Self {
        let schema = plan.schema();
        let mut levels = std::vec![0; schema.columns().len()];
        let mut order: Vec<usize> = (0..levels.len()).collect();
        order.sort_by_key(|&column| plan.rank(column));
        for column in order {
            let inputs = schema
                .reads(column)
                .into_iter()
                .flat_map(|reads| &reads.inputs)
                .filter(|input| input.spec.lag == 0);
            let level = inputs.filter_map(|input| levels.get(input.column)).max();
            let level = level.map_or(0, |level| level + 1);
            if let Some(place) = levels.get_mut(column) {
                *place = level;
            }
        }
        let columns = levels.into_iter().enumerate();
        Self { columns: columns.map(|(column, level)| ColumnOutline::of(schema, column, level)).collect() }
    }

    /// A drawing for [Mermaid](https://mermaid.js.org), which many viewers of Markdown know. Sources are round;
    /// a line says how much of a column is read, a dotted one leads from a column to later steps.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// flow! {
    ///     pub struct Chat {
    ///         source user;
    ///         column topics(user.latest)             = prompt("List the topics.");
    ///         column notes(topics.window(3), self)   = prompt("Take notes.");
    ///     }
    /// }
    ///
    /// assert_eq!(Chat::GRAPH.outline().mermaid(), "\
    /// flowchart LR
    ///     user([user])
    ///     topics[topics]
    ///     notes[notes]
    ///     user -- latest --> topics
    ///     topics -- last 3 --> notes
    ///     notes -. all .-> notes
    /// ");
    /// ```
    pub fn mermaid(&self) -> String {
        let mut text = String::from("flowchart LR\n");
        for ColumnOutline { name, pattern, .. } in &self.columns {
            let (open, close) = if pattern.is_some() { ("[", "]") } else { ("([", "])") };
            put(&mut text, format_args!("    {name}{open}{name}{close}\n"));
        }
        for ColumnOutline { name, reads, own, .. } in &self.columns {
            for Read { column, window, lag } in reads {
                let (from, to) = if *lag > 0 { ("-.", ".->") } else { ("--", "-->") };
                put(&mut text, format_args!("    {column} {from} {} {to} {name}\n", Shows(*window)));
            }
            if let Some(window) = own {
                put(&mut text, format_args!("    {name} -. {} .-> {name}\n", Shows(*window)));
            }
        }
        text
    }
}

fn put(text: &mut String, line: fmt::Arguments<'_>) {
    let written = text.write_fmt(line);
    debug_assert!(written.is_ok(), "a string takes everything");
}

impl ColumnOutline {
    fn of(schema: &Schema, column: usize, level: usize) -> Self {
        let name = schema.name(column).clone();
        let Some(reads) = schema.reads(column) else {
            let (reads, growth) = (Vec::new(), Growth::Constant(0));
            return Self {
                name,
                level,
                reads,
                own: None,
                pattern: None,
                growth,
                repeats: Repeats::Everything,
            };
        };
        Self {
            name,
            level,
            reads: reads.inputs.iter().map(Read::of).collect(),
            own: reads.own.as_ref().map(|own| own.window),
            pattern: Some(Pattern::of(reads)),
            growth: Growth::of(reads),
            repeats: Repeats::of(reads),
        }
    }
}

impl Read {
    fn of(input: &Input) -> Self {
        Self { column: input.name.clone(), window: input.spec.window, lag: input.spec.lag }
    }
}

fn windows(reads: &Reads) -> impl Iterator<Item = Window> {
    reads.views().map(|view| view.window)
}

impl Pattern {
    fn of(reads: &Reads) -> Self {
        let reads_all = reads.inputs.iter().any(|input| input.spec.window == Window::All);
        let is_latest = reads.inputs.iter().all(|input| input.spec.window == Window::LATEST);
        match reads.own.as_ref().map(|own| own.window) {
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
    fn of(reads: &Reads) -> Self {
        windows(reads)
            .try_fold(0_usize, |sum, window| Some(sum.saturating_add(window.most()?)))
            .map_or(Self::Linear, Self::Constant)
    }
}

impl Repeats {
    /// A request ends to be repeated at the oldest value that leaves a window.
    fn of(reads: &Reads) -> Self {
        match windows(reads).filter_map(Window::most).max() {
            None => Self::Everything,
            Some(steps) if windows(reads).any(|window| window == Window::All) => Self::AllBut(steps),
            Some(_) => Self::Instruction,
        }
    }
}

/// How much of a column is read, in words.
struct Shows(Window);

impl fmt::Display for Shows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.most() {
            None => f.write_str("all"),
            Some(1) => f.write_str("latest"),
            Some(count) => write!(f, "last {count}"),
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
            Self::Instruction => f.write_str("repeats the instruction"),
        }
    }
}

impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = self.columns.iter().map(|column| column.name.len()).max().unwrap_or(0);
        for ColumnOutline { name, level, pattern, growth, repeats, .. } in &self.columns {
            let name = name.as_str();
            write!(f, "{name:longest$}  level {level}  ")?;
            match pattern {
                Some(pattern) => writeln!(f, "{pattern:11}  {growth:17}  {repeats}")?,
                None => writeln!(f, "source")?,
            }
        }
        Ok(())
    }
}
