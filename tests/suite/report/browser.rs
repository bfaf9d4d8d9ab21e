//! The pages in a real browser, by `tests/browser/run`.

use std::path::Path;
use std::process::Command;

use columnar::budget::{Budget, Strategy};
use columnar::documents::Update;
use columnar::flow::LiveFlow;
use columnar::model::{End, Finish, Usage};
use columnar::prelude::*;
use columnar::report;
use columnar::testing::ScriptedModel;
use columnar::{Attachment, CellState, Text};
use serde_json::{Map, json};

use super::hostile;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A model with a price and a cache that serves the first half of each request.
fn model() -> ScriptedModel {
    ScriptedModel::new(|request| {
        format!("A reply to {} tokens, which is\n\nno short text. ", request.messages.tokens())
    })
    .named("anthropic/claude-sonnet-5-5")
    .end(|request| {
        let tokens = 2 * request.messages.tokens() as u64;
        End::new(Finish::Stop).with_usage(Usage::new(tokens, 12).cached(tokens / 2, tokens / 4))
    })
}

flow! {
    struct Coder {
        source files: Documents;
        source user;
        column topics(user.window(2).as("recent")) = prompt("List the topics.").model(model());
        column coder(files.compacted().edits(), user, topics.latest, self) =
            prompt("You write Rust.").model(model());
        column review(coder.thread()) = prompt("Review it.").model(model()).every(2);
        column critique(user, self) = prompt("Criticise <this>.")
            .model(model())
            .budget(Budget::of(260).token_buffer(20).strategy(Strategy::RollingWindow));
    }
}

async fn coder(steps: usize) -> Result<Coder, Box<dyn std::error::Error>> {
    let coder = Coder::new();
    for step in 0..steps {
        let text =
            format!("fn step() -> usize {{\n    {step}\n}}\n// <recent> & \"more\"\n").repeat(1 + step % 3);
        coder.files.push(Update::new().file("src/lib.rs", text)).await?;
        let picture = Attachment::new(PICTURE.to_vec())?.alt("a dot");
        coder
            .user
            .push(Text::new(format!("Change </recent> of step {step}, <b>please</b>.")).with(picture))
            .await?;
        coder.run().await?;
    }
    Ok(coder)
}

const PICTURE: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\xff\0\0\0\0\0!\xf9\x04\0\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// Writes the page of a flow, and beside it the texts of the requests that it must show.
fn write<C, I>(flow: &LiveFlow<'_, C, I>, folder: &Path, name: &str, steps: &[usize]) -> Outcome {
    report::write(flow, folder.join(format!("{name}.html")))?;
    let mut requests = Map::new();
    for (at, column) in flow.outline().columns.iter().enumerate() {
        for &step in steps {
            let Ok(messages) = flow.messages(&column.name, step) else { continue };
            if matches!(flow.cell(&column.name, step)?, CellState::Skipped(_)) {
                continue;
            }
            let texts = messages.parts().map(|part| part.text().trim_start_matches("\n\n").to_owned());
            requests.insert(format!("c{step}-{at}"), json!(texts.collect::<Vec<_>>()));
        }
    }
    assert!(requests.len() > steps.len(), "there are requests");
    Ok(std::fs::write(folder.join(format!("{name}.json")), json!(requests).to_string())?)
}

#[tokio::test]
async fn pages_are_accessible_and_harmless_and_show_what_was_sent() -> Outcome {
    let Some(browser) = std::env::var_os("COLUMNAR_BROWSER") else {
        println!("SKIPPED: the pages in a browser, which needs `tests/browser/run`");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let steps: Vec<usize> = (0..12).collect();
    let coder = coder(12).await?;
    write(&coder, folder.path(), "coder", &steps)?;
    report::write(&Coder::new(), folder.path().join("empty.html"))?;
    for (at, text) in hostile::HOSTILE.iter().enumerate() {
        std::fs::write(folder.path().join(format!("hostile-{at}.html")), hostile::page(text).await?)?;
    }
    let user = source("user");
    let words = |cx: Context| async move { format!("{} words", cx.messages().tokens()) };
    let columns = ["window", "latest", "spread"].map(|name| {
        let views = (user.window(if name == "window" { 8 } else { 1 }), this().latest());
        column(name, views, words)
    });
    let long = flow(columns)?;
    let steps = 10_000;
    long.push_all("user", (0..steps).map(|step| format!("question {step} {}", "of many words ".repeat(12))))
        .await?;
    long.run().await?;
    write(&long, folder.path(), "long", &[0, 1, 499, 500, 5_001, steps - 1, 256])?;
    let mut program = Command::new("node");
    program.arg("check.mjs").arg(folder.path()).current_dir(browser);
    let output = program.output()?;
    println!("{}", String::from_utf8_lossy(&output.stdout));
    if let Some(kept) = std::env::var_os("COLUMNAR_SCREENSHOTS") {
        for file in std::fs::read_dir(folder.path())? {
            let file = file?;
            std::fs::copy(file.path(), Path::new(&kept).join(file.file_name()))?;
        }
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}
