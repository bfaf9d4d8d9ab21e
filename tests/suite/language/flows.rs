//! Flows that `flow!` declares, used as a program uses them.

#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused, unused_qualifications)]
#![deny(clippy::all, clippy::pedantic)]

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::script;
use columnar::{BoxError, Compute, Reply};
use futures::stream;

/// The latest value of `user`, in capitals.
async fn capitals(cx: Context) -> String {
    cx.messages().last_text().to_uppercase()
}

/// The newest value that the column sees, as it is.
async fn echo(cx: Context) -> String {
    cx.messages().last_text().into_owned()
}

fn assert_send<T: Send>(_: &T) {}

/// A flow that other crates see.
pub mod a_public_flow {
    use super::*;

    flow! {
        /// A chat, with its documentation.
        #[derive(Clone, Debug)]
        #[must_use]
        pub struct Chat {
            /// What the person typed.
            source user;
            column topics(user.latest) = capitals;
            /// The answer.
            column assistant(user, topics.latest.as("subjects"), self) = script(["one", "two"]);
        }
    }

    #[tokio::test]
    async fn is_a_struct_with_a_field_for_each_column() -> Result<()> {
        let chat = Chat::new();
        assert_eq!(chat.user.push("hello").await?, 0);
        chat.run().await?;
        assert_eq!(chat.topics.get(0).as_deref(), Some("<USER>\nHELLO\n</USER>"));
        assert_eq!(chat.assistant.get(0).as_deref(), Some("one"));
        assert_eq!((chat.user.len(), chat.topics.name(), chat.steps()), (1, "topics", 1));
        Ok(())
    }

    #[tokio::test]
    async fn takes_attributes_and_its_clones_are_the_same_flow() -> Result<()> {
        let chat = Chat::default();
        chat.clone().user.push("hello").await?;
        chat.run().await?;
        assert_eq!(chat.clone().assistant.len(), 1);
        assert!(format!("{chat:?}").starts_with("Chat"));
        Ok(())
    }

    #[tokio::test]
    async fn continues_with_the_stored_values() -> Result<()> {
        let store = MemoryStore::new();
        let chat = Chat::open(store.clone()).await?;
        chat.user.push("hello").await?;
        chat.run().await?;
        drop(chat);

        let chat = Chat::open(store).await?;
        assert_eq!(chat.assistant.get(0).as_deref(), Some("one"));
        chat.user.push("again").await?;
        chat.run().await?;
        assert_eq!(chat.assistant.get(1).as_deref(), Some("two"));
        Ok(())
    }

    #[test]
    fn prints_its_graph_as_it_was_declared() {
        let text = "source user\n\
                    column topics(user.latest)\n\
                    column assistant(user, topics.latest.as(\"subjects\"), self)\n";
        assert_eq!(Chat::GRAPH.to_string(), text);
    }

    #[tokio::test]
    async fn names_its_columns_in_events_by_an_enum() -> Result<()> {
        let chat = Chat::new();
        chat.user.push("hello").await?;
        let events: Vec<Event<ChatColumn>> = chat.run().try_collect().await?;
        let names = events.iter().map(|event| match event.column() {
            ChatColumn::Topics => "t",
            ChatColumn::Assistant => "a",
        });
        assert_eq!(names.collect::<String>(), "ta");
        assert_eq!(ChatColumn::Topics.to_string(), "topics");
        assert_eq!(format!("{:>10}", ChatColumn::Topics), "    topics");
        assert_eq!(ChatColumn::Assistant.name(), "assistant");
        assert!(HashMap::from([(ChatColumn::Topics, 1)]).contains_key(&ChatColumn::Topics));
        assert!(ChatColumn::Topics < ChatColumn::Assistant);
        assert_eq!(const { ChatColumn::Topics.name() }, "topics");
        Ok(())
    }

    flow! {
        struct Between {
            column running_summary(user) = echo;
            source user;
            source other;
            column r2_d2(other.latest, running_summary) = echo;
            source last;
            column r#type(last) = echo;
        }
    }

    #[tokio::test]
    async fn names_columns_that_are_declared_between_sources() -> Result<()> {
        let flow = Between::new();
        flow.user.push("x").await?;
        flow.other.push("y").await?;
        flow.last.push("z").await?;
        let events: Vec<Event<BetweenColumn>> = flow.run().try_collect().await?;
        let mut columns: Vec<BetweenColumn> = events.iter().map(|event| *event.column()).collect();
        columns.sort();
        columns.dedup();
        assert_eq!(columns, [BetweenColumn::RunningSummary, BetweenColumn::R2D2, BetweenColumn::Type]);
        let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
        assert_eq!(names, ["running_summary", "r2_d2", "type"]);
        // As a derived `Debug` prints them.
        assert_eq!(format!("{columns:?}"), "[RunningSummary, R2D2, Type]");
        assert_eq!(flow.r#type.get(0).as_deref(), Some("<last>\nz\n</last>"));
        Ok(())
    }
}

mod order {
    use super::*;

    flow! {
        /// A flow that is declared in reverse order.
        #[derive(Debug)]
        pub(crate) struct Backwards {
            column last(middle, first.latest) = echo;
            column middle(first)              = echo;
            column beside(second)             = echo;
            column first(user)                = echo;
            source second;
            source user;
        }
    }

    #[tokio::test]
    async fn is_topological_with_ties_in_declaration_order() -> Result<()> {
        assert_eq!(Backwards::ORDER, ["second", "beside", "user", "first", "middle", "last"]);
        let flow = Backwards::new();
        assert_eq!(flow.user.push("x").await?, 0);
        assert_eq!(flow.missing().len(), 1);
        flow.second.push("y").await?;
        flow.run().await?;
        assert_eq!((flow.steps(), flow.last.len()), (1, 1));
        Ok(())
    }
}

/// Private flows with unused items, without a warning.
mod a_private_flow {
    use super::*;

    flow! {
        struct Unused {
            source user;
            column topics(user) = echo;
        }
    }

    flow! {
        struct OnlySources {
            source user;
            source other;
        }
    }

    #[test]
    fn needs_no_use() {
        let _ = Unused::new();
        assert_eq!(OnlySources::ORDER, ["user", "other"]);
    }
}

mod parameters {
    use super::*;

    /// A trait of the user's types.
    pub(crate) trait Voice: Clone + Send + Sync {
        fn speak(&self, text: &str) -> String;
    }

    #[derive(Clone)]
    pub(crate) struct Loud(pub(crate) String);

    impl Voice for Loud {
        fn speak(&self, text: &str) -> String {
            format!("{}{text}", self.0)
        }
    }

    flow! {
        /// A flow with all kinds of parameters.
        #[derive(Clone, Debug)]
        pub(crate) struct Generic<V: Voice, const N: usize = 2, T = u8>(voice: V, times: T, suffix: String)
        where
            T: Copy + Into<u32> + Send + Sync,
        {
            source user;
            column spoken(user.latest) = {
                let (voice, suffix) = (voice.clone(), suffix.clone());
                move |cx: Context| {
                    let text = voice.speak(&cx.messages().last_text()) + &suffix;
                    async move { text }
                }
            };
            column repeated(user.latest) = {
                let times: u32 = (*times).into();
                move |_: Context| async move { format!("{N} {times}") }
            };
            column voice_again(spoken) = {
                let voice = voice.clone();
                move |cx: Context| std::future::ready(voice.speak(&cx.messages().last_text()))
            };
        }
    }

    #[tokio::test]
    async fn reach_every_compute_step_by_reference() -> Result<()> {
        let flow = Generic::<_, 7, u8>::new(Loud("!".to_owned()), 3, "?".to_owned());
        flow.user.push("hi").await?;
        flow.run().await?;
        assert_eq!(flow.spoken.get(0).as_deref(), Some("!<user>\nhi\n</user>?"));
        assert_eq!(flow.repeated.get(0).as_deref(), Some("7 3"));
        assert_eq!(Generic::<Loud>::ORDER[0], "user");
        assert_eq!(Generic::<Loud>::GRAPH.names().len(), 4);
        assert_send(&flow);
        assert_send(&flow.run());
        Ok(())
    }

    #[tokio::test]
    async fn are_passed_after_the_store() -> Result<()> {
        let future = Generic::<_, 7, u8>::open(MemoryStore::new(), Loud("!".to_owned()), 3, String::new());
        assert_send(&future);
        assert_eq!(future.await?.steps(), 0);
        Ok(())
    }

    flow! {
        /// A flow that borrows.
        #[derive(Debug)]
        pub(crate) struct Chat<'a>(style: &'a str) {
            source user;
            column styled(user.latest) = {
                let style: &'a str = style;
                move |_: Context| async move { style.to_owned() }
            };
        }
    }

    #[tokio::test]
    async fn may_be_borrowed() -> Result<()> {
        let style = String::from("formal");
        let chat = Chat::new(&style);
        chat.user.push("x").await?;
        chat.run().await?;
        assert_eq!(chat.styled.get(0).as_deref(), Some("formal"));
        let chat = Chat::open(MemoryStore::new(), &style).await?;
        assert_eq!(chat.steps(), 0);
        assert_send(&chat);
        Ok(())
    }

    flow! {
        /// Parameters that are named like items of the generated code, and `impl Trait`.
        #[derive(Debug)]
        pub(crate) struct Names(
            store: String,
            steps: usize,
            flow: impl Fn() -> String,
            column: String,
            views: u8,
            f: char,
        ) {
            source user;
            column all(user) = {
                let text = format!("{store} {steps} {} {column} {views} {f}", flow());
                move |_: Context| std::future::ready(text.clone())
            };
        }
    }

    #[tokio::test]
    async fn may_have_any_name() -> Result<()> {
        let make = || "flow".to_owned();
        let store = MemoryStore::new();
        let flow = Names::open(store, "store".to_owned(), 1, make, "column".to_owned(), 2, 'f').await?;
        flow.user.push("x").await?;
        flow.run().await?;
        assert_eq!(flow.all.get(0).as_deref(), Some("store 1 flow column 2 f"));
        let _ = Names::new(String::new(), 1, make, String::new(), 2, 'f');
        Ok(())
    }
}

mod inline {
    use super::*;

    /// A step that borrows once forced its lifetime on `prompt` as well, which did not compile.
    #[tokio::test]
    async fn one_compute_step_borrows_and_others_do_not() -> Result<()> {
        let owned = String::from("loud");
        let style = owned.as_str();
        let chat = flow! {
            source user;
            column scripted(user.latest)     = script(["a"]);
            column borrowed(scripted.latest) = |cx: Context| async move { format!("{style} {}", cx.step()) };
            column prompted(borrowed)        = prompt("List the topics.");
        };
        chat.user.push("x").await?;
        chat.run().await?;
        assert_eq!(chat.borrowed.get(0).as_deref(), Some("loud 0"));
        Ok(())
    }

    #[tokio::test]
    async fn compute_steps_capture_by_reference_and_by_move() -> Result<()> {
        let lent = String::from("lent");
        let text = String::from("moved");
        let chat = flow! {
            source user;
            column by_reference(user) = |_: Context| async { lent.clone() };
            column by_move(user)      = move |_: Context| std::future::ready(text.clone());
        };
        chat.user.push("x").await?;
        chat.run().await?;
        assert_eq!(chat.by_reference.get(0).as_deref(), Some("lent"));
        assert_eq!(chat.by_move.get(0).as_deref(), Some("moved"));
        assert_send(&chat);
        assert_send(&chat.run());
        drop(chat);
        drop(lent);
        Ok(())
    }

    fn number(text: &str) -> std::result::Result<usize, BoxError> {
        let chat = flow! {
            source user;
            column number(user) = {
                let number: usize = text.parse()?;
                move |_: Context| async move { number.to_string() }
            };
        };
        Ok(chat.number.name().len() + chat.steps())
    }

    #[test]
    fn a_question_mark_in_a_compute_step_returns_from_the_function() {
        assert_eq!(number("3").unwrap(), "number".len());
        assert!(number("three").is_err());
    }

    async fn last<T: fmt::Display + Sync, I: IntoIterator<Item = T>>(items: I) -> Result<String> {
        let mut last = String::new();
        for item in items {
            let chat = flow! {
                source user;
                column shown(user) = |_: Context| async { item.to_string() };
            };
            chat.user.push("x").await?;
            chat.run().await?;
            last = chat.shown.get(0).map_or_else(String::new, |value| value.to_string());
        }
        Ok(last)
    }

    #[tokio::test]
    async fn flows_may_be_declared_in_a_generic_function_and_in_a_loop() -> Result<()> {
        assert_eq!(last([1, 2, 3]).await?, "3");
        assert_eq!(last(["a", "b"]).await?, "b");
        Ok(())
    }

    #[tokio::test]
    async fn two_flows_in_one_function_share_nothing() -> Result<()> {
        let one = flow! {
            source user;
            column shout(user.latest) = capitals;
        };
        let two = flow! {
            source user;
            column shout(user)  = echo;
            column again(shout) = echo;
        };
        one.user.push("x").await?;
        two.user.push("y").await?;
        one.run().await?;
        two.run().await?;
        assert_eq!(one.shout.get(0).as_deref(), Some("<USER>\nX\n</USER>"));
        assert_eq!(two.again.len(), 1);
        Ok(())
    }

    fn returned() -> impl Fn() -> futures::future::BoxFuture<'static, Result<usize>> {
        let chat = flow! {
            source user;
            column shout(user.latest) = capitals;
        };
        move || {
            let chat = chat.clone();
            Box::pin(async move {
                chat.user.push("x").await?;
                chat.run().await?;
                Ok(chat.shout.len())
            })
        }
    }

    #[tokio::test]
    async fn flows_that_borrow_nothing_leave_the_function() -> Result<()> {
        let push = returned();
        assert_eq!(push().await?, 1);
        assert_eq!(push().await?, 2);
        Ok(())
    }

    #[tokio::test]
    async fn events_name_columns_by_their_names() -> Result<()> {
        let chat = flow! {
            source user;
            column shout(user.latest) = capitals;
        };
        chat.user.push("x").await?;
        let events: Vec<Event> = chat.run().try_collect().await?;
        assert_eq!(events[0].column().as_str(), "shout");
        Ok(())
    }
}

mod compute_steps {
    use super::*;

    struct Reverse;

    impl Compute for Reverse {
        fn compute(&self, cx: Context) -> Reply<'static> {
            Reply::text(cx.messages().last_text().chars().rev().collect::<String>())
        }
    }

    fn parse(text: &str) -> std::result::Result<usize, std::num::ParseIntError> {
        text.parse()
    }

    flow! {
        /// Every form of a compute step.
        #[derive(Debug)]
        pub(crate) struct Forms {
            source user;
            column function(user)      = capitals;
            column path(user)          = std::convert::identity(echo);
            column closure(user)       = |cx: Context| async move { cx.step().to_string() };
            column async_closure(user) = async |cx: Context| cx.step().to_string();
            column fallible(user) = |cx: Context| async move {
                let user = cx.input("user").map_or("", |value| value);
                let number = parse(user.lines().nth(1).unwrap_or(user))? + 1;
                Ok::<_, BoxError>(number.to_string())
            };
            column pieces(user) = |_: Context| deltas(stream::iter(["one, ", "two"]));
            column fallible_pieces(user) =
                |_: Context| deltas(stream::iter([Ok("one"), Err(std::io::Error::other("no"))]).take(1));
            column a_type(user)       = Reverse;
            column shared(user)       = Arc::new(Reverse);
            column script(user)       = script(["scripted"]);
            column model(user.latest) = prompt("List the topics.");
            column a_match(user) = match 1 + 1 {
                2 => script(["two"]),
                _ => script(["many"]),
            };
            column an_if(user) = if cfg!(test) { script(["test"]) } else { script(["none"]) };
            column a_block(user) = {
                let text = "block";
                script([text])
            };
        }
    }

    #[tokio::test]
    async fn take_many_forms() -> Result<()> {
        let forms = Forms::new();
        forms.user.push("41").await?;
        let mut pieces = Vec::new();
        let mut run = forms.run();
        while let Some(event) = run.try_next().await? {
            if let Event::Delta { column: FormsColumn::Pieces, text, .. } = event {
                pieces.push(text);
            }
        }
        assert_eq!(pieces, ["one, ", "two"]);
        assert_eq!(forms.pieces.get(0).as_deref(), Some("one, two"));
        assert_eq!(forms.closure.get(0).as_deref(), Some("0"));
        assert_eq!(forms.async_closure.get(0).as_deref(), Some("0"));
        assert_eq!(forms.fallible.get(0).as_deref(), Some("42"));
        assert_eq!(forms.fallible_pieces.get(0).as_deref(), Some("one"));
        assert_eq!(forms.a_match.get(0).as_deref(), Some("two"));
        assert_eq!(forms.an_if.get(0).as_deref(), Some("test"));
        assert_eq!(forms.a_block.get(0).as_deref(), Some("block"));
        assert_eq!(forms.steps(), 1);
        Ok(())
    }

    #[tokio::test]
    async fn that_fail_end_the_run() -> Result<()> {
        let forms = Forms::new();
        forms.user.push("none").await?;
        let error = forms.run().await.unwrap_err();
        assert!(error.to_string().contains("fallible"), "{error}");
        Ok(())
    }

    flow! {
        /// Variables and columns called `source` and `column`.
        #[derive(Debug)]
        pub(crate) struct Contextual(source: String, column: fn(String) -> String) {
            source column;
            column source(column) = {
                let text = column(source.clone());
                move |_: Context| std::future::ready(text.clone())
            };
            column cast(source, column.latest) = echo as fn(Context) -> _;
        }
    }

    #[tokio::test]
    async fn may_use_the_keywords_as_names() -> Result<()> {
        let flow = Contextual::new("x".to_owned(), |text| text + "!");
        flow.column.push("y").await?;
        flow.run().await?;
        assert_eq!(flow.source.get(0).as_deref(), Some("x!"));
        Ok(())
    }
}

mod windows {
    use super::*;

    const N: usize = 3;

    // It would lose its commas at the ends of lists.
    #[rustfmt::skip]
    flow! {
        /// Windows of constants and of expressions.
        #[derive(Debug)]
        pub(crate) struct Windows {
            source user;
            column a(user.window(N), self.window(N - 1)) = echo;
            column b(user.window(usize::MAX).as("all"), a.window(1).as("x"),) = echo;
            column c(user.latest, a, b.r#as("said"),) = echo;
        }
    }

    #[test]
    fn may_be_constants() {
        let text = "source user\n\
                    column a(user.window(3), self.window(2))\n\
                    column b(user.window(18446744073709551615).as(\"all\"), a.latest.as(\"x\"))\n\
                    column c(user.latest, a, b.as(\"said\"))\n";
        assert_eq!(Windows::GRAPH.to_string(), text);
    }

    #[tokio::test]
    async fn may_be_constants_of_the_function_around_an_inline_flow() -> Result<()> {
        const M: usize = 2;
        let flow = flow! {
            source user;
            column a(user.window(M))  = echo;
            column b(a.window(N + M)) = echo;
        };
        for _ in 0..3 {
            flow.user.push("x").await?;
        }
        flow.run().await?;
        assert_eq!(flow.a.messages(2)?.parts().count(), 2);
        Ok(())
    }
}
