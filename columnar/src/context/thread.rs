//! The conversation that a context continues: the context of another column at a step, and the reply there.
//!
//! That context is assembled by the assembler of its own column, so the bytes are the ones that were sent. What follows is one
//! message of the user: the instruction of this column, and its other inputs.

use super::snapshot::{Snapshot, Uncut};
use super::step_views::StepViews;
use super::turns::ContextTurns;
use crate::context::budget::Turns as _;
use crate::history::StoredText;

impl Uncut {
    /// The context that was sent before the reply that this one continues.
    pub(super) fn thread(&self) -> Option<&Snapshot> {
        self.thread.as_deref()
    }

    /// The tokens of the conversation: of the system text, and of the messages.
    pub(super) fn thread_tokens(&self) -> [usize; 2] {
        let Some(thread) = self.thread() else { return [0, 0] };
        [thread.system_tokens(), thread.message_tokens() + self.reply_tokens(thread)]
    }

    fn reply_tokens(&self, thread: &Snapshot) -> usize {
        let reply = self.reply(thread.step);
        reply.map_or(0, |(text, media)| text.tokens + media + thread.overhead.separator)
    }
}

impl StepViews {
    /// The step of the conversation that the context continues: the last one with a value.
    pub(crate) fn thread_step(&self) -> Option<usize> {
        let (_, view) = self.thread_view()?;
        view.possible(&view.steps).rev().find(|step| view.has(*step))
    }

    /// The reply that ends the conversation, and the tokens of the words for its attachments.
    pub(super) fn reply(&self, step: usize) -> Option<(StoredText<'_>, usize)> {
        let (_, view) = self.thread_view()?;
        let text = view.text(step)?;
        let media = view.media_tokens(text.attachments);
        Some((text, media))
    }
}

impl Snapshot {
    /// The context that has the system text of the request, from which all conversations continue.
    pub(super) fn root(&self) -> &Self {
        let mut root = self;
        while let Some(thread) = root.thread() {
            root = thread;
        }
        root
    }

    /// The tokens of all messages. Values were counted when they were stored, so no text is read.
    pub(super) fn message_tokens(&self) -> usize {
        match self.truncation() {
            Some(truncation) => truncation.report.after,
            None => ContextTurns::at(self, self.step).all().tokens + self.fixed_tokens()[1],
        }
    }

    /// The tokens of the whole system text.
    pub(super) fn system_tokens(&self) -> usize {
        self.overhead.instruction.unwrap_or(0) + self.fixed_tokens()[0]
    }
}
