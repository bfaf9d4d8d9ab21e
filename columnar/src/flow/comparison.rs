//! The result of a rehearsal.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::declare::Name;
use crate::history::Value;
use crate::model::usage::{Grouped, Receipt, Total};

/// The most different judgements that a printed comparison counts, and the most letters of one.
const SHOWN: usize = 8;
const LETTERS: usize = 40;

/// The old and the new values of a [rehearsal](super::Rehearsal), made by
/// [`comparison`](super::Rehearsal::comparison).
///
/// A comparison prints as a summary, without the values: how many are the same, what both cost, and how often each short
/// judgement was given.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Comparison {
    /// The rehearsed column.
    pub column: Name,
    /// The steps, ascending.
    pub steps: Vec<ComparedStep>,
}

/// A step in a [`Comparison`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ComparedStep {
    /// The step of the flow.
    pub step: usize,
    /// The value that the flow has.
    pub old: Value,
    /// The value of the other step; `None` if it is not computed yet, failed, or is skipped.
    pub new: Option<Value>,
    /// The judgement of both.
    pub judgement: Option<Value>,
    /// The tokens and the price of the old value; `None` if no model was called.
    pub old_receipt: Option<Arc<Receipt>>,
    /// The tokens and the price of the new value.
    pub new_receipt: Option<Arc<Receipt>>,
}

impl ComparedStep {
    /// Whether there is a new value, and it is the same.
    pub fn is_same(&self) -> bool {
        self.new.as_ref() == Some(&self.old)
    }
}

impl Comparison {
    /// The number of steps whose new value is the same.
    pub fn same(&self) -> usize {
        self.steps.iter().filter(|step| step.is_same()).count()
    }

    /// The number of steps whose new value is another one.
    pub fn different(&self) -> usize {
        self.steps.len() - self.same() - self.missing()
    }

    /// The number of steps without a new value.
    pub fn missing(&self) -> usize {
        self.steps.iter().filter(|step| step.new.is_none()).count()
    }

    /// The tokens and the price of the old values.
    pub fn old_total(&self) -> Total {
        self.steps.iter().filter_map(|step| step.old_receipt.as_deref()).collect()
    }

    /// The tokens and the price of the new values, without the judgements.
    pub fn new_total(&self) -> Total {
        self.steps.iter().filter_map(|step| step.new_receipt.as_deref()).collect()
    }

    /// The judgements and how often each was given, the most frequent first.
    pub fn judgements(&self) -> Vec<(&str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for judgement in self.steps.iter().filter_map(|step| step.judgement.as_deref()) {
            *counts.entry(judgement).or_default() += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        counts
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [all, same, different, missing] =
            [self.steps.len(), self.same(), self.different(), self.missing()]
                .map(|count| Grouped(count as u64));
        let plural = if self.steps.len() == 1 { "" } else { "s" };
        write!(f, "`{}`, {all} step{plural}: {same} the same, {different} different", self.column)?;
        if self.missing() > 0 {
            write!(f, ", {missing} missing")?;
        }
        write!(f, "\nold  {}\nnew  {}", self.old_total(), self.new_total())?;
        let judgements = self.judgements();
        // A model may have written the text, which must not control a terminal.
        let are_short = judgements
            .iter()
            .all(|(text, _)| text.chars().count() <= LETTERS && !text.contains(char::is_control));
        if judgements.is_empty() || judgements.len() > SHOWN || !are_short {
            return Ok(());
        }
        f.write_str("\njudgements: ")?;
        for (at, (judgement, count)) in judgements.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{judgement} {}", Grouped(*count as u64))?;
        }
        Ok(())
    }
}
