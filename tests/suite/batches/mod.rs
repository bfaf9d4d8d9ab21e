//! Runs by batches, against servers of both interfaces with faults on demand.
//!
//! `cargo test -p columnar-tests --features providers --test suite batches`

mod ends;
mod mixed;
mod rehearsed;
mod resumed;
mod whole;
mod windows;

use std::time::Duration;

use columnar::BatchRun;
use columnar::flow::{ColumnId, LiveFlow};
use columnar::prelude::*;
use columnar_tests::batches::BatchServer;

flow! {
    /// Two levels, and a column that reads itself.
    pub(crate) struct Reviews {
        source review;
        column topics(review.latest)           = prompt("List the topics.").max_tokens(200);
        column mood(topics.latest)             = prompt("Name the mood.").max_tokens(200);
        column story(mood.latest, self.latest) = prompt("Go on with the story.").max_tokens(200);
    }
}

/// A run by batches without pauses.
fn batch<'a, C, I: ColumnId>(flow: &LiveFlow<'a, C, I>, server: &BatchServer) -> BatchRun<'a, I> {
    let pause = Duration::from_millis(1);
    flow.batch(server.provider()).pauses(pause, pause)
}

/// Pushes a review for each number.
async fn push(reviews: &Reviews, count: usize) -> Result<()> {
    for number in 0..count {
        reviews.review.push(format!("review {number}.")).await?;
    }
    Ok(())
}

/// Checks the values of all columns.
pub(crate) fn check(reviews: &Reviews, count: usize) {
    for number in 0..count {
        let topics = reviews.topics.get(number).expect("it is computed");
        assert_eq!(&*topics, format!("Seen: review {number}."));
        let mood = reviews.mood.get(number).expect("it is computed");
        assert_eq!(&*mood, format!("Seen: Seen: review {number}."));
        let story = reviews.story.get(number).expect("it is computed");
        assert!(story.ends_with(&format!("Seen: review {number}.")), "{story}");
    }
}
