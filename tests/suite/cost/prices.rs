//! The prices of the registry against a table that others maintain, genai-prices.
//!
//! `tests/oracle/prices run cargo test -p columnar-tests --test suite prices -- --nocapture`

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use columnar::cache::Lifetime;
use columnar::usage::{Dollars, Price};
use serde_json::Value as Json;

/// The Python interpreter that has the table, set by `tests/oracle/prices`.
const ORACLE: &str = "COLUMNAR_ORACLE";

/// A reason for which the registry has other prices than the table.
struct Reason {
    models: &'static [&'static str],
    /// What the names of the prices begin with.
    prices: &'static [&'static str],
    why: &'static str,
}

/// Each of these models differs in each of these prices.
const REASONS: &[Reason] = &[
    Reason {
        models: &[
            "openai/gpt-5-chat",
            "openai/gpt-5-codex",
            "openai/gpt-5.1-chat",
            "openai/gpt-5.1-codex",
            "openai/gpt-5.2-chat",
            "openai/gpt-5.2-codex",
        ],
        prices: &["batch.", "flex."],
        why: "the table counts it as the model with the plain name; the page has no such rate for it, and it has ended",
    },
    Reason {
        models: &["openai/gpt-5.5-pro"],
        prices: &["batch.long.", "flex.long."],
        why: "the table has no rate for long requests that wait; the registry has half of the plain one",
    },
    Reason {
        models: &["openai/gpt-5.4"],
        prices: &["batch.long.read", "flex.long.read"],
        why: "the page rounds up the price of short requests, and the registry doubles that",
    },
    Reason {
        models: &["openai/o4-mini"],
        prices: &["flex.read"],
        why: "the page has no round share, and the registry has whole percents",
    },
    Reason {
        models: &["gemini/gemini-3.5-flash-lite"],
        prices: &["batch.read"],
        why: "the page has no round share, and the registry has whole percents",
    },
    Reason {
        models: &["kimi/kimi-k3", "kimi/kimi-k3.1-pro", "kimi/kimi-k3.1-pro-highspeed"],
        prices: &["plain.long_write"],
        why: "the client cannot ask for that lifetime",
    },
];

/// The prices of a model by their names, such as `plain.long.read`, in dollars for a million tokens.
type Prices = BTreeMap<String, Dollars>;

/// The prices of the registry.
fn ours(price: &Price) -> Prices {
    let rates = [("plain", Some(*price)), ("batch", price.batch()), ("flex", price.flex())];
    let mut prices = Prices::new();
    for (rate, price) in rates {
        let Some(price) = price else { continue };
        let long = price.long_request();
        let sides = [(rate.to_owned(), Some(price)), (format!("{rate}.long"), long.map(|(_, price)| price))];
        for (side, price) in sides {
            let Some(price) = price else { continue };
            let long_write = price.cache_write(Lifetime::Long);
            let write = price.cache_write(Lifetime::Short).expect("each provider has the short one");
            let fields = [
                ("input", Some(price.input())),
                ("output", Some(price.output())),
                ("read", Some(price.cache_read())),
                ("write", Some(write)),
                ("long_write", long_write),
            ];
            prices.extend(fields.into_iter().filter_map(|(name, it)| Some((format!("{side}.{name}"), it?))));
        }
        #[expect(clippy::cast_precision_loss, reason = "it is far below 2^52")]
        let above = long.map(|(above, _)| (format!("{rate}.long.above"), Dollars::new(above as f64)));
        prices.extend(above);
    }
    prices
}

/// The prices of the table. Cached tokens without a price cost as much as others.
fn theirs(row: &Json) -> Prices {
    let mut prices = Prices::new();
    for rate in ["plain", "batch", "flex"] {
        let sides = [(rate.to_owned(), &row[rate]), (format!("{rate}.long"), &row[rate]["long"])];
        for (side, figures) in sides {
            let Some(figures) = figures.as_object() else { continue };
            let input = figures["input"].as_f64().expect("each model has one");
            prices.extend(["read", "write"].map(|name| (format!("{side}.{name}"), Dollars::new(input))));
            let known = figures.iter().filter_map(|(name, it)| Some((name, it.as_f64()?)));
            prices.extend(known.map(|(name, it)| (format!("{side}.{name}"), Dollars::new(it))));
        }
    }
    prices
}

/// What the two say about each price that they differ in.
fn differences(ours: &Prices, theirs: &Prices) -> Vec<(String, String)> {
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let has = |prices: &Prices, rate: &str| prices.keys().any(|name| name.starts_with(rate));
    let different = names.into_iter().filter(|name| {
        let rate = name.split_inclusive('.').next().expect("a name has parts");
        // The table does not have all rates of all models, and few long lifetimes.
        let is_told = has(theirs, rate) && (theirs.contains_key(*name) || !name.ends_with("long_write"));
        is_told && ours.get(*name) != theirs.get(*name)
    });
    let say = |price: Option<&Dollars>| price.map_or_else(|| "none".to_owned(), Dollars::to_string);
    let said = |name: &String| {
        format!("{name}: {}, and {} in the table", say(ours.get(name)), say(theirs.get(name)))
    };
    different.map(|name| (name.clone(), said(name))).collect()
}

/// What the table has of these models, a line for each, if there is an interpreter.
fn ask(names: &[&str]) -> Option<Vec<Json>> {
    let python = env::var(ORACLE).ok()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/prices.py");
    let mut ask = Command::new(python);
    let ask = ask.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut ask = ask.expect("the interpreter can be started");
    let mut input = ask.stdin.take().expect("it is piped");
    input.write_all(names.join("\n").as_bytes()).expect("it reads the names");
    drop(input);
    let output = ask.wait_with_output().expect("it ends");
    assert!(output.status.success(), "the script failed");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a line for each")).collect())
}

/// A wrong price is a wrong bill. The registry had several that a table of others had right, and lacked models.
#[test]
fn each_price_is_that_of_the_table_or_has_a_reason() {
    let priced: BTreeMap<&str, &Price> =
        Price::all().filter(|(_, price)| price.output() > Dollars::ZERO).collect();
    let names: Vec<&str> = priced.keys().copied().collect();
    let Some(rows) = ask(&names) else {
        eprintln!("SKIPPED the prices of the table: {ORACLE} is not set; `tests/oracle/prices run` sets it");
        return;
    };
    let (mut known, mut compared) = (BTreeSet::new(), 0);
    let (mut used, mut wrong, mut different) = (BTreeSet::new(), Vec::new(), 0);
    for row in &rows {
        let Some(model) = row["model"].as_str() else { continue };
        known.insert(model);
        let (ours, theirs) = (ours(priced[model]), theirs(row));
        compared += theirs.len();
        for (name, said) in differences(&ours, &theirs) {
            different += 1;
            let reason = REASONS.iter().filter(|reason| reason.models.contains(&model)).find_map(|reason| {
                let begin = reason.prices.iter().find(|begin| name.starts_with(**begin))?;
                Some((*begin, reason.why))
            });
            match reason {
                Some((begin, why)) => {
                    used.insert((model, begin));
                    println!("{model} {said}: {why}");
                }
                None => wrong.push(format!("{model} {said}")),
            }
        }
    }
    let unknown: Vec<&str> = names.iter().copied().filter(|name| !known.contains(name)).collect();
    println!("{} of {} models compared: {compared} prices, {different} different", known.len(), names.len());
    println!("{} are not in the table: {}", unknown.len(), unknown.join(", "));
    let others = rows.iter().find_map(|row| row["others"].as_array()).expect("it is the last line");
    let others: Vec<&str> = others.iter().filter_map(Json::as_str).collect();
    println!("{} of the table are not in the registry: {}", others.len(), others.join(", "));
    let all = REASONS.iter().flat_map(|reason| reason.models.iter().map(move |model| (model, reason.prices)));
    let all = all.flat_map(|(model, prices)| prices.iter().map(move |begin| (*model, *begin)));
    let stale: Vec<_> = all.filter(|reason| !used.contains(reason)).collect();
    assert!(wrong.is_empty(), "correct these rows, or add a reason to REASONS:\n{}", wrong.join("\n"));
    assert!(stale.is_empty(), "these differ no longer, so their reasons must go: {stale:?}");
    assert!(known.len() > 80, "the table has most models");
}

/// A comparison that finds no difference is worth nothing.
#[test]
fn a_wrong_price_is_found() {
    let row = serde_json::json!({
        "plain": { "input": 2.0, "output": 10.0, "read": 0.2, "long": { "above": 1000, "input": 4.0, "output": 10.0 } },
    });
    let price = |read| Price::new(2.0, 10.0).cached(read, 2.0).beyond(1000, Price::new(4.0, 10.0));
    let differences = |price: &Price| differences(&ours(price), &theirs(&row));
    assert_eq!(differences(&price(0.2)), []);
    let [(name, said)] = &differences(&price(0.3))[..] else { panic!("there is one") };
    assert_eq!((&**name, &**said), ("plain.read", "plain.read: $0.30, and $0.20 in the table"));
    let missing = differences(&Price::new(2.0, 10.0).cached(0.2, 2.0));
    assert!(missing.iter().all(|(name, _)| name.starts_with("plain.long.")), "{missing:?}");
    assert_eq!(missing.len(), 5);
}
