//! The activity: a worker carries out a call of a flow.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::{BoxFuture, Either, FutureExt, select};
use temporalio_client::errors::AsyncActivityError;
use temporalio_client::{ActivityIdentifier, AsyncActivityHandle, Client, RpcOptions};
use temporalio_macros::activities;
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::sleep;

use super::payloads::{CarriedOut, OwnedRequest};
use crate::engine::call::{CallError, EngineCall, OwnedCall, Work};
use crate::engine::worker::FlowWorker;

/// The time of a run, and of the cells that it waits for.
pub(super) const CALL_TIMEOUT: Duration = Duration::from_hours(24);

/// The time without a heartbeat after which the worker of a call is dead, and another one gets the call.
pub(super) const HEARTBEAT_TIMEOUT: Duration = Duration::from_secs(20);

/// The time between two heartbeats, and the longest that a cancellation needs to arrive.
const HEARTBEAT: Duration = Duration::from_secs(4);

/// Carries out calls with a worker.
pub(crate) struct FlowActivities(pub(super) FlowWorker);

#[activities]
impl FlowActivities {
    #[activity(name = "columnar-call")]
    pub(crate) async fn call(
        self: Arc<Self>,
        ctx: ActivityContext,
        request: OwnedRequest,
    ) -> Result<CarriedOut, ActivityError> {
        let told = ctx.heartbeat_details().deserialize()?;
        let token = ActivityIdentifier::from_task_token(ctx.info().task_token.clone().into());
        let owned = TemporalCall {
            key: request.key,
            attempt: ctx.client().get_async_activity_handle(token),
            told: AsyncMutex::new(told.unwrap_or_default()),
            wake: Mutex::default(),
            cancelled: Notify::new(),
        };
        let served = match select(pin!(self.0.serve(request.call, &owned)), pin!(owned.keep())).await {
            Either::Left((served, _)) => served,
            Either::Right((Err(lost), _)) => return Err(lost.into()),
        };
        let outcome = match served {
            Ok(reply) => Ok(reply),
            Err(CallError::Refused(error)) => Err(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let wake = owned.wake.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(CarriedOut { outcome, wake })
    }
}

/// An attempt of a call.
struct TemporalCall {
    key: String,
    attempt: AsyncActivityHandle<Client>,
    /// The results that this attempt and earlier ones have told. Locked during a heartbeat, so that none overtakes a later one.
    told: AsyncMutex<HashMap<String, String>>,
    wake: Mutex<Option<(u64, EngineCall)>>,
    cancelled: Notify,
}

impl TemporalCall {
    /// Sends heartbeats until the server says that the call belongs to another attempt.
    async fn keep(&self) -> Result<Infallible, AsyncActivityError> {
        loop {
            sleep(HEARTBEAT).await;
            let told = self.told.lock().await;
            if let Err(lost @ AsyncActivityError::NotFound(_)) = self.beat(&told).await {
                return Err(lost);
            }
        }
    }

    /// The server stores what was told before this returns. The heartbeat of the SDK's context returns earlier.
    async fn beat(&self, told: &HashMap<String, String>) -> Result<(), AsyncActivityError> {
        let heard = self.attempt.heartbeat(Some(told.clone()), RpcOptions::default()).await?;
        if heard.cancel_requested {
            self.cancelled.notify_one();
        }
        Ok(())
    }
}

impl OwnedCall for TemporalCall {
    fn key(&self) -> &str {
        &self.key
    }

    fn remember<'c>(
        &'c self,
        name: &'static str,
        work: Work<'c>,
    ) -> BoxFuture<'c, Result<String, CallError>> {
        async move {
            if let Some(told) = self.told.lock().await.get(name) {
                return Ok(told.clone());
            }
            let Work { mut future, cancel } = work;
            let result = match select(&mut future, pin!(self.cancelled.notified())).await {
                Either::Left((result, _)) => result,
                Either::Right(_) => {
                    cancel.notify_one();
                    future.await
                }
            }?;
            let mut told = self.told.lock().await;
            told.insert(name.to_owned(), result.clone());
            self.beat(&told).await.map_err(|error| CallError::Again(error.into()))?;
            Ok(result)
        }
        .boxed()
    }

    fn wake(&self, after: Duration, call: EngineCall) {
        let after_ms = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
        *self.wake.lock().unwrap_or_else(PoisonError::into_inner) = Some((after_ms, call));
    }
}
