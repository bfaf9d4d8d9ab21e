//! A model of a provider whose cache is simulated: the usage of a reply is the bill of the simulator.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use columnar::BoxError;
use columnar::cache::{CachePlan, CachePolicy, Position};
use columnar::model::{Chunk, End, Finish, Model, Request, Usage};
use columnar::tokens::{Counter, Estimate};
use futures::stream::{self, BoxStream, StreamExt};

use super::cache::{Cache, Mark, Marks};
use super::request::{Piece, Prefixes, Speaker};
use super::rules::Rules;

/// The documented rules, without an automatic mark.
static DOCUMENTED: LazyLock<Rules> = LazyLock::new(Rules::documented);

/// A model that caches by [documented rules](Rules::documented). Clones and models of other names share the clock and the
/// provider; an entry is found by the same model, effort and schema alone.
#[derive(Clone)]
pub struct CachedModel {
    name: String,
    reply: &'static str,
    provider: Arc<Mutex<CachingProvider>>,
}

#[derive(Default)]
struct CachingProvider {
    caches: HashMap<String, Cache<'static>>,
    prefixes: Prefixes,
    /// In seconds.
    now: f64,
}

impl CachedModel {
    /// A model of this name, which always gives this reply.
    pub fn new(name: &str, reply: &'static str) -> Self {
        Self { name: name.to_owned(), reply, provider: Arc::default() }
    }

    /// Another model of the same provider.
    #[must_use]
    pub fn named(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    /// The provider drops everything.
    pub fn evict(&self) {
        self.lock().caches.clear();
    }

    /// The clock of the provider goes on.
    pub fn wait(&self, seconds: f64) {
        self.lock().now += seconds;
    }

    /// The clock of the provider, in milliseconds.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the clock of a test is small"
    )]
    pub fn millis(&self) -> u64 {
        (self.lock().now * 1000.0) as u64
    }

    fn lock(&self) -> MutexGuard<'_, CachingProvider> {
        self.provider.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn usage(&self, request: &Request) -> Usage {
        let policy = CachePolicy::by_model(&self.name);
        let plan = CachePlan::of(&request.messages, Estimate.count(&request.system), policy, request.pace);
        let marks = plan.marks.iter().map(|mark| {
            let at = match mark.position {
                Position::System => 0,
                Position::Part(at) => at + 1,
            };
            Mark { at, lifetime: mark.lifetime }
        });
        let marks = Marks { explicit: marks.collect(), automatic: false };
        let mut pieces = Piece::all_of("", &request.messages);
        if let Some(system) = pieces.first_mut() {
            *system = Piece::new(Speaker::System, &request.system, true);
        }
        let key = format!("{} {:?} {:?}", self.name, request.settings.effort, request.schema);
        let mut provider = self.lock();
        let CachingProvider { caches, prefixes, now } = &mut *provider;
        // The time of a request.
        *now += 0.001;
        let sent = prefixes.request(pieces);
        let cache = caches.entry(key).or_insert_with(|| Cache::new(&DOCUMENTED));
        let bill = cache.send(&sent, &marks, *now).expect("the marks are well formed");
        let written = u64::from(bill.short + bill.long);
        Usage::new(sent.tokens().into(), 3).cached(bill.read.into(), written).kept_long(bill.long.into())
    }
}

impl Model for CachedModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let end = End::new(Finish::Stop).with_usage(self.usage(&request));
        stream::iter([Ok(Chunk::Text(self.reply.to_owned())), Ok(Chunk::End(end))]).boxed()
    }
}

impl std::fmt::Debug for CachedModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachedModel").field("name", &self.name).finish_non_exhaustive()
    }
}
