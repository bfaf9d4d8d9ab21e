//! A compute step that answers without a model: a text of some length, by what it is asked.

use std::hash::{DefaultHasher, Hash, Hasher};

use columnar::{Compute, Context, Reply};

use crate::cost::dice::Dice;
use crate::cost::trace::Subject;

/// Answers with texts of about these lengths, in tokens.
#[derive(Clone, Debug)]
pub(super) struct Answering {
    instruction: String,
    lengths: &'static [usize],
}

/// A column that is asked with an instruction of so many tokens, and waits for so many columns.
pub(super) fn subject(name: &str, instruction: usize, depth: u8) -> Subject {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    Subject { name: name.to_owned(), instruction: Dice::new(hasher.finish()).text(&[instruction]), depth }
}

/// The compute step of a column.
pub(super) fn answering(subject: &Subject, lengths: &'static [usize]) -> Answering {
    Answering { instruction: subject.instruction.clone(), lengths }
}

impl Compute for Answering {
    fn compute(&self, cx: Context) -> Reply<'static> {
        let mut hasher = DefaultHasher::new();
        (cx.column().as_str(), cx.step(), cx.messages().last_text()).hash(&mut hasher);
        Reply::text(Dice::new(hasher.finish()).text(self.lengths))
    }

    fn instruction(&self) -> Option<&str> {
        Some(&self.instruction)
    }
}
