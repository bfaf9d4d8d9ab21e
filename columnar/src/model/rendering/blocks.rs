//! The blocks of a request, which providers cache: each part is a block, apart from blank ones.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use crate::context::{Messages, Role};
use crate::history::{Attachment, MediaRules};
use crate::model::cache::{CachePlan, Lifetime, Position};

/// The separator of two texts of equal role.
pub(super) const SEPARATOR: &str = "\n\n";

/// A text that is sent as a separate block: a cache finds the block again if it ends where it ended before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    pub(crate) role: Role,
    pub(crate) text: String,
    /// The attachments behind the text, which may be blank then.
    pub(crate) media: Vec<BlockMedia>,
    pub(crate) mark: Option<Lifetime>,
    /// The last part of the messages in the block; `None` for a follow-up.
    part: Option<usize>,
}

/// An attachment, and the text in its place in a form without a part for such files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockMedia {
    pub(crate) file: Attachment,
    pub(crate) stand_in: String,
}

/// The blocks of the messages and of the follow-up. Adjacent blocks of equal role are the content of one message.
pub(super) fn blocks(messages: &Messages, follow_up: &[(Role, Arc<str>)], media: &MediaRules) -> Vec<Block> {
    let mut blocks = Blocks::default();
    for (at, part) in messages.parts().enumerate() {
        let attachments = part.attachments().iter().cloned();
        // No provider takes media in a reply of the model.
        let (sent, words): (Vec<_>, Vec<_>) = attachments
            .partition(|attachment| part.role() == Role::User && media.refusal(attachment).is_none());
        let text = if words.is_empty() {
            part.text()
        } else {
            (part.text().into_owned() + &part.words(&words)).into()
        };
        let sent = sent.into_iter().map(|file| BlockMedia { stand_in: part.stand_in(&file), file });
        blocks.push(part.role(), text, sent.collect(), Some(at));
    }
    for (role, text) in follow_up {
        blocks.push(*role, Cow::Borrowed(text), Vec::new(), None);
    }
    blocks.done
}

/// Joins the blocks of each message. A text behind an attachment is a block of its own.
pub(super) fn joined(blocks: Vec<Block>) -> Vec<Block> {
    let mut messages: Vec<Block> = Vec::new();
    for block in blocks {
        match messages.last_mut().filter(|last| last.role == block.role && last.media.is_empty()) {
            // A block begins with the separator from the block before.
            Some(last) => {
                last.text.push_str(&block.text);
                last.media = block.media;
            }
            None => messages.push(block),
        }
    }
    messages
}

/// Marks blocks as planned. A mark on a blank part moves to the preceding block.
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
    /// The role of the last part, which may have been blank.
    last_role: Option<Role>,
    /// Text in front of the next block: blank parts of the message, and separators.
    before: String,
}

impl Blocks {
    /// Adds a part. Providers refuse blank text, and some refuse two user messages in a row, as they arise where a
    /// blank reply is left out. Blank text is joined to the following block, never to a block that was sent before.
    fn push(&mut self, role: Role, text: Cow<'_, str>, media: Vec<BlockMedia>, part: Option<usize>) {
        if self.last_role.replace(role) != Some(role) {
            // A message that was blank as a whole is left out, and the neighbours may have the same role.
            self.before.clear();
            if self.done.last().is_some_and(|block| block.role == role) {
                self.before.push_str(SEPARATOR);
            }
        } else if part.is_none() {
            // A part begins with a separator.
            self.before.push_str(SEPARATOR);
        }
        if is_blank(&text) && media.is_empty() {
            self.before.push_str(&text);
            return;
        }
        let text = match mem::take(&mut self.before) {
            before if before.is_empty() => text.into_owned(),
            before => before + &text,
        };
        self.done.push(Block { role, text, media, mark: None, part });
    }
}

pub(super) fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
