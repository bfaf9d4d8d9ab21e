//! What of a request a provider has seen already, and what to mark in it so that the provider looks.
//!
//! ```text
//! messages ──▶ StablePrefix                        what the next request repeats
//!     │             CachePolicy ┐
//!     └──────────────────────┼──▶ CachePlan        where the marks stand, and how long they keep
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
pub use policy::CachePolicy;
pub use prefix::{Difference, StablePrefix};

pub use crate::registry::{Boundary, Write};
