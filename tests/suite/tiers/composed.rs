//! Tiered contexts by a second implementation: composed anew for each step, from plain maps and strings.

use std::collections::BTreeMap;

use columnar::documents::{Key, Kind, Update};
use columnar::tiers::{Item, Step, Tier, Tracker};
use columnar::tokens::{Counter, Estimate};

/// One change of the documents.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Put(Key, String),
    Cluster(Key, u32, u32),
    Remove(Key),
    Tree(String),
    Legend(String),
}

/// The documents of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Set {
    pub(super) texts: BTreeMap<Key, String>,
    clusters: BTreeMap<Key, (u32, u32)>,
    tree: String,
    legend: String,
}

impl Set {
    /// The documents of the next step, and the update that leads to them. Edits that would be faults are left out.
    pub(super) fn apply(&self, edits: &[Edit]) -> (Self, Update) {
        let (mut next, mut update) = (self.clone(), Update::new());
        next.texts.retain(|key, _| key.kind() != Kind::Url);
        let mut named = Vec::new();
        let mut pages = 0;
        for edit in edits {
            match edit {
                Edit::Put(key, text) if !named.contains(&key) => {
                    pages += usize::from(key.kind() == Kind::Url);
                    if pages > 3 {
                        continue;
                    }
                    named.push(key);
                    next.texts.insert(key.clone(), text.clone());
                    next.clusters.remove(key);
                    update = match key.kind() {
                        Kind::Symbol => update.symbol(key.path(), text.as_str()),
                        Kind::File => update.file(key.path(), text.as_str()),
                        _ => update.url(key.path(), text.as_str()),
                    };
                    for edit in edits {
                        if let Edit::Cluster(of, id, references) = edit
                            && of == key
                            && key.kind() == Kind::Symbol
                            && !next.clusters.contains_key(key)
                        {
                            next.clusters.insert(key.clone(), (*id, *references));
                            update = update.cluster(*id, *references);
                        }
                    }
                }
                Edit::Remove(key)
                    if self.texts.contains_key(key) && key.kind() != Kind::Url && !named.contains(&key) =>
                {
                    named.push(key);
                    next.texts.remove(key);
                    next.clusters.remove(key);
                    update = update.remove(key.kind(), key.path());
                }
                _ => {}
            }
        }
        let tree = edits.iter().find_map(|edit| if let Edit::Tree(text) = edit { Some(text) } else { None });
        let legend =
            edits.iter().find_map(|edit| if let Edit::Legend(text) = edit { Some(text) } else { None });
        if let Some(tree) = tree {
            next.tree.clone_from(tree);
            update = update.tree(tree.as_str());
        }
        if let Some(legend) = legend {
            next.legend.clone_from(legend);
            update = update.legend(legend.as_str());
        }
        (next, update)
    }
}

/// The texts of one step.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    pub(super) documents: Set,
    /// The text of each input that is shown at the step, in its tag.
    pub(super) inputs: Vec<Option<String>>,
    /// `None` if there was no response.
    pub(super) reply: Option<String>,
    /// The tokens of the exchange once it is final.
    pub(super) tokens: usize,
}

/// A context: the documents in the system text, and all texts of the messages with their roles and tiers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Composed {
    pub(super) system: String,
    pub(super) messages: Vec<(String, Tier, String)>,
    pub(super) broken: Vec<Tier>,
}

impl Composed {
    /// The tier of the first turn, if a message of the user leads to it.
    fn lead(&self) -> Option<Tier> {
        self.messages.first().filter(|(.., text)| text == "<elided/>").map(|(_, tier, _)| *tier)
    }
}

/// The number of values that a finite window of an input shows; `None` for all.
pub(super) type Windows<'w> = &'w [Option<usize>];

/// The context at the last of these turns.
pub(super) fn composed(turns: &[Turn], windows: Windows<'_>, target: usize) -> Composed {
    let last = turns.len() - 1;
    let (mut tracker, mut shown, mut known) = (Tracker::new(target), Set::default(), 0);
    let mut answered = None;
    for (step, turn) in turns.iter().enumerate() {
        let (mut next, first) = (tracker.clone(), final_before(turns, windows, step));
        let mut changed = changes(&shown, &turn.documents);
        for (exchange, turn) in turns.iter().enumerate().take(first).skip(known) {
            // A finite window does not show the exchange any more.
            let mut inputs = turn.inputs.iter().zip(windows).filter(|(_, window)| window.is_none());
            let has_text = inputs.any(|(input, _)| input.is_some()) || turn.reply.is_some();
            if has_text {
                changed = changed.exchange(exchange, turn.tokens);
            }
        }
        let moves = next.update(&changed);
        if step == last {
            let mut now = compose(turns, windows, &next, moves.broken());
            let lead = now.lead();
            if let Some(before) = answered.filter(|before| *before != lead) {
                now.broken.extend([before, lead].into_iter().flatten().filter(|tier| *tier != Tier::Active));
                now.broken.sort();
                now.broken.dedup();
            }
            return now;
        }
        if turn.reply.is_some() {
            answered = Some(compose(&turns[..=step], windows, &next, &[]).lead());
            (tracker, shown, known) = (next, turn.documents.clone(), known.max(first));
        }
    }
    unreachable!("there is a last step")
}

/// The first exchange that a later context may still change.
fn final_before(turns: &[Turn], windows: Windows<'_>, step: usize) -> usize {
    let starts = windows.iter().enumerate().filter_map(|(input, window)| Some((input, (*window)?)));
    let starts = starts.map(|(input, values)| window_start(turns, input, values, step));
    starts.min().map_or(step, |first| first.min(step))
}

/// The first step of a finite window of an input at a step.
fn window_start(turns: &[Turn], input: usize, values: usize, step: usize) -> usize {
    let shown = (0..=step).rev().filter(|at| turns[*at].inputs[input].is_some());
    shown.take(values).nth(values - 1).unwrap_or(0)
}

fn changes(before: &Set, now: &Set) -> Step {
    let mut step = Step::new();
    for key in before.texts.keys().filter(|key| !now.texts.contains_key(key)) {
        if key.kind() != Kind::Url {
            step = step.remove(key.clone());
        }
    }
    for (key, text) in &now.texts {
        if key.kind() != Kind::Url && before.texts.get(key) == Some(text) {
            continue;
        }
        let fence = fence(text);
        let around = format!("{}\n{fence}\n\n{fence}\n\n", key.path());
        step = step.put(key.clone(), Estimate.count(text) + Estimate.count(&around));
        if let Some((id, references)) = now.clusters.get(key) {
            step = step.cluster(key, *id).references(key, *references);
        }
    }
    if before.legend == now.legend { step } else { step.legend() }
}

fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

fn fenced(path: &str, text: &str) -> String {
    let (fence, end) = (fence(text), if path.is_empty() { "" } else { "\n" });
    format!("{path}{end}{fence}\n{text}\n{fence}")
}

fn compose(turns: &[Turn], windows: Windows<'_>, tracker: &Tracker, broken: &[Tier]) -> Composed {
    let step = turns.len() - 1;
    let documents = &turns[step].documents;
    let of = |tier: Tier, kind: Kind, title: &str, first: Option<String>| {
        let mut blocks: Vec<String> = first.into_iter().collect();
        blocks.extend(tracker.items(tier).filter_map(|(item, ..)| match item {
            Item::Document(key) if key.kind() == kind => Some(fenced(key.path(), &documents.texts[key])),
            _ => None,
        }));
        if blocks.is_empty() { Vec::new() } else { [vec![title.to_owned()], blocks].concat() }
    };
    let legend = (!documents.legend.is_empty()).then(|| fenced("", &documents.legend));
    let mut system = of(Tier::L0, Kind::Symbol, "# Repository Structure", legend);
    system.extend(of(Tier::L0, Kind::File, "# Reference Files (Stable)", None));

    let mut messages = Vec::new();
    let mut say = |role: &str, tier, text: String| messages.push((role.to_owned(), tier, text));
    let mut from = 0;
    let files =
        ["", "# Reference Files", "# Reference Files (L2)", "# Reference Files (L3)", "# Working Files"];
    for (at, tier) in Tier::ALL.into_iter().enumerate() {
        let to = tracker.history().get(at).copied().unwrap_or(usize::MAX).max(from);
        if tier == Tier::Active {
            if !documents.tree.is_empty() {
                say("user", tier, format!("# Repository Files\n\n{}", fenced("", &documents.tree)));
                say("assistant", tier, "Ok.".to_owned());
            }
            let pages = of(tier, Kind::Url, "# URL Context", None);
            if !pages.is_empty() {
                say("user", tier, pages.join("\n\n"));
                say("assistant", tier, "Ok, I've reviewed the URL content.".to_owned());
            }
        }
        if tier != Tier::L0 {
            let mut blocks = of(tier, Kind::Symbol, "# Repository Structure (continued)", None);
            blocks.extend(of(tier, Kind::File, files[at], None));
            if !blocks.is_empty() {
                say("user", tier, blocks.join("\n\n"));
                say("assistant", tier, "Ok.".to_owned());
            }
        }
        for (exchange, turn) in turns.iter().enumerate().take(to.min(step + 1)).skip(from) {
            for (at, (input, window)) in turn.inputs.iter().zip(windows).enumerate() {
                let is_shown = window.is_none_or(|values| exchange >= window_start(turns, at, values, step));
                if let Some(text) = input.as_ref().filter(|_| is_shown) {
                    say("user", tier, text.clone());
                }
            }
            if let Some(reply) = turn.reply.as_ref().filter(|_| exchange < step) {
                say("assistant", tier, reply.clone());
            }
        }
        from = to;
    }
    if messages.first().is_some_and(|(role, ..)| role == "assistant") {
        let tier = messages[0].1;
        messages.insert(0, ("user".to_owned(), tier, "<elided/>".to_owned()));
    }
    Composed { system: system.join("\n\n"), messages, broken: broken.to_vec() }
}
