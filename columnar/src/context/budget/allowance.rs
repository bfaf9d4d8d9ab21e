//! How much the contexts of a column may hold, and what is counted in them besides the values.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Budget, BudgetError, Limit, Standing, Strategy};
use crate::context::{Filtered, Fitted, Frame, Shown};
use crate::declare::{Input, Reads, Window};
use crate::history::History;
use crate::tokens::Counter;

/// What is known of the contexts of a column before there is one. Made when the first one is.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    pub(crate) around: Arc<Around>,
    limit: Result<Option<Limit>, BudgetError>,
    /// The cuts so far, where they stay.
    standing: Option<Standing>,
    /// What the inputs show that have a filter.
    filtered: BTreeMap<usize, Filtered>,
}

/// What goes with the values of a column's contexts.
#[derive(Clone, Debug)]
pub(crate) struct Around {
    /// How tokens are counted.
    pub(crate) counter: Arc<dyn Counter>,
    /// The tokens of the instruction, if a model is asked.
    pub(crate) instruction: Option<usize>,
    /// By input, the tokens of the tag and of what separates its parts from others.
    pub(crate) frames: Vec<usize>,
    /// By group, the tokens of the tag.
    pub(crate) groups: Vec<usize>,
    /// Those of what separates parts without a tag.
    pub(crate) gap: usize,
}

impl Allowance {
    pub(crate) fn new(
        reads: &Reads,
        instruction: Option<&str>,
        budget: &Budget,
        counter: Arc<dyn Counter>,
    ) -> Self {
        let instruction = instruction.map(|text| counter.count(&reads.instruct(text)));
        let limit = Limit::of(budget, instruction.unwrap_or(0)).map(|limit| {
            limit.map(|limit| Limit { low_water: limit.low_water.filter(|_| goes_by_step(reads)), ..limit })
        });
        let is_standing = matches!(limit, Ok(Some(Limit { low_water: Some(_), .. })));
        let frames = reads.inputs.iter().map(|input| input.frames.plain().tokens(&*counter)).collect();
        let groups = reads.groups.iter().map(|group| Frame::group_tokens(&group.tag, &*counter)).collect();
        let gap = counter.count("\n\n");
        let around = Arc::new(Around { counter, instruction, frames, groups, gap });
        Self { around, limit, standing: is_standing.then(Standing::default), filtered: BTreeMap::new() }
    }

    /// What an input shows of its column at a step.
    pub(crate) fn filtered(&mut self, input: &Input, said: History, step: usize) -> History {
        match &input.filter {
            None => said,
            Some(filter) => {
                let filtered = self.filtered.entry(input.at).or_default();
                filtered.history(filter, &said, input.awaited(step))
            }
        }
    }

    /// What is known for a flow that shares the steps before this one.
    pub(crate) fn before(&self, step: usize) -> Self {
        let standing = self.standing.as_ref().map(|standing| standing.before(step));
        // What was read may have been replaced since.
        Self { standing, filtered: BTreeMap::new(), ..self.clone() }
    }

    /// The most tokens that the messages may have.
    pub(crate) fn most(&self) -> usize {
        match &self.limit {
            Ok(Some(limit)) => limit.tokens,
            _ => usize::MAX,
        }
    }

    /// Leaves out of a context what is too much.
    pub(crate) fn fit(&mut self, shown: &mut Shown) -> Result<(), BudgetError> {
        let Some(limit) = self.limit.as_ref().map_err(Clone::clone)? else { return Ok(()) };
        let fitted = Fitted::new(shown, limit, self.standing.as_mut());
        let report = &fitted.report;
        if limit.strategy == Strategy::StopAtLimit && report.is_over_limit() {
            let (tokens, limit) = (report.before, report.limit);
            return Err(BudgetError::OverLimit { tokens, limit, contributors: shown.contributors() });
        }
        shown.fit(fitted);
        Ok(())
    }
}

/// Whether all that earlier steps of a column showed is stored when a step of it is computed.
fn goes_by_step(reads: &Reads) -> bool {
    reads.own.is_some() || reads.inputs.iter().all(|input| input.window == Window::All)
}
