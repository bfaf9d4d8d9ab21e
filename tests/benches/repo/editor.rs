//! A person who edits the files of a repository: always the same edits, most of them in a few files.

use std::fs;
use std::ops::Range;
use std::path::PathBuf;

use fastrand::Rng;

use crate::names::{crate_path, module_of};

const SEED: u64 = 20;
/// The files of most edits.
const HOT: usize = 5;
/// The part of the edits that is in them.
const IN_HOT: f64 = 0.7;
/// The sizes of those files, in bytes.
const HOT_SIZES: Range<usize> = 2_000..60_000;
/// The functions of such a file, at least.
const HOT_FUNCTIONS: usize = 5;
/// The files that are tried for an edit.
const ATTEMPTS: usize = 10_000;

/// The kind of an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Changes a line in the body of a function.
    Line,
    /// Deletes one.
    Removal,
    /// Adds a function that calls others of the file.
    Function,
    /// Renames a parameter.
    Parameter,
    /// Imports a function of another file, and calls it.
    Call,
}

/// All operations, each with its part of twenty edits.
pub(crate) const OPERATIONS: [(Operation, usize); 5] = [
    (Operation::Line, 8),
    (Operation::Removal, 4),
    (Operation::Function, 3),
    (Operation::Parameter, 2),
    (Operation::Call, 3),
];

impl Operation {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Line => "changed_line",
            Self::Removal => "deleted_line",
            Self::Function => "new_function",
            Self::Parameter => "renamed_parameter",
            Self::Call => "new_call",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Rust,
    Python,
}

/// Edits files. The sequence is fixed by the repository.
pub(crate) struct Editor {
    root: PathBuf,
    files: Vec<(String, Language)>,
    hot: Vec<(String, Language)>,
    random: Rng,
    edits: usize,
}

/// A function in the lines of a file.
struct Function {
    head: usize,
    body: Range<usize>,
    name: String,
    parameters: Vec<String>,
    indent: usize,
    is_public: bool,
}

impl Editor {
    /// An editor of the files whose language it knows; `None` if there are too few.
    pub(crate) fn new<'p>(root: PathBuf, paths: impl Iterator<Item = &'p str>) -> Option<Self> {
        let known = paths.filter_map(|path| {
            let language = match path.rsplit_once('.')?.1 {
                "rs" => Language::Rust,
                "py" => Language::Python,
                _ => return None,
            };
            Some((path.to_owned(), language))
        });
        let mut files: Vec<_> = known.collect();
        let mut random = Rng::with_seed(SEED);
        random.shuffle(&mut files);
        let is_hot = |(path, language): &&(String, Language)| {
            let text = fs::read_to_string(root.join(path)).unwrap_or_default();
            let is_test = path.contains("test") || path.contains("bench");
            HOT_SIZES.contains(&text.len())
                && !is_test
                && functions(*language, &lines(&text)).len() >= HOT_FUNCTIONS
        };
        let hot: Vec<_> = files.iter().filter(is_hot).take(HOT).cloned().collect();
        (hot.len() == HOT).then_some(Self { root, files, hot, random, edits: 0 })
    }

    /// The paths of the files of most edits.
    pub(crate) fn hot(&self) -> impl Iterator<Item = &str> {
        self.hot.iter().map(|(path, _)| path.as_str())
    }

    /// Edits a file. Returns its path and the kind of the edit; `None` if no file has anything to edit.
    pub(crate) fn edit(&mut self) -> Option<(String, Operation)> {
        self.edits += 1;
        let sides: usize = OPERATIONS.iter().map(|(_, part)| part).sum();
        let mut dice = self.random.usize(..sides);
        let operation = OPERATIONS.iter().find_map(|(operation, part)| match dice.checked_sub(*part) {
            Some(rest) => {
                dice = rest;
                None
            }
            None => Some(*operation),
        });
        let operation = operation.expect("the dice has as many sides as there are parts");
        for _ in 0..ATTEMPTS {
            let from = if self.random.f64() < IN_HOT { &self.hot } else { &self.files };
            let (path, language) = self.random.choice(from).expect("there are files").clone();
            let Ok(text) = fs::read_to_string(self.root.join(&path)) else { continue };
            let mut lines = lines(&text);
            if self.apply(operation, &path, language, &mut lines).is_some() {
                fs::write(self.root.join(&path), lines.join("\n") + "\n").expect("it was read");
                return Some((path, operation));
            }
        }
        None
    }

    fn apply(
        &mut self,
        operation: Operation,
        path: &str,
        language: Language,
        lines: &mut Vec<String>,
    ) -> Option<()> {
        let all = functions(language, lines);
        let function = self.random.choice(&all)?;
        let statements: Vec<usize> = statements(language, lines, function).collect();
        let statement = self.random.choice(&statements).copied();
        match operation {
            Operation::Line => {
                let other = self.random.choice(&all)?;
                let line = lines.get_mut(statement?)?;
                *line = self.changed(line, other, language);
            }
            Operation::Removal if statements.len() < 2 => return None,
            Operation::Removal => drop(lines.remove(statement?)),
            Operation::Function => {
                let called = self.random.choice(&all)?.name.clone();
                self.add_function(language, lines, function, &called);
            }
            Operation::Parameter => {
                let parameter = self.random.choice(&function.parameters)?;
                let new = format!("{parameter}_{}", self.word());
                for line in lines.get_mut(function.head..function.body.end)? {
                    *line = renamed(line, parameter, &new);
                }
            }
            Operation::Call => {
                let (import, name) = self.import(path, language)?;
                if lines.contains(&import) {
                    return None;
                }
                let line = lines.get_mut(statement?)?;
                let call = call(language, indent(line), &name);
                lines.insert(statement?, call);
                let is_import = |line: &String| match language {
                    Language::Rust => line.starts_with("use "),
                    Language::Python => line.starts_with("import ") || line.starts_with("from "),
                };
                let first = lines.iter().position(|line| is_import(line) && !line.contains("__future__"))?;
                lines.insert(first, import);
            }
        }
        Some(())
    }

    /// A line with another number, a conversion of its value, or a call of another function.
    fn changed(&mut self, line: &str, other: &Function, language: Language) -> String {
        let digit = line.rfind(|c: char| c.is_ascii_digit());
        match (self.random.u8(..3), digit) {
            (0, Some(at)) => format!("{}{}{}", &line[..at], self.random.u8(10..99), &line[at + 1..]),
            (0 | 1, _) if language == Language::Rust && line.ends_with(';') => {
                format!("{}.clone();", line.trim_end_matches(';'))
            }
            (0 | 1, _) if language == Language::Python && line.contains(" = ") => format!("{line} or None"),
            _ => call(language, indent(line), &other.name),
        }
    }

    fn add_function(&mut self, language: Language, lines: &mut Vec<String>, after: &Function, called: &str) {
        let name = format!("{}_{}_{}", self.word(), self.word(), self.edits);
        let (outer, inner) = (" ".repeat(after.indent), " ".repeat(after.indent + 4));
        let end = after.body.end;
        let (end, new) = match language {
            Language::Rust => {
                let head = format!("{outer}fn {name}(count: usize, limit: usize) -> bool {{");
                let body = format!("{inner}{called}(count) < limit");
                (end + 1, vec![String::new(), head, body, format!("{outer}}}")])
            }
            Language::Python => {
                let head = format!("{outer}def {name}(count, limit=None):");
                (end, vec![head, format!("{inner}return {called}(count, limit)"), String::new()])
            }
        };
        let end = end.min(lines.len());
        lines.splice(end..end, new);
    }

    /// The import of a function of another file, and its name.
    fn import(&mut self, path: &str, language: Language) -> Option<(String, String)> {
        let (other, _) = self.random.choice(&self.files).filter(|(_, other)| *other == language)?.clone();
        let text = fs::read_to_string(self.root.join(&other)).ok().filter(|_| other != path)?;
        let all = functions(language, &lines(&text));
        let outer: Vec<_> =
            all.iter().filter(|function| function.indent == 0 && function.is_public).collect();
        let name = self.random.choice(outer)?.name.clone();
        let import = match language {
            Language::Rust => format!("use {}::{name};", crate_path(path, &other)?),
            Language::Python => format!("from {} import {name}", module_of(&other)?),
        };
        Some((import, name))
    }

    fn word(&mut self) -> &'static str {
        const WORDS: [&str; 8] = ["check", "limit", "next", "open", "part", "raw", "state", "total"];
        self.random.choice(WORDS).expect("there are words")
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(ToOwned::to_owned).collect()
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn call(language: Language, indent: usize, name: &str) -> String {
    let end = if language == Language::Rust { ";" } else { "" };
    format!("{}{name}(){end}", " ".repeat(indent))
}

/// The functions whose head is one line.
fn functions(language: Language, lines: &[String]) -> Vec<Function> {
    lines.iter().enumerate().filter_map(|(head, line)| function(language, lines, head, line)).collect()
}

fn function(language: Language, lines: &[String], head: usize, line: &str) -> Option<Function> {
    let (word, end) = match language {
        Language::Rust => ("fn ", '{'),
        Language::Python => ("def ", ':'),
    };
    let (before, after) = line.split_once(word).filter(|_| line.ends_with(end))?;
    let is_modifier = |word: &str| matches!(word, "async" | "const" | "unsafe") || word.starts_with("pub");
    if !before.split_whitespace().all(is_modifier) {
        return None;
    }
    let (name, rest) = after.split_once(['(', '<'])?;
    let rest = if after[name.len()..].starts_with('<') { rest.split_once('(')?.1 } else { rest };
    let indent = indent(line);
    let is_inside = |line: &&String| line.trim().is_empty() || self::indent(line) > indent;
    let length = lines.iter().skip(head + 1).take_while(is_inside).count();
    let is_public = match language {
        Language::Rust => before.trim_start().starts_with("pub"),
        Language::Python => !name.starts_with('_'),
    };
    let body = head + 1..head + 1 + length;
    Some(Function { head, body, name: name.to_owned(), parameters: parameters(rest), indent, is_public })
}

/// The parameters with plain names.
fn parameters(text: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0_u32, vec![String::new()]);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    let name = |part: &String| {
        let name = part.split([':', '=']).next()?.trim().trim_start_matches("mut ");
        let is_name = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        (is_name && name != "self" && name != "cls").then(|| name.to_owned())
    };
    parts.iter().filter_map(name).collect()
}

/// The lines of a body that are statements of their own.
fn statements(language: Language, lines: &[String], function: &Function) -> impl Iterator<Item = usize> {
    let mut is_text = false;
    let body = lines.iter().enumerate().take(function.body.end).skip(function.body.start);
    body.filter_map(move |(at, line)| {
        let quotes = line.matches("\"\"\"").count();
        is_text ^= quotes % 2 == 1;
        let count = |brackets: [char; 3]| line.matches(brackets).count();
        let is_whole = count(['(', '[', '{']) == count([')', ']', '}']);
        let line = line.trim();
        let is_statement = match language {
            Language::Rust => line.ends_with(';'),
            Language::Python => {
                !line.ends_with([':', ',', '\\', '(']) && !line.starts_with(['#', '"', '\'', '@'])
            }
        };
        let is_code = line.contains(" = ") || line.contains('(');
        (!is_text && quotes == 0 && is_whole && is_statement && is_code).then_some(at)
    })
}

/// A line with another name for a variable.
fn renamed(line: &str, old: &str, new: &str) -> String {
    let mut renamed = String::new();
    for part in line.split_inclusive(|c: char| c != '_' && !c.is_alphanumeric()) {
        let name = part.trim_end_matches(|c: char| c != '_' && !c.is_alphanumeric());
        renamed.push_str(if name == old { new } else { name });
        renamed.push_str(&part[name.len()..]);
    }
    renamed
}
