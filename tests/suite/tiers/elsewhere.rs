//! Tiered contexts outside their flow: in cassettes, and after a way through a file of rows.

use columnar::BoxError;
use columnar::documents::{Kind, Update};
use columnar::model::{Chunk, End, Finish, Model, Usage};
use columnar::prelude::*;
use columnar::rows::{read_json_lines, write_json_lines};
use columnar::store::MemoryStore;
use columnar::testing::{Cassette, Record, context_text};
use columnar_tests::models::ChunkModel;

flow! {
    struct Coding<M: Model + Clone>(model: M) {
        source files: Documents;
        source user;
        column coder(files.tiered().target(4), user, self) =
            prompt("Answer.").model(model.clone()).max_tokens(50);
    }
}

/// A model whose replies have a number and the usage of their request.
fn model() -> ChunkModel {
    ChunkModel::new("talker", |call, request| {
        let usage = Usage::new(100 + request.messages.len() as u64, 3).cached(call as u64, 0);
        vec![
            Ok(Chunk::Text(format!("Reply {call}."))),
            Ok(Chunk::End(End::new(Finish::Stop).with_usage(usage))),
        ]
    })
}

/// Twelve steps over two files. Both move through the tiers, and one of them is edited at step 8 with this text.
async fn session<M: Model + Clone>(coding: &Coding<M>, text: &str) -> Result<()> {
    for step in 0..12 {
        match step {
            0 => coding.files.push(Update::new().file("a.rs", "fn a() {}").file("b.rs", "fn b() {}")).await?,
            8 => coding.files.push(Update::new().file("b.rs", text)).await?,
            _ => coding.files.push(Update::new()).await?,
        };
        coding.user.push(format!("Question {step}.")).await?;
        coding.run().await?;
    }
    Ok(())
}

fn contexts<M: Model + Clone>(coding: &Coding<M>) -> Result<Vec<String>> {
    (0..12).map(|step| Ok(context_text(&coding.coder.messages(step)?))).collect()
}

#[tokio::test]
async fn a_recorded_session_is_replayed_and_another_text_of_a_document_is_not_recorded() -> Result<()> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("coding.json");
    let recorded = Coding::new(Cassette::open(&path, Record::All).recording(model()));
    session(&recorded, "fn b() { 1 }").await?;

    let player = Cassette::open(&path, Record::Nothing).by_name("talker");
    let replayed = Coding::new(player.clone());
    session(&replayed, "fn b() { 1 }").await?;
    assert_eq!(player.unused(), [""; 0]);
    assert_eq!(contexts(&replayed)?, contexts(&recorded)?);
    for step in 0..12 {
        assert_eq!(replayed.coder.get(step), recorded.coder.get(step));
        let usage = |coding: &Coding<_>| coding.coder.receipt(step).expect("a receipt").usage;
        assert_eq!(usage(&replayed), recorded.coder.receipt(step).expect("a receipt").usage);
    }

    let other = Coding::new(player);
    let error = session(&other, "fn b() { 2 }").await.expect_err("the text is not recorded");
    let Error::Compute { column, step: 8, source, .. } = error else { panic!("{error:?}") };
    let source = source.to_string();
    assert_eq!(column, "coder");
    assert!(source.contains("-   fn b() { 1 }") && source.contains("+   fn b() { 2 }"), "{source}");
    assert_eq!(other.coder.len(), 8, "the steps before are replayed");
    Ok(())
}

#[tokio::test]
async fn rows_have_the_updates_and_bring_each_context_back() -> Result<(), BoxError> {
    let whole = Coding::new(model());
    session(&whole, "fn b() { 1 }").await?;
    let mut rows = Vec::new();
    write_json_lines(&whole, &mut rows).await?;

    let store = MemoryStore::new();
    assert_eq!(read_json_lines(&store, std::io::Cursor::new(rows)).await?, 12);
    let read = Coding::open(store, model()).await?;
    assert_eq!(contexts(&read)?, contexts(&whole)?);
    let fault =
        read.files.push(Update::new().remove(Kind::File, "c.rs")).await.expect_err("there is no such file");
    assert!(matches!(fault, Error::Update { .. }), "{fault:?}");
    Ok(())
}
