//! Texts of users, models and tools that want to be markup.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use columnar::model::{End, Finish, Usage};
use columnar::prelude::*;
use columnar::report;
use columnar::testing::ScriptedModel;
use columnar::{Attachment, Text};
use sha2::{Digest as _, Sha256};

use super::parsed::Element;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A flow whose texts all have this text in them.
pub(super) async fn page(text: &'static str) -> Result<String, Box<dyn std::error::Error>> {
    let reply = format!("<think>thoughts {text}</think>reply {text}");
    let model = ScriptedModel::new(move |_| reply.clone()).named(format!("model/{text}")).end(move |_| {
        End::new(Finish::Other(format!("finish {text}"))).with_usage(Usage::new(10, 2)).with_id(text)
    });
    let user = source("user");
    let answer =
        prompt(format!("Answer. {text}")).model(model).allow_truncated().strip_thoughts().keep_thoughts();
    let answer = column("answer", (user.all(), this()), answer);
    let fails = move |_: Context| async move { Err::<String, _>(format!("failure {text}")) };
    let tool = column("tool", user.latest().text_only().named("tag"), fails.or_skip());
    let f = flow([user, answer, tool])?;
    for step in 0..2 {
        let file = Attachment::new(b"GIF89a\x01\0\x01\0\0\0\0;".to_vec())?.alt(format!("picture {text}"));
        f.push("user", Text::new(format!("question {step} {text}")).with(file)).await?;
        f.run().await?;
    }
    Ok(report::html(&f))
}

/// Each would be markup somewhere: in text, in an attribute, in a title, in raw text, in a comment.
pub(super) const HOSTILE: [&str; 9] = [
    "</pre></article><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onfocus='alert(1)' autofocus='",
    "</title></style><style>*{display:none}</style>",
    "<!--<script>",
    "<![CDATA[ ]]> <?xml ?>",
    "<a href=\"javascript:alert(1)\">javascript:alert(1)</a>",
    "&lt;script&gt; &#60;script&#62; &amp;",
    "\u{202e}gnp.exe\u{2066} \u{1b}[31m \r\n\0 \u{2028}",
];

#[tokio::test]
async fn no_text_changes_the_elements_of_a_page() -> Outcome {
    let expected = Element::parse(&page("harmless").await?).tags();
    assert!(expected.len() > 150, "{}", expected.len());
    for text in HOSTILE {
        assert_eq!(Element::parse(&page(text).await?).tags(), expected, "{text}");
    }
    Ok(())
}

#[tokio::test]
async fn a_page_runs_its_own_script_alone_and_reaches_nothing() -> Outcome {
    let page = Element::parse(&page("harmless").await?);
    let scripts = page.all("script");
    let script = scripts.last().expect("the page has a script").text();
    assert!(script.starts_with("'use strict';"), "{script}");
    let policy = page.all("meta").into_iter().find(|meta| meta.attributes.contains_key("http-equiv"));
    let policy = &policy.expect("the page has a policy").attributes["content"];
    let hash = STANDARD.encode(Sha256::digest(script));
    assert!(
        policy.starts_with(&format!("default-src 'none'; script-src 'sha256-{hash}'; style-src 'sha256-")),
        "{policy}"
    );
    assert!(policy.ends_with("; require-trusted-types-for 'script'; trusted-types 'none'"), "{policy}");
    let allowed = "alt aria-hidden aria-label aria-labelledby charset class content d dir dx dy fill fill-opacity font-family font-size height href http-equiv id lang name opacity open \
        points role rx scope src stroke stroke-dasharray stroke-width tabindex text-anchor type value viewbox width x x1 x2 xmlns y y1 y2";
    let allowed: Vec<&str> = allowed.split_ascii_whitespace().collect();
    for element in ["iframe", "link", "form", "object", "base"] {
        assert!(page.all(element).is_empty(), "{element}");
    }
    for data in &scripts[..scripts.len() - 1] {
        assert_eq!(data.attributes["type"], "application/json");
    }
    assert!(
        page.all("img").iter().all(|picture| picture.attributes["src"].starts_with("data:image/gif;base64,"))
    );
    for tag in page.all("body").iter().flat_map(|body| body.all("a")) {
        assert!(tag.attributes["href"].starts_with('#'), "{tag:?}");
    }
    for element in everything(&page) {
        assert!(element.attributes.keys().all(|name| allowed.contains(&name.as_str())), "{element:?}");
    }
    Ok(())
}

fn everything(page: &Element) -> Vec<&Element> {
    let names: std::collections::BTreeSet<String> =
        page.tags().iter().filter_map(|tag| Some(tag.split_once(' ')?.0.to_owned())).collect();
    names.iter().flat_map(|name| page.all(name)).collect()
}

/// The value is shown as it is, and the table shows what nobody sees.
#[tokio::test]
async fn characters_that_turn_a_line_around_are_escapes_in_the_table() -> Outcome {
    let page = Element::parse(&page(HOSTILE[8]).await?);
    let value = page.article(0, 0).expect("a source").first("pre").text();
    assert_eq!(value, "question 0 \u{202e}gnp.exe\u{2066} \u{1b}[31m \r\n\\u{0} \u{2028}");
    let cell = page.first("tbody").all("bdi");
    assert!(cell.is_empty(), "the first table has no texts");
    let table = page.all("table")[1];
    assert!(
        table.first("bdi").text().starts_with("question 0 \\u{202e}gnp.exe\\u{2066} \\u{1b}[31m"),
        "{}",
        table.text()
    );
    Ok(())
}
