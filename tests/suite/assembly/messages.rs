//! How the messages of a call are assembled, by example.

use columnar::testing::script;
use columnar::{
    Column, Context, Error, Flow, Messages, Part, Role, SchemaError, View, column, flow, source, this,
};
use columnar_tests::live::push_all;
use serde_json::{Value as Json, json};

/// The value of a cell that an example does not use.
const OPEN: &str = "(to be computed)";

mod worked_examples {
    use super::*;

    #[tokio::test]
    async fn a_chat_shows_every_turn() {
        let user = source("user");
        let assistant =
            column("assistant", (&user, this()), script(["Hi! How can I help?", "TypeScript is a...", OPEN]));
        let f = filled([assistant], &["Hello", "What's TypeScript?", "Thanks"]).await;

        let expected = json!([
          { "role": "user", "content": "<user>\nHello\n</user>" },
          { "role": "assistant", "content": "Hi! How can I help?" },
          { "role": "user", "content": "<user>\nWhat's TypeScript?\n</user>" },
          { "role": "assistant", "content": "TypeScript is a..." },
          { "role": "user", "content": "<user>\nThanks\n</user>" }
        ]);
        assert_eq!(json_of(&f, "assistant", 2), expected);
    }

    #[tokio::test]
    async fn a_map_sees_each_step_alone() {
        let user = source("user");
        let topics = column("topics", user.latest(), script(["greetings", "Rust, programming", OPEN]));
        let f = filled([topics], &["Hello", "Let's discuss Rust", "And memory safety"]).await;

        let expected = json!([
          { "role": "user", "content": "<user>\nAnd memory safety\n</user>" }
        ]);
        assert_eq!(json_of(&f, "topics", 2), expected);
        let expected = json!([
          { "role": "user", "content": "<user>\nLet's discuss Rust\n</user>" }
        ]);
        assert_eq!(json_of(&f, "topics", 1), expected);
        let text = r#"[{"role":"user","content":"<user>\nHello\n</user>"}]"#;
        assert_eq!(f.messages("topics", 0).unwrap().to_json(), text);
    }

    #[tokio::test]
    async fn a_reducer_merges_the_turns_whose_answers_are_hidden() {
        let user = source("user");
        let answers = ["User is considering Rust.", "User wants to rewrite the backend in Rust.", OPEN];
        let summary = column("summary", (&user, this().latest()), script(answers));
        let user_values = ["I'm considering Rust", "For the backend rewrite", "Because Python is slow"];
        let f = filled([summary], &user_values).await;

        let expected = json!([
          { "role": "user", "content": "<user>\nI'm considering Rust\n</user>" }
        ]);
        assert_eq!(json_of(&f, "summary", 0), expected);
        let expected = json!([
          { "role": "user", "content": "<user>\nI'm considering Rust\n</user>" },
          { "role": "assistant", "content": "User is considering Rust." },
          { "role": "user", "content": "<user>\nFor the backend rewrite\n</user>" }
        ]);
        assert_eq!(json_of(&f, "summary", 1), expected);
        let expected = json!([
          { "role": "user", "content": "<user>\nI'm considering Rust\n</user>\n\n<user>\nFor the backend rewrite\n</user>" },
          { "role": "assistant", "content": "User wants to rewrite the backend in Rust." },
          { "role": "user", "content": "<user>\nBecause Python is slow\n</user>" }
        ]);
        assert_eq!(json_of(&f, "summary", 2), expected);
    }

    #[tokio::test]
    async fn several_inputs_share_a_message() {
        let user = source("user");
        let answers = ["User is considering Rust.", "User wants to rewrite backend in Rust..."];
        let summary = column("summary", (&user, this().latest()), script(answers));
        let critique = column("critique", [summary.latest(), user.latest()], script([OPEN, OPEN]));
        let f = filled([critique], &["I'm considering Rust", "Because Python is slow"]).await;

        let expected = json!([
          {
            "role": "user",
            "content": "<summary>\nUser wants to rewrite backend in Rust...\n</summary>\n\n<user>\nBecause Python is slow\n</user>"
          }
        ]);
        assert_eq!(json_of(&f, "critique", 1), expected);
    }

    #[tokio::test]
    async fn several_histories_are_shown_step_by_step() {
        let user = source("user");
        let topics = column("topics", user.latest(), script(["Rust", "Go", "Zig"]));
        let answers = ["User mentions Rust.", "Expanded to Go.", OPEN];
        let analysis = column("analysis", (&user, &topics, this()), script(answers));
        let f = filled([analysis], &["I like Rust", "And Go is nice", "Maybe Zig too"]).await;

        let expected = json!([
          {
            "role": "user",
            "content": "<user>\nI like Rust\n</user>\n\n<topics>\nRust\n</topics>"
          },
          { "role": "assistant", "content": "User mentions Rust." },
          {
            "role": "user",
            "content": "<user>\nAnd Go is nice\n</user>\n\n<topics>\nGo\n</topics>"
          },
          { "role": "assistant", "content": "Expanded to Go." },
          {
            "role": "user",
            "content": "<user>\nMaybe Zig too\n</user>\n\n<topics>\nZig\n</topics>"
          }
        ]);
        assert_eq!(json_of(&f, "analysis", 2), expected);
    }

    #[tokio::test]
    async fn a_chain_shows_the_value_of_the_same_step() {
        let user = source("user");
        let cases = ["Rust offers memory safety...", "Python's GIL limits..."];
        let steelman = column("steelman", user.latest(), script(cases));
        let critic = column("critic", steelman.latest(), script(["But the learning curve...", OPEN]));
        let f = filled([critic], &["We should use Rust", "Python is too slow"]).await;

        let expected = json!([
          { "role": "user", "content": "<steelman>\nPython's GIL limits...\n</steelman>" }
        ]);
        assert_eq!(json_of(&f, "critic", 1), expected);
    }

    #[tokio::test]
    async fn a_window_omits_older_values() {
        let user = source("user");
        let answers = ["Mentioned alpha.", "Alpha, then beta.", "Beta, then gamma.", OPEN];
        let recent = column("recent", (user.window(2), this().latest()), script(answers));
        let f = filled([recent], &["Alpha", "Beta", "Gamma", "Delta"]).await;

        let expected = json!([
          { "role": "user", "content": "<user>\nGamma\n</user>" },
          { "role": "assistant", "content": "Beta, then gamma." },
          { "role": "user", "content": "<user>\nDelta\n</user>" }
        ]);
        assert_eq!(json_of(&f, "recent", 3), expected);
    }
}

mod patterns {
    use super::*;

    #[tokio::test]
    async fn an_accumulator_sees_all_of_both() {
        let f = bot(|user| (user.all(), this())).await;
        assert_eq!(turns(&f, 0), [user("u0")]);
        assert_eq!(turns(&f, 1), [user("u0"), own("b0"), user("u1")]);
        assert_eq!(turns(&f, 2), [user("u0"), own("b0"), user("u1"), own("b1"), user("u2")]);
        let fourth = [user("u0"), own("b0"), user("u1"), own("b1"), user("u2"), own("b2"), user("u3")];
        assert_eq!(turns(&f, 3), fourth);
    }

    #[tokio::test]
    async fn a_reducer_sees_its_latest_state_before_the_new_values() {
        let f = bot(|user| (user.all(), this().latest())).await;
        assert_eq!(turns(&f, 0), [user("u0")]);
        assert_eq!(turns(&f, 1), [user("u0"), own("b0"), user("u1")]);
        assert_eq!(turns(&f, 2), [user("u0 u1"), own("b1"), user("u2")]);
        assert_eq!(turns(&f, 3), [user("u0 u1 u2"), own("b2"), user("u3")]);
    }

    #[tokio::test]
    async fn a_journal_begins_with_a_constant_and_sees_its_whole_self_history() {
        let f = bot(|user| (user.latest(), this())).await;
        assert_eq!(turns(&f, 0), [user("u0")]);
        assert_eq!(turns(&f, 1), [elided(), own("b0"), user("u1")]);
        assert_eq!(turns(&f, 2), [elided(), own("b0\n\nb1"), user("u2")]);
        assert_eq!(turns(&f, 3), [elided(), own("b0\n\nb1\n\nb2"), user("u3")]);
    }

    #[tokio::test]
    async fn a_map_sees_the_current_step_alone() {
        let f = bot(|user| [user.latest()]).await;
        for step in 0..4 {
            assert_eq!(turns(&f, step), [user(&format!("u{step}"))]);
        }
    }
}

mod windows {
    use super::*;

    #[tokio::test]
    async fn they_are_counted_from_the_current_step() {
        let user = source("user");
        let topics = column("topics", user.latest(), script(["t0", "t1", "t2", "t3"]));
        let mixed = column("mixed", (&user, topics.latest()), script([OPEN; 4]));
        let f = filled([mixed], &["u0", "u1", "u2", "u3"]).await;

        let content = "<user>\nu0\n</user>\n\n<user>\nu1\n</user>\n\n<user>\nu2\n</user>\n\n\
                       <user>\nu3\n</user>\n\n<topics>\nt3\n</topics>";
        assert_eq!(json_of(&f, "mixed", 3), json!([{ "role": "user", "content": content }]));
    }

    #[tokio::test]
    async fn they_may_reach_before_step_0() {
        for (views, reach) in [(3, 3), (4, 4), (usize::MAX, usize::MAX)] {
            let f = bot(|user| (user.window(views), this().window(reach))).await;
            assert_eq!(turns(&f, 0), [user("u0")]);
            assert_eq!(turns(&f, 1), [user("u0"), own("b0"), user("u1")]);
            assert_eq!(turns(&f, 2), [user("u0"), own("b0"), user("u1"), own("b1"), user("u2")]);
        }
    }

    #[tokio::test]
    async fn self_history_ends_with_the_previous_step() {
        let f = bot(|user| (user.all(), this().window(2))).await;
        assert_eq!(turns(&f, 0), [user("u0")]);
        assert_eq!(turns(&f, 2), [user("u0"), own("b0"), user("u1"), own("b1"), user("u2")]);
        assert_eq!(turns(&f, 3), [user("u0 u1"), own("b1"), user("u2"), own("b2"), user("u3")]);
    }

    #[tokio::test]
    async fn of_zero_are_an_error() {
        let user = source("user");
        for views in [vec![user.window(0)], vec![user.all(), this().window(0)]] {
            let mistakes = refused(column("bot", views, script([OPEN])));
            assert!(matches!(&mistakes[..], [SchemaError::EmptyWindow { .. }]), "{mistakes:?}");
        }
    }
}

mod elided {
    use super::*;

    #[tokio::test]
    async fn precedes_a_latest_value_of_the_self_history() {
        let f = bot(|user| (user.latest(), this().latest())).await;
        assert_eq!(turns(&f, 0), [user("u0")]);
        assert_eq!(turns(&f, 1), [elided(), own("b0"), user("u1")]);
        assert_eq!(turns(&f, 3), [elided(), own("b2"), user("u3")]);
    }

    #[tokio::test]
    async fn precedes_a_self_history_that_reaches_further_back_than_every_input() {
        let f = bot(|user| (user.window(2), this().window(2))).await;
        assert_eq!(turns(&f, 1), [user("u0"), own("b0"), user("u1")]);
        assert_eq!(turns(&f, 2), [elided(), own("b0"), user("u1"), own("b1"), user("u2")]);
        assert_eq!(turns(&f, 3), [elided(), own("b1"), user("u2"), own("b2"), user("u3")]);
    }

    #[tokio::test]
    async fn is_absent_if_one_input_reaches_as_far_back() {
        let views = |user: &Column| [user.latest(), user.window(3).named("before"), this().window(2)];
        let f = bot(views).await;
        for step in 0..4 {
            assert_ne!(turns(&f, step)[0], elided(), "step {step}");
        }
        let f = bot(|user| (user.window(2), this().latest())).await;
        assert_eq!(turns(&f, 3), [user("u2"), own("b2"), user("u3")]);
    }

    #[tokio::test]
    async fn is_a_part_without_an_origin() {
        let f = bot(|user| (user.latest(), this())).await;
        let messages = f.messages("bot", 2).unwrap();
        let expected = [
            "user||<elided/>",
            "assistant|bot 0|b0",
            "assistant|bot 1|\n\nb1",
            "user|user 2|<user>\nu2\n</user>",
        ];
        assert_eq!(pieces(&messages), expected);
    }
}

mod values {
    use super::*;

    #[tokio::test]
    async fn empty_ones_are_values_like_any_other() {
        let user_column = source("user");
        let chat = column("bot", (&user_column, this()), script(["", "b1", OPEN]));
        let f = filled([chat], &["", "u1", ""]).await;
        assert_eq!(turns(&f, 0), [user("")]);
        assert_eq!(turns(&f, 1), [user(""), own(""), user("u1")]);
        assert_eq!(json_of(&f, "bot", 0), json!([{ "role": "user", "content": "<user>\n\n</user>" }]));
        assert_eq!(json_of(&f, "bot", 2)[4]["content"], "<user>\n\n</user>");
    }

    #[tokio::test]
    async fn empty_ones_of_the_self_history_stay_in_order_when_they_merge() {
        let user = source("user");
        let journal = column("bot", (user.latest(), this()), script(["", "", OPEN]));
        let f = filled([journal], &["u0", "u1", "u2"]).await;
        assert_eq!(turns(&f, 1)[1], own(""));
        assert_eq!(turns(&f, 2)[1], own("\n\n"));
    }

    #[tokio::test]
    async fn that_spell_a_tag_are_escaped() {
        #[rustfmt::skip]
        let spellings = [
            ("</user>", "&lt;/user>"),
            ("&lt;/user>", "&amp;lt;/user>"),
            ("&amp;lt;/user>", "&amp;amp;lt;/user>"),
            ("<user>", "&lt;user>"), ("<user", "&lt;user"), ("<user/>", "&lt;user/>"),
            ("<USER>, </uSeR>", "&lt;USER>, &lt;/uSeR>"),
            ("< / user >", "&lt; / user >"),
            ("<\t\n\u{b}\u{c}\r /user>", "&lt;\t\n\u{b}\u{c}\r /user>"),
            ("</\u{b}user>", "&lt;/\u{b}user>"), ("&lt;\u{b}user", "&amp;lt;\u{b}user"),
            ("<user-name>", "&lt;user-name>"), ("<user\u{e9}>", "&lt;user\u{e9}>"),
            ("<<user", "<&lt;user"), ("&lt;&lt;user", "&lt;&amp;lt;user"),
            ("&amp;&lt;user", "&amp;&amp;lt;user"),
            ("<elided/>", "&lt;elided/>"), ("</Elided>", "&lt;/Elided>"),
            ("\u{1f980}</user>\u{1f980}", "\u{1f980}&lt;/user>\u{1f980}"),
            ("\n</user>\n\n<user>\n", "\n&lt;/user>\n\n&lt;user>\n"),
        ];
        for (value, shown) in spellings {
            let expected = format!("<user>\n{shown}\n</user>");
            assert_eq!(shown_as(value, Column::latest).await, expected, "{value:?}");
        }
    }

    #[tokio::test]
    async fn that_spell_no_tag_stay_the_same_bytes() {
        #[rustfmt::skip]
        let values = [
            "<users>", "<user_>", "<user9>", "<use>", "<elided_>", "</bot>", "<//user>", "</ /user>",
            "<\u{a0}user>", "<\u{85}user>", "<u\u{17f}er>", "&LT;user>", "&Lt;user>", "&AMP;lt;user>",
            "&amp;user>", "&amp;amp;user>", "&lt user>", "&#60;user>", "lt;user>", "<", "&",
            "<b>bold</b> &lt;b&gt; a < b && c > d", "\r\n\0\u{feff}\u{1f980}",
        ];
        for value in values {
            let expected = format!("<user>\n{value}\n</user>");
            assert_eq!(shown_as(value, Column::latest).await, expected, "{value:?}");
        }
    }

    #[tokio::test]
    async fn are_escaped_for_the_tags_that_the_context_has() {
        let named = |user: &Column| user.latest().named("person");
        let shown = shown_as("<user> <person>", named).await;
        assert_eq!(shown, "<person>\n<user> &lt;person>\n</person>");
    }

    #[tokio::test]
    async fn are_escaped_for_the_tags_of_other_inputs_too() {
        let user = source("user");
        let topics = column("topics", user.latest(), script(["<user> <topics> <subjects>"]));
        let both = column("both", (user.latest(), topics.latest().named("subjects")), script([OPEN]));
        let f = filled([both], &["</subjects> </topics>"]).await;
        let content = "<user>\n&lt;/subjects> </topics>\n</user>\n\n\
                       <subjects>\n&lt;user> <topics> &lt;subjects>\n</subjects>";
        assert_eq!(json_of(&f, "both", 0)[0]["content"], content);
        assert_eq!(json_of(&f, "topics", 0)[0]["content"], "<user>\n</subjects> </topics>\n</user>");
    }

    #[tokio::test]
    async fn of_the_column_itself_are_shown_verbatim() {
        let user_column = source("user");
        let spelt = "</user> &lt;/user> <elided/>";
        let chat = column("bot", (&user_column, this()), script([spelt, OPEN]));
        let f = filled([chat], &["u0", "u1"]).await;
        assert_eq!(turns(&f, 1), [user("u0"), own(spelt), user("u1")]);
    }

    #[tokio::test]
    async fn are_stored_verbatim() {
        let user = source("user");
        let echo =
            column("echo", user.latest(), |cx: Context| async move { cx.input("user").unwrap().to_string() });
        let f = filled([echo], &["</user> &lt;/user>"]).await;
        assert_eq!(f.get("user", 0).as_deref(), Some("</user> &lt;/user>"));
        assert_eq!(f.get("echo", 0).as_deref(), Some("</user> &lt;/user>"));
    }

    /// The message that shows a value of `user`.
    async fn shown_as(value: &str, view: impl Fn(&Column) -> View) -> String {
        let user = source("user");
        let f = filled([column("bot", view(&user), script([OPEN]))], &[value]).await;
        f.messages("bot", 0).unwrap().last_text().into_owned()
    }
}

mod tags {
    use super::*;

    #[tokio::test]
    async fn replace_the_name() {
        let f = bot(|user| (user.latest().named("digest"), this().latest())).await;
        let expected = json!([
          { "role": "user", "content": "<elided/>" },
          { "role": "assistant", "content": "b2" },
          { "role": "user", "content": "<digest>\nu3\n</digest>" }
        ]);
        assert_eq!(json_of(&f, "bot", 3), expected);
    }

    #[tokio::test]
    async fn let_a_context_show_a_column_twice() {
        let f = bot(|user| [user.window(2).named("recent"), user.latest()]).await;
        let content = "<recent>\nu2\n</recent>\n\n<recent>\nu3\n</recent>\n\n<user>\nu3\n</user>";
        assert_eq!(json_of(&f, "bot", 3), json!([{ "role": "user", "content": content }]));
    }

    #[tokio::test]
    async fn that_two_inputs_share_are_an_error() {
        let (user, notes) = (source("user"), source("notes"));
        for views in [[user.all(), user.latest()], [user.all(), notes.named("user")]] {
            let mistakes = refused(column("bot", views, script([OPEN])));
            let is_reported =
                matches!(&mistakes[..], [SchemaError::DuplicateTag { tag, .. }] if *tag == "user");
            assert!(is_reported, "{mistakes:?}");
        }
    }

    #[tokio::test]
    async fn are_an_error_on_the_self_history_which_is_shown_once() {
        let user = source("user");
        let mistakes = refused(column("bot", (&user, this(), this().latest()), script([OPEN])));
        assert!(matches!(&mistakes[..], [SchemaError::SelfTwice { .. }]), "{mistakes:?}");
        let mistakes = refused(column("bot", (&user, this().named("me")), script([OPEN])));
        assert!(matches!(&mistakes[..], [SchemaError::TaggedSelf { .. }]), "{mistakes:?}");
    }
}

mod parts {
    use super::*;

    #[tokio::test]
    async fn know_the_cell_that_they_show() {
        let user = source("user");
        let topics = column("topics", user.latest(), script(["t0", "t1"]));
        let chat = column("bot", (&user, topics.named("subjects"), this()), script(["b0", OPEN]));
        let f = filled([chat], &["u0", "u1"]).await;
        let messages = f.messages("bot", 1).unwrap();
        let expected = [
            "user|user 0|<user>\nu0\n</user>",
            "user|topics 0|\n\n<subjects>\nt0\n</subjects>",
            "assistant|bot 0|b0",
            "user|user 1|<user>\nu1\n</user>",
            "user|topics 1|\n\n<subjects>\nt1\n</subjects>",
        ];
        assert_eq!(pieces(&messages), expected);

        let parts: Vec<Part<'_>> = messages.parts().collect();
        let runs = parts.chunk_by(|a, b| a.role() == b.role());
        let joined: Vec<String> = runs.map(|parts| parts.iter().map(Part::text).collect()).collect();
        let contents: Vec<String> = messages.iter().map(|(_, content)| content.into_owned()).collect();
        assert_eq!(joined, contents);
    }

    #[tokio::test]
    async fn that_were_sent_are_sent_again_as_the_same_bytes() {
        let views: [fn(&Column) -> Vec<View>; 3] = [
            |user| vec![user.all(), this()],
            |user| vec![user.all()],
            |user| vec![user.all(), user.named("again"), this()],
        ];
        for views in views {
            let f = bot(views).await;
            for step in 0..3 {
                let (now, next) = (f.messages("bot", step).unwrap(), f.messages("bot", step + 1).unwrap());
                assert!(next.parts().take(now.parts().count()).eq(now.parts()));
                for ((role, was), (next_role, is)) in now.iter().zip(&next) {
                    assert!(role == next_role && is.starts_with(&*was), "{was:?} became {is:?}");
                }
            }
        }
    }
}

mod errors {
    use super::*;

    #[tokio::test]
    async fn a_missing_value_is_named() {
        let user = source("user");
        let topics = column("topics", user.latest(), script(["t0", "t1"]));
        let chat = column("bot", (&user, this()), script(["b0", "b1"]));
        let deep = column("deep", (topics.window(2), &user), script([OPEN, OPEN]));
        let f = flow([chat, deep]).unwrap();
        f.push("user", "u0").await.unwrap();
        f.push("user", "u1").await.unwrap();

        assert_eq!(missing(&f, "bot", 1), ("bot".into(), 0));
        assert_eq!(missing(&f, "deep", 0), ("topics".into(), 0));
        assert!(f.messages("bot", 0).is_ok(), "it reads nothing that is not there");
        f.run().await.unwrap();
        assert!(f.messages("deep", 1).is_ok());
    }

    #[tokio::test]
    async fn a_gap_in_a_history_is_named() {
        let user = source("user");
        let second = |cx: Context| async move { if cx.step() == 1 { Ok("t1") } else { Err("not this one") } };
        let topics = column("topics", user.latest(), second);
        let both = column("both", (&user, topics.window(2)), script([OPEN, OPEN]));
        let f = flow([both]).unwrap();
        f.push("user", "u0").await.unwrap();
        f.push("user", "u1").await.unwrap();
        f.run().await.expect_err("`topics` fails at step 0");
        assert_eq!(f.get("topics", 1).as_deref(), Some("t1"));
        assert_eq!(missing(&f, "both", 1), ("topics".into(), 0));
    }

    #[tokio::test]
    async fn a_future_step_has_no_messages() {
        let f = bot(|user| (user.all(), this())).await;
        for step in [4, 5, usize::MAX - 1, usize::MAX] {
            assert_eq!(missing(&f, "bot", step).1, step);
            assert_eq!(f.get("bot", step), None);
            assert_eq!(f.get("user", step), None);
        }
    }

    #[tokio::test]
    async fn a_source_has_no_messages_at_any_step() {
        let f = bot(|user| [user.latest()]).await;
        for step in [0, 3, 4, usize::MAX] {
            let error = f.messages("user", step).expect_err("`user` reads nothing");
            let is_reported = matches!(&error, Error::NotDerived { column } if *column == "user");
            assert!(is_reported, "step {step}: {error}");
        }
    }

    #[tokio::test]
    async fn an_unknown_name_is_an_error_with_the_nearest_name() {
        let f = bot(|user| [user.latest()]).await;
        let error = f.messages("usr", 0).expect_err("no such column");
        assert!(matches!(&error, Error::UnknownColumn { name, .. } if name == "usr"));
        assert!(error.to_string().contains("did you mean `user`?"), "{error}");
        let error = f.messages("something_else", 0).expect_err("no such column");
        assert!(error.to_string().contains("`user`, `bot`"), "{error}");
    }

    fn missing(f: &Flow, column: &str, step: usize) -> (String, usize) {
        match f.messages(column, step) {
            Err(Error::Missing { column, step }) => (column.to_string(), step),
            other => panic!("{other:?}"),
        }
    }
}

/// The flow of these columns after these values of `user` and a run.
async fn filled(leaves: impl IntoIterator<Item = Column>, user: &[&str]) -> Flow {
    let f = flow(leaves).unwrap();
    push_all(&f, "user", user.iter().copied()).await.unwrap();
    f.run().await.unwrap();
    f
}

/// Four steps of a column `bot` with the values `b0`, `b1`, ... for `u0`, `u1`, ... of `user`.
async fn bot<V: columnar::IntoViews>(views: impl Fn(&Column) -> V) -> Flow {
    let user = source("user");
    let bot = column("bot", views(&user), script(["b0", "b1", "b2", "b3"]));
    filled([bot], &["u0", "u1", "u2", "u3"]).await
}

fn refused(leaf: Column) -> Vec<SchemaError> {
    match flow([leaf]) {
        Err(Error::Schema(error)) => error.errors().to_vec(),
        other => panic!("{other:?}"),
    }
}

fn json_of(f: &Flow, column: &str, step: usize) -> Json {
    serde_json::to_value(f.messages(column, step).unwrap()).unwrap()
}

/// The messages of `bot`, as [`user`], [`own`] and [`elided`] write them.
fn turns(f: &Flow, step: usize) -> Vec<(Role, String)> {
    f.messages("bot", step).unwrap().iter().map(|(role, content)| (role, content.into_owned())).collect()
}

/// A user message with these values of `user`, separated by a space.
fn user(values: &str) -> (Role, String) {
    let shown: Vec<_> = values.split(' ').map(|value| format!("<user>\n{value}\n</user>")).collect();
    (Role::User, shown.join("\n\n"))
}

fn own(text: &str) -> (Role, String) {
    (Role::Assistant, text.to_owned())
}

fn elided() -> (Role, String) {
    (Role::User, "<elided/>".to_owned())
}

/// The parts: role, cell, text.
fn pieces(messages: &Messages) -> Vec<String> {
    let cell = |part: &Part<'_>| part.origin().map(|cell| format!("{} {}", cell.column, cell.step));
    let piece =
        |part: Part<'_>| format!("{}|{}|{}", part.role(), cell(&part).unwrap_or_default(), part.text());
    messages.parts().map(piece).collect()
}
