//! A spreadsheet of reviews, each rated and sometimes digested: read, computed in two processes, written again. The second
//! process has another prompt, and asks which ratings are of the first one.

use std::fs::{self, File};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::prelude::*;
use columnar::reopen::StaleReason;
use columnar::rows::RowOptions;
use columnar::store::FileStore;
use columnar::testing::ScriptedModel;
use columnar::{CellState, SkipReason};

flow! {
    /// Reviews of a product, a step each.
    pub struct Reviews(rater: ScriptedModel, question: &'static str) {
        source review;
        column stars(review.latest): u8 =
            prompt(*question).or_skip().model(rater.clone()).repairs(0).temperature(0.0);
        column digest(stars.window(3), self.latest) =
            prompt("Digest the ratings.").model(rater.clone()).every(3);
    }
}

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// A model that refuses to rate rude reviews, and its calls.
fn rater() -> (ScriptedModel, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let model = ScriptedModel::new(move |request| {
        counted.fetch_add(1, Ordering::Relaxed);
        let text = request.messages.last_text();
        match &request.schema {
            Some(_) if text.contains("rude") => "I would rather not.".to_owned(),
            Some(_) => "4".to_owned(),
            None => format!("{} texts", request.messages.parts().count()),
        }
    });
    (model, calls)
}

#[tokio::test]
async fn a_spreadsheet_is_rated_and_written_again() -> Outcome {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("reviews.csv");
    let rows = (0..9).map(|at| {
        let text = if at == 4 { "rude" } else { "\"Good, I think.\nReally.\"" };
        format!("{at},{text}\r\n")
    });
    let rows = format!("\u{feff}ID,Review\r\n{}", rows.collect::<Vec<_>>().concat());
    fs::write(&file, rows.replace("4,rude", "4,"))?;
    let store = || FileStore::new(folder.path().join("flow"));
    let options = RowOptions::new().rename("Review", "review").leave_out("ID").source("review");
    let error = options.read_csv(&store(), File::open(&file)?).await.expect_err("a review is missing");
    assert_eq!(error.to_string(), "row 5: `review` has no value, and a source needs one in each row");
    fs::write(&file, &rows)?;
    assert_eq!(options.read_csv(&store(), File::open(&file)?).await?, 9, "nothing was there before");

    let (model, calls) = rater();
    let reviews = Reviews::open(store(), model, "Rate it from 1 to 5.").await?;
    reviews.run().await?;
    assert_eq!((reviews.stars.read(3)?, calls.load(Ordering::Relaxed)), (Some(4), 12));
    // The rude review has no rating, and the digest after it reaches further back.
    let CellState::Skipped(Some(SkipReason::Failed(reason))) = reviews.stars.cell(4) else {
        panic!("it is rated")
    };
    assert_eq!(&*reason, "there is no JSON; expected a `uint8`");
    assert_eq!(reviews.digest.get(5).as_deref(), Some("4 texts"), "a digest and three ratings");
    assert_eq!(reviews.digest.cell(3), CellState::Skipped(Some(SkipReason::Every)));
    let mut table = Vec::new();
    RowOptions::new().rename("Review", "review").write_csv(&reviews, &mut table).await?;
    drop(reviews);
    let table = String::from_utf8(table)?;
    assert!(table.contains(
        "4,rude,,,stars digest,\"[\"\"failed: there is no JSON; expected a `uint8`\"\",\"\"every\"\"]\",\n"
    ));

    let (model, calls) = rater();
    let reviews = Reviews::open(store(), model, "Rate it from 0 to 9.").await?;
    reviews.run().await?;
    let stale = reviews.stale().await?;
    assert_eq!((calls.load(Ordering::Relaxed), stale.cells.len(), stale.unknown), (0, 8, 0));
    assert!(stale.cells.iter().all(|cell| cell.column == "stars" && cell.reasons == [StaleReason::Prompt]));
    Ok(())
}
