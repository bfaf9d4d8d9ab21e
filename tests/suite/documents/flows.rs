//! Flows with a source of documents: pushes, their errors, forks and stores.

use columnar::documents::{Kind, Update, UpdateFault};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{Entry, MemoryStore, Store};
use columnar::{Name, Value};

flow! {
    pub struct Reader {
        source files: Documents;
        source user;
        column answer(files, user.latest, self) = |_: Context| async { "a" };
    }
}

fn notes(text: &str) -> Update {
    Update::new().file("notes.md", text)
}

fn removal() -> Update {
    Update::new().remove(Kind::File, "notes.md")
}

/// The faults of an update that was refused at a step.
fn faults(pushed: Result<usize>, at: usize) -> Vec<UpdateFault> {
    match pushed.expect_err("it is refused") {
        Error::Update { column, step, source } => {
            assert_eq!((column.as_str(), step), ("files", at));
            source.faults().to_vec()
        }
        other => panic!("{other:?}"),
    }
}

fn is_missing(faults: &[UpdateFault]) -> bool {
    matches!(faults, [UpdateFault::Missing(key)] if key.to_string() == "file:notes.md")
}

/// A run-time flow with the columns of [`Reader`].
async fn open(options: OpenOptions) -> Result<Flow> {
    let (files, user) = (documents("files"), source("user"));
    let answer = column("answer", (&files, user.latest(), this()), async |_: Context| "a");
    Flow::open(options, [files, user, answer]).await
}

fn text(update: &Update) -> Value {
    update.to_text().expect("it has no faults of its own")
}

/// Each update stands in its turn, and costs what changed.
#[tokio::test]
async fn a_plain_view_shows_each_update_in_its_turn() -> Result<()> {
    let reader = Reader::new();
    for (step, update) in [notes("One."), Update::new(), notes("Two."), removal()].into_iter().enumerate() {
        assert_eq!(reader.files.push(update).await?, step);
        reader.user.push(format!("question {step}")).await?;
    }
    reader.run().await?;

    let messages = reader.answer.messages(3)?;
    let shown: Vec<_> =
        messages.parts().filter_map(|part| Some((part.origin()?.step, part.text()))).collect();
    let of = |text: &str| format!("<files>\n{text}\n</files>");
    let own = |step: usize| (step, "a".into());
    let expected = [
        (0, of("# Files\n\nnotes.md\n```\nOne.\n```").into()),
        own(0),
        (1, of("No document changed.").into()),
        own(1),
        (2, of("# Files\n\nnotes.md\n```\nTwo.\n```").into()),
        own(2),
        (3, of("# Removed\n\nfile notes.md").into()),
        (3, "\n\n<user>\nquestion 3\n</user>".into()),
    ];
    assert_eq!(shown, expected);
    let cells: usize = messages.parts().map(|part| part.tokens()).sum();
    assert_eq!(messages.tokens(), cells);
    assert!(reader.answer.explain_cache(2)?.difference.is_some(), "the question leaves its window");
    Ok(())
}

#[tokio::test]
async fn an_update_that_cannot_be_applied_is_refused_whole_with_all_its_faults() -> Result<()> {
    let reader = Reader::new();
    assert!(is_missing(&faults(reader.files.push(removal()).await, 0)));
    let wrong = notes("A secret.").file("../up", "").url("https://a", "").remove(Kind::Symbol, "gone.rs");
    let found = faults(reader.files.push(wrong).await, 0);
    assert!(
        matches!(found[..], [UpdateFault::Key { .. }, UpdateFault::Missing(_)]),
        "those of the calls, and those that only the documents show: {found:?}"
    );
    assert_eq!(reader.files.len(), 0);

    reader.files.push(notes("One.")).await?;
    let again = notes("").remove(Kind::File, "notes.md");
    assert!(matches!(faults(reader.files.push(again).await, 1)[..], [UpdateFault::Repeated(_)]));
    assert_eq!(reader.files.push(removal()).await?, 1);
    assert!(is_missing(&faults(reader.files.push(removal()).await, 2)));
    Ok(())
}

/// At run time the value of a source of documents is the text of an update. The text of a document in its place was called
/// a damaged update, to be restored from a copy.
#[tokio::test]
async fn a_flow_made_at_run_time_takes_the_text_of_an_update() -> Result<()> {
    let f = open(OpenOptions::new(MemoryStore::new())).await?;
    assert_eq!(f.push("files", text(&notes("One."))).await?, 0);
    for wrong in ["fn main() {} // a secret", "", "# Other\n\na\n```\n\n```"] {
        let found = faults(f.push("files", wrong).await, 1);
        assert!(matches!(found[..], [UpdateFault::Text { .. }]), "{found:?}");
    }
    let error = f.push("files", "a secret").await.expect_err("it is no update");
    assert_eq!(
        error.to_string(),
        "the update of `files` at step 1 was not stored: a value of `files` is the text of an update: push \
         `Update::new().file(path, text).to_text()?`; this text is none, as byte 0 shows: no section of an update that may \
         follow here has this title, in this version of the library"
    );
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    Ok(())
}

/// The documents are found again from the stored updates, also if only the last steps are in memory.
#[tokio::test]
async fn documents_are_known_after_reopening() -> Result<()> {
    let store = MemoryStore::new();
    let f = open(OpenOptions::new(store.clone())).await?;
    f.push("files", text(&notes("One."))).await?;
    for step in 0..9 {
        f.push("files", text(&Update::new())).await?;
        f.push("user", format!("question {step}")).await?;
    }
    f.run().await?;
    drop(f);

    for options in [OpenOptions::new(store.clone()), OpenOptions::new(store.clone()).recent(1)] {
        let f = open(options).await?;
        let other = Update::new().remove(Kind::File, "other.md");
        assert!(matches!(faults(f.push("files", text(&other)).await, 10)[..], [UpdateFault::Missing(_)]));
        let fork = f.fork(1)?;
        assert_eq!(fork.push("files", text(&removal())).await?, 1);
        assert!(is_missing(&faults(fork.push("files", text(&removal())).await, 2)));
        assert_eq!(f.len("files")?, 10, "a fork changes nothing in its past");
    }
    let f = open(OpenOptions::new(store).recent(1)).await?;
    assert_eq!(f.push("files", text(&removal())).await?, 10);
    Ok(())
}

#[tokio::test]
async fn a_stored_text_that_is_no_update_is_an_error_of_its_step() -> Result<()> {
    let store = MemoryStore::new();
    let f = open(OpenOptions::new(store.clone())).await?;
    f.push("files", text(&notes("One."))).await?;
    drop(f);
    store.open().await.expect("it is free");
    let files = Name::new("files").expect("a name");
    store.put(files, 1, Entry::from(Value::from("a secret"))).await.expect("it is stored");

    let f = open(OpenOptions::new(store)).await?;
    let error = f.push("files", text(&removal())).await.expect_err("the documents are not known");
    assert!(matches!(&error, Error::Load { column, .. } if *column == "files"), "{error:?}");
    let message = format!("{error} {error:?}");
    assert!(message.contains("step 1 is no update") && !message.contains("secret"), "{message}");
    Ok(())
}
