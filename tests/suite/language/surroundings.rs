//! Flows among items, macros and types of the user that collide with nothing in the expansion.

use std::borrow::Cow;
use std::sync::Arc;

use columnar::model::{Model, Offline};
use columnar::prelude::*;
use columnar::testing::script;

async fn echo(cx: Context) -> String {
    cx.messages().last_text().into_owned()
}

// A variable or a parameter in the expansion could not have the name of a static or of a constant.
mod items_of_the_user {
    #![allow(non_upper_case_globals, non_camel_case_types, dead_code)]

    use super::*;

    pub(super) static store: u32 = 1;
    pub(super) static base: u32 = 1;
    pub(super) const steps: u32 = 1;
    pub(super) const flow: u32 = 1;
    pub(super) const step: u32 = 1;
    pub(super) const name: u32 = 1;
    pub(super) const here: u32 = 1;
    pub(super) const f: u32 = 1;
    pub(super) struct usize;
    pub(super) struct str;
    pub(super) struct u8;

    columnar::flow! {
        pub(super) struct Chat(tone: String) {
            source user;
            column answer(user.latest, self) = {
                let _ = tone;
                echo
            };
        }
    }

    columnar::flow! {
        pub(super) struct Felt: Chat {
            column mood(answer.latest) = echo;
        }
    }

    columnar::flow! {
        pub(super) struct Room {
            source user;
            use Chat(String::new()) { user } as chat;
            column mood(chat.answer.latest) = echo;
        }
    }

    #[tokio::test]
    async fn may_have_any_name() {
        let chat = Chat::open(columnar::store::MemoryStore::new(), "kind".to_owned()).await.unwrap();
        let felt = Felt::extend(&chat).await.unwrap();
        felt.user.push("hello").await.unwrap();
        felt.run().await.unwrap();
        assert!(felt.mood.get(0).is_some_and(|mood| mood.contains("hello")));
        assert_eq!(chat.fork(1).unwrap().answer.len(), 1);
        assert_eq!(Room::ORDER, ["user", "chat.answer", "mood"]);
        let inline = columnar::flow! {
            source user;
            use Room { user } as room;
            column last(room.mood.latest) = echo;
        };
        inline.user.push("hello").await.unwrap();
        inline.run().await.unwrap();
        assert!(inline.last.get(0).is_some_and(|last| last.contains("hello")));
    }
}

// A method of a trait that every type has was found before a method that takes a reference.
mod traits_of_the_user {
    #![allow(dead_code)]

    use super::*;

    pub(super) trait Everything: Sized {
        fn map<F>(self, _: F) -> Self {
            self
        }
        fn clone(self) -> Self {
            self
        }
        fn fork(self) -> Self {
            self
        }
        fn take(self) -> Self {
            self
        }
        fn finish_non_exhaustive(self) -> Self {
            self
        }
        fn name(&self) -> usize {
            3
        }
        fn from(_: usize) -> usize {
            3
        }
    }

    impl<T> Everything for T {}

    columnar::flow! {
        pub(super) struct Chat {
            source user;
            column answer(user, self) = echo;
        }
    }

    #[test]
    fn may_be_of_every_type() {
        let inline = columnar::flow! {
            source user;
            use Chat { user } as chat;
            column last(chat.answer.latest) = echo;
        };
        assert_eq!(inline.last.len(), 0);
        assert_eq!(format!("{:?} {}", ChatColumn::Answer, ChatColumn::Answer), "Answer answer");
    }
}

mod without_a_prelude {
    #![no_implicit_prelude]

    ::columnar::flow! {
        pub(super) struct Chat {
            source user;
            column answer(user.window(2), self) = super::echo;
        }
    }

    ::columnar::flow! {
        pub(super) struct Felt: Chat {
            column mood(answer.latest) = super::echo;
        }
    }
}

#[test]
fn a_flow_needs_no_prelude() {
    assert_eq!(without_a_prelude::Chat::new().answer.len(), 0);
    assert_eq!(without_a_prelude::Felt::ORDER, ["user", "answer", "mood"]);
}

// A `$name:literal` arrives in a group without delimiters.
macro_rules! renamed {
    ($name:ident, $source:literal, $column:literal, $tag:literal) => {
        flow! {
            struct $name {
                source user was $source;
                column mood(group($tag, user.latest)) was $column = echo;
            }
        }
    };
}

renamed!(Renamed, "person", "feeling", "said");

#[test]
fn literals_may_come_from_a_macro() {
    assert_eq!(Renamed::GRAPH.to_string().matches("\"said\"").count(), 1);
    assert_eq!(Renamed::new().mood.len(), 0);
}

flow! {
    /// Its plan depends on `N`.
    struct Recent<const N: usize> {
        source user;
        column seen(user.window(N)) =
            |cx: Context| async move { cx.messages().last_text().matches("<user>").count().to_string() };
        column all(user.window(N + 1), self.window(N)) = echo;
    }
}

flow! {
    struct Felt<const N: usize>: Recent<N> {
        column mood(user.latest, seen.window(N)) = echo;
    }
}

flow! {
    struct Desk<const M: usize> {
        source user;
        use Recent<M> { user } as recent;
        column last(recent.seen.latest) = echo;
    }
}

// The struct of the columns did not know `N`, and its cached plan would have been that of another `N`.
#[tokio::test]
async fn a_window_may_be_a_constant_parameter() {
    let (one, three) = (Recent::<1>::new(), Recent::<3>::new());
    for text in ["a", "b", "c"] {
        one.user.push(text).await.unwrap();
        three.user.push(text).await.unwrap();
    }
    one.run().await.unwrap();
    three.run().await.unwrap();
    assert_eq!([one.seen.messages(2).unwrap().to_json().matches("<user>").count()], [1]);
    assert_eq!([three.seen.messages(2).unwrap().to_json().matches("<user>").count()], [3]);
    let felt = Felt::<3>::extend(&three).await.unwrap();
    felt.run().await.unwrap();
    assert_eq!(felt.mood.len(), 3);
    let desk = Desk::<2>::new();
    desk.user.push("a").await.unwrap();
    desk.run().await.unwrap();
    assert_eq!(desk.last.len(), 1);
    assert_eq!(Desk::<2>::ORDER.len(), 4);
}

flow! {
    struct Sums(
        tone: impl Into<String> + Clone + Send + Sync + 'static,
        change: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
    ) {
        source user;
        column loud(user.latest) = {
            let (tone, change): (String, _) = (tone.clone().into(), change.clone());
            move |cx: Context| {
                let text = format!("{tone}: {}", change(&cx.messages().last_text()));
                async move { text }
            }
        };
    }
}

// The type was behind a `&` without parentheses, where its `+` is ambiguous.
#[tokio::test]
async fn a_parameter_may_have_several_bounds() {
    let sums = Sums::new("now", str::to_uppercase);
    sums.user.push("hello").await.unwrap();
    sums.run().await.unwrap();
    assert_eq!(sums.loud.get(0).as_deref(), Some("now: <USER>\nHELLO\n</USER>"));
}

flow! {
    struct Later(style: String) {
        source user;
        column draft(user.latest)   = todo!();
        column review(draft.latest) = unimplemented!("in the style {style}");
        column answer(user, self)   = script(["Yes."]);
    }
}

// `todo!()` has no type, so it was no compute step.
#[tokio::test]
async fn a_step_may_be_written_later() {
    let later = Later::new("plain".to_owned());
    assert!(Later::GRAPH.to_string().contains("column draft(user.latest)"));
    later.user.push("hello").await.unwrap();
    let error = later.run().await.expect_err("the step is not written");
    let text = format!("{error} {:?}", std::error::Error::source(&error).map(ToString::to_string));
    assert!(text.contains("draft") && text.contains("not yet implemented"), "{text}");
    assert_eq!(later.answer.get(0).as_deref(), Some("Yes."));
}

// Settings made the macro call a part of a larger expression, which was no step that is not written.
#[tokio::test]
async fn a_step_that_is_written_later_may_have_settings() {
    let later = flow! {
        source user;
        column draft(user.latest)   = todo!().or_skip();
        column review(draft.latest) = unimplemented!("as {}", "planned").retry(1).or_skip();
    };
    later.user.push("hello").await.unwrap();
    later.run().await.unwrap();
    assert_eq!((later.draft.get(0), later.review.get(0)), (None, None));
}

macro_rules! with_step {
    ($name:ident, $step:expr) => {
        flow! {
            struct $name {
                source user;
                column plain(user.latest) = $step;
                column again(user.latest) = $step.retry(1);
            }
        }
    };
}

with_step!(FromInput, async |user| user.to_uppercase());
with_step!(FromContext, async |cx: Context| cx
    .input("user")
    .map_or_else(String::new, |user| user.to_uppercase()));

// An expression from a macro is one token, in which no closure was seen, and the method was called on its last operand.
#[tokio::test]
async fn a_step_may_come_from_a_macro_of_the_user() {
    let (input, context) = (FromInput::new(), FromContext::new());
    input.user.push("hello").await.unwrap();
    context.user.push("hello").await.unwrap();
    input.run().await.unwrap();
    context.run().await.unwrap();
    let replies = [&input.plain, &input.again, &context.plain, &context.again].map(|column| column.get(0));
    assert!(replies.iter().all(|reply| reply.as_deref() == Some("HELLO")), "{replies:?}");
}

// The macro's own mentions of the flow were uses of a deprecated type.
mod deprecated_flows {
    #![deny(deprecated)]

    use super::*;

    flow! {
        #[deprecated = "it is an example"]
        pub(super) struct Old {
            source user;
            column answer(user) = prompt("Answer.");
        }
    }
}

#[test]
#[allow(deprecated, reason = "the test of it")]
fn a_flow_may_be_deprecated() {
    assert_eq!(deprecated_flows::Old::ORDER, ["user", "answer"]);
}

/// A clone was the flow that `Chat` derefs to, and no `Chat`.
#[tokio::test]
async fn a_clone_of_a_flow_is_the_same_flow() {
    flow! {
        struct Twin<M: Model + 'static>(model: Arc<M>) {
            source user;
            column answer(user) = prompt("Answer.").model(Arc::clone(model));
        }
    }
    flow! {
        #[derive(Clone, Debug)]
        struct Derived {
            source user;
            column answer(user) = prompt("Answer.");
        }
    }
    let chat = Twin::new(Arc::new(Offline::default()));
    let twin: Twin<Offline> = chat.clone();
    chat.user.push("hello").await.unwrap();
    twin.run().await.unwrap();
    assert_eq!(chat.answer.get(0), twin.answer.get(0));
    assert_eq!(format!("{twin:?}"), "Twin { steps: 1, .. }");
    let derived: Derived = Derived::new().clone();
    assert_eq!(derived.steps(), 0);

    let words = flow([column("words", source("user"), echo)]).unwrap();
    let same = words.clone();
    words.push("user", "hello").await.unwrap();
    same.run().await.unwrap();
    assert!(words.get("words", 0).is_some());
}

flow! {
    struct Texts(style: String, short: &'static str, shared: Arc<str>, either: Cow<'static, str>) {
        source user;
        column a(user) = prompt(style);
        column b(user) = prompt(&style[..]);
        column c(user) = prompt(short);
        column d(user) = prompt(*short);
        column e(user) = prompt(shared);
        column f(user) = prompt(either);
        column g(user) = prompt(style.clone());
        column i(user) = prompt("literal");
        column j(user) = prompt(Box::<str>::from("boxed"));
    }
}

// A parameter is a reference in the compute steps, and `Arc<str>` is not made from a `&String`.
#[test]
fn a_prompt_takes_text_and_references_to_it() {
    let texts = Texts::new("style".to_owned(), "short", "shared".into(), "either".into());
    assert_eq!(texts.a.len(), 0);
}

flow! {
    struct Keyword {
        source user;
        column gen(user.latest)        = echo;
        column after(gen.latest, user) = echo;
    }
}

flow! {
    struct AroundKeyword {
        source user;
        use Keyword { user } as keyword;
        column end(keyword.gen.latest, user) = echo;
    }
}

// In the editions before 2024 `gen` is a name as any other.
#[test]
fn gen_is_a_name() {
    assert_eq!(Keyword::ORDER, ["user", "gen", "after"]);
    assert_eq!(Keyword::new().r#gen.name(), "gen");
    assert_eq!(AroundKeyword::ORDER, ["user", "keyword.gen", "end", "keyword.after"]);
}

flow! {
    struct Empty<>()
    where {
        source user;
        column after(user) = echo;
    }
}

#[test]
fn lists_may_be_empty() {
    assert_eq!(Empty::ORDER, ["user", "after"]);
}

/// The length of a table.
const SIZE: usize = 2;

flow! {
    struct Functions(
        pick: fn(&str) -> Option<&str>,
        table: [u8; SIZE & 3],
        read: impl Fn(&str) -> Result<&str, String> + Clone + Send + Sync + 'static,
    ) {
        source sources was "user";
        column picked(sources.as("text").note("The text.")) = async |text| {
            let all = text.join("");
            format!("{}{}{:?}", pick(&all).unwrap_or_default(), table.len(), read(&all))
        };
    }
}

// The result of a function borrows from its arguments, so such a reference needs no lifetime.
#[tokio::test]
async fn functions_may_be_parameters() -> Result<()> {
    let flow = Functions::new(|text| text.get(..1), [1, 2], |text| Ok(text));
    flow.sources.push("hi").await?;
    flow.run().await?;
    assert_eq!(flow.picked.get(0).as_deref(), Some("h2Ok(\"hi\")"));
    Ok(())
}
