//! Choose the compute step of a column: a prompt, a function, a stream or a type of your own.
//!
//! Chapter 3 of 37 · [← columns](super::columns) · [contents](super) · [typed →](super::typed)
//!
//! A compute step is any Rust expression up to the `;` whose value makes text from the inputs of the column. Editors
//! and the compiler treat the expression as ordinary Rust, because the macro changes only two things: the parameters of
//! a closure, and the closure's clones of [the parameters of the flow](#a-parameter-in-a-closure).
//!
//! # A prompt
//!
//! [`prompt("…")`](crate::prompt) sends the instruction as the system message and the context as the messages. The
//! prompt calls the model of the environment, or a model that you [pass](crate::Prompt::model). The reply arrives as a
//! stream of pieces, the *deltas*.
//!
//! # A closure of inputs
//!
//! A closure names the inputs that it uses by tag. The closure returns a future of text, or of a `Result` of text with
//! any error that is `Send` and `Sync`, such as [`BoxError`](crate::BoxError):
//!
//! ```
//! use columnar::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = flow! {
//!     source user;
//!     column shout(user.latest)      = async |user| user.to_uppercase();
//!     column recent(shout.window(2)) = async |shout| shout.join(", ");
//!     column letters(user.latest, self.latest) = |user, letters| async move {
//!         let before: usize = letters.map_or(Ok(0), |text| text.parse())?;
//!         Ok::<_, columnar::BoxError>((before + user.len()).to_string())
//!     };
//! };
//! for text in ["one", "two", "three"] {
//!     chat.user.push(text).await?;
//! }
//! chat.run().await?;
//! assert_eq!(chat.shout.get(2).as_deref(), Some("THREE"));
//! assert_eq!(chat.recent.get(2).as_deref(), Some("TWO, THREE"));
//! assert_eq!(chat.letters.get(2).as_deref(), Some("11"));
//! # Ok(()) }
//! ```
//!
//! The view decides the type of the parameter. Values are verbatim: without a tag, and not escaped.
//!
//! | view | parameter |
//! |---|---|
//! | `user.latest` | [`Value`](crate::Value), the text |
//! | `user`, `user.window(3)`, `self` | `Vec<Value>`, the oldest first |
//! | `user.prev`, `self.latest`, `user.latest.filter(…)` | `Option<Value>`, because some steps have none |
//! | one of a column with a [type](super::typed) | that type in place of `Value` |
//!
//! The tag is the name of the column, or the name in `as("…")`; for `self`, the tag is the name of the column itself. A
//! parameter that is no tag of the column is a compile error. Inputs that are not used can be left out. The cell fails
//! if a view shows no value, because all cells so far were [skipped](super::skipping), unless the parameter has the type
//! `Option<_>`. A parameter
//! of the type [`Context`](crate::Context) is the context: `async |user, cx: Context| …`.
//!
//! # A function of the context
//!
//! A function, and a closure with one parameter of the type `Context`, reads the inputs from the context:
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
//!     column shown(user.latest) = async |cx: Context| cx.messages().last_text().to_uppercase();
//! };
//! chat.user.push("one two three").await?;
//! chat.run().await?;
//! assert_eq!(chat.words.get(0).as_deref(), Some("3"));
//! assert_eq!(chat.shown.get(0).as_deref(), Some("<USER>\nONE TWO THREE\n</USER>"));
//! # Ok(()) }
//! ```
//!
//! [`cx.input("user")`](crate::Context::input) is the current value of the view with that tag,
//! [`cx.values("user")`](crate::Context::values) are all values of that view, and
//! [`cx.messages()`](crate::Context::messages) is the messages array that a model would receive.
//!
//! A future must be `Send`. A closure whose future borrows a parameter is written with `async move`, or as an async
//! closure.
//!
//! # A parameter in a closure
//!
//! A closure uses the parameters of the flow by name, as all other steps do. Each has the type `&String` for a
//! `style: String`:
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Chat(style: String, most: usize) {
//!         source user;
//!         column styled(user.latest) = async |user| format!("{style}: {user}");
//!         column counted(user.latest) =
//!             (async |user| user.len().min(*most).to_string()).when(|cx| cx.step() < *most);
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let chat = Chat::new("loud".to_owned(), 3);
//! chat.user.push("hello").await?;
//! chat.run().await?;
//! assert_eq!(chat.styled.get(0).as_deref(), Some("loud: hello"));
//! assert_eq!(chat.counted.get(0).as_deref(), Some("3"));
//! # Ok(()) }
//! ```
//!
//! A step outlives the function that makes it, so the closure has a clone of the parameter, made once per flow. The
//! type of the parameter implements `Clone`; for a large value, take an `Arc`. The result is an owned value, such as
//! `style.clone()`, and borrows from no parameter.
//!
//! This holds where the closure is the whole step, alone or at the end of a block, and is `async` or ends with an
//! `async` block. The conditions of [`when`](crate::compute::Policy::when) follow the same rule. Any other closure,
//! such as one that returns [a stream](#a-stream), needs its own value:
//! `{ let style = style.clone(); move |user| deltas(words(&style, &user)) }`.
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
//! [`Model`](crate::model::Model), and is passed to a prompt with [`model`](crate::Prompt::model).
//!
//! # A column that is not written yet
//!
//! `todo!()` and `unimplemented!("…")` are compute steps, too. The flow compiles, the outline and the forecast have the
//! column, and each cell of the column fails with these words.
//!
//! # A text instead of messages
//!
//! After any compute step, [`document`](crate::compute::Policy::document) makes the context one text: all values in
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
//! A rate that is passed by reference is shared: all columns with `.rate(&rate)`, of any flows, together keep to the one
//! [`Rate`](crate::compute::Rate). Providers limit tokens as well, and so does
//! [`per_minute(500).tokens_per_minute(200_000)`](crate::compute::Rate::tokens_per_minute): a call waits until its request and
//! its longest reply have room in the minute, and gives back what the reply did not need.
//!
//! The settings of a prompt, such as `model` and `temperature`, may come before and after policies. Each policy returns a
//! [`Step`](crate::compute::Step). All steps have that one type, so settings can depend on a condition, as on a file of
//! settings:
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
//!     let mut step = Step::new(prompt("List the topics."));
//!     if let Some(temperature) = settings.temperature {
//!         step = step.temperature(temperature);           // in a step without a prompt, an error of the run
//!     }
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
