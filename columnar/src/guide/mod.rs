//! The guide: from a first flow to a flow that is stored, changed and tested.
//!
//! Each chapter has one subject and can be read alone. The numbers are the order of reading, while a list of modules is sorted
//! by names. The first and last lines of a chapter lead to the chapters before and after.
//!
//! | | chapter | subject |
//! |---|---|---|
//! | 1 | [`first`] | a first flow that runs |
//! | | **declaring a flow** | |
//! | 2 | [`columns`] | sources, columns, parameters; flows with a name and without one |
//! | 3 | [`compute_steps`] | prompts, functions, streams and types of your own that compute a column |
//! | 4 | [`typed`] | columns whose values are JSON of a type, with the feature `typed` |
//! | 5 | [`views`] | how much of another column a column reads; a table of all views |
//! | 6 | [`self_history`] | how much of its own history a column reads: the four patterns |
//! | 7 | [`previous_values`] | the values of other columns at the previous step |
//! | 8 | [`groups`] | groups, notes and filters |
//! | 9 | [`tags`] | the tag around each text |
//! | 10 | [`purposes`] | reference material, instructions among the inputs, the system text |
//! | 11 | [`assembly`] | merging, elision and escaping in the messages array |
//! | | **running a flow** | |
//! | 12 | [`runs`] | runs, events, guarantees, progress, spans |
//! | 13 | [`skipping`] | columns that are computed at some steps only, and values that later contexts do not show |
//! | 14 | [`failures`] | retries, and the consequences of a failed cell |
//! | 15 | [`answers`] | people and services that answer the cells of a column, later |
//! | 16 | [`models`] | the model that answers a prompt |
//! | 17 | [`costs`] | receipts, bills, prices and spend limits |
//! | 18 | [`batches`] | calls that may wait for a day, for half the price |
//! | 19 | [`budgets`] | limits on the tokens of a request, and truncation |
//! | 20 | [`caches`] | the prefix that a provider's cache serves |
//! | 21 | [`documents`] | files and pages that change: in turns, or in tiers by how long they have not changed |
//! | 22 | [`renderings`] | a context in the request format of your own client |
//! | 23 | [`media`] | screenshots, images, PDFs and files beside text |
//! | 24 | [`limits`] | all default limits and timeouts, and what changes each |
//! | | **keeping and changing a flow** | |
//! | 25 | [`stores`] | values that outlive the process |
//! | 26 | [`services`] | flows that many clients push and follow; server-sent events |
//! | 27 | [`scale`] | many machines: workers, an engine that gives flows to them, what both cost |
//! | 28 | [`migrations`] | declarations that change while values are stored |
//! | 29 | [`forks`] | two continuations of the same steps |
//! | 30 | [`rehearsals`] | another prompt or model on the past of a column, before it is adopted |
//! | 31 | [`looms`] | conversations and stories that branch, as trees |
//! | 32 | [`import_export`] | a flow as a table for other programs |
//! | 33 | [`extensions`] | more columns for a flow that already has values |
//! | 34 | [`modules`] | a flow inside another flow |
//! | 35 | [`dynamic_flows`] | flows whose columns are known only at run time |
//! | | **testing a flow** | |
//! | 36 | [`testing`] | scripts, simulated failures, recorded replies, contexts under review |
//! | | **when a flow does not compile** | |
//! | 37 | [`mistakes`] | all messages of [`flow!`](crate::flow!), and how to fix each |
//!
//! # An hour with columnar
//!
//! | minutes | read | and then |
//! |---|---|---|
//! | 0 to 10 | [`first`] | declare a column of your own, and print the `messages` of a cell |
//! | 10 to 20 | the table in [`views`], and the four patterns in [`self_history`] | let the column read `self.latest` in place of `self`, and print `messages` again |
//! | 20 to 30 | [`runs`] and [`failures`] | print each event, then give the column `.retry(2).or_skip()` |
//! | 30 to 40 | the first section of [`stores`], and [`costs`] | open the flow on a folder, end the program, start it again, print the bill |
//! | 40 to 50 | [`models`] and [`budgets`] | call a real model, with `max_tokens`, a budget and a forecast before the run |
//! | 50 to 60 | [`testing`] | hold the contexts of your flow in a snapshot |
//!
//! After that, one chapter for each plan: [`services`] for a server, [`scale`] for many machines, [`import_export`] and [`typed`] for a table of rows,
//! [`documents`] for files that change, [`looms`] for branches, [`dynamic_flows`] for flows that people write in a file.
//!
//! # The programs in the guide
//!
//! All programs run as tests of this library, and every messages array is compared with the real one. A program without
//! a `main` belongs into an async function that returns a `Result`:
//!
//! ```
//! use columnar::prelude::*;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), columnar::BoxError> {
//!     // the program, without its `use`s
//!     Ok(())
//! }
//! ```
//!
//! Many programs have [`script`](crate::testing::script) in place of a prompt: a compute step with one known text for
//! each step, so that the arrays are known as well. Some programs need `serde_json` or `futures` among the
//! dependencies.
//!
//! # When to use something else
//!
//! | you have | use |
//! |---|---|
//! | a message or a row that leads to several calls, which build on each other and on earlier steps: a chat with a running summary and a critic, a debate, a journal, the annotation of a thousand tickets | columnar |
//! | an agent that chooses its next step, calls tools, or loops until it is done | LangGraph or rig: the columns of a flow are fixed, and each is computed once per step |
//! | one call per message | a client, such as the crate genai |
//! | audio, video, or images that a model makes | a client: a value is text or JSON of a type, with images, PDFs and files beside it |
//! | messages that are edited or deleted later | a database: a stored value never changes, and an edit is a fork |
//! | several processes that write one conversation at the same time | a database and a queue: a flow has one owner at a time |
//! | questions to a large collection of documents | a vector store: a view selects values by their steps. A compute step can call it |

pub mod answers;
pub mod assembly;
pub mod batches;
pub mod budgets;
pub mod caches;
pub mod columns;
pub mod compute_steps;
pub mod costs;
pub mod documents;
pub mod dynamic_flows;
pub mod extensions;
pub mod failures;
pub mod first;
pub mod forks;
pub mod groups;
pub mod import_export;
pub mod limits;
pub mod looms;
pub mod media;
pub mod migrations;
pub mod mistakes;
pub mod models;
pub mod modules;
pub mod previous_values;
pub mod purposes;
pub mod rehearsals;
pub mod renderings;
pub mod runs;
pub mod scale;
pub mod self_history;
pub mod services;
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
