//! A real history of edits on the real model in several layouts: the tokens that its server read from its cache.

use std::sync::{Arc, Mutex, PoisonError};

use columnar::BoxError;
use columnar::documents::Update;
use columnar::model::{Chunk, Request};
use columnar::{Flow, View, column, documents, flow, prompt, source, this};
use futures::stream::BoxStream;

use super::*;

/// Versions of two files of this repository, by step.
const HISTORY: &str = include_str!("../../../fixtures/history/modules.txt");

/// The puts of each step: a path, and the text.
fn steps() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut steps: Vec<Vec<(&str, &str)>> = Vec::new();
    for version in HISTORY.split("=== step ").skip(1) {
        let (head, text) = version.split_once('\n').expect("a line is before each text");
        let (step, path) = head.split_once(": ").expect("a step and a path");
        let step: usize = step.parse().expect("a number");
        steps.resize_with(steps.len().max(step + 1), Vec::new);
        steps[step].push((path, text));
    }
    steps
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DocumentsAt {
    Compacted,
    Edits,
    Tiered,
    /// Behind the message of the step, in the present state, as other programs send them.
    Last,
}

impl DocumentsAt {
    const ALL: [Self; 4] = [Self::Compacted, Self::Edits, Self::Tiered, Self::Last];

    fn view(self) -> Option<View> {
        let files = documents("files");
        match self {
            Self::Compacted => Some(files.compacted().into()),
            Self::Edits => Some(files.compacted().edits().into()),
            // All of these are shorter than a tier is by default.
            Self::Tiered => Some(files.tiered().target(0).into()),
            Self::Last => None,
        }
    }
}

/// A model that gets the present documents behind the messages. Clones share the documents.
#[derive(Clone, Debug)]
struct DocumentsLast {
    model: EndRecorder,
    files: Arc<Mutex<String>>,
}

impl Model for DocumentsLast {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply(&self, mut request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if !files.is_empty() {
            request.follow_up.push((Role::User, files.as_str().into()));
        }
        self.model.reply(request)
    }
}

async fn session(at: DocumentsAt, url: &str, number: usize) -> Result<Vec<Usage>> {
    let recorder = model_at("openai/smollm2", url);
    let model = DocumentsLast { model: recorder.clone(), files: Arc::default() };
    // The first words have the number of the session, so the cache of the server has nothing of an earlier one.
    let coder = prompt(format!("Session {number}: you answer questions about a library in Rust."))
        .model(model.clone())
        .max_tokens(12)
        .allow_truncated();
    let user = source("user");
    let coder = match at.view() {
        Some(files) => column("coder", (files, user.all(), this()), coder),
        None => column("coder", (user.all(), this()), coder),
    };
    let coding: Flow = flow([coder])?;
    let mut present: Vec<(&str, &str)> = Vec::new();
    for (step, puts) in steps().into_iter().enumerate() {
        for put in &puts {
            present.retain(|(path, _)| *path != put.0);
            present.push(*put);
        }
        present.sort_unstable();
        if at == DocumentsAt::Last {
            let files = present.iter().map(|(path, text)| format!("{path}\n```\n{text}\n```\n\n"));
            *model.files.lock().unwrap_or_else(PoisonError::into_inner) = files.collect();
        } else {
            let update = puts.iter().fold(Update::new(), |update, (path, text)| update.file(path, *text));
            coding.push("files", update.to_text().expect("the paths are valid")).await?;
        }
        coding.push("user", format!("What does step {step} of the history change, and why?")).await?;
        coding.run().await?;
    }
    Ok(usages_of(&recorder))
}

/// A session without a failure: the server drops a reply now and then, and would serve all of a repeated request.
async fn complete(at: DocumentsAt, url: &str) -> Result<Vec<Usage>> {
    for attempt in 5..7 {
        match session(at, url, 10 * attempt + at as usize).await {
            Err(error) => eprintln!("{at:?}: {error}"),
            done => return done,
        }
    }
    session(at, url, 70 + at as usize).await
}

/// The tokens of all requests that the server computed, and did not read from its cache.
fn computed(usages: &[Usage]) -> u64 {
    usages.iter().map(|usage| usage.input - usage.cache_read).sum()
}

#[tokio::test]
async fn a_log_leaves_less_to_compute_than_tiers_and_files_last() -> Result<()> {
    let test = "a_log_leaves_less_to_compute_than_tiers_and_files_last";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    println!("{:<12}{:>8}{:>8}{:>10}", "documents", "input", "cached", "computed");
    let mut all = Vec::new();
    for at in DocumentsAt::ALL {
        let usages = complete(at, &url).await?;
        assert_eq!(usages.len(), steps().len(), "{at:?}: each reply has its usage");
        let [input, cached] = [|usage: &Usage| usage.input, |usage: &Usage| usage.cache_read]
            .map(|of| usages.iter().map(of).sum::<u64>());
        println!("{:<12}{input:>8}{cached:>8}{:>10}", format!("{at:?}"), computed(&usages));
        all.push(computed(&usages));
    }
    let [compacted, edits, tiered, last] = all[..] else { unreachable!("there are four layouts") };
    assert!(compacted < tiered && compacted < last, "{all:?}");
    assert!(edits <= compacted, "{all:?}");
    Ok(())
}

/// What eight columns ask about one chat.
const TASKS: [&str; 8] = [
    "Name the topic.",
    "Name the mood.",
    "Is it polite?",
    "Is it true?",
    "What is missing?",
    "Translate the answer.",
    "Shorten the answer.",
    "Ask the next question.",
];

/// Columns that comment on one chat, by a thread, by instructions behind the same views, and with instructions in front.
#[tokio::test]
async fn columns_read_what_another_column_wrote_into_the_cache() -> Result<()> {
    let test = "columns_read_what_another_column_wrote_into_the_cache";
    let Some((url, _alone)) = address(test).await else { return Ok(()) };
    let question = |n: usize| format!("On day {n} it rained, and we talked about the harvest. ").repeat(6);
    for (session, way) in ["thread", "after", "before"].into_iter().enumerate() {
        let model = model_at("openai/smollm2", &url);
        let of = |text: String| prompt(text).model(model.clone()).max_tokens(8).allow_truncated().retry(2);
        let user = source("user");
        let assistant =
            column("assistant", (&user, this()), of(format!("Session {session}: answer briefly.")));
        let mut columns = vec![assistant.clone()];
        for (n, task) in TASKS.iter().enumerate() {
            let name = format!("c{n}");
            columns.push(match way {
                "thread" => column(name, assistant.thread(), of((*task).to_owned())),
                "after" => column(name, (&user, &assistant), of(format!("{session}: {task}")).after()),
                _ => column(name, (&user, &assistant), of(format!("{session}: {task}"))),
            });
        }
        let talk = flow(columns)?;
        // One at a time, so that the small server keeps one cache.
        talk.set_concurrency(1);
        for n in 0..2 {
            talk.push("user", question(n)).await?;
            talk.run().await?;
        }
        let usages = usages_of(&model);
        let [input, cached] = [|usage: &Usage| usage.input, |usage: &Usage| usage.cache_read]
            .map(|of| usages.iter().map(of).sum::<u64>());
        println!("{way:<8}{input:>8}{cached:>8} of {} requests", usages.len());
        let share = cached * 100 / input;
        match way {
            "before" => assert!(share < 60, "{way}: {share} %"),
            _ => assert!(share > 60, "{way}: {share} %"),
        }
    }
    Ok(())
}
