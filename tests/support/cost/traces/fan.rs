//! Many columns over one history, and forks of it.

use std::sync::Arc;

use columnar::{Column, Flow, Result, column, flow, source, this};

use super::replies::{column_spec, replying};
use super::{MESSAGES, REPLIES, continue_session, fork};
use crate::cost::random::Random;
use crate::cost::trace::{ColumnSpec, Kind, Pause, Trace};

/// The numbers of columns that read the history.
const WIDTHS: [(&str, usize); 4] = [("T5 fan 2", 2), ("T5 fan 4", 4), ("T5 fan 8", 8), ("T5 fan 16", 16)];
const STEPS: usize = 40;

/// The steps at which the history is forked immediately.
const FORKS: [usize; 2] = [15, 30];
const STEPS_OF_FORK: usize = 12;

fn column_specs(width: usize) -> Vec<ColumnSpec> {
    let readers = (1..width).map(|at| column_spec(&format!("r{at}"), 60 * at + 200, 1));
    [column_spec("assistant", 1200, 0)].into_iter().chain(readers).collect()
}

fn declare(column_specs: &[ColumnSpec]) -> Result<Flow> {
    let user = source("user");
    let mut columns: Vec<Column> = Vec::new();
    for column_spec in column_specs {
        let step = replying(column_spec, REPLIES);
        let declared = match columns.first() {
            None => column(&column_spec.name, (&user, this()), step),
            Some(first) => column(&column_spec.name, (&user, first), step),
        };
        columns.push(declared);
    }
    flow(columns)
}

/// Flows of 2, 4, 8 and 16 columns, each with two forks.
///
/// # Errors
///
/// The errors of the flows. None is expected.
pub fn traces() -> Result<Vec<Trace>> {
    let mut random = Random::new(5);
    let trace = |(name, width)| {
        let column_specs = column_specs(width);
        let base = Arc::new(declare(&column_specs)?);
        let mut trace = Trace::new(name, Kind::AppendOnly, column_specs);
        let mut turns = Vec::new();
        for at in FORKS {
            let steps = at - turns.len();
            continue_session(&mut trace, &base, &mut turns, steps, MESSAGES, &mut random)?;
            fork(&mut trace, &base, (at, Pause::Tool), &turns, STEPS_OF_FORK, &mut random)?;
        }
        let steps = STEPS - turns.len();
        continue_session(&mut trace, &base, &mut turns, steps, MESSAGES, &mut random)?;
        Ok(trace)
    };
    WIDTHS.into_iter().map(trace).collect()
}
