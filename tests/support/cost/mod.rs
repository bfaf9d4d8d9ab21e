//! What requests cost: the caches of providers in a simulator, the bills of several ways to mark
//! requests, and what none of them can go below.
//!
//! ```text
//! flows that are run ──▶ traces ──┐                 ┌──▶ policies, ours ──▶ marks ──▶ cache ──▶ bills
//!                        clocks ──┼──▶ scenes ──────┤                                             │ at least
//!                        rules  ──┘                 └──▶ bound ───────────────────────────────────┘
//! ```
//!
//! Simulated are the rules that providers have written down, not their bills.

pub mod bound;
pub mod cache;
pub mod chart;
pub mod clock;
pub mod dice;
pub mod market;
pub mod ours;
pub mod outcome;
pub mod policies;
pub mod request;
pub mod rules;
pub mod scene;
pub mod trace;
pub mod traces;
pub mod worst;
