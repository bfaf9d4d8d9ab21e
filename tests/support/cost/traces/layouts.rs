//! Coding sessions in the layouts of other programs: files have a fixed position, and change in place.

use std::collections::BTreeMap;

use super::coding::instruction;
use super::sessions::{ChangedText, CodingSession, CodingStep, path};
use crate::cost::cache::Marks;
use crate::cost::request::{Piece, Speaker};
use crate::cost::trace::{Kind, Trace};

/// The position of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The files are after the instruction, before the conversation.
    FilesFirst,
    /// The files are after the conversation, before the current message.
    FilesLast,
    /// Each text can be cached by itself, wherever it is. No provider has that, so the bound of such requests is one for
    /// every layout.
    Apart,
}

/// A file as a block of a request.
pub fn file(document: usize, text: &str) -> Piece {
    Piece::new(Speaker::User, &format!("{}\n```\n{text}\n```\n\n", path(document)), true)
}

impl Layout {
    /// The name of the layout in the tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::FilesFirst => "files first",
            Self::FilesLast => "files last",
            Self::Apart => "apart",
        }
    }

    /// The sessions of a project, and the marks of such programs.
    pub fn trace(self, project: &str, sessions: &[CodingSession]) -> (Trace, Vec<Marks>) {
        let coder = instruction();
        let instruction = Piece::new(Speaker::System, &coder.instruction, true);
        let name = format!("T6 {project} {}", self.name());
        let (mut trace, mut marks) = (Trace::new(name, Kind::Mutable, vec![coder]), Vec::new());
        let user = |text: &str| Piece::new(Speaker::User, text, true);
        for session in sessions {
            let mut files: BTreeMap<usize, Piece> = BTreeMap::new();
            let (mut conversation, mut after) = (Vec::new(), None);
            for CodingStep { pause, message, changes, reply } in &session.steps {
                for ChangedText { document, text } in changes {
                    match text {
                        Some(text) => drop(files.insert(*document, file(*document, text))),
                        None => drop(files.remove(document)),
                    }
                }
                let message = user(message);
                let turn = trace.turn(after, *pause);
                let files: Vec<Piece> = files.values().cloned().collect();
                let (pieces, positions) = self.arrange(&instruction, &files, &conversation, &message);
                if self == Self::Apart {
                    trace.call_apart(turn, pieces);
                } else {
                    trace.call(turn, pieces);
                }
                marks.push(Marks::short(positions));
                after = Some(turn);
                conversation.extend([message, Piece::new(Speaker::Assistant, reply, true)]);
            }
        }
        (trace, marks)
    }

    /// The blocks of a request, and the positions of the marks.
    fn arrange(
        self,
        instruction: &Piece,
        files: &[Piece],
        conversation: &[Piece],
        message: &Piece,
    ) -> (Vec<Piece>, [usize; 3]) {
        let (before, after, positions) = match self {
            // Block 0 is the instruction, so the number of files is the position of the last one. The current message is
            // marked as well.
            Self::FilesFirst | Self::Apart => {
                (files, conversation, [0, files.len(), files.len() + conversation.len() + 1])
            }
            // Nothing after the files would be read again. `Marks::short` removes duplicates.
            Self::FilesLast => (conversation, files, [0, 0, conversation.len()]),
        };
        let pieces = [instruction].into_iter().chain(before).chain(after).chain([message]);
        (pieces.cloned().collect(), positions)
    }
}
