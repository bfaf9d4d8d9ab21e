//! Send screenshots, images, PDFs and other files beside text.
//!
//! Chapter 23 of 37 · [← renderings](super::renderings) · [contents](super) · [limits →](super::limits)
//!
//! A value is a text, and a [`Text`](crate::Text) may have attachments. The type of an
//! [`Attachment`](crate::Attachment) is found by the content, not by the name of the file:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::testing::ScriptedModel;
//! use columnar::{Attachment, Text};
//!
//! /// A PNG of one pixel.
//! const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x01\0\0\0\07n\xf9$\
//!     \0\0\0\nIDATx\xdac`\0\0\0\x02\0\x01\xe5'\xde\xfc\0\0\0\0IEND\xaeB`\x82";
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("screenshot");
//! std::fs::write(&path, DOT)?;
//!
//! let model = ScriptedModel::new(|_| "It is off.".to_owned());
//! let chat = flow! {
//!     source user;
//!     column topics(user.latest.text_only()) = prompt("List the topics.").model(model.clone());
//!     column answer(user, self)              = prompt("Help with the program.").model(model.clone());
//! };
//! let screenshot = Attachment::open(&path).await?.alt("The settings, with a red dot");
//! assert_eq!((screenshot.media_type(), screenshot.size()), ("image/png", Some((1, 1))));
//! chat.user.push(Text::new("Is it on?").with(screenshot)).await?;
//! chat.run().await?;
//!
//! let attachments = |messages: Messages| messages.parts().map(|part| part.attachments().len()).sum::<usize>();
//! assert_eq!(attachments(chat.answer.messages(0)?), 1);
//! assert_eq!(attachments(chat.topics.messages(0)?), 0);                // a view of the text alone
//! # Ok(()) }
//! ```
//!
//! [`Attachment::new`](crate::Attachment::new) takes bytes. An image or a PDF that is empty, truncated or damaged is an
//! error there, before it is in a flow. Attachments share their bytes, in every view and fork and request.
//!
//! `text_only()` after a column or `self` leaves the attachments out; it stands in any order with other
//! [modifiers](super::views). [Tiered](super::documents) documents have no attachments.
//!
//! # Requests
//!
//! An attachment stands behind the text of its value, and before the next value. These are the
//! [renderings](super::renderings) of one question:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::rendering::Rendering;
//! use columnar::{Attachment, Text};
//! use serde_json::json;
//!
//! /// A PNG of one pixel, and the same in base64.
//! const DOT: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x01\0\0\0\07n\xf9$\
//!     \0\0\0\nIDATx\xdac`\0\0\0\x02\0\x01\xe5'\xde\xfc\0\0\0\0IEND\xaeB`\x82";
//! const DATA: &str =
//!     "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABAQAAAAA3bvkkAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg==";
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     source place;
//!     column answer(user, place.latest, self) = prompt("Be brief.");
//! };
//! chat.user.push(Text::new("Is it on?").with(Attachment::new(DOT)?.alt("A red dot"))).await?;
//! chat.place.push("The settings").await?;
//! let messages = chat.answer.messages(0)?;
//! let rendering = Rendering::new("", &messages);
//! let (user, place) = ("<user>\nIs it on?\n</user>", "\n\n<place>\nThe settings\n</place>");
//!
//! assert_eq!(rendering.anthropic()["messages"][0]["content"], json!([
//!     { "type": "text", "text": user },
//!     { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": DATA } },
//!     { "type": "text", "text": place },
//! ]));
//! assert_eq!(rendering.openai()["messages"][0]["content"], json!([ // chat completions
//!     { "type": "text", "text": user },
//!     { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{DATA}") } },
//!     { "type": "text", "text": place },
//! ]));
//! assert_eq!(rendering.ai_sdk()["messages"][0]["content"], json!([
//!     { "type": "text", "text": user },
//!     { "type": "file", "mediaType": "image/png", "data": DATA },
//!     { "type": "text", "text": place },
//! ]));
//! // In forms whose messages are strings, words stand in the place.
//! let words = json!(format!("{user}\n\n[A red dot]{place}"));
//! assert_eq!(rendering.merged()[0]["content"], words);
//! assert_eq!(rendering.alternating()[0]["content"], words);
//! # Ok(()) }
//! ```
//!
//! A [`prompt`](crate::prompt) writes the format of its provider. In the formats without a public rendering, an image is:
//!
//! | format | part |
//! |---|---|
//! | Responses | `{"type":"input_image","detail":"auto","image_url":"data:image/png;base64,…"}` |
//! | Gemini | `{"inlineData":{"mimeType":"image/png","data":"…"}}` |
//! | Ollama | `{"role":"user","content":"<user>\nIs it on?\n</user>","images":["…"]}` |
//!
//! # The alternative text
//!
//! No provider takes media in a reply or in a system text. So the attachments of `self`, and of views with
//! [`instruction()`](super::purposes), are words there: the alternative text in brackets, or `[image/png, 67 bytes]` without
//! one.
//!
//! [`MediaRules`](crate::model::MediaRules) has the media that a model takes, with source and date. An attachment that the
//! model of a column does not take is an error before anything is sent. The error names column, step and attachment. A
//! column that is made for several models is [`lenient`](crate::Prompt::lenient), and sends the alternative text:
//!
//! ```
//! use columnar::model::{Chunk, MediaError, Model, Request};
//! use columnar::prelude::*;
//! use columnar::{Attachment, Text};
//! use futures::stream::{self, BoxStream};
//!
//! /// A model that takes what Claude takes.
//! #[derive(Clone)]
//! struct Claude;
//!
//! impl Model for Claude {
//!     fn name(&self) -> &str {
//!         "anthropic/claude-sonnet-5"
//!     }
//!
//!     fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
//!         stream::iter([Ok(Chunk::Text("A scan.".to_owned())), Ok(Chunk::stop())]).boxed()
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = flow! {
//!     source user;
//!     column lenient(user) = prompt("Answer.").model(Claude).lenient();
//!     column strict(user)  = prompt("Answer.").model(Claude);
//! };
//! let scan = Attachment::new(b"II*\0\x08\0\0\0\0\0".as_slice())?.alt("A scan of a letter");
//! chat.user.push(Text::new("What is this?").with(scan)).await?;
//!
//! let error = chat.run().await.expect_err("Claude takes no TIFF");
//! let reason = MediaError::of(&error).expect("the reason").to_string();
//! assert!(error.to_string().contains("`strict` at step 0"));
//! assert!(reason.starts_with("`anthropic/claude-sonnet-5` does not take the attachment image/tiff "));
//! assert!(reason.contains(" of `user` at step 0: "));
//! assert_eq!(chat.lenient.get(0).as_deref(), Some("A scan."));
//! # Ok(()) }
//! ```
//!
//! The text of the value is sent in any case, and never lost.
//!
//! # Tokens and limits
//!
//! Each provider counts images by a rule of its own, and the reader decides: the same value may cost more in one
//! column than in another. [Budgets](super::budgets), forecasts and spend limits count by the rule of the column's model. A bill has the tokens that
//! the provider reported:
//!
//! ```
//! use columnar::Attachment;
//! use columnar::model::MediaRules;
//!
//! # fn main() -> Result<(), columnar::BoxError> {
//! let claude = MediaRules::by_model("anthropic/claude-sonnet-5").expect("it is known");
//! assert!(claude.takes("image/png") && claude.takes("application/pdf") && !claude.takes("audio/mpeg"));
//! assert_eq!(claude.tokens(&Attachment::new("Launch on Monday.")?), 5);
//! # Ok(()) }
//! ```
//!
//! A request above a limit of the provider, in bytes, pixels, pages or number, is such an error, too. Show fewer values,
//! `user.window(3)`, or attach a smaller image.
//!
//! # Steps that make attachments
//!
//! A function that computes a column returns a `Text`, too, or a `Result` of one. Later columns see the attachments as
//! in values of a source:
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::{Attachment, BoxError, Text};
//!
//! /// A chart of numbers, as a drawing in text.
//! fn chart_of(rows: &str) -> Result<Attachment, BoxError> {
//!     let lines = rows.split(' ').map(|row| Ok("#".repeat(row.parse()?) + "\n"));
//!     let lines: String = lines.collect::<Result<_, std::num::ParseIntError>>()?;
//!     Ok(Attachment::new(lines)?.alt("A chart"))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BoxError> {
//! let board = flow! {
//!     source rows;
//!     column chart(rows.latest) =
//!         async |rows: Value| Ok::<_, BoxError>(Text::new("The week").with(chart_of(&rows)?));
//!     column reading(chart.latest) = prompt("What does the chart tell?");
//! };
//! board.rows.push("1 2 3").await?;
//! board.run().await?;
//! let chart = board.chart.get(0).expect("it was computed");
//! assert_eq!(chart.attachments()[0].bytes(), b"#\n##\n###\n");
//! # Ok(()) }
//! ```
//!
//! A [typed](super::typed) column holds JSON, which has no attachments: such a value is an error of the step.
//!
//! # Stores and tests
//!
//! A store has each attachment once, under the SHA-256 of its bytes, however many values, steps and forks name it; see
//! [stores](super::stores). [Cassettes](super::testing) and contexts under review show the type, the length, the digest and
//! the alternative text of an attachment, and no bytes: a changed image is a request that is not recorded.
//!
//! [← renderings](super::renderings) · [contents](super) · [limits →](super::limits)
