//! The texts of a request in the blocks in which providers keep them: every part is one, but for the blank ones.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use crate::cache::{CachePlan, Lifetime, Position};
use crate::context::{Messages, Role};

/// What stands between two texts of equal role.
pub(super) const SEPARATOR: &str = "\n\n";

/// A text that is sent as it is, and found again where it ends as it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) mark: Option<Lifetime>,
    /// The last part of the messages in it; `None` behind the messages.
    part: Option<usize>,
}

/// The blocks of messages and of what is said behind them. Behind each other, those of equal role are the content of a
/// message.
pub(super) fn blocks(messages: &Messages, follow_up: &[(Role, Arc<str>)]) -> Vec<Block> {
    let mut blocks = Blocks::default();
    for (at, part) in messages.parts().enumerate() {
        blocks.say(part.role(), part.text(), Some(at));
    }
    for (role, text) in follow_up {
        blocks.say(*role, Cow::Borrowed(text), None);
    }
    blocks.done
}

/// The same in one block for each message.
pub(super) fn joined(blocks: Vec<Block>) -> Vec<Block> {
    let mut messages: Vec<Block> = Vec::new();
    for block in blocks {
        match messages.last_mut().filter(|message| message.role == block.role) {
            Some(message) => message.text.push_str(&block.text),
            None => messages.push(block),
        }
    }
    messages
}

/// Marks blocks as planned. What of the plan is about a blank part goes for the block before it.
pub(super) fn mark(blocks: &mut [Block], plan: &CachePlan) {
    for mark in &plan.marks {
        let Position::Part(at) = mark.position else { continue };
        if let Some(block) = blocks.iter_mut().rfind(|block| block.part.is_some_and(|part| part <= at)) {
            block.mark = Some(mark.lifetime);
        }
    }
}

#[derive(Default)]
struct Blocks {
    done: Vec<Block>,
    /// Who spoke last, if only to say nothing.
    speaker: Option<Role>,
    /// What stands before the next block: blank parts of its message, and separators.
    before: String,
}

impl Blocks {
    /// Providers refuse a blank text in a request, and some refuse two user messages in a row, which is what leaving
    /// out a blank reply can make. What is blank goes to the block behind it, and never to one that was sent before.
    fn say(&mut self, role: Role, text: Cow<'_, str>, part: Option<usize>) {
        if self.speaker.replace(role) != Some(role) {
            self.before.clear();
            if self.done.last().is_some_and(|block| block.role == role) {
                self.before.push_str(SEPARATOR);
            }
        } else if part.is_none() {
            // A part has its separator.
            self.before.push_str(SEPARATOR);
        }
        if is_blank(&text) {
            self.before.push_str(&text);
            return;
        }
        let text = match mem::take(&mut self.before) {
            before if before.is_empty() => text.into_owned(),
            before => before + &text,
        };
        self.done.push(Block { role, text, mark: None, part });
    }
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
