//! Pages as they are written, and pages that are written to do harm.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::*;

fn read(html: &str) -> Html {
    super::read(html, &Url::parse("https://a.org/b/c?d").expect("a URL"), 100_000)
}

fn text(html: &str) -> String {
    read(html).text
}

#[test]
fn an_article_is_read_without_what_is_around_it() {
    let page = read(include_str!("fixtures/article.html"));
    assert_eq!(page.title, "How tides work | Sea Journal");
    assert_eq!(page.text, include_str!("fixtures/article.md").trim_end());
}

#[test]
fn documentation_keeps_its_code_and_its_tables() {
    assert_eq!(text(include_str!("fixtures/docs.html")), include_str!("fixtures/docs.md").trim_end());
}

#[test]
fn a_page_without_an_article_is_read_as_a_whole() {
    assert_eq!(
        text(include_str!("fixtures/list.html")),
        "| 1. | [A story](https://a.org/x) |\n| --- | --- |\n| | 120 points by bob |\n| 2. | [Another story](https://b.org/) |"
    );
    // The frame of a page that JavaScript makes, and a page that is nothing but links.
    assert_eq!(text("<div id=root></div><noscript>Enable it.</noscript><script>x()</script>"), "");
    assert_eq!(text("<nav><a href=/x>Only</a> links</nav>"), "[Only](https://a.org/x) links");
}

#[test]
fn teasers_are_not_taken_for_the_content() {
    let long = "The content is long. ".repeat(100);
    let page = format!("<div><p>{long}</p><article>Read more</article></div><aside>Beside it</aside>");
    assert_eq!(text(&page), format!("{}\n\nRead more", long.trim_end()));
}

#[test]
fn malformed_html_is_read_as_browsers_read_it() {
    assert_eq!(
        text(include_str!("fixtures/malformed.html")),
        "One **bold *both*** italic\n\nTwo & three < four & five\n\n- item\n\n  | cell in side | two |\n  | --- | --- |\n\n  [link](https://a.org/b/x)\n\n  para\n\n  end tag 1 < 2 <"
    );
}

#[test]
fn marks_are_written_once_and_around_words() {
    for (html, expected) in [
        ("a<b> b </b>c", "a **b** c"),
        ("<b><strong>x</strong></b>", "**x**"),
        ("<b></b>x<i> </i>y", "x y"),
        ("<p><b>x<p>y</b>", "**x**\n\ny"),
        ("<a href=/x><h2>Title</h2><p>text</p></a>", "## [Title](https://a.org/x)\n\ntext"),
        ("<a href='javascript:x()'>no</a> <a href=#top>top</a> <a>none</a>", "no top none"),
        ("<a href='/f_(x)'>f</a>", "[f](https://a.org/f_%28x%29)"),
        ("<code>a`b</code> <code> </code>", "`` a`b ``"),
        ("x<br>y<br/>z", "x\ny\nz"),
        ("x<hr>y", "x\n\n---\n\ny"),
        // The power was 231, and the parameters were `***` and `**ids*`.
        ("2<sup>31</sup> and <i>x</i><sup><i>n</i>+1</sup>", "2^31 and *x*^*n*+1"),
        ("<p>10<sup>-6</sup> Rule<sup>?</sup></p><sup>Syntax</sup>", "10^-6 Rule?\n\nSyntax"),
        ("f(<em>*</em>, <em><span>*</span>ids</em>, <b>**kw</b>, <em>last</em>)", "f(*, *ids, **kw, *last*)"),
        ("<img alt='A cat'><img src=x><img alt=' '>", "(image: A cat)"),
        ("<pre>\n  a\n\n  ```\n</pre>", "````\n  a\n\n  ```\n````"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<pre class=lang-c++>x</pre><pre class='lang-a`b'>x</pre>", "```c++\nx\n```\n\n```\nx\n```"),
        ("<ol start=3><li>a<li><p>b</p><p>c</p><li></ol>", "3. a\n4. b\n\n   c"),
        ("<blockquote>a<p>b<ul><li>c</ul></blockquote>d", "> a\n>\n> b\n>\n> - c\n\nd"),
        ("<ul><li><pre>a\nb</pre></ul>", "- ```\n  a\n  b\n  ```"),
        ("<table><tr><td>a|b<td><tr><td><p>c<p>d<td>e</table>", "| a\\|b | |\n| --- | --- |\n| c d | e |"),
        ("<p hidden>a</p><p style='display: none'>b</p><p aria-hidden=true>c</p>d", "d"),
        ("<svg><title>t</title><text>x</text></svg>y", "y"),
        ("&lt;b&gt; &copy; &#x1f980;", "<b> © 🦀"),
        ("<base href=https://c.org/><a href=x>x</a>", "[x](https://c.org/x)"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
    assert_eq!(read("<svg><title>no</title></svg><title> A &amp;\n b</title>").title, " A &\n b");
}

/// Trees of HTML take quadratic time for some of these pages, and overflow the stack of a task for others.
#[test]
fn w4_a_hundred_thousand_elements_in_each_other_are_read_on_a_small_stack() {
    let many = |open: &str, count: usize| format!("{}x", open.repeat(count));
    let pages = [
        many("<div>", 100_000),
        many("<span>", 100_000),
        many("<b>", 100_000),
        many("<ul><li>", 100_000),
        many("<blockquote>", 100_000),
        many("<table><tr><td>", 100_000),
        many("<a href=x>", 100_000),
        many("<p>", 400_000),
        many("<font size=1><p>", 100_000),
        many("</p>", 400_000),
        many("<svg>", 100_000),
        many("<div>", 100_000) + &"</span></div><p>".repeat(50_000),
        many("<b>", 100_000) + &"<div></div>".repeat(50_000),
        "<p>".to_owned() + &many("<b>", 50_000) + &"<div></div>".repeat(50_000),
        "<div x".to_owned() + &" y=1".repeat(400_000),
        "<!--".repeat(500_000),
        "<".repeat(2 << 20),
        "&".repeat(2 << 20),
        "<table><tr>".to_owned() + &"<td>x".repeat(100_000) + &"<tr><td>x".repeat(100_000),
    ];
    let (done, outcome) = mpsc::channel();
    let small = thread::Builder::new().stack_size(512 << 10);
    let thread = small.spawn(move || {
        for page in pages {
            let text = text(&page);
            assert!(text.len() <= 110_000 + 2 * page.len(), "{}", text.len());
            let _ = done.send(());
        }
    });
    for page in 0..19 {
        // Each takes far less than a second; a quadratic one would take hours.
        assert!(outcome.recv_timeout(Duration::from_mins(1)).is_ok(), "page {page} does not end");
    }
    thread.expect("a thread").join().expect("no page overflows the stack");
}

#[test]
fn long_texts_end_soon_after_the_limit() {
    let page = super::read(&"<p>word</p>".repeat(10_000), &Url::parse("https://a.org").expect("a URL"), 1000);
    assert!((1001..1010).contains(&page.text.len()), "{}", page.text.len());
}
