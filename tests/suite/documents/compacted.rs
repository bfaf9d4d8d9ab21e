//! Compacted views: the text that a model reads, what is laid anew and when, and everything else that knows documents.

use std::time::Duration;

use columnar::budget::Budget;
use columnar::cache::{CachePolicy, Difference, Pace, Position, Reason};
use columnar::documents::{Kind, Update};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::script;
use columnar::{CompactionMistake, SchemaError, documents};
use serde_json::{Value as Json, json, to_value};
use tokio::time::advance;

flow! {
    pub struct Coder {
        source files: Documents;
        source user;
        column coder(files.compacted(), user, self) = script((0..40).map(|step| format!("reply {step}")));
    }
}

flow! {
    pub struct Editor {
        source files: Documents;
        source user;
        column editor(files.compacted().edits(), user, self) =
            script((0..40).map(|step| format!("reply {step}")));
    }
}

/// A text of so many lines.
fn lines(count: usize, word: &str) -> String {
    (0..count).map(|line| format!("{word} {line}\n")).collect::<Vec<_>>().concat()
}

async fn step(coder: &Coder, update: Update) -> Result<usize> {
    let step = coder.files.push(update).await?;
    coder.user.push(format!("question {step}")).await?;
    coder.run().await?;
    Ok(step)
}

/// The contents of the messages of the user.
fn asked(messages: &Messages) -> Json {
    let all = to_value(messages).expect("messages are JSON");
    let users = all.as_array().into_iter().flatten().filter(|message| message["role"] == "user");
    users.map(|message| message["content"].clone()).collect()
}

#[tokio::test]
async fn a_changed_document_stands_in_its_turn_and_the_text_before_is_named() -> Result<()> {
    let coder = Coder::new();
    let plan = lines(1_000, "plan");
    step(&coder, Update::new().file("a.md", plan.as_str()).file("b.md", "b").symbol("c.rs", "fn c()"))
        .await?;
    step(&coder, Update::new()).await?;
    step(&coder, Update::new().file("b.md", "B").file("c.rs", "fn c() {}").file("d.md", "d")).await?;
    step(&coder, Update::new().remove(Kind::File, "c.rs")).await?;
    step(&coder, Update::new().remove(Kind::File, "b.md").remove(Kind::Symbol, "c.rs")).await?;

    let of =
        |files: &str, step: usize| format!("<files>\n{files}\n</files>\n\n<user>\nquestion {step}\n</user>");
    let first = format!(
        "# Symbols\n\nc.rs\n```\nfn c()\n```\n\n# Files\n\na.md\n```\n{plan}\n```\n\nb.md\n```\nb\n```"
    );
    let second = "# Files\n\nc.rs\n```\nfn c() {}\n```\n\nd.md\n```\nd\n```\n\n# Files (each replaces its text above)\n\n\
                  b.md\n```\nB\n```\n\n# Removed\n\nsymbol c.rs";
    let third =
        "# Symbols (each replaces its text above)\n\nc.rs\n```\nfn c()\n```\n\n# Removed\n\nfile c.rs";
    let fourth = "# Removed\n\nsymbol c.rs\nfile b.md";
    let expected =
        json!([of(&first, 0), "<user>\nquestion 1\n</user>", of(second, 2), of(third, 3), of(fourth, 4),]);
    let messages = coder.coder.messages(4)?;
    assert_eq!(asked(&messages), expected);
    assert_eq!(messages.documents().map(Documents::len), Some(2));
    assert_eq!(
        coder.files.get(4).as_deref(),
        Some("# Removed\n\nsymbol c.rs\nfile b.md"),
        "nothing is worth it"
    );
    assert!(coder.coder.explain_cache(4)?.difference.is_none());
    Ok(())
}

#[tokio::test]
async fn an_edit_is_a_diff_where_that_is_shorter() -> Result<()> {
    let editor = Editor::new();
    let text = lines(1_000, "line");
    editor.files.push(Update::new().file("a.rs", text.as_str()).file("b.rs", "one\n")).await?;
    let edited = text.replace("line 7\n", "line seven\n");
    editor.files.push(Update::new().file("a.rs", edited.as_str()).file("b.rs", "two\n")).await?;
    for question in ["What?", "And now?"] {
        editor.user.push(question).await?;
    }
    editor.run().await?;
    let messages = editor.editor.messages(1)?;
    let asked = asked(&messages);
    let expected = "<files>\n# Files (each replaces its text above)\n\nb.rs\n```\ntwo\n\n```\n\n\
                    # Files (each changes its text above)\n\na.rs\n```\n@@ -5,7 +5,7 @@\n line 4\n line 5\n line 6\n-line 7\n\
                    +line seven\n line 8\n line 9\n line 10\n\n```\n</files>\n\n<user>\nAnd now?\n</user>";
    assert_eq!(asked[1], expected);
    Ok(())
}

/// The documents of a part are laid anew when carrying the old texts has cost as much as that.
#[tokio::test]
async fn what_is_laid_anew_is_stored_with_the_update_and_said_one_request_ahead() -> Result<()> {
    let store = MemoryStore::new();
    let coder = Coder::open(store.clone()).await?;
    step(&coder, Update::new().file("a.md", lines(2_000, "a")).file("b.md", lines(1_000, "b"))).await?;
    let mut laid = Vec::new();
    for round in 1..40 {
        let update = match round % 3 {
            1 => Update::new().file("b.md", lines(1_000, &format!("b{round}"))),
            _ => Update::new(),
        };
        let was_said = coder.coder.explain_cache(round - 1)?.difference;
        step(&coder, update).await?;
        let stored = coder.files.get(round).expect("it is stored");
        if let Some((_, place)) = stored.split_once("# Laid Anew\n\nfrom ") {
            laid.push((round, place.to_owned()));
            // A change that came with it could not be known.
            let is_said = matches!(was_said, Some(Difference::Documents { .. }));
            assert_eq!(is_said, round % 3 != 1, "step {round}: {was_said:?}");
        } else {
            assert_eq!(was_said, None, "step {round}");
        }
    }
    assert!(laid.len() > 2 && laid.len() < 20, "{laid:?}");
    assert!(laid.iter().any(|(_, place)| place.contains("part 1")), "hot documents alone: {laid:?}");

    let before: Vec<String> =
        (0..40).map(|step| coder.coder.messages(step).expect("a context").to_json()).collect();
    let fork = coder.fork(20)?;
    drop(coder);
    let reopened = Coder::open(store).await?;
    for step in [39, 7, 20, 0] {
        assert_eq!(reopened.coder.messages(step)?.to_json(), before[step], "step {step}");
    }
    fork.files.push(Update::new().file("b.md", lines(1_000, "other"))).await?;
    fork.user.push("question 20").await?;
    assert_eq!(fork.coder.messages(19)?.to_json(), before[19]);
    Ok(())
}

/// The provider has forgotten the prefix, so laying all anew costs nothing.
#[tokio::test(start_paused = true)]
async fn after_a_long_pause_all_is_laid_anew() -> Result<()> {
    let coder = flow! {
        source files: Documents;
        source user;
        column coder(files.compacted(), user, self) = prompt("You write Rust.").model("offline");
    };
    let push = async |update: Update| -> Result<()> {
        coder.files.push(update).await?;
        coder.user.push("And now?").await?;
        coder.run().await
    };
    push(Update::new().file("a.md", lines(900, "a")).file("b.md", lines(300, "b"))).await?;
    push(Update::new().file("b.md", lines(300, "B"))).await?;
    advance(Duration::from_mins(1)).await;
    push(Update::new()).await?;
    assert_eq!(coder.files.get(2).as_deref(), Some("No document changed."));
    advance(Duration::from_mins(20)).await;
    push(Update::new()).await?;
    assert_eq!(coder.files.get(3).as_deref(), Some("# Laid Anew\n\nfrom step 0"));
    let asked = asked(&coder.coder.messages(3)?);
    assert_eq!(asked[0], "<user>\nAnd now?\n</user>");
    assert!(asked[3].as_str().is_some_and(|text| text.contains("a.md") && text.contains("B 299")), "{asked}");
    Ok(())
}

#[tokio::test]
#[expect(clippy::cast_precision_loss)]
async fn a_request_is_at_most_the_factor_times_its_valid_texts() -> Result<()> {
    let files = documents("files");
    for (factor, most) in [(1.0, 1.0), (1.1, 1.11), (1.5, 1.51), (2.0, 2.01)] {
        let replies = script((0..60).map(|step| format!("reply {step}")));
        let coder = column("coder", (files.compacted().at_most(factor), source("user"), this()), replies);
        let flow = flow([coder])?;
        for step in 0..60_usize {
            let text = lines(400 + 7 * step % 90, &format!("word{step}"));
            let update = Update::new().file(format!("{}.rs", step * step % 7), text);
            flow.push("files", update.to_text().expect("no faults")).await?;
            flow.push("user", format!("question {step}")).await?;
            flow.run().await?;
            let messages = flow.messages("coder", step)?;
            let valid: usize =
                messages.documents().expect("documents").iter().map(|(_, text)| text.len()).sum();
            let shown: usize = messages.parts().map(|part| part.text().len()).sum();
            let of_turns =
                messages.parts().filter(|part| part.origin().is_some_and(|of| of.column.as_str() != "files"));
            let ratio = shown as f64 / (valid + of_turns.map(|part| part.text().len()).sum::<usize>()) as f64;
            // Titles and fences are no texts of documents.
            assert!(ratio <= most + 0.02, "at_most({factor}): {ratio} at step {step}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_budget_omits_turns_and_no_document() -> Result<()> {
    let coder = Coder::new();
    coder.set_budget(Budget::of(2_000).token_buffer(0).truncate_middle());
    step(&coder, Update::new().file("a.md", lines(300, "a"))).await?;
    for round in 1..12 {
        coder.files.push(Update::new().file("b.md", format!("b {round}"))).await?;
        coder.user.push(lines(60, "question")).await?;
        coder.run().await?;
    }
    let messages = coder.coder.messages(11)?;
    let report = messages.report().expect("there is a budget");
    assert!(report.is_truncated() && !report.is_over_limit(), "{report}");
    assert_eq!(messages.tokens(), messages.parts().map(|part| part.tokens()).sum::<usize>());
    let shown: Vec<_> = messages
        .parts()
        .filter_map(|part| part.origin().map(|of| (of.column.to_string(), of.step)))
        .collect();
    let documents =
        messages.parts().filter(|part| part.origin().is_some_and(|of| of.column.as_str() == "files"));
    assert!(documents.map(|part| part.text().into_owned()).any(|text| text.contains("a 299")), "{shown:?}");
    assert!(messages.elided().all(|of| of.column.as_str() != "files"));
    assert!(messages.last_text().contains("b 11"));

    let too_small = Coder::new();
    too_small.set_budget(Budget::of(600).token_buffer(0));
    too_small.files.push(Update::new().file("a.md", lines(1_000, "a"))).await?;
    too_small.user.push("What?").await?;
    let error = too_small.run().await.expect_err("the documents do not fit");
    assert!(
        error.to_string().contains("`coder` at step 0") && format!("{error:?}").contains("a.md"),
        "{error}"
    );
    Ok(())
}

#[tokio::test]
async fn marks_keep_the_ends_of_documents_alive() -> Result<()> {
    let coder = Coder::new();
    step(&coder, Update::new().file("a.md", lines(2_000, "a"))).await?;
    step(&coder, Update::new().file("b.md", lines(400, "b"))).await?;
    step(&coder, Update::new().file("b.md", lines(400, "B"))).await?;
    let policy = CachePolicy::by_model("anthropic/claude-sonnet-5-5");
    let plan = coder.cache_plan("coder", 2, policy, Pace::batch())?;
    let marks: Vec<_> = plan.marks.iter().map(|mark| (mark.position, mark.reason)).collect();
    // files 0 (cold), user 0, coder 0, files 1, user 1, coder 1, files 2, user 2
    assert_eq!(
        marks,
        [
            (Position::Part(0), Reason::Documents),
            (Position::Part(5), Reason::Forks),
            (Position::Part(7), Reason::Next)
        ]
    );
    assert_eq!(
        plan.to_string().lines().next(),
        Some("after part 0, short lifetime, for documents that are laid anew")
    );
    Ok(())
}

#[tokio::test]
async fn an_excluded_update_stays_in_the_log() -> Result<()> {
    let coder = Coder::new();
    step(&coder, Update::new().file("a.md", "a")).await?;
    step(&coder, Update::new()).await?;
    let before = coder.coder.messages(1)?.to_json();
    coder.files.exclude(0).await?;
    coder.user.push("question 2").await?;
    coder.files.push(Update::new()).await?;
    coder.run().await?;
    assert_eq!(coder.coder.messages(1)?.to_json(), before);
    assert!(coder.coder.messages(2)?.to_json().contains("a.md"));
    Ok(())
}

#[tokio::test]
async fn a_forecast_counts_the_log_and_not_each_update() -> Result<()> {
    let coder = Coder::new();
    for round in 0..6 {
        let update = Update::new().file("a.md", lines(500, &format!("a{round}")));
        coder.files.push(if round == 5 { update.laid_anew() } else { update }).await?;
        coder.user.push("What?").await?;
    }
    let forecast = coder.forecast();
    coder.run().await?;
    let longest = (0..6).map(|step| coder.coder.messages(step).expect("a context").tokens()).max();
    let forecast = forecast.columns[0].longest_input;
    let longest = longest.expect("there are steps");
    assert!(forecast >= longest && forecast < longest + 700, "{forecast} for {longest}");
    Ok(())
}

fn mistake(views: impl columnar::IntoViews) -> CompactionMistake {
    let wrong = flow([column("coder", views, async |_: Context| "a")]).expect_err("the view is wrong");
    let Error::Schema(wrong) = wrong else { panic!("{wrong:?}") };
    match wrong.errors() {
        [SchemaError::Compacted { mistake, .. }] => *mistake,
        other => panic!("{other:?}"),
    }
}

#[test]
fn mistakes_of_a_view_are_errors_of_the_flow() {
    let (files, user) = (documents("files"), source("user"));
    assert_eq!(mistake((user.compacted(), this())), CompactionMistake::OfText);
    assert_eq!(mistake((files.compacted(), this())), CompactionMistake::WithoutText);
    assert_eq!(
        mistake((files.compacted(), documents("more").tiered(), &user, this())),
        CompactionMistake::Twice
    );
    assert_eq!(mistake((files.compacted(), documents("more").compacted(), &user)), CompactionMistake::Twice);
    for factor in [0.99, 0.0, -1.0, f64::NAN] {
        assert_eq!(mistake((files.compacted().at_most(factor), &user)), CompactionMistake::Bound, "{factor}");
    }
    for view in [View::from(files.compacted()).named("docs"), View::from(files.compacted()).context()] {
        assert_eq!(mistake((view, &user)), CompactionMistake::Tagged);
    }
    let error =
        flow([column("coder", (user.compacted(), this()), async |_: Context| "a")]).expect_err("text");
    assert_eq!(
        error.to_string(),
        "`coder` reads `user` in a compacted view, and `.compacted()` is for documents: declare the source as documents, or \
         drop `.compacted()`"
    );
}
