//! Typed columns in Parquet: numbers and booleans of their own types, and the same texts again.

use std::future::{self, Ready};
use std::sync::Arc;

use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::{Column, Json};
use columnar_tests::rows::Format;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Review {
    stars: u8,
    note: String,
}

/// A step that returns these texts in turn.
fn texts(texts: [&'static str; STEPS]) -> impl Fn(Context) -> Ready<&'static str> + Clone {
    move |cx| future::ready(texts[cx.step()])
}

const STEPS: usize = 4;

fn columns() -> Vec<Column> {
    let user = source("user");
    let review = |cx: Context| async move { Json(Review { stars: 3, note: cx.step().to_string() }) };
    vec![
        column("stars", user.latest(), texts(["1", "0", "5", "255"]).typed::<u8>()),
        column(
            "sum",
            user.latest(),
            texts(["-9223372036854775808", "9223372036854775807", "0", "7"]).typed::<i64>(),
        ),
        column(
            "huge",
            user.latest(),
            texts(["18446744073709551615", "9007199254740993", "0", "1"]).typed::<u64>(),
        ),
        column(
            "score",
            user.latest(),
            texts(["0.50", "1e2", "0.1234567890123456789", "-3.25"]).typed::<f64>(),
        ),
        column("good", user.latest(), texts(["true", "false", "true", "false"]).typed::<bool>()),
        column("perhaps", user.latest(), texts(["1", "null", "3", "null"]).typed::<Option<u8>>()),
        column("name", user.latest(), texts(["\"a\"", "\"\"", "\"\\u00e9\"", "\"7\""]).typed::<String>()),
        column("list", user.latest(), texts(["[1, 2]", "[]", "[0]", "[1]"]).typed::<Vec<u8>>()),
        column("review", user.latest(), review.typed::<Review>()),
        column("plain", user.latest(), texts(["1", "2.50", "true", ""])),
    ]
}

#[tokio::test]
async fn typed_columns_are_read_as_they_were_written() -> Outcome {
    let f = flow(columns())?;
    f.push_all("user", (0..STEPS).map(|step| step.to_string())).await?;
    f.run().await?;
    f.push("user", "not computed").await?;
    let table = Format::Parquet.write(&f).await?;
    let store = Arc::new(MemoryStore::new());
    table.read(&store).await?;
    let again = Flow::open(Arc::clone(&store), columns()).await?;
    for name in f.order() {
        for step in 0..STEPS {
            assert_eq!(again.get(&name, step), f.get(&name, step), "`{name}` at step {step}");
        }
    }
    assert_eq!((again.read("score", 0)?, again.read::<u8>("stars", 3)?), (Some(0.5), Some(255)));
    assert!(Format::Parquet.write(&again).await?.bytes == table.bytes);
    // The same table once more changes nothing: its texts are those that are stored.
    drop(again);
    table.read(&store).await?;
    Ok(())
}
