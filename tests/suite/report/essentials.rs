//! Each cell has an article with what there is to know, whatever became of the cell.

use columnar::cache::CacheCause;
use columnar::model::{End, Finish, Usage};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::report;
use columnar::store::MemoryStore;
use columnar::testing::{ScriptedModel, script};

use super::parsed::Element;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A model with a price, whose replies are served from a cache in part.
fn model() -> ScriptedModel {
    ScriptedModel::new(|request| format!("reply to {} tokens", request.messages.tokens()))
        .named("anthropic/claude-sonnet-5-5")
        .end(|request| {
            let tokens = request.messages.tokens() as u64;
            let usage = Usage::new(tokens + 12_345, 1_234).cached(0, 11_111);
            End::new(Finish::Stop).with_usage(usage).with_id(format!("msg_{tokens}"))
        })
}

flow! {
    struct Chat<M: columnar::model::Model + Clone>(model: M) {
        source user;
        column topics(user.latest)   = prompt("List the topics.").model(model.clone());
        column assistant(user, self) = prompt("You are a helpful assistant.").model(model.clone());
    }
}

#[tokio::test]
async fn every_computed_cell_has_its_reply_and_the_facts_of_its_receipt() -> Outcome {
    let chat = Chat::new(model());
    for question in ["What is a flow?", "And a column?", "Thanks."] {
        chat.user.push(question).await?;
        chat.run().await?;
    }
    let page = Element::parse(&report::html(&chat));
    assert_eq!(page.first("h1").text(), "A flow of 3 steps and 3 columns");
    for (at, column) in ["topics", "assistant"].into_iter().enumerate() {
        for step in 0..3 {
            let article = page.article(at + 1, step).expect("an article");
            assert_eq!(article.first("h3").text(), format!("{column} {step}"));
            assert_eq!(article.first("pre").text(), chat.try_get(column, step)?.unwrap().as_str());
            let receipt = chat.try_receipt(column, step)?.expect("it called a model");
            let facts = article.first("dl").text();
            let id = receipt.id.as_deref().expect("the model gives one");
            let input = format!("Tokens in12,{}", receipt.usage.input - 12_000);
            let expected = [
                "Modelanthropic/claude-sonnet-5-5",
                "Calls1",
                &input,
                "Tokens out1,234",
                "of these written to the cache11,111",
                "Cost$0.0",
                "Finishstop",
                "Last call at",
                " GMT",
                id,
            ];
            for fact in expected {
                assert!(facts.contains(fact), "{fact} is not in {facts}");
            }
            let text = article.text();
            let prefix = chat.explain_cache(column, step)?.to_string();
            let prefix = prefix.split(';').next().unwrap();
            assert!(text.contains(prefix), "{prefix} is not in {text}");
            let audit = chat.audit();
            let call = audit.calls.iter().find(|call| call.column == column && call.step == step).unwrap();
            let cause = call.cause.as_ref().map_or_else(String::new, CacheCause::to_string);
            assert!(text.contains(&cause) && text.contains("Audit: "), "{cause} is not in {text}");
        }
    }
    let bill = page.all("section")[2].text();
    assert!(bill.contains("topics3") && bill.contains(&chat.bill().total().cost.to_string()), "{bill}");
    Ok(())
}

/// The columns, and a column for each state.
fn in_all_states() -> Result<Flow> {
    let user = source("user");
    let late = source("late");
    let odd = |cx: Context| async move { format!("odd {}", cx.step()) };
    let odd = column("odd", user.latest(), odd.when(|cx| cx.step() % 2 == 1));
    let failed = |_: Context| async { Err::<String, _>("no answer") };
    let failed = column("failed", user.latest(), failed.or_skip());
    let empty = column("empty", failed.latest(), script(["unused", "unused"]));
    let broken = |_: Context| async { Err::<String, _>("a failure") };
    let broken = column("broken", (user.latest(), late.latest()), broken);
    flow([user, late, odd, failed, empty, broken])
}

#[tokio::test]
async fn cells_without_a_value_say_why() -> Outcome {
    let f = in_all_states()?;
    f.push_all("user", ["one", "two", "three"]).await?;
    f.push_all("late", ["one", "two"]).await?;
    f.run().await.expect_err("a cell fails");
    // The other columns may not be complete yet.
    let _ = f.run().await;
    let page = Element::parse(&report::html(&f));
    let outline = f.outline();
    let article = |name: &str, step| {
        let column = outline.columns.iter().position(|column| column.name == *name).expect("a column");
        page.article(column, step).expect("an article").text()
    };
    assert!(article("odd", 0).contains("Skipped: the condition of the column does not hold."));
    assert!(!article("odd", 0).contains("Request"), "nothing was asked");
    assert!(article("failed", 0).contains("Skipped: the computation failed: no answer."));
    assert!(
        article("failed", 0).contains("user 0, user, "),
        "the request is shown: {}",
        article("failed", 0)
    );
    assert!(article("empty", 0).contains("Skipped: the cell has nothing to read."));
    // The request of a cell that failed is what its reader looks for.
    assert!(article("broken", 0).contains("Waiting") && article("broken", 0).contains("late 0, user, "));
    assert!(article("late", 2).contains("Waiting"));
    let missing = article("broken", 2);
    assert!(missing.contains("No request is shown: `late` has no value at step 2"), "{missing}");
    assert_eq!(page.all("article").len(), 6 * 3);
    Ok(())
}

#[tokio::test]
async fn cells_that_are_not_in_memory_are_named() -> Outcome {
    let store = MemoryStore::new();
    let topics = column("topics", source("user").latest(), script(["a", "b", "c"]));
    let f = Flow::open(store.clone(), [&topics]).await?;
    f.push_all("user", ["one", "two", "three"]).await?;
    f.run().await?;
    drop(f);
    let f = Flow::open(OpenOptions::new(store).recent(1), [&topics]).await?;
    let page = Element::parse(&report::html(&f));
    for (column, expected) in
        [(0, "Not in memory"), (1, "No request is shown: `user` at step 0 is stored, but not in memory")]
    {
        let text = page.article(column, 0).expect("an article").text();
        assert!(text.contains("Not in memory") && text.contains(expected), "{text}");
    }
    assert!(page.first("header").text().contains("Not in memory, and not in the bills: 2 cells."));
    Ok(())
}

/// Each box of the drawing leads to the row of its column.
#[tokio::test]
async fn the_columns_are_drawn() -> Outcome {
    let page = Element::parse(&report::html(&Chat::new(model())));
    let figure = page.first("figure");
    let links = figure.all("a").into_iter().map(|link| link.attributes["href"].clone());
    assert_eq!(links.collect::<Vec<_>>(), ["#col-user", "#col-topics", "#col-assistant"]);
    let rows = page.first("table").all("span").into_iter().map(|name| name.attributes["id"].clone());
    assert_eq!(rows.collect::<Vec<_>>(), ["col-user", "col-topics", "col-assistant"]);
    assert!(figure.text().contains("topicsmapuser.latest"), "{}", figure.text());
    assert_eq!(
        figure.first("figcaption").text(),
        "── all values, ╌╌ some values. A view without a line shows earlier steps alone."
    );
    Ok(())
}

#[tokio::test]
async fn an_empty_flow_has_a_page() -> Outcome {
    let page = Element::parse(&report::html(&Chat::new(model())));
    assert_eq!(page.first("h1").text(), "A flow of 0 steps and 3 columns");
    assert!(page.all("article").is_empty());
    Ok(())
}
