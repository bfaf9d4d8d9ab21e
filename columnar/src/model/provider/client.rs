//! The HTTP client.

use std::time::Duration;

use reqwest::Client;
use reqwest::redirect::Policy;

use crate::declare::default_limits::PROVIDER_CONNECT;

/// A client without redirects, which would take the key along, and without decompression, since a few bytes can unpack to
/// fill the memory. `None` if the system has no root certificates.
pub(super) fn client() -> Option<Client> {
    Client::builder()
        .redirect(Policy::none())
        // Switched off, since another crate of the program may enable these features of the client.
        .no_gzip()
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .connect_timeout(PROVIDER_CONNECT)
        .tcp_nodelay(true)
        .pool_max_idle_per_host(4)
        // A dead connection is noticed after 30 seconds, long before a reply times out, and also
        // while it is idle, so that the next call does not have to notice it.
        .http2_keep_alive_interval(Duration::from_secs(20))
        .http2_keep_alive_timeout(Duration::from_secs(10))
        .http2_keep_alive_while_idle(true)
        .http2_adaptive_window(true)
        .build()
        .ok()
}
