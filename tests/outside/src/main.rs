//! Uses every name that programs rely on, as a program would.
#![deny(warnings)]

use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{FileStore, MemoryStore};
use columnar::testing::script;
use futures::stream::{self, Stream};

flow! {
    /// A chat with some of everything.
    pub struct Chat {
        /// What the person typed.
        source user;
        column topics(user.latest)   = |cx: Context| async move { cx.messages().last_text().to_uppercase() };
        column checked(user.window(2), self.latest) = |cx: Context| async move { fallible(&cx).await };
        column streamed(topics.latest.as("subjects"), self) = |cx: Context| deltas(token_stream(cx));
        column assistant(user, self) = script(["a", "b"]);
        column asked(user)           = prompt("Answer.");
    }
}

flow! {
    /// The chat, with the mood of its messages.
    pub struct Felt: Chat {
        column sentiment(user.latest) = script(["good", "better"]);
        column mood(sentiment, topics.latest.as("subjects"), self.latest) = prompt("Name the mood.");
    }
}

flow! {
    /// A flow that is a module of another one.
    pub struct Debate(style: String) {
        source topic;
        column critic(topic.latest) = prompt(format!("Name the weak points. {style}"));
    }
}

flow! {
    /// A chat with two debates.
    pub struct Judged {
        source user;
        use Debate(String::from("Be brief.")) { topic: user } as debate;
        use Debate(String::new()) { topic: debate.critic } as further;
        column verdict(debate.critic.latest.as("case"), further.critic.latest, user.latest) = script(["yes"]);
    }
}

async fn fallible(cx: &Context) -> std::result::Result<String, std::num::ParseIntError> {
    let number: i32 = "7".parse()?;
    Ok(format!("{}@{}: {number}", cx.column(), cx.step()))
}

fn token_stream(cx: Context) -> impl Stream<Item = String> {
    stream::iter(cx.messages().last_text().split_inclusive('\n').map(str::to_owned).collect::<Vec<_>>())
}

async fn typed() -> Result<()> {
    let chat = Chat::new();
    let step: usize = chat.user.push("text").await?;
    assert_eq!(step, 0);

    let mut run = chat.run();
    let mut pieces = String::new();
    while let Some(event) = run.try_next().await? {
        match event {
            Event::Delta { column: ChatColumn::Streamed, step: 0, text } => pieces += &text,
            Event::Delta { .. } => {}
            Event::Value { column, step, value } => println!("{column} {step}: {}", value.len()),
            _ => {}
        }
    }
    let streamed: Value = chat.streamed.get(0).expect("it was computed");
    assert_eq!(pieces, *streamed);
    assert_eq!(&*chat.topics.get(0).expect("it was computed"), "<USER>\nTEXT\n</USER>");
    assert_eq!(chat.checked.get(0).as_deref(), Some("checked@0: 7"));
    assert_eq!(chat.topics.get(3), None);

    let messages: Messages = chat.assistant.messages(0)?;
    assert_eq!(messages.to_json(), r#"[{"role":"user","content":"<user>\ntext\n</user>"}]"#);
    columnar::assert_context_snapshot!(messages, @r"
    assistant at step 0: 1 message

    [user]
    user 0
    │ <user>
    │ text
    │ </user>
    ");
    for (role, content) in &messages {
        assert_eq!((role, &*content), (Role::User, "<user>\ntext\n</user>"));
    }
    assert_eq!(chat.steps(), 1);
    assert_eq!(Chat::ORDER, ["user", "topics", "checked", "streamed", "assistant", "asked"]);
    chat.run().await?;
    Ok(())
}

async fn at_run_time() -> Result<()> {
    let user = source("user");
    let topics = column("topics", [user.latest()], prompt("List the topics."));
    let assistant = column("assistant", [user.all(), this()], script(["a", "b"]));
    let f = flow([assistant, topics])?;
    f.push("user", "text").await?;
    f.run().await?;
    assert_eq!(f.get("assistant", 0).as_deref(), Some("a"));

    let sentiment = column("sentiment", (&user, this().latest()), script(["good", "better"]));
    f.add_column(sentiment).await?;
    f.run().await?;
    assert_eq!(f.get("sentiment", 0).as_deref(), Some("good"));
    Ok(())
}

async fn opened() -> Result<()> {
    let store = MemoryStore::new();
    let chat = Chat::open(store.clone()).await?;
    chat.user.push("text").await?;
    chat.run().await?;
    drop(chat);
    assert_eq!(Chat::open(store).await?.steps(), 1);

    let folder = std::env::temp_dir().join(format!("columnar-outside-{}", std::process::id()));
    let chat = Chat::open(FileStore::new(&folder)).await?;
    chat.user.push("text").await?;
    assert!(Chat::open(FileStore::new(&folder)).await.is_err());
    drop(chat);
    let chat = Chat::open(OpenOptions::new(FileStore::new(&folder)).keep("topics")).await?;
    chat.run().await?;
    assert_eq!(std::fs::read_to_string(folder.join("user").join("0.txt")).ok().as_deref(), Some("text"));
    drop(chat);
    std::fs::remove_dir_all(folder).expect("it can be removed");
    Ok(())
}

async fn extended() -> Result<()> {
    let store = MemoryStore::new();
    let chat = Chat::open(store.clone()).await?;
    chat.user.push("text").await?;
    chat.run().await?;

    let felt = Felt::extend(&chat).await?;
    let mut run = felt.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            FeltColumn::Chat(column) => println!("{column}"),
            FeltColumn::Sentiment | FeltColumn::Mood => println!("{}", event.column()),
        }
    }
    assert_eq!(felt.sentiment.get(0).as_deref(), Some("good"));
    felt.user.push("more").await?;
    felt.run().await?;
    assert_eq!((felt.steps(), felt.topics.len(), felt.mood.len()), (2, 2, 2));
    assert_eq!(Felt::ORDER.last(), Some(&"mood"));

    drop((chat, felt, run));
    let felt = Felt::extend(Chat::open(store).await?).await?;
    assert_eq!(felt.steps(), 2);
    Ok(())
}

async fn composed() -> Result<()> {
    let store = MemoryStore::new();
    let judged = Judged::open(store.clone()).await?;
    judged.user.push("text").await?;
    let mut run = judged.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            JudgedColumn::Debate(DebateColumn::Critic) => println!("{}", event.column()),
            JudgedColumn::Further(_) | JudgedColumn::Verdict => {}
        }
    }
    let messages = judged.messages("debate.critic", 0)?;
    assert_eq!(messages.to_json(), judged.debate.critic.messages(0)?.to_json());
    assert_eq!(messages.last_text(), "<topic>\ntext\n</topic>");
    assert_eq!(Judged::ORDER, ["user", "debate.critic", "further.critic", "verdict"]);
    drop(judged);
    assert_eq!(Judged::open(store).await?.steps(), 1);
    Ok(())
}

/// A typed value, in a file of SQLite that is opened again.
#[cfg(feature = "more")]
async fn stored() -> Result<()> {
    use columnar::store::SqliteStore;

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Score {
        stars: u8,
    }

    flow! {
        struct Review {
            source text;
            column score(text.latest): Score = script([r#"{"stars":4}"#]);
        }
    }

    let file = std::env::temp_dir().join(format!("columnar-outside-{}.db", std::process::id()));
    let review = Review::open(SqliteStore::new(&file, "review")).await?;
    review.text.push("It works.").await?;
    review.run().await?;
    drop(review);
    let review = Review::open(SqliteStore::new(&file, "review")).await?;
    assert_eq!(review.score.read(0)?.map(|score| score.stars), Some(4));
    drop(review);
    std::fs::remove_file(file).expect("it can be removed");
    println!("a score is stored");
    Ok(())
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    typed().await?;
    at_run_time().await?;
    opened().await?;
    extended().await?;
    composed().await?;
    #[cfg(feature = "more")]
    stored().await?;
    drop(is_send(Chat::new()));
    drop(is_send(Chat::new().run()));
    drop(is_send(Chat::open(MemoryStore::new())));
    drop(is_send(Felt::extend(Chat::new())));
    drop(is_send(Chat::new().user.push("text")));
    println!("every name is there");
    Ok(())
}
