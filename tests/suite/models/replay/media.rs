//! Attachments in cassettes and in contexts under review: the type, the size, the digest, never the bytes.

use std::fs;

use columnar::prelude::*;
use columnar::testing::{Cassette, Record, ScriptedModel, context_text};
use columnar::{Attachment, Text};
use columnar_tests::pictures::{DOT_IN_BASE64, dash, dot};

use super::chat::{Small, cassette_path, cause};

/// Asks about these attachments and then about nothing more.
async fn ask(cassette: Cassette, attachments: &[Attachment]) -> Result<Small<Cassette>> {
    let chat = Small::new(cassette);
    let question = attachments.iter().cloned().fold(Text::new("What is this?"), Text::with);
    chat.user.push(question).await?;
    chat.user.push("Really?").await?;
    chat.run().await.map(|()| chat)
}

fn recorder(path: &std::path::Path) -> Cassette {
    let model = ScriptedModel::new(|request| format!("reply {}", request.messages.len()));
    Cassette::open(path, Record::All).recording(model)
}

#[tokio::test]
async fn a_cassette_has_attachments_without_the_bytes() -> Result<()> {
    let (_folder, path) = cassette_path();
    let note = Attachment::new("Launch on Monday.").expect("a text");
    let attachments = [dot(), note];
    ask(recorder(&path), &attachments).await?;
    let file = fs::read_to_string(&path).expect("it was written");
    assert!(file.starts_with("{\n  \"cassette\": 3,"), "{file}");
    assert!(!file.contains(DOT_IN_BASE64) && !file.contains("Monday"), "{file}");
    let expected = format!(
        r#"        "messages": [
          {{
            "role": "user",
            "content": [
              "<user>",
              "What is this?",
              "</user>",
              {{
                "alt": "A dot.",
                "bytes": 67,
                "sha256": "{}",
                "type": "image/png"
              }},
              {{
                "bytes": 17,
                "sha256": "{}",
                "type": "text/plain"
              }}
            ]
          }}
        ]
"#,
        attachments[0].digest(),
        attachments[1].digest(),
    );
    assert!(file.contains(&expected), "{file}");

    let replayed = ask(Cassette::open(&path, Record::Nothing), &attachments).await?;
    assert_eq!(replayed.assistant.get(1).as_deref(), Some("reply 3"));
    let misspelt = file.replacen("\"sha256\"", "\"sha\"", 1);
    fs::write(&path, misspelt).expect("it can be written");
    let error = cause(ask(Cassette::open(&path, Record::Nothing), &attachments).await.map(drop));
    let damage = "messages[0].content[3]` has an entry that is none of `type`, `sha256`, `bytes`, `alt`";
    assert!(error.contains(damage), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_file_without_attachments_stays_as_it_was() -> Result<()> {
    let (_folder, path) = cassette_path();
    ask(recorder(&path), &[]).await?;
    let file = fs::read_to_string(&path).expect("it was written");
    assert!(file.starts_with("{\n  \"cassette\": 2,"), "{file}");
    Ok(())
}

#[tokio::test]
async fn a_changed_attachment_is_an_unrecorded_request() -> Result<()> {
    let (_folder, path) = cassette_path();
    let note = Attachment::new("Launch on Monday.").expect("a text");
    ask(recorder(&path), &[note.clone(), dot()]).await?;
    let player = || Cassette::open(&path, Record::Nothing);
    let error = cause(ask(player(), &[note.clone(), dash()]).await.map(drop));
    let shown = [
        "no reply for `assistant` at step 0",
        "`assistant` at step 0, and differs first in attachment 2 of message 1 (`user` at step 0); ",
        "\n    </user>\n  attachment: {\"bytes\":17,",
        "\n- attachment: {\"alt\":\"A dot.\",\"bytes\":67,\"sha256\":\"",
        "\n+ attachment: {\"alt\":\"A dot.\",\"bytes\":67,\"sha256\":\"",
    ];
    for part in shown {
        assert!(error.contains(part), "{part}\n{error}");
    }
    for (attachments, place) in [
        (vec![note.clone(), dot().alt("A pixel.")], "attachment 2 of message 1 (`user` at step 0)"),
        (vec![note.clone(), dot(), dot()], "attachment 3 of message 1 (`user` at step 0)"),
        (vec![dot(), note.clone()], "attachment 1 of message 1 (`user` at step 0)"),
        // These are not requested any more, so they have no cell.
        (vec![note], "attachment 2 of message 1"),
        (Vec::new(), "attachment 1 of message 1"),
    ] {
        let error = cause(ask(player(), &attachments).await.map(drop));
        assert!(error.contains(&format!("differs first in {place};")), "{place}\n{error}");
    }
    Ok(())
}

/// A picture beside another value of the same message was the same request, if only its place differs.
#[tokio::test]
async fn an_attachment_of_another_value_is_another_request() -> Result<()> {
    let (_folder, path) = cassette_path();
    let ask = async |cassette: Cassette, user: Text, notes: Text| {
        let chat = flow! {
            source user;
            source notes;
            column answer(user, notes, self) = prompt("Answer.").model(cassette.clone());
        };
        chat.user.push(user).await?;
        chat.notes.push(notes).await?;
        chat.run().await
    };
    let (user, notes) = (Text::new("Look!"), Text::new("A note."));
    ask(recorder(&path), user.clone().with(dot()), notes.clone()).await?;
    let player = || Cassette::open(&path, Record::Nothing);
    ask(player(), user.clone().with(dot()), notes.clone()).await?;
    let error = cause(ask(player(), user, notes.with(dot())).await);
    assert!(error.contains("differs first in"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_context_under_review_has_attachments_after_their_value() -> Result<()> {
    let chat = flow! {
        source user;
        source notes;
        source rules;
        column answer(user, notes.text_only(), rules.instruction(), self) = prompt("Answer.");
    };
    chat.rules.push(Text::new("Be brief.").with(dot())).await?;
    let note = Attachment::new("Launch on Monday.").expect("a text");
    chat.user.push(Text::new("Look!").with(dot()).with(note.clone())).await?;
    chat.notes.push(Text::new("A note.").with(dot())).await?;
    assert_eq!(
        context_text(&chat.answer.messages(0)?),
        format!(
            "answer at step 0: 1 message

[system]
rules 0
│ Be brief.
│
│ [A dot.]

[user]
user 0
│ <user>
│ Look!
│ </user>
attachment image/png 1×1, 67 bytes, sha256 {}, \"A dot.\"
attachment text/plain, 17 bytes, sha256 {}
│
notes 0
│ <notes>
│ A note.
│ </notes>",
            dot().digest(),
            note.digest()
        )
    );
    Ok(())
}
