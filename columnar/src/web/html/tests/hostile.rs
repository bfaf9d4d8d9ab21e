//! Pages that are written to do harm: by depth, by number, by what trees of HTML repair.

use std::panic::resume_unwind;
use std::thread;
use std::time::Instant;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::balanced::{DEEPEST, MOST_ELEMENTS, balanced};
use super::*;

/// The longest page that the client reads by default.
const LONGEST: usize = 2 << 20;

const WORDS: &str =
    "This is a sentence of the page, and it has words enough, so a reader takes it for the content. ";

/// Reads pages on a small stack, and prints the slowest ones.
fn read_all(pages: impl IntoIterator<Item = String> + Send + 'static) {
    let small = thread::Builder::new().stack_size(512 << 10);
    let thread = small.spawn(move || {
        let mut times = Vec::new();
        for page in pages {
            let page = page.get(..page.floor_char_boundary(LONGEST)).unwrap_or_default();
            let start = Instant::now();
            let text = text(page);
            assert!(text.len() <= LONGEST * 8, "{}", text.len());
            times.push((start.elapsed(), page.chars().take(60).collect::<String>()));
        }
        times.sort();
        for (time, page) in times.iter().rev().take(5) {
            println!("{time:?} for {page}");
        }
    });
    thread.expect("a thread").join().unwrap_or_else(|panic| resume_unwind(panic));
}

/// Trees of HTML take quadratic time for some of these pages, and overflow the stack of a task for others.
#[test]
fn w4_a_hundred_thousand_elements_in_each_other_are_read_on_a_small_stack() {
    let many = |open: &str, count: usize| format!("{}x", open.repeat(count));
    read_all([
        many("<div>", 100_000),
        many("<span>", 100_000),
        many("<b>", 100_000),
        many("<ul><li>", 100_000),
        many("<blockquote>", 100_000),
        many("<table><tr><td>", 100_000),
        many("<a href=x>", 100_000),
        many("<p>", 100_000),
        many("<font size=1><p>", 100_000),
        many("</p>", 100_000),
        many("<svg>", 100_000),
        many("<div>", 100_000) + &"</span></div><p>".repeat(50_000),
        many("<b>", 100_000) + &"<div></div>".repeat(50_000),
        "<p>".to_owned() + &many("<b>", 50_000) + &"<div></div>".repeat(50_000),
        "<div x".to_owned() + &" y=1".repeat(400_000),
        "<p".to_owned()
            + &(0..10_000).map(|number| format!(" a{number}=1")).collect::<Vec<_>>().concat()
            + ">x",
        "<!--".repeat(500_000),
        "<".repeat(LONGEST / 8),
        "&".repeat(LONGEST / 8),
        "<table><tr>".to_owned() + &"<td>x".repeat(100_000) + &"<tr><td>x".repeat(10_000),
        many("<b><i><a href=x>", 20) + &"</b><p>x".repeat(50_000),
        "<table>".to_owned() + &"x<b>y</b><tr>".repeat(30_000),
        many("<blockquote>", DEEPEST) + "<pre>" + &"x\n".repeat(100_000),
        many("<blockquote>", DEEPEST) + &"x<br>".repeat(50_000),
        many("<table><tr><td>", DEEPEST / 3) + &"<p>x".repeat(50_000),
        "x".repeat(LONGEST / 2) + &"<sup>".repeat(200_000),
        WORDS.repeat(20) + &"<p>x, y, <a href=/z>z</a>".repeat(30_000),
        "<svg></p><style><a id=\"</style><img src=1 onerror=x()>\">".repeat(30_000),
    ]);
}

/// The libraries call themselves for elements in each other, so the limit must be far from the end of the stack.
#[test]
fn w4_each_element_is_read_at_each_depth_up_to_the_limit() {
    let tags = [
        "div",
        "b",
        "a href=/x",
        "table><tr><td",
        "ul><li",
        "ol><li",
        "blockquote",
        "svg",
        "template",
        "select",
        "em",
        "section",
        "pre",
        "h1",
        "dl><dd",
        "article",
        "blockquote><ul><li><table><tr><td><a href=/x><b",
    ];
    let depths = [1, 2, DEEPEST / 2, DEEPEST - 1, DEEPEST, DEEPEST + 1, 2 * DEEPEST];
    read_all(tags.into_iter().flat_map(move |tag| {
        let page =
            move |depth| format!("{WORDS}{}{WORDS}<p>{WORDS}{WORDS}", format!("<{tag}>").repeat(depth));
        depths.map(page)
    }));
}

#[test]
fn w4_words_beyond_the_limits_are_plain_text() {
    let deep = text(&("<blockquote>".repeat(DEEPEST + 50) + "a<b>c</b><p>d"));
    assert_eq!(deep, "> ".repeat(DEEPEST) + "ac d");
    let many = text(&"<p>word".repeat(MOST_ELEMENTS + 2));
    assert!(many.ends_with("word\n\nword word"), "{}", &many[many.len() - 50..]);
}

/// The depth of HTML that is closed in its turn, and the number of its elements. `None` if it is not.
fn measured(html: &str) -> Option<(usize, usize)> {
    let mut open = Vec::new();
    let mut deepest = 0;
    let mut elements = 0;
    for piece in html.strip_prefix("<title></title><body>")?.split('<').skip(1) {
        let tag = piece.split('>').next()?;
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return None;
            }
            continue;
        }
        elements += 1;
        if !matches!(tag, "br" | "hr") {
            open.push(tag.split(' ').next()?);
            deepest = deepest.max(open.len());
        }
    }
    open.is_empty().then_some((deepest, elements))
}

/// Elements that trees repair or treat in their own way, and attributes of them.
const NAMES: &str = "a b i font nobr p div li ul td tr table caption select option svg template title style h1 pre body \
    form button br sup blockquote math dd main";
const ATTRIBUTES: &str = "|href=x|hidden|class='a b\">'|x=1 y=2|/|style=display:none";

/// Tags in any order, again and again, with any words between them.
fn soup() -> impl Strategy<Value = String> {
    let names: Vec<&str> = NAMES.split_whitespace().collect();
    let attributes: Vec<&str> = ATTRIBUTES.split('|').collect();
    let start =
        (select(names.clone()), select(attributes)).prop_map(|(name, rest)| format!("<{name} {rest}>"));
    let end = select(names).prop_map(|name| format!("</{name}>"));
    let piece = prop_oneof![3 => start, 2 => end, 1 => "[ -~]{0,12}", 1 => any::<String>()];
    (vec(piece, 0..200), 1_usize..100).prop_map(|(pieces, count)| pieces.concat().repeat(count))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// This is what the limits promise to the tree for any page.
    #[test]
    fn w4_any_page_is_balanced_within_the_limits_and_read(page in soup()) {
        let url = Url::parse("https://a.org").expect("a URL");
        let html = balanced(&page, &url).html;
        let html = html.split_once("</title>").map(|(_, body)| format!("<title></title>{body}")).expect("a title");
        let (deepest, elements) = measured(&html).expect("balanced");
        prop_assert!(deepest <= DEEPEST && elements <= MOST_ELEMENTS, "{deepest} {elements}");
        let text = super::super::read(&page, &url).text;
        prop_assert_eq!(&text, &super::super::read(&page, &url).text);
        prop_assert!(!text.contains(|c: char| c.is_control() && !c.is_whitespace()), "{text:?}");
    }
}
