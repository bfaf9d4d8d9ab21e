//! Batches have the types that the SDKs declare: what a run sends, and what the server of the tests answers.

use std::fs;
use std::time::Duration;

use columnar::model::Provider;
use columnar::prelude::*;
use columnar_tests::batches::{BatchPlan, BatchServer};
use columnar_tests::server::{WIRES, Wire};
use serde_json::{Value as Json, json};

use crate::python::{script, succeeds};

flow! {
    /// A long instruction, which caches are marked for, and a short one.
    struct Notes(long: String) {
        source note;
        column topics(note, self)  = prompt(long).max_tokens(200).effort(Effort::Low).lenient();
        column mood(topics.latest) = prompt("Name the mood.").max_tokens(200).stop(["\n\n"]).lenient();
    }
}

/// The objects of a run by batches of three steps.
async fn objects(server: &BatchServer, provider: Provider) -> Vec<(&'static str, Json)> {
    let notes = Notes::new("List the topics of each note, and nothing else. ".repeat(140));
    for number in 0..3 {
        notes.note.push(format!("note {number}.")).await.expect("memory takes it");
    }
    let pause = Duration::from_millis(1);
    // Some batches end early, so that their objects are there as well.
    for runs in 0.. {
        let Err(error) = notes.batch(provider.clone()).pauses(pause, pause).await else { break };
        assert!(runs < 10, "{error}");
    }
    assert_eq!(server.violations(), [""; 0]);
    server.sent()
}

#[tokio::test]
async fn batches_have_the_types_of_the_sdks() {
    let Some(mut check) = script("batches_have_the_types_of_the_sdks", "batches.py") else { return };
    let mut all = Vec::new();
    for wire in WIRES {
        let server = BatchServer::start(wire).await;
        server.plans(|batch| match batch {
            0 => BatchPlan { refuses: 1, ..BatchPlan::default() },
            1 => BatchPlan { expires: 1, ..BatchPlan::default() },
            2 => BatchPlan { is_cancelled: true, ..BatchPlan::default() },
            3 => BatchPlan { fails: true, ..BatchPlan::default() },
            _ => BatchPlan::default(),
        });
        let provider = server.provider();
        all.extend(objects(&server, provider).await);
        if wire == Wire::OpenAi {
            let provider = Provider::new("openai_resp/gpt-6.1-sol").expect("a provider");
            let url = format!("{}/v1", server.url());
            all.extend(objects(&server, provider.base_url(&url).key(|| "sk-batch-7")).await);
        }
    }
    let lines: Vec<String> = all.iter().map(|(kind, object)| json!([kind, object]).to_string()).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("batches.jsonl");
    fs::write(&file, lines.join("\n")).expect("it is ours");
    succeeds(check.arg(file));
}
