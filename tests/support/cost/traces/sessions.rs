//! Coding sessions: a person, or an agent, edits documents while a model answers.

use crate::cost::trace::Pause;

/// The steps of a session.
#[derive(Clone, Debug)]
pub struct CodingSession {
    /// The steps.
    pub steps: Vec<CodingStep>,
}

/// A message, the changes of documents before the message, and the reply.
#[derive(Clone, Debug)]
pub struct CodingStep {
    /// The event before the message.
    pub pause: Pause,
    /// The message.
    pub message: String,
    /// The changes; a document is in them once.
    pub changes: Vec<ChangedText>,
    /// The reply.
    pub reply: String,
}

/// A document with a new text.
#[derive(Clone, Debug)]
pub struct ChangedText {
    /// The number of the document.
    pub document: usize,
    /// The new text; `None` removes the document.
    pub text: Option<String>,
}

/// The path of a document.
pub fn path(document: usize) -> String {
    format!("src/{document:03}.rs")
}
