//! Edits in the answer of a model, as SEARCH/REPLACE blocks:
//!
//! ``````text
//! src/lib.rs
//! ```
//! <<<<<<< SEARCH
//! let a = 1;
//! =======
//! let a = 2;
//! >>>>>>> REPLACE
//! ```
//! ``````
//!
//! The three markers of a block have the same length, from five characters on. So a text that has such a line itself can
//! be in a block with longer markers.

use std::collections::HashMap;

/// Lines of a file, and the replacement.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The path as the model wrote it.
    pub(crate) path: String,
    pub(crate) search: Vec<String>,
    pub(crate) replace: Vec<String>,
    /// The line of the answer on which the block begins, counted from 1.
    pub(crate) line: usize,
}

/// An answer: the blocks, and the text around them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) prose: String,
    pub(crate) blocks: Vec<Block>,
    /// The parts of the answer that begin like a block and are no block.
    pub(crate) faults: Vec<String>,
}

/// The shortest marker.
const SHORTEST: usize = 5;

impl Answer {
    pub(crate) fn parse(text: &str) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let markers = Markers::new(&lines);
        let (mut answer, mut around, mut at) = (Self::default(), Around::default(), 0);
        while let Some(line) = lines.get(at) {
            at += 1;
            let Some(length) = marker(line, '<', " SEARCH") else {
                around.push(line.trim_end());
                continue;
            };
            let block = around.path().and_then(|path| Ok((path, markers.block(at, length)?)));
            match block {
                Ok((path, (divider, end))) => {
                    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
                    let search = owned(lines.get(at..divider).unwrap_or_default());
                    let replace = owned(lines.get(divider + 1..end).unwrap_or_default());
                    answer.blocks.push(Block { path, search, replace, line: at });
                    at = end + 1;
                }
                Err(fault) => answer.faults.push(format!("line {at} of the answer: {fault}")),
            }
        }
        answer.prose = around.prose();
        answer
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Begin,
    Divider,
    End,
}

/// The markers by their length, in order. An answer may have thousands of blocks without an end, so no line is read for
/// each of them.
struct Markers(HashMap<usize, Vec<(usize, Part)>>);

impl Markers {
    fn new(lines: &[&str]) -> Self {
        let mut markers: HashMap<usize, Vec<(usize, Part)>> = HashMap::new();
        for (at, line) in lines.iter().enumerate() {
            for (character, word, part) in
                [('<', " SEARCH", Part::Begin), ('=', "", Part::Divider), ('>', " REPLACE", Part::End)]
            {
                if let Some(length) = marker(line, character, word) {
                    markers.entry(length).or_default().push((at, part));
                }
            }
        }
        Self(markers)
    }

    /// The lines of the divider and of the end of a block that begins before this line.
    fn block(&self, begin: usize, length: usize) -> Result<(usize, usize), String> {
        let markers = self.0.get(&length).map(Vec::as_slice).unwrap_or_default();
        let (_, later) = markers.split_at(markers.partition_point(|(at, _)| *at < begin));
        let dividers = later.iter().take_while(|(_, part)| *part == Part::Divider).count();
        let end = format!("{} REPLACE", ">".repeat(length));
        match (later, later.get(dividers)) {
            (_, None) => Err(format!("no line `{end}` ends the block")),
            (_, Some((_, Part::Begin | Part::Divider))) => {
                Err(format!("another block begins before `{end}`: end the first one, or use longer markers"))
            }
            ([(divider, _), ..], Some((end, Part::End))) if dividers == 1 => Ok((*divider, *end)),
            _ if dividers == 0 => Err(format!("no line `{}` divides the block", "=".repeat(length))),
            _ => Err(format!(
                "several lines `{}` could divide the block: use longer markers",
                "=".repeat(length)
            )),
        }
    }
}

/// The length of a marker: the character again and again, and then the word.
fn marker(line: &str, character: char, word: &str) -> Option<usize> {
    let run = line.trim_end().strip_suffix(word)?;
    (run.len() >= SHORTEST && run.chars().all(|c| c == character)).then_some(run.len())
}

/// The lines around the blocks.
#[derive(Default)]
struct Around<'a> {
    /// The lines that belong to no block.
    prose: Vec<&'a str>,
    /// The number of these lines before the last block.
    before: usize,
    /// Whether the fence of the last block is open.
    is_open: bool,
    /// The path of the last block.
    path: Option<String>,
}

impl<'a> Around<'a> {
    fn push(&mut self, line: &'a str) {
        if self.is_open && is_fence(line) {
            self.is_open = false;
        } else {
            self.prose.push(line);
        }
    }

    /// Takes the path and the fence before a block from the prose. Without them, the block has the path of the last
    /// one.
    fn path(&mut self) -> Result<String, String> {
        let last = self.pop();
        let (path, has_fence) = match last {
            Some(fence) if is_fence(fence) => (self.pop(), true),
            // The path may be the first line inside of the fence.
            Some(path) => {
                let fence = self.pop();
                self.prose.extend(fence.filter(|line| !is_fence(line)));
                (Some(path), fence.is_some_and(is_fence))
            }
            None => (None, self.is_open),
        };
        self.is_open = has_fence;
        self.before = self.prose.len();
        let named = path.map(|path| path.trim().trim_matches(['*', '`', '#', ':']).trim().to_owned());
        // Without a fence, a sentence could be taken for a path.
        let named = named.filter(|path| has_fence || !path.contains(char::is_whitespace));
        self.path = named.or(self.path.take().filter(|_| path.is_none()));
        self.path.clone().ok_or_else(|| "no path and no fence are before the block".to_owned())
    }

    /// The last line since the last block that is not blank.
    fn pop(&mut self) -> Option<&'a str> {
        let since = self.prose.drain(self.before..).collect::<Vec<_>>();
        let last = since.iter().rposition(|line| !line.is_empty())?;
        self.prose.extend(since.iter().take(last));
        since.get(last).copied()
    }

    /// The lines, with one empty line at the most between two others.
    fn prose(self) -> String {
        let mut lines = self.prose;
        lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
        lines.join("\n").trim().to_owned()
    }
}

fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}
