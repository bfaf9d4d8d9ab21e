//! Prompt caching: the prefix that a request shares with the next one, and the marks that make a provider cache it.
//!
//! ```text
//! messages ──▶ StablePrefix                        the prefix that the next request repeats
//!     │             CachePolicy ┐
//!     └──────────────────────┼──▶ CachePlan        the positions and the lifetime of the marks
//!                       Pace ┘
//! ```

mod mark;
mod pace;
mod plan;
mod policy;
mod prefix;

pub use mark::{Lifetime, Mark, Position, Reason};
pub use pace::Pace;
pub use plan::CachePlan;
pub use prefix::{Difference, SharedBeginning, StablePrefix};

pub use crate::model::registry::{Boundary, CachePolicy, Write};
