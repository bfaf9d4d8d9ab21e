//! Step-synchronised columnar dataflow over LLM computations.
//!
//! Chat has two columns, user and assistant; a flow has any number. A row is a **step**, a column is
//! an ordered sequence of texts, one per step. **Sources** get their values from outside; **derived
//! columns** declare which columns they read and how much of their history. From that declaration
//! alone the library assembles the messages array of every call, computes the columns as soon as
//! their inputs exist, stores each value once, and never computes it again.
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     /// A chat that keeps a running summary.
//!     pub struct Chat {
//!         /// What the person typed.
//!         source user;
//!         column summary(user, self.latest) = prompt("Update the running summary with the latest message.");
//!         column assistant(user, self)      = prompt("You are a helpful assistant.");
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new();
//! chat.user.push("I think we should rewrite the backend in Rust.").await?;
//! chat.run().await?;
//! assert!(chat.summary.get(0).is_some());
//! # Ok(()) }
//! ```
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | learn it, a chapter at a time | the [`guide`] |
//! | understand what the compiler says of a flow | [`guide::mistakes`] |
//! | declare a flow, extend one | [`flow!`], or at run time [`source`], [`column`](column()), [`this`], [`prev`] and [`flow`](flow()) |
//! | know what a declaration says: order, levels, how contexts grow, a drawing | [`Outline`] |
//! | push, run, read | [`Source`](flow::Source), [`Typed`](flow::Typed), [`Flow`], [`Event`] |
//! | know what it will cost, and how far it is | [`Forecast`], [`Progress`] |
//! | keep requests small, and know what was left out | [`budget`]; [`tokens`], for how they are counted |
//! | keep values for good, and open a flow on them | [`store`]; [`rows`], for other programs |
//! | fork, add, remove, replace | [`fork`](flow::LiveFlow::fork), [`add_column`](Flow::add_column), [`remove_column`](Flow::remove_column), [`replace_column`](Flow::replace_column) |
//! | compute a column | [`prompt`], [`deltas`], [`Compute`]; [`retry`, `timeout`, `limit`, `rate`, `or_skip`](compute::Policy) |
//! | see what a column saw | [`Messages`]; what of it a provider has seen before, and what to mark in it: [`cache`] |
//! | send it with a client of your own | [`rendering`] |
//! | read values as what they are | [`Json`]; typed columns, with the feature `typed`: [`guide`] |
//! | choose a model | [`model`]; [`Adaptive`](model::Adaptive), for as many calls at once as it takes |
//! | watch a run | [`Event`]; its spans, with the feature `tracing`: `columnar::trace` |
//! | know and limit what calls cost | [`usage`] |
//! | test a flow, with what a real model said | [`testing`]; under every fault there is, with the feature `simulation`: `columnar::simulation` |
//!
//! # How values become messages
//!
//! Inputs become what the user says, the own past becomes what the assistant said, step by step.
//!
//! - A window is counted back from the current step, for every step of the history. Inputs include
//!   the current step; the own past ends with the step before.
//! - Each input is wrapped in its tag, `<user>\n...\n</user>`, always. Inside a step the inputs stand
//!   in order of declaration. Neighbours of equal role become one message; everything is joined by
//!   one empty line.
//! - The first and the last message are the user's. Where the windows would have the assistant begin,
//!   the constant user message `<elided/>` leads.
//! - A view that says `.elided()` tells how many earlier values it hides: `<elided>4 values of topics</elided>` stands
//!   directly before the first one that it shows, in a message of the user.
//! - A cell that was [skipped](compute::Policy::or_skip) is shown nowhere.
//! - What does not go into the [budget] of the column is left out in whole turns: what is read at a step, or
//!   what was said there. In the middle, `<elided>12 turns, about 3400 tokens</elided>` stands for it.
//! - A value that spells a tag of the context is escaped there, minimally and reversibly. That tells
//!   the model reliably where a text comes from; it does not keep a text from persuading a model,
//!   and is no security boundary.
//!
//! | own past | input | pattern | for |
//! |---|---|---|---|
//! | `self` | `user` | accumulator | full context, as in a chat |
//! | `self.latest` | `user` | reducer | history compressed into a state |
//! | `self` | `user.latest` | journal | a record that reacts to what is new |
//! | none | `user.latest` | map | a transform of each row |
//!
//! # Architecture
//!
//! ```text
//! declaration ──▶ schema ──▶ plan                                       once, before anything runs
//!                             │
//!  push ──▶ ┌────────────── scheduler ──────────────┐                   pure: no I/O, clock, randomness
//!           │ which cell is ready, what to do next  │
//!           └──┬──────────▲───────────────▲─────────┘
//!     action   │          │ computed      │ stored
//!              ▼          │               │
//!        context ──▶ compute ──▶ value ──▶ store ──▶ event ──▶ your `run()` loop
//! ```

// The layers, from the lowest to the highest: a module imports only those above it in this list.
mod error;
mod registry;

mod context;
mod declare;
mod history;
mod schedule;
pub mod tokens;

pub mod cache;
pub mod model;
pub mod rendering;
pub mod store;
pub mod usage;

// Callers use the same functions with and without the feature, and need no `cfg`.
#[cfg(feature = "tracing")]
pub mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "trace/off.rs"]
mod trace;

pub mod compute;
pub mod flow;
pub mod reopen;
mod run;

pub mod rows;
#[cfg(feature = "simulation")]
pub mod simulation;
pub mod testing;

pub mod guide;

#[doc(hidden)]
pub mod __private;

pub use compute::{Compute, Context, Json, Prompt, Reply, deltas, prompt};
pub use context::budget;
pub use context::{Hidden, Iter, Messages, Origin, Part, Parts, Role};
pub use declare::graph;
pub use declare::{
    ColumnOutline, Growth, Name, NameError, Outline, Pattern, Read, Repeats, SchemaError, SchemaErrors,
    Window,
};
pub use error::BoxError;
pub use flow::{Column, Flow, IntoViews, Run, View, column, flow, group, prev, source, this};
pub use history::Value;
pub use run::{ColumnForecast, Error, Event, Forecast, Result};
pub use schedule::Progress;

/// What most programs need: `use columnar::prelude::*;`.
pub mod prelude {
    pub use crate::compute::{Context, Policy as _, deltas, per_minute, per_second, prompt, secs};
    pub use crate::context::{Messages, Role};
    pub use crate::flow;
    pub use crate::flow::{Column, Flow, View, column, group, prev, source, this};
    pub use crate::history::Value;
    pub use crate::run::{Error, Event, Result};
    #[doc(no_inline)]
    pub use futures::{StreamExt as _, TryStreamExt as _};
}

/// Declares a flow. See the [crate] for what it means.
///
/// ```text
/// flow      := header "{" decl* "}"  |  decl*                 item form  |  inline form, an expression
/// header    := attrs vis "struct" Name generics? params? (":" Path)? where?
/// params    := "(" (ident ":" Type),* ")"
/// decl      := docs? (source | denials? column | module)
/// source    := "source" ident was? ";"
/// column    := "column" ident "(" view,+ ")" (":" Type)? was? "=" any Rust expression ";"
/// was       := "was" string                             the name that it had, for what is stored under that
/// module    := "use" Path ("(" arguments ")")? "{" (ident (":" name)?),* "}" "as" ident ";"
/// view      := name shown? told*  |  "self" (".latest" | ".window(" n ")")?  |  "group(" string ("," view)+ ")"
/// name      := ident ("." ident)*
/// shown     := ".latest"  |  ".window(" n ")"  |  ".prev" (".window(" n ")" | ".all()")?
/// told      := (".as(" | ".note(") string ")"  |  (".filter(" | ".sample(") function ")"
/// ```
///
/// # Item form
///
/// ```
/// use columnar::model::Model;
/// use columnar::prelude::*;
///
/// flow! {
///     /// A chat that tracks its topics.
///     pub struct Chat<M: Model + Clone>(model: M) {
///         /// What the person typed.
///         source user;
///         column topics(user.latest) = prompt("List the topics.").with(model.clone());
///         column assistant(user, topics.latest.as("subjects"), self) = prompt("Answer.").with(model.clone());
///     }
/// }
///
/// # use columnar::model::Offline;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = Chat::new(Offline::new());
/// chat.user.push("Hello").await?;
///
/// let mut run = chat.run();
/// while let Some(event) = run.try_next().await? {
///     match event.column() {
///         ChatColumn::Topics => println!("{event:?}"),
///         ChatColumn::Assistant => {}
///     }
/// }
/// assert_eq!(Chat::<Offline>::ORDER, ["user", "topics", "assistant"]);
/// # Ok(()) }
/// ```
///
/// `struct Chat` declares
///
/// - `Chat`, with `new(parameters)`, `open(store, parameters)`, the constants `ORDER` and `GRAPH`,
///   and everything that a [`Typed`](flow::Typed) flow does, such as `run`;
/// - a public field for each column: a [`Source`](flow::Source) or a [`Derived`](flow::Derived), with its type if
///   it says `: Type` (with the feature `typed`; see the [guide]);
/// - `ChatColumn`, an enum of the derived columns, which names them in [`Event`]s;
/// - `ChatColumns`, the struct that has the columns as fields.
///
/// The compute steps are given the parameters by reference.
///
/// # Extending a flow
///
/// `struct Felt: Chat` declares columns on top of those of `Chat`, as `add_column` does at run time. A
/// flow that lives goes on as one that has them:
///
/// ```
/// use columnar::prelude::*;
/// # use columnar::store::MemoryStore;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column topics(user.latest) = prompt("List the topics.");
///     }
/// }
///
/// flow! {
///     /// The chat, and how it felt.
///     pub struct Felt: Chat {
///         column mood(user.latest, topics.latest.as("subjects"), self.latest) = prompt("Name the mood.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// # let store = MemoryStore::new();
/// let chat = Chat::open(store.clone()).await?;
/// chat.user.push("It works!").await?;
/// chat.run().await?;
///
/// let felt = Felt::extend(&chat).await?;
/// let mut run = felt.run();                       // computes `mood` from step 0, and nothing again
/// while let Some(event) = run.try_next().await? {
///     match event.column() {
///         FeltColumn::Mood => println!("{event:?}"),
///         FeltColumn::Chat(ChatColumn::Topics) => {}
///     }
/// }
/// felt.user.push("It is fast, too.").await?;      // the columns of the chat are fields as well
/// assert_eq!(Felt::ORDER, ["user", "topics", "mood"]);
/// # drop((run, felt, chat));
///
/// // Later, on the same store.
/// let felt = Felt::extend(Chat::open(store).await?).await?;
/// assert_eq!(felt.mood.len(), 1);
/// # Ok(()) }
/// ```
///
/// - `extend(flow, parameters)` takes the flow or a reference to it. What it held stays; the new
///   columns are there at once, and the next run, or the one that goes on, computes them.
/// - The old door stays open: `chat` is the same flow, and a run of it computes everything but tells
///   only of the columns that `Chat` has. Of two runs at a time the second is refused, at whichever door.
/// - A flow can be extended by several others that do not know of each other, as long as their columns
///   have different names, and an extension can be extended. Any flow that is a struct can be, from any
///   module or crate: `struct Felt<M: Model>(model: M): chat::Chat<M>`.
/// - A source cannot be added: the steps that there are would have no value for it.
/// - `FeltBase` is another name for the flow that is extended. Where its parameters are those of the
///   extension, the enum has one in place of its columns: `FeltColumn<ChatColumn>`.
///
/// # Modules
///
/// A flow can be a part of another one. Its sources are its inputs, and each is a column of the flow that uses it:
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     /// Two sides of a question.
///     pub struct Debate {
///         source topic;
///         column advocate(topic, self)                     = prompt("Speak for it.");
///         column critic(topic.latest, advocate.latest)     = prompt("Name the weak points.");
///     }
/// }
///
/// flow! {
///     pub struct Chat {
///         source user;
///         use Debate { topic: user } as debate;
///         use Debate { topic: debate.critic } as further;  // `{ topic }` would be short for `{ topic: topic }`
///         column verdict(debate.critic.latest.as("case"), further.critic.latest, user.latest) = prompt("Judge.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = Chat::new();
/// chat.user.push("Shall we rewrite it in Rust?").await?;
///
/// let mut run = chat.run();
/// while let Some(event) = run.try_next().await? {
///     match event.column() {
///         ChatColumn::Debate(DebateColumn::Advocate) => println!("{event:?}"),
///         ChatColumn::Debate(_) | ChatColumn::Further(_) | ChatColumn::Verdict => {}
///     }
/// }
/// assert!(chat.debate.critic.messages(0)?.to_json().contains("<topic>"));
/// assert_eq!(chat.further.critic.name(), "further.critic");
/// assert_eq!(Chat::ORDER.last(), Some(&"verdict"));
/// # Ok(()) }
/// ```
///
/// - Its columns are columns of the flow that uses it, named after the module: `debate.critic` in the store, in events
///   and in errors. They run with all others, and nothing is stored twice. Where a view gives no tag, it is the last
///   part of the name, `critic`.
/// - Inside it nothing changes: a column that reads `topic` sees `<topic>`, with the values of `user`. Outside,
///   `chat.debate.topic` is the column `user`.
/// - Any flow that is a struct and extends no other can be used, from any module or crate, in both forms, as often as
///   there are names. Its parameters are arguments, as `new` takes them: `use Debate<M>(model.clone()) { … } as debate`.
/// - The columns of a module wait for what they read, and not for all inputs. So a column may feed a module and read
///   what does not depend on that.
/// - The enum has a variant for each module. Where the parameters of a module are those of the flow that uses it, the
///   enum has one in place of the module's columns: `ChatColumn<DebateColumn>`.
///
/// # Refusals
///
/// `#[deny(unbounded)]` before a column, or before the flow for all of them, makes it a compile error that a
/// context grows with every step; `#[deny(unstable_prefix)]` that a request has nothing but its instruction in
/// common with the next one, so that no provider's cache can serve it.
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         #[deny(unbounded)]                                  // `(user)` would be an error
///         column topics(user.window(3)) = prompt("List the topics.");
///         #[deny(unstable_prefix)]                            // `(user.latest, self.latest)` would be one
///         column assistant(user, self) = prompt("You are a helpful assistant.");
///     }
/// }
/// ```
///
/// # Inline form
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let greeting = String::from("Hello");
/// let chat = flow! {
///     source user;
///     column greeted(user.latest) = |cx: Context| {
///         let greeting = &greeting;
///         async move { format!("{greeting}, {}!", cx.input("user").map_or("you", |name| name)) }
///     };
/// };
/// chat.user.push("Ada").await?;
/// chat.run().await?;
/// assert_eq!(chat.greeted.get(0).as_deref(), Some("Hello, Ada!"));
/// # Ok(()) }
/// ```
///
/// The value is a [`Typed`](flow::Typed) flow of a type without a name. Its compute steps may use
/// and borrow what is in scope, and a `?` in one returns from the function around it.
///
/// # Mistakes
///
/// The graph is checked when the program compiles. An unknown name, a cycle, a tag used twice, a
/// window of 0: each is an error at its place, with the way out of it, and all are told at once. See
/// [`guide::mistakes`].
#[macro_export]
macro_rules! flow {
    ($($declarations:tt)*) => {
        $crate::__private::flow! { [$crate] $($declarations)* }
    };
}
