//! Step-synchronised columnar dataflow over LLM computations.
//!
//! A chat has two columns, user and assistant; a flow has any number. A row is a **step**, and a column has one text
//! for each step. **Sources** get values from outside. **Derived columns** declare which columns they read, and how
//! much of the history. From that declaration alone the library assembles the messages array of every call, computes
//! each cell as soon as its inputs exist, stores each value once, and never computes a value again.
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
//! # Dependencies and features
//!
//! The crate is not published yet: the path leads to the folder of the crate in a checkout of the repository. The package is
//! `columnar-flow`, since `columnar` on crates.io is another crate; programs import `columnar`.
//!
//! ```toml
//! [dependencies]
//! columnar-flow = { path = "../columnar/columnar", features = ["providers", "sqlite"] }
//! tokio = { version = "1", features = ["macros", "rt"] }
//! ```
//!
//! All features are off by default. Each adds to the library and changes nothing that is there without it.
//!
//! | feature | adds |
//! |---|---|
//! | `cli` | The command `columnar`: shows, serves, checks, copies and exports the flows of a store |
//! | `csv` | `rows::write_csv` and `read_csv`: a flow as a CSV file |
//! | `engine` | The module `engine`: flows on many machines, which an engine such as Restate gives to workers |
//! | `insta` | `assert_context_snapshot!`: contexts under review, as snapshots of the crate insta |
//! | `parquet` | `rows::write_parquet` and `read_parquet`: a flow as a Parquet file |
//! | `postgres` | `store::PostgresStore`: values in a PostgreSQL database |
//! | `postgres-tls` | Encrypted connections to a PostgreSQL database, by `sslmode` in its address |
//! | `providers` | Real models by name, such as `openai/gpt-5.4-mini`: OpenAI, Anthropic, Gemini, Ollama, and servers with their APIs |
//! | `repo` | The module `repo`: a repository as documents, with a map of its symbols; needs a C compiler |
//! | `report` | The module `report`: a flow as a page for a browser, with each request, reply and cost |
//! | `restate` | `engine::restate`: the adapter of Restate, whose server has a licence of its own |
//! | `simulation` | The module `simulation`: tests of a flow under random faults, on a virtual clock |
//! | `sqlite` | `store::SqliteStore`: values in a file of SQLite, which is compiled into the program; needs a C compiler |
//! | `temporal` | `engine::temporal`: the adapter of Temporal, whose server is free software |
//! | `terminal` | The module `terminal`: a flow as a table, values as they stream, and the progress of a run, in the width of a terminal |
//! | `tiktoken` | `tokens::Exact`: exact counts of tokens for models of OpenAI; adds 1.2 MB of vocabularies to the program |
//! | `tracing` | The module `trace`: spans of runs, cells and calls of models, for any subscriber of the crate tracing |
//! | `typed` | Columns whose values are JSON of a Rust type: `column score(review): Score = …` |
//! | `web` | The module `web`: web pages as documents, fetched without risk to the network of the program |
//!
//! # Where to look
//!
//! | to | see |
//! |---|---|
//! | learn the library, a chapter at a time | the [`guide`] |
//! | understand a compile error of a flow | [`guide::mistakes`] |
//! | declare a flow, or extend one | [`flow!`]; at run time [`source`], [`documents`](documents()), [`column`](column()), [`this`], [`prev`] and [`flow`](flow()); in a file [`data`] |
//! | inspect a declaration: order, levels, growth of contexts, a drawing | [`Outline`] |
//! | push and run | [`Source`](flow::Source), [`Typed`](flow::Typed), [`Flow`], [`Event`] |
//! | read values | [`get`, `cell`, `iter`, `last`, `values`](flow::Handle#method.get) of a column, [`rows`](flow::LiveFlow::rows) of a flow, [`CellState`] |
//! | estimate a run, and follow the progress | [`Forecast`], [`Progress`] |
//! | limit the tokens of requests, and see the omissions | [`budget`]; [`tokens`], for the counters |
//! | store values, and open a flow on a store | [`store`] and [`reopen`]; [`rows`], for other programs |
//! | fork a flow; add, remove or replace a column | [`fork`](flow::LiveFlow::fork), [`add_column`](Flow::add_column), [`remove_column`](Flow::remove_column), [`replace_column`](Flow::replace_column) |
//! | compute a column | [`prompt`], [`deltas`], [`Compute`]; [`retry`, `timeout`, `limit`, `rate`, `or_skip`](compute::Policy) |
//! | let people or services answer the cells of a column | [`external`]; [`pending`, `answer`](flow::Handle::pending) |
//! | see the context of a cell | [`Messages`]; [`cache`], for cache marks and the prefix that a provider caches |
//! | send a context with a client of your own | [`rendering`] |
//! | show a model files, symbols and pages that change | [`documents`](mod@documents) |
//! | see why a document is in a tier | [`tiers`] |
//! | keep conversations and stories that branch | [`loom`] |
//! | read values as Rust types | [`Json`]; with the feature `typed`, [typed columns](guide::typed) |
//! | choose a model | [`model`]; [`Adaptive`](model::Adaptive), for a limit on concurrent calls that adapts to the model |
//! | serve a flow to many clients | [`service`] |
//! | compute flows on many machines | with the feature `engine`: `columnar::engine` |
//! | see a flow in a terminal | with the feature `terminal`: `columnar::terminal` |
//! | watch a run | [`Event`]; with the feature `tracing`, the spans of `columnar::trace` |
//! | see and limit the cost of calls | [`usage`] |
//! | see a whole flow in a browser | with the feature `report`, `columnar::report` |
//! | test a flow, with recorded replies | [`testing`]; with the feature `simulation`, under faults: `columnar::simulation` |
//!
//! # How values become messages
//!
//! Inputs become user messages, and the column's own earlier values become assistant messages, step by step.
//!
//! - A window is counted back from the current step, for every step of the history. Inputs include the current step;
//!   `self` ends with the previous one. A window counts values: [skipped](compute::Policy::or_skip) cells are passed
//!   over, and appear in no array.
//! - Each input is wrapped in a tag, `<user>\n...\n</user>`, always. Within a step the inputs are in the order of the
//!   declaration, inputs with `.context()` before the others. Adjacent texts of the same role become one message,
//!   joined by an empty line. Inputs with `.instruction()` end the system text.
//! - The first and the last message are the user's. If the windows would put an assistant message first, the constant
//!   user message `<elided/>` leads.
//! - A view with `.elided()` counts the earlier values that are hidden: `<elided>4 values of topics</elided>` is
//!   directly before the first value of the view, in a user message.
//! - If a request exceeds the [budget] of the column, whole turns are left out: the inputs of a step, or the column's
//!   own value of that step. `<elided>12 turns, about 3400 tokens</elided>` marks a gap in the middle.
//! - A value that spells a tag of the array around the value is escaped, minimally and reversibly. So the model can
//!   tell reliably which column a text comes from. A text can still persuade a model: escaping is no security boundary.
//!
//! | `self` | input | pattern | for |
//! |---|---|---|---|
//! | `self` | `user` | accumulator | full context, as in a chat |
//! | `self.latest` | `user` | reducer | history compressed into a state |
//! | `self` | `user.latest` | journal | a record that continues with each new input |
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

// docs.rs sets this cfg, which marks the items of a feature.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The pages of a user's flows link to this crate, also where `cargo doc --no-deps` has no pages of the crate.
#![doc(html_root_url = "https://docs.rs/columnar-flow/0.1.0")]

// The rooms, the lowest first: a module imports only from earlier rooms. ARCHITECTURE.md draws the rooms.
mod declare;
mod history;
mod schedule;

mod context;
pub mod model;
pub mod store;

#[cfg(feature = "repo")]
pub mod repo;
#[cfg(feature = "web")]
pub mod web;

pub mod compute;
pub mod loom;

mod run;

pub mod flow;

#[cfg(feature = "engine")]
pub mod engine;

#[cfg(feature = "report")]
pub mod report;

#[cfg(feature = "terminal")]
pub mod terminal;

pub mod testing;

pub mod guide;

#[doc(hidden)]
pub mod __private;

// Users find these modules beside the rooms, which hide them.
#[doc(inline)]
#[cfg(feature = "tracing")]
pub use compute::trace;
#[doc(inline)]
pub use context::{documents, tiers};
#[doc(inline)]
pub use flow::{data, rows, service};
#[doc(inline)]
pub use history::tokens;
#[doc(inline)]
pub use model::{breakdown, cache, rendering, usage};
#[doc(inline)]
pub use run::reopen;
#[doc(inline)]
#[cfg(feature = "simulation")]
pub use testing::simulation;

pub use compute::{Compute, Context, Json, Prompt, Reply, deltas, external, prompt};
pub use context::budget;
pub use context::{Hidden, Iter, Messages, Origin, Part, Parts, Role, TieredDocument};
pub use declare::error::BoxError;
pub use declare::graph;
pub use declare::{
    ColumnOutline, CompactionMistake, FilePosition, Growth, Name, NameError, Outline, Pattern, Purpose,
    Repeats, SchemaError, SchemaErrors, SharedOutline, SharingEnd, StepError, ViewOutline, ViewTextError,
    Window,
};
#[cfg(feature = "providers")]
pub use flow::BatchRun;
pub use flow::{
    Column, CompactedView, Flow, IntoViews, Run, TieredView, View, column, documents, flow, group, prev,
    source, this,
};
pub use history::{Attachment, AttachmentError, SkipReason, Text, Value};
pub use run::{
    CellState, ColumnForecast, Error, Event, Forecast, Overflow, PendingCell, Result, SharedForecast, Unpaid,
};
pub use schedule::Progress;

pub mod prelude {
    //! The names that nearly every program uses: `use columnar::prelude::*;`.
    //!
    //! | for | names |
    //! |---|---|
    //! | declarations | [`flow!`](crate::flow!); at run time [`source`], [`column`](column()), [`this`], [`prev`], [`group`], [`flow`](flow()), [`Column`], [`View`], [`Flow`], [`Documents`] |
    //! | compute steps | [`prompt`], [`Effort`], [`deltas`], [`external`], [`Context`], [`Messages`], [`Role`], [`Value`] |
    //! | policies | the methods of [`Policy`](crate::compute::Policy), which return a [`Step`], and [`secs`], [`per_second`], [`per_minute`] for the arguments |
    //! | runs | [`Event`], [`Error`], [`Result`], and the methods of streams in the crate futures, such as `try_next` |
    //! | services | the method of [`Spawn`](crate::service::Spawn) |
    //!
    //! All other names are imported from the module of their subject: `columnar::store::FileStore`. [`Result`] has
    //! [`Error`] as the default only, so `Result<(), Box<dyn std::error::Error>>` is still the `Result` of the standard
    //! library.
    //!
    //! ```
    //! use columnar::prelude::*;
    //!
    //! flow! {
    //!     pub struct Chat {
    //!         source user;
    //!         column title(user.latest) = prompt("Find a title.").timeout(secs(30)).retry(2);
    //!     }
    //! }
    //! ```

    #[doc(no_inline)]
    pub use crate::compute::{Policy as _, Step, per_minute, per_second, secs};
    #[doc(no_inline)]
    pub use crate::context::documents::Documents;
    pub use crate::flow::service::Spawn as _;
    #[doc(no_inline)]
    pub use crate::model::Effort;
    #[doc(no_inline)]
    pub use crate::{
        Column, Context, Error, Event, Flow, Messages, Result, Role, Value, View, column, deltas, documents,
        external, flow, group, prev, prompt, source, this,
    };
    #[doc(no_inline)]
    pub use futures::{StreamExt as _, TryStreamExt as _};
}

/// Declares a flow; the documentation of the [crate] tells what a flow is.
///
/// ```text
/// flow      := header "{" decl* "}"  |  decl*                 item form  |  inline form, an expression
/// header    := attrs vis "struct" Name generics? params? (":" Path)? where?
/// params    := "(" (ident ":" Type),* ")"
/// decl      := docs? (source | lints? column | module)
/// source    := "source" ident (":" Type)? was? ";"                 the type is Documents
/// column    := "column" ident "(" view,+ ")" (":" Type)? was? "=" any Rust expression ";"
/// was       := "was" string                             the earlier name, under which values are stored
/// module    := "use" Path types? ("(" arguments ")")? "{" (ident (":" name)?),* "}" "as" ident ";"
/// types     := "<" Type,* ">"                           of the generics of the flow; the arguments as `new` takes them
/// view      := name range? modifier*  |  "self" (".latest" | ".window(" n ")")? (elided | plain)*
///            | "group(" string ("," view)+ ")"
///            | name ".compacted()" (".edits()" | ".at_most(" f ")")*   of a source of documents
///            | name ".tiered()" (".target(" n ")")?     of a source of documents
///            | name ".thread()"                         the conversation of a column; the first view
/// name      := ident ("." ident)*
/// range     := ".latest"  |  ".window(" n ")"  |  ".prev" (".window(" n ")" | ".all()")?
/// modifier  := (".as(" | ".note(") string ")"  |  (".filter(" | ".sample(") function ")"  |  elided  |  plain  |  purpose
/// elided    := ".elided()"                              after ".latest", ".window(" n ")" or ".prev"
/// plain     := ".text_only()"                           without attachments; in parentheses, as `purpose`
/// purpose   := ".context()"  |  ".instruction()"        with parentheses, since columns may have these names
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
///         column topics(user.latest) = prompt("List the topics.").model(model.clone());
///         column assistant(user, topics.latest.as("subjects"), self) = prompt("Answer.").model(model.clone());
///     }
/// }
///
/// use columnar::model::Offline;
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
///   and all methods of a [`Typed`](flow::Typed) flow, such as `run`;
/// - a public field for each column: a [`Source`](flow::Source) or a [`Derived`](flow::Derived), with the type of a
///   column that is declared with `: Type` (with the feature `typed`; see [typed columns](guide::typed));
/// - `ChatColumn`, an enum of the derived columns, which identifies them in [`Event`]s;
/// - `ChatColumns`, the struct with the columns as fields.
///
/// The page of `Chat` in the documentation of your crate has a drawing of these columns, and a table of what they read, with
/// the first lines of prompts that are literals and with the settings.
///
/// Compute steps use the parameters by reference.
///
/// # Extending a flow
///
/// `struct Felt: Chat` adds columns to the columns of `Chat`, as `add_column` does at run time. A live `Chat` continues
/// as a `Felt`:
///
/// ```
/// use columnar::prelude::*;
/// use columnar::store::MemoryStore;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         column topics(user.latest) = prompt("List the topics.");
///     }
/// }
///
/// flow! {
///     /// The chat, and its mood.
///     pub struct Felt: Chat {
///         column mood(user.latest, topics.latest.as("subjects"), self.latest) = prompt("Name the mood.");
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let store = MemoryStore::new();
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
/// drop((run, felt, chat));
///
/// // Later, on the same store.
/// let felt = Felt::extend(Chat::open(store).await?).await?;
/// assert_eq!(felt.mood.len(), 1);
/// # Ok(()) }
/// ```
///
/// - `extend(flow, parameters)` takes the flow or a reference to it. The existing values stay. The new columns exist at
///   once, and the next run computes them; so does a run in progress.
/// - `chat` remains a handle to the same flow: a run of `chat` computes all columns, and emits events of the columns of
///   `Chat` alone. A second run at the same time is refused, on either handle.
/// - Several extensions of one flow are independent, as long as no two columns have the same name, and an extension can
///   be extended. Any flow that is a struct can be extended, from any module or crate:
///   `struct Felt<M: Model>(model: M): chat::Chat<M>`.
/// - An extension cannot add a source, because the existing steps have no value for a new source.
/// - `FeltBase` is an alias of the extended flow. If that flow uses type parameters of the extension, the enum has a
///   type parameter for the columns of that flow: `FeltColumn<ChatColumn>`.
///
/// # Modules
///
/// A flow can be a module of another one. The sources of the module are inputs, and each is bound to a column of the
/// outer flow:
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     /// Two sides of a question.
///     pub struct Debate {
///         source topic;
///         column advocate(topic, self)                 = prompt("Speak for it.");
///         column critic(topic.latest, advocate.latest) = prompt("Name the weak points.");
///     }
/// }
///
/// flow! {
///     pub struct Chat {
///         source user;
///         use Debate { topic: user } as debate;
///         use Debate { topic: debate.critic } as further; // `{ topic }` would be short for `{ topic: topic }`
///         column verdict(debate.critic.latest.as("case"), further.critic.latest, user.latest) =
///             prompt("Judge.");
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
/// - The columns of a module are columns of the outer flow, named after the module: `debate.critic` in the store, in
///   events and in errors. These columns run with all others, and nothing is stored twice. The tag of a view is the
///   last part of the name, `critic`, unless the view sets another.
/// - Inside the module nothing changes: a column that reads `topic` sees `<topic>`, with the values of `user`. Outside,
///   `chat.debate.topic` is the column `user`.
/// - Any flow that is a struct and no extension can be a module, from any module or crate, in both forms, under several
///   names. Generics, and the arguments that `new` of the module takes, come between the name and the inputs:
///   `use Debate<M>(model.clone()) { topic: user } as debate`.
/// - A column of a module waits for the columns that it reads, and not for all inputs. So a column can feed a module
///   and also read columns of the module, as long as these do not depend on the reader.
/// - The enum has a variant for each module. If a module uses type parameters of the outer flow, the enum has a type
///   parameter for the module's columns: `ChatColumn<DebateColumn>`.
///
/// # Lints
///
/// Before a column, or before the flow for all columns, `#[deny(unbounded)]` makes a context that grows with every step
/// a compile error. `#[deny(unstable_prefix)]` makes it a compile error if a request shares nothing but the instruction
/// with the next, so that no provider's cache can serve it. `#[deny(unshared)]` makes it one if a column continues a
/// [thread](Column::thread) with another literal model, effort or type, which ends the shared prefix. The name of a column in the braces of a prompt, as in
/// `prompt("Answer {user}")`, is a compile error without any attribute, because a prompt is sent as it is written;
/// `#[allow(literal_braces)]` sends the braces.
///
/// ```
/// use columnar::prelude::*;
///
/// flow! {
///     pub struct Chat {
///         source user;
///         #[deny(unbounded)] // `(user)` would be an error
///         column topics(user.window(3)) = prompt("List the topics.");
///         #[deny(unstable_prefix)] // `(user.latest, self.latest)` would be one
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
/// The expression is a [`Typed`](flow::Typed) flow of an unnamed type. Compute steps may use and borrow what is in
/// scope, and a `?` in a step returns from the surrounding function.
///
/// # Mistakes
///
/// The graph is checked when the program compiles. An unknown name, a cycle, a tag used twice, a window of 0: each is
/// an error at the place of the mistake, with a way to fix the mistake, and all are reported at once. See
/// [`guide::mistakes`].
#[macro_export]
macro_rules! flow {
    ($($declarations:tt)*) => {
        $crate::__private::flow! { [$crate] $($declarations)* }
    };
}
