//! Sessions from the histories of repositories: records of sizes, turned into texts.
//!
//! The records were made by `cargo bench -p columnar-tests --bench cost -- --record FOLDER STYLE ADDRESS`; `record` says
//! how. A text has lines of forty bytes, and an edit changes as many lines as its diff needs.

use std::collections::{BTreeMap, BTreeSet};

use super::record::WorkStyle;
use super::sessions::{ChangedText, CodingSession, CodingStep};
use crate::cost::random::Random;
use crate::cost::trace::Pause;

/// The bytes of a line, and the tokens.
const LINE: usize = 40;
const LINE_TOKENS: usize = LINE / 4;

/// The tokens of a hunk beside the changed lines: its header and three lines on each side.
const HUNK: usize = 6 * LINE_TOKENS + 10;

/// A message with at most this number of tokens in the record of an agent is the result of a tool.
const TOOL: usize = 10;

/// The tokens of documents beyond which the ones that are unchanged for longest are removed, as a person does before the
/// window of a model is full.
const MOST_TOKENS: usize = 50_000;

/// A session while it is made.
#[derive(Default)]
struct RecordedSession {
    steps: Vec<CodingStep>,
    /// The lines of the documents that are shown, and the step of the last change.
    shown: BTreeMap<usize, (usize, Vec<String>)>,
    /// The documents that were shown at the step before.
    known: BTreeSet<usize>,
}

/// The sessions of a record.
///
/// # Panics
///
/// With a text that is no record.
pub fn sessions(record: &str) -> Vec<CodingSession> {
    let style = record.lines().find_map(|line| WorkStyle::by_name(line.strip_prefix("# style ")?));
    let style = style.expect("the header names the style");
    let mut random = Random::new(15);
    let mut sessions: Vec<RecordedSession> = Vec::new();
    for line in record.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with("session ") {
            sessions.push(RecordedSession::default());
        } else if let Some(session) = sessions.last_mut() {
            session.add(line, style, &mut random).expect("a step has two sizes, then documents");
        }
    }
    sessions.into_iter().map(|RecordedSession { steps, .. }| CodingSession { steps }).collect()
}

impl RecordedSession {
    fn add(&mut self, line: &str, style: WorkStyle, random: &mut Random) -> Option<()> {
        self.known = self.shown.keys().copied().collect();
        let mut words = line.split(' ');
        let message: usize = words.next()?.parse().ok()?;
        let reply: usize = words.next()?.parse().ok()?;
        // Later changes of a document in a step replace earlier ones.
        let mut changes: BTreeMap<usize, Option<String>> = BTreeMap::new();
        for word in words {
            if let Some(document) = word.strip_prefix('-') {
                self.remove(document.parse().ok()?, &mut changes);
                continue;
            }
            let sizes: Vec<usize> = word.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
            let (document, tokens) = (*sizes.first()?, *sizes.get(1)?);
            let (since, lines) = self.shown.entry(document).or_default();
            *since = self.steps.len();
            change(lines, tokens.div_ceil(LINE_TOKENS), sizes.get(2).copied(), random);
            changes.insert(document, Some(lines.concat()));
        }
        self.make_room(&mut changes);
        let is_tool = style == WorkStyle::Agent && message <= TOOL;
        let changes = changes.into_iter().map(|(document, text)| ChangedText { document, text });
        self.steps.push(CodingStep {
            pause: if is_tool { Pause::Tool } else { Pause::Thought },
            message: random.text_of(message),
            changes: changes.collect(),
            reply: random.text_of(reply),
        });
        Some(())
    }

    /// Removes the documents that are unchanged for longest, except those of this step.
    fn make_room(&mut self, changes: &mut BTreeMap<usize, Option<String>>) {
        let mut order: Vec<(usize, usize)> =
            self.shown.iter().map(|(document, (since, _))| (*since, *document)).collect();
        order.sort_unstable();
        for (since, document) in order {
            let lines: usize = self.shown.values().map(|(_, lines)| lines.len()).sum();
            if lines * LINE_TOKENS > MOST_TOKENS && since < self.steps.len() {
                self.remove(document, changes);
            }
        }
    }

    /// Removes a document. One that this step has put was never shown.
    fn remove(&mut self, document: usize, changes: &mut BTreeMap<usize, Option<String>>) {
        if self.shown.remove(&document).is_some() {
            if self.known.contains(&document) {
                changes.insert(document, None);
            } else {
                changes.remove(&document);
            }
        }
    }
}

/// Replaces lines at one place, so that there are `count` lines after a diff of this number of tokens. Without a diff, all
/// lines are new.
fn change(lines: &mut Vec<String>, count: usize, diff: Option<usize>, random: &mut Random) {
    let before = lines.len();
    let (removed, added) = match diff.filter(|_| before > 0) {
        None => (before, count),
        Some(diff) => {
            let changed = diff.saturating_sub(HUNK) / LINE_TOKENS;
            let both = changed.saturating_sub(before.abs_diff(count)).div_ceil(2).max(1);
            let removed = (both + before.saturating_sub(count)).min(before);
            (removed, count + removed - before.min(count + removed))
        }
    };
    let at = random.count(0, before - removed);
    let new: Vec<String> = (0..added).map(|_| random.line(LINE)).collect();
    lines.splice(at..at + removed, new);
}
