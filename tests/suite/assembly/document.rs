//! Contexts as a document: one message of all values, with nothing between them.

use columnar::budget::Budget;
use columnar::documents::Update;
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar::testing::ScriptedModel;
use serde_json::json;

fn story(cx: Context) -> impl Future<Output = String> + Send + use<> {
    std::future::ready(format!("[{}]", cx.step()))
}

fn content(f: &Flow, column: &str, step: usize) -> String {
    let messages = f.messages(column, step).unwrap();
    let all: Vec<_> = messages.iter().map(|(role, text)| (role.to_string(), text.into_owned())).collect();
    let [(role, text)] = &all[..] else { panic!("{all:?}") };
    assert_eq!(role, "user");
    assert_eq!(messages.last_text(), *text);
    text.clone()
}

async fn run(f: &Flow, texts: &[&str]) {
    for text in texts {
        f.push("text", *text).await.unwrap();
    }
    f.run().await.unwrap();
}

#[tokio::test]
async fn all_values_are_one_text_as_they_are() {
    let text = source("text");
    let f = flow([column("story", (&text, this()), story.document())]).unwrap();
    run(&f, &["<text> a & b\n", "", " </text>  "]).await;
    assert_eq!(content(&f, "story", 2), "<text> a & b\n[0][1] </text>  ");
    // The cost is that of the texts alone.
    let messages = f.messages("story", 2).unwrap();
    let tokens: usize = messages.parts().map(|part| part.tokens()).sum();
    assert_eq!((tokens, messages.tokens()), (4 + 1 + 0 + 1 + 3, 9));
    assert_eq!(messages.breakdown("").tokens, 9);
    let rendering = Rendering::new("", &messages).merged();
    assert_eq!(rendering, json!([{ "role": "user", "content": "<text> a & b\n[0][1] </text>  " }]));
    // Blocks are parts, so that a cache finds them; a model reads one text.
    let body = Rendering::new("", &messages).anthropic();
    let blocks = body["messages"][0]["content"].as_array().unwrap();
    let text: String = blocks.iter().map(|block| block["text"].as_str().unwrap()).collect();
    assert_eq!((text, body["messages"].as_array().unwrap().len()), (content(&f, "story", 2), 1));
}

#[tokio::test]
async fn views_of_a_document_have_their_order_windows_and_groups_without_tags() {
    let (text, hint) = (source("text"), source("hint"));
    let views = (group("both", (text.window(2), hint.latest().context().elided())), this().latest());
    let f = flow([column("story", views, story.document())]).map(drop);
    assert!(f.unwrap_err().to_string().contains("in the group `both`"));

    let views = (group("both", (text.window(2), hint.latest().elided())), this().latest());
    let f = flow([column("story", views, story.document())]).unwrap();
    for step in 0..3 {
        f.push("text", format!("t{step} ")).await.unwrap();
        f.push("hint", format!("h{step} ")).await.unwrap();
    }
    f.run().await.unwrap();
    assert_eq!(content(&f, "story", 0), "t0 h0 ");
    assert_eq!(content(&f, "story", 2), "t1 [1]t2 <elided>2 values of hint</elided>h2 ");
    // A view of its own past that reaches back further than all others needs no lead.
    let views = (text.latest(), this());
    let f = flow([column("story", views, story.document())]).unwrap();
    run(&f, &["a", "b", "c"]).await;
    assert_eq!(content(&f, "story", 2), "[0][1]c");
    let prefix = f.explain_cache("story", 1).unwrap();
    assert_eq!(prefix.bytes, 3);
}

#[tokio::test]
async fn a_budget_omits_pieces_of_a_document() {
    let text = source("text");
    let story = |cx: Context| async move { format!("{:040}", cx.step()) };
    let budget = |budget: Budget| budget.token_buffer(0).minimum_recent(1);
    let views = || (&text, this());
    let f = flow([
        column("rolling", views(), story.document().budget(budget(Budget::of(60)).rolling_window())),
        column("middle", views(), story.document().budget(budget(Budget::of(60)))),
    ])
    .unwrap();
    let texts: Vec<String> = (0..6).map(|step| format!("{step}").repeat(40)).collect();
    run(&f, &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let expected: String =
        (3..6).flat_map(|step| [texts[step].clone(), format!("{step:040}")]).take(5).collect();
    assert_eq!(content(&f, "rolling", 5), format!("{:040}{expected}", 2));
    let middle = content(&f, "middle", 5);
    assert!(middle.starts_with(&texts[0]) && middle.contains("0<elided>"), "{middle}");
    assert!(f.messages("middle", 5).unwrap().tokens() <= 60);
}

#[tokio::test]
async fn documents_in_tiers_and_instructions_stay_where_they_are() {
    let (files, text, rules) = (documents("files"), source("text"), source("rules"));
    let views = (files.tiered(), &text, rules.latest().instruction(), this());
    let model = ScriptedModel::new(|request| request.messages.len().to_string());
    let f = flow([column("story", views, prompt("Go on.").model(model.clone()).document())]).unwrap();
    for step in 0..2 {
        let update = if step == 0 { Update::new().file("a.md", "A") } else { Update::new() };
        f.push("files", update.to_text().unwrap()).await.unwrap();
        f.push("text", format!("t{step}")).await.unwrap();
        f.push("rules", "Be kind.").await.unwrap();
    }
    f.run().await.unwrap();
    assert_eq!(
        serde_json::to_value(f.messages("story", 1).unwrap()).unwrap(),
        json!([
            { "role": "user", "content": "# Working Files\n\na.md\n```\nA\n```" },
            { "role": "assistant", "content": "Ok." },
            { "role": "user", "content": "t03t1" },
        ])
    );
    assert_eq!(&*model.requests()[1].system, "Go on.\n\nBe kind.");
    let parts: usize = f.messages("story", 1).unwrap().parts().map(|part| part.tokens()).sum();
    assert_eq!(parts, f.messages("story", 1).unwrap().tokens());
}
