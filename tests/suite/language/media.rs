//! Views without attachments in each form of a declaration, and compute steps that return attachments.

use columnar::data::Declaration;
use columnar::flow::Source;
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar::reopen::{ColumnChange, OpenOptions};
use columnar::store::MemoryStore;
use columnar::testing::{ScriptedModel, script};
use columnar::{Attachment, BoxError, Messages, Outline, Text};
use columnar_tests::pictures::{DOT, DOT_IN_BASE64, dot};
use serde_json::json;

flow! {
    pub struct Chat {
        source user;
        source rules;
        column answer(user.text_only(), rules.latest.instruction().text_only(), self.text_only()) =
            script([Text::new("one").with(dot()), Text::new("two")]);
        column whole(user, rules.latest.instruction(), answer, self) =
            script([Text::new("a").with(dot()), Text::new("b")]);
        // In any order with other modifiers.
        column title(
            group("all", user.latest.as("said").text_only(), answer.prev.text_only()),
            rules.text_only().filter(|text| text.ends_with('!')).note("what is the law").context(),
        ) = script(["A title."; 2]);
    }
}

const GRAPH: &str = "source user\n\
    source rules\n\
    column answer(user.text_only(), rules.latest.instruction().text_only(), self.text_only())\n\
    column whole(user, rules.latest.instruction(), answer, self)\n\
    column title(group(\"all\", user.latest.text_only().as(\"said\"), answer.prev.text_only()), \
    rules.context().text_only().filter(…).note(\"what is the law\"))\n";

/// The columns of [`Chat`], declared at run time.
fn columns() -> [Column; 3] {
    let (user, rules) = (source("user"), source("rules"));
    let views = (user.text_only(), rules.latest().instruction().text_only(), this().text_only());
    let answer = column("answer", views, script(["one", "two"]));
    let views = (&user, rules.latest().instruction(), &answer, this());
    let whole = column("whole", views, script(["a", "b"]));
    let all = [user.latest().named("said").text_only(), answer.prev().text_only()];
    let law = rules.text_only().filter(|text| text.ends_with('!')).note("what is the law").context();
    [answer, whole, column("title", (group("all", all), law), script(["A title."; 2]))]
}

/// The outline without the order of the columns.
fn sorted(mut outline: Outline) -> Outline {
    outline.columns.sort_by(|one, other| one.name.cmp(&other.name));
    outline
}

async fn push(user: &Source, rules: &Source) -> Result<()> {
    let law = Attachment::new("Be kind.").expect("a text").alt("The law.");
    for text in ["Look!", "Again!"] {
        user.push(Text::new(text).with(dot())).await?;
        rules.push(Text::new(text).with(law.clone())).await?;
    }
    Ok(())
}

fn attachments(messages: &Messages) -> Vec<(String, usize)> {
    let parts = messages.parts().filter(|part| !part.attachments().is_empty());
    parts.map(|part| (part.origin().unwrap().to_string(), part.attachments().len())).collect()
}

#[test]
fn text_only_means_the_same_in_every_form() -> Result<(), BoxError> {
    assert_eq!(Chat::GRAPH.to_string(), GRAPH);
    let outline = Chat::GRAPH.outline();
    let mermaid = outline.mermaid();
    for line in [
        r#"user -->|"text_only()"| answer"#,
        r#"rules -->|"latest.text_only().instruction()"| answer"#,
        "user --> whole",
    ] {
        assert!(mermaid.contains(line), "{mermaid}");
    }
    assert_eq!(sorted(flow(columns())?.outline()), sorted(outline));
    let data: Declaration = toml::from_str(
        r#"
        sources = ["user", "rules"]

        [[columns]]
        name = "answer"
        views = ["user.text_only()", "rules.latest.text_only().instruction()", "self.text_only()"]
        step = "a"
        "#,
    )?;
    let read = flow(data.to_columns([("a", Step::new(script(["one"])))]))?;
    let inline = flow! {
        source user;
        source rules;
        column answer(user.text_only(), rules.latest.text_only().instruction(), self.text_only()) =
            script(["one"]);
    };
    assert_eq!(sorted(read.outline()), sorted(inline.outline()));
    assert_eq!(inline.user.len() + inline.rules.len() + inline.answer.len(), 0);
    Ok(())
}

#[tokio::test]
async fn a_view_of_texts_shows_no_attachments_and_no_words_for_these() -> Result<()> {
    let chat = Chat::new();
    push(&chat.user, &chat.rules).await?;
    chat.run().await?;
    assert_eq!(attachments(&chat.answer.messages(1)?), []);
    assert_eq!(attachments(&chat.title.messages(1)?), []);
    let shown = [("user 0", 1), ("answer 0", 1), ("whole 0", 1), ("user 1", 1)];
    assert_eq!(
        attachments(&chat.whole.messages(1)?),
        shown.map(|(origin, count)| (origin.to_owned(), count))
    );
    assert_eq!(
        (chat.answer.system(1)?, chat.whole.system(1)?),
        ("Again!".to_owned(), "Again!\n\n[The law.]".to_owned())
    );

    // The texts are the same, in every rendering.
    let [answer, whole] = [chat.answer.messages(0)?, chat.whole.messages(0)?];
    let plain = Rendering::new("", &answer).merged().to_string();
    assert_eq!(plain, json!([{ "role": "user", "content": "<user>\nLook!\n</user>" }]).to_string());
    assert!(Rendering::new("", &whole).merged().to_string().contains("</user>\\n\\n[A dot.]"));
    assert!(answer.tokens() < whole.tokens());
    Ok(())
}

/// The parentheses tell the modifier from a column of the same name.
mod a_column_of_this_name {
    use super::*;

    flow! {
        pub struct Eyes {
            source picture;
            column text_only(picture.latest) = async |picture: Value| Text::new(picture.as_str()).with(dot());
        }
    }

    flow! {
        pub struct Desk {
            source user;
            use Eyes { picture: user } as eyes;
            column seen(
                user.latest.text_only(),
                eyes.text_only.latest,
                eyes.text_only.prev.text_only().as("before"),
            ) = script(["yes"; 2]);
        }
    }

    flow! {
        pub struct Larger: Chat {
            column mood(answer.text_only(), user.latest.text_only(), self.latest.text_only()) =
                script(["calm"; 2]);
        }
    }

    #[tokio::test]
    async fn of_a_module_is_no_modifier() -> Result<()> {
        let desk = Desk::new();
        for text in ["Look!", "Again!"] {
            desk.user.push(Text::new(text).with(dot())).await?;
        }
        desk.run().await?;
        assert_eq!(attachments(&desk.seen.messages(1)?), [("eyes.text_only 1".to_owned(), 1)]);
        Ok(())
    }

    #[tokio::test]
    async fn extends_a_flow_that_has_them() -> Result<()> {
        let added = "column mood(answer.text_only(), user.latest.text_only(), self.latest.text_only())\n";
        assert_eq!(Larger::GRAPH.to_string(), format!("{GRAPH}{added}"));
        let larger = Larger::extend(Chat::new()).await?;
        push(&larger.user, &larger.rules).await?;
        larger.run().await?;
        assert_eq!(attachments(&larger.mood.messages(1)?), []);
        Ok(())
    }
}

mod attachments_that_are_left_out {
    use super::*;

    flow! {
        struct Before {
            source user;
            column answer(user, self) = script(["one"; 3]);
        }
    }

    flow! {
        struct After {
            source user;
            column answer(user.text_only(), self) = script(["one"; 3]);
        }
    }

    #[tokio::test]
    async fn are_drift() -> Result<()> {
        let store = MemoryStore::new();
        let before = Before::open(store.clone()).await?;
        before.user.push("Look!").await?;
        before.run().await?;
        drop(before);
        let same = Before::open(store.clone()).await?;
        assert_eq!((same.answer.len(), same.user.len()), (1, 1));
        drop(same);
        let error = After::open(OpenOptions::new(store.clone())).await.map(drop).unwrap_err();
        let Error::Drift(drift) = &error else { panic!("{error}") };
        assert!(matches!(drift.changes(), [ColumnChange::Reads { .. }]), "{drift:?}");
        let change = "computed from (user, self), and it now reads (user.text_only(), self)";
        assert!(error.to_string().contains(change), "{error}");
        Ok(())
    }
}

/// A chart of these rows, which is a dot.
fn chart_of(rows: &str) -> Result<Attachment, BoxError> {
    let bytes = if rows.is_empty() { &DOT[..20] } else { DOT };
    Ok(Attachment::new(bytes)?.alt(format!("A chart of {rows}")))
}

#[tokio::test]
async fn a_column_renders_a_chart_that_a_prompt_reads() -> Result<(), BoxError> {
    let model = ScriptedModel::new(|_| "It rises.".to_owned());
    let board = flow! {
        source rows;
        column chart(rows.latest) = async |rows: Value| {
            Ok::<_, BoxError>(Text::new(format!("{rows} as a chart.")).with(chart_of(&rows)?))
        };
        column reading(chart.latest) = prompt("Read the chart.").model(model.clone());
    };
    board.rows.push("1 2 3").await?;
    board.run().await?;
    assert_eq!(board.chart.get(0).unwrap().attachments(), [chart_of("1 2 3")?]);
    assert_eq!(board.reading.get(0).as_deref(), Some("It rises."));
    let requests = model.requests();
    let [request] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!(
        Rendering::new(&request.system, &request.messages).anthropic()["messages"],
        json!([{ "role": "user", "content": [
            { "type": "text", "text": "<chart>\n1 2 3 as a chart.\n</chart>" },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": DOT_IN_BASE64 } },
        ] }])
    );

    board.rows.push("").await?;
    let error = board.run().await.unwrap_err().to_string();
    assert!(
        error.contains("`chart` at step 1") && error.contains("damaged or truncated `image/png`"),
        "{error}"
    );
    Ok(())
}

/// JSON that matched the type lost the attachments silently, or kept these where nobody expects any.
#[tokio::test]
async fn a_typed_column_refuses_attachments() -> Result<()> {
    let chat = flow! {
        source user;
        column scores(user.latest): Vec<u8> = |_: Context| async { Text::new("[4]").with(dot()) };
    };
    chat.user.push("How was it?").await?;
    let error = chat.run().await.unwrap_err().to_string();
    let reason = "a typed column holds JSON, which has no attachments: return the JSON alone, or drop the type of the column";
    assert!(error.contains("`scores` at step 0") && error.contains(reason), "{error}");
    assert_eq!(chat.scores.get(0), None);
    Ok(())
}
