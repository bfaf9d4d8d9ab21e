//! What of a request a provider has seen already.

mod prefix;

pub use prefix::{Difference, StablePrefix};
