//! Flows that extend other flows, used as a program uses them.

#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused)]
#![deny(clippy::all, clippy::pedantic)]

use std::collections::HashMap;

use columnar::flow::Typed;
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::script;
use columnar_tests::live::values;

/// The newest value that the column sees, as it is.
async fn echo(cx: Context) -> String {
    cx.messages().last_text().into_owned()
}

/// The step, as text.
async fn step(cx: Context) -> String {
    cx.step().to_string()
}

fn assert_send<T: Send>(value: T) -> T {
    value
}

mod chat {
    use super::*;

    flow! {
        /// A chat that tracks its topics.
        #[derive(Clone, Debug)]
        pub(crate) struct Chat {
            /// What the person typed.
            source user;
            column topics(user.latest) = step;
        }
    }
}

use chat::{Chat, ChatColumn};

/// A chat with two steps that are computed.
async fn begun() -> Result<Chat> {
    let chat = Chat::new();
    chat.user.push("one").await?;
    chat.user.push("two").await?;
    chat.run().await?;
    Ok(chat)
}

mod a_flow_that_lives {
    use super::*;

    flow! {
        /// The chat, with the mood of its messages.
        #[derive(Clone, Debug)]
        pub(crate) struct Felt: Chat {
            column mood(tone, topics.latest.as("digest"), self.latest) = step;
            /// The tone.
            column tone(user.window(2)) = echo;
        }
    }

    #[tokio::test]
    async fn continues_with_more_columns_that_a_run_computes_from_step_0() -> Result<()> {
        use FeltColumn::{Mood, Tone};

        let chat = begun().await?;
        let felt = assert_send(Felt::extend(chat)).await?;
        assert_eq!((felt.user.len(), felt.topics.len(), felt.tone.len()), (2, 2, 0));
        assert_eq!(felt.progress().done, 2);
        assert_eq!(felt.steps(), 0);

        let computed = values(&felt).await?;
        assert_eq!(computed, [(Tone, 0), (Mood, 0), (Tone, 1), (Mood, 1)]);
        assert_eq!((felt.mood.get(1).as_deref(), felt.steps()), (Some("1"), 2));

        assert_eq!(felt.user.push("three").await?, 2);
        let computed = values(&felt).await?;
        assert_eq!(computed, [(FeltColumn::Chat(ChatColumn::Topics), 2), (Tone, 2), (Mood, 2)]);
        Ok(())
    }

    /// The flows that a program holds.
    struct Forks {
        chat: Chat,
        felt: Felt,
    }

    // It was a `LiveFlow`, which no field of the type `Chat` could hold.
    #[tokio::test]
    async fn has_durable_forks_of_its_own_type() -> Result<()> {
        let chat = begun().await?;
        let felt = Felt::extend(&chat).await?;
        felt.run().await?;
        let (chats, felts) = (MemoryStore::new(), MemoryStore::new());
        let forks = assert_send(async {
            let chat = chat.fork_into(1, chats.clone()).await?;
            Ok::<_, Error>(Forks { chat, felt: felt.fork_into(2, felts).await? })
        });
        let Forks { chat, felt } = forks.await?;
        chat.user.push("three").await?;
        chat.run().await?;
        assert_eq!((chat.steps(), felt.mood.get(1).as_deref()), (2, Some("1")));
        drop(chat);
        assert_eq!(Chat::open(chats).await?.user.get(1).as_deref(), Some("three"));
        Ok(())
    }

    #[tokio::test]
    async fn sees_the_columns_of_both() -> Result<()> {
        let felt = Felt::extend(begun().await?).await?;
        felt.run().await?;
        let text = felt.mood.messages(1)?.to_json();
        assert!(text.contains(r"<digest>\n1\n</digest>"), "{text}");
        assert_eq!(felt.try_get("topics", 1)?, felt.topics.get(1));
        assert_eq!(felt.get(FeltColumn::Chat(ChatColumn::Topics), 1), felt.topics.get(1));
        assert_eq!(felt.get(FeltColumn::Tone, 1), felt.tone.get(1));
        assert_eq!(felt.dependents("topics")?.len(), 1);
        assert_eq!(felt.messages("tone", 1)?.to_json(), felt.tone.messages(1)?.to_json());
        Ok(())
    }

    #[tokio::test]
    async fn also_runs_through_the_handle_of_the_base() -> Result<()> {
        let chat = begun().await?;
        let felt = Felt::extend(&chat).await?;
        let mut run = felt.run();
        assert!(run.try_next().await?.is_some());
        assert!(matches!(chat.run().await, Err(Error::Running)));
        drop(run);

        // A run of the base computes all columns, and emits events of its own columns.
        chat.user.push("three").await?;
        assert_eq!(values(&chat).await?, [(ChatColumn::Topics, 2)]);
        assert_eq!((felt.mood.len(), felt.steps(), chat.steps()), (3, 3, 3));
        assert_eq!(values(&felt).await?, []);
        Ok(())
    }

    #[tokio::test]
    async fn may_be_extended_while_it_runs() -> Result<()> {
        let chat = begun().await?;
        chat.user.push("three").await?;
        let mut run = chat.run();
        let felt = Felt::extend(&chat).await?;
        let mut names = Vec::new();
        while let Some(event) = run.try_next().await? {
            names.push(*event.column());
        }
        assert_eq!(names, [ChatColumn::Topics]);
        assert_eq!(felt.mood.len(), 3);
        Ok(())
    }

    #[tokio::test]
    async fn cannot_be_extended_twice_with_the_same_columns() -> Result<()> {
        let chat = begun().await?;
        let felt = Felt::extend(&chat).await?;
        let error = Felt::extend(&chat).await.expect_err("it has these columns");
        assert_eq!(error.to_string().lines().count(), 2, "{error}");
        felt.run().await?;
        assert_eq!(felt.mood.len(), 2);
        Ok(())
    }

    #[tokio::test]
    async fn continues_with_the_stored_values_of_all_columns() -> Result<()> {
        let store = MemoryStore::new();
        let felt = Felt::extend(Chat::open(store.clone()).await?).await?;
        felt.user.push("one").await?;
        felt.run().await?;
        drop(felt);

        let felt = Felt::extend(Chat::open(store).await?).await?;
        assert_eq!((felt.steps(), felt.mood.get(0).as_deref()), (1, Some("0")));
        assert_eq!(values(&felt).await?, []);
        Ok(())
    }

    #[test]
    fn has_the_constants_of_both() {
        assert_eq!(Felt::ORDER, ["user", "topics", "tone", "mood"]);
        assert_eq!(Felt::GRAPH.names().len(), 4);
        let text = "source user\n\
                    column topics(user.latest)\n\
                    column mood(tone, topics.latest.as(\"digest\"), self.latest)\n\
                    column tone(user.window(2))\n";
        assert_eq!(Felt::GRAPH.to_string(), text);
        let levels = Felt::GRAPH.outline().columns.into_iter().map(|column| column.level);
        assert_eq!(levels.collect::<Vec<_>>(), [0, 1, 2, 1]);
    }

    #[test]
    fn names_the_columns_of_both_in_one_enum() {
        let name = |column: FeltColumn| match column {
            FeltColumn::Chat(ChatColumn::Topics) => "t",
            FeltColumn::Mood => "m",
            FeltColumn::Tone => "o",
        };
        let columns = [FeltColumn::Chat(ChatColumn::Topics), FeltColumn::Mood, FeltColumn::Tone];
        assert_eq!(columns.map(name).concat(), "tmo");
        assert_eq!(columns.map(FeltColumn::name), ["topics", "mood", "tone"]);
        assert_eq!(format!("{:>8}|{}", columns[0], columns[1]), "  topics|mood");
        assert!(columns[0] < columns[1] && HashMap::from([(columns[2], 1)]).contains_key(&FeltColumn::Tone));
    }
}

mod an_extension_of_an_extension {
    use super::*;
    use a_flow_that_lives::FeltColumn;

    flow! {
        /// A column with the name of the extended flow, and one with the name of its field.
        #[derive(Debug)]
        pub(crate) struct Further: a_flow_that_lives::Felt {
            column felt(user, mood.latest, topics.window(2))  = step;
            column base(felt, tone.r#as("felt_before"), self) = echo;
        }
    }

    flow! {
        /// An extension of the chat beside the others.
        #[derive(Debug)]
        pub(crate) struct Beside: Chat {
            column beside(topics.latest, user.latest) = step;
        }
    }

    #[tokio::test]
    async fn reaches_every_column() -> Result<()> {
        let further = Further::extend(a_flow_that_lives::Felt::extend(begun().await?).await?).await?;
        further.user.push("three").await?;
        further.run().await?;
        assert_eq!((further.topics.len(), further.tone.len(), further.felt.len()), (3, 3, 3));
        assert_eq!(further.base.len(), 3);
        assert_eq!(Further::ORDER, ["user", "topics", "tone", "mood", "felt", "base"]);
        let topics = FurtherColumn::Felt(FeltColumn::Chat(ChatColumn::Topics));
        assert_eq!((topics.to_string(), FurtherColumn::Felt_.name()), ("topics".to_owned(), "felt"));
        Ok(())
    }

    /// The columns of an extension were once looked up at the position that its type gives them.
    #[tokio::test]
    async fn finds_its_columns_after_those_of_other_extensions() -> Result<()> {
        let chat = begun().await?;
        let beside = Beside::extend(&chat).await?;
        let felt = a_flow_that_lives::Felt::extend(&chat).await?;
        let further = Further::extend(&felt).await?;
        assert_eq!(values(&beside).await?.len(), 2);

        let names = further.progress().done;
        assert_eq!(names, 2 * 6);
        assert_eq!((beside.beside.get(1).as_deref(), felt.mood.get(1).as_deref()), (Some("1"), Some("1")));
        assert_eq!(further.felt.get(1).as_deref(), Some("1"));
        assert_eq!((further.base.name(), further.try_get("beside", 1)?.as_deref()), ("base", Some("1")));
        let text = further.felt.messages(1)?.to_json();
        assert!(text.contains("<mood>") && text.contains("<topics>") && !text.contains("<beside>"), "{text}");
        assert_eq!(further.tone.get(1), felt.tone.get(1));

        chat.user.push("three").await?;
        let emitted = values(&felt).await?;
        assert_eq!(emitted.len(), 3, "{emitted:?}");
        Ok(())
    }

    /// A fork has all columns, whichever handle it is made from.
    #[tokio::test]
    async fn forks_with_the_columns_of_all() -> Result<()> {
        let chat = begun().await?;
        let beside = Beside::extend(&chat).await?;
        let felt = a_flow_that_lives::Felt::extend(&chat).await?;
        felt.run().await?;
        let (fork, base) = (felt.fork(1)?, chat.fork(1)?);
        fork.user.push("another").await?;
        assert_eq!(values(&fork).await?.len(), 3, "`topics`, `tone` and `mood`");
        assert_eq!((fork.mood.get(1), fork.try_get("beside", 1)?), (Some("1".into()), Some("1".into())));
        assert_eq!((fork.tone.get(0), base.try_get("tone", 0)?), (felt.tone.get(0), felt.tone.get(0)));
        assert_eq!(
            (beside.user.get(1).as_deref(), fork.user.get(1).as_deref()),
            (Some("two"), Some("another"))
        );
        Ok(())
    }
}

mod parameters {
    use columnar_tests::talk::{Voice, spoken};

    use super::*;

    flow! {
        /// A flow with parameters that are named like items of the generated code.
        #[derive(Debug)]
        pub(crate) struct Spoken<C: Voice, const I: usize>(base: C) {
            source user;
            column answer(user.latest) = spoken(base);
        }
    }

    flow! {
        /// An extension that shares all parameters and has one more.
        #[derive(Debug)]
        pub(crate) struct Echoed<Base: Voice, const N: usize, T>(base: Base, extended: T): Spoken<Base, N>
        where
            T: Voice,
        {
            column twice(answer.latest, again.latest) = spoken(extended);
            column again(answer.window(2)) = {
                assert_eq!(N, 3);
                spoken(base)
            };
        }
    }

    flow! {
        /// An extension with parameters that the extended flow does not have.
        #[derive(Debug)]
        pub(crate) struct Fixed<V: Voice>(voice: V): Echoed<String, 3, String> {
            column fixed(user, twice.latest) = spoken(voice);
        }
    }

    #[tokio::test]
    async fn may_be_shared_with_the_base() -> Result<()> {
        let text = |text: &str| text.to_owned();
        let spoken = Spoken::<_, 3>::new(text("a"));
        spoken.user.push("x").await?;
        let echoed = assert_send(Echoed::extend(spoken, text("b"), text("c"))).await?;
        let columns = values(&echoed).await?;
        let name = |column: EchoedColumn<SpokenColumn>| match column {
            EchoedColumn::Spoken(SpokenColumn::Answer) => "answer",
            EchoedColumn::Twice => "twice",
            EchoedColumn::Again => "again",
        };
        assert!(columns.iter().all(|(column, _)| column.name() == name(*column)));
        assert_eq!((echoed.answer.get(0).as_deref(), echoed.twice.get(0).as_deref()), (Some("a"), Some("c")));
        assert_eq!(Echoed::<String, 3, String>::ORDER, ["user", "answer", "again", "twice"]);

        let fixed = Fixed::extend(&echoed, text("d")).await?;
        fixed.run().await?;
        assert_eq!((fixed.fixed.get(0).as_deref(), fixed.again.get(0).as_deref()), (Some("d"), Some("b")));
        assert_eq!(Fixed::<String>::ORDER.len(), 5);
        assert_eq!(FixedColumn::Echoed(EchoedColumn::Again).name(), "again");
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
        /// An extension that borrows for the same lifetime.
        #[derive(Debug)]
        pub(crate) struct LentAgain<'b>(style: &'b str): Lent<'b> {
            column restyled(styled.latest) = {
                let style: &'b str = style;
                move |_: Context| std::future::ready(style.to_owned())
            };
        }
    }

    #[tokio::test]
    async fn may_be_borrowed() -> Result<()> {
        let (one, two) = (String::from("formal"), String::from("plain"));
        let flow = LentAgain::extend(Lent::new(&one), &two).await?;
        flow.user.push("x").await?;
        let columns = values(&flow).await?;
        assert_eq!(columns, [(LentAgainColumn::Lent(LentColumn::Styled), 0), (LentAgainColumn::Restyled, 0)]);
        assert_eq!(flow.restyled.get(0).as_deref(), Some("plain"));
        Ok(())
    }
}

mod another_crate {
    use super::*;
    use columnar_tests::talk::{Talk, TalkColumn};

    flow! {
        /// The answer of a third speaker.
        #[derive(Debug)]
        pub(crate) struct Heard<'a>: Talk<'a> {
            column third(r#type.latest, other, one.latest.as("name")) = step;
        }
    }

    #[tokio::test]
    async fn may_own_the_base() -> Result<()> {
        let answer = String::from("yes");
        let heard = Heard::extend(Talk::new(&answer)).await?;
        heard.one.push("well?").await?;
        let last = values(&heard).await?.pop();
        assert_eq!(last, Some((HeardColumn::Third, 0)));
        assert_eq!(HeardColumn::Talk(TalkColumn::Type).to_string(), "type");
        assert_eq!(
            (heard.r#type.get(0).as_deref(), heard.third.get(0).as_deref()),
            (Some("first"), Some("0"))
        );
        Ok(())
    }
}

mod a_function {
    use super::*;

    flow! {
        /// One more column.
        #[derive(Debug)]
        pub(crate) struct Scored: Chat {
            column score(topics.latest) = script(["1", "2"]);
        }
    }

    fn columns<C, I>(flow: &Typed<'_, C, I>) -> usize {
        flow.outline().columns.len()
    }

    #[tokio::test]
    async fn may_be_passed_to_a_generic_function() -> Result<()> {
        assert_eq!(columns(&Chat::new()), 2);
        let scored: Scored = Scored::extend(begun().await?).await?;
        assert_eq!(columns(&scored), 3);
        let lent: &Typed<'static, ScoredColumns, ScoredColumn> = &scored;
        assert_eq!(lent.user.len(), 2);
        let _: &ScoredBase = &Chat::new();
        Ok(())
    }
}
