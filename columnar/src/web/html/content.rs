//! The part of a page that has its content.
//!
//! An article is what `dom_smoothie` finds, which is Mozilla's Readability. That leaves out whole chapters of documentation,
//! which is known by its blocks of code. There the content is the element `main`, or the articles, or everything that does
//! not lead elsewhere, or everything: the first of these that has text enough.

use dom_query::{Document, Selection};
use dom_smoothie::{Config, Readability, TextMode};

use super::balanced::Balanced;

/// The fewest bytes of text that make an element the content of its page.
const ENOUGH: usize = 200;

/// Elements that lead elsewhere, or are beside the content.
const BESIDE: &str = "nav, aside, footer, [role=alertdialog], [role=banner], [role=complementary], [role=contentinfo], \
    [role=dialog], [role=navigation], [role=search], .ad, .ads, .advert, .advertisement, .breadcrumb, .breadcrumbs, \
    .cookie-banner, .cookie-consent, .cookie-notice, .navbar, .sidebar, .skip-link, #breadcrumbs, #navbar, #sidebar";

/// Elements of which an article has few, and which a reader of documentation misses most.
const DOCUMENTATION: &str = "pre, dl";

const MAIN: &str = ":is(main, [role=main]):not(main *, [role=main] *)";

const ARTICLES: &str = "article:not(article *)";

/// The text of a page of HTML.
#[derive(Debug)]
pub(in crate::web) struct Html {
    pub(in crate::web) title: String,
    pub(in crate::web) text: String,
}

/// The content of a page.
pub(super) fn content(page: Balanced) -> Html {
    let Balanced { title, html } = page;
    let whole = Document::from(html);
    let tree = whole.clone();
    tree.select(BESIDE).remove();
    let chosen = chosen(&tree);
    if length(&chosen) == 0 {
        return Html { title, text: markdown(&whole.select("body")) };
    }
    let article = if chosen.select(DOCUMENTATION).exists() { None } else { article(whole) };
    article.unwrap_or_else(|| Html { title, text: markdown(&chosen) })
}

/// The part of a page that has its content by the names of elements. What leads elsewhere has been removed.
fn chosen(tree: &Document) -> Selection<'_> {
    let outside = length(&tree.select("body"));
    // A short article among much else is a teaser.
    let enough = ENOUGH.min(outside).max(outside / 4).max(1);
    for part in [MAIN, ARTICLES] {
        let part = tree.select(part);
        if length(&part) >= enough {
            return part;
        }
    }
    tree.select("header").remove();
    tree.select("body")
}

/// The article of a page, if the page looks like one. Other pages have teasers of many.
fn article(page: Document) -> Option<Html> {
    let config = Config { text_mode: TextMode::Markdown, disable_json_ld: true, ..Config::default() };
    let mut reader = Readability::with_document(page, None, Some(config)).ok()?;
    let article = if reader.is_probably_readable() { reader.parse().ok()? } else { return None };
    if article.text_content.trim().is_empty() {
        return None;
    }
    let lines = [
        format!("# {}", article.title),
        article.byline.unwrap_or_default(),
        article.text_content.to_string(),
    ];
    let lines: Vec<&str> =
        lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && *line != "#").collect();
    Some(Html { text: lines.join("\n\n"), title: article.title })
}

/// The number of bytes of a text without the space around it.
fn length(part: &Selection) -> usize {
    part.text().trim().len()
}

fn markdown(part: &Selection) -> String {
    let parts: Vec<String> = part.nodes().iter().map(|node| node.md(None).trim().to_owned()).collect();
    parts.join("\n\n")
}
