//! What may stand behind the `=` of a column.
//!
//! Any Rust expression up to the `;`, if its value can make text of a [`Context`](crate::Context). The macro
//! does not read it; editors and the compiler treat it as the Rust that it is.
//!
//! # A prompt
//!
//! [`prompt("…")`](crate::prompt) sends its text as the system message and the context as the messages, to the
//! model of the environment or to one that it is [given](crate::Prompt::with). The answer arrives in pieces and
//! is shown in pieces.
//!
//! # A function or closure
//!
//! It takes the context and returns a future of text, or of a `Result` of text with any error:
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
//!     column words(user.latest)  = count;
//!     column shout(user.latest)  = async |cx: Context| cx.messages().last_text().to_uppercase();
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
//! [`cx.input("user")`](crate::Context::input) is the current value of what is shown under that tag, as it was
//! pushed or computed. [`cx.messages()`](crate::Context::messages) is what a model would be sent.
//!
//! The argument is written with its type, and the future must be `Send`. A closure whose future borrows the
//! context is written `async move`, or as an async closure.
//!
//! # A stream
//!
//! What arrives in pieces is given as [`deltas`](crate::deltas), and told in pieces:
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
//! implements [`Compute`](crate::Compute); a model of your own implements [`Model`](crate::model::Model) and is
//! given to a prompt.
//!
//! # What stands behind a step
//!
//! [`Policy`](crate::compute::Policy) says what a column does about calls that are slow, many or fail:
//!
//! ```
//! use columnar::prelude::*;
//!
//! flow! {
//!     pub struct Chat {
//!         source user;
//!         column mood(user.latest) = prompt("Name the mood.").timeout(secs(30)).rate(per_minute(60)).retry(3).limit(4);
//!     }
//! }
//! ```
//!
//! Each attempt has thirty seconds, begins when its turn among sixty in a minute comes, and is followed by at
//! most three more; no more than four cells of the column are computed at a time.
//!
//! Next: [how much of a column another one sees](super::views).
