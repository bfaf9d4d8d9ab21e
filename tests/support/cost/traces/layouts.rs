//! Coding sessions in the layouts of other programs: files have a fixed position, and change in place.

use super::edits::{Project, Step, instruction};
use crate::cost::cache::Marks;
use crate::cost::request::{Piece, Speaker};
use crate::cost::trace::{Kind, Pause, Trace};

/// The position of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The files are after the instruction, before the conversation.
    FilesFirst,
    /// The files are after the conversation, before the current message.
    FilesLast,
}

impl Layout {
    /// The name of the layout in the tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::FilesFirst => "files first",
            Self::FilesLast => "files last",
        }
    }

    /// The sessions of a project, and the marks of such programs.
    pub fn trace(self, project: Project) -> (Trace, Vec<Marks>) {
        let coder = instruction();
        let instruction = Piece::new(Speaker::System, &coder.instruction, true);
        let name = format!("T6 {} {}", project.name(), self.name());
        let (mut trace, mut marks) = (Trace::new(name, Kind::Mutable, vec![coder]), Vec::new());
        let user = |text: &str| Piece::new(Speaker::User, text, true);
        for session in project.sessions() {
            let mut files: Vec<Piece> = session.files.iter().map(|text| user(text)).collect();
            let (mut conversation, mut after) = (Vec::new(), None);
            for Step { message, edit, reply } in &session.steps {
                if let Some((file, text)) = edit
                    && let Some(file) = files.get_mut(*file)
                {
                    *file = user(text);
                }
                let message = user(message);
                let turn = trace.turn(after, Pause::Thought);
                let (pieces, positions) = self.arrange(&instruction, &files, &conversation, &message);
                trace.call(turn, pieces);
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
            Self::FilesFirst => (files, conversation, [0, files.len(), files.len() + conversation.len() + 1]),
            // Nothing after the files would be read again. `Marks::short` removes duplicates.
            Self::FilesLast => (conversation, files, [0, 0, conversation.len()]),
        };
        let pieces = [instruction].into_iter().chain(before).chain(after).chain([message]);
        (pieces.cloned().collect(), positions)
    }
}
