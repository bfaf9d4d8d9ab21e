//! A thousand conversations in one file of SQLite, with few file descriptors, in one process after another.

use std::env;
use std::path::Path;
use std::process::Command;

use columnar::prelude::*;
use columnar::service::{Flows, Position};
use columnar::store::SqliteStore;
use columnar_tests::gate::Gate;
use columnar_tests::process::{test_alone, with_open_files};
use futures::future::{join, try_join_all};

flow! {
    struct Chat(gate: Gate) {
        source user;
        column topics(user.latest)   = gate.clone();
        column answer(topics.latest) = gate.clone();
    }
}

/// The variables with the file and with the number of the life.
const FILE: &str = "COLUMNAR_TEST_FILE";
const LIFE: &str = "COLUMNAR_TEST_LIFE";

const MANY: usize = 1000;

fn chats(file: &Path, gate: &Gate) -> Flows<usize, Chat> {
    let (file, gate) = (file.to_owned(), gate.clone());
    Flows::new(move |key: usize| Chat::open(SqliteStore::new(&file, key.to_string()), gate.clone()))
}

/// All conversations wait for their first column when the service is shut down. Its clients have left, all but a few.
async fn first_life(file: &Path) -> Result<usize> {
    let gate = Gate::new(0);
    let chats = chats(file, &gate);
    let clients = (0..MANY).map(async |key| {
        let chat = chats.open(key).await?;
        chat.user.push(format!("hello {key}")).await?;
        Ok::<_, Error>((key % 50 == 0).then(|| chat.subscribe_from(&Position::START)))
    });
    let clients = try_join_all(clients).await?;
    assert_eq!(chats.len(), MANY);
    while gate.total_calls() < MANY {
        tokio::task::yield_now().await;
    }
    let let_through = async {
        // A task takes some locks at a time, so the shutdown does not reach all conversations at once. One that it did not
        // reach would begin its second column, with the words of another.
        for _ in 0..MANY {
            tokio::task::yield_now().await;
        }
        // Two words for each.
        gate.let_through(2 * MANY);
    };
    join(chats.shutdown(), let_through).await;
    for events in clients.into_iter().flatten() {
        assert_eq!(events.count().await, 1, "the value of `topics`");
    }
    Ok(gate.total_calls())
}

/// Each conversation is completed, and each client sees all of its values.
async fn second_life(file: &Path) -> Result<usize> {
    let gate = Gate::open();
    let chats = chats(file, &gate);
    let clients = (0..MANY).map(async |key| {
        let chat = chats.open(key).await?;
        let events = chat.subscribe_from(&Position::START).with_sources();
        let values = events.filter_map(async |event| match event {
            Event::Value { value, .. } => Some(value),
            _ => None,
        });
        let values: Vec<_> = Box::pin(values).take(3).collect().await;
        assert_eq!(values, [format!("hello {key}"), format!("HELLO {key}"), format!("HELLO {key}")]);
        chat.completed(0).await
    });
    try_join_all(clients).await?;
    chats.shutdown().await;
    assert!(chats.is_empty());
    Ok(gate.total_calls())
}

#[tokio::test]
async fn v11_a_thousand_conversations_need_few_descriptors_and_continue_after_a_restart() -> Result<()> {
    if let Some(file) = env::var_os(FILE) {
        let is_first = env::var(LIFE).is_ok_and(|life| life == "0");
        let calls =
            if is_first { first_life(file.as_ref()).await? } else { second_life(file.as_ref()).await? };
        println!("\ncalls {calls}.");
        return Ok(());
    }
    let folder = tempfile::tempdir().expect("a folder");
    let test = "v11_a_thousand_conversations_need_few_descriptors_and_continue_after_a_restart";
    let calls = [0, 1].map(|life| {
        let mut child: Command = test_alone(module_path!(), test);
        child.env(FILE, folder.path().join("chats.db")).env(LIFE, life.to_string());
        let output = with_open_files(256, &child).output().expect("it runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let calls = text.split("calls ").nth(1).and_then(|rest| rest.split('.').next());
        calls.and_then(|calls| calls.parse::<usize>().ok()).expect("it prints its calls")
    });
    assert_eq!(calls, [MANY, MANY], "each column is computed once, in one life or the other");
    Ok(())
}
