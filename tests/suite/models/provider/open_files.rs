//! More calls than the program may have open files.

use std::env;
use std::process::Command;
use std::time::Duration;

use columnar::model::Adaptive;
use columnar::prelude::*;
use columnar_tests::process::{test_alone, with_open_files};
use columnar_tests::server::{Act, Server, Wire, stream};
use tokio::task::spawn_blocking;

flow! {
    struct Rows(model: Adaptive) {
        source row;
        column label(row.latest) = prompt("Label it.").model(model.clone());
    }
}

/// The variable with the address of the server.
const URL: &str = "COLUMNAR_TEST_URL";

const CALLS: usize = 300;

/// All calls at once, of which none may fail.
async fn label(url: &str) -> Result<()> {
    let rows = Rows::new(Adaptive::new(Wire::OpenAi.model_at(&format!("{url}/v1"))));
    rows.set_concurrency(CALLS);
    for row in 0..CALLS {
        rows.row.push(row.to_string()).await?;
    }
    rows.run().await?;
    assert_eq!(rows.steps(), CALLS);
    println!("\nall are labelled.");
    Ok(())
}

/// The limit of a model grows, and the files of the program may end before it: each call that found none failed.
#[tokio::test]
async fn s8_calls_that_find_no_open_file_wait_for_others() -> Result<()> {
    if let Ok(url) = env::var(URL) {
        return label(&url).await;
    }
    let slow = [vec![Act::Pause(Duration::from_millis(200))], stream(Wire::OpenAi.reply(&["fine"]))].concat();
    let server = Server::always(slow).await;
    let mut child: Command = test_alone(module_path!(), "s8_calls_that_find_no_open_file_wait_for_others");
    child.env(URL, server.url());
    let output = spawn_blocking(move || with_open_files(64, &child).output()).await.expect("no panic");
    let output = output.expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("all are labelled."), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.requests().len(), CALLS, "no call is sent twice");
    Ok(())
}
