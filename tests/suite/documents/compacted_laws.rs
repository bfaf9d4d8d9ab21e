//! Laws of compacted views, on random updates: who reads the log from the top has the documents of the step.

use std::collections::BTreeMap;

use columnar::documents::{Documents, Kind, Update};
use columnar::prelude::*;
use columnar::testing::script;
use columnar::{CompactedView, Messages, documents};
use columnar_tests::live::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() }
}

/// What a step changes: texts by number, and the first step that is laid anew, as a share of the steps so far.
#[derive(Clone, Debug)]
struct Change {
    puts: Vec<(usize, Option<Vec<u8>>)>,
    laid_anew: Option<u8>,
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let text = vec(select(vec![0_u8, 1, 2, 3, 4, 5]), 0..12);
    let puts = vec((0..5_usize, prop_oneof![1 => Just(None), 4 => text.prop_map(Some)]), 0..3);
    let change = (puts, prop_oneof![3 => Just(None), 1 => any::<u8>().prop_map(Some)]);
    vec(change.prop_map(|(puts, laid_anew)| Change { puts, laid_anew }), 1..14)
}

/// The lines of a document.
fn text(lines: &[u8]) -> String {
    let mut lines: Vec<String> = lines.iter().map(|line| format!("line {line} `a` <user>")).collect();
    // Some texts end in a line break, and some do not.
    if lines.len().is_multiple_of(2) {
        lines.push(String::new());
    }
    lines.join("\n")
}

/// The kinds and paths of the documents: the symbols of a file are hidden while the file is there.
const DOCUMENTS: [(Kind, &str); 5] = [
    (Kind::File, "a"),
    (Kind::Symbol, "a"),
    (Kind::File, "b"),
    (Kind::Symbol, "c"),
    (Kind::Url, "https://d"),
];

/// The updates of the changes, as texts.
fn updates(changes: &[Change]) -> Vec<String> {
    let mut present = Documents::new();
    let all = changes.iter().enumerate().map(|(step, Change { puts, laid_anew })| {
        let puts: BTreeMap<usize, &Option<Vec<u8>>> = puts.iter().map(|(at, lines)| (*at, lines)).collect();
        let mut update = Update::new();
        for (at, lines) in puts {
            let (kind, path) = DOCUMENTS[at];
            let key = columnar::documents::Key::new(kind, path).expect("a valid key");
            update = match (kind, lines) {
                (Kind::File, Some(lines)) => update.file(path, text(lines)),
                (Kind::Symbol, Some(lines)) => update.symbol(path, text(lines)),
                (Kind::Url, Some(lines)) => update.url(path, text(lines)),
                (_, None) if kind != Kind::Url && present.get(&key).is_some() => update.remove(kind, path),
                _ => update,
            };
        }
        if step % 5 == 3 {
            update = update.tree(format!("tree {step}")).legend(if step % 2 == 0 { "" } else { "legend" });
        }
        present = present.apply(&update).expect("it can be applied").0;
        let text = update.to_text().expect("no faults").to_string();
        match laid_anew {
            None => text,
            Some(share) => {
                let from = usize::from(*share) * (step + 1) / 256;
                let part = if share % 3 == 0 { ", part 1" } else { "" };
                let line = format!("# Laid Anew\n\nfrom step {from}{part}");
                if update.is_empty() { line } else { format!("{text}\n\n{line}") }
            }
        }
    });
    all.collect()
}

/// The flow of these updates, with replies.
async fn coding(updates: &[String], view: fn(CompactedView) -> CompactedView) -> Result<Flow> {
    let files = documents("files");
    let replies = script((0..updates.len()).map(|step| format!("reply {step}")));
    let coder = column("coder", (view(files.compacted()), source("user"), this()), replies);
    let flow = flow([coder])?;
    for (step, update) in updates.iter().enumerate() {
        flow.push("files", update.as_str()).await?;
        flow.push("user", format!("question {step}")).await?;
    }
    flow.run().await?;
    Ok(flow)
}

/// The documents that a reader of the messages has in the end.
fn read(messages: &Messages) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for part in messages.parts().filter(|part| part.origin().is_some_and(|of| of.column.as_str() == "files"))
    {
        // Pages are shown for one step.
        found.retain(|key: &String, _| !key.starts_with("# URLs"));
        let text = part.text();
        let inside = text.trim_start_matches("\n\n").strip_prefix("<files>\n").expect("the tag opens");
        read_entry(
            &inside.strip_suffix("\n</files>").expect("the tag closes").replace("&lt;", "<"),
            &mut found,
        );
    }
    found
}

/// Reads the texts of an entry: each has the key of its section and its path.
fn read_entry(entry: &str, found: &mut BTreeMap<String, String>) {
    let mut lines = entry.split('\n').peekable();
    let mut title = "";
    while let Some(line) = lines.next() {
        if line.starts_with("# ") {
            title = line;
            assert_eq!(lines.next(), Some(""), "an empty line is after each title");
            continue;
        }
        if title == "# Removed" {
            let (kind, path) = line.split_once(' ').unwrap_or((line, ""));
            let key = match kind {
                "file" => format!("# Files {path}"),
                "symbol" => format!("# Symbols {path}"),
                _ if line == "the legend" => "# Legend ".to_owned(),
                other => panic!("{other} is removed"),
            };
            assert!(found.remove(&key).is_some(), "{key} was there");
            continue;
        }
        if line.is_empty() {
            continue;
        }
        let (path, fence) =
            if line.starts_with("```") { ("", line) } else { (line, lines.next().expect("a fence")) };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
        let text = text.join("\n");
        let (section, form) = title.split_once(" (").unwrap_or((title, ""));
        let key = format!("{section} {path}");
        match form {
            "" => assert!(found.insert(key.clone(), text).is_none(), "{key} is new"),
            form if form.contains("replace") => {
                found.insert(key, text);
            }
            _ => {
                let before = found.get(&key).expect("a text that the edit changes");
                let after = patched(before, &text);
                found.insert(key, after);
            }
        }
    }
}

/// Applies a unified diff.
fn patched(before: &str, diff: &str) -> String {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let (mut after, mut at) = (String::new(), 0);
    let mut diff = diff.split_inclusive('\n').peekable();
    while let Some(line) = diff.next() {
        let ends = diff.peek().is_some_and(|next| next.starts_with('\\'))
            || !line.ends_with('\n') && diff.peek().is_none();
        let (mark, rest) = line.split_at(1);
        let rest = if diff.peek().is_some_and(|next| next.starts_with('\\')) {
            rest.trim_end_matches('\n').to_owned()
        } else if ends {
            format!("{rest}\n")
        } else {
            rest.to_owned()
        };
        match mark {
            "@" => {
                let start = line
                    .split(['-', ',', ' '])
                    .nth(2)
                    .and_then(|it| it.parse::<usize>().ok())
                    .expect("a start");
                let counts_from = if line.contains(",0 +") { start } else { start.saturating_sub(1) };
                after.extend(lines[at..counts_from].iter().copied());
                at = counts_from;
            }
            " " | "-" => {
                assert_eq!(lines[at], rest, "the diff names the line that is there");
                if mark == " " {
                    after.push_str(&rest);
                }
                at += 1;
            }
            "+" => after.push_str(&rest),
            "\\" => {}
            other => panic!("a line of a diff begins with {other:?}"),
        }
    }
    after.extend(lines[at..].iter().copied());
    after
}

/// The documents of the step, as [`read`] names them.
fn expected(documents: &Documents) -> BTreeMap<String, String> {
    let shown = documents.iter().filter(|(key, _)| documents.is_shown(key));
    let mut all: BTreeMap<String, String> = shown
        .map(|(key, text)| {
            let section = match key.kind() {
                Kind::Symbol => "# Symbols",
                Kind::File => "# Files",
                _ => "# URLs",
            };
            (format!("{section} {}", key.path()), text.to_string())
        })
        .collect();
    let alone = [("# Legend ", documents.legend()), ("# File Tree ", documents.tree())];
    all.extend(alone.into_iter().filter_map(|(title, text)| Some((title.to_owned(), text?.to_string()))));
    all
}

const VIEWS: [fn(CompactedView) -> CompactedView; 4] =
    [|view| view, CompactedView::edits, |view| view.at_most(1.0), |view| view.edits().at_most(1.5)];

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_log_read_from_the_top_has_the_documents_of_the_step(changes in changes(), view in 0..VIEWS.len()) {
        let updates = updates(&changes);
        block_on(async {
            let flow = coding(&updates, VIEWS[view]).await.expect("it runs");
            for step in 0..updates.len() {
                let messages = flow.messages("coder", step).expect("it has a context");
                let documents = messages.documents().expect("a view has documents");
                let mut found = read(&messages);
                if !messages.parts().any(|part| part.origin().is_some_and(|of| of.column.as_str() == "files" && of.step == step)) {
                    found.retain(|key, _| !key.starts_with("# URLs"));
                }
                assert_eq!(found, expected(documents), "step {step} of {updates:?}");
                assert_eq!(messages.tokens(), messages.parts().map(|part| part.tokens()).sum::<usize>());
            }
        });
    }

    #[test]
    fn contexts_are_the_same_in_any_order_and_in_forks(changes in changes(), view in 0..VIEWS.len()) {
        let updates = updates(&changes);
        block_on(async {
            let one = coding(&updates, VIEWS[view]).await.expect("it runs");
            let fork = one.fork(updates.len()).expect("a fork");
            let ascending: Vec<String> =
                (0..updates.len()).map(|step| one.messages("coder", step).expect("a context").to_json()).collect();
            let again = |flow: &Flow, step| flow.messages("coder", step).expect("a context").to_json();
            for step in (0..updates.len()).rev() {
                assert_eq!(again(&one, step), ascending[step], "step {step}");
                assert_eq!(again(&fork, step), ascending[step], "step {step} of a fork");
            }
        });
    }

    #[test]
    fn a_request_repeats_the_one_before_up_to_what_is_laid_anew(changes in changes(), view in 0..2_usize) {
        let updates = updates(&changes);
        block_on(async {
            let flow = coding(&updates, VIEWS[view]).await.expect("it runs");
            for step in 1..updates.len() {
                let [before, now] = [step - 1, step].map(|step| flow.messages("coder", step).expect("a context"));
                let stored = flow.get("files", step).expect("an update");
                let laid = stored.split("# Laid Anew\n\nfrom step ").nth(1).map(|place| {
                    let mut numbers = place.split(", part ").map(|number| number.parse().expect("a number"));
                    (numbers.next().expect("a step"), numbers.next().unwrap_or(0))
                });
                let mut last = (0_usize, 0_usize);
                let kept = before.parts().take_while(|part| {
                    let Some(of) = part.origin().filter(|of| of.column.as_str() == "files") else { return true };
                    last = (of.step, if of.step == last.0 { last.1 } else { 0 });
                    let place = last;
                    last.1 += 1;
                    laid.is_none_or(|from| place < from)
                });
                let kept: Vec<_> = kept.collect();
                let same = kept.iter().zip(now.parts()).take_while(|(one, other)| **one == *other).count();
                assert_eq!(same, kept.len(), "step {step}, {laid:?}, {updates:?}");
            }
        });
    }
}
