//! Coding sessions in the layouts of other programs: files have a fixed position, and change in place.

use std::collections::BTreeMap;

use super::REPLIES;
use super::edits::{INSTRUCTION, Session, sessions};
use super::replies::column_spec;
use crate::cost::cache::Marks;
use crate::cost::random::Random;
use crate::cost::request::{Piece, Speaker};
use crate::cost::trace::{Kind, Pause, Trace};

/// The position of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// After the instruction, before the conversation.
    FilesFirst,
    /// After the conversation, before the current message.
    FilesLast,
    /// Everything in tiers, by the time since the last change.
    Tiers,
}

/// All layouts.
pub const LAYOUTS: [Layout; 3] = [Layout::FilesFirst, Layout::FilesLast, Layout::Tiers];

/// The turns without a change until an item rises to the next tier.
const RISES: [usize; 4] = [12, 9, 6, 3];

/// A piece that is sent at every turn, and the turn of its last change.
#[derive(Clone, Debug)]
struct Item {
    piece: Piece,
    since: usize,
}

impl Layout {
    /// Its name in the tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::FilesFirst => "T6 files first",
            Self::FilesLast => "T6 files last",
            Self::Tiers => "T6 tiers",
        }
    }

    /// The sessions, and the marks of such programs.
    pub fn trace(self) -> (Trace, Vec<Marks>) {
        let coder = column_spec("coder", INSTRUCTION, 0);
        let instruction = Piece::new(Speaker::System, &coder.instruction, true);
        let (mut trace, mut marks) = (Trace::new(self.name(), Kind::Mutable, vec![coder]), Vec::new());
        for (seed, Session { files, turns }) in (0..).zip(sessions()) {
            let mut random = Random::new(seed);
            let file = |text: &str| Piece::new(Speaker::User, text, true);
            let mut current: BTreeMap<usize, Item> =
                files.iter().map(|text| Item { piece: file(text), since: 0 }).enumerate().collect();
            let (mut conversation, mut after) = (Vec::new(), None);
            for (now, (text, edits)) in turns.iter().enumerate() {
                for (which, text) in edits {
                    current.insert(*which, Item { piece: file(text), since: now });
                }
                let message = Piece::new(Speaker::User, text, true);
                let (pieces, positions) = self.arrange(&instruction, &current, &conversation, &message, now);
                let turn = trace.turn(after, Pause::Thought);
                trace.call(turn, pieces);
                marks.push(Marks::short(positions));
                after = Some(turn);
                let answer = Piece::new(Speaker::Assistant, &random.text(REPLIES), true);
                conversation.extend([message, answer].map(|piece| Item { piece, since: now }));
            }
        }
        (trace, marks)
    }

    /// The blocks of a request, and the positions of its marks.
    fn arrange(
        self,
        instruction: &Piece,
        files: &BTreeMap<usize, Item>,
        conversation: &[Item],
        message: &Piece,
        now: usize,
    ) -> (Vec<Piece>, Vec<usize>) {
        let groups: Vec<Vec<&Item>> = match self {
            Self::FilesFirst => vec![files.values().collect(), conversation.iter().collect()],
            Self::FilesLast => vec![conversation.iter().collect(), files.values().collect()],
            Self::Tiers => tiers(files.values().chain(conversation), now),
        };
        let (mut pieces, mut positions) = (vec![instruction.clone()], Vec::new());
        for group in groups {
            pieces.extend(group.into_iter().map(|item| item.piece.clone()));
            // An empty group repeats a position, and `Marks::short` removes duplicates.
            positions.push(pieces.len() - 1);
        }
        match self {
            // The current message is marked as well.
            // Block 0 is the instruction, so the number of files is the position of the last one.
            Self::FilesFirst => positions = vec![0, files.len(), pieces.len()],
            Self::FilesLast => positions = vec![0, pieces.len() - 1],
            // Items in no tier are not marked.
            Self::Tiers => positions.truncate(RISES.len()),
        }
        pieces.push(message.clone());
        (pieces, positions)
    }
}

/// The items by tier, the oldest first, then the recently changed ones.
fn tiers<'i>(items: impl Iterator<Item = &'i Item>, now: usize) -> Vec<Vec<&'i Item>> {
    let mut tiers = vec![Vec::new(); RISES.len() + 1];
    for item in items {
        let tier = RISES.iter().position(|rises| now - item.since >= *rises).unwrap_or(RISES.len());
        if let Some(tier) = tiers.get_mut(tier) {
            tier.push(item);
        }
    }
    tiers
}
