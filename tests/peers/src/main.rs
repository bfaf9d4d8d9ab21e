//! Runs peers in Rust on request, and answers with their times. A benchmark starts this program and communicates with it
//! over standard input and output; `tests/support/peers.rs` is the other end.

mod on_dagx;
mod on_graph_flow;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Builder;

/// The value that every node gives.
fn value() -> Arc<str> {
    "x".repeat(100).into()
}

async fn time(peer: &str, work: &str, size: usize, third: u32) -> Option<Duration> {
    let unit = Duration::from_millis(third.into());
    Some(match (peer, work) {
        ("dagx", "chain") => on_dagx::chain(size, third).await,
        ("dagx", "wide") => on_dagx::wide(size, third).await,
        ("dagx", "skewed") => on_dagx::skewed(size, unit).await,
        ("dagx", "queued") => on_dagx::queued(size, unit).await,
        ("graph_flow", "chain") => on_graph_flow::chain(size, third).await,
        ("graph_flow", "wide") => on_graph_flow::wide(size, third).await,
        _ => return None,
    })
}

fn main() {
    // One thread, which is where nodes that do nothing are cheapest, and where the benchmarks run.
    let runtime = Builder::new_current_thread().enable_time().build().expect("a clock is all it needs");
    println!("dagx graph_flow");
    for line in io::stdin().lines() {
        let line = line.expect("a benchmark writes text");
        let words: Vec<&str> = line.split(' ').collect();
        let [peer, work, size, third] = words[..] else { panic!("not a request: {line}") };
        let (size, third) = (size.parse().expect("a number"), third.parse().expect("a number"));
        let took = runtime.block_on(time(peer, work, size, third)).expect("a peer and what it can run");
        println!("{}", took.as_nanos());
    }
}
