//! dagx: a graph runs once, so one is built for each run, which is not timed. The source is a node, as a push
//! is part of what is measured of columnar.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dagx::{DagRunner, Task, TaskHandle, task};
use tokio::time::sleep;

use crate::value;

type Text = Arc<str>;

struct Source(Text);

#[task]
impl Source {
    async fn run(&self) -> Text {
        self.0.clone()
    }
}

struct Node(Text);

#[task]
impl Node {
    async fn run(&self, _before: &Text) -> Text {
        self.0.clone()
    }
}

/// A node that takes its time.
struct Slow(Duration);

#[task]
impl Slow {
    async fn run(&self, before: &Text) -> Text {
        sleep(self.0).await;
        before.clone()
    }
}

/// The same, of two inputs.
struct Joined(Duration);

#[task]
impl Joined {
    async fn run(&self, left: &Text, _right: &Text) -> Text {
        sleep(self.0).await;
        left.clone()
    }
}

/// Runs a graph and looks whether the value of its last node was kept.
async fn run(dag: &DagRunner, last: TaskHandle<Text>) -> Duration {
    let started = Instant::now();
    dag.run(|future| drop(tokio::spawn(future))).await.expect("nothing fails");
    let took = started.elapsed();
    assert_eq!(dag.get(last).expect("it is kept").len(), 100);
    took
}

async fn nodes(nodes: usize, runs: u32, is_chain: bool) -> Duration {
    let (mut took, value) = (Duration::ZERO, value());
    for at in 0..=runs {
        let dag = DagRunner::new();
        let source: TaskHandle<Text> = dag.add_task(Source(value.clone())).into();
        let mut last = source;
        for _ in 0..nodes {
            let before = if is_chain { last } else { source };
            last = dag.add_task(Node(value.clone())).depends_on(before);
        }
        let time = run(&dag, last).await;
        took += if at > 0 { time } else { Duration::ZERO };
    }
    took
}

pub async fn chain(size: usize, runs: u32) -> Duration {
    nodes(size, runs, true).await
}

pub async fn wide(size: usize, runs: u32) -> Duration {
    nodes(size, runs, false).await
}

pub async fn skewed(steps: usize, unit: Duration) -> Duration {
    let mut took = Duration::ZERO;
    for _ in 0..steps {
        let dag = DagRunner::new();
        let user: TaskHandle<Text> = dag.add_task(Source(value())).into();
        let a1 = dag.add_task(Slow(3 * unit)).depends_on(user);
        let a2 = dag.add_task(Slow(unit)).depends_on(a1);
        let b1 = dag.add_task(Slow(unit)).depends_on(user);
        let b2 = dag.add_task(Slow(3 * unit)).depends_on(b1);
        let joined = dag.add_task(Joined(unit)).depends_on((&a2, &b2));
        took += run(&dag, joined).await;
    }
    took
}

/// The steps one after the other: a graph has the nodes that it was built with, so a step is a run.
pub async fn queued(steps: usize, unit: Duration) -> Duration {
    let (mut took, mut before) = (Duration::ZERO, value());
    for _ in 0..steps {
        let dag = DagRunner::new();
        let user: TaskHandle<Text> = dag.add_task(Source(value())).into();
        let own: TaskHandle<Text> = dag.add_task(Source(before)).into();
        let topics = dag.add_task(Slow(unit)).depends_on(user);
        let summary = dag.add_task(Joined(unit)).depends_on((&topics, &own));
        let critique = dag.add_task(Joined(unit)).depends_on((&summary, &user));
        let mood = dag.add_task(Slow(unit)).depends_on(user);
        let verdict = dag.add_task(Joined(unit)).depends_on((&critique, &mood));
        let assistant = dag.add_task(Joined(unit)).depends_on((&user, &verdict));
        took += run(&dag, assistant).await;
        before = dag.get(summary).expect("it is kept");
    }
    took
}
