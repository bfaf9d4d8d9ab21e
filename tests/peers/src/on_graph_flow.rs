//! graph-flow: one task after the other, and a task that runs its children at once. It has no node with two
//! inputs, so a chain and a row are what it can run. Graphs are built before the time starts; a session is
//! part of each run. A node puts its value into the session and reads none, which is less than the others do.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use graph_flow::fanout::FanOutTask;
use graph_flow::{
    Context, ExecutionStatus, Graph, GraphBuilder, NextAction, Result, Session, Task, TaskResult,
};

use crate::value;

struct Node {
    id: String,
    value: Arc<str>,
    next: NextAction,
}

#[async_trait]
impl Task for Node {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, context: Context) -> Result<TaskResult> {
        context.set(self.id.as_str(), &*self.value)?;
        Ok(TaskResult::new(None, self.next.clone()))
    }
}

fn nodes(size: usize) -> impl Iterator<Item = Arc<dyn Task>> {
    let value = value();
    (0..size).map(move |at| -> Arc<dyn Task> {
        let next = if at + 1 == size { NextAction::End } else { NextAction::ContinueAndExecute };
        Arc::new(Node { id: format!("n{at}"), value: value.clone(), next })
    })
}

async fn run(graph: &Graph, size: usize, runs: u32) -> Duration {
    let (start, last) = (graph.start_task_id().expect("there are tasks"), format!("n{}", size - 1));
    let mut took = Duration::ZERO;
    for at in 0..=runs {
        let started = Instant::now();
        let mut session = Session::new_from_task("session".into(), start);
        let ended = graph.execute_session(&mut session).await.expect("nothing fails");
        let time = started.elapsed();
        took += if at > 0 { time } else { Duration::ZERO };
        assert!(matches!(ended.status, ExecutionStatus::Completed));
        assert_eq!(session.context.get::<String>(&last).expect("it is kept").len(), 100);
    }
    took
}

pub async fn chain(size: usize, runs: u32) -> Duration {
    let graph = nodes(size).fold(GraphBuilder::new("chain"), GraphBuilder::add_task);
    let graph = (1..size).fold(graph, |graph, at| graph.add_edge(format!("n{}", at - 1), format!("n{at}")));
    run(&graph.build().expect("a sound graph"), size, runs).await
}

pub async fn wide(size: usize, runs: u32) -> Duration {
    let all = FanOutTask::new("all", nodes(size).collect()).with_next_action(NextAction::End);
    let graph = GraphBuilder::new("wide").add_task(all).build().expect("a sound graph");
    run(&graph, size, runs).await
}
