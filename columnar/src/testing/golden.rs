//! Contexts as text, for snapshot tests.

use std::fmt::Write;

use crate::context::tiers::Tier;
use crate::context::{Messages, Part};
use crate::history::Attachment;

/// Compares the messages of a column with a reviewed snapshot, with the crate [insta](https://insta.rs). Needs the feature
/// `insta`.
///
/// ```
/// use columnar::assert_context_snapshot;
/// use columnar::prelude::*;
/// use columnar::testing::script;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column assistant(user, self) = script(["Hi!", "You are welcome."]);
/// };
/// chat.user.push("Hello").await?;
/// chat.user.push("Thanks!").await?;
/// chat.run().await?;
/// assert_context_snapshot!(chat.assistant.messages(1)?, @r"
/// assistant at step 1: 3 messages
///
/// [user]
/// user 0
/// │ <user>
/// │ Hello
/// │ </user>
///
/// [assistant]
/// assistant 0
/// │ Hi!
///
/// [user]
/// user 1
/// │ <user>
/// │ Thanks!
/// │ </user>
/// ");
/// # Ok(()) }
/// ```
///
/// The text comes from [`context_text`](crate::testing::context_text). As with `insta::assert_snapshot!`, the snapshot
/// is in a file beside the test, `assert_context_snapshot!(messages)`, or in a named file,
/// `assert_context_snapshot!("name", messages)`, or in the test itself, `assert_context_snapshot!(messages, @"")`; and
/// `cargo insta review` shows and accepts changes.
#[cfg(feature = "insta")]
#[macro_export]
macro_rules! assert_context_snapshot {
    ($messages:expr, @$snapshot:literal $(,)?) => {
        $crate::__private::insta::assert_snapshot!(
            $crate::testing::context_text(&$messages),
            stringify!($messages),
            @$snapshot
        )
    };
    ($messages:expr $(,)?) => {
        $crate::assert_context_snapshot!($crate::__private::None::<&str>, $messages)
    };
    ($name:expr, $messages:expr $(,)?) => {
        $crate::__private::insta::assert_snapshot!(
            $name,
            $crate::testing::context_text(&$messages),
            stringify!($messages)
        )
    };
}

/// The messages array as text for people: the roles, the cell of each part, and every line exactly as sent.
///
/// The [instructions](crate::View::instruction) among the inputs come first, as the system text has them. In a context
/// with [tiers](crate::tiers), the documents of the system text follow, and each part has a tier.
///
/// Lines with a bar `│ ` are the content of a message, including the empty line between two parts. Lines without a bar are
/// no content. After the text of a value stand the [attachments](crate::Attachment), each with type, length, digest and
/// alternative text.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::testing::{context_text, script};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column mood(user.latest)                  = script(["curious", "glad"]);
///     column assistant(user, mood.latest, self) = script(["It is a language.", "You are welcome."]);
/// };
/// chat.user.push("What is Rust?").await?;
/// chat.user.push("Thanks!").await?;
/// chat.run().await?;
///
/// let text = context_text(&chat.assistant.messages(1)?);
/// assert_eq!(text, "\
/// assistant at step 1: 3 messages
///
/// [user]
/// user 0
/// │ <user>
/// │ What is Rust?
/// │ </user>
///
/// [assistant]
/// assistant 0
/// │ It is a language.
///
/// [user]
/// user 1
/// │ <user>
/// │ Thanks!
/// │ </user>
/// │
/// mood 1
/// │ <mood>
/// │ glad
/// │ </mood>");
/// # Ok(()) }
/// ```
pub fn context_text(messages: &Messages) -> String {
    let count = messages.len();
    let plural = if count == 1 { "" } else { "s" };
    let mut text = format!("{} at step {}: {count} message{plural}", messages.column(), messages.step());
    let system = messages.instructions().map(|(origin, text)| (origin.to_string(), text.trim().to_owned()));
    let documents = messages.system_documents().map(|documents| (Tier::L0.to_string(), documents.to_owned()));
    for (at, (label, content)) in system.chain(documents).enumerate() {
        text.push_str(if at == 0 { "\n\n[system]\n" } else { "\n" });
        text.push_str(&label);
        push_lines(&mut text, &content);
    }
    for part in messages.parts() {
        if part.joins() {
            // The part begins with the separator.
            text.push_str("\n│");
        } else {
            // A `String` takes everything.
            let _ = write!(text, "\n\n[{}]", part.role());
        }
        text.push('\n');
        text.push_str(&label(&part));
        let content = part.text();
        let content = content.strip_prefix("\n\n").filter(|_| part.joins()).unwrap_or(&content);
        push_lines(&mut text, content);
        part.attachments().iter().for_each(|attachment| push_attachment(&mut text, attachment));
    }
    text
}

fn push_attachment(text: &mut String, attachment: &Attachment) {
    let size = attachment.size().map_or_else(String::new, |(width, height)| format!(" {width}×{height}"));
    let alt = attachment.alt_text().map_or_else(String::new, |alt| format!(", {alt:?}"));
    let kind = attachment.media_type();
    let bytes = attachment.len();
    let digest = attachment.digest();
    // A `String` takes everything.
    let _ = write!(text, "\nattachment {kind}{size}, {bytes} bytes, sha256 {digest}{alt}");
}

fn push_lines(text: &mut String, content: &str) {
    // Not `lines`, which would hide an empty last line and carriage returns.
    for line in content.split('\n') {
        text.push_str(if line.is_empty() { "\n│" } else { "\n│ " });
        text.push_str(line);
    }
}

/// The cell that a part shows, and the tier in a context with tiers.
fn label(part: &Part<'_>) -> String {
    let label = match (part.origin(), part.hidden()) {
        (Some(origin), _) => origin.to_string(),
        (None, Some(hidden)) => format!("{}, hidden", hidden.column),
        (None, None) if part.is_instruction() => "instruction".to_owned(),
        (None, None) => "no cell".to_owned(),
    };
    match (part.tier(), part.origin()) {
        (None, _) => label,
        (Some(tier), Some(_)) => format!("{label}, {tier}"),
        (Some(tier), None) => tier.to_string(),
    }
}
