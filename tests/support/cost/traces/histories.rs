//! Sessions from the histories of repositories: records of sizes, turned into texts.
//!
//! The records were made by `cargo bench -p columnar-tests --bench cost -- --record FOLDER STYLE`; `record` says how. A text
//! has lines of forty bytes, and an edit changes as many lines as its diff needs.

use std::collections::BTreeMap;

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

/// The sessions of a record.
///
/// # Panics
///
/// With a text that is no record.
pub fn sessions(record: &str) -> Vec<CodingSession> {
    let style = record.lines().find_map(|line| WorkStyle::by_name(line.strip_prefix("# style ")?));
    let style = style.expect("the header names the style");
    let mut random = Random::new(15);
    let mut sessions: Vec<(CodingSession, BTreeMap<usize, Vec<String>>)> = Vec::new();
    for line in record.lines().filter(|line| !line.starts_with('#')) {
        if line.starts_with("session ") {
            sessions.push((CodingSession { steps: Vec::new() }, BTreeMap::new()));
        } else if let Some((session, documents)) = sessions.last_mut() {
            let step = step(line, style, documents, &mut random);
            session.steps.push(step.expect("a step has two sizes, then documents"));
        }
    }
    sessions.into_iter().map(|(session, _)| session).collect()
}

fn step(
    line: &str,
    style: WorkStyle,
    documents: &mut BTreeMap<usize, Vec<String>>,
    random: &mut Random,
) -> Option<CodingStep> {
    let mut words = line.split(' ');
    let message: usize = words.next()?.parse().ok()?;
    let reply: usize = words.next()?.parse().ok()?;
    // Later changes of a document in a step replace earlier ones.
    let mut changes: BTreeMap<usize, Option<String>> = BTreeMap::new();
    for word in words {
        if let Some(document) = word.strip_prefix('-') {
            let document = document.parse().ok()?;
            // A step that puts and removes a document changes nothing.
            if documents.remove(&document).is_some() {
                changes.insert(document, None);
            }
            continue;
        }
        let sizes: Vec<usize> = word.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
        let (document, tokens) = (*sizes.first()?, *sizes.get(1)?);
        let lines = documents.entry(document).or_default();
        change(lines, tokens.div_ceil(LINE_TOKENS), sizes.get(2).copied(), random);
        changes.insert(document, Some(lines.concat()));
    }
    let is_tool = style == WorkStyle::Agent && message <= TOOL;
    let changes = changes.into_iter().map(|(document, text)| ChangedText { document, text });
    Some(CodingStep {
        pause: if is_tool { Pause::Tool } else { Pause::Thought },
        message: random.text_of(message),
        changes: changes.collect(),
        reply: random.text_of(reply),
    })
}

/// Replaces lines at one place, so that there are `count` lines after a diff of this number of tokens. Without a diff, all
/// lines are new.
fn change(lines: &mut Vec<String>, count: usize, diff: Option<usize>, random: &mut Random) {
    let before = lines.len();
    let (removed, added) = match diff {
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
