//! Many columns over one history, and forks of it.

use std::sync::Arc;

use columnar::{Column, Flow, Result, column, flow, source, this};

use super::answering::{answering, subject};
use super::{ANSWERED, SAID, fork, go_on};
use crate::cost::dice::Dice;
use crate::cost::trace::{Kind, Pause, Subject, Trace};

/// So many columns read the history.
const WIDTHS: [(&str, usize); 4] = [("T5 fan 2", 2), ("T5 fan 4", 4), ("T5 fan 8", 8), ("T5 fan 16", 16)];
const STEPS: usize = 40;

/// At these steps the history goes another way as well, at once.
const FORKS: [usize; 2] = [15, 30];
const STEPS_OF_FORK: usize = 12;

fn subjects(width: usize) -> Vec<Subject> {
    let readers = (1..width).map(|at| subject(&format!("r{at}"), 60 * at + 200, 1));
    [subject("assistant", 1200, 0)].into_iter().chain(readers).collect()
}

fn declare(subjects: &[Subject]) -> Result<Flow> {
    let user = source("user");
    let mut columns: Vec<Column> = Vec::new();
    for subject in subjects {
        let step = answering(subject, ANSWERED);
        let declared = match columns.first() {
            None => column(&subject.name, (&user, this()), step),
            Some(first) => column(&subject.name, (&user, first), step),
        };
        columns.push(declared);
    }
    flow(columns)
}

/// Flows of 2, 4, 8 and 16 columns, each with two forks.
///
/// # Errors
///
/// Those of the flows, none of which fails.
pub fn traces() -> Result<Vec<Trace>> {
    let mut dice = Dice::new(5);
    let trace = |(name, width)| {
        let subjects = subjects(width);
        let base = Arc::new(declare(&subjects)?);
        let mut trace = Trace::new(name, Kind::AppendOnly, subjects);
        let mut turns = Vec::new();
        for at in FORKS {
            let steps = at - turns.len();
            go_on(&mut trace, &base, &mut turns, steps, SAID, &mut dice)?;
            fork(&mut trace, &base, (at, Pause::Tool), &turns, STEPS_OF_FORK, &mut dice)?;
        }
        let steps = STEPS - turns.len();
        go_on(&mut trace, &base, &mut turns, steps, SAID, &mut dice)?;
        Ok(trace)
    };
    WIDTHS.into_iter().map(trace).collect()
}
