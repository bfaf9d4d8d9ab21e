//! Pages as they are written. The module `hostile` has those that are written to do harm.

use super::*;

mod hostile;

fn read(html: &str) -> Html {
    super::read(html, &Url::parse("https://a.org/b/c?d").expect("a URL"))
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
        "|   |   |\n| - | - |\n| 1\\. | [A story](https://a.org/x) |\n|  | 120 points by bob |\n| 2\\. | [Another story](https://b.org/) |"
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
        "One **bold *both*** italic\n\nTwo & three \\< four & \u{a0}five\n\nitem\n\n\n|   |   |\n| - | - |\n| cell<br>in<br>side | two |\n\n[link para ](https://a.org/b/x) end tag 1 \\< 2 \\<"
    );
}

#[test]
fn marks_are_written_once_and_around_words() {
    for (html, expected) in [
        ("a<b> b </b>c", "a **b** c"),
        ("<b><strong>x</strong></b>", "**x**"),
        ("<b></b>x<i> </i>y", "x y"),
        ("<p><b>x<p>y</b>", "**x**\n\ny"),
        ("<a href=/x><h2>Title</h2><p>text</p></a>", "[Title text ](https://a.org/x)"),
        ("<a href='javascript:x()'>no</a> <a href=#top>top</a> <a>none</a>", "no top none"),
        ("<a href='/f_(x)'>f</a>", "[f](https://a.org/f_(x))"),
        ("<code>a`b</code>", "``a`b``"),
        ("x<br>y<br/>z", "x  \ny  \nz"),
        ("x<hr>y", "x\n\n---\n\ny"),
        // The power was 231.
        ("2<sup>31</sup> and <i>x</i><sup><i>n</i>+1</sup>", "2^31 and *x*^*n*+1"),
        ("<p>10<sup>-6</sup> Rule<sup>?</sup></p><sup>Syntax</sup>", "10^-6 Rule?\n\nSyntax"),
        (
            "f(<em>*</em>, <em><span>*</span>ids</em>, <b>**kw</b>, <em>last</em>)",
            r"f(*\**, *\*ids*, **\*\*kw**, *last*)",
        ),
        ("<img alt='A cat'><img src=x><img alt=' '>", "(image: A cat)"),
        ("<pre>\n  a\n\n  ```\n</pre>", "````\n  a\n\n  ```\n````"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```"),
        ("<pre class=lang-c++>x</pre><pre class='lang-a`b'>x</pre>", "```c++\nx\n```\n\n```ab\nx\n```"),
        ("<ol start=3><li>a<li><p>b</p><p>c</p></ol>", "3. a\n4. b\n\n   c"),
        ("<blockquote>a<p>b<ul><li>c</ul></blockquote>d", "> a\n> \n> b\n> \n> - c\n\nd"),
        ("<ul><li><pre>a\nb</pre></ul>", "- ```\n  a\n  b\n  ```"),
        (
            "<table><tr><td>a|b<td><tr><td><p>c<p>d<td>e</table>",
            "|   |   |\n| - | - |\n| a\\|b |  |\n| c<br>d | e |",
        ),
        ("<p hidden>a</p><p style='display: none'>b</p><p aria-hidden=true>c</p>d", "d"),
        ("<svg><title>t</title><text>x</text></svg>y", "y"),
        ("&lt;b&gt; &copy; &#x1f980;", "\\<b> © 🦀"),
        ("<base href=https://c.org/><a href=x>x</a>", "[x](https://c.org/x)"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
    assert_eq!(read("<svg><title>no</title></svg><title> A &amp;\n b</title>").title, " A &\n b");
}

/// Each link of a page had all of a long base.
#[test]
fn a_long_base_is_not_in_each_link() {
    let base = "b/".repeat(50_000);
    let page = format!("<base href='https://c.org/{base}'>{}", "<p><a href=x>x</a></p>".repeat(1_000));
    assert!(read(&page).text.len() < 100_000);
}

/// The chapters of documentation were left out as if they were teasers beside an article.
#[test]
fn documentation_is_read_in_full_and_an_article_without_what_is_beside_it() {
    let story = "This is a sentence of the story, and it goes on, as sentences do. ".repeat(10);
    let page = |more: &str| {
        let related = "<div class=related><h3>Related</h3><ul><li><a href=/a>Another story</a></ul></div>";
        format!(
            "<title>The story</title><body><div id=a><h1>The story</h1><p>{story}</p><p>{story}</p>{more}</div>{related}"
        )
    };
    let article = read(&page(""));
    assert!(article.text.starts_with("# The story\n\nThis is a sentence"), "{}", article.text);
    assert!(!article.text.contains("Another story"), "{}", article.text);
    for code in ["<pre>let x = 1;</pre>", "<dl><dt>word<dd>meaning</dl>"] {
        assert!(text(&page(code)).contains("Another story"), "{code}");
    }
}

#[test]
fn words_of_a_page_are_no_markdown_and_control_no_terminal() {
    assert_eq!(
        text("# no heading<p>[x](javascript:y) `z` &#27;[2J"),
        "\\# no heading\n\n\\[x\\](javascript:y) \\`z\\` \\[2J"
    );
}
