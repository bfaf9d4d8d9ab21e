//! Choose the compute step of a column: a prompt, a function, a stream or a type of your own.
//!
//! [← columns](super::columns) · [contents](super) · [typed →](super::typed)
//!
//! A compute step is any Rust expression up to the `;` whose value makes text from a [`Context`](crate::Context). The
//! macro does not parse it, so editors and the compiler treat it as ordinary Rust.
//!
//! # A prompt
//!
//! [`prompt("…")`](crate::prompt) sends its text as the system message and the context as the messages. It calls the
//! model of the environment, or one that you [pass](crate::Prompt::model) to it. The reply arrives as a stream of pieces,
//! the *deltas*.
//!
//! # A function or closure
//!
//! A function takes the context and returns a future of text, or of a `Result` of text with any error:
//!
//! ```
//! use columnar::prelude::*;
//!
//! async fn count(cx: Context) -> String {
//!     cx.input("user").map_or(0, |text| text.split_whitespace().count()).to_string()
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column words(user.latest) = count;
//!     column shout(user.latest) = async |cx: Context| cx.messages().last_text().to_uppercase();
//!     column number(words.latest) = |cx: Context| async move {
//!         let words: usize = cx.input("words").ok_or("there are no words")?.parse()?;
//!         Ok::<_, columnar::BoxError>(format!("{words:04}"))
//!     };
//! };
//! chat.user.push("one two three").await?;
//! chat.run().await?;
//! assert_eq!(chat.words.get(0).as_deref(), Some("3"));
//! assert_eq!(chat.shout.get(0).as_deref(), Some("<USER>\nONE TWO THREE\n</USER>"));
//! assert_eq!(chat.number.get(0).as_deref(), Some("0003"));
//! # Ok(()) }
//! ```
//!
//! [`cx.input("user")`](crate::Context::input) is the current value of the view with that tag, as it was pushed or
//! computed. [`cx.messages()`](crate::Context::messages) is the messages array that a model would receive.
//!
//! The argument needs its type, `cx: Context`, and the future must be `Send`. A closure whose future borrows the
//! context is written with `async move`, or as an async closure.
//!
//! # A stream
//!
//! [`deltas`](crate::deltas) turns a stream of text into a compute step. The run emits each piece as an event:
//!
//! ```
//! use columnar::prelude::*;
//! use futures::stream;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column slow(user.latest) = |_: Context| deltas(stream::iter(["piece ", "by ", "piece"]));
//! };
//! chat.user.push("How?").await?;
//!
//! let mut pieces = Vec::new();
//! let mut run = chat.run();
//! while let Some(event) = run.try_next().await? {
//!     if let Event::Delta { text, .. } = event {
//!         pieces.push(text);
//!     }
//! }
//! assert_eq!(pieces, ["piece ", "by ", "piece"]);
//! assert_eq!(chat.slow.get(0).as_deref(), Some("piece by piece"));
//! # Ok(()) }
//! ```
//!
//! # A type of your own
//!
//! A type of your own implements [`Compute`](crate::Compute). A model of your own implements
//! [`Model`](crate::model::Model), and a prompt takes it with [`model`](crate::Prompt::model).
//!
//! # A text instead of messages
//!
//! After any compute step, [`document`](crate::compute::Policy::document) makes the context one text: all values in their
//! order, without tags and without anything between them. A model that completes text goes on with it:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let novel = flow! {
//!     source text;
//!     column story(text, self) = script([" a fox.", " a wolf."]).document();
//! };
//! for text in ["Once there was", " It met"] {
//!     novel.text.push(text).await?;
//! }
//! novel.run().await?;
//! assert_eq!(novel.story.messages(1)?.last_text(), "Once there was a fox. It met");
//! # Ok(()) }
//! ```
//!
//! # Policies
//!
//! A [`Policy`](crate::compute::Policy) follows a compute step and sets how the column treats calls that are slow,
//! frequent or failing:
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest) =
//!             prompt("Name the mood.").timeout(secs(30)).rate(per_minute(60)).retry(3).limit(4);
//!     }
//! }
//! ```
//!
//! Each attempt has thirty seconds. Attempts begin at a rate of at most sixty per minute. A failed attempt is retried
//! at most three times. At most four cells of the column are computed at once.
//!
//! A rate that is passed by reference is shared: all columns with `.rate(&rate)` together keep to the one
//! [`Rate`](crate::compute::Rate).
//!
//! Each policy returns a [`Step`](crate::compute::Step). A value of that type keeps it, so settings can depend on a
//! condition, as on a file of settings:
//!
//! ```
//! use columnar::prelude::*;
//!
//! struct Settings {
//!     temperature: Option<f32>,
//!     retry: Option<usize>,
//!     may_skip: bool,
//! }
//!
//! fn topics(settings: &Settings) -> Step<'static> {
//!     let mut prompt = prompt("List the topics.");
//!     if let Some(temperature) = settings.temperature {
//!         prompt = prompt.temperature(temperature);       // a setting of prompts alone, so before `Step::new`
//!     }
//!     let mut step = Step::new(prompt);
//!     if let Some(times) = settings.retry {
//!         step = step.retry(times);
//!     }
//!     if settings.may_skip {
//!         step = step.or_skip();
//!     }
//!     step
//! }
//!
//! flow! {
//!     pub struct Chat(settings: Settings) {
//!         source user;
//!         column topics(user.latest) = topics(settings);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new(Settings { temperature: Some(0.2), retry: None, may_skip: true });
//! chat.user.push("Rust").await?;
//! chat.run().await?;
//! # Ok(()) }
//! ```
//!
//! [← columns](super::columns) · [contents](super) · [typed →](super::typed)
