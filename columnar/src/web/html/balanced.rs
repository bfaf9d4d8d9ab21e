//! Any HTML as HTML in which each element is closed in its turn, in one pass over the tokens.
//!
//! A tree of HTML takes quadratic time if a hundred thousand elements are in each other or close each other's formatting,
//! and those who walk it call themselves for each element in another one. So this pass decides what becomes an element
//! before there is a tree: no more than a number of them, none deeper than another number, and none that is closed out of
//! turn. The words of all others stay, as plain text. Elements that nobody sees are left out with their words.

use std::collections::HashMap;
use std::fmt::Write;

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use reqwest::Url;

use super::attributes::{TagAttributes, attribute, hides, language};
use super::elements::{ends_before, ends_with_inline, is_block, is_hidden, is_void, keeps_inside, written};

/// The largest number of written elements in each other. Readers of the tree call themselves for some of them.
pub(super) const DEEPEST: usize = 64;

/// The largest number of written elements, and of lines of code: a line is written once for each quotation around it.
pub(super) const MOST_ELEMENTS: usize = 20_000;

/// The number of open elements in which those are looked for that end where the next one begins.
const NEAR: usize = 20;

/// A longer URL of a link, or name of a class, is left out.
const LONGEST_ATTRIBUTE: usize = 500;

/// The texts of links to the headings that they are in.
const SIGNS: [&str; 4] = ["#", "§", "¶", "🔗"];

/// A page in which each element is closed in its turn.
pub(super) struct Balanced {
    pub(super) title: String,
    pub(super) html: String,
}

/// Balances a page. Its links become absolute.
pub(super) fn balanced(html: &str, url: &Url) -> Balanced {
    let mut balancer = Balancer {
        title: String::new(),
        is_titled: false,
        html: "<body>".to_owned(),
        base: None,
        url,
        open: Vec::new(),
        names: HashMap::new(),
        depth: 0,
        elements: 0,
        raised: None,
    };
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => balancer.start(&tag),
            Token::EndTag(tag) => balancer.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => balancer.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    balancer.close(0);
    let Balancer { title, html, .. } = balancer;
    Balanced { html: format!("<title>{}</title>{html}", escaped(&title)), title }
}

/// An element that is open.
struct OpenTag {
    name: String,
    /// The element that is written for it.
    written: Option<&'static str>,
    is_block: bool,
    is_hidden: bool,
}

struct Balancer<'u> {
    title: String,
    /// Whether the title has ended. Those behind it are of something else.
    is_titled: bool,
    html: String,
    url: &'u Url,
    /// The URL that links start from, if the page names one.
    base: Option<Url>,
    open: Vec<OpenTag>,
    /// The number of open elements of each name.
    names: HashMap<String, usize>,
    /// The number of open elements that are written.
    depth: usize,
    elements: usize,
    /// The place of raised text that has no text yet.
    raised: Option<usize>,
}

impl Balancer<'_> {
    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        if is_void(&name) {
            return self.void(&name, &tag.attributes);
        }
        if name == "body" {
            // What was left open belongs to the head.
            self.end("head");
        }
        self.end_before(&name);
        if name == "sup" {
            self.raised = self.is_after_word().then_some(self.html.len());
        }
        let is_block = is_block(&name);
        let is_hidden = self.is_hidden() || is_hidden(&name) || hides(&tag.attributes);
        let written = if is_hidden { None } else { self.write_start(&name, is_block, &tag.attributes) };
        *self.names.entry(name.clone()).or_default() += 1;
        self.open.push(OpenTag { name, written, is_block, is_hidden });
        // The start of an element of SVG may be its end; the start of an element of HTML may not.
        if tag.self_closing && is_hidden {
            self.close(self.open.len().saturating_sub(1));
        }
    }

    /// Writes the start of an element, within the limits.
    fn write_start(
        &mut self,
        name: &str,
        is_block: bool,
        attributes: &TagAttributes,
    ) -> Option<&'static str> {
        let is_lost = matches!(name, "td" | "th" | "tr") && !self.names.contains_key("table");
        let link = if name == "a" { self.link(attributes) } else { None };
        let written = if is_lost { Some("div") } else { written(name) };
        let Some(written) =
            written.filter(|_| self.has_room_for(is_block) && (name != "a" || link.is_some()))
        else {
            // In code the end of a line is written where the element ends.
            if is_block && !self.names.contains_key("pre") {
                end_line(&mut self.html);
            }
            return None;
        };
        self.depth += 1;
        self.elements += 1;
        self.html.push('<');
        self.html.push_str(written);
        let language = matches!(written, "pre" | "code").then(|| language(attributes)).flatten();
        self.write_attribute("href", link);
        self.write_attribute("data-lang", language);
        for name in ["class", "id", "role", "start"] {
            self.write_attribute(name, attribute(attributes, name));
        }
        self.html.push('>');
        Some(written)
    }

    /// Whether an element may be written here. Links and code have no blocks in them: their words would run together.
    fn has_room_for(&self, is_block: bool) -> bool {
        let mut near = self.open.iter().rev().take(NEAR);
        self.depth < DEEPEST
            && self.elements < MOST_ELEMENTS
            && !(is_block && near.any(|open| matches!(open.written, Some("a" | "pre"))))
    }

    fn write_attribute(&mut self, name: &str, value: Option<String>) {
        if let Some(value) = value.filter(|value| value.len() <= LONGEST_ATTRIBUTE) {
            let _ = write!(self.html, " {name}=\"{}\"", escaped(&value));
        }
    }

    /// Elements without an end.
    fn void(&mut self, name: &str, attributes: &TagAttributes) {
        match name {
            "base" if self.base.is_none() => {
                // Each link would have all of it.
                let href = attribute(attributes, "href").filter(|href| href.len() <= LONGEST_ATTRIBUTE);
                self.base = href.and_then(|href| self.url.join(&href).ok());
            }
            _ if self.is_hidden() => {}
            "br" | "hr" if self.elements < MOST_ELEMENTS => {
                self.elements += 1;
                let _ = write!(self.html, "<{name}>");
            }
            "br" | "hr" => end_line(&mut self.html),
            "img" | "image" => {
                if let Some(alt) = attribute(attributes, "alt").filter(|alt| !alt.trim().is_empty()) {
                    let _ = write!(self.html, "(image: {})", escaped(alt.trim()));
                }
            }
            _ => {}
        }
    }

    /// Ends the elements that end where one of this name begins.
    fn end_before(&mut self, next: &str) {
        let mut kept = self.open.len();
        for (at, open) in self.open.iter().enumerate().rev().take(NEAR) {
            if ends_before(&open.name, next) {
                kept = at;
            } else if open.is_block && keeps_inside(&open.name, next) {
                break;
            }
        }
        self.close(kept);
    }

    fn end(&mut self, name: &str) {
        // An end without a start would be looked for among all open elements.
        if self.names.contains_key(name)
            && let Some(at) = self.open.iter().rposition(|open| open.name == name)
        {
            self.close(at);
        }
    }

    /// Closes all open elements but the first ones.
    fn close(&mut self, kept: usize) {
        for open in self.open.drain(kept..).rev() {
            if let Some(count) = self.names.get_mut(&open.name) {
                *count -= 1;
                if *count == 0 {
                    self.names.remove(&open.name);
                }
            }
            if let Some(written) = open.written {
                self.depth -= 1;
                let _ = write!(self.html, "</{written}>");
            } else if open.is_block && !open.is_hidden {
                end_line(&mut self.html);
            }
            match open.name.as_str() {
                "sup" => self.raised = None,
                "title" => self.is_titled |= !self.title.is_empty(),
                _ => {}
            }
        }
    }

    fn text(&mut self, text: &str) {
        let within = self.open.last().map_or("", |open| &open.name);
        if within == "title" && !self.is_titled && !self.names.contains_key("svg") {
            self.title.push_str(text);
        }
        if self.is_hidden() || within == "a" && SIGNS.contains(&text.trim()) {
            return;
        }
        if let Some(at) = self.raised.take().filter(|_| is_exponent(text)) {
            self.html.insert(at, '^');
        }
        let is_code = self.names.contains_key("pre");
        for (at, line) in text.split('\n').enumerate() {
            self.elements += usize::from(is_code && at > 0);
            let end = if self.elements < MOST_ELEMENTS { "\n" } else { " " };
            self.html.push_str(if at > 0 { end } else { "" });
            self.html.push_str(&escaped(line));
        }
    }

    fn is_hidden(&self) -> bool {
        self.open.last().is_some_and(|open| open.is_hidden)
    }

    /// Whether the next text continues a word.
    fn is_after_word(&self) -> bool {
        self.html.ends_with(|c: char| c.is_alphanumeric() || c == ')') || ends_with_inline(&self.html)
    }

    /// The URL of a link to another page.
    fn link(&self, attributes: &TagAttributes) -> Option<String> {
        let href = attribute(attributes, "href").filter(|href| href.len() <= LONGEST_ATTRIBUTE)?;
        if href.trim_start().starts_with('#') {
            return None;
        }
        let url = self.base.as_ref().unwrap_or(self.url).join(href.trim()).ok()?;
        matches!(url.scheme(), "http" | "https" | "mailto").then(|| url.into())
    }
}

/// Ends a line where no element does.
fn end_line(html: &mut String) {
    if !html.ends_with('\n') {
        html.push('\n');
    }
}

/// Whether raised text is an exponent or the number of a note, which must not pass for the end of the number before it:
/// 2<sup>31</sup> is no 231. Signs of a grammar such as `?` stay as they are.
fn is_exponent(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(['+', '-', '−']);
    text.starts_with(char::is_alphanumeric)
}

/// Text as HTML has it, without characters that would control a terminal.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !c.is_control() || c.is_whitespace()) {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(c),
        }
    }
    escaped
}
