//! The guide: from the first flow to a flow that lives on.
//!
//! Each chapter is about one thing and can be read alone. Every messages array that is shown is compared
//! with what the library makes, and every program runs, whenever the library is tested.
//!
//! | chapter | what it is about |
//! |---|---|
//! | [`first`] | a flow that runs, in ten lines |
//! | **what is declared** | |
//! | [`columns`] | sources, columns, parameters; the form with a name and the form without |
//! | [`compute_steps`] | what may stand behind the `=`: prompts, closures, streams, types of your own |
//! | `typed` | columns whose values are JSON of a type, with the feature `typed` |
//! | [`views`] | how much of a column another one sees |
//! | [`self_history`] | what a column sees of itself: the four patterns |
//! | [`previous_values`] | what a column sees of what another one said a step before |
//! | [`groups`] | views that stand together, are explained, or leave something out |
//! | [`tags`] | by what name a text is shown |
//! | [`assembly`] | what is escaped, elided and merged on the way into the messages array |
//! | **what happens** | |
//! | [`runs`] | when something is computed, and what is told of it |
//! | [`skipping`] | columns that are computed now and then |
//! | [`failures`] | what a column does that cannot be computed |
//! | [`models`] | which model answers a prompt |
//! | [`costs`] | what calls of models cost, and how to limit that |
//! | [`budgets`] | contexts that would be too large |
//! | [`caches`] | what a provider need not read again |
//! | [`renderings`] | a context in the words of your own client |
//! | **what comes later** | |
//! | [`stores`] | values that outlive the flow |
//! | [`migrations`] | declarations that change while values are stored |
//! | [`forks`] | another future for the same past |
//! | [`import_export`] | a flow as a table for other programs |
//! | [`extensions`] | more columns on top of a flow that has begun |
//! | [`modules`] | a flow as a part of another one |
//! | [`dynamic_flows`] | flows whose shape is known only at run time |
//! | [`trials`] | testing a flow of yours |
//! | [`testing`] | tests with what a real model said, and contexts under review |
//! | **when it does not compile** | |
//! | [`mistakes`] | all messages of [`flow!`](crate::flow!), and what to do about them |

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
pub mod trials;
#[cfg(feature = "typed")]
pub mod typed;
pub mod views;
