//! The edits of a compacted view, applied by `patch`, which knows nothing of this library.

use std::fs;
use std::process::Command;

use columnar::documents;
use columnar::documents::Update;
use columnar::prelude::*;
use columnar::testing::script;
use columnar_tests::cost::random::Random;
use tempfile::tempdir;

/// A text of 400 lines, of which some are alike.
fn text(random: &mut Random) -> Vec<String> {
    (0..400)
        .map(|line| {
            if random.happens(0.3) {
                "}\n".to_owned()
            } else {
                format!("let a{line} = {};\n", random.count(0, 9))
            }
        })
        .collect()
}

/// The same text with some lines gone, some new and some changed, perhaps without a line break at its end.
fn changed(random: &mut Random, lines: &[String]) -> Vec<String> {
    let mut changed = lines.to_vec();
    for _ in 0..random.count(1, 4) {
        let at = random.count(0, changed.len() - 1);
        match random.count(0, 2) {
            0 => drop(changed.remove(at)),
            1 => changed.insert(at, format!("new {}\n", random.count(0, 99))),
            _ => changed[at] = format!("changed {}\n", random.count(0, 99)),
        }
    }
    if random.happens(0.3)
        && let Some(last) = changed.last_mut()
    {
        last.pop();
    }
    changed
}

#[tokio::test]
async fn patch_makes_the_new_text_of_each_edit() -> Result<(), Box<dyn std::error::Error>> {
    if Command::new("patch").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no program `patch` on this machine");
        return Ok(());
    }
    let (mut random, folder) = (Random::new(41), tempdir()?);
    let [base, diff, result] = ["base", "diff", "result"].map(|name| folder.path().join(name));
    for round in 0..60 {
        let before = text(&mut random);
        let after = changed(&mut random, &before);
        let coder = column(
            "coder",
            (documents("files").compacted().edits(), source("user"), this()),
            script(["one", "two"]),
        );
        let flow = flow([coder])?;
        // With as much beside that the request is long enough for a cache.
        let more = "Nothing of this changes. ".repeat(400);
        let first = Update::new().file("a.rs", before.concat()).file("b.md", more);
        for update in [first, Update::new().file("a.rs", after.concat())] {
            flow.push("files", update.to_text()?).await?;
            flow.push("user", "And now?").await?;
        }
        flow.run().await?;
        let messages = flow.messages("coder", 1)?;
        let last = messages
            .parts()
            .filter(|part| part.origin().is_some_and(|of| of.column.as_str() == "files"))
            .last();
        let shown = last.expect("there are documents").text().into_owned();
        if before == after {
            continue;
        }
        let (_, edit) =
            shown.split_once("# Files (each changes its text above)\n\na.rs\n```\n").expect("an edit");
        let (edit, _) = edit.split_once("\n```").expect("the fence is closed");
        fs::write(&base, before.concat())?;
        fs::write(&diff, format!("--- a.rs\n+++ a.rs\n{edit}\n"))?;
        let patched = Command::new("patch").arg("-s").arg("-o").args([&result, &base, &diff]).output()?;
        assert!(
            patched.status.success(),
            "round {round}: {}\n{edit}",
            String::from_utf8_lossy(&patched.stdout)
        );
        assert_eq!(fs::read_to_string(&result)?, after.concat(), "round {round}:\n{edit}");
    }
    Ok(())
}
