//! A compute step without a model: a text of some length, which depends on the context.

use std::hash::{DefaultHasher, Hash, Hasher};

use columnar::{Compute, Context, Reply};

use crate::cost::random::Random;
use crate::cost::trace::ColumnSpec;

/// A compute step with replies of about these lengths, in tokens.
#[derive(Clone, Debug)]
pub(super) struct Replying {
    instruction: String,
    lengths: &'static [usize],
}

/// A column with an instruction of this number of tokens and this depth.
pub(super) fn column_spec(name: &str, instruction: usize, depth: u8) -> ColumnSpec {
    // All hashers that `new` makes are equal, so the texts are the same in every run.
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    ColumnSpec {
        name: name.to_owned(),
        instruction: Random::new(hasher.finish()).text(&[instruction]),
        depth,
        thread: None,
    }
}

/// The compute step of a column.
pub(super) fn replying(column_spec: &ColumnSpec, lengths: &'static [usize]) -> Replying {
    Replying { instruction: column_spec.instruction.clone(), lengths }
}

impl Compute for Replying {
    fn compute(&self, cx: Context) -> Reply<'static> {
        let mut hasher = DefaultHasher::new();
        (cx.column().as_str(), cx.step(), cx.messages().last_text()).hash(&mut hasher);
        Reply::text(Random::new(hasher.finish()).text(self.lengths))
    }

    fn instruction(&self) -> Option<&str> {
        Some(&self.instruction)
    }
}
