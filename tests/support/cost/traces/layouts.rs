//! Coding sessions as other programs lay them out: files have a place, and change there.

use std::collections::BTreeMap;

use super::ANSWERED;
use super::answering::subject;
use super::edits::{INSTRUCTION, Session, sessions};
use crate::cost::cache::Marks;
use crate::cost::dice::Dice;
use crate::cost::request::{Piece, Speaker};
use crate::cost::trace::{Kind, Pause, Trace};

/// Where the files are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Behind the instruction, then what was said.
    FilesFirst,
    /// What was said, then the files, then what is asked.
    FilesLast,
    /// Everything in tiers, by how long it has not changed.
    Tiers,
}

/// All of them.
pub const LAYOUTS: [Layout; 3] = [Layout::FilesFirst, Layout::FilesLast, Layout::Tiers];

/// After so many turns without a change something rises to the next tier.
const RISES: [usize; 4] = [12, 9, 6, 3];

/// Something that is sent at every turn, and since when it is as it is.
#[derive(Clone, Debug)]
struct Item {
    piece: Piece,
    since: usize,
}

impl Layout {
    /// What the tables of results call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FilesFirst => "T6 files first",
            Self::FilesLast => "T6 files last",
            Self::Tiers => "T6 tiers",
        }
    }

    /// The sessions, and how such programs mark their requests.
    pub fn trace(self) -> (Trace, Vec<Marks>) {
        let coder = subject("coder", INSTRUCTION, 0);
        let instruction = Piece::new(Speaker::System, &coder.instruction, true);
        let (mut trace, mut marks) = (Trace::new(self.name(), Kind::Mutable, vec![coder]), Vec::new());
        for (seed, Session { files, turns }) in (0..).zip(sessions()) {
            let mut dice = Dice::new(seed);
            let file = |text: &str| Piece::new(Speaker::User, text, true);
            let mut current: BTreeMap<usize, Item> =
                files.iter().map(|text| Item { piece: file(text), since: 0 }).enumerate().collect();
            let (mut said, mut after) = (Vec::new(), None);
            for (now, (text, edits)) in turns.iter().enumerate() {
                for (which, text) in edits {
                    current.insert(*which, Item { piece: file(text), since: now });
                }
                let asked = Piece::new(Speaker::User, text, true);
                let (pieces, places) = self.arrange(&instruction, &current, &said, &asked, now);
                let turn = trace.turn(after, Pause::Thought);
                trace.ask(turn, pieces);
                marks.push(Marks::short(places));
                after = Some(turn);
                let answer = Piece::new(Speaker::Assistant, &dice.text(ANSWERED), true);
                said.extend([asked, answer].map(|piece| Item { piece, since: now }));
            }
        }
        (trace, marks)
    }

    /// The blocks of a request, and behind which of them there are marks.
    fn arrange(
        self,
        instruction: &Piece,
        files: &BTreeMap<usize, Item>,
        said: &[Item],
        asked: &Piece,
        now: usize,
    ) -> (Vec<Piece>, Vec<usize>) {
        let groups: Vec<Vec<&Item>> = match self {
            Self::FilesFirst => vec![files.values().collect(), said.iter().collect()],
            Self::FilesLast => vec![said.iter().collect(), files.values().collect()],
            Self::Tiers => tiers(files.values().chain(said), now),
        };
        let (mut pieces, mut places) = (vec![instruction.clone()], Vec::new());
        for group in groups {
            pieces.extend(group.into_iter().map(|item| item.piece.clone()));
            places.push(pieces.len() - 1);
        }
        match self {
            // The request that is asked is marked as well.
            Self::FilesFirst => places = vec![0, files.len(), pieces.len()],
            Self::FilesLast => places = vec![0, pieces.len() - 1],
            // What is in no tier yet is not marked.
            Self::Tiers => places.truncate(RISES.len()),
        }
        pieces.push(asked.clone());
        (pieces, places)
    }
}

/// By tier, the oldest first; then what has just changed.
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
