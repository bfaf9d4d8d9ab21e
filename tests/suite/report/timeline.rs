//! When cells called their models, in receipts, in the page and in a trace.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use columnar::BoxError;
use columnar::model::{Chunk, Model, Request};
use columnar::prelude::*;
use columnar::report;
use columnar::usage::Receipt;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::Value as Json;
use tokio::time::sleep;

use super::parsed::Element;

/// A model that takes its time, and whose first call fails.
#[derive(Clone)]
struct Unsteady {
    calls: Arc<AtomicUsize>,
    time: Duration,
}

impl Unsteady {
    fn new(ms: u64) -> Self {
        Self { calls: Arc::default(), time: Duration::from_millis(ms) }
    }
}

impl Model for Unsteady {
    fn name(&self) -> &'static str {
        "unsteady"
    }

    fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let chunks = match self.calls.fetch_add(1, Ordering::Relaxed) {
            0 => vec![Err(io::Error::new(io::ErrorKind::ConnectionReset, "said in confidence").into())],
            call => vec![Ok(Chunk::Text(format!("reply {call}"))), Ok(Chunk::stop())],
        };
        let time = self.time;
        stream::once(async move { stream::iter(sleep_for(time, chunks).await) }).flatten().boxed()
    }
}

async fn sleep_for<T>(time: Duration, then: T) -> T {
    sleep(time).await;
    then
}

async fn run(ms: u64) -> Result<Flow> {
    let model = Unsteady::new(ms);
    let draft = prompt("Draft.").model(model.clone()).retry(3);
    let draft = column("draft", source("user").latest(), draft);
    let checked = column("checked", draft.latest(), |cx: Context| async move { cx.step().to_string() });
    let judged = column("judged", checked.latest(), prompt("Judge.").model(model).limit(1));
    let f = flow([draft, checked, judged])?;
    f.push_all("user", ["one", "two", "three"]).await?;
    f.run().await?;
    Ok(f)
}

fn receipts(flow: &Flow, column: &str) -> Vec<Arc<Receipt>> {
    (0..3).map(|step| flow.try_receipt(column, step).unwrap().expect("it called a model")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_receipt_has_the_time_of_each_call_of_several() -> Result<()> {
    let f = run(1000).await?;
    let retried =
        receipts(&f, "draft").into_iter().filter(|receipt| receipt.attempts == 2).collect::<Vec<_>>();
    let [receipt] = &*retried else { panic!("one call fails: {retried:?}") };
    let [first, second] = &*receipt.call_times else { panic!("two calls: {receipt:?}") };
    assert_eq!((first.after, first.ms, second.ms), (0, 1000, 1000));
    assert_eq!((first.error.as_deref(), &second.error), (Some("ConnectionReset"), &None));
    assert!(second.after > 1000, "there is a pause: {receipt:?}");
    assert_eq!(receipt.ms, second.after + 1000);
    assert_eq!(receipt.to_string().parse().as_ref(), Ok(&**receipt));
    let single = receipts(&f, "judged");
    assert!(single.iter().all(|receipt| receipt.call_times.is_empty() && receipt.ms == 1000), "{single:?}");
    Ok(())
}

/// A rate holds calls back that nothing else holds back.
#[tokio::test(start_paused = true)]
async fn a_receipt_has_the_time_for_which_the_first_call_waited() -> Result<()> {
    let model = Unsteady::new(10);
    model.calls.store(1, Ordering::Relaxed);
    let draft = prompt("Draft.").model(model).rate(per_minute(12));
    let f = flow([column("draft", source("user").latest(), draft)])?;
    f.push_all("user", ["one", "two", "three"]).await?;
    f.run().await?;
    let mut waited: Vec<u64> = receipts(&f, "draft").iter().map(|receipt| receipt.waited).collect();
    waited.sort_unstable();
    assert_eq!(waited, [0, 5000, 10_000]);
    Ok(())
}

/// The slices of a track are apart or in each other, else Perfetto does not draw them. This is the rule of its importer.
fn check_tracks(events: &[Json]) {
    let mut tracks = BTreeMap::<u64, Vec<[u64; 2]>>::new();
    for event in events.iter().filter(|event| event["ph"] == "X") {
        let [begin, time] = ["ts", "dur"].map(|name| event[name].as_u64().expect("a time"));
        tracks.entry(event["tid"].as_u64().expect("a track")).or_default().push([begin, begin + time]);
    }
    assert!(tracks.len() > 1);
    for slices in tracks.values() {
        for (at, [begin, end]) in slices.iter().enumerate() {
            for [other_begin, other_end] in &slices[..at] {
                let is_apart = end <= other_begin || other_end <= begin;
                let is_nested =
                    (begin >= other_begin && end <= other_end) || (other_begin >= begin && other_end <= end);
                assert!(is_apart || is_nested, "{slices:?}");
            }
        }
    }
}

/// By the clock of the machine, as receipts have it.
#[tokio::test]
async fn a_trace_and_a_page_have_calls_waiting_and_the_critical_path() -> Result<()> {
    let f = run(30).await?;
    let trace: Json = serde_json::from_str(&report::trace(&f)).expect("a trace is JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    check_tracks(events);
    let named = |name: &str| events.iter().filter(|event| event["name"] == *name).collect::<Vec<_>>();
    for cell in ["draft 0", "draft 1", "draft 2", "judged 0", "judged 1", "judged 2"] {
        let [event] = *named(cell) else { panic!("{cell} is in the trace once") };
        assert_eq!(event["args"]["model"], "unsteady");
    }
    let ([first], [second]) = (&*named("call 1"), &*named("call 2")) else { panic!("two calls of one cell") };
    assert_eq!((&first["args"]["error"], &second["args"]["error"]), (&"ConnectionReset".into(), &Json::Null));
    assert!(named("checked 0").is_empty(), "it called no model");
    // The column takes one cell at a time, so the others wait although what they read is there.
    assert!(!named("waiting").is_empty());
    let critical: Vec<&Json> = events
        .iter()
        .filter(|event| event["args"]["critical path"] == true)
        .map(|event| &event["name"])
        .collect();
    assert!(critical.iter().any(|name| name.as_str().unwrap().starts_with("judged")), "{critical:?}");
    assert!(critical.iter().any(|name| name.as_str().unwrap().starts_with("draft")), "{critical:?}");

    let page = report::html(&f);
    // In the article, in the block and in the timeline: the kind of the error, and not the text.
    assert_eq!(page.matches("call 1: ConnectionReset").count(), 3);
    assert!(!page.contains("said in confidence"));
    let page = Element::parse(&page);
    let drawing = page
        .all("svg")
        .into_iter()
        .find(|svg| svg.attributes.get("class").is_some_and(|class| class == "timeline"))
        .expect("a timeline");
    let bars = drawing.all("rect");
    let of = |class: &str| {
        bars.iter().filter(|bar| bar.attributes.get("class").map_or("", String::as_str) == class).count()
    };
    assert_eq!((of("critical") + of(""), of("again"), of("waited")), (6, 1, named("waiting").len()));
    Ok(())
}
