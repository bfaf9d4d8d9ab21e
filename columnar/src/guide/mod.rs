//! The guide: from a first flow to a flow that is stored, changed and tested.
//!
//! Each chapter has one subject and can be read alone. The tests of this library run every program in it and compare
//! every messages array with the real one.
//!
//! | chapter | subject |
//! |---|---|
//! | [`first`] | a flow that runs, in ten lines |
//! | **declaring a flow** | |
//! | [`columns`] | sources, columns, parameters; flows with a name and without one |
//! | [`compute_steps`] | prompts, functions, streams and types of your own that compute a column |
//! | [`typed`] | columns whose values are JSON of a type, with the feature `typed` |
//! | [`views`] | how much of another column a column reads; a table of all views |
//! | [`self_history`] | how much of its own history a column reads: the four patterns |
//! | [`previous_values`] | the values of other columns at the previous step |
//! | [`groups`] | groups, notes and filters |
//! | [`tags`] | the tag around each text |
//! | [`assembly`] | merging, elision and escaping in the messages array |
//! | **running it** | |
//! | [`runs`] | runs, events, guarantees, progress, spans |
//! | [`skipping`] | columns that are computed at some steps only |
//! | [`failures`] | retries, and the consequences of a failed cell |
//! | [`models`] | the model that answers a prompt |
//! | [`costs`] | receipts, bills, prices and spend limits |
//! | [`budgets`] | limits on the tokens of a request, and truncation |
//! | [`caches`] | the prefix that a provider's cache serves |
//! | [`renderings`] | a context in the request format of your own client |
//! | **keeping and changing it** | |
//! | [`stores`] | values that outlive the process |
//! | [`migrations`] | declarations that change while values are stored |
//! | [`forks`] | two continuations of the same steps |
//! | [`import_export`] | a flow as a table for other programs |
//! | [`extensions`] | more columns for a flow that already has values |
//! | [`modules`] | a flow inside another flow |
//! | [`dynamic_flows`] | flows whose columns are known only at run time |
//! | **testing it** | |
//! | [`testing`] | scripts, simulated failures, recorded replies, contexts under review |
//! | **when it does not compile** | |
//! | [`mistakes`] | all messages of [`flow!`](crate::flow!), and how to fix each |

pub mod assembly;
pub mod budgets;
pub mod caches;
pub mod columns;
pub mod compute_steps;
pub mod costs;
pub mod dynamic_flows;
pub mod extensions;
pub mod failures;
pub mod first;
pub mod forks;
pub mod groups;
pub mod import_export;
pub mod migrations;
pub mod mistakes;
pub mod models;
pub mod modules;
pub mod previous_values;
pub mod renderings;
pub mod runs;
pub mod self_history;
pub mod skipping;
pub mod stores;
pub mod tags;
pub mod testing;
#[cfg(feature = "typed")]
pub mod typed;
#[cfg(not(feature = "typed"))]
pub mod typed {
    //! Declare columns whose values are JSON of a Rust type, with the feature `typed`.
    //!
    //! This chapter is in the documentation that is built with that feature.
}
pub mod views;
