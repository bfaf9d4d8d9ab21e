//! Moments that a test cannot reach from outside.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context as TaskContext, Wake};

use futures::FutureExt;

use super::hub::{Hub, HubHandle, Stop};
use super::parts::HasParts as _;
use super::subscription::Subscription;
use super::task::run;
use crate::declare::Name;
use crate::prelude::*;

/// Counts the holders of a hub at the moment when it is woken.
struct Holders(Weak<Hub>, AtomicUsize);

impl Wake for Holders {
    fn wake(self: Arc<Self>) {
        self.1.store(self.0.strong_count(), Ordering::SeqCst);
    }
}

/// The task ends when no handle is left. A handle that held the flow until after that moment kept the store from being
/// opened again.
#[test]
fn a_handle_releases_the_flow_before_the_task_learns_that_it_is_gone() -> Result<()> {
    let f = flow([source("user")])?;
    let hub = Arc::new(Hub::new(f.__parts()));
    let mut requests = hub.control.subscribe();
    let handle = HubHandle::new(&hub).expect("a new hub is open");
    let holders = Arc::new(Holders(Arc::downgrade(&hub), AtomicUsize::new(usize::MAX)));
    drop(hub);

    let mut request = pin!(requests.changed());
    let waker = Arc::clone(&holders).into();
    assert!(request.as_mut().poll(&mut TaskContext::from_waker(&waker)).is_pending());
    drop(handle);
    assert_eq!(holders.1.load(Ordering::SeqCst), 0);
    Ok(())
}

/// A shutdown that came between the decision to run and the first cell was without effect: all that was pushed was
/// computed first.
#[tokio::test]
async fn v6_a_run_that_has_not_begun_computes_nothing_after_a_shutdown() -> Result<()> {
    let f = flow([column("echo", source("user").latest(), async |_: Context| "echo")])?;
    f.push("user", "hello").await?;
    let hub = Hub::new(f.__parts());
    let mut requests = hub.control.subscribe();
    hub.stop(Stop::Shutdown);
    run(&hub, &mut requests).await;
    assert_eq!(f.get("echo", 0), None);
    Ok(())
}

/// A reader that looked at a text just before it was discarded continued with the text of the next attempt.
#[test]
fn the_texts_of_two_attempts_are_never_joined() -> Result<()> {
    let f = flow([column("answer", source("user").latest(), prompt("Answer."))])?;
    let hub = Arc::new(Hub::new(f.__parts()));
    let handle = HubHandle::new(&hub).expect("a new hub is open");
    let mut events = Subscription::<Name>::new(handle, f.shared.stored_now());
    let column = Name::new("answer").expect("a name");
    let delta = |step, text: &str| Event::Delta { column: column.clone(), step, text: text.to_owned() };
    // The more texts there are, the longer a reader looks.
    (1..100).for_each(|step| hub.feed().record(delta(step, "c")));
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for attempt in 1..=20_000 {
                // A short text and a long one by turns, each of one letter.
                hub.feed().record(delta(0, if attempt % 2 == 1 { "a" } else { "bbb" }));
                let column = column.clone();
                let error = String::new();
                hub.feed().record(Event::Retry { column, step: 0, attempt, error });
            }
        });
        let mut shown = String::new();
        while !writer.is_finished() {
            match events.next().now_or_never().flatten() {
                Some(Event::Delta { step: 0, text, .. }) => shown += &text,
                Some(Event::Retry { step: 0, .. }) => shown.clear(),
                _ => {}
            }
            assert!(!(shown.contains('a') && shown.contains('b')), "{shown}");
        }
    });
    Ok(())
}
