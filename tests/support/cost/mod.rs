//! The cost of requests: a simulator of provider caches, the bills of several marking policies, and a lower bound for
//! all policies.
//!
//! ```text
//! flows that are run ──▶ traces ──┐                  ┌──▶ policies ──▶ marks ──▶ cache ──▶ bills
//!                        clocks ──┼──▶ scenarios ────┤                                     │ at least
//!                        rules  ──┘                  └──▶ bound ───────────────────────────┘
//! ```
//!
//! The simulator follows the documented rules of providers; real bills may differ.

pub mod bound;
pub mod cache;
pub mod cached_model;
pub mod certificate;
pub mod clairvoyant;
pub mod clock;
pub mod documents;
pub mod learning;
pub mod lifetimes;
pub mod outcome;
pub mod policies;
pub mod random;
pub mod request;
pub mod rules;
pub mod scenario;
pub mod trace;
pub mod traces;
