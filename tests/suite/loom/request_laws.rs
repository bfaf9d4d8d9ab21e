//! Laws of the requests from random paths: a second, naive assembler agrees.

use columnar::budget::{Budget, Strategy as Cut};
use columnar::loom::{Agent, Author, Edge, LoomError, Mark, Mode, NodeId, Tree};
use columnar::{Attachment, Purpose, Text};
use columnar_tests::pictures::picture;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::long::dice;

/// One node on the way, with what stands beside it on its edge.
#[derive(Clone, Debug)]
struct Step {
    author: Author,
    said: Utterance,
    contexts: Vec<Utterance>,
    instructions: Vec<Utterance>,
    is_dropped: bool,
}

/// A text, perhaps with pictures that have these widths.
#[derive(Clone, Debug)]
struct Utterance {
    text: String,
    widths: Vec<u32>,
}

impl Utterance {
    fn pictures(&self) -> Vec<Attachment> {
        self.widths.iter().map(|width| picture(*width, 100)).collect()
    }

    fn value(&self) -> Text {
        self.pictures().into_iter().fold(Text::new(self.text.as_str()), Text::with)
    }

    /// The text with words in place of the pictures.
    fn in_words(&self) -> String {
        let words = format!("\n\n{WORDS}").repeat(self.widths.len());
        let words = if self.text.is_empty() { words.trim() } else { &words };
        self.text.clone() + words
    }
}

const WORDS: &str = "[image/png, 45 bytes]";

fn text() -> impl Strategy<Value = String> {
    prop_oneof![6 => "[a-z<>&/ \n]{0,60}", 1 => Just(String::new()), 1 => Just(" \n".to_owned()), 1 => "[a-z]{200,400}"]
}

fn utterance() -> impl Strategy<Value = Utterance> {
    let widths = prop_oneof![6 => Just(Vec::new()), 1 => vec(1..1_500_u32, 1..3)];
    (text(), widths).prop_map(|(text, widths)| Utterance { text, widths })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let author = prop_oneof![Just(Author::Human), Just(Author::Model)];
    let beside = || prop_oneof![6 => Just(Vec::new()), 1 => vec(utterance(), 1..3)];
    let step = (author, utterance(), beside(), beside(), prop::bool::weighted(0.1));
    let step = step.prop_map(|(author, said, contexts, instructions, is_dropped)| Step {
        author,
        said,
        contexts,
        instructions,
        is_dropped,
    });
    vec(step, 1..24)
}

/// A tree with these nodes on one path.
fn tree(mode: Mode, steps: &[Step], system: &str) -> (Tree, Edge) {
    let (mut tree, mut dice) = (Tree::new(mode), dice(2));
    tree.set_system(Some(system)).unwrap();
    tree.set_system_in_buffer(true).unwrap();
    let mut edge = Edge::root();
    for step in steps {
        let node = tree.append(&mut dice, edge, step.author, step.said.value()).unwrap();
        if step.is_dropped {
            tree.mark(&node, Mark::Excluded, true).unwrap();
        }
        edge = Edge::from(&node);
        let beside = [(Purpose::Context, &step.contexts), (Purpose::Instruction, &step.instructions)];
        for (purpose, texts) in beside {
            for text in texts {
                let aside = tree.aside(&mut dice, Author::Model, text.value()).unwrap();
                edge =
                    if purpose == Purpose::Context { edge.context(&aside) } else { edge.instruction(&aside) };
            }
        }
    }
    (tree, edge)
}

fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// A turn of a request.
#[derive(Clone, Debug)]
struct NaiveTurn {
    role: &'static str,
    text: String,
    pictures: Vec<Attachment>,
}

impl NaiveTurn {
    fn new(role: &'static str, said: &Utterance, is_dialogue: bool) -> Self {
        if is_dialogue {
            Self { role, text: said.text.clone(), pictures: said.pictures() }
        } else {
            Self { role, text: said.in_words(), pictures: Vec::new() }
        }
    }

    fn tokens(&self) -> usize {
        let pictures = self.pictures.iter().map(|picture| {
            let (width, height) = picture.size().unwrap();
            // A reply shows words.
            if self.role == "user" {
                (width.div_ceil(28) * height.div_ceil(28)) as usize
            } else {
                tokens(WORDS)
            }
        });
        tokens(&self.text) + pictures.sum::<usize>()
    }
}

/// The turns of a request, and the instructions.
fn turns(steps: &[Step], is_dialogue: bool) -> (Vec<NaiveTurn>, Vec<String>) {
    let (mut turns, mut instructions) = (Vec::new(), Vec::new());
    for step in steps {
        instructions.extend(step.instructions.iter().map(|said| said.in_words().trim().to_owned()));
        turns.extend(step.contexts.iter().map(|said| NaiveTurn::new("user", said, is_dialogue)));
        if !step.is_dropped {
            let role = if step.author == Author::Model { "assistant" } else { "user" };
            turns.push(NaiveTurn::new(role, &step.said, is_dialogue));
        }
    }
    if is_dialogue {
        turns.retain(|turn| !turn.text.trim().is_empty() || !turn.pictures.is_empty());
    }
    instructions.retain(|text| !text.is_empty());
    (turns, instructions)
}

fn sum<'t>(turns: impl IntoIterator<Item = &'t NaiveTurn>, separator: usize) -> usize {
    turns.into_iter().map(|turn| turn.tokens() + separator).sum()
}

fn marker(omitted: &[NaiveTurn], separator: usize) -> (String, usize) {
    let sum = sum(omitted, separator);
    let text = format!("<elided>{} turns, about {sum} tokens</elided>", omitted.len());
    let tokens = tokens(&text) + separator;
    (text, tokens)
}

/// The first and the last omitted turn plus one.
fn cut(turns: &[NaiveTurn], limit: usize, separator: usize, strategy: Cut, recent: usize) -> (usize, usize) {
    let size = |start: usize, end: usize| {
        let kept = sum(turns[..start].iter().chain(&turns[end..]), separator);
        let is_marked = strategy == Cut::TruncateMiddle && start < end;
        kept + if is_marked { marker(&turns[start..end], separator).1 } else { 0 }
    };
    let count = turns.len();
    if size(0, 0) <= limit {
        return (0, 0);
    }
    if strategy == Cut::RollingWindow {
        let end = (0..count).find(|end| size(0, *end) <= limit).unwrap_or(count - 1);
        return (0, end.min(count - 1));
    }
    let (mut start, mut end) = (0, count.saturating_sub(recent.max(1)));
    while end < count - 1 && size(start, end) > limit {
        end += 1;
    }
    loop {
        let before = (start, end);
        if start < end && size(start + 1, end) <= limit {
            start += 1;
        }
        if start < end && size(start, end - 1) <= limit {
            end -= 1;
        }
        if before == (start, end) {
            return if start < end { before } else { (0, 0) };
        }
    }
}

/// The messages, once more.
fn composed(
    turns: &[NaiveTurn],
    (start, end): (usize, usize),
    limit: Option<usize>,
    strategy: Cut,
    is_dialogue: bool,
) -> Json {
    let separator = usize::from(is_dialogue);
    let user = |text: String| NaiveTurn { role: "user", text, pictures: Vec::new() };
    let mut shown: Vec<NaiveTurn> = turns[..start].to_vec();
    let (text, of_marker) = marker(&turns[start..end], separator);
    let kept = sum(turns[..start].iter().chain(&turns[end..]), separator);
    let fits = limit.is_none_or(|limit| kept + of_marker <= limit);
    if start < end && strategy == Cut::TruncateMiddle && fits {
        shown.push(user(text));
    }
    shown.extend_from_slice(&turns[end..]);
    if !is_dialogue {
        let text: String = shown.into_iter().map(|turn| turn.text).collect();
        return json!([{ "role": "user", "content": text }]);
    }
    let mut messages: Vec<NaiveTurn> = Vec::new();
    if shown[0].role == "assistant" {
        messages.push(user("<elided/>".to_owned()));
    }
    for turn in shown {
        match messages.last_mut().filter(|last| last.role == turn.role) {
            Some(last) => {
                last.text = format!("{}\n\n{}", last.text, turn.text);
                last.pictures.extend(turn.pictures);
            }
            None => messages.push(turn),
        }
    }
    let messages = messages.into_iter().map(|NaiveTurn { role, text, pictures }| {
        let mut message = json!({ "role": role, "content": text });
        if !pictures.is_empty() {
            message["attachments"] = json!(pictures);
        }
        message
    });
    messages.collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(debug_assertions) { 200 } else { 10_000 })
    })]

    #[test]
    fn a_naive_assembler_agrees(
        steps in steps(),
        (agent, system) in (text(), text()),
        is_dialogue in any::<bool>(),
        limit in prop_oneof![Just(None), (1..400_usize).prop_map(Some)],
        strategy in prop_oneof![Just(Cut::TruncateMiddle), Just(Cut::RollingWindow), Just(Cut::StopAtLimit)],
        recent in 0..6_usize,
    ) {
        let mode = if is_dialogue { Mode::Dialogue } else { Mode::Buffer };
        let (tree, edge) = tree(mode, &steps, &system);
        let path = tree.path(edge, &[]).unwrap();
        let mut budget = Budget::new().token_buffer(0).strategy(strategy).minimum_recent(recent);
        if let Some(limit) = limit {
            budget = budget.tokens(limit);
        }
        let settings = Agent::new(agent.clone()).budget(budget);
        let asked = if is_dialogue { path.dialogue(&settings) } else { path.buffer("", &settings) };

        let (turns, instructions) = turns(&steps, is_dialogue);
        let mut constant: Vec<&str> = [agent.trim(), system.trim()].into_iter().filter(|text| !text.is_empty()).collect();
        let known = constant.join("\n\n");
        let more = instructions.join("\n\n");
        constant.extend(instructions.iter().map(String::as_str));
        let separator = usize::from(is_dialogue);
        if turns.is_empty() {
            let is_empty = matches!(asked, Err(LoomError::Empty { .. }));
            prop_assert!(is_empty);
            return Ok(());
        }
        let instructed = if more.is_empty() { 0 } else { tokens(&more) + separator };
        let taken = tokens(&known) + instructed;
        let room = limit.map(|limit| limit.saturating_sub(taken));
        if room.is_some_and(|room| room < separator.max(1)) {
            let is_full = matches!(asked, Err(LoomError::NoRoom { .. }));
            prop_assert!(is_full);
            return Ok(());
        }
        let total = sum(&turns, separator);
        if strategy == Cut::StopAtLimit && room.is_some_and(|room| total > room) {
            let is_over = matches!(&asked, Err(LoomError::OverLimit { tokens, contributors, others: 0, .. })
                if *tokens == total && contributors.iter().map(|(_, tokens)| tokens).sum::<usize>() == total);
            prop_assert!(is_over);
            return Ok(());
        }
        let asked = asked.unwrap();
        let cut = room.map_or((0, 0), |room| cut(&turns, room, separator, strategy, recent));
        let expected = composed(&turns, cut, room, strategy, is_dialogue);
        prop_assert_eq!(serde_json::to_value(asked.messages()).unwrap(), expected);
        prop_assert_eq!(asked.system().unwrap_or_default(), constant.join("\n\n"));

        // The report and the parts add up; nothing is missing but what the report names.
        let parts: usize = asked.messages().parts().map(|part| part.tokens()).sum();
        prop_assert_eq!(parts, asked.messages().tokens());
        let elided: Vec<&NodeId> = asked.elided().collect();
        prop_assert_eq!(asked.nodes().count() + elided.len(), turns.len());
        if let Some(report) = asked.report() {
            prop_assert_eq!((report.turns, report.before, report.after), (elided.len(), total, parts));
            prop_assert!(asked.nodes().count() > 0);
        }
        // Roles alternate, and the first message is the user's.
        let roles: Vec<String> = asked.messages().iter().map(|(role, _)| role.to_string()).collect();
        prop_assert!(roles.windows(2).all(|pair| pair[0] != pair[1]) && roles[0] == "user");
    }
}
