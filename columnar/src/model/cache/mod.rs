//! Prompt caching: the prefix that a request shares with the next one, and the marks that make a provider cache it.
//!
//! ```text
//! messages ──▶ StablePrefix                        the prefix that the next request repeats
//!     │             CachePolicy ┐
//!     └──────────────────────┼──▶ CachePlan        the positions and the lifetime of the marks
//!                       Pace ┘
//!                         ▲
//! pauses ──▶ LearntLifetime                        unless the program states a pace
//! receipts ──▶ ObservedLifetimes ──▶ CachePolicy   where a provider differs from the documentation
//! ```

mod audit;
mod beginnings;
mod learnt;
mod mark;
mod marked_request;
mod pace;
mod plan;
mod policy;
mod prefix;
mod sightings;

pub use audit::{AuditTotal, AuditedCall, CacheAudit, CacheCause, CacheMiss};
pub(crate) use audit::{AuditedRequest, Ledger};
pub use beginnings::Beginnings;
pub use learnt::{Experience, LearntLifetime};
pub use mark::{Lifetime, Mark, Position, Reason};
pub(crate) use marked_request::{MarkedRequest, PastRequest, PastRequests};
pub use pace::Pace;
pub use plan::{CachePlan, PrefixTokens};
pub use prefix::{Difference, SharedBeginning, StablePrefix};
pub use sightings::{ObservedLifetimes, Sightings, observed};

pub use crate::model::registry::{Boundary, CachePolicy, Write};
