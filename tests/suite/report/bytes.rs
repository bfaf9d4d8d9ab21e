//! The same flow makes the same bytes.

use columnar::budget::{Budget, Strategy};
use columnar::model::Offline;
use columnar::prelude::*;
use columnar::report;
use columnar::store::{FileStore, MemoryStore, Store};

type Outcome = Result<(), Box<dyn std::error::Error>>;

flow! {
    struct Chat {
        source user;
        column topics(user.window(2))              = prompt("List the topics.").model(Offline::new());
        column summary(topics.latest, self.latest) = prompt("Summarise.").model(Offline::new()).every(2);
        column assistant(user, topics.prev, self) = prompt("Answer.")
            .model(Offline::new())
            .budget(Budget::of(900).token_buffer(800).strategy(Strategy::RollingWindow));
    }
}

async fn fill(store: impl Store + 'static) -> Result<String> {
    let chat = Chat::open(store).await?;
    for step in 0..7 {
        chat.user
            .push(format!("Question {step} is about the deadline and about Rust, and not about snow."))
            .await?;
        chat.run().await?;
    }
    chat.exclude("user", 1).await?;
    chat.user.push("The last question.").await?;
    chat.run().await?;
    let page = report::html(&chat);
    assert_eq!(report::html(&chat), page);
    assert!(page.contains("turns left out by"), "the budget cuts something");
    Ok(page)
}

#[tokio::test]
async fn a_reopened_flow_makes_the_same_page() -> Outcome {
    let store = MemoryStore::new();
    let page = fill(store.clone()).await?;
    let chat = Chat::open(store).await?;
    assert_eq!(report::html(&chat), page);

    let folder = tempfile::tempdir()?;
    let page = fill(FileStore::new(folder.path())).await?;
    let chat = Chat::open(FileStore::new(folder.path())).await?;
    assert_eq!(report::html(&chat), page);
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_replaced_as_a_whole_and_only_the_owner_reads_it() -> Outcome {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("report.html");
    std::fs::write(&path, "an older report")?;
    let chat = Chat::new();
    report::write(&chat, &path)?;
    assert_eq!(std::fs::read_to_string(&path)?, report::html(&chat));
    assert_eq!(path.metadata()?.permissions().mode() & 0o777, 0o600);
    assert_eq!(folder.path().read_dir()?.count(), 1, "nothing else is left");

    // A folder cannot be replaced, and the file beside it is removed again.
    let taken = folder.path().join("taken");
    std::fs::create_dir(&taken)?;
    report::write(&chat, &taken).expect_err("a folder is there");
    assert_eq!(folder.path().read_dir()?.count(), 2);
    Ok(())
}
