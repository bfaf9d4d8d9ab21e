//! The edits of a page make the requests again.

use std::collections::BTreeMap;

use columnar::budget::{Budget, Strategy};
use columnar::documents::{Kind, Update};
use columnar::model::Offline;
use columnar::prelude::*;
use columnar::report;
use columnar::testing::script;
use columnar_tests::live::{Live, block_on};
use columnar_tests::strategies::flows;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Strategy as _;
use serde_json::Value as Json;

use super::parsed::{Element, as_shown};

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() }
}

/// The texts of the parts of each request, by the id of the article.
fn replayed(page: &str) -> BTreeMap<String, Vec<String>> {
    let mut requests = BTreeMap::<String, Vec<String>>::new();
    for article in Element::parse(page).all("article") {
        let mut parts = Vec::new();
        for item in article.all("li") {
            assert_eq!(item.attributes["value"], (parts.len() + 1).to_string());
            if item.attributes["class"].starts_with("new") {
                let joined =
                    if item.first("summary").text().ends_with(", after an empty line") { "\n\n" } else { "" };
                parts.push(joined.to_owned() + &item.first("pre").text());
                continue;
            }
            let text = item.text();
            let numbers =
                text.strip_prefix("Repeats part").and_then(|text| text.split_once(" of ")).unwrap().0;
            let mut numbers = numbers.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty());
            let first: usize = numbers.next().unwrap().parse().unwrap();
            let last = numbers.next().map_or(first, |last| last.parse().unwrap());
            let earlier = &requests[&item.first("a").attributes["href"][1..]];
            parts.extend_from_slice(&earlier[first - 1..last]);
        }
        if !parts.is_empty() {
            requests.insert(article.first("h3").attributes["id"].clone(), parts);
        }
    }
    requests
}

/// The texts of the parts of each request, as the script makes them of the blocks.
fn replayed_by_blocks(page: &str) -> BTreeMap<String, Vec<String>> {
    let page = Element::parse(page);
    let data = page.all("script").into_iter().filter(|script| script.attributes.contains_key("id"));
    let data: BTreeMap<&str, Json> = data
        .map(|script| (script.attributes["id"].as_str(), serde_json::from_str(&script.text()).unwrap()))
        .collect();
    let (index, texts) = (&data["index"], &data["texts"]);
    let number = |json: &Json| usize::try_from(json.as_u64().unwrap()).unwrap();
    let text = |json: &Json| texts[number(json)].as_str().unwrap();
    let cell = |column, step| {
        &data[&*format!("b{column}-{}", step / number(&index["block"]))][step % number(&index["block"])]
    };
    let mut requests = BTreeMap::new();
    for column in 0..index["columns"].as_array().unwrap().len() {
        let mut before: Vec<String> = Vec::new();
        for step in 0..number(&index["steps"]) {
            let Some(request) = cell(column, step).get("request") else { continue };
            let mut parts = Vec::new();
            for piece in request["pieces"].as_array().unwrap() {
                if let Json::Array(kept) = piece {
                    parts.extend_from_slice(&before[number(&kept[0])..][..number(&kept[1])]);
                    continue;
                }
                let value = match piece.get("text") {
                    Some(value) => text(value),
                    None => cell(number(&piece["of"][0]), number(&piece["of"][1]))["text"].as_str().unwrap(),
                };
                let around =
                    piece.get("around").map_or(["", ""], |around| [text(&around[0]), text(&around[1])]);
                let separator = piece.get("separator").map_or("", text);
                parts.push([separator, around[0], value, around[1]].concat());
            }
            requests.insert(format!("c{step}-{column}"), parts.clone());
            before = parts;
        }
    }
    requests.retain(|_, parts| !parts.is_empty());
    requests
}

/// Compares all requests that a flow can have, and returns the number.
fn check(flow: &Flow) -> usize {
    let page = report::html(flow);
    let mut requests = replayed(&page);
    let mut by_blocks = replayed_by_blocks(&page);
    let outline = flow.outline();
    let mut count = 0;
    for (at, column) in outline.columns.iter().enumerate() {
        for step in 0..flow.len(&outline.columns[0].name).unwrap() {
            let Ok(messages) = flow.messages(&column.name, step) else { continue };
            let sent: Vec<String> = messages.parts().map(|part| part.text().into_owned()).collect();
            assert_eq!(
                by_blocks.remove(&format!("c{step}-{at}")).as_ref(),
                Some(&sent),
                "{} {step}",
                column.name
            );
            let expected = sent.iter().map(|text| as_shown(text)).collect();
            assert_eq!(requests.remove(&format!("c{step}-{at}")), Some(expected), "{} {step}", column.name);
            count += 1;
        }
    }
    assert!(requests.is_empty() && by_blocks.is_empty(), "{requests:?} {by_blocks:?}");
    count
}

/// The changes of a step: texts of documents by number, or their removal.
fn changes() -> impl proptest::strategy::Strategy<Value = Vec<Vec<(usize, Option<String>)>>> {
    let text = select(vec!["one", "two\n", "<files>", "three\r\nlines\n\n"]).prop_map(str::to_owned);
    vec(vec((0..3_usize, option::of(text)), 0..3), 1..10)
}

async fn coder(changes: &[Vec<(usize, Option<String>)>]) -> Result<Flow> {
    let (files, user) = (documents("files"), source("user"));
    let replies = || script((0..changes.len()).map(|step| format!("reply {step}")));
    let tiered = column("tiered", (files.tiered(), user.all(), this()), replies());
    let compacted = column("compacted", (files.compacted().edits(), user.latest(), this()), replies());
    let f = flow([files, user, tiered, compacted])?;
    let mut present = BTreeMap::new();
    for (step, change) in changes.iter().enumerate() {
        let change: BTreeMap<usize, &Option<String>> =
            change.iter().map(|(file, text)| (*file, text)).collect();
        let mut update = Update::new();
        for (file, text) in change {
            let path = format!("{file}.txt");
            update = match text {
                Some(text) => update.file(&path, text.as_str()),
                None if present.remove(&file).is_some() => update.remove(Kind::File, &path),
                None => continue,
            };
            if let Some(text) = text {
                present.insert(file, text);
            }
        }
        f.push("files", update.to_text().unwrap()).await?;
        f.push("user", format!("question {step}")).await?;
        f.run().await?;
    }
    Ok(f)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn views_and_windows(flow in flows()) {
        let live = Live::declare(&flow, &[0]).unwrap();
        block_on(live.fill(&flow)).unwrap();
        let cells = flow.derived().count() * flow.steps();
        prop_assert_eq!(check(&live.flow), cells);
    }

    #[test]
    fn views_under_a_budget(flow in flows(), tokens in 10..80_usize, strategy in select(vec![Strategy::TruncateMiddle, Strategy::RollingWindow])) {
        let live = Live::declare(&flow, &[0]).unwrap();
        block_on(live.fill(&flow)).unwrap();
        live.flow.set_budget(Budget::of(tokens).token_buffer(1).strategy(strategy));
        check(&live.flow);
    }

    #[test]
    fn documents_in_tiers_and_logs(changes in changes()) {
        let f = block_on(coder(&changes)).unwrap();
        prop_assert_eq!(check(&f), 2 * changes.len());
    }
}

/// A thread repeats the request of another column, so its own previous request is no prefix.
#[tokio::test]
async fn threads() -> Result<()> {
    let user = source("user");
    let answer = column("answer", (user.all(), this()), script(["a", "b", "c"]));
    let title = column("title", (answer.thread(),), prompt("Find a title.").model(Offline::new()));
    let f = flow([user, answer, title])?;
    f.push_all("user", ["one", "two", "three"]).await?;
    f.run().await?;
    assert_eq!(check(&f), 6);
    Ok(())
}

/// A page of a long flow begins in the middle, and its first request is an edit of one that it does not show.
#[tokio::test]
async fn a_long_flow_is_shown_from_its_end() -> Result<()> {
    let steps = 203;
    let answer =
        column("answer", (source("user"), this()), script((0..steps).map(|step| format!("reply {step}"))));
    let f = flow([answer])?;
    f.push_all("user", (0..steps).map(|step| format!("question {step}"))).await?;
    f.run().await?;
    let page = Element::parse(&report::html(&f));
    assert_eq!(page.all("article").len(), 2 * 200);
    let article = page.article(1, 3).expect("the first shown step");
    let kept = article.first("li");
    let tokens: usize = f.messages("answer", 3)?.parts().take(5).map(|part| part.tokens()).sum();
    assert_eq!(kept.text(), format!("Repeats parts 1 to 5 of answer 2, {tokens} tokens"));
    assert!(kept.all("a").is_empty(), "a link would lead nowhere");
    let anchors: Vec<&String> = page.all("h3").iter().map(|heading| &heading.attributes["id"]).collect();
    for link in article
        .all("a")
        .iter()
        .chain(&page.all("td").iter().flat_map(|cell| cell.all("a")).collect::<Vec<_>>())
    {
        assert!(anchors.contains(&&link.attributes["href"][1..].to_owned()), "{link:?}");
    }
    assert!(page.first("main").text().contains("Without a script, the page has the steps from 3 on."));
    Ok(())
}
