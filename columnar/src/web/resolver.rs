//! Names to addresses, and only to those that may be connected to.
//!
//! The client connects to the addresses that come from here and to no others, so a name whose address changes is checked
//! each time.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::error::WebFault;
use super::public::is_public;
use crate::declare::error::CaughtFuture;

/// The addresses of a name.
pub(super) type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// The addresses that may be connected to.
#[derive(Clone, Debug, Default)]
pub(super) struct Allowed {
    /// Those that are not public.
    pub(super) addresses: Vec<IpAddr>,
    pub(super) is_all: bool,
}

impl Allowed {
    pub(super) fn allows(&self, address: IpAddr) -> bool {
        self.is_all || self.addresses.contains(&address) || is_public(address)
    }
}

/// The resolver of a client.
pub(super) struct CheckedResolver {
    pub(super) allowed: Allowed,
    pub(super) lookup: Lookup,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let lookup = CaughtFuture::new(|| (self.lookup)(name.as_str().to_owned()));
        let allowed = self.allowed.clone();
        Box::pin(async move {
            let found = lookup.await.and_then(Result::ok).ok_or(Refusal(WebFault::Name))?;
            let is_found = !found.is_empty();
            let mut usable = found.into_iter().filter(|address| allowed.allows(*address)).peekable();
            if usable.peek().is_none() {
                return Err(Refusal(if is_found { WebFault::Private } else { WebFault::Name }).into());
            }
            // The client takes the port of the URL.
            let usable: Vec<SocketAddr> = usable.map(|address| (address, 0).into()).collect();
            Ok(Box::new(usable.into_iter()) as Addrs)
        })
    }
}

/// The fault of a name, as an error of the client has it inside.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Refusal(pub(super) WebFault);

/// The resolver of the system.
pub(super) fn of_the_system() -> Lookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::{Fetch, Web};

    struct PanicsAtDrop;

    impl Drop for PanicsAtDrop {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    /// The panic passed out of `fetch`, and ended the task of the caller.
    #[tokio::test]
    async fn r18_a_resolver_that_panics_is_an_error_of_its_page() {
        let called = Web::new().resolver(|name| -> BoxFuture<'static, _> { panic!("called with {name}") });
        let polled = Web::new().resolver(|name| async move { panic!("polled with {name}") });
        let dropped = Web::new().resolver(|_| async move {
            let _dropped = PanicsAtDrop;
            std::future::pending().await
        });
        for web in [called, polled, dropped.timeout(std::time::Duration::from_millis(10))] {
            let error = web.fetch("http://name.example/").await.expect_err("nothing knows its address");
            assert!(matches!(error.fault(), WebFault::Name | WebFault::TimedOut(_)), "{error}");
        }
    }
}
