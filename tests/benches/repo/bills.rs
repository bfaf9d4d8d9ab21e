//! The simulated bills of a coding session over a repository: its map and three files that are shown in full, fifty edits,
//! and a message and a reply at each step. By the documented rules of one provider, as in the benchmark `cost`.

use std::sync::Arc;

use columnar::cache::{CachePolicy, Pace};
use columnar::documents::{self, Documents, Key, Update};
use columnar::repo::Repository;
use columnar::{Context, Flow, Result, Value, View, column, flow, source, this};
use columnar_tests::cost::cache::{Cache, Marks};
use columnar_tests::cost::clock::{Clock, SEEDS};
use columnar_tests::cost::policies::{TimeHints, library_marks};
use columnar_tests::cost::random::Random;
use columnar_tests::cost::request::{Piece, Speaker};
use columnar_tests::cost::rules::{Rules, marked_providers, name_of};
use columnar_tests::cost::scenario::Scenario;
use columnar_tests::cost::trace::{ColumnSpec, Kind, Pause, Trace};
use columnar_tests::figures::{figure, ratio};
use tokio::runtime::Builder;

use crate::editor::Editor;
use crate::subjects::Subject;
use crate::{EDITS, scanned};

const MODEL: &str = "anthropic/claude-sonnet-5";
/// The probability that a step has an edit.
const EDITED: f64 = 0.5;
/// The files that are shown in full: those of most edits.
const SELECTED: usize = 3;
/// The limit of the file tree, which each request in tiers pays at the full price, in tokens.
const TREE: usize = 1000;
/// The lengths of texts, in tokens: those of the benchmark `cost`.
const INSTRUCTION: &[usize] = &[1500];
const MESSAGES: &[usize] = &[15, 30, 60, 100, 150, 250, 600];
const REPLIES: &[usize] = &[60, 120, 200, 300, 400, 700];

/// A message, its reply, and the documents before the message.
struct Step {
    update: Update,
    documents: Documents,
    message: String,
    reply: String,
}

/// Prints the part of the tokens that is read from the cache, and the bill over that of the current documents first
/// without a cache.
pub(crate) fn print(subject: &Subject) {
    let providers = marked_providers();
    let provider = providers.iter().find(|(_, rules)| Some(rules.name) == name_of(&providers, MODEL));
    let (Some((provider, rules)), Some(steps)) = (provider, session(subject)) else {
        return println!("SKIPPED {}.bills: it has too few files to edit", subject.name);
    };
    let changed = steps.iter().skip(1).filter(|step| !step.update.is_empty()).count();
    figure(&format!("{}.session_steps", subject.name), ratio(steps.len(), 1), "steps");
    figure(&format!("{}.session_changes", subject.name), ratio(changed, 1), "steps with a changed document");
    bills(subject, provider, rules, &steps).expect("the flows are sound");
}

/// The steps of a session; `None` if there is nothing to edit.
fn session(subject: &Subject) -> Option<Vec<Step>> {
    let mut random = Random::new(6);
    let mut editor = Editor::new(subject.root().to_owned(), scanned(subject.root()).paths())?;
    let mut repo = Repository::open(subject.root()).ok()?.tree_limit(TREE);
    let first = repo.select(editor.hot().take(SELECTED)).scan().ok()?;
    let (mut update, mut steps, mut edits) = (first, Vec::new(), 0);
    while edits < EDITS {
        let (message, reply) = (random.text(MESSAGES), random.text(REPLIES));
        steps.push(Step { update, documents: repo.documents().clone(), message, reply });
        update = Update::new();
        if random.happens(EDITED) {
            let (path, _) = editor.edit()?;
            update = repo.changed([path]).ok()?;
            edits += 1;
        }
    }
    Some(steps)
}

fn bills(subject: &Subject, provider: &CachePolicy, rules: &Rules, steps: &[Step]) -> Result<()> {
    let (on_top, on_top_marks) = files_on_top(steps);
    let own = |trace: Trace| -> Result<_> {
        let marks = library_marks(&trace, provider, TimeHints { pace: Pace::default(), last: false })?;
        Ok((trace, marks))
    };
    let tiers = own(trace(steps, Kind::Mutable, &columnar::documents("files").tiered().into())?)?;
    let append = own(trace(steps, Kind::AppendOnly, &columnar::documents("files").all())?)?;
    for clock in [Clock::Batch, Clock::Human] {
        let uncached = Scenario::sum(&on_top, rules, clock, Scenario::uncached);
        for (layout, trace, marks) in [
            ("tiers", &tiers.0, &tiers.1),
            ("append", &append.0, &append.1),
            ("files_on_top", &on_top, &on_top_marks),
        ] {
            let costs = |scenario: &Scenario<'_>| scenario.cost(marks).expect("the marks are valid");
            let cost = Scenario::sum(trace, rules, clock, costs);
            let name = format!("{}.{}_{layout}", subject.name, clock.name());
            figure(&format!("{name}_over_uncached"), cost / uncached, "x");
            figure(&format!("{name}_read"), read(trace, rules, clock, marks), "of all tokens");
        }
    }
    for (layout, trace) in [("tiers", &tiers.0), ("append", &append.0), ("files_on_top", &on_top)] {
        figure(&format!("{}.{layout}_largest", subject.name), f64::from(trace.largest()), "tokens");
    }
    Ok(())
}

/// The part of all tokens that is read from the cache.
fn read(trace: &Trace, rules: &Rules, clock: Clock, marks: &[Marks]) -> f64 {
    let (mut read, mut all) = (0.0, 0.0);
    for seed in SEEDS {
        let mut cache = Cache::new(rules);
        for ((_, at, call), marks) in Scenario::new(trace, rules, clock, seed).calls().zip(marks) {
            read += f64::from(cache.send(&call.request, marks, at).expect("the marks are valid").read);
            all += f64::from(call.request.tokens());
        }
    }
    read / all
}

fn coder() -> ColumnSpec {
    ColumnSpec {
        name: "coder".to_owned(),
        instruction: Random::new(7).text(INSTRUCTION),
        depth: 0,
        thread: None,
    }
}

/// The session as a flow of the library.
fn trace(steps: &[Step], kind: Kind, files: &View) -> Result<Trace> {
    let replies: Vec<String> = steps.iter().map(|step| step.reply.clone()).collect();
    let reply = move |cx: Context| std::future::ready(replies.get(cx.step()).cloned().unwrap_or_default());
    let coding = Arc::new(flow([column("coder", (files.clone(), source("user").all(), this()), reply)])?);
    let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    runtime.block_on(run(&coding, steps))?;
    let mut trace = Trace::new("session", kind, vec![coder()]);
    let mut after = None;
    for step in 0..steps.len() {
        after = Some(trace.step(after, Pause::Thought, &coding, step)?);
    }
    Ok(trace)
}

async fn run(coding: &Flow, steps: &[Step]) -> Result<()> {
    for Step { update, message, .. } in steps {
        coding.push("files", update.to_text().expect("the library made it")).await?;
        coding.push("user", message.as_str()).await?;
    }
    coding.run().await
}

/// The session as other programs send it: the map, then the current files, then the conversation. The ends of the
/// instruction, of the map, of the files and of the message are marked.
fn files_on_top(steps: &[Step]) -> (Trace, Vec<Marks>) {
    let user = |text: &str| Piece::new(Speaker::User, text, true);
    let coder = coder();
    let instruction = Piece::new(Speaker::System, &coder.instruction, true);
    let (mut trace, mut all_marks) = (Trace::new("session", Kind::Mutable, vec![coder]), Vec::new());
    let (mut conversation, mut after) = (Vec::new(), None);
    for Step { documents, message, reply, .. } in steps {
        let around = documents.legend().into_iter().chain(documents.tree()).map(|text| user(text));
        let (files, entries): (Vec<_>, Vec<_>) =
            documents.iter().partition(|(key, _)| key.kind() == documents::Kind::File);
        let of = |(key, text): (&Key, &Value)| user(&format!("{}\n{text}", key.path()));
        let mut documents: Vec<Piece> = around.chain(entries.into_iter().map(of)).collect();
        let map = documents.len();
        documents.extend(files.into_iter().map(of));
        let message = user(message);
        let turn = trace.turn(after, Pause::Thought);
        // Block 0 is the instruction.
        let positions = [0, map, documents.len(), documents.len() + conversation.len() + 1];
        let pieces = [&instruction].into_iter().chain(&documents).chain(&conversation).chain([&message]);
        trace.call(turn, pieces.cloned());
        all_marks.push(Marks::short(positions));
        after = Some(turn);
        conversation.extend([message, Piece::new(Speaker::Assistant, reply, true)]);
    }
    (trace, all_marks)
}
