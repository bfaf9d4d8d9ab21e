//! A report as a browser reads it.

use std::collections::BTreeMap;

use html5gum::Tokenizer;
use html5gum::emitters::default::{DefaultEmitter, Token};

/// An element of a page with the elements and texts in it.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) attributes: BTreeMap<String, String>,
    children: Vec<Child>,
}

#[derive(Debug)]
enum Child {
    Element(Element),
    Text(String),
}

/// Elements of HTML without an end. Those of SVG say so themselves.
const VOID: [&str; 2] = ["img", "meta"];

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the page is a text")
}

impl Element {
    /// The page, whose elements must all be closed in order.
    pub(super) fn parse(page: &str) -> Self {
        let mut emitter: DefaultEmitter = DefaultEmitter::default();
        // The text of a style sheet and of a script is not HTML.
        emitter.naively_switch_states(true);
        let mut open = vec![Self::default()];
        for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
            match token {
                Token::StartTag(tag) => {
                    let attributes = tag.attributes.iter().map(|(name, value)| (text(name), text(&value.0)));
                    let (name, attributes) = (text(&tag.name), attributes.collect());
                    open.push(Self { name, attributes, children: Vec::new() });
                    if tag.self_closing || VOID.contains(&open.last().unwrap().name.as_str()) {
                        close(&mut open);
                    }
                }
                Token::EndTag(tag) => {
                    assert_eq!(open.last().unwrap().name, text(&tag.name));
                    close(&mut open);
                }
                Token::String(string) => {
                    open.last_mut().unwrap().children.push(Child::Text(text(&string.value)));
                }
                Token::Comment(_) => panic!("the page has a comment"),
                // A text may have characters that HTML does not like.
                Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        assert_eq!(open.len(), 1, "an element is open");
        open.remove(0)
    }

    /// The elements of this name below, in order.
    pub(super) fn all(&self, name: &str) -> Vec<&Self> {
        let mut found = Vec::new();
        for child in &self.children {
            if let Child::Element(element) = child {
                found.extend((element.name == name).then_some(element));
                found.extend(element.all(name));
            }
        }
        found
    }

    pub(super) fn first(&self, name: &str) -> &Self {
        self.all(name).first().unwrap_or_else(|| panic!("no {name} in {}", self.text()))
    }

    pub(super) fn text(&self) -> String {
        let children = self.children.iter().map(|child| match child {
            Child::Element(element) => element.text(),
            Child::Text(text) => text.clone(),
        });
        let text: String = children.collect();
        // A browser drops the line break at the beginning of this element.
        if self.name == "pre" { text.strip_prefix('\n').unwrap_or(&text).to_owned() } else { text }
    }

    /// All elements with their attributes, in order. The text in place of a picture is one of users, and the timeline
    /// depends on the time that each cell took.
    pub(super) fn tags(&self) -> Vec<String> {
        let attributes = self.attributes.iter().filter(|(name, _)| *name != "alt");
        let mut tags = vec![format!("{} {:?}", self.name, attributes.collect::<BTreeMap<_, _>>())];
        let is_timeline = self.attributes.get("aria-labelledby").is_some_and(|label| label == "timeline");
        for child in self.children.iter().filter(|_| !is_timeline) {
            if let Child::Element(element) = child {
                tags.extend(element.tags());
            }
        }
        tags
    }

    /// The article of a cell, by the number of the column.
    pub(super) fn article(&self, column: usize, step: usize) -> Option<&Self> {
        let id = format!("c{step}-{column}");
        self.all("article").into_iter().find(|article| article.first("h3").attributes["id"] == id)
    }
}

fn close(open: &mut Vec<Element>) {
    let closed = open.pop().expect("an element is open");
    open.last_mut().expect("the root stays open").children.push(Child::Element(closed));
}

/// The text as a page shows it: HTML cannot write this character.
pub(super) fn as_shown(text: &str) -> String {
    text.replace('\0', "\\u{0}")
}
