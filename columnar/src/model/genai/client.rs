//! How calls are made: the HTTP client below the one of the providers, and silence about them.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::time::Duration;

use ::genai::Client;
use reqwest::redirect::Policy;
use tracing::Dispatch;
use tracing::dispatcher::with_default;

/// A dead address should fail while somebody is still watching; the system waits for minutes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// A client that follows nobody to another place, where the key would go with it, and unpacks nothing, since a
/// few bytes can be packed that fill the memory. `None` if the system has no root certificates.
pub(super) fn client() -> Option<Client> {
    let http = reqwest::Client::builder()
        .redirect(Policy::none())
        .no_gzip()
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .pool_max_idle_per_host(4)
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10))
        .http2_keep_alive_while_idle(true)
        .http2_adaptive_window(true)
        .build()
        .ok()?;
    Client::builder().with_reqwest(http).build().ok()
}

/// What the future comes to. The client tells the log of the program what it was sent, and whom it asked; here it
/// talks to nobody.
pub(super) async fn without_logs<F: Future>(future: F) -> F::Output {
    let (mut future, nobody) = (pin!(future), Dispatch::none());
    poll_fn(|cx| with_default(&nobody, || future.as_mut().poll(cx))).await
}
