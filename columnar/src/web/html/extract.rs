//! Tokens to pieces, and the choice of the pieces with the content of a page.
//!
//! The content is the element `main`, or the articles, or everything that does not lead elsewhere, or everything: the
//! first of these that has text enough.

use std::collections::{BTreeMap, HashMap};

use html5gum::{DefaultEmitter, HtmlString, Spanned, StartTag, Token, Tokenizer};
use reqwest::Url;

use super::elements::{Role, is_void};
use super::pieces::{Mark, Piece};

/// Elements deeper than this are text of the element around them: they would indent each line.
const DEEPEST: usize = 40;

/// The number of open elements in which one is looked for that the next one ends.
const NEAR: usize = 50;

/// The fewest bytes of text that make an element the content of its page.
const ENOUGH: usize = 200;

/// A longer URL of a link is left out.
const LONGEST_LINK: usize = 500;

/// The texts of links to the headings that they are in.
const SIGNS: [&str; 4] = ["#", "§", "¶", "🔗"];

/// Classes and ids of elements beside the content.
const CHROME: [&str; 12] = [
    "ad",
    "ads",
    "advert",
    "advertisement",
    "breadcrumb",
    "breadcrumbs",
    "cookie-banner",
    "cookie-consent",
    "cookie-notice",
    "navbar",
    "sidebar",
    "skip-link",
];

/// The result of reading a page.
pub(super) struct Extract {
    pub(super) title: String,
    pub(super) pieces: Vec<Piece>,
}

/// The pieces of the content of a page.
pub(super) fn extract(html: &str, url: &Url) -> Extract {
    let mut reader = Reader::new(url.clone());
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(html, emitter) {
        match token {
            Token::StartTag(tag) => reader.open(&tag),
            Token::EndTag(tag) => reader.close(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    while !reader.open.is_empty() {
        reader.pop();
    }
    let content = reader.content();
    let pieces =
        reader.pieces.into_iter().filter(|(_, place)| content(*place)).map(|(piece, _)| piece).collect();
    Extract { title: reader.title, pieces }
}

/// Where a piece is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    is_hidden: bool,
    is_chrome: bool,
    area: Area,
}

/// The innermost element that may be the content. An article in `main` belongs to that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Area {
    #[default]
    None,
    Article,
    Main,
}

/// An element that is open.
struct Element {
    name: String,
    role: Role,
    place: Place,
    /// Whether it has a piece.
    is_shown: bool,
}

struct Reader {
    /// The URL that links start from.
    base: Url,
    title: String,
    is_in_title: bool,
    /// The number of pieces before raised text that has no text yet.
    raised: Option<usize>,
    /// Whether the last element that ended with a piece is within a line.
    is_inline_closed: bool,
    open: Vec<Element>,
    /// The number of open elements of each name.
    names: HashMap<String, usize>,
    /// The number of open elements that have pieces.
    depth: usize,
    pieces: Vec<(Piece, Place)>,
}

impl Reader {
    fn new(base: Url) -> Self {
        Self {
            base,
            title: String::new(),
            is_in_title: false,
            raised: None,
            is_inline_closed: false,
            open: Vec::new(),
            names: HashMap::new(),
            depth: 0,
            pieces: Vec::new(),
        }
    }

    fn place(&self) -> Place {
        self.open.last().map(|element| element.place).unwrap_or_default()
    }

    fn open(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        if is_void(&name) {
            return self.void(&name, &tag.attributes);
        }
        if name == "body" {
            // Whatever was left open belongs to the head.
            self.close("head");
        }
        if name == "sup" {
            self.raised = self.is_after_word().then_some(self.pieces.len());
        }
        let role = Role::of(&name);
        self.end_before(role);
        let mut place = self.place();
        place.is_hidden |= role == Role::Hidden || is_hidden(&tag.attributes);
        let is_page = matches!(name.as_str(), "html" | "body") || matches!(role, Role::Main | Role::Article);
        place.is_chrome |= !is_page && is_chrome(role, place, &tag.attributes);
        if role == Role::Main || attribute(&tag.attributes, "role").is_some_and(|it| it == "main") {
            place.area = Area::Main;
        } else if role == Role::Article && place.area == Area::None {
            place.area = Area::Article;
        }
        self.is_in_title = name == "title" && self.title.is_empty() && !self.names.contains_key("svg");
        if role == Role::Code
            && let Some(language) = language(&tag.attributes)
        {
            self.name_language(language);
        }
        let mark = if place.is_hidden { None } else { self.mark(role, &tag.attributes) };
        let is_shown = mark.is_some() && self.depth < DEEPEST;
        if let Some(mark) = mark.filter(|_| is_shown) {
            self.pieces.push((Piece::Open(mark), place));
            self.depth += 1;
        } else if role.ends_paragraph() && !place.is_hidden {
            self.pieces.push((Piece::Break, place));
        }
        *self.names.entry(name.clone()).or_default() += 1;
        // The start of an element of SVG may be its end; that of HTML may not.
        self.open.push(Element { name, role, place, is_shown });
        if tag.self_closing && place.is_hidden {
            self.pop();
        }
    }

    /// Elements without an end.
    fn void(&mut self, name: &str, attributes: &Attributes) {
        let place = self.place();
        match name {
            "base" if self.pieces.is_empty() => {
                let base = attribute(attributes, "href").and_then(|href| self.base.join(&href).ok());
                self.base = base.unwrap_or_else(|| self.base.clone());
            }
            _ if place.is_hidden => {}
            "br" => self.pieces.push((Piece::Break, place)),
            "hr" => self.pieces.push((Piece::Rule, place)),
            "img" | "image" => {
                let text = attribute(attributes, "alt").filter(|alt| !alt.trim().is_empty());
                self.pieces.extend(text.map(|alt| (Piece::Text(format!("(image: {})", alt.trim())), place)));
            }
            _ => {}
        }
    }

    /// Ends the elements that end where one of this role begins.
    fn end_before(&mut self, role: Role) {
        if role.ends_paragraph() && self.names.contains_key("p") {
            self.end_near(Role::Paragraph);
        }
        if role.ends_with_next() {
            self.end_near(role);
            if role == Role::Row {
                self.end_near(role);
            }
        }
    }

    fn end_near(&mut self, role: Role) {
        let near = self.open.iter().rev().take(NEAR);
        let found = near.enumerate().find(|(_, element)| element.role == role || element.role.contains(role));
        if let Some((at, element)) = found
            && element.role == role
        {
            for _ in 0..=at {
                self.pop();
            }
        }
    }

    fn close(&mut self, name: &str) {
        if name == "br" || name == "p" && !self.names.contains_key("p") {
            let place = self.place();
            self.pieces.push((Piece::Break, place));
        }
        // An end without a start would be looked for among all open elements.
        while self.names.contains_key(name) {
            if self.pop().is_none_or(|closed| closed == name) {
                return;
            }
        }
    }

    fn pop(&mut self) -> Option<String> {
        let element = self.open.pop()?;
        if let Some(count) = self.names.get_mut(&element.name) {
            *count -= 1;
            if *count == 0 {
                self.names.remove(&element.name);
            }
        }
        if element.is_shown {
            self.depth -= 1;
            self.pieces.push((Piece::Close, element.place));
            self.is_inline_closed =
                matches!(element.role, Role::Strong | Role::Emphasis | Role::Code | Role::Link);
        } else if element.role.ends_paragraph() && !element.place.is_hidden {
            self.pieces.push((Piece::Break, element.place));
        }
        match element.name.as_str() {
            "title" => self.is_in_title = false,
            "sup" => self.raised = None,
            _ => {}
        }
        Some(element.name)
    }

    fn text(&mut self, text: &str) {
        if self.is_in_title {
            self.title.push_str(text);
        }
        let place = self.place();
        let is_sign =
            || self.open.last().is_some_and(|it| it.role == Role::Link) && SIGNS.contains(&text.trim());
        if !place.is_hidden && !is_sign() {
            if let Some(at) = self.raised.take().filter(|_| is_exponent(text)) {
                self.pieces.insert(at, (Piece::Text("^".to_owned()), place));
            }
            self.pieces.push((Piece::Text(text.to_owned()), place));
        }
    }

    /// Whether the next text continues a word.
    fn is_after_word(&self) -> bool {
        match self.pieces.last() {
            Some((Piece::Text(text), _)) => text.ends_with(|c: char| c.is_alphanumeric() || c == ')'),
            Some((Piece::Close, _)) => self.is_inline_closed,
            _ => false,
        }
    }

    /// Many pages name the language of a block at the element `code` in it.
    fn name_language(&mut self, named: String) {
        if let Some((Piece::Open(Mark::Pre(language)), _)) = self.pieces.last_mut()
            && language.is_empty()
        {
            *language = named;
        }
    }

    fn mark(&self, role: Role, attributes: &Attributes) -> Option<Mark> {
        Some(match role {
            Role::Hidden | Role::Inline => return None,
            Role::Heading(level) => Mark::Heading(level),
            Role::List => Mark::List(None),
            Role::OrderedList => {
                let start = attribute(attributes, "start").and_then(|start| start.trim().parse().ok());
                Mark::List(Some(start.unwrap_or(1)))
            }
            Role::Item => Mark::Item,
            Role::Quote => Mark::Quote,
            Role::Pre => Mark::Pre(language(attributes).unwrap_or_default()),
            Role::Table => Mark::Table,
            Role::Row => Mark::Row,
            Role::Cell => Mark::Cell,
            Role::Strong => Mark::Strong,
            Role::Emphasis => Mark::Emphasis,
            Role::Code => Mark::Code,
            Role::Link => Mark::Link(self.link(attributes)?),
            _ => Mark::Block,
        })
    }

    /// The URL of a link to another page.
    fn link(&self, attributes: &Attributes) -> Option<String> {
        let href = attribute(attributes, "href")?;
        if href.trim_start().starts_with('#') || href.len() > LONGEST_LINK {
            return None;
        }
        let url = self.base.join(href.trim()).ok()?;
        let is_page = matches!(url.scheme(), "http" | "https" | "mailto");
        // Parentheses would end the link.
        (is_page && url.as_str().len() <= LONGEST_LINK)
            .then(|| url.as_str().replace('(', "%28").replace(')', "%29"))
    }

    /// Which places have the content.
    fn content(&self) -> fn(Place) -> bool {
        let choices: [fn(Place) -> bool; 4] = [
            |place| place.area == Area::Main && !place.is_chrome,
            |place| place.area == Area::Article && !place.is_chrome,
            |place| !place.is_chrome,
            |_| true,
        ];
        let length = |choice: fn(Place) -> bool| -> usize {
            let texts = self.pieces.iter().filter(|(_, place)| choice(*place));
            texts.map(|(piece, _)| if let Piece::Text(text) = piece { text.trim().len() } else { 0 }).sum()
        };
        let [main, articles, content, all] = choices;
        let outside = length(content);
        // A short article among much else is a teaser.
        let enough = |choice| length(choice) >= ENOUGH.min(outside.max(1)).max(outside / 4);
        [main, articles].into_iter().find(|choice| enough(*choice)).unwrap_or(if outside > 0 {
            content
        } else {
            all
        })
    }
}

/// Whether raised text is an exponent or the number of a note, which must not pass for the end of the number before it:
/// 2<sup>31</sup> is no 231. Signs of a grammar such as `?` stay as they are.
fn is_exponent(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(['+', '-', '−']);
    text.starts_with(char::is_alphanumeric)
}

type Attributes = BTreeMap<HtmlString, Spanned<HtmlString, ()>>;

fn attribute(attributes: &Attributes, name: &str) -> Option<String> {
    let value = attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// Whether an attribute hides the element from everybody.
fn is_hidden(attributes: &Attributes) -> bool {
    let is_truth = |name| attribute(attributes, name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let style = attribute(attributes, "style").unwrap_or_default().to_ascii_lowercase();
    let style = style.replace(char::is_whitespace, "");
    attribute(attributes, "hidden").is_some_and(|value| value != "until-found")
        || is_truth("aria-hidden")
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

/// Whether the element leads elsewhere, or is beside the content.
fn is_chrome(role: Role, place: Place, attributes: &Attributes) -> bool {
    let is_inside = place.area != Area::None;
    let by_role = attribute(attributes, "role").is_some_and(|role| {
        ["alertdialog", "banner", "complementary", "contentinfo", "dialog", "navigation", "search"]
            .contains(&role.as_str())
    });
    let by_name = ["class", "id"].into_iter().filter_map(|name| attribute(attributes, name)).any(|value| {
        value.split_ascii_whitespace().any(|word| CHROME.iter().any(|name| word.eq_ignore_ascii_case(name)))
    });
    role == Role::Chrome || role == Role::Header && !is_inside || by_role || by_name
}

/// The language of code: `language-rust`, `lang-rust`, `highlight-source-rust`, `brush: rust`.
fn language(attributes: &Attributes) -> Option<String> {
    let class = attribute(attributes, "class")?;
    let prefixes = ["language-", "lang-", "highlight-source-"];
    let word = class
        .split_ascii_whitespace()
        .find_map(|word| prefixes.iter().find_map(|it| word.strip_prefix(it)))?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+-#.".contains(c);
    (word.len() <= 20 && word.chars().all(is_plain)).then(|| word.to_owned())
}
