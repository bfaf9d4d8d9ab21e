//! The form of each part of a flow.

use super::{format, format_all, snippets};
use crate::document::SourceText;

/// A flow without the braces, and the formatted flow. Both begin and end with a line end.
fn check(flow: &str, expected: &str) {
    let formatted = format(&format!("flow! {{{flow}}}\n"));
    assert_eq!(formatted.problems, []);
    assert_eq!(formatted.text, format!("flow! {{{expected}}}\n"));
}

#[test]
fn one_declaration_a_line() {
    check(
        "source  user ; source files :Documents was  \"code\";\n\n\n\n;column   a( user ) : Vec < u8 > was\"b\" =x ;",
        "
    source user;
    source files: Documents was \"code\";

    ;
    column a(user): Vec<u8> was \"b\" = x;
",
    );
}

#[test]
fn the_equals_of_columns_that_follow_each_other_are_below_each_other() {
    check(
        "
    source user;
    column topics(user.latest) = a;
    column summary(user, self.latest) = b; // as it is
    column map(user)     = c;

    column other(user)=d;
    /// Documentation.
    column more(user) = e;
    column closure(user) = |cx: Context| async move { let x = 1; x };
    column last(user) = f;
",
        "
    source user;
    column topics(user.latest)        = a;
    column summary(user, self.latest) = b; // as it is
    column map(user)                  = c;

    column other(user) = d;
    /// Documentation.
    column more(user) = e;
    column closure(user) = |cx: Context| async move {
        let x = 1;
        x
    };
    column last(user) = f;
",
    );
}

#[test]
fn a_head_that_is_much_longer_or_leaves_no_room_is_not_aligned() {
    check(
        "
    column a(user) = x;
    column critique(summary.latest.as(\"digest\"), user.latest) = y;
    column summary(user) = z;
    column b(user) = prompt(\"This text is so long that there is room for few spaces before it.\");
    column longer(user, self.latest) = z;
",
        "
    column a(user)       = x;
    column critique(summary.latest.as(\"digest\"), user.latest) = y;
    column summary(user) = z;
    column b(user)       = prompt(\"This text is so long that there is room for few spaces before it.\");
    column longer(user, self.latest) = z;
",
    );
}

#[test]
fn a_list_without_room_has_one_view_a_line() {
    check(
        "
    column question(group(\"round\", user.latest, debate.critic.prev.as(\"before\")), self.latest, other.window(3)) = seen;
    column q(group(\"round\", user.latest, debate.critic.prev.as(\"before\"), other.latest, another.latest, one_more.latest, last), self) = seen;
    column filtered(user.filter(|text| { let text = text.trim(); text.is_empty() }).as(\"x\"), self) = seen;
",
        "
    column question(
        group(\"round\", user.latest, debate.critic.prev.as(\"before\")),
        self.latest,
        other.window(3),
    ) = seen;
    column q(
        group(
            \"round\",
            user.latest,
            debate.critic.prev.as(\"before\"),
            other.latest,
            another.latest,
            one_more.latest,
            last,
        ),
        self,
    ) = seen;
    column filtered(
        user.filter(|text| {
            let text = text.trim();
            text.is_empty()
        }).as(\"x\"),
        self,
    ) = seen;
",
    );
}

/// rustfmt put the second line of the comment below the first, and into another place when it saw the result.
#[test]
fn a_comment_of_two_lines_before_a_parameter_stays_at_the_second_time() {
    let text =
        "flow! {\n    struct A(m: M // one\n    // two\n    , f: F) {\n        source user;\n    }\n}\n";
    let once = format(text);
    assert!(once.problems.is_empty() && once.text.contains("m: M, // one\n"), "{}", once.text);
    assert_eq!(format(&once.text).text, once.text);
}

#[test]
fn comments_stay() {
    check(
        "// first
    source user; // the person
    /* block */ source other;
    column a(
        user // the latest
            .latest
            // renamed
            .as(\"x\"), // a view
        // before
        other, /* after */
        // last
    ) = step /* here */ ;
    column b(user) = // why
        step;
    column /* odd */   c(user)   = step;

    // the end
    ",
        "
    // first
    source user; // the person
    /* block */
    source other;
    column a(
        user
            // the latest
            .latest
            // renamed
            .as(\"x\"), // a view
        // before
        other, /* after */
        // last
    ) = step /* here */;
    column b(user) = // why
        step;
    column /* odd */   c(user)   = step;

    // the end
",
    );
}

#[test]
fn a_header_is_formatted_as_that_of_a_function() {
    check(
        "/// A chat.\n#[derive( Clone,Debug )] pub( crate )struct Felt<'a,M:Model,const N:usize=2>(model:&'a M,n:u8):chat::Chat<'a,M>where M:Clone{column a(user)=x;}",
        "
    /// A chat.
    #[derive(Clone, Debug)]
    pub(crate) struct Felt<'a, M: Model, const N: usize = 2>(model: &'a M, n: u8): chat::Chat<'a, M>
    where
        M: Clone,
    {
        column a(user) = x;
    }
",
    );
    check(
        "struct Names(store: String, steps: usize, flow: impl Fn() -> String, column: String, views: u8, others: char) {source user;}",
        "
    struct Names(
        store: String,
        steps: usize,
        flow: impl Fn() -> String,
        column: String,
        views: u8,
        others: char,
    ) {
        source user;
    }
",
    );
    check("struct Chat{source user;}", "\n    struct Chat {\n        source user;\n    }\n");
}

#[test]
fn a_module() {
    check(
        "use Debate{topic:user}as debate; use chat::Debate<M , u8>( model . clone( ),3 ){user,topic:debate.critic,}as other;",
        "
    use Debate { topic: user } as debate;
    use chat::Debate<M, u8>(model.clone(), 3) { user, topic: debate.critic } as other;
",
    );
    check(
        "use Debate { the_topic_of_it: user, the_facts_for_it: facts.latest_ones, the_rules_of_it: rules.that_apply } as debate;",
        "
    use Debate {
        the_topic_of_it: user,
        the_facts_for_it: facts.latest_ones,
        the_rules_of_it: rules.that_apply,
    } as debate;
",
    );
}

#[test]
fn a_flow_is_found_with_any_path_and_brackets() {
    let formatted = format(
        "fn f() {\n    let a = columnar::flow!(source user;);\n    g(::columnar::flow![source user;])\n}\n",
    );
    assert_eq!(
        formatted.text,
        "fn f() {\n    let a = columnar::flow!(\n        source user;\n    );\n    \
         g(::columnar::flow![\n        source user;\n    ])\n}\n"
    );
    assert_eq!(formatted.flows, 2);
}

#[test]
fn these_stay_as_they_are() {
    for text in [
        "macro_rules! m {\n    ($name:ident) => { flow! { source   $name; } };\n}\n",
        "#[rustfmt::skip]\nflow! { source   user; }\n",
        "quote! { flow! { source   #user; } }\n",
        "macro_rules! flow { () => {}; }\n",
    ] {
        let formatted = format(text);
        assert_eq!((formatted.text.as_str(), formatted.problems), (text, Vec::new()));
    }
}

#[test]
fn examples_in_doc_comments_are_formatted() {
    let text = "\
//! ```
//! # fn f() -> Result<()> {
//! let chat = flow! { source user;
//!
//! column a(user)=x; };
//! # Ok(()) }
//! ```
//!
//! ```text
//! flow! { source   user; }
//! ```
//!
//! ```compile_fail
//! flow! { sorce   user; }
//! ```
impl X {
    /// - A list:
    ///   ```
    ///   flow! { source   user; }
    ///   ```
    fn f() {}
}
";
    let expected = "\
//! ```
//! # fn f() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!
//!     column a(user) = x;
//! };
//! # Ok(()) }
//! ```
//!
//! ```text
//! flow! { source   user; }
//! ```
//!
//! ```compile_fail
//! flow! { sorce   user; }
//! ```
impl X {
    /// - A list:
    ///   ```
    ///   flow! {
    ///       source user;
    ///   }
    ///   ```
    fn f() {}
}
";
    let formatted = format(text);
    assert_eq!(formatted.problems, []);
    assert_eq!(formatted.text, expected);
}

#[test]
fn rust_in_markdown_is_formatted() {
    let text = "# Flows\n\n```rust\nflow! { source   user; }\n```\n\n```\nflow! { source   user; }\n```\n";
    let formatted = format_all(&[(text.to_owned(), SourceText::Markdown)], &mut snippets()).remove(0);
    let expected =
        "# Flows\n\n```rust\nflow! {\n    source user;\n}\n```\n\n```\nflow! { source   user; }\n```\n";
    assert_eq!(formatted.text, expected);
}

#[test]
fn line_ends_of_dos_stay() {
    let formatted = format("\u{feff}#!/usr/bin/x\r\nflow! { source user; // c\r\n }\r\n");
    assert_eq!(formatted.text, "\u{feff}#!/usr/bin/x\r\nflow! {\r\n    source user; // c\r\n}\r\n");
}

#[test]
fn a_mistake_is_a_problem_at_its_place() {
    let text = "flow! { sorce user; }\nflow! { source   user; }\n";
    let formatted = format(text);
    let [problem] = formatted.problems.as_slice() else { panic!("{:?}", formatted.problems) };
    assert_eq!(&text[problem.at..problem.at + 5], "sorce");
    // The macro leaves the inside of brackets to the compiler.
    let text = "flow! { source user; column a(user) = x(y z); }\n";
    let formatted = format(text);
    let [problem] = formatted.problems.as_slice() else { panic!("{:?}", formatted.problems) };
    assert!(problem.message.starts_with("rustfmt: expected"), "{problem:?}");
    assert_eq!(&text[problem.at - 1..problem.at], "=");
    assert_eq!(format("fn f( {").problems.len(), 1);
}
