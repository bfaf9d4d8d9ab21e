//! The requests of some sessions, without times, which a clock adds.

use std::sync::Arc;

use columnar::{Flow, Messages, Result};

use super::clock::Clock;
use super::request::{Piece, Prefixes, Request};

/// The event before a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// A person reads and answers.
    Thought,
    /// A tool runs.
    Tool,
    /// The program is down for hours.
    Down,
}

/// A step of a session.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The turn before: of the same session, or of the session from which this one was forked. `None` begins a session.
    pub after: Option<usize>,
    /// The pause between the two.
    pub pause: Pause,
}

/// The cell that a request computes.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The flow.
    pub flow: Arc<Flow>,
    /// The column.
    pub column: String,
    /// The step.
    pub step: usize,
}

impl Cell {
    /// The messages of the request.
    ///
    /// # Errors
    ///
    /// The errors of [`Flow::messages`].
    pub fn messages(&self) -> Result<Messages> {
        self.flow.messages(&self.column, self.step)
    }
}

/// A request of a turn.
#[derive(Clone, Debug)]
pub struct Call {
    /// The index of the turn.
    pub turn: usize,
    /// The length of the chain of requests of the turn that this one waits for.
    pub depth: u8,
    /// The index of the column in the trace.
    pub column: usize,
    /// The request.
    pub request: Request,
    /// The cell; `None` for requests that are not of this library.
    pub cell: Option<Cell>,
}

/// A column of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The name of the column.
    pub name: String,
    /// The instruction of all requests.
    pub instruction: String,
    /// The length of the chain of columns that this column waits for.
    pub depth: u8,
    /// The index of the column whose conversation this one continues.
    pub thread: Option<usize>,
}

/// The kind of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sent text never changes.
    AppendOnly,
    /// Requests are truncated to a budget.
    Budget,
    /// Sent text may change.
    Mutable,
    /// The trace is made for the worst case.
    Adversarial,
}

/// The requests of some sessions.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The name of the trace in the tables of results.
    pub name: String,
    /// The kind of the trace.
    pub kind: Kind,
    /// The clocks of the trace.
    pub clocks: &'static [Clock],
    /// The columns of the trace.
    pub columns: Vec<ColumnSpec>,
    /// The turns, each after the one that it follows.
    pub turns: Vec<Turn>,
    /// The requests in order of turns.
    pub calls: Vec<Call>,
    prefixes: Prefixes,
}

impl Trace {
    /// A trace of these columns without requests.
    pub fn new(name: impl Into<String>, kind: Kind, columns: Vec<ColumnSpec>) -> Self {
        let clocks: &[Clock] = match kind {
            Kind::Adversarial => &[Clock::Batch],
            _ => &[Clock::Batch, Clock::Human, Clock::Bursty],
        };
        Self {
            name: name.into(),
            kind,
            clocks,
            columns,
            turns: Vec::new(),
            calls: Vec::new(),
            prefixes: Prefixes::default(),
        }
    }

    /// Whether a request of the column waits until the reply to another one begins, which continues the same conversation.
    pub fn is_led(&self, column: usize) -> bool {
        let thread = self.columns.get(column).and_then(|column| column.thread);
        thread.is_some() && self.columns.iter().take(column).any(|other| other.thread == thread)
    }

    /// The tokens of the largest request.
    pub fn largest(&self) -> u32 {
        self.calls.iter().map(|call| call.request.tokens()).max().unwrap_or_default()
    }

    /// A turn, after another one or at the beginning of a session.
    pub fn turn(&mut self, after: Option<usize>, pause: Pause) -> usize {
        self.turns.push(Turn { after, pause });
        self.turns.len() - 1
    }

    /// A turn in which a step of a flow is computed: every column sends a request.
    ///
    /// # Errors
    ///
    /// The errors of [`Flow::messages`].
    pub fn step(
        &mut self,
        after: Option<usize>,
        pause: Pause,
        flow: &Arc<Flow>,
        step: usize,
    ) -> Result<usize> {
        let turn = self.turn(after, pause);
        for (column, ColumnSpec { name, instruction, depth, .. }) in self.columns.iter().enumerate() {
            let cell = Cell { flow: Arc::clone(flow), column: name.clone(), step };
            let request = self.prefixes.request(Piece::all_of(instruction, &cell.messages()?));
            self.calls.push(Call { turn, depth: *depth, column, request, cell: Some(cell) });
        }
        Ok(turn)
    }

    /// A request of the first column that is not of this library.
    pub fn call(&mut self, turn: usize, pieces: impl IntoIterator<Item = Piece>) {
        let request = self.prefixes.request(pieces);
        self.calls.push(Call { turn, depth: 0, column: 0, request, cell: None });
    }

    /// The same as [`call`](Self::call) with blocks that are the same after any prefix.
    pub fn call_apart(&mut self, turn: usize, pieces: impl IntoIterator<Item = Piece>) {
        let request = self.prefixes.request_apart(pieces);
        self.calls.push(Call { turn, depth: 0, column: 0, request, cell: None });
    }
}
