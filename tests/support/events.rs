//! Events of subscriptions, read without waiting and shown as text.

use std::fmt::Display;
use std::iter::from_fn;
use std::time::Duration;

use columnar::Event;
use columnar::flow::ColumnId;
use columnar::service::Subscription;
use futures::FutureExt;
use futures::stream::StreamExt;

/// Lets all tasks continue until each waits. The clock of the test is paused, so no time passes.
pub async fn pause() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// The events that need no waiting.
pub fn ready<I: ColumnId>(events: &mut Subscription<I>) -> Vec<Event<I>> {
    from_fn(|| events.next().now_or_never().flatten()).collect()
}

/// The events that need no waiting, each as a line.
pub fn lines<I: ColumnId + Display>(events: &mut Subscription<I>) -> Vec<String> {
    ready(events).iter().map(line).collect()
}

/// An event as a line: `topics 3 = tea` is a value, and `topics 3 + te` a delta.
///
/// # Panics
///
/// For an unknown type of events.
pub fn line<I: Display>(event: &Event<I>) -> String {
    let cell = format!("{} {}", event.column(), event.step());
    match event {
        Event::Delta { text, .. } => format!("{cell} + {text}"),
        Event::Retry { attempt, error, .. } => format!("{cell} retried after {attempt}: {error}"),
        Event::Failed { error, .. } => format!("{cell} failed: {error}"),
        Event::Skipped { .. } => format!("{cell} skipped"),
        Event::Value { value, .. } => format!("{cell} = {value}"),
        _ => unreachable!("there are no other events"),
    }
}
