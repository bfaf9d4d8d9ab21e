//! A model by rules, for a program without a key, which does edits that a request spells out. The model reads the files
//! from the request and answers with blocks, as any model does.

use std::ops::Range;

use columnar::BoxError;
use columnar::model::{Chunk, Model, Request};
use columnar_examples::{Document, documents};
use futures::stream::{self, BoxStream, StreamExt as _};

pub(crate) struct Editor;

const UNDERSTOOD: &str = "\
I am no intelligence, and understand these requests alone:
replace `A` with `B` in `PATH`
rename `A` to `B` (in all selected files)
add line `A` after `B` in `PATH`
create `PATH` with `A`";

impl Model for Editor {
    fn name(&self) -> &'static str {
        "editor"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let mut files = documents(&request);
        files.retain(|document| document.title.contains("Files") && !document.path.is_empty());
        let answer = answer(&asked(&request.messages.last_text()), files);
        stream::iter([Ok(Chunk::Text(answer)), Ok(Chunk::stop())]).boxed()
    }
}

/// The last line of the request, without the tags around it.
fn asked(text: &str) -> String {
    let mut lines =
        text.lines().rev().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("</"));
    lines.next().unwrap_or_default().to_owned()
}

fn answer(request: &str, mut files: Vec<Document>) -> String {
    // Every second piece is between backticks.
    let pieces: Vec<&str> = request.split('`').collect();
    let quoted: Vec<&str> = pieces.iter().skip(1).step_by(2).copied().collect();
    let words: Vec<&str> = pieces.iter().step_by(2).flat_map(|words| words.split_whitespace()).collect();
    let words = words.join(" ").trim_end_matches([' ', '.', '!']).to_lowercase();
    if let Some(path) = quoted.get(2) {
        files.retain(|file| file.path == *path);
    }
    let blocks = match (&*words, &quoted[..]) {
        ("replace with in", [old, new, _]) => {
            files.iter_mut().map(|file| edit(file, |line| line.replace(old, new))).collect()
        }
        ("rename to", [old, new]) => {
            files.iter_mut().map(|file| edit(file, |line| renamed(line, old, new))).collect()
        }
        ("add line after in", [new, old, _]) => files.iter_mut().map(|file| add(file, new, old)).collect(),
        ("create with", [path, text]) => {
            let lines: Vec<String> = text.split("\\n").map(ToOwned::to_owned).collect();
            block(path, &[], &lines)
        }
        _ => return UNDERSTOOD.to_owned(),
    };
    match &*blocks {
        "" => "I do not see that text. Is its file selected?".to_owned(),
        _ => format!("Done.{blocks}"),
    }
}

/// A block for each line that another one replaces.
fn edit(file: &mut Document, replaced: impl Fn(&str) -> String) -> String {
    let mut blocks = String::new();
    for at in 0..file.lines.len() {
        let Some(line) = file.lines.get(at) else { break };
        let new = replaced(line);
        if new != *line {
            blocks.push_str(&replace(file, at, vec![new]));
        }
    }
    blocks
}

/// A block that adds a line after the first one with a text.
fn add(file: &mut Document, new: &str, old: &str) -> String {
    let found = file.lines.iter().enumerate().find(|(_, line)| line.contains(old));
    let Some((at, line)) = found.map(|(at, line)| (at, line.clone())) else { return String::new() };
    let indent: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    replace(file, at, vec![line, format!("{indent}{new}")])
}

/// A block that replaces a line, with as many surrounding lines as make the place unique.
fn replace(file: &mut Document, at: usize, new: Vec<String>) -> String {
    let lines = &mut file.lines;
    let around = |more: usize| at.saturating_sub(more)..lines.len().min(at + more + 1);
    let is_unique = |place: &Range<usize>| {
        let search = lines.get(place.clone()).unwrap_or_default();
        lines.windows(search.len()).filter(|lines| *lines == search).count() == 1
    };
    let place = (0..lines.len()).map(around).find(is_unique).unwrap_or(at..at + 1);
    let part = |range: Range<usize>| lines.get(range).unwrap_or_default();
    let replacement = [part(place.start..at), &new, part(at + 1..place.end)].concat();
    let block = block(&file.path, part(place), &replacement);
    lines.splice(at..=at, new);
    block
}

/// A line with whole words replaced.
fn renamed(line: &str, old: &str, new: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut result, mut rest) = (String::new(), line);
    while let Some((before, after)) = rest.split_once(old).filter(|_| !old.is_empty()) {
        let is_inside = before.ends_with(is_word) || after.starts_with(is_word);
        result.push_str(before);
        result.push_str(if is_inside { old } else { new });
        rest = after;
    }
    result + rest
}

fn block(path: &str, search: &[String], replace: &[String]) -> String {
    let text = |lines: &[String]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    let (search, replace) = (text(search), text(replace));
    // Longer than any such line of the texts.
    let run = |line: &str| line.chars().take_while(|c| "<=>".contains(*c)).count();
    let longest = [&*search, &*replace].iter().flat_map(|text| text.lines()).map(run).max().unwrap_or(0);
    let [less, equal, greater] = ["<", "=", ">"].map(|character| character.repeat(7.max(longest + 1)));
    format!("\n\n{path}\n```\n{less} SEARCH\n{search}{equal}\n{replace}{greater} REPLACE\n```")
}
