//! The pages that rustdoc makes of flows in the crate of a user.

use std::fs;
use std::path::Path;

use columnar_compiler_tests::rustc::Rustc;

#[path = "drawn_flows.rs"]
mod drawn_flows;

const FLOWS: &str = r#"
//! Flows of every form.
#![deny(missing_docs, rustdoc::all)]

extern crate columnar as pillars;

use pillars::{flow, prelude::*};

flow! {
    /// A chat.
    pub struct Chat {
        /// What the person typed; see [the judge] and [`this`], or `a | b`.
        ///
        /// [the judge]: Debate
        /// [`this`]: Debate
        source user;
        source files: Documents;
        column topics(user.filter(|text| text.len() > 3)) = prompt("List the topics.");
        column assistant(user, topics.prev, files.tiered(), self) = prompt("Answer `yes` | <b>\n[no](x).").retry(3).or_skip();
    }
}

flow! {
    pub struct Felt: Chat {
        /// The mood.
        column mood(user.latest) = prompt("Name the mood.");
    }
}

flow! {
    pub struct Debate { source topic; column pro(topic) = prompt("Argue."); }
}

flow! {
    pub struct Panel<'a>(style: &'a str) {
        source r#type;
        use Debate { topic: r#type } as debate;
        column fmt(debate.pro.latest, r#type) = prompt(style);
    }
}

mod inner {
    use super::*;

    flow! {
        /// Exported without its columns.
        pub struct Exported { source user; column reply(user, self) = prompt("Answer."); }
    }

    flow! { pub(crate) struct Unexported: Exported { column more(reply) = prompt("Go on."); } }
}

pub use inner::Exported;

/// A function with flows.
pub fn function() {
    flow! { struct Local { source user; column reply(user) = prompt("Answer."); } }
    flow! { struct Extended: Local { column more(reply) = prompt("Go on."); } }
}
"#;

#[test]
fn the_page_of_a_flow_has_its_columns_and_only_public_names() {
    let rustc = Rustc::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("documentation"));
    let source = rustc.write("flows", FLOWS);
    let pages = rustc.document(&source, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let read = |page: &str| fs::read_to_string(pages.join(page)).expect("rustdoc makes a page");

    let chat = read("struct.Chat.html");
    for column in ["user", "files", "topics", "assistant"] {
        let (node, row) =
            (format!("<a href=\"#column.{column}\"><rect "), format!("<span id=\"column.{column}\">"));
        assert!(chat.contains(&node) && chat.contains(&row), "{column}");
    }
    for text in [
        "<p><code>──</code> all values, <code>···</code> documents in tiers. A view without a line",
        "<td>What the person typed; see the judge and <code>this</code>, or <code>a | b</code>.</td>",
        "<a href=\"#column.user\"><code>user.filter(|text|text.len()&gt;3)</code></a>",
        "<td><code>Answer `yes` | &lt;b&gt; …</code></td><td><code>retry(3)</code>, <code>or_skip()</code></td>",
        "<td><code>List the topics.</code></td>",
        "<a href=\"struct.Chat.html#method.open\" ",
        "flow/handle/struct.Handle.html#method.push\" ",
        "flow/live/struct.LiveFlow.html#method.run\" ",
    ] {
        assert!(chat.contains(text), "{text}");
    }
    assert!(
        read("struct.Felt.html")
            .contains("#method.extend\" title=\"associated function flows::Felt::extend\"><rect ")
    );
    assert!(
        read("struct.PanelColumns.html")
            .contains(">ColumnsOf</a>&lt;<a class=\"struct\" href=\"struct.Debate.html\"")
    );

    for page in fs::read_dir(&pages).expect("a folder") {
        let page = page.expect("a page").path();
        let text = fs::read_to_string(&page).unwrap_or_default();
        for private in
            ["__private", "&lt;&lt;", "Checked", "__Felt", "__Panel", "DOCS", "__parts", " as Base"]
        {
            assert!(!text.contains(private), "{private}: {}", page.display());
        }
    }
    // A writer of the crate sees all of it.
    rustc.document(&source, &["--document-private-items"]).unwrap_or_else(|errors| panic!("{errors}"));
}

/// The drawing on a page of rustdoc, without its links.
fn drawing(page: &str) -> String {
    let (_, svg) = page.split_once("<svg xmlns").expect("the page has a drawing");
    let (svg, _) = svg.split_once("</svg>").expect("the drawing ends");
    let mut parts = svg.replace("</a>", "").replace("role=\"group\"", "role=\"img\"");
    while let Some(at) = parts.find("<a href=\"#column.") {
        let end = at + parts[at..].find('>').expect("a tag ends");
        parts.replace_range(at..=end, "");
    }
    parts
}

/// The macro knows the tokens of a flow, and the library its declaration.
#[test]
fn the_drawing_in_the_documentation_is_the_one_of_the_outline() {
    let rustc = Rustc::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("drawings"));
    let source = rustc.write("drawings", include_str!("drawn_flows.rs"));
    let pages = rustc.document(&source, &[]).unwrap_or_else(|errors| panic!("{errors}"));
    let outlines =
        [("Chat", drawn_flows::Chat::GRAPH.outline()), ("Desk", drawn_flows::Desk::GRAPH.outline())];
    for (name, outline) in outlines {
        let page =
            fs::read_to_string(pages.join(format!("struct.{name}.html"))).expect("rustdoc makes a page");
        let svg = outline.svg();
        let (svg, _) = svg.split_once("<style>").expect("a file has colours");
        let svg = svg.strip_prefix("<svg xmlns").expect("an image");
        assert_eq!(drawing(&page), svg, "{name}");
        assert!(outline.columns.len() >= 5 && svg.matches("<rect ").count() == outline.columns.len());
    }
}
