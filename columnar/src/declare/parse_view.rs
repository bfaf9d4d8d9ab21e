//! Parses a view that is written as text, with the position of a mistake and the way to correct it.
//!
//! The language is the language of `flow!`. The names of the methods of the run-time API are accepted as well: `latest()`,
//! `prev()`, `named("digest")`.

use std::str::FromStr;

use super::view::{Compaction, DEEPEST_GROUP, Purpose, Tiering, ViewSpec};
use super::view_text::{ViewText, ViewTextError};
use super::window::Window;
use crate::declare::error::{excerpt, nearest};

/// The words after a column, in the order in which the guide explains them.
const MODIFIERS: &str = "latest window prev all as named note elided text_only filter sample context instruction tiered target \
     compacted edits at_most thread";

type ParsedView<T> = Result<T, ViewTextError>;

impl FromStr for ViewText {
    type Err = ViewTextError;

    fn from_str(text: &str) -> ParsedView<Self> {
        let mut parser = ViewParser { text, rest: text };
        let view = parser.view(0)?;
        match parser.peek() {
            None => Ok(view),
            Some(',') => parser.fail("a text has one view: write the next one as a text of its own"),
            Some(found) => {
                let found = excerpt(found.encode_utf8(&mut [0; 4]));
                parser.fail(format!("expected `.` or the end of the view, found {found}"))
            }
        }
    }
}

/// A position in a text.
struct ViewParser<'t> {
    text: &'t str,
    rest: &'t str,
}

impl<'t> ViewParser<'t> {
    /// The next character that is no white space.
    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Takes this character, if it is the next one.
    fn take(&mut self, expected: char) -> bool {
        let is_next = self.peek() == Some(expected);
        if is_next {
            self.rest = self.rest.get(expected.len_utf8()..).unwrap_or_default();
        }
        is_next
    }

    /// Takes the letters, digits and `_` that come next; `None` if there are none.
    fn word(&mut self) -> Option<&'t str> {
        self.peek();
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }

    /// A mistake at this position.
    fn fail<T>(&mut self, reason: impl Into<String>) -> ParsedView<T> {
        self.peek();
        self.fail_at(self.rest, reason)
    }

    /// A mistake at the beginning of `rest`.
    fn fail_at<T>(&self, rest: &str, reason: impl Into<String>) -> ParsedView<T> {
        let before = self.text.strip_suffix(rest).unwrap_or_default();
        Err(ViewTextError::new(before, reason.into()))
    }

    fn view(&mut self, depth: usize) -> ParsedView<ViewText> {
        self.peek();
        let start = self.rest;
        let Some(word) = self.word() else {
            return self.fail("expected a column or `self`, as in `user.latest`");
        };
        match (word, self.peek()) {
            ("group", Some('(')) if depth == DEEPEST_GROUP => {
                self.fail_at(start, format!("groups are nested more than {DEEPEST_GROUP} deep"))
            }
            ("group", Some('(')) => self.group(depth),
            ("this", Some('(')) => self.fail_at(start, "the self history is written `self`"),
            (_, Some('(')) => {
                self.fail_at(start, "a view begins with a column, as in `user.latest` or `user.window(3)`")
            }
            _ => self.column(word),
        }
    }

    /// The rest of a group after the keyword.
    fn group(&mut self, depth: usize) -> ParsedView<ViewText> {
        const EXAMPLE: &str = "as in `group(\"debate\", pro.latest, con.latest)`";
        self.take('(');
        if self.peek() != Some('"') {
            return self.fail(format!("expected the tag of the group, {EXAMPLE}"));
        }
        let tag = self.string()?;
        let mut views = Vec::new();
        while !self.take(')') {
            if !self.take(',') {
                return self.fail("expected `,` or `)`");
            }
            // A comma may follow the last view.
            if self.peek() != Some(')') || views.is_empty() {
                views.push(self.view(depth + 1)?);
            }
        }
        if views.is_empty() {
            return self.fail(format!("the group has no views: add some, {EXAMPLE}"));
        }
        if self.peek() == Some('.') {
            return self.fail("a group takes no modifiers: put this on the views inside");
        }
        Ok(ViewText::Group(tag, views))
    }

    /// The rest of a view after the first part of the name.
    fn column(&mut self, first: &'t str) -> ParsedView<ViewText> {
        let mut name = first.to_owned();
        let mut modifiers = Modifiers::default();
        while self.take('.') {
            self.peek();
            let start = self.rest;
            let Some(word) = self.word() else {
                return self.fail(format!(
                    "expected a view of {} after the dot: `latest`, `window(n)` or `prev`",
                    excerpt(&name)
                ));
            };
            let is_call = self.peek() == Some('(');
            if modifiers.is_empty() && !is_call && !matches!(word, "latest" | "prev") && first != "self" {
                name.push('.');
                name.push_str(word);
                continue;
            }
            if let Err(reason) = modifiers.check(word, first == "self") {
                return self.fail_at(start, reason);
            }
            self.modifier(word, &mut modifiers)?;
        }
        let spec = modifiers.spec();
        Ok(if first == "self" { ViewText::SelfHistory(spec) } else { ViewText::Column(name, spec) })
    }

    /// The arguments of a known modifier.
    fn modifier(&mut self, word: &str, modifiers: &mut Modifiers) -> ParsedView<()> {
        let example = match word {
            "window" => "the number of values to show, as in `window(3)`",
            "target" => "the number of tokens that a cached tier should have, as in `target(1_536)`",
            "at_most" => "the largest request over the documents, as in `at_most(2.0)`",
            "note" => "the text of the note, as in `note(\"what the person typed\")`",
            "as" | "named" => "a tag, as in `as(\"digest\")`",
            _ => "parentheses",
        };
        let is_field = matches!(word, "latest" | "prev");
        if !self.take('(') {
            modifiers.set(word);
            return if is_field { Ok(()) } else { self.fail(format!("expected {example}")) };
        }
        match word {
            "window" => modifiers.count = Some(self.count(example)?),
            "target" => modifiers.tiering = Some(Tiering { target: Some(self.count(example)?) }),
            "at_most" => {
                let factor = self.factor(example)?;
                modifiers.compaction.get_or_insert_default().at_most = Some(factor);
            }
            "context" | "instruction" | "text_only" | "edits" | "thread" if self.peek() != Some(')') => {
                return self.fail(format!("`{word}` takes no arguments: write `.{word}()`"));
            }
            "tiered" if self.peek() != Some(')') => {
                return self.fail(
                    "`tiered` takes no arguments: write `.tiered().target(1_536)` for a number of tokens",
                );
            }
            "compacted" if self.peek() != Some(')') => {
                return self.fail(
                    "`compacted` takes no arguments: write `.compacted().at_most(2.0)` for a bound of the request",
                );
            }
            "note" | "as" | "named" if self.peek() != Some('"') => {
                return self.fail(format!("expected {example}"));
            }
            "note" => modifiers.note = Some(self.string()?),
            "as" | "named" => modifiers.tag = Some(self.string()?),
            _ => {}
        }
        modifiers.set(word);
        if self.take(')') { Ok(()) } else { self.fail(format!("expected `)` after `{word}(`")) }
    }

    fn count(&mut self, example: &str) -> ParsedView<usize> {
        self.peek();
        let start = self.rest;
        let digits = self.word().unwrap_or_default().replace('_', "");
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return self.fail_at(start, format!("expected {example}"));
        }
        // A larger window than the largest number shows all values, as that one does.
        Ok(digits.parse().unwrap_or(usize::MAX))
    }

    /// A number with a decimal point, or a whole number.
    fn factor(&mut self, example: &str) -> ParsedView<f64> {
        self.peek();
        let start = self.rest;
        let end = start.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '_')).unwrap_or(start.len());
        let (number, rest) = start.split_at_checked(end).unwrap_or((start, ""));
        self.rest = rest;
        let number = number.replace('_', "");
        number.parse().or_else(|_| self.fail_at(start, format!("expected {example}")))
    }

    /// A string literal of Rust, whose quote is next.
    fn string(&mut self) -> ParsedView<String> {
        let start = self.rest;
        self.take('"');
        let mut text = String::new();
        let mut chars = self.rest.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = chars.as_str();
                    return Ok(text);
                }
                '\\' => match escaped(&mut chars) {
                    Some(c) => text.push(c),
                    None => {
                        let rest = self.rest.get(at..).unwrap_or_default();
                        return self.fail_at(rest, "no such escape: write a backslash as `\\\\`");
                    }
                },
                c => text.push(c),
            }
        }
        self.fail_at(start, "the closing quote of this text is missing")
    }
}

/// The character of an escape after the backslash: those that `Debug` writes.
fn escaped(chars: &mut std::str::CharIndices<'_>) -> Option<char> {
    match chars.next()?.1 {
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        '0' => Some('\0'),
        same @ ('\\' | '"' | '\'') => Some(same),
        'u' => {
            let (digits, rest) = chars.as_str().strip_prefix('{')?.split_once('}')?;
            let code = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
            while chars.as_str().len() > rest.len() {
                chars.next();
            }
            char::from_u32(code?)
        }
        _ => None,
    }
}

/// The modifiers of a view so far.
#[derive(Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a modifier")]
struct Modifiers {
    /// `latest`, `window` or `all`.
    window: Option<Window>,
    /// The number in `window(n)`.
    count: Option<usize>,
    is_lagged: bool,
    is_elided: bool,
    is_text_only: bool,
    is_thread: bool,
    tiering: Option<Tiering>,
    compaction: Option<Compaction>,
    /// `context` or `instruction`.
    purpose: Option<Purpose>,
    tag: Option<String>,
    note: Option<String>,
}

impl Modifiers {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn has_window(&self) -> bool {
        self.window.is_some() || self.count.is_some()
    }

    fn is_tiered(&self) -> bool {
        self.tiering.is_some()
    }

    /// Whether a modifier may come next; the way to correct it, if not.
    fn check(&self, word: &str, is_self: bool) -> Result<(), String> {
        let wrong = match word {
            "thread" if is_self => "a thread continues the conversation of another column: drop this",
            "thread" if !self.is_empty() => {
                "`thread` comes right after the column, as in `assistant.thread()`"
            }
            _ if self.is_thread => "a thread is continued as it is, so nothing comes after it: drop this",
            "filter" | "sample" => {
                "a filter is a function, which a text cannot have: declare this column in the program"
            }
            "prev" if is_self => "`self` already ends at the step before: drop this, or write `self.latest`",
            "prev" if self.has_window() || self.is_lagged => {
                "`prev` comes right after the column, as in `user.prev`, `user.prev.window(3)` or `user.prev.all()`"
            }
            "latest" if self.is_lagged => "a view has one window: drop this",
            "latest" | "window" | "all" if self.has_window() => "a view has one window: drop this",
            "as" | "named" if self.tag.is_some() => "a view has one tag: drop this",
            "note" if self.note.is_some() => "a view has one note: drop this",
            "compacted" if is_self => "`self` is shown as messages, and holds no documents: drop this",
            "compacted" | "tiered" if self.compaction.is_some() => "documents have one layout: drop this",
            "compacted" if !self.is_empty() => {
                "`compacted` comes right after the column, as in `files.compacted()`"
            }
            "edits" | "at_most" if self.compaction.is_none() => {
                "`edits` and `at_most` are for a compacted view, as in `files.compacted().edits().at_most(2.0)`"
            }
            "edits" if self.compaction.is_some_and(|it| it.edits) => {
                "a compacted view has one `edits()`: drop this"
            }
            "at_most" if self.compaction.is_some_and(|it| it.at_most.is_some()) => {
                "a compacted view has one bound: drop this"
            }
            "latest" | "window" | "all" | "prev" | "elided" if self.compaction.is_some() => {
                "documents are a set, which has no window: drop this"
            }
            "as" | "named" | "note" | "context" | "instruction" | "text_only"
                if self.compaction.is_some() =>
            {
                "a compacted view takes no tag, note or purpose: drop this"
            }
            "tiered" if is_self => "`self` is shown as messages, so it has no tiers: drop this",
            "tiered" if self.is_tiered() => "a view is tiered once: drop this",
            "tiered" if !self.is_empty() => "`tiered` comes right after the column, as in `files.tiered()`",
            "target" if !self.is_tiered() => {
                "`target` is for a tiered view, as in `files.tiered().target(1_536)`"
            }
            "target" if self.tiering.is_some_and(|tiering| tiering.target.is_some()) => {
                "a tiered view has one target: drop this"
            }
            "latest" | "window" | "all" | "prev" | "elided" if self.is_tiered() => {
                "documents are a set, which has no window: drop this"
            }
            "as" | "named" | "note" if self.is_tiered() => {
                "a tiered view stands before the messages, and has no tag and no note: drop this"
            }
            "context" | "instruction" if is_self => {
                "`self` is shown as messages of the assistant, and has no purpose: drop this"
            }
            "context" | "instruction" if self.purpose.is_some() => "a view has one purpose: drop this",
            "context" | "instruction" if self.is_tiered() => {
                "documents in tiers stand before the messages in any case: drop this"
            }
            "as" | "named" | "note" | "elided" if self.purpose == Some(Purpose::Instruction) => {
                "an instruction ends the system text as it is, without a tag: drop this"
            }
            "instruction" if self.tag.is_some() || self.note.is_some() || self.is_elided => {
                "an instruction ends the system text as it is, without a tag: drop the tag, the note and `elided()`"
            }
            "elided" if self.is_elided => "a view has one `elided()`: drop this",
            "text_only" if self.is_text_only => "a view has one `text_only()`: drop this",
            "text_only" if self.is_tiered() => {
                "a tiered view shows documents, which have no attachments: drop this"
            }
            _ if MODIFIERS.split(' ').any(|known| known == word) => return Ok(()),
            _ => return Err(no_view_named(word)),
        };
        Err(wrong.to_owned())
    }

    /// Records a modifier whose argument, if it has one, is recorded.
    fn set(&mut self, word: &str) {
        match word {
            "latest" => self.window = Some(Window::LATEST),
            "all" => self.window = Some(Window::All),
            "prev" => self.is_lagged = true,
            "elided" => self.is_elided = true,
            "text_only" => self.is_text_only = true,
            "thread" => self.is_thread = true,
            "tiered" => self.tiering = Some(Tiering { target: None }),
            "compacted" => self.compaction = Some(Compaction::default()),
            "edits" => self.compaction.get_or_insert_default().edits = true,
            "context" => self.purpose = Some(Purpose::Context),
            "instruction" => self.purpose = Some(Purpose::Instruction),
            _ => {}
        }
    }

    fn spec(self) -> ViewSpec {
        let Self { window, count, is_lagged, is_elided: elided, is_text_only: text_only, .. } = self;
        let thread = self.is_thread;
        let Self { tiering, compaction, purpose, tag, note, .. } = self;
        let default = if is_lagged { Window::LATEST } else { Window::All };
        let window = count.map_or(Some(window.unwrap_or(default)), Window::last);
        let lag = usize::from(is_lagged);
        let spec =
            ViewSpec { lag, tag, note, elided, text_only, tiering, compaction, thread, ..ViewSpec::all() };
        spec.for_purpose(purpose.unwrap_or_default()).windowed(window)
    }
}

fn no_view_named(word: &str) -> String {
    let help = match nearest(word, &MODIFIERS.split(' ').collect::<Vec<_>>()) {
        // Words of other APIs for a window. For `last`, `nearest` would find `latest`.
        _ if matches!(word, "last" | "tail" | "take") => "did you mean `window(n)`?".to_owned(),
        Some(near) => format!("did you mean `{near}`?"),
        None => "the views are `latest`, `window(n)` and `prev`, and after them `elided()`, `text_only()`, \
                 `as(\"tag\")`, `note(\"...\")`, `context()` and `instruction()`"
            .to_owned(),
    };
    format!("no view is named {}; {help}", excerpt(word))
}
