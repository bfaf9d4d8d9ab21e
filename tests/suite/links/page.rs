//! The links and the anchors of one page.

use std::collections::{BTreeMap, BTreeSet};

use html5gum::Tokenizer;
use html5gum::emitters::default::{DefaultEmitter, Token};
use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// A page of documentation.
#[derive(Default)]
pub(super) struct Page {
    /// The ids that links can end with, after `#`.
    pub(super) anchors: BTreeSet<String>,
    /// The targets of its links and pictures, as they are written.
    pub(super) links: Vec<String>,
    /// The references of Markdown that are not defined.
    pub(super) undefined: Vec<String>,
    /// The code inside its sentences. It may name a file.
    pub(super) code: Vec<String>,
}

impl Page {
    pub(super) fn html(text: &str) -> Self {
        let mut page = Self::default();
        let mut emitter: DefaultEmitter = DefaultEmitter::default();
        // The text of a script is not HTML.
        emitter.naively_switch_states(true);
        let mut is_foreign = false;
        for Ok(token) in Tokenizer::new_with_emitter(text, emitter) {
            let Token::StartTag(tag) = token else { continue };
            // rustdoc loads scripts that need not be there.
            let is_link = tag.name.as_slice() != b"script";
            for (name, value) in &tag.attributes {
                let value = String::from_utf8_lossy(&value.0).into_owned();
                match name.as_slice() {
                    b"id" => {
                        // The last section of a type has the documentation of other crates, with their links.
                        is_foreign |= value == "blanket-implementations";
                        page.anchors.insert(value);
                    }
                    b"href" | b"src" if is_link && !is_foreign => page.links.push(value),
                    _ => {}
                }
            }
        }
        page
    }

    pub(super) fn markdown(text: &str) -> Self {
        let mut page = Self::default();
        let mut heading: Option<String> = None;
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        // Only `[text][reference]` is certainly meant as a link.
        let undefined = |link: BrokenLink<'_>| {
            let is_reference = link.link_type == LinkType::Reference;
            is_reference.then(|| (CowStr::from(link.reference.into_string()), CowStr::from("")))
        };
        for event in Parser::new_with_broken_link_callback(text, Options::ENABLE_TABLES, Some(undefined)) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::Start(Tag::Link { link_type: LinkType::ReferenceUnknown, dest_url, .. }) => {
                    page.undefined.push(dest_url.into_string());
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Text(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
                Event::Code(code) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&code));
                    page.code.push(code.into_string());
                }
                Event::End(TagEnd::Heading(_)) => {
                    let slug = slug(&heading.take().unwrap_or_default());
                    let count = seen.entry(slug.clone()).or_default();
                    page.anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
                    *count += 1;
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let Self { anchors, links, .. } = Self::html(&html);
                    page.anchors.extend(anchors);
                    page.links.extend(links);
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor of a heading on GitHub.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
