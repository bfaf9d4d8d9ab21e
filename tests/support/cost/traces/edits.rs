//! The projects of coding sessions: four that are generated, and six from the histories of repositories.

use super::histories;
use super::sessions::{ChangedText, CodingSession, CodingStep};
use super::{MESSAGES, REPLIES};
use crate::cost::random::Random;
use crate::cost::trace::Pause;

const SESSIONS: usize = 6;
const EDITS: usize = 50;

/// The probability that a step has an edit.
const EDITED: f64 = 0.5;

/// A project whose documents change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// Few files. Seven of ten edits are in two of these.
    Focused,
    /// Many files. The work stays at one for some edits, then moves to any other.
    Large,
    /// Few files, and each edit is in any of these.
    Scattered,
    /// Few long documents. Each edit replaces the whole text of one of two, so the old texts are soon longer than all
    /// others.
    Rewritten,
    /// A repository whose sessions are recorded.
    Recorded(Record),
}

/// The record of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    name: &'static str,
    sizes: &'static str,
}

/// The projects that are generated.
pub const GENERATED: [Project; 4] =
    [Project::Focused, Project::Large, Project::Scattered, Project::Rewritten];

macro_rules! records {
    ($($name:literal)*) => {
        [$(Project::Recorded(Record {
            name: $name,
            sizes: include_str!(concat!("histories/", $name, ".txt")),
        })),*]
    };
}

/// The projects with recorded sessions: of a person, of an agent (redb), and with a map of symbols (quinn).
pub const RECORDED: [Project; 6] = records! { "columnar" "aider" "ripgrep" "rust-analyzer" "redb" "quinn" };

impl Project {
    /// The name of the project in the tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Focused => "focused",
            Self::Large => "large",
            Self::Scattered => "scattered",
            Self::Rewritten => "rewritten",
            Self::Recorded(record) => record.name,
        }
    }

    /// Six sessions: generated ones of fifty edits each, or the recorded ones.
    pub fn sessions(self) -> Vec<CodingSession> {
        if let Self::Recorded(record) = self {
            return histories::sessions(record.sizes);
        }
        let mut random = Random::new(6);
        (0..SESSIONS).map(|_| self.session(&mut random)).collect()
    }

    fn session(self, random: &mut Random) -> CodingSession {
        let (mut steps, mut file, mut edits) = (Vec::new(), 0, 0);
        // The files are new at the first step.
        let mut changes: Vec<ChangedText> = (0..self.files())
            .map(|document| ChangedText { document, text: Some(random.text(self.lengths())) })
            .collect();
        while edits < EDITS {
            let is_edited = !steps.is_empty() && random.happens(EDITED);
            if is_edited {
                file = self.next(file, random);
                changes.push(ChangedText { document: file, text: Some(random.text(self.lengths())) });
            }
            edits += usize::from(is_edited);
            steps.push(CodingStep {
                pause: Pause::Thought,
                message: random.text(MESSAGES),
                changes: std::mem::take(&mut changes),
                reply: random.text(REPLIES),
            });
        }
        CodingSession { steps }
    }

    fn files(self) -> usize {
        match self {
            Self::Large => 100,
            Self::Rewritten => 4,
            _ => 12,
        }
    }

    /// The lengths of files, in tokens.
    fn lengths(self) -> &'static [usize] {
        match self {
            Self::Rewritten => &[6000, 10_000],
            _ => &[100, 200, 400, 800, 1600],
        }
    }

    /// The file of the edit after one in this file.
    fn next(self, file: usize, random: &mut Random) -> usize {
        let last = self.files() - 1;
        match self {
            Self::Focused => {
                let most = if random.happens(0.7) { 1 } else { last };
                random.count(0, most)
            }
            Self::Rewritten => random.count(0, 1),
            Self::Large if random.happens(0.7) => file,
            _ => random.count(0, last),
        }
    }
}
