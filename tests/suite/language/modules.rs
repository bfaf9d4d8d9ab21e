//! Flows that are parts of other flows, used as a program uses them.

#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused)]
#![deny(clippy::all, clippy::pedantic)]

use std::collections::HashSet;

use columnar::prelude::*;
use columnar::store::{Entry, MemoryStore, Store};
use columnar::{Name, SchemaError};
use columnar_tests::live::values;

/// The inputs of the column: each tag with its newest value.
async fn seen(cx: Context) -> String {
    let inputs: Vec<String> = cx.inputs().map(|(tag, value)| format!("{tag}={}", value.as_str())).collect();
    inputs.join(" ")
}

mod debate {
    use super::*;

    flow! {
        /// Two sides and a synthesis.
        #[derive(Clone, Debug)]
        pub(crate) struct Debate {
            /// The topic.
            source topic;
            column advocate(topic.latest, self)          = seen;
            column critic(topic.latest, advocate.latest) = seen;
            column synthesis(advocate, critic)           = seen;
        }
    }
}

use debate::{Debate, DebateColumn};

flow! {
    /// A chat that has a debate.
    #[derive(Clone, Debug)]
    pub(crate) struct Chat {
        /// What the person typed.
        source user;
        column verdict(debate.critic.latest.as("case"), debate.synthesis.window(2), user.latest) = seen;
        /// The debate about the message.
        use Debate { topic: user } as debate;
    }
}

mod a_flow_with_a_module {
    use super::*;

    #[tokio::test]
    async fn runs_as_one() -> Result<()> {
        use DebateColumn::{Advocate, Critic, Synthesis};

        let chat = Chat::new();
        chat.user.push("rust").await?;
        let emitted = values(&chat).await?;
        let debate = |column| (ChatColumn::Debate(column), 0);
        assert_eq!(emitted, [debate(Advocate), debate(Critic), debate(Synthesis), (ChatColumn::Verdict, 0)]);
        assert_eq!(chat.debate.advocate.get(0).as_deref(), Some("topic=rust"));
        let case = "topic=rust advocate=topic=rust";
        assert_eq!(chat.debate.critic.get(0).as_deref(), Some(case));
        let synthesis = format!("advocate=topic=rust critic={case}");
        let verdict = format!("case={case} synthesis={synthesis} user=rust");
        assert_eq!(chat.verdict.get(0).as_deref(), Some(&*verdict));
        Ok(())
    }

    #[tokio::test]
    async fn renders_the_inputs_of_the_module_under_its_own_names() -> Result<()> {
        let chat = Chat::new();
        chat.user.push("rust").await?;
        chat.user.push("go").await?;
        chat.run().await?;
        let json =
            r#"[{"role":"user","content":"<topic>\ngo\n</topic>\n\n<advocate>\ntopic=go\n</advocate>"}]"#;
        assert_eq!(chat.debate.critic.messages(1)?.to_json(), json);
        assert_eq!(chat.messages("debate.critic", 1)?.to_json(), json);
        assert_eq!(chat.try_get("debate.critic", 1)?, chat.debate.critic.get(1));
        Ok(())
    }

    #[tokio::test]
    async fn has_the_columns_of_the_module() -> Result<()> {
        let chat = Chat::new();
        assert_eq!((chat.debate.critic.name(), chat.debate.topic.name()), ("debate.critic", "user"));
        // An input is the column that it is bound to.
        assert_eq!(chat.debate.topic.push("rust").await?, 0);
        assert_eq!((chat.user.len(), chat.forecast().cells, chat.steps()), (1, 4, 0));
        assert_eq!(chat.progress().done, 0);
        chat.run().await?;
        assert_eq!((chat.debate.synthesis.len(), chat.steps()), (1, 1));
        let dependents = chat.dependents("debate.critic")?;
        assert_eq!(dependents, ["debate.synthesis", "verdict"]);
        let error = chat.messages("debate.critc", 0).expect_err("there is none");
        assert!(error.to_string().contains("`debate.critic`"), "{error}");
        Ok(())
    }

    #[tokio::test]
    async fn continues_with_the_stored_values() -> Result<()> {
        let store = MemoryStore::new();
        let chat = Chat::open(store.clone()).await?;
        chat.user.push("rust").await?;
        chat.run().await?;
        drop(chat);

        let reader = store.clone();
        reader.open().await.expect("the store is free");
        let stored = |name: &str| reader.load(Name::new(name).expect("a name"), 0..usize::MAX);
        assert_eq!(stored("debate.critic").await.expect("it can be read").len(), 1);
        assert_eq!(stored("debate.topic").await.expect("it can be read"), Vec::<(usize, Entry)>::new());
        drop(reader);
        let chat = Chat::open(store.clone()).await?;
        assert_eq!(values(&chat).await?, []);
        assert_eq!((chat.steps(), chat.debate.critic.len()), (1, 1));
        Ok(())
    }

    #[tokio::test]
    async fn forks_with_its_modules() -> Result<()> {
        let chat = Chat::new();
        chat.user.push("rust").await?;
        chat.user.push("go").await?;
        chat.run().await?;
        let fork = chat.fork(1)?;
        fork.user.push("zig").await?;
        assert_eq!(values(&fork).await?.len(), 4);
        assert_eq!(fork.debate.critic.get(0), chat.debate.critic.get(0));
        assert_eq!(fork.debate.advocate.get(1).as_deref(), Some("topic=zig"));
        assert_eq!(chat.debate.advocate.get(1).as_deref(), Some("topic=go"));
        Ok(())
    }

    #[test]
    fn names_all_columns_in_one_enum() {
        let columns = [ChatColumn::Verdict, ChatColumn::Debate(DebateColumn::Critic)];
        let name = |column| match column {
            ChatColumn::Verdict => "v",
            ChatColumn::Debate(DebateColumn::Advocate) => "a",
            ChatColumn::Debate(DebateColumn::Critic) => "c",
            ChatColumn::Debate(DebateColumn::Synthesis) => "s",
        };
        assert_eq!(columns.map(name), ["v", "c"]);
        assert_eq!(columns.map(ChatColumn::name), ["verdict", "debate.critic"]);
        assert_eq!(format!("{:>14}|{}", columns[1], columns[0]), " debate.critic|verdict");
        assert!(columns[0] < columns[1] && HashSet::from(columns).len() == 2);
    }

    #[test]
    fn has_all_columns_in_its_constants() {
        assert_eq!(Chat::ORDER, ["user", "debate.advocate", "debate.critic", "debate.synthesis", "verdict"]);
        let text = "source user\n\
            column verdict(debate.critic.latest.as(\"case\"), debate.synthesis.window(2), user.latest)\n\
            column debate.advocate(user.latest.as(\"topic\"), self)\n\
            column debate.critic(user.latest.as(\"topic\"), debate.advocate.latest)\n\
            column debate.synthesis(debate.advocate, debate.critic)\n";
        assert_eq!(Chat::GRAPH.to_string(), text);
        let names: Vec<Name> = Chat::GRAPH.names().collect();
        assert_eq!(names, ["user", "verdict", "debate.advocate", "debate.critic", "debate.synthesis"]);
        let outline = Chat::GRAPH.outline();
        assert_eq!(outline.columns.iter().map(|column| column.level).collect::<Vec<_>>(), [0, 4, 1, 2, 3]);
        assert!(
            outline.mermaid().contains("    user -->|\"latest\"| debate.critic\n"),
            "{}",
            outline.mermaid()
        );
    }
}

mod modules_of_a_flow {
    use super::*;

    flow! {
        /// Two debates, one about the other, in a flow that is declared in reverse order.
        #[derive(Debug)]
        pub(crate) struct Twice {
            column last(second.synthesis.latest, first.synthesis.latest.as("first"), self) = seen;
            use Debate { topic: first.critic } as second;
            use Debate { topic: question } as first;
            column question(user.latest) = seen;
            source user;
        }
    }

    #[tokio::test]
    async fn may_be_the_same_twice() -> Result<()> {
        let flow = Twice::new();
        flow.user.push("x").await?;
        flow.run().await?;
        let topic = flow.first.critic.get(0).expect("it was computed");
        assert_eq!(flow.second.advocate.get(0).as_deref(), Some(&*format!("topic={}", topic.as_str())));
        assert_eq!(flow.second.topic.name(), "first.critic");
        assert_eq!(flow.second.topic.get(0), Some(topic));
        assert_eq!(flow.last.messages(0)?.to_json(), flow.messages("last", 0)?.to_json());
        assert_eq!(Twice::ORDER.first(), Some(&"user"));
        assert_eq!(Twice::ORDER.last(), Some(&"last"));
        assert_eq!(TwiceColumn::Second(DebateColumn::Critic).to_string(), "second.critic");
        Ok(())
    }

    #[tokio::test]
    async fn reject_a_push_into_a_computed_column() -> Result<()> {
        let flow = Twice::new();
        let error = flow.first.topic.push("x").await.expect_err("it is computed");
        assert!(matches!(error, Error::NotASource { .. }), "{error}");
        Ok(())
    }

    flow! {
        /// A flow with modules that have modules.
        #[derive(Debug)]
        pub(crate) struct Nested {
            source message;
            use Chat { user: message } as chat;
            use Twice { user: chat.debate.critic } as twice;
            column end(chat.debate.synthesis.latest, twice.first.critic.latest, twice.last.latest.as("end")) =
                seen;
        }
    }

    #[tokio::test]
    async fn may_have_modules() -> Result<()> {
        let store = MemoryStore::new();
        let flow = Nested::open(store.clone()).await?;
        flow.message.push("x").await?;
        let emitted = values(&flow).await?;
        assert_eq!(emitted.len(), Nested::ORDER.len() - 1);
        assert!(emitted.contains(&(NestedColumn::Chat(ChatColumn::Debate(DebateColumn::Critic)), 0)));
        let column = NestedColumn::Twice(TwiceColumn::First(DebateColumn::Critic));
        assert_eq!(
            (column.name(), flow.twice.first.critic.name()),
            ("twice.first.critic", "twice.first.critic")
        );
        assert_eq!(flow.chat.debate.topic.name(), "message");
        assert_eq!(flow.twice.user.get(0), flow.chat.debate.critic.get(0));
        let case = flow.end.messages(0)?.to_json();
        assert!(
            case.contains("<synthesis>") && case.contains("<critic>") && case.contains("<end>"),
            "{case}"
        );
        drop(flow);
        let flow = Nested::open(store).await?;
        assert_eq!((values(&flow).await?, flow.steps()), (Vec::new(), 1));
        Ok(())
    }

    flow! {
        /// A module whose columns do not depend on each other.
        #[derive(Debug)]
        pub(crate) struct Sides {
            source left;
            source right;
            column of_left(left.latest)   = seen;
            column of_right(right.latest) = seen;
        }
    }

    flow! {
        /// A column that is an input of the module and reads a column of it that does not depend on that input.
        #[derive(Debug)]
        pub(crate) struct Winding {
            source user;
            use Sides { left: user, right: between } as sides;
            column between(sides.of_left.latest) = seen;
            column end(sides.of_right.latest)    = seen;
        }
    }

    flow! {
        /// A module whose input is its own previous value.
        #[derive(Debug)]
        pub(crate) struct Looped {
            source user;
            column question(group("round", user.latest, debate.critic.prev.as("before")), self.latest) = seen;
            use Debate { topic: question } as debate;
            column end(debate.advocate.latest.note("for it"), debate.critic.sample(|step| step > 0)) = seen;
        }
    }

    #[tokio::test]
    async fn may_read_their_previous_values() -> Result<()> {
        let flow = Looped::new();
        flow.user.push("x").await?;
        flow.user.push("y").await?;
        flow.run().await?;
        assert_eq!(flow.question.get(0).as_deref(), Some("user=x"));
        let before = flow.debate.critic.get(0).expect("it was computed");
        assert_eq!(flow.question.get(1).as_deref(), Some(&*format!("user=y before={}", before.as_str())));
        let text = Looped::GRAPH.to_string();
        assert!(text.contains("group(\"round\", user.latest, debate.critic.prev.as(\"before\"))"), "{text}");
        assert!(text.contains("debate.advocate.latest.note(\"for it\")"), "{text}");
        assert!(!flow.end.messages(0)?.to_json().contains("<critic>"));
        Ok(())
    }

    #[tokio::test]
    async fn may_feed_each_other_through_outer_columns() -> Result<()> {
        assert_eq!(Winding::ORDER, ["user", "sides.of_left", "between", "sides.of_right", "end"]);
        let flow = Winding::new();
        flow.user.push("x").await?;
        flow.run().await?;
        assert_eq!(flow.end.get(0).as_deref(), Some("of_right=right=of_left=left=x"));
        Ok(())
    }
}

mod parameters {
    use columnar_tests::talk::{Voice, spoken};

    use super::*;

    flow! {
        /// A flow with parameters.
        #[derive(Debug)]
        pub(crate) struct Spoken<V: Voice, const N: usize>(voice: V, times: usize) {
            source message;
            column answer(message.latest) = {
                assert_eq!((N, *times), (3, 7));
                spoken(voice)
            };
        }
    }

    flow! {
        /// A flow that shares them with one module, and has another module that fixes them.
        #[derive(Debug)]
        pub(crate) struct Held<Base: Voice, const I: usize>(voice: Base) {
            source user;
            use Spoken<Base, I>(voice.clone(), 7) { message: user } as base;
            use Spoken<String, 3>("fixed".to_owned(), 3 + 4) { message: base.answer } as fixed;
            column end(base.answer.latest, fixed.answer.latest.as("fixed")) = seen;
        }
    }

    #[tokio::test]
    async fn are_passed_to_modules() -> Result<()> {
        let flow = Held::<_, 3>::new("a".to_owned());
        flow.user.push("x").await?;
        let emitted = values(&flow).await?;
        let name = |column: HeldColumn<SpokenColumn>| match column {
            HeldColumn::End => "end",
            HeldColumn::Base_(SpokenColumn::Answer) => "base.answer",
            HeldColumn::Fixed(SpokenColumn::Answer) => "fixed.answer",
        };
        assert!(emitted.iter().all(|(column, _)| column.name() == name(*column)), "{emitted:?}");
        assert_eq!(flow.end.get(0).as_deref(), Some("answer=a fixed=fixed"));
        assert_eq!(Held::<String, 3>::ORDER, ["user", "base.answer", "fixed.answer", "end"]);
        Ok(())
    }

    flow! {
        /// A flow that borrows.
        #[derive(Debug)]
        pub(crate) struct Lent<'a>(style: &'a str) {
            source user;
            column styled(user.latest) = {
                let style: &'a str = style;
                move |_: Context| std::future::ready(style.to_owned())
            };
        }
    }

    flow! {
        /// A flow that borrows for the same lifetime, with a module that does not borrow.
        #[derive(Debug)]
        pub(crate) struct LentAgain<'b>(style: &'b str) {
            source user;
            use Lent<'b>(style) { user } as lent;
            use Debate { topic: lent.styled } as debate;
            column end(debate.advocate.latest) = seen;
        }
    }

    #[tokio::test]
    async fn may_be_borrowed() -> Result<()> {
        let style = String::from("plain");
        let flow = LentAgain::new(&style);
        flow.user.push("x").await?;
        flow.run().await?;
        assert_eq!(flow.end.get(0).as_deref(), Some("advocate=topic=plain"));
        assert_eq!(flow.lent.user.name(), "user");
        Ok(())
    }
}

mod the_inline_form {
    use columnar_tests::talk::Voice;

    use super::parameters::Spoken;
    use super::*;

    #[tokio::test]
    async fn has_modules() -> Result<()> {
        let chat = flow! {
            source user;
            use Debate { topic: user } as debate;
            use Chat { user: debate.critic } as chat;
            column end(debate.critic.latest, chat.debate.critic.latest.as("other"), self.latest) = seen;
        };
        chat.user.push("x").await?;
        let events: Vec<_> = chat.run().try_collect().await?;
        let names: HashSet<&str> = events.iter().map(|event| event.column().as_str()).collect();
        assert!(names.contains("chat.debate.critic") && names.contains("end"), "{events:?}");
        assert_eq!(
            (chat.chat.user.name(), chat.chat.debate.topic.name()),
            ("debate.critic", "debate.critic")
        );
        Ok(())
    }

    async fn spoken<V: Voice>(
        voice: V,
        times: &str,
    ) -> std::result::Result<String, Box<dyn std::error::Error>> {
        let flow = flow! {
            source user;
            use Spoken<V, 3>(voice.clone(), times.parse()?) { message: user } as spoken;
            column end(spoken.answer.latest, user.latest) = seen;
        };
        flow.user.push("x").await?;
        flow.run().await?;
        Ok(flow.end.get(0).map(|value| value.as_str().to_owned()).unwrap_or_default())
    }

    #[tokio::test]
    async fn passes_variables_in_scope_to_them() {
        assert_eq!(spoken("a".to_owned(), "7").await.expect("a number"), "answer=a user=x");
        assert!(spoken("a".to_owned(), "seven").await.is_err());
    }
}

mod an_extension {
    use super::*;

    flow! {
        /// More columns for a flow that has a module, and another module.
        #[derive(Debug)]
        pub(crate) struct Felt: Chat {
            column mood(debate.critic.latest, user.latest, after.critic.latest.as("after"), self) = seen;
            use Debate { topic: debate.synthesis } as after;
            use Debate { topic: mood } as last;
        }
    }

    flow! {
        /// Another extension of the chat.
        #[derive(Debug)]
        pub(crate) struct Beside: Chat {
            column beside(debate.advocate.latest, verdict.latest) = seen;
        }
    }

    flow! {
        /// The extension of an extension.
        #[derive(Debug)]
        pub(crate) struct Further: Felt {
            column further(last.critic.latest, debate.critic.latest.as("before")) = seen;
        }
    }

    #[tokio::test]
    async fn may_be_of_a_flow_with_modules_and_have_some() -> Result<()> {
        let chat = Chat::new();
        chat.user.push("x").await?;
        chat.run().await?;
        let beside = Beside::extend(&chat).await?;
        let felt = Felt::extend(&chat).await?;
        let emitted = values(&felt).await?;
        let mood = format!(
            "critic={} user=x after={}",
            chat.debate.critic.get(0).expect("it was computed").as_str(),
            felt.after.critic.get(0).expect("it was computed").as_str()
        );
        assert_eq!(felt.mood.get(0).as_deref(), Some(&*mood));
        assert!(emitted.contains(&(FeltColumn::Last(DebateColumn::Synthesis), 0)), "{emitted:?}");
        assert_eq!(beside.beside.len(), 1);
        assert_eq!((felt.last.topic.name(), felt.debate.topic.name()), ("mood", "user"));

        let further = Further::extend(&felt).await?;
        let emitted = values(&further).await?;
        assert_eq!(emitted, [(FurtherColumn::Further, 0)]);
        let column = FurtherColumn::Felt(FeltColumn::Chat(ChatColumn::Debate(DebateColumn::Critic)));
        assert_eq!((column.name(), further.last.critic.name()), ("debate.critic", "last.critic"));
        let order = Further::ORDER.join(" ");
        assert!(
            order.starts_with("user debate.advocate") && order.ends_with("last.synthesis further"),
            "{order}"
        );
        Ok(())
    }
}

mod another_crate {
    use super::*;
    use columnar_tests::talk::{Panel, PanelColumn, Talk, TalkColumn};

    flow! {
        /// A conversation with modules of another crate.
        #[derive(Debug)]
        pub(crate) struct Heard<'a>(answer: &'a str) {
            source user;
            use Talk<'a>(answer) { one: user } as talk;
            column third(talk.r#type.latest, talk.other.latest, panel.talk.other.latest.as("panel")) = seen;
            use Panel<'a>(answer) { asked: talk.other } as panel;
        }
    }

    #[tokio::test]
    async fn may_own_the_module() -> Result<()> {
        let answer = String::from("yes");
        let heard = Heard::new(&answer);
        heard.user.push("well?").await?;
        heard.run().await?;
        assert_eq!(heard.third.get(0).as_deref(), Some("type=first other=yes panel=yes"));
        let column = HeardColumn::Panel(PanelColumn::Talk(TalkColumn::Other));
        assert_eq!(column.name(), "panel.talk.other");
        assert_eq!(HeardColumn::Talk(TalkColumn::Type).name(), "talk.type");
        Ok(())
    }
}

mod at_run_time {
    use super::*;

    /// A debate as a function of columns.
    fn debate(name: &str, topic: &Column) -> Column {
        let topic = topic.named("topic").latest();
        let advocate = column(format!("{name}.advocate"), (&topic, this()), seen);
        column(format!("{name}.critic"), (&topic, advocate.latest()), seen)
    }

    #[tokio::test]
    async fn a_prefix_gives_the_names_and_messages_of_the_macro() -> Result<()> {
        let user = source("user");
        let critic = debate("debate", &user);
        let verdict = column("verdict", (critic.latest(), user.latest()), seen);
        let f = flow([verdict])?;
        f.push("user", "x").await?;
        f.run().await?;
        assert_eq!(f.order(), ["user", "debate.advocate", "debate.critic", "verdict"]);
        let chat = Chat::new();
        chat.user.push("x").await?;
        chat.run().await?;
        let json = chat.messages("debate.critic", 0)?.to_json();
        assert_eq!(f.messages("debate.critic", 0)?.to_json(), json);
        assert_eq!(f.get("verdict", 0).as_deref(), Some("critic=topic=x advocate=topic=x user=x"));
        Ok(())
    }

    #[tokio::test]
    async fn a_column_and_a_module_have_two_names() -> Result<()> {
        let user = source("user");
        let critic = debate("debate", &user);
        let errors = |error: Error| match error {
            Error::Schema(error) => error.errors().to_vec(),
            other => panic!("{other}"),
        };
        let name = |name: &str| Name::new(name).expect("a name");
        let clash = |of: &str| SchemaError::NameOfModule { name: name("debate"), of: name(of) };
        let whole = column("debate", critic.latest(), seen);
        let mistakes = errors(flow([&whole]).expect_err("`debate` is a module"));
        assert_eq!(mistakes, [clash("debate.advocate"), clash("debate.critic")]);

        let f = flow([&critic])?;
        let mistakes = errors(f.add_column(whole).await.expect_err("`debate` is a module"));
        assert_eq!(mistakes, [clash("debate.advocate"), clash("debate.critic")]);
        Ok(())
    }

    #[test]
    fn a_tag_has_no_dots() {
        let user = source("user");
        let error = flow([column("topics", user.named("a.b"), seen)]).expect_err("a tag of two parts");
        assert!(error.to_string().contains("`a.b`"), "{error}");
    }
}
