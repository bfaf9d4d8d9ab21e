//! The requests of some sessions, without their times: those are a matter of the clock.

use std::sync::Arc;

use columnar::{Flow, Messages, Result};

use super::clock::Clock;
use super::request::{Piece, Prefixes, Request};

/// What happens before a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pause {
    /// Somebody reads and answers.
    Thought,
    /// A tool does.
    Tool,
    /// The program is down for hours.
    Down,
}

/// One step of one session.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The turn that it follows: of the same session, or of the one that it was forked from. `None` begins
    /// a session.
    pub after: Option<usize>,
    /// What lies between.
    pub pause: Pause,
}

/// The cell that a request computes.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The flow that has it.
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
    /// Those of [`Flow::messages`].
    pub fn messages(&self) -> Result<Messages> {
        self.flow.messages(&self.column, self.step)
    }
}

/// A request of a turn.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Which turn.
    pub turn: usize,
    /// How many requests of the turn it waits for, one after the other.
    pub depth: u8,
    /// Which of the columns of the trace.
    pub column: usize,
    /// What is sent.
    pub request: Request,
    /// Where it comes from; `None` for requests that are not of this library.
    pub cell: Option<Cell>,
}

/// A column of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its name.
    pub name: String,
    /// What leads its requests.
    pub instruction: String,
    /// How many columns it waits for, one after the other.
    pub depth: u8,
}

/// What a trace stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing that was sent ever changes.
    AppendOnly,
    /// What is sent is cut to a budget.
    Budget,
    /// What is sent may change.
    Mutable,
    /// Made to do harm.
    Adversarial,
}

/// The requests of some sessions.
#[derive(Clone, Debug)]
pub struct Trace {
    /// What the tables of results call it.
    pub name: &'static str,
    /// What it stands for.
    pub kind: Kind,
    /// How time goes by in it.
    pub clocks: &'static [Clock],
    /// What asks.
    pub columns: Vec<Subject>,
    /// Each after the one that it follows.
    pub turns: Vec<Turn>,
    /// In order of turns.
    pub asks: Vec<Ask>,
    prefixes: Prefixes,
}

impl Trace {
    /// A trace of these columns in which nothing has been asked yet.
    pub fn new(name: &'static str, kind: Kind, columns: Vec<Subject>) -> Self {
        let clocks: &[Clock] = match kind {
            Kind::Adversarial => &[Clock::Batch],
            _ => &[Clock::Batch, Clock::Human, Clock::Bursty],
        };
        Self {
            name,
            kind,
            clocks,
            columns,
            turns: Vec::new(),
            asks: Vec::new(),
            prefixes: Prefixes::default(),
        }
    }

    /// A turn, after another one or at the beginning of a session.
    pub fn turn(&mut self, after: Option<usize>, pause: Pause) -> usize {
        self.turns.push(Turn { after, pause });
        self.turns.len() - 1
    }

    /// A turn in which a step of a flow is computed: every column asks.
    ///
    /// # Errors
    ///
    /// Those of [`Flow::messages`].
    pub fn step(
        &mut self,
        after: Option<usize>,
        pause: Pause,
        flow: &Arc<Flow>,
        step: usize,
    ) -> Result<usize> {
        let turn = self.turn(after, pause);
        for (column, Subject { name, instruction, depth }) in self.columns.iter().enumerate() {
            let cell = Cell { flow: Arc::clone(flow), column: name.clone(), step };
            let request = self.prefixes.request(Piece::all_of(Some(instruction), &cell.messages()?));
            self.asks.push(Ask { turn, depth: *depth, column, request, cell: Some(cell) });
        }
        Ok(turn)
    }

    /// A request of the first column that is not of this library.
    pub fn ask(&mut self, turn: usize, pieces: impl IntoIterator<Item = Piece>) {
        let request = self.prefixes.request(pieces);
        self.asks.push(Ask { turn, depth: 0, column: 0, request, cell: None });
    }
}
