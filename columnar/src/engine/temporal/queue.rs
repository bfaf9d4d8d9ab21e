//! The workflow: the queue of the calls of one flow, and the timer of its next run.
//!
//! Its code is replayed from the history of each open queue, also after an update of the library. A change of the order in which
//! it waits, starts activities or timers needs another name of the workflow.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use temporalio_common::RetryPolicy;
use temporalio_macros::{workflow, workflow_methods};
use temporalio_sdk::workflows::select;
use temporalio_sdk::{
    ActivityCancellationType, ActivityOptions, CancellableFuture, ContinueAsNewOptions, WaitConditionOptions,
    WorkflowCancellationToken, WorkflowContext, WorkflowContextView, WorkflowResult,
};

use super::activity::{CALL_TIMEOUT, FlowActivities, HEARTBEAT_TIMEOUT};
use super::payloads::{ClientRequest, Outcome, OwnedRequest};
use crate::declare::error::BoxError;
use crate::engine::call::{EngineCall, EngineReply};

/// The time after the last call when the queue of a flow ends. A later call begins another one.
const IDLE: Duration = Duration::from_hours(24);

/// The number of requests whose outcomes the queue of a flow knows.
const KNOWN_REQUESTS: usize = 500;

/// The longest pause between two attempts of a call.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// The reason why a queue carries out no request: its history has grown long, or somebody has cancelled the workflow. Another
/// queue does.
pub(super) const ENDING: &str = "the queue of this flow ends";

/// The state that a queue hands over when its history has grown long.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FlowQueue {
    /// The key of the flow.
    pub(super) key: String,
    /// The calls that wait, with the id of the request. A run that the flow was woken for has none.
    waiting: VecDeque<(Option<String>, EngineCall)>,
    /// The last requests with their outcomes.
    known: VecDeque<(String, Outcome)>,
    /// The next run that a worker has asked for, and its time in milliseconds since 1970.
    later: Option<(u64, EngineCall)>,
}

impl FlowQueue {
    pub(super) fn new(key: String) -> Self {
        Self { key, ..Self::default() }
    }

    /// The next call at this time.
    fn next(&mut self, now: u64) -> Option<(Option<String>, EngineCall)> {
        if let Some((_, run)) = self.later.take_if(|(due, _)| *due <= now) {
            self.waiting.push_back((None, run));
        }
        self.waiting.pop_front()
    }

    /// One run computes all that is missing, so the earliest is enough.
    fn wake(&mut self, due: u64, run: EngineCall) {
        if self.later.as_ref().is_none_or(|(earlier, _)| due < *earlier) {
            self.later = Some((due, run));
        }
    }

    fn remember(&mut self, request: String, outcome: Outcome) {
        self.known.push_back((request, outcome));
        if self.known.len() > KNOWN_REQUESTS {
            self.known.pop_front();
        }
    }

    fn outcome(&self, request: &str) -> Option<&Outcome> {
        self.known.iter().rev().find(|(id, _)| id == request).map(|(_, outcome)| outcome)
    }
}

/// The owner of a flow: a workflow whose id is the key.
#[workflow]
pub(crate) struct FlowOwner {
    queue: FlowQueue,
    /// Cancels the run in progress.
    running: Option<WorkflowCancellationToken>,
    /// The ids of the requests whose clients wait.
    requests: Vec<String>,
    /// Whether the history is to begin anew.
    is_ending: bool,
}

#[workflow_methods]
impl FlowOwner {
    #[init]
    fn new(_ctx: &WorkflowContextView, queue: FlowQueue) -> Self {
        Self { queue, running: None, requests: Vec::new(), is_ending: false }
    }

    #[run(name = "columnar-flow")]
    pub(crate) async fn run(ctx: &mut WorkflowContext<Self>) -> WorkflowResult<()> {
        loop {
            if ctx.cancellation_token().is_cancelled() {
                ctx.state_mut(Self::turn_away);
                ctx.wait_condition_with_options(Self::has_ended, uncancelled()).await?;
                // Returns the error by which the workflow ends as cancelled.
                ctx.wait_condition(|_| false).await?;
            }
            let now = milliseconds(ctx.workflow_time());
            if ctx.continue_as_new_suggested() {
                ctx.state_mut(|owner| owner.is_ending = true);
            }
            if let Some((request, call)) = ctx.state_mut(|owner| owner.queue.next(now)) {
                carry_out(ctx, request, call).await;
            } else if ctx.state(Self::has_ended) {
                let queue = ctx.state(|owner| owner.queue.clone());
                ctx.continue_as_new(queue, ContinueAsNewOptions::default())?;
            } else if is_over(ctx, now).await? {
                return Ok(());
            }
        }
    }

    /// A cancellation waits for nothing.
    #[update_validator(request)]
    fn has_room(&self, _ctx: &WorkflowContextView, request: &ClientRequest) -> Result<(), BoxError> {
        if self.is_ending && request.call != EngineCall::Cancel { Err(ENDING.into()) } else { Ok(()) }
    }

    /// Returns the outcome of a request when its call was carried out.
    #[update]
    pub(crate) async fn request(ctx: &mut WorkflowContext<Self>, request: ClientRequest) -> Outcome {
        let ClientRequest { id, call } = request;
        if call == EngineCall::Cancel {
            if let Some(running) = ctx.state(|owner| owner.running.clone()) {
                running.cancel();
            }
            return Ok(EngineReply::Cancelled);
        }
        ctx.state_mut(|owner| {
            if owner.queue.outcome(&id).is_none() && !owner.requests.contains(&id) {
                owner.queue.waiting.push_back((Some(id.clone()), call));
            }
            owner.requests.push(id.clone());
        });
        let waited =
            ctx.wait_condition_with_options(|owner| owner.queue.outcome(&id).is_some(), uncancelled());
        // Nobody cancels the wait, so there is no error.
        let _ = waited.await;
        ctx.state_mut(|owner| {
            if let Some(position) = owner.requests.iter().position(|waiting| *waiting == id) {
                owner.requests.swap_remove(position);
            }
            owner.queue.outcome(&id).cloned().unwrap_or_else(|| Err(ENDING.to_owned()))
        })
    }
}

impl FlowOwner {
    fn has_ended(&self) -> bool {
        self.is_ending && self.requests.is_empty()
    }

    /// Lets the clients of the calls that wait ask another queue.
    fn turn_away(&mut self) {
        self.is_ending = true;
        while let Some((request, _)) = self.queue.waiting.pop_front() {
            if let Some(request) = request {
                self.queue.remember(request, Err(ENDING.to_owned()));
            }
        }
    }
}

/// Options of a wait that goes on though the workflow is cancelled.
fn uncancelled() -> WaitConditionOptions {
    WaitConditionOptions::builder().cancellation_token(WorkflowCancellationToken::new()).build()
}

/// Lets a worker carry out a call.
async fn carry_out(ctx: &WorkflowContext<FlowOwner>, request: Option<String>, call: EngineCall) {
    // Anything but a run is short, and its client waits for the outcome.
    let running = matches!(call, EngineCall::Run { .. }).then(|| ctx.cancellation_token().child_token());
    let cancel = running.clone().unwrap_or_default();
    let key = ctx.state_mut(|owner| {
        owner.running = running;
        owner.queue.key.clone()
    });
    let options = ActivityOptions::with_start_to_close_timeout(CALL_TIMEOUT)
        .heartbeat_timeout(HEARTBEAT_TIMEOUT)
        .cancellation_type(ActivityCancellationType::WaitCancellationCompleted)
        .cancellation_token(cancel.clone())
        .retry_policy(RetryPolicy::builder().maximum_interval(LONGEST_PAUSE).build())
        .build();
    let done = ctx.execute_activity(FlowActivities::call, OwnedRequest { key, call }, options).await;
    let now = milliseconds(ctx.workflow_time());
    ctx.state_mut(|owner| {
        owner.running = None;
        let outcome = match done {
            Ok(done) => {
                if let Some((after_ms, run)) = done.wake {
                    owner.queue.wake(now.saturating_add(after_ms), run);
                }
                done.outcome
            }
            // No worker had begun.
            Err(_) if cancel.is_cancelled() => Ok(EngineReply::Cancelled),
            Err(error) => Err(error.to_string()),
        };
        if let Some(request) = request {
            owner.queue.remember(request, outcome);
        }
    });
}

/// Waits for a call, or for the time of the next run; whether none came for a long time.
async fn is_over(ctx: &WorkflowContext<FlowOwner>, now: u64) -> WorkflowResult<bool> {
    let due = ctx.state(|owner| owner.queue.later.as_ref().map(|(due, _)| *due));
    let pause = due.map_or(IDLE, |due| Duration::from_millis(due.saturating_sub(now)));
    let mut timer = pin!(ctx.timer(pause));
    let mut called = pin!(ctx.wait_condition(|owner| !owner.queue.waiting.is_empty() || owner.has_ended()));
    select! {
        _ = timer => return Ok(due.is_none()),
        waited = called => waited?,
    }
    timer.cancel();
    Ok(false)
}

fn milliseconds(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use temporalio_client::WorkflowHistory;
    use temporalio_sdk::workflow_replayer::{WorkflowReplayer, WorkflowReplayerOptions};

    use super::*;

    /// Histories of a server, written by `WorkflowHistory::to_json`. Queues with such histories may be open anywhere.
    const RECORDED: [&str; 2] =
        [include_str!("histories/asleep.json"), include_str!("histories/cancelled.json")];

    #[tokio::test]
    async fn recorded_histories_are_replayed() {
        let options = WorkflowReplayerOptions::new().register_workflow::<FlowOwner>();
        let replayer = WorkflowReplayer::new(options.expect("a workflow").build()).expect("a replayer");
        for recorded in RECORDED {
            let history = WorkflowHistory::from_json(recorded.as_bytes()).expect("a history");
            replayer.replay_workflow(history).await.expect("the queue does what it did");
        }
    }

    fn run(attempt: u32) -> EngineCall {
        EngineCall::Run { attempt }
    }

    #[test]
    fn the_earliest_run_is_enough_and_waits_for_its_time() {
        let mut queue = FlowQueue::new("ada".to_owned());
        queue.wake(2000, run(1));
        queue.wake(9000, run(4));
        assert_eq!(queue.next(1999), None);
        queue.wake(1000, run(0));
        let push = EngineCall::Push { column: "user".to_owned(), message: "9f2c".to_owned() };
        queue.waiting.push_back((Some("first".to_owned()), push.clone()));
        assert_eq!(queue.next(2500), Some((Some("first".to_owned()), push)));
        assert_eq!(queue.next(2500), Some((None, run(0))));
        assert_eq!(queue.next(u64::MAX), None);
    }

    #[test]
    fn a_queue_knows_the_last_requests_alone() {
        let mut queue = FlowQueue::new("ada".to_owned());
        for step in 0..=KNOWN_REQUESTS {
            queue.remember(step.to_string(), Ok(EngineReply::Pushed { step }));
        }
        assert_eq!(queue.outcome("0"), None);
        assert_eq!(queue.outcome("1"), Some(&Ok(EngineReply::Pushed { step: 1 })));
        assert_eq!(queue.known.len(), KNOWN_REQUESTS);
    }
}
