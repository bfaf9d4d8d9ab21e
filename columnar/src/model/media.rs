//! The check of a request: whether the model takes all attachments.

use std::error::Error;

use super::Refused;
use super::rendering::Request;
use crate::context::{Origin, Role};
use crate::declare::error::chain;
use crate::history::{Attachment, MediaRules};
use crate::model::usage::grouped;

/// The error of a request with an attachment that the model does not take: the type, the bytes, the pixels, or the number
/// together with the others. Nothing was sent. The error names the attachment, the column and the step, and what to do;
/// [`lenient`](crate::Prompt::lenient) sends alternative texts.
///
/// ```
/// use columnar::model::{Chunk, MediaError, Model, Request};
/// use columnar::prelude::*;
/// use columnar::{Attachment, Text};
/// use futures::stream::BoxStream;
///
/// /// A client of your own.
/// struct Client;
///
/// impl Model for Client {
///     fn name(&self) -> &str {
///         "anthropic/claude-sonnet-5-5"
///     }
///
///     fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
///         unreachable!("nothing is sent")
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
/// let user = source("user");
/// let chat = flow([column("assistant", &user, prompt("Describe it.").model(Client))])?;
/// let archive = Attachment::new(b"PK\x03\x04\0\0 and the rest of an archive".as_slice())?;
/// chat.push("user", Text::new("What is in here?").with(archive)).await?;
/// let error = chat.run().await.expect_err("Claude takes no archives");
/// let reason = MediaError::of(&error).expect("the reason").to_string();
/// assert!(reason.starts_with("`anthropic/claude-sonnet-5-5` does not take the attachment application/zip "), "{reason}");
/// assert!(reason.contains(" of `user` at step 0: choose a model that takes this type"), "{reason}");
/// # Ok(()) }
/// ```
#[derive(Debug, thiserror::Error)]
#[error("`{model}` does not take {attachment}: {reason}")]
pub struct MediaError {
    model: String,
    /// The attachment, with the cell.
    attachment: String,
    reason: String,
    source: Refused,
}

impl MediaError {
    /// Finds the first `MediaError` among an error and its sources.
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }
}

/// An attachment, and the cell that shows it.
type Shown<'m> = (Option<Origin<'m>>, &'m Attachment);

/// Checks that the model takes all attachments of a request. `has_part` returns whether the API has a part for such files.
pub(crate) fn check_media(
    request: &Request,
    model: &str,
    has_part: impl Fn(&Attachment) -> bool,
) -> Result<(), MediaError> {
    let media = request.media;
    let parts = request.messages.parts().filter(|part| part.role() == Role::User);
    let shown = parts.flat_map(|part| {
        let origin = part.origin();
        part.attachments().iter().map(move |attachment| (origin, attachment))
    });
    let (sent, refused): (Vec<Shown<'_>>, Vec<Shown<'_>>) =
        shown.partition(|(_, file)| media.refusal(file).is_none() && has_part(file));
    // An attachment that becomes words is not sent.
    let refused = refused.first().filter(|_| !request.settings.lenient);
    let refused = refused.map(|shown| (shown, media.refusal(shown.1).unwrap_or_else(MediaRules::not_taken)));
    let Some(((origin, attachment), reason)) = refused.or_else(|| excess(media, &sent)) else {
        return Ok(());
    };
    let cell = origin.map(|Origin { column, step }| format!(" of `{column}` at step {step}"));
    let attachment = format!("the attachment {}{}", attachment.title(), cell.unwrap_or_default());
    Err(MediaError { model: model.to_owned(), attachment, reason, source: Refused })
}

/// The first attachment that is too much together with those before, and the reason.
fn excess<'s, 'm>(media: &MediaRules, sent: &'s [Shown<'m>]) -> Option<(&'s Shown<'m>, String)> {
    const ADVICE: &str = "show fewer values, for example with `.window(n)`, `.text_only()` or a budget";
    let images = sent.iter().filter(|(_, attachment)| attachment.is_image());
    let edge = media.images.and_then(|rules| rules.many).filter(|(many, _)| images.clone().count() > *many);
    if let Some((many, most)) = edge
        && let Some(shown) = images.clone().find(|(_, attachment)| attachment.edge() > most)
    {
        let reason = format!(
            "an image of a request with more than {many} images has at most {most} pixels at each edge; {ADVICE}"
        );
        return Some((shown, reason));
    }
    let mut bytes = 0_usize;
    let mut pages = 0_usize;
    for (count, shown) in (1..).zip(sent) {
        bytes = bytes.saturating_add(shown.1.len());
        pages += if shown.1.is_pdf() { shown.1.pages() } else { 0 };
        let most_pages = media.pdf.map_or(usize::MAX, |pdf| pdf.most_pages);
        let limits = [
            (count, media.most, "attachments"),
            (bytes, media.most_bytes, "bytes of attachments"),
            (pages, most_pages, "pages"),
        ];
        if let Some((_, most, unit)) = limits.into_iter().find(|(number, most, _)| number > most) {
            return Some((shown, format!("a request has at most {} {unit}; {ADVICE}", grouped(most))));
        }
    }
    None
}
